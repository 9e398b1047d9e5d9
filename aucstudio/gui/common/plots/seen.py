"""Whether anything of a plot's items is in view."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF

Array = NDArray[np.float64]
View = tuple[float, float, float, float]  # left, right, bottom, top


def holds_something(plot: pg.PlotWidget) -> bool:
    """Return whether what is in view has a point or a line, or what is neither, in it."""
    (left, right), (bottom, top) = plot.getViewBox().viewRange()
    view = left, right, bottom, top
    drawn = [item for item in plot.getPlotItem().items if item.isVisible()]
    return not drawn or any(_is_in(item, view) for item in drawn)


def _is_in(item: Any, view: View) -> bool:
    if isinstance(item, pg.PlotDataItem):
        return any(part.isVisible() and _is_in(part, view) for part in (item.curve, item.scatter))
    if isinstance(item, pg.InfiniteLine | pg.LinearRegionItem):
        return False  # without ends, they say nothing of where the others are
    if isinstance(item, pg.ImageItem) and item.zValue() < 0:
        return False  # what lies behind all else
    if isinstance(item, pg.ScatterPlotItem):
        x, y = item.getData()
        return _has_point(x, y, view)
    if isinstance(item, pg.PlotCurveItem):
        return _has_line(item, view)
    left, right, bottom, top = view
    rect = item.mapRectToParent(item.boundingRect())
    return bool(rect.intersects(QRectF(left, bottom, right - left, top - bottom)))


def _has_point(x: Array | None, y: Array | None, view: View) -> bool:
    if x is None or y is None:
        return False
    left, right, bottom, top = view
    return bool(((x >= left) & (x <= right) & (y >= bottom) & (y <= top)).any())


def _has_line(item: pg.PlotCurveItem, view: View) -> bool:
    """Return whether a segment passes through, or what is filled under it does."""
    x, y = item.getData()
    if x is None or len(x) < 2:
        return _has_point(x, y, view)
    left, right, bottom, top = view
    steps = len(x) > len(y)
    ends = [y, y] if steps else [y[:-1], y[1:]]
    level = item.opts["fillLevel"]
    if isinstance(level, int | float):
        ends.append(np.full(len(ends[0]), level))
    low, high = np.minimum.reduce(ends), np.maximum.reduce(ends)
    across = (np.minimum(x[:-1], x[1:]) <= right) & (np.maximum(x[:-1], x[1:]) >= left)
    return bool((across & (low <= top) & (high >= bottom)).any())
