"""Reliability diagram and histogram of probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg

from aucstudio.gui.common.plots.legend import Legend
from aucstudio.gui.common.plotting import class_steps, faded, make_plot, pen, run_pen
from aucstudio.gui.common.theme import current_theme, run_colour, run_symbol
from aucstudio.gui.state.plan import RunLook
from aucstudio.project.results.calibration import JudgedMaps

_LEAST_REACH = 0.02  # of the axes: rarer positives than these would be drawn as large


def reach_of(judged: Sequence[JudgedMaps]) -> float:
    """Return the upper end of the axes."""
    tops = [float(max(one.diagram.mean.max(), one.diagram.high.max())) for one in judged]
    return min(1.0, 1.1 * max([_LEAST_REACH, *tops]))


class ReliabilityPlot:
    """Shares of positives against probabilities; calibrated ones lie on the diagonal.

    Attributes
    ----------
    plot : Plot
    lines : list of PlotDataItem
        One a run.
    whiskers : list of PlotCurveItem
        The intervals of its shares.
    before : list of PlotCurveItem
        The scores read as log-odds.
    """

    def __init__(self) -> None:
        self.plot = make_plot("calibration_plot", "Probability", "Share of positives")
        self.diagonal = pg.PlotCurveItem([0.0, 1.0], [0.0, 1.0])
        self.plot.addItem(self.diagonal, ignoreBounds=True)
        self.legend = Legend(self.plot)
        self.lines: list[pg.PlotDataItem] = []
        self.whiskers: list[pg.PlotCurveItem] = []
        self.before: list[pg.PlotCurveItem] = []

    def show(
        self,
        judged: Sequence[tuple[RunLook, JudgedMaps]],
        before: Sequence[tuple[RunLook, JudgedMaps]],
    ) -> None:
        """Draw calibrated runs, and the same runs uncalibrated."""
        for item in (*self.lines, *self.whiskers, *self.before):
            self.plot.removeItem(item)
        self.lines, self.whiskers, self.before = [], [], []
        theme = current_theme()
        self.diagonal.setPen(pen(theme.neutral, 1.2, (4.0, 4.0)))
        for look, one in before:
            drawn = pen(faded(run_colour(theme, look.colour), 130), 1.4, (1.5, 3.0))
            self.before.append(pg.PlotCurveItem(one.diagram.mean, one.diagram.share, pen=drawn))
        for look, one in judged:
            self._add(look, one)
        for item in (*self.before, *self.whiskers, *self.lines):
            self.plot.addItem(item, ignoreBounds=True)
        known = [(look.name, run_pen(look, 1.8)) for look, _ in judged]
        dotted = [("score as log-odds", pen(theme.muted, 1.4, (1.5, 3.0)))]
        self.legend.explain(known + dotted if self.before else known)
        ends = 0.0, reach_of([one for _, one in judged])
        self.plot.set_whole(ends, ends)

    def _add(self, look: RunLook, one: JudgedMaps) -> None:
        bins, colour = one.diagram, run_colour(current_theme(), look.colour)
        ends = np.stack([bins.low, bins.high], axis=1).ravel()
        self.whiskers.append(
            pg.PlotCurveItem(
                np.repeat(bins.mean, 2), ends, connect="pairs", pen=pen(faded(colour, 170), 1.4)
            )
        )
        self.lines.append(
            pg.PlotDataItem(
                bins.mean,
                bins.share,
                pen=run_pen(look, 1.8),
                symbol=run_symbol(look.colour),
                symbolSize=9,
                symbolBrush=colour,
                symbolPen=pen(current_theme().card, 1.0),
            )
        )


class ProbabilityPlot:
    """Histograms of the probabilities of a run by class.

    Attributes
    ----------
    plot : Plot
    curves : list of two PlotCurveItem
        Positives and negatives: shares of the class in each bin.
    """

    def __init__(self) -> None:
        self.plot = make_plot("probability_plot", "Probability", "Share of the class in a bin")
        self.curves = [class_steps(), class_steps()]
        for item in self.curves:
            self.plot.addItem(item)
        self.legend = Legend(self.plot)

    def show(self, one: JudgedMaps, names: tuple[str, str]) -> None:
        """Draw the probabilities of a run."""
        theme = current_theme()
        for k, (item, colour) in enumerate(
            zip(self.curves, (theme.positive, theme.negative), strict=True)
        ):
            item.setData(one.edges, one.shares[k])
            item.setPen(pen(colour, 1.8, () if k == 0 else (6.0, 3.0)))
            item.setBrush(faded(colour, 56))
        pens = (item.opts["pen"] for item in self.curves)
        self.legend.explain(zip(names, pens, strict=True))
        self.plot.set_whole(
            (0.0, float(one.edges[-1])), (0.0, 1.05 * float(one.shares.max())), air=0.0
        )
