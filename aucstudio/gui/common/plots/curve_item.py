"""Curves and areas that are painted quickly.

Qt's rasteriser has a fast path for lines one pixel wide; wider ones are outlined and filled, which
takes ten times as long, and more where a long curve is flat. A line is therefore painted in copies
one pixel wide, next to each other.

Upstream: pens wider than a pixel are slow (github.com/pyqtgraph/pyqtgraph/issues/533); pyqtgraph's
own way round them leaves gaps where lines are smoothed (issues/2178).
"""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QPaintEngine, QPainter, QPen
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from aucstudio.engine.types import Array, Mask

_COPIES = 1.5  # per pixel of width; fewer would leave seams between smoothed edges
_STEP = 1.5  # pixels along a line, at least, between two vertices that are drawn


class CurveItem(pg.PlotCurveItem):
    """A line whose x never decreases."""

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


class ShadeItem(pg.PlotCurveItem):
    """The area under a line that rises, filled at once."""

    def _shouldUseFillPathList(self) -> bool:
        # Pyqtgraph's pieces are quicker only where there are many edges in a row of pixels
        # (github.com/pyqtgraph/pyqtgraph/pull/2032); which it is to be cannot be said.
        return False
