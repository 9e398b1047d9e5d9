"""Long lines drawn with only the vertices that are visible, and painted quickly.

Each device pixel is cut into half columns and half rows. Where the line crosses from one to the
next, the segment that crosses is kept as it is; what lies between two kept vertices stays within
a quarter of a pixel. Both coordinates of a rising line are sorted, so the crossings are found by
bisection: the work grows with the pixels, hardly with the line.

Pyqtgraph's own thinning looks at every vertex in each frame
(github.com/pyqtgraph/pyqtgraph/pull/3337).
"""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QPaintEngine, QPainter, QPen
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from aucstudio.engine.arrays import Array, Index, Mask

Window = tuple[float, float, float, float]  # left, right, bottom, top

_PARTS = 2  # of a pixel, along either axis
_MARGIN = 16  # pixels around the window, more than a pen is wide


@dataclasses.dataclass(frozen=True, eq=False)
class PlacedLine:
    """A line whose x never decreases, as places.

    Attributes
    ----------
    x, y : ndarray
    """

    x: Array
    y: Array

    @cached_property
    def rises(self) -> bool:
        """Whether y never decreases either."""
        return bool((np.diff(self.y) >= 0).all())

    def seen(self, window: Window, pixels: tuple[int, int]) -> tuple[Array, Array]:
        """Return the line thinned for a window of so many device pixels; it looks the same."""
        (left, right, bottom, top), (columns, rows) = window, pixels
        dx, dy = _MARGIN * (right - left) / columns, _MARGIN * (top - bottom) / rows
        across = np.linspace(left - dx, right + dx, _PARTS * (columns + 2 * _MARGIN) + 1)
        up = np.linspace(bottom - dy, top + dy, _PARTS * (rows + 2 * _MARGIN) + 1)
        first, last = self._within(across, up)
        x, y = self.x[first : last + 1], self.y[first : last + 1]
        if len(x) > len(across) + len(up):
            kept = _crossings(x, y, across, up) if self.rises else _extremes(x, y, across)
            x, y = x[kept], y[kept]
        if self.rises and (x[0] != self.x[0] or y[0] != self.y[0]):
            # It begins where the line does, outside the window, so that dashes stay in place.
            x, y = np.r_[self.x[0], x[0], x], np.r_[self.y[0], self.y[0], y]
        return x, y

    def _within(self, across: Array, up: Array) -> tuple[int, int]:
        """Return the first and the last vertex just outside the visible range."""
        sides = [(self.x, across), (self.y, up)] if self.rises else [(self.x, across)]
        first = max(int(np.searchsorted(values, edges[0], "left")) for values, edges in sides)
        last = min(int(np.searchsorted(values, edges[-1], "right")) for values, edges in sides)
        first, last = max(first - 1, 0), min(last, len(self.x) - 1)
        return min(first, last), last


def _crossings(x: Array, y: Array, across: Array, up: Array) -> Index:
    """Return the vertices before and after each change of column or row."""
    after = np.concatenate([np.searchsorted(x, across), np.searchsorted(y, up)])
    ends = [0, len(x) - 1]
    return np.unique(np.clip(np.concatenate([after, after - 1, ends]), 0, len(x) - 1))


def _extremes(x: Array, y: Array, across: Array) -> Index:
    """Return the first, lowest, highest and last vertex of each column."""
    starts = np.unique(np.clip(np.append(0, np.searchsorted(x, across)), 0, len(x) - 1))
    counts = np.diff(np.append(starts, len(x)))
    kept = [starts, starts + counts - 1]
    for extreme in (np.minimum, np.maximum):
        hit = np.flatnonzero(y == np.repeat(extreme.reduceat(y, starts), counts))
        kept.append(hit[np.searchsorted(hit, starts)])
    return np.unique(np.concatenate(kept))


_COPIES = 1.5  # per pixel of width; fewer would leave seams between smoothed edges
_STEP = 1.5  # pixels along a line, at least, between two vertices that are drawn


class CurveItem(pg.PlotCurveItem):
    """A line whose x never decreases, painted in copies one pixel wide next to each other.

    Qt's rasteriser has a fast path for lines one pixel wide. Wider ones are outlined and filled,
    which takes ten times as long (github.com/pyqtgraph/pyqtgraph/issues/533).
    """

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        onto = painter.deviceTransform()
        pixels = painter.paintEngine().type() == QPaintEngine.Type.Raster
        upright = onto.m12() == onto.m21() == 0 and onto.m11() != 0 != onto.m22()
        x, y = self.getData()
        if x is None or not (pixels and upright and self.opts["pen"].isCosmetic()):
            super().paint(painter, option, widget)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, self.opts["antialias"])
        painter.setPen(_hairline(self.opts["pen"]))
        across, up = onto.m11(), onto.m22()
        kept = _apart(x * across, y * up)
        path = pg.arrayToQPath(x[kept], y[kept], finiteCheck=False)
        reach = max(self.opts["pen"].widthF() - 1.0, 0.0) / 2
        # Copies beside each other across a line that rises; one that turns needs both diagonals.
        sides = (1,) if (np.diff(y) >= 0).all() else (1, -1)
        for away in np.linspace(-reach, reach, math.ceil(2 * _COPIES * reach) + 1).tolist():
            for side in sides:
                painter.save()
                painter.translate(away / across, side * away / up)
                painter.drawPath(path)
                painter.restore()


def _apart(x: Array, y: Array) -> Mask:
    """Return which vertices, in pixels, to draw: shorter segments are painted too faintly."""
    length = np.cumsum(np.abs(np.diff(x, prepend=x[:1])) + np.abs(np.diff(y, prepend=y[:1])))
    cell = np.floor(length / _STEP)
    kept = np.diff(cell, prepend=-1.0) > 0
    kept[-1:] = True
    return kept


def _hairline(pen: QPen) -> QPen:
    """Return a pen one pixel wide with the same dashes."""
    made = QPen(pen)
    made.setWidthF(1.0)
    if pen.dashPattern():
        made.setDashPattern([length * pen.widthF() for length in pen.dashPattern()])
    return made
