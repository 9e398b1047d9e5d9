"""The number of distinct values in each column: exact, and counted only on request."""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Columns counted at a time: each is copied for it.
_MOST_AT_ONCE = 2
_WINDOW, _FIRST_WINDOW, _SHORT = 1 << 16, 256, 2_000


class Count:
    """The number of distinct values in some cells, without missing ones.

    Parameters
    ----------
    total : int, optional
        The count, if it is known.
    cells : ndarray of float64, optional
        Numbers to be counted, if it is not.
    """

    def __init__(self, total: int | None = None, cells: Array | None = None) -> None:
        self._total, self._cells = total, cells

    @property
    def total(self) -> int:
        """The count."""
        cells = self._cells
        if self._total is None and cells is not None:
            self._store(different(cells))
        assert self._total is not None
        return self._total

    @property
    def is_open(self) -> bool:
        """Whether the values are still to be counted."""
        return self._total is None

    def exceeds(self, most: int) -> bool:
        """Return whether there are more than ``most``; read no more cells than that takes."""
        cells = self._cells
        if self._total is None and cells is not None:
            found = few(cells, most) if len(cells) > _SHORT else different(cells)
            if found is None:
                return True
            self._store(found)
        return self.total > most

    def _store(self, total: int) -> None:
        # In this order, as another thread may be about to count.
        self._total = total
        self._cells = None


def count_all(counts: Iterable[Count], tell: Callable[[float], Any] = lambda _share: None) -> None:
    """Count what is not counted yet, on several processors.

    Parameters
    ----------
    counts : iterable of Count
    tell : callable
        Called with the share done; may raise to stop.
    """
    open_ones = [one for one in counts if one.is_open]
    pool = concurrent.futures.ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_AT_ONCE))
    try:
        for n, _ in enumerate(pool.map(lambda one: one.total, open_ones), 1):
            tell(n / len(open_ones))
    finally:
        pool.shutdown(cancel_futures=True)


def few(values: Array, most: int) -> int | None:
    """Count the distinct numbers; return None if there are more than ``most``."""
    found = np.empty(0)
    start, height = 0, _FIRST_WINDOW
    while start < len(values):
        part = values[start : start + height]
        if len(found):
            place = np.searchsorted(found, part)
            part = part[found[np.minimum(place, len(found) - 1)] != part]
        fresh = np.unique(part[~np.isnan(part)])
        if len(fresh):
            found = np.union1d(found, fresh)
        if len(found) > most:
            return None
        start, height = start + height, min(4 * height, _WINDOW)
    return len(found)


def different(values: Array) -> int:
    """Count the distinct numbers; NaN is not counted, and both zeros are one number."""
    if (values[1:] > values[:-1]).all() and not np.isnan(values[:1]).any():
        return len(values)
    known = np.sort(values)
    known = known[: len(known) - int(np.count_nonzero(np.isnan(known)))]
    return int(np.count_nonzero(known[1:] != known[:-1])) + (len(known) > 0)
