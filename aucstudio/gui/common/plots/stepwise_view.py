"""View box whose range grows in steps while a fit runs, so that axes do not jump.

Pyqtgraph finds the range anew with every item that changes, with the same room on all sides
(github.com/pyqtgraph/pyqtgraph/issues/2208); its mark of being up to date is private.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg

from aucstudio.engine.types import Array

Sides = tuple[tuple[float, float], tuple[float, float]]

# Shares of the visible range that a fit in progress may still need.
_ROOM_RIGHT, _ROOM_ACROSS = 0.25, 0.1
_NEAR = 0.05


class SteadyBox(pg.ViewBox):
    """Follows its items; those in progress get room, and the range stays until they leave it.

    A range that changes at every step would repaint everything at every step.

    Attributes
    ----------
    flying : ((left, right), (bottom, top)) or None
        What is in progress reaches so far; None where nothing is.
    """

    def __init__(self) -> None:
        super().__init__()
        self.flying: Sides | None = None
        self._is_settled = False

    def unsettle(self) -> None:
        """Compute the range again next time."""
        self._is_settled = False

    def updateAutoRange(self) -> None:
        if self._is_settled and self._holds():
            self._autoRangeNeedsUpdate = False
            return
        self._is_settled = self.flying is not None
        super().updateAutoRange()

    def _holds(self) -> bool:
        return self.flying is not None and all(
            low <= least and most <= high
            for (low, high), (least, most) in zip(self.viewRange(), self.flying, strict=True)
        )

    def childrenBounds(self, *arguments: Any, **named: Any) -> list[list[float] | None]:
        found = super().childrenBounds(*arguments, **named)
        return [
            None if side is None else self._with_room(axis, list(side))
            for axis, side in enumerate(found)
        ]

    def _with_room(self, axis: int, bounds: list[float]) -> list[float]:
        """Add room where the run in progress reaches the end of the range."""
        if self.flying is None:
            return bounds
        least, most = self.flying[axis]
        low, high = min(bounds[0], least), max(bounds[1], most)
        after = _ROOM_RIGHT if axis == 0 else _ROOM_ACROSS
        before = 0.0 if axis == 0 else _ROOM_ACROSS
        size = high - low
        # Ends of lines lie a pen's width within the bounds of their items.
        near = _NEAR * size
        return [
            low - before * size * (least <= low + near),
            high + after * size * (most >= high - near),
        ]


def sides_of(places: Sequence[tuple[Array, Array]]) -> Sides | None:
    """Return the left and right, and the bottom and top, of points; None if none is finite."""
    if not places:
        return None
    x, y = (np.concatenate(values) for values in zip(*places, strict=True))
    known = np.isfinite(x) & np.isfinite(y)
    if not known.any():
        return None
    x, y = x[known], y[known]
    return (float(x.min()), float(x.max())), (float(y.min()), float(y.max()))
