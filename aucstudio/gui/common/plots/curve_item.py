"""A curve painted in strips: the same pixels in less time.

In each row of pixels Qt's rasteriser goes from the left end of the shape to the place it is at:
a long curve that is flat takes the square of its width. Strips of whole columns, each clipped to
itself, are short and do not overlap.

Upstream: pens wider than a pixel are slow (github.com/pyqtgraph/pyqtgraph/issues/533); pyqtgraph's
own way round them leaves gaps where lines are smoothed (issues/2178).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPaintEngine, QPainter, QPainterPath, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

_FEW = 500  # vertices that are as quickly painted at once
_STRIP = 96  # columns of pixels
_SPARE = 4  # pixels by which a line extends beyond a strip, besides the pen's width


class CurveItem(pg.PlotCurveItem):
    """A line whose x never decreases."""

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        pen, onto = self.opts["pen"], painter.deviceTransform()
        plain = pen.isCosmetic() and pen.style() == Qt.PenStyle.SolidLine
        pixels = painter.paintEngine().type() == QPaintEngine.Type.Raster
        upright = onto.m12() == onto.m21() == 0 and onto.m11() > 0
        x, _ = self.getData()
        if x is None or len(x) < _FEW or not (plain and pixels and upright):
            super().paint(painter, option, widget)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, self.opts["antialias"])
        painter.setPen(pen)
        reach = pen.widthF() + _SPARE
        for place, part in self._strips(painter.clipBoundingRect(), onto, reach):
            painter.save()
            painter.setClipRect(place, Qt.ClipOperation.IntersectClip)
            painter.drawPath(part)
            painter.restore()

    def _strips(
        self, seen: QRectF, onto: QTransform, reach: float
    ) -> Iterator[tuple[QRectF, QPainterPath]]:
        """Cut the line at columns of pixels; each part extends beyond its strip."""
        x, y = self.getData()
        column = onto.m11() * x + onto.dx()
        left, right = (onto.m11() * end + onto.dx() for end in (seen.left(), seen.right()))
        edges = np.arange(np.floor(left), right + _STRIP, _STRIP)
        firsts = np.searchsorted(column, edges[:-1] - reach) - 1
        lasts = np.searchsorted(column, edges[1:] + reach, "right") + 1
        ends = (edges - onto.dx()) / onto.m11()
        # Above and below, the edges of the clip stay where they are.
        top, height = seen.top() - seen.height(), 3 * seen.height()
        for k, (first, last) in enumerate(zip(firsts.clip(0), lasts, strict=True)):
            if last - first > 1:
                place = QRectF(ends[k], top, ends[k + 1] - ends[k], height)
                part = slice(first, last)
                yield place, pg.arrayToQPath(x[part], y[part], finiteCheck=False)


class ShadeItem(pg.PlotCurveItem):
    """The area under a line that rises, filled at once."""

    def _shouldUseFillPathList(self) -> bool:
        # Pyqtgraph's pieces are quicker only where there are many edges in a row of pixels
        # (github.com/pyqtgraph/pyqtgraph/pull/2032); which it is to be cannot be said.
        return False
