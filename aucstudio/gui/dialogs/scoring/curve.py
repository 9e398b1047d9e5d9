"""The ROC curve of a table that was scored and has a label, with its areas in words."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtWidgets import QWidget

from aucstudio.engine import roc
from aucstudio.engine.inference import Interval, pauc_interval
from aucstudio.gui.common.boxes import STRETCH, down
from aucstudio.gui.common.curves import band_words
from aucstudio.gui.common.plotting import faded, make_plot, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.common.widgets import label, named
from aucstudio.project.results.choosing import ThresholdFigures, counts_at
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.words import figure_words, interval_words

_SIDE = 260
_CELLS = 1000  # along each side of the picture: more corners would not be seen


@dataclasses.dataclass(frozen=True, eq=False)
class TableRanking:
    """How a table's labelled rows are ranked.

    Attributes
    ----------
    x, y : ndarray
        FPR and TPR of the corners that can be told apart.
    band : (float, float)
    pauc : Interval
        The normalised area over the band.
    threshold : float
        Of the model.
    figures : ThresholdFigures
        At the threshold.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    band: Band
    pauc: Interval
    threshold: float
    figures: ThresholdFigures

    @classmethod
    def of(
        cls,
        positive: NDArray[np.bool_],
        scores: NDArray[np.float64],
        band: Band,
        threshold: float,
    ) -> TableRanking:
        """Work it out; of a million rows in a second or so."""
        curve = roc.roc_curve(positive, scores)
        pauc = pauc_interval(positive, scores, *band)
        x, y = outline(curve)
        figures = ThresholdFigures.of(counts_at(curve, threshold))
        return cls(x, y, band, pauc, threshold, figures)

    def words(self) -> str:
        """Return the area in the band and the rates at the threshold, in words."""
        pauc, figures = self.pauc, self.figures
        bounds = pauc.reason or f"95 % {interval_words(pauc.low, pauc.high)}"
        said = [f"pAUC {figure_words(pauc.value)} in FPR {band_words(self.band)} ({bounds})."]
        rates = {"TPR": figures.tpr, "FPR": figures.fpr, "precision": figures.precision}
        told = [
            f"{name} {figure_words(rate.value)} ({interval_words(*rate.bounds)})"
            for name, rate in rates.items()
            if not math.isnan(rate.value)
        ]
        number = f"{self.threshold:.4g}".replace("-", "−")
        return " ".join([*said, f"At the threshold {number}: {', '.join(told)}."])


def outline(curve: roc.Curve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners of a curve, one in each cell of a fine grid."""
    corners = curve.corners()
    cells = np.floor(corners.fpr * _CELLS) * (_CELLS + 1) + np.floor(corners.tpr * _CELLS)
    kept = np.append(True, cells[1:] != cells[:-1])
    kept[-1] = True
    return corners.fpr[kept], corners.tpr[kept]


class CurvePreview(QWidget):
    """The curve, the study's FPR range, and where the model's threshold lies."""

    def __init__(self) -> None:
        super().__init__()
        named(self, "score_curve", "ROC curve of the scored table")
        self.plot = make_plot("score_roc_plot", "False-positive rate", "True-positive rate")
        self.plot.setFixedSize(_SIDE, _SIDE)
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.setRange(xRange=(0.0, 1.0), yRange=(0.0, 1.0), padding=0.04)
        theme = current_theme()
        self.band = pg.LinearRegionItem((0.0, 0.1), movable=False)
        self.band.setBrush(faded(theme.band, 40))
        chance = pg.PlotCurveItem([0.0, 1.0], [0.0, 1.0], pen=pen(theme.grid, 1.0, (3.0, 3.0)))
        self.line = pg.PlotCurveItem(antialias=True, pen=pen(theme.accent, 2.0))
        self.point = pg.ScatterPlotItem(size=9, pen=pen(theme.card, 1.0), brush=theme.text)
        for item in (self.band, chance, self.line, self.point):
            self.plot.addItem(item)
        for edge in self.band.lines:
            edge.setPen(pen(faded(theme.band, 90), 1.0))
        self.words = label("", "muted", wrap=True, name="score_curve_words")
        self.setLayout(down(self.plot, self.words, STRETCH, gap=4))
        self.setFixedWidth(_SIDE)

    def show_ranking(self, ranking: TableRanking | None) -> None:
        """Show a ranking; nothing where there is none."""
        self.setVisible(ranking is not None)
        if ranking is not None:
            self.line.setData(ranking.x, ranking.y)
            self.band.setRegion(ranking.band)
            self.point.setData([ranking.figures.fpr.value], [ranking.figures.tpr.value])
            self.words.setText(ranking.words())
