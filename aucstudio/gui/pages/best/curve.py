"""Held-out ROC curve of the best model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QPainterPath
from PySide6.QtWidgets import QGraphicsPathItem

from aucstudio.engine import inference
from aucstudio.gui.common.curves import run_curves
from aucstudio.gui.common.plots.legend import Entry
from aucstudio.gui.common.plots.roc_sketch import RocSketch
from aucstudio.gui.common.plotting import data_tip, faded, pen, run_pen
from aucstudio.gui.common.table import in_columns
from aucstudio.gui.common.theme import current_theme, run_colour
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.results.summary import LEVEL, ranking
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.tournament.standings import Standings

_ALPHA = 44


class CurvePlot(RocSketch):
    """The best run and, if any, the simplest run that is not significantly worse.

    Attributes
    ----------
    plot : Plot
    lines : list of PlotCurveItem
    """

    def __init__(self) -> None:
        super().__init__("best_curve_plot")
        self._band: inference.Band | None = None
        self._runs: Sequence[ShownRun] = ()
        self._entries: list[Entry] = []
        self._answer = Answer(self.plot, self._show_band, lambda _why: None)
        self.band = QGraphicsPathItem()
        self.band.setPen(Qt.PenStyle.NoPen)
        self.band.setZValue(-4)
        self.point = pg.ScatterPlotItem(size=12, hoverable=True, tip=data_tip)
        self.point.setZValue(2)
        for item in (self.band, self.point):
            self.plot.addItem(item, ignoreBounds=True)

    def show_standings(self, standings: Standings, runs: Sequence[ShownRun]) -> None:
        """Draw the best run, and the simpler one after it."""
        self._runs, self._band = runs, None
        self.band.setPath(QPainterPath())
        self.point.setData([], [])
        self.show([(*_corners(run), run_pen(run.look)) for run in runs], standings.fpr_range)
        self._entries = [(run.look.name, run_pen(run.look)) for run in runs]
        self.legend.explain(self._entries)
        if runs:
            self._show_point(standings, runs[0])
            record = runs[0].record
            self._answer.ask(record, lambda _post: _band_of(record))
        else:
            self._answer.drop()

    def _show_band(self, found: inference.Band) -> None:
        self._band = found
        if not len(found.fpr):
            return
        outline = np.r_[found.fpr, found.fpr[::-1]], np.r_[found.low, found.high[::-1]]
        colour = run_colour(current_theme(), self._runs[0].look.colour)
        self.band.setPath(pg.arrayToQPath(*outline))
        self.band.setBrush(faded(colour, _ALPHA))
        text = "95 % at any one FPR", pen(faded(colour, 110), 8.0)
        self.legend.explain([*self._entries, text])

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
        return in_columns(("run", "fpr", "tpr", "low", "high"), lines)


def _corners(run: ShownRun) -> tuple[np.ndarray, np.ndarray]:
    return run_curves(run.record).average.corners


def _band_of(record: RunRecord) -> inference.Band:
    (split, *_) = record.splits
    return inference.pointwise_band(ranking(split), LEVEL)
