"""Pictures of a search for the best model: criterion over time, and ROC curve at its end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QPainterPath
from PySide6.QtWidgets import QGraphicsPathItem

from aucstudio.engine import METHODS, inference
from aucstudio.engine.arrays import Array
from aucstudio.gui.common.curve_figures import run_curves
from aucstudio.gui.common.plots.legend import Entry, Legend
from aucstudio.gui.common.plots.roc_sketch import RocSketch
from aucstudio.gui.common.plotting import (
    data_tip,
    faded,
    finite_range,
    make_plot,
    pen,
    run_pen,
)
from aucstudio.gui.common.table import in_columns
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.pages.best.words import estimate_words
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices import text
from aucstudio.project.results.summary import LEVEL, ranking
from aucstudio.project.tournament.standings import Milestone, Standings

_ALPHA = 44
_REACH = 1.03  # of the time, where the last mark would be cut
_AIR, _LEAST_AIR = 0.12, 0.01  # above the highest and below the lowest; beyond 0 and 1
_APART = 0.2  # of the time that is drawn, between the names of two leaders
_MINUTES = 180.0  # seconds, from which on the axis counts minutes


class CurvePlot(RocSketch):
    """The best run and, if any, the simplest run that is not significantly worse."""

    def __init__(self) -> None:
        super().__init__("best_curve_plot")
        self._band: inference.Band | None = None
        self._runs: Sequence[ShownRun] = ()
        self._answer = Answer(self.plot, self._show_band, lambda _why: None)
        self.band = QGraphicsPathItem()
        self.band.setPen(Qt.PenStyle.NoPen)
        self.band.setZValue(-4)
        self.point = pg.ScatterPlotItem(size=12, hoverable=True, tip=data_tip)
        self.point.setZValue(2)
        self.plot.addItem(self.band, self.point, ignoreBounds=True)

    def show_standings(self, standings: Standings, runs: Sequence[ShownRun]) -> None:
        """Draw the best run, and the simpler one after it."""
        self._runs, self._band, at = runs, None, standings.point
        self.band.setPath(QPainterPath())
        self.point.setData([], [])
        self.show([(*_corners(run), run_pen(run.look)) for run in runs], standings.fpr_range)
        self.legend.explain(self._entries())
        self._answer.drop()
        if runs:
            best = runs[0]
            self._answer.ask(
                best.record,
                lambda _post: inference.pointwise_band(ranking(best.record.splits[0]), LEVEL),
            )
            if at is not None and best.record.id == standings.best:
                theme = current_theme()
                tip = text("best_point", threshold=at.threshold, fpr=at.fpr, tpr=at.tpr)
                look = {"brush": run_colour(theme, best.look.colour), "pen": pen(theme.card, 1.5)}
                self.point.setData([at.fpr], [at.tpr], data=[tip], **look)

    def _entries(self) -> list[Entry]:
        return [(run.look.name, run_pen(run.look)) for run in self._runs]

    def _show_band(self, found: inference.Band) -> None:
        self._band = found
        if len(found.fpr):
            outline = np.r_[found.fpr, found.fpr[::-1]], np.r_[found.low, found.high[::-1]]
            colour = run_colour(current_theme(), self._runs[0].look.colour)
            self.band.setPath(pg.arrayToQPath(*outline))
            self.band.setBrush(faded(colour, _ALPHA))
            entry = "95 % at any one FPR", pen(faded(colour, 110), 8.0)
            self.legend.explain([*self._entries(), entry])

    def data(self) -> dict[str, list[object]]:
        """Return the numbers: the lines, and the band of the best."""
        lines = [
            (run.look.name, x, y, None, None)
            for run in self._runs
            for x, y in zip(*map(np.ndarray.tolist, _corners(run)), strict=True)
        ]
        found = self._band
        if found is not None:
            bounds = zip(found.fpr.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
            lines += [(self._runs[0].look.name, x, None, low, high) for x, low, high in bounds]
        return in_columns(("run", "fpr", "tpr", "low", "high"), lines)


def _corners(run: ShownRun) -> tuple[Array, Array]:
    return run_curves(run.record).average.corners


class CoursePlot:
    """Dots are estimates of methods, as in the table; the line is that of the leader.

    Attributes
    ----------
    plot : Plot
    dots : ScatterPlotItem
    line : PlotCurveItem
    names : list of TextItem
        Who took the lead.
    honest, whisker : ScatterPlotItem, PlotCurveItem
        The best model on the held-out rows, with its interval, at the end.
    """

    def __init__(self) -> None:
        self.plot = make_plot("best_course_plot", "Time", "Measure")
        self.dots = pg.ScatterPlotItem(size=8, hoverable=True, tip=data_tip)
        self.line, self.whisker = pg.PlotCurveItem(), pg.PlotCurveItem(connect="pairs")
        self.honest = pg.ScatterPlotItem(size=12, symbol="d", hoverable=True, tip=data_tip)
        self.plot.addItem(self.line, self.whisker, self.dots, self.honest, ignoreBounds=True)
        self.names: list[pg.TextItem] = []
        self.legend = Legend(self.plot)

    def show(self, standings: Standings) -> None:
        """Draw the progress of a search."""
        theme, course = current_theme(), standings.course
        seconds = max([standings.spent, *(one.seconds for one in course)], default=0.0)
        unit, name = (60.0, "min") if seconds > _MINUTES else (1.0, "s")
        end = seconds / unit
        self.plot.setLabel("bottom", f"Time ({name})", color=theme.muted)
        self.plot.setLabel("left", "Ranking criterion", color=theme.muted)
        x = np.array([one.seconds for one in course]) / unit
        y = np.array([one.value for one in course])
        tips = [
            text("best_dot", method=_title(one), value=one.value, seconds=one.seconds)
            for one in course
        ]
        look = {"pen": pen(theme.card, 1.0), "brush": faded(theme.neutral, 190)}
        self.dots.setData(x, y, data=tips, **look)
        leaders = _leaders(course)
        best = np.repeat([one.value for one in leaders], 2)
        steps = np.r_[np.repeat(x, 2)[1:], [end] * min(1, len(y))]
        self.line.setData(steps, best, pen=pen(theme.accent, 2.2))
        self._name_leaders(leaders, unit, seconds)
        judged = self._show_honest(standings, end)
        entries: list[Entry] = []
        if len(y):
            entries.append(("leader, cross-validated", self.line.opts["pen"]))
        if judged:
            entries.append(("the best, on held-out rows", pen(theme.text, 2.0)))
        self.legend.explain(entries)
        low, high = finite_range(np.array([*y, *judged]), _AIR)
        heights = max(low, -_LEAST_AIR), min(high, 1.0 + _LEAST_AIR)
        self.plot.set_whole((0.0, max(_REACH * end, 1e-3)), heights)

    def _name_leaders(self, leaders: Sequence[Milestone], unit: float, end: float) -> None:
        """Name the methods that took the lead, where there is room."""
        self.plot.removeItem(*self.names)
        self.names, right = [], np.inf
        before = "", *(one.method for one in leaders)
        changes = [one for one, old in zip(leaders, before, strict=False) if one.method != old]
        for one in reversed(changes):
            if one.seconds <= right - _APART * end:
                right, at_end = one.seconds, one.seconds > (1.0 - _APART) * end
                # Above the last line, the highest, there may be no room.
                anchor = (1.0 if at_end else 0.0, 0.0 if one is changes[-1] else 1.0)
                item = pg.TextItem(_title(one), color=current_theme().text, anchor=anchor)
                item.setPos(one.seconds / unit, one.value)
                self.names.append(item)
        self.plot.addItem(*self.names, ignoreBounds=True)

    def _show_honest(self, standings: Standings, end: float) -> Sequence[float]:
        """Mark the held-out estimate of the best; return the heights used."""
        theme, best = current_theme(), standings.of_run(standings.best)
        found = None if best is None else best.held_out
        if best is None or found is None:
            self.honest.setData([], [])
            self.whisker.setData([], [])
            return ()
        low, high = (found.value if limit is None else limit for limit in (found.low, found.high))
        method = METHODS[best.method].title
        tip = text("best_held_out", method=method, estimate=estimate_words(found))
        look = {"brush": theme.text, "pen": pen(theme.card, 1.0)}
        self.honest.setData([end], [found.value], data=[tip], **look)
        self.whisker.setData([end, end], [low, high], pen=pen(theme.text, 2.0), connect="pairs")
        return low, found.value, high

    def data(self, standings: Standings) -> dict[str, list[object]]:
        """Return the numbers."""
        lines = [(one.seconds, one.method, one.value) for one in standings.course]
        return in_columns(("seconds", "method", "measure"), lines)


def _leaders(course: Sequence[Milestone]) -> list[Milestone]:
    """Return the method with the highest estimate at the time of each milestone."""
    latest, leaders = dict[str, float](), []
    for one in course:
        latest[one.method] = one.value
        best = max(latest, key=latest.__getitem__)
        leaders.append(Milestone(one.seconds, latest[best], best))
    return leaders


def _title(one: Milestone) -> str:
    return METHODS[one.method].title
