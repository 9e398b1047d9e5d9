"""Ranking criterion against time during a search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg

from aucstudio.engine import METHODS
from aucstudio.gui.common.plots.legend import Entry, Legend
from aucstudio.gui.common.plotting import data_tip, faded, finite_range, make_plot, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.best.words import estimate_words
from aucstudio.notices.words import figure_words, seconds_words
from aucstudio.project.tournament.standings import Milestone, Standings

_REACH = 1.03  # of the time, where the last mark would be cut
_AIR = 0.12  # above the highest, for its name
_APART = 0.2  # of the time that is drawn, between the names of two leaders
_MINUTES = 180.0  # seconds, from which on the axis counts minutes


class CoursePlot:
    """Dots are settings of a method, trained on all folds; the line is the best so far.

    Attributes
    ----------
    plot : Plot
    dots : ScatterPlotItem
    line : PlotCurveItem
    names : list of TextItem
        Who took the lead.
    honest : PlotDataItem
        The best model on the held-out rows, with its interval, at the end.
    """

    def __init__(self) -> None:
        self.plot = make_plot("best_course_plot", "Time", "Measure")
        self.dots = pg.ScatterPlotItem(size=8, hoverable=True, tip=data_tip)
        self.line, self.whisker = pg.PlotCurveItem(), pg.PlotCurveItem(connect="pairs")
        self.honest = pg.ScatterPlotItem(size=12, symbol="d", hoverable=True, tip=data_tip)
        for item in (self.line, self.whisker, self.dots, self.honest):
            self.plot.addItem(item, ignoreBounds=True)
        self.names: list[pg.TextItem] = []
        self.legend = Legend(self.plot)

    def show(self, standings: Standings) -> None:
        """Draw the progress of a search."""
        theme = current_theme()
        end = max([standings.spent, *(one.seconds for one in standings.course)], default=0.0)
        unit, name = (60.0, "min") if end > _MINUTES else (1.0, "s")
        self.plot.setLabel("bottom", f"Time ({name})", color=theme.muted)
        self.plot.setLabel("left", "Ranking criterion, cross-validated", color=theme.muted)
        x = np.array([one.seconds for one in standings.course]) / unit
        y = np.array([one.value for one in standings.course])
        tips = [
            f"{METHODS[one.method].title}: {figure_words(one.value)} after "
            f"{seconds_words(one.seconds)}"
            for one in standings.course
        ]
        self.dots.setData(
            x, y, data=tips, pen=pen(theme.card, 1.0), brush=faded(theme.neutral, 190)
        )
        best = np.maximum.accumulate(y) if len(y) else y
        steps = np.repeat(x, 2)[1:], np.repeat(best, 2)[:-1]
        last = np.r_[steps[0], end / unit], np.r_[steps[1], best[-1:]]
        self.line.setData(*(last if len(y) else ([], [])), pen=pen(theme.accent, 2.2))
        self._name_leaders(standings, unit, end)
        judged = self._show_honest(standings, end / unit)
        self._explain(drawn=bool(len(y)), judged=bool(judged))
        heights = finite_range(np.array([*y, *judged]), _AIR)
        self.plot.set_whole((0.0, max(_REACH * end / unit, 1e-3)), heights)

    def _name_leaders(self, standings: Standings, unit: float, end: float) -> None:
        """Name the methods that took the lead, where there is room."""
        for item in self.names:
            self.plot.removeItem(item)
        self.names, best, leaders = [], -np.inf, list[Milestone]()
        for one in standings.course:
            if one.value > best:
                best = one.value
                leaders.append(one)
        right = np.inf
        for one in reversed(leaders):
            if one.seconds > right - _APART * end:
                continue
            right = one.seconds
            at_end = one.seconds > (1.0 - _APART) * end
            item = pg.TextItem(
                METHODS[one.method].title,
                color=current_theme().text,
                anchor=(1.0 if at_end else 0.0, 1.0),
            )
            item.setPos(one.seconds / unit, one.value)
            self.plot.addItem(item, ignoreBounds=True)
            self.names.append(item)

    def _show_honest(self, standings: Standings, end: float) -> Sequence[float]:
        """Mark the held-out estimate of the best; return the heights used."""
        theme, best = current_theme(), standings.of_run(standings.best)
        found = None if best is None else best.held_out
        if best is None or found is None:
            self.honest.setData([], [])
            self.whisker.setData([], [])
            return ()
        low, high = (found.value if end is None else end for end in (found.low, found.high))
        tip = f"{METHODS[best.method].title} on the held-out rows: {estimate_words(found)}"
        self.honest.setData(
            [end], [found.value], data=[tip], brush=theme.text, pen=pen(theme.card, 1.0)
        )
        self.whisker.setData([end, end], [low, high], pen=pen(theme.text, 2.0), connect="pairs")
        return low, found.value, high

    def _explain(self, *, drawn: bool, judged: bool) -> None:
        known: list[Entry] = []
        if drawn:
            known.append(("best so far, cross-validated", self.line.opts["pen"]))
        if judged:
            known.append(("the best, on held-out rows", pen(current_theme().text, 2.0)))
        self.legend.explain(known)

    def data(self, standings: Standings) -> dict[str, list[object]]:
        """Return the numbers."""
        return {
            "seconds": [one.seconds for one in standings.course],
            "method": [one.method for one in standings.course],
            "measure": [one.value for one in standings.course],
        }
