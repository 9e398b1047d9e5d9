"""Full extent of a plot and limits of its view.

Pyqtgraph's own limits would hold up a range that follows its items
(github.com/pyqtgraph/pyqtgraph/issues/276): along such an axis they are set while a person zooms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF

from aucstudio.engine.types import Array

Range = tuple[float, float]

SIDES = ("x", "y")
AIR = 0.25  # share of the full extent that is visible beyond it
_CLOSEST = 1e-3  # smallest visible share of the full extent
_NEAR = 1e-3  # relative tolerance of the full extent
_FREE = 1e307  # pyqtgraph's word for no limit


class Extent:
    """The full extent of a view box.

    Parameters
    ----------
    box : ViewBox

    Attributes
    ----------
    whole, reach : list of (float, float) or None
        By axis: the whole picture, None where it is what the items reach; what lies outside and
        can be seen all the same.
    air : float
        Share of the extent that is visible beyond it.
    """

    def __init__(self, box: Any) -> None:
        self._box = box
        self.whole: list[Range | None] = [None, None]
        self.reach: list[Range | None] = [None, None]
        self.air = AIR

    def can_move(self, axis: int) -> bool:
        """Return whether the user can zoom along an axis."""
        return bool(self._box.mouseEnabled()[axis])

    def is_zoomed(self) -> bool:
        """Return whether the view is not the full extent."""
        return any(self._is_other(axis) for axis in (0, 1) if self.can_move(axis))

    def _is_other(self, axis: int) -> bool:
        whole = self.whole[axis]
        if whole is None:
            return not _follows(self._box, axis)
        near = _NEAR * (whole[1] - whole[0])
        ends = zip(self._box.viewRange()[axis], whole, strict=True)
        return any(abs(seen - wanted) > near for seen, wanted in ends)

    def show(self) -> None:
        """Show the full extent of both axes."""
        self._set_free()
        for axis, whole in enumerate(self.whole):
            if whole is None and self.can_move(axis):
                # A linked axis that followed its own items would hold the other plot's range.
                if self._box.linkedView(axis) is None:
                    self._box.enableAutoRange(axis=axis)
            elif whole is not None:
                self._box.setRange(**{f"{SIDES[axis]}Range": whole}, padding=0)
                self._limit(axis, whole)

    def bound(self) -> None:
        """Limit the next user action to the full extent.

        Where the range follows the items, that is for as long as it is zoomed: limits would hold
        it up.
        """
        found = self._box.childrenBounds() if None in self.whole else (None, None)
        for axis, whole in enumerate(self.whole):
            known = whole or found[axis]
            if known is not None and self.can_move(axis):
                # The view must not jump at the start of a drag.
                seen = () if whole else (tuple(self._box.viewRange()[axis]),)
                self._limit(axis, tuple(known), seen)

    def _limit(self, axis: int, known: Range, seen: tuple[Range, ...] = ()) -> None:
        """Limit an axis to the full extent with a margin and further points."""
        size, reach = known[1] - known[0], self.reach[axis]
        ends = [(known[0] - self.air * size, known[1] + self.air * size), *seen]
        ends += [reach] if reach else []
        low, high = min(end[0] for end in ends), max(end[1] for end in ends)
        name = SIDES[axis]
        least = {f"min{name.upper()}Range": _CLOSEST * size}
        self._box.setLimits(**{f"{name}Min": low, f"{name}Max": high}, **least)

    def _set_free(self) -> None:
        ends = {"xMin": -_FREE, "xMax": _FREE, "yMin": -_FREE, "yMax": _FREE}
        self._box.setLimits(**ends, minXRange=None, minYRange=None)


def _follows(box: Any, axis: int) -> bool:
    """Return whether an axis follows its items, or that of another plot which does."""
    linked = box.linkedView(axis)
    following: Sequence[object] = (box if linked is None else linked).autoRangeEnabled()
    return following[axis] is not False


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
