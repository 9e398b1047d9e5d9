"""Regions that contain 50 % and 90 % of the rows of a class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QGraphicsPathItem

from aucstudio.engine.scorers import KernelScorer
from aucstudio.engine.types import Array
from aucstudio.gui.common.plots.legend import Entry, keep_sample
from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.project.data.table import Table
from aucstudio.project.geometry.planes import Plane, Sample
from aucstudio.project.geometry.score_map import SHARES, Contour
from aucstudio.project.runs.record import SplitResult

Regions = tuple[list[Contour], list[Contour]]  # of the positives and of the negatives

_FILL = 34  # of 255
_WIDTHS = (2.0, 1.2)  # pixels, of the inner line and of the outer


class ClassShapes:
    """The regions of both classes in one plot; empty for a class whose rows are few.

    Attributes
    ----------
    positives, negatives : list of QGraphicsPathItem
        The inner region and the outer one.
    """

    def __init__(self, plot: pg.PlotWidget) -> None:
        self.positives, self.negatives = ([QGraphicsPathItem() for _ in SHARES] for _ in range(2))
        self._samples = [pg.ScatterPlotItem(symbol="s", size=10) for _ in range(2)]
        for sample in self._samples:
            keep_sample(sample, plot)
        for items, z in ((self.negatives, -6), (self.positives, -5)):
            for item in items:
                item.setZValue(z)
                plot.addItem(item, ignoreBounds=True)

    def draw(self, regions: Regions) -> None:
        """Draw the regions of both classes."""
        theme = current_theme()
        colours = QColor(theme.positive), QColor(theme.negative)
        for items, contours, colour, sample in zip(
            (self.positives, self.negatives), regions, colours, self._samples, strict=True
        ):
            sample.setPen(pen(colour, _WIDTHS[0]))
            sample.setBrush(faded(colour, 2 * _FILL))
            for k, item in enumerate(items):
                item.setVisible(bool(contours))
                if contours:
                    _draw_one(item, contours[k], pen(colour, _WIDTHS[k]), faded(colour, _FILL))

    def entries(self, names: Sequence[str], regions: Regions) -> list[Entry]:
        """Name the classes that have regions."""
        classes = zip(names, regions, self._samples, strict=True)
        return [(name, sample) for name, contours, sample in classes if contours]


def _draw_one(item: QGraphicsPathItem, contour: Contour, line: QPen, fill: QColor) -> None:
    places, connect = contour
    item.setPath(pg.arrayToQPath(places[:, 0], places[:, 1], connect=connect))
    item.setPen(line)
    item.setBrush(fill)


MOST_SHARE = 0.5  # of the training rows; more marks are not informative
_MOST_PAIRS = 500


def support_places(split: SplitResult, table: Table, plane: Plane) -> tuple[Array, str] | None:
    """Place the rows that a fit rests on.

    Returns
    -------
    (places, words) : ndarray of shape (k, 2), and what they are; or None
        None if there are no support rows to mark.
    """
    n_train = len(split.train_rows)
    if split.support_pairs.shape[1]:
        rows = np.unique(split.support_pairs[:, :_MOST_PAIRS])
        known = np.flatnonzero(np.isin(split.train_rows, rows))
        sample = Sample(
            split.model.preparation.apply(table, split.train_rows[known]),
            split.train_positive[known],
            split.train_scores[known],
            split.train_rows[known],
        )
        words = "in a support pair"
    elif isinstance(split.model.scorer, KernelScorer):
        scorer = split.model.scorer
        points = scorer.points
        scores = scorer(points) + split.model.intercept
        count = np.arange(len(points))
        sample = Sample(points, np.zeros(len(points), dtype=bool), scores, count)
        words = "point of the kernel expansion"
    else:
        return None
    if not 0 < len(sample.X) <= MOST_SHARE * n_train or np.isnan(sample.X).any():
        return None
    return plane.place(sample), words
