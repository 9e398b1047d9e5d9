"""Exact medians of columns that stay on disk, in a few passes and little memory.

The bits of doubles, sign aside, rise with their value; so the digits of the middle cell in base
2^16 follow one after another from counts of the cells that share the digits before. As soon as few
cells do, they are gathered.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.disk.stream import DiskTable

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_BITS = 16
DIGITS = 1 << _BITS
_SIGN = np.uint64(1 << 63)


def medians(
    table: DiskTable,
    chosen: Mask,
    numbers: tuple[str, ...],
    counts: Sequence[int],
    leading: NDArray[np.uint32],
) -> Array:
    """Find the exact medians of columns over some rows; 0 where no cell is known.

    One pass where few cells begin as the middle ones do, else up to three.

    Parameters
    ----------
    table : DiskTable
    chosen : ndarray of bool, shape (rows,)
    numbers : tuple of str
        The columns.
    counts : sequence of int
        Known cells of each.
    leading : ndarray of shape (len(numbers), 65536)
        How often each first digit occurs: :func:`histogram` of :func:`first_digits`.
    """
    middles = [Middle(count) for count in counts]
    for middle, first in zip(middles, leading, strict=True):
        middle.settle([first, first])
    few = table.block_bytes // 8
    for shift in range(64 - 2 * _BITS, -1, -_BITS):
        if sum(middle.alike for middle in middles) <= few:
            return _gathered(table, chosen, numbers, middles, np.uint64(shift + _BITS))
        found = [[np.zeros(DIGITS, np.uint32) for _ in m.shared] for m in middles]
        for start, window in table.windows(table.height(0), numbers) if numbers else ():
            here = np.flatnonzero(chosen[start : start + window.rows])
            columns = {column.name: column for column in window.columns}
            for name, middle, count in zip(numbers, middles, found, strict=True):
                middle.count(keys_of(known(columns[name].values[here])), shift, count)
        for middle, count in zip(middles, found, strict=True):
            middle.settle([count[0], count[-1]])
    return np.array([middle.value() for middle in middles])


def _gathered(
    table: DiskTable,
    chosen: Mask,
    numbers: tuple[str, ...],
    middles: list[Middle],
    shift: np.uint64,
) -> Array:
    """Finish the medians in one pass that keeps the cells that begin as the middle ones do."""
    kept: list[list[NDArray[np.uint64]]] = [[] for _ in numbers]
    for start, window in table.windows(table.height(0), numbers) if numbers else ():
        here = np.flatnonzero(chosen[start : start + window.rows])
        columns = {column.name: column for column in window.columns}
        for name, middle, parts in zip(numbers, middles, kept, strict=True):
            keys = keys_of(known(columns[name].values[here]))
            beginnings = keys >> shift
            low, high = middle.shared[0], middle.shared[-1]
            parts.append(keys[(beginnings == np.uint64(low)) | (beginnings == np.uint64(high))])
    for middle, parts in zip(middles, kept, strict=True):
        middle.finish(np.sort(np.concatenate(parts)), shift)
    return np.array([middle.value() for middle in middles])


class Middle:
    """The one or two cells in the middle of a column: the digits of them that are settled.

    Parameters
    ----------
    count : int
        Known cells of the column.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._ranks = [max(0, count - 1) // 2, count // 2]
        self._prefixes = [0, 0]
        self.alike = 0  # cells that begin as the middle ones do

    @property
    def shared(self) -> list[int]:
        """The different beginnings of the two cells."""
        return sorted(set(self._prefixes))

    def count(self, keys: NDArray[np.uint64], shift: int, counts: list[NDArray[np.uint32]]) -> None:
        """Count the next digit of the cells that begin as the middle ones do."""
        rest = keys >> np.uint64(shift)
        beginnings = rest >> np.uint64(_BITS)
        for prefix, counted in zip(self.shared, counts, strict=True):
            alike = rest[beginnings == np.uint64(prefix)]
            counted += histogram(alike & np.uint64(DIGITS - 1))

    def settle(self, counts: list[NDArray[np.uint32]]) -> None:
        """Take the next digit from the counts for the lower and for the upper cell."""
        for n in range(2):
            below = np.cumsum(counts[n], dtype=np.int64)
            digit = int(np.searchsorted(below, self._ranks[n], side="right"))
            digit = min(digit, len(below) - 1)  # of no cells at all
            self._ranks[n] -= int(below[digit - 1]) if digit else 0
            self._prefixes[n] = self._prefixes[n] << _BITS | digit
            self.alike = int(counts[n][digit]) + (self.alike if n else 0)

    def finish(self, keys: NDArray[np.uint64], shift: np.uint64) -> None:
        """Take the rest from all cells, sorted, that begin as the middle ones do."""
        for n, prefix in enumerate(self._prefixes if self._count else ()):
            first = int(np.searchsorted(keys >> shift, np.uint64(prefix)))
            self._prefixes[n] = int(keys[first + self._ranks[n]])

    def value(self) -> float:
        """Give the median; 0 of no cells."""
        if not self._count:
            return 0.0
        return float(np.mean(numbers_of(np.array(self._prefixes, dtype=np.uint64))))


def known(cells: Array) -> Array:
    """Leave the missing cells out."""
    return cells[~np.isnan(cells)]


def first_digits(cells: Array) -> NDArray[np.uint64]:
    """Give the leading 16 bits of each cell."""
    return keys_of(cells) >> np.uint64(64 - _BITS)


def histogram(digits: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Count how often each of the 65,536 digits occurs."""
    return np.bincount(digits.astype(np.intp), minlength=DIGITS).astype(np.uint32)


def keys_of(cells: Array) -> NDArray[np.uint64]:
    """Map doubles to whole numbers in the same order."""
    bits = np.ascontiguousarray(cells).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def numbers_of(keys: NDArray[np.uint64]) -> Array:
    """Undo :func:`keys_of`."""
    bits = np.where(keys & _SIGN, keys & ~_SIGN, ~keys)
    return np.asarray(bits, dtype=np.uint64).view(np.float64)
