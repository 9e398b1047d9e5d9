"""Both classes as regions that hold half and nine tenths of their rows."""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QGraphicsPathItem

from aucstudio.gui.common.plots.legend import Legend, keep_sample
from aucstudio.gui.common.plotting import faded, pen
from aucstudio.gui.common.theme import current_theme
from aucstudio.project.geometry.class_density import SHARES, Contour

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

    def explain(self, legend: Legend, names: Sequence[str], regions: Regions) -> None:
        """Show in a legend whose the regions are."""
        for name, contours, sample in zip(names, regions, self._samples, strict=True):
            if contours:
                legend.explain_mark(name, sample)


def _draw_one(item: QGraphicsPathItem, contour: Contour, line: QPen, fill: QColor) -> None:
    places, connect = contour
    item.setPath(pg.arrayToQPath(places[:, 0], places[:, 1], connect=connect))
    item.setPen(line)
    item.setBrush(fill)
