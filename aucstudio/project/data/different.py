"""How many different values columns hold: exact, and no sooner than somebody asks.

Of many numbers it is counted without a sort. They go to places of a table that are computed from
their bits. As one table of all would be read all over memory, they are parted first, by the same
bits, into heaps that share a small one; unless the small one holds them all.
"""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.compiled import kernel

Array = NDArray[np.float64]
Keys = NDArray[np.uint64]

# So many numbers are sorted sooner than the compiler is loaded.
_MANY = 6_000_000
# Columns counted at a time: each is copied for it.
_MOST_AT_ONCE = 2
_WINDOW, _FIRST_WINDOW, _SHORT = 1 << 16, 256, 2_000

_SIGN, _INFINITE = np.uint64(1 << 63), np.uint64(0x7FF << 52)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_FACTOR, _HIGH, _LOW = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(29)
_PLACES, _HEAP_BITS, _KEY_BITS = 1 << 16, 14, 64


class Count:
    """How many different values there are in some cells, missing ones aside.

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
        return self.count(many=False)

    def count(self, *, many: bool) -> int:
        """Count; ``many`` if there is so much to count in all that compiled code pays."""
        cells = self._cells
        if self._total is None and cells is not None:
            self._settle(different(cells, many=many or len(cells) > _MANY))
        assert self._total is not None
        return self._total

    def exceeds(self, most: int) -> bool:
        """Tell whether there are more than so few, looking at no more cells than that takes."""
        cells = self._cells
        if self._total is None and cells is not None:
            found = few(cells, most) if len(cells) > _SHORT else different(cells, many=False)
            if found is None:
                return True
            self._settle(found)
        return self.total > most

    def _settle(self, total: int) -> None:
        # In this order, as another thread may be about to count.
        self._total = total
        self._cells = None


def count_all(counts: Iterable[Count], tell: Callable[[float], Any] = lambda _share: None) -> None:
    """Count what has not been counted, on all processors.

    Parameters
    ----------
    counts : iterable of Count
    tell : callable
        Told the share done; may raise to stop.
    """
    open_ones = [one for one in counts if one._total is None]
    many = sum(len(one._cells) for one in open_ones if one._cells is not None) > _MANY
    pool = concurrent.futures.ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_AT_ONCE))
    try:
        for n, _ in enumerate(pool.map(lambda one: one.count(many=many), open_ones), 1):
            tell(n / len(open_ones))
    finally:
        pool.shutdown(cancel_futures=True)


def few(values: Array, most: int) -> int | None:
    """Count the different numbers if they are no more than some; else None."""
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


def different(values: Array, *, many: bool) -> int:
    """Count the different numbers; NaN is none, and zero has one sign.

    Parameters
    ----------
    values : ndarray of shape (n,)
    many : bool
        Whether they, or what is counted with them, are so many that compiled code pays.
    """
    if (values[1:] > values[:-1]).all() and not np.isnan(values[:1]).any():
        return len(values)
    if many:
        return int(_different(np.ascontiguousarray(values).view(np.uint64)))
    known = np.sort(values)
    known = known[: len(known) - int(np.count_nonzero(np.isnan(known)))]
    return int(np.count_nonzero(known[1:] != known[:-1])) + (len(known) > 0)


@kernel
def _different(bits: Keys) -> int:
    places = np.zeros(_PLACES, np.uint64)
    zero, count = 0, 0
    for key in bits:
        bare = key & ~_SIGN
        if bare == _ZERO:
            zero = 1
        elif bare <= _INFINITE:
            count += _enter(key, places)
            if 2 * count > _PLACES:
                return _in_heaps(bits, places)
    return zero + count


@kernel
def _in_heaps(bits: Keys, places: Keys) -> int:
    heap_bits = 1
    while len(bits) >> heap_bits > 1 << _HEAP_BITS:
        heap_bits += 1
    shift = np.uint64(_KEY_BITS - heap_bits)
    ends = np.zeros((1 << heap_bits) + 1, np.int64)
    count = 0
    for key in bits:
        bare = key & ~_SIGN
        if bare == _ZERO:
            count = 1
        elif bare <= _INFINITE:
            ends[(_mixed(key) >> shift) + _ONE] += 1
    ends = np.cumsum(ends)
    heaps, last = np.empty(ends[-1], np.uint64), ends[:-1].copy()
    for key in bits:
        bare = key & ~_SIGN
        if bare != _ZERO and bare <= _INFINITE:
            heap = _mixed(key) >> shift
            heaps[last[heap]] = key
            last[heap] += 1
    for n in range(len(ends) - 1):
        count += _in_heap(heaps[ends[n] : ends[n + 1]], places)
    return count


@kernel
def _in_heap(keys: Keys, places: Keys) -> int:
    """Count in a table that grows: a heap may be larger than others."""
    while True:
        places[:] = _ZERO
        count = 0
        for key in keys:
            count += _enter(key, places)
            if 2 * count > len(places):
                break
        else:
            return count
        places = np.empty(2 * len(places), np.uint64)


@kernel
def _enter(key: np.uint64, places: Keys) -> int:
    """Write a number, which is not zero, to its place; 0 if it is there already."""
    last = np.uint64(len(places) - 1)
    place = _mixed(key) & last
    while places[place] != _ZERO:
        if places[place] == key:
            return 0
        place = (place + _ONE) & last
    places[place] = key
    return 1


@kernel
def _mixed(key: np.uint64) -> np.uint64:
    key = (key ^ (key >> _HIGH)) * _FACTOR
    return key ^ (key >> _LOW)
