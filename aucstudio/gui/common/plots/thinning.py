"""Draw long lines with only the vertices that are visible.

Each device pixel is cut into half columns and half rows. Where the line crosses from one to the
next, the segment that crosses is kept as it is; what lies between two kept vertices stays within
a quarter of a pixel. Both coordinates of a rising line are sorted, so the crossings are found by
bisection: the work grows with the pixels, hardly with the line.

Pyqtgraph's own thinning looks at every vertex in each frame
(github.com/pyqtgraph/pyqtgraph/pull/3337).
"""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.types import Array

Window = tuple[float, float, float, float]  # left, right, bottom, top

_PARTS = 2  # of a pixel, along either axis
_MARGIN = 16  # pixels round the window, more than a pen is wide
_RUN = 32  # vertices of which the extremes are kept, so that few are looked at


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
        window, pixels = _widened(window, pixels)
        first, last = self._within(window)
        if last - first <= 2 * sum(pixels):
            kept = np.arange(first, last + 1)
        elif self.rises:
            kept = self._crossings(window, pixels, first, last)
        else:
            kept = self._extremes(window, pixels[0], first, last)
        return self._led_in(self.x[kept], self.y[kept])

    def _within(self, window: Window) -> tuple[int, int]:
        """First and last vertex just outside the visible range."""
        left, right, bottom, top = window
        first = int(np.searchsorted(self.x, left, "left"))
        last = int(np.searchsorted(self.x, right, "right"))
        if self.rises:
            first = max(first, int(np.searchsorted(self.y, bottom, "left")))
            last = min(last, int(np.searchsorted(self.y, top, "right")))
        first, last = max(first - 1, 0), min(last, len(self.x) - 1)
        return min(first, last), last

    def _crossings(
        self, window: Window, pixels: tuple[int, int], first: int, last: int
    ) -> NDArray[np.intp]:
        """Vertices before and after each change of column or row."""
        after = np.concatenate(
            [
                np.searchsorted(values, np.linspace(low, high, _PARTS * count + 1))
                for values, low, high, count in (
                    (self.x[first : last + 1], window[0], window[1], pixels[0]),
                    (self.y[first : last + 1], window[2], window[3], pixels[1]),
                )
            ]
        )
        kept = np.concatenate([after, after - 1, [0, last - first]])
        return _distinct(np.clip(kept, 0, last - first)) + first

    def _extremes(self, window: Window, columns: int, first: int, last: int) -> NDArray[np.intp]:
        """First, lowest, highest and last vertex of each column."""
        edges = np.linspace(window[0], window[1], _PARTS * columns + 1)
        starts = np.clip(np.searchsorted(self.x, edges), first, last)
        starts = _distinct(np.append(first, starts))
        ends = np.append(starts[1:], last + 1)
        kept = [starts, ends - 1]
        looked_at = self._looked_at(starts, last)
        y, inside = self.y[looked_at], np.searchsorted(looked_at, starts)
        counts = np.diff(np.append(inside, len(y)))
        for extreme in (np.minimum, np.maximum):
            hit = np.flatnonzero(y == np.repeat(extreme.reduceat(y, inside), counts))
            kept.append(looked_at[hit[np.searchsorted(hit, inside)]])
        return _distinct(np.concatenate(kept))

    def _looked_at(self, starts: NDArray[np.intp], last: int) -> NDArray[np.intp]:
        """Return the vertices among which the extremes of columns are.

        Of a run of vertices within a column these are its own extremes, of a run that columns
        share all.
        """
        looked_at = self._extreme.copy()
        looked_at[_distinct(np.append(starts, last) // _RUN)] = True
        first = int(starts[0])
        return np.flatnonzero(looked_at.ravel()[first : last + 1]) + first

    @cached_property
    def _extreme(self) -> NDArray[np.bool_]:
        """Whether a vertex is the first lowest or highest of its run; one row a run."""
        runs = -(-len(self.y) // _RUN)
        y = np.append(self.y, np.full(runs * _RUN - len(self.y), self.y[-1])).reshape(runs, _RUN)
        found, run = np.zeros(y.shape, dtype=bool), np.arange(runs)
        found[run, y.argmin(axis=1)] = found[run, y.argmax(axis=1)] = True
        return found

    def _led_in(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Begin where the line does, outside the window, so that dashes stay in their places."""
        if not self.rises or (x[0] == self.x[0] and y[0] == self.y[0]):
            return x, y
        return np.r_[self.x[0], x[0], x], np.r_[self.y[0], self.y[0], y]


def _widened(window: Window, pixels: tuple[int, int]) -> tuple[Window, tuple[int, int]]:
    """Add the margin on all sides; the pixels stay where they are."""
    left, right, bottom, top = window
    columns, rows = pixels
    dx, dy = _MARGIN * (right - left) / columns, _MARGIN * (top - bottom) / rows
    wider = (left - dx, right + dx, bottom - dy, top + dy)
    return wider, (columns + 2 * _MARGIN, rows + 2 * _MARGIN)


def _distinct(indices: NDArray[np.intp]) -> NDArray[np.intp]:
    """Sort, and leave out what comes again."""
    # In few numbers that are nearly sorted, twice as fast as np.unique.
    ordered = np.sort(indices)
    found: NDArray[np.intp] = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    return found
