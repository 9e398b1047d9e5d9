"""Labels on lines, placed where they cover least."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor

from aucstudio.gui.common.plotting import faded
from aucstudio.gui.common.theme import current_theme
from aucstudio.gui.pages.roc.picture.scene import Points

Crowd = Callable[[QRectF], float]

CARD = 1000  # what it costs to lie under a card, where a label cannot be read
_BESIDE = 100.0  # to lie over another label
_SHARES = tuple(0.92 - 0.1 * k for k in range(9))  # possible positions of a label along its line
_STARTS = 4  # neighbours begin at as many different ones
_Z = 45


class LineLabels:
    """A label for each of some lines.

    Parameters
    ----------
    plot : PlotWidget
    crowd : callable
        What it costs to cover a part of the plot, given in the view box's pixels.

    Attributes
    ----------
    items : list of TextItem
        Those of lines that are gone, and those that could only lie under a card, are hidden.
    """

    def __init__(self, plot: pg.PlotWidget, crowd: Crowd) -> None:
        self._plot, self._crowd = plot, crowd
        self._box: Any = plot.getPlotItem().getViewBox()
        self._lines: Sequence[Points] = ()
        self.items: list[pg.TextItem] = []

    def show(self, lines: Sequence[Points], words: Sequence[str]) -> None:
        """Label other lines, given as places."""
        self._lines = lines
        while len(self.items) < len(lines):
            made = pg.TextItem(anchor=(0.5, 0.5))
            made.setZValue(_Z)
            self._plot.addItem(made, ignoreBounds=True)
            self.items.append(made)
        for item, text in zip(self.items, words, strict=False):
            item.setText(text)
        for item in self.items[len(lines) :]:
            item.setVisible(False)
        self.place()

    def place(self) -> None:
        """Place the labels where they are easiest to read with the present cards."""
        taken: list[QRectF] = []
        for k, (item, line) in enumerate(zip(self.items, self._lines, strict=False)):
            first = k % _STARTS
            shares = (*_SHARES[first:], *_SHARES[:first])
            least, best = self._best([self._rect(item, line, share) for share in shares], taken)
            item.setVisible(least < CARD)
            item.setPos(self._box.mapToView(best.center()))
            taken.append(best)

    def _best(self, rects: Sequence[QRectF], taken: Sequence[QRectF]) -> tuple[float, QRectF]:
        """Return the least cost of some places, and the first place that has it."""
        least, best = math.inf, rects[0]
        for rect in rects:
            cost = self._cost(rect, taken)
            if cost < least:
                least, best = cost, rect
            if not cost:
                break
        return least, best

    def _rect(self, item: pg.TextItem, line: Points, share: float) -> QRectF:
        """Return what a label covers at a share of its line, moved into the plot."""
        at = round(share * (len(line[0]) - 1))
        rect = QRectF(QPointF(), item.textItem.boundingRect().size())
        rect.moveCenter(self._box.mapFromView(QPointF(float(line[0][at]), float(line[1][at]))))
        room = self._box.rect()
        rect.moveLeft(max(room.left(), min(rect.left(), room.right() - rect.width())))
        rect.moveTop(max(room.top(), min(rect.top(), room.bottom() - rect.height())))
        return rect

    def _cost(self, rect: QRectF, taken: Sequence[QRectF]) -> float:
        return self._crowd(rect) + _BESIDE * sum(rect.intersects(other) for other in taken)

    def apply_theme(self) -> None:
        """Apply the current theme."""
        theme = current_theme()
        for item in self.items:
            item.setColor(QColor(theme.muted))
            item.fill = pg.mkBrush(faded(theme.card, 215))
