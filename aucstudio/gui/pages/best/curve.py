"""The ROC curve of the best model on the held-out rows, with its band, range and threshold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QPainterPath
from PySide6.QtWidgets import QGraphicsPathItem

from aucstudio.engine import inference
from aucstudio.gui.common.curves import run_curves
from aucstudio.gui.common.plots.legend import Legend
from aucstudio.gui.common.plotting import faded, make_plot, pen, run_pen
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.state.answer import Answer
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.results.common_rows import Scores
from aucstudio.project.results.summary import LEVEL
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.tournament.standings import Standings

_ALPHA = 44
_RIM = 0.015  # beyond the rates, where lines and marks would be cut


class CurvePlot:
    """The best run and, where there is one, the simplest that is not told apart from it.

    Parameters
    ----------
    parent : QObject
        Lives as long as the band is computed.

    Attributes
    ----------
    plot : Plot
    lines : list of PlotCurveItem
    """

    def __init__(self, parent: QObject) -> None:
        self._band: inference.Band | None = None
        self._runs: Sequence[ShownRun] = ()
        self._answer = Answer(parent, self._show_band, lambda _why: None)
        self.plot = make_plot("best_curve_plot", "False-positive rate", "True-positive rate")
        self.range = pg.LinearRegionItem((0.0, 0.1), movable=False)
        self.range.setZValue(-10)
        self.band = QGraphicsPathItem()
        self.band.setPen(Qt.PenStyle.NoPen)
        self.band.setZValue(-4)
        self.diagonal = pg.PlotCurveItem([0.0, 1.0], [0.0, 1.0])
        self.point = pg.ScatterPlotItem(size=12, hoverable=True, tip=_tip)
        self.lines = [pg.PlotCurveItem(), pg.PlotCurveItem()]
        for item in (self.range, self.band, self.diagonal, *self.lines[::-1], self.point):
            self.plot.addItem(item, ignoreBounds=True)
        self.legend = Legend(self.plot)
        self.plot.sigDeviceRangeChanged.connect(lambda *_changed: self.legend.fit())
        self.plot.set_whole((-_RIM, 1.0 + _RIM), (-_RIM, 1.0 + _RIM))

    @property
    def busy(self) -> bool:
        """Whether the band is being computed."""
        return self._answer.busy

    def show(self, standings: Standings, runs: Sequence[ShownRun]) -> None:
        """Draw runs, the best first."""
        theme, self._runs, self._band = current_theme(), runs, None
        self.legend.setLabelTextColor(theme.text)
        self.legend.clear()
        self.diagonal.setPen(pen(theme.neutral, 1.2, (4.0, 4.0)))
        self.band.setPath(QPainterPath())
        for item in (*self.lines, self.point):
            item.setData([], [])
        for item, run in zip(self.lines, runs, strict=False):
            item.setData(*_corners(run), pen=run_pen(run.look))
            self.legend.explain_line(run.look.name, run_pen(run.look))
        self._show_range(standings)
        if runs:
            self._show_point(standings, runs[0])
            record = runs[0].record
            self._answer.ask(record, lambda _post: _band_of(record))
        else:
            self._answer.drop()
        self.legend.fit()

    def _show_range(self, standings: Standings) -> None:
        theme = current_theme()
        self.range.setVisible(standings.fpr_range is not None)
        self.range.setRegion(standings.fpr_range or (0.0, 1.0))
        self.range.setBrush(faded(theme.band, 26))
        for line in self.range.lines:
            line.setPen(pen(faded(theme.band, 150), 1.0))

    def _show_band(self, found: inference.Band) -> None:
        self._band = found
        if not len(found.fpr):
            return
        outline = np.r_[found.fpr, found.fpr[::-1]], np.r_[found.low, found.high[::-1]]
        colour = run_colour(current_theme(), self._runs[0].look.colour)
        self.band.setPath(pg.arrayToQPath(*outline))
        self.band.setBrush(faded(colour, _ALPHA))
        self.legend.explain_line("95 % at any one FPR", pen(faded(colour, 110), 8.0))
        self.legend.fit()

    def _show_point(self, standings: Standings, run: ShownRun) -> None:
        at = standings.point
        if at is None or run.record.id != standings.best:
            return
        tip = f"threshold {at.threshold:.4g}: FPR {at.fpr:.3f}, TPR {at.tpr:.3f}"
        theme = current_theme()
        colour = run_colour(theme, run.look.colour)
        self.point.setData([at.fpr], [at.tpr], data=[tip], brush=colour, pen=pen(theme.card, 1.5))

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
        heads = ("run", "fpr", "tpr", "low", "high")
        return {head: [line[k] for line in lines] for k, head in enumerate(heads) if lines}


def _corners(run: ShownRun) -> tuple[np.ndarray, np.ndarray]:
    return run_curves(run.record).average.corners


def _band_of(record: RunRecord) -> inference.Band:
    (split, *_) = record.splits
    rows = Scores.of(split)
    return inference.pointwise_band(
        rows.positive, rows.scores, LEVEL, positive=True, **rows.sampled
    )


def _tip(x: float, y: float, data: str) -> str:
    return data
