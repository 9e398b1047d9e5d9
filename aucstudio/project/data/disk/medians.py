"""Exact quantiles of columns that stay on disk, in a few passes and little memory.

The bits of doubles, sign aside, rise with their value; so the digits of a cell of some rank in base
2^16 follow one after another from counts of the cells that share the digits before. As soon as few
cells do, they are gathered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.date_parts import DatePart
from aucstudio.project.data.disk.stream import DiskTable
from aucstudio.project.data.preparing.scales import Quantiles, cut_ranks

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_BITS = 16
DIGITS = 1 << _BITS
_SIGN = np.uint64(1 << 63)


def cuts_of(
    table: DiskTable,
    chosen: Mask,
    numbers: tuple[DatePart, ...],
    counts: Sequence[int],
    leading: NDArray[np.uint32],
) -> list[Quantiles]:
    """Find the quartiles and outer deciles of columns over some rows, exactly.

    One pass where few cells begin as those do, else up to three.

    Parameters
    ----------
    table : DiskTable
    chosen : ndarray of bool, shape (rows,)
    numbers : tuple of DatePart
        What is taken of which columns.
    counts : sequence of int
        Known cells of each.
    leading : ndarray of shape (len(numbers), 65536)
        How often each first digit occurs: :func:`histogram` of :func:`first_digits`.

    Returns
    -------
    list of Quantiles
        0 where no cell is known.
    """
    columns = [Ranked(count) for count in counts]
    for column, first in zip(columns, leading, strict=True):
        column.settle([first])
    few = table.block_bytes // 8
    for shift in range(64 - 2 * _BITS, -1, -_BITS):
        if sum(column.alike for column in columns) <= few:
            return _gathered(table, chosen, numbers, columns, np.uint64(shift + _BITS))
        found = [[np.zeros(DIGITS, np.uint32) for _ in c.shared] for c in columns]
        for cells in _cells(table, chosen, numbers):
            for column, keys, count in zip(columns, cells, found, strict=True):
                column.count(keys, shift, count)
        for column, count in zip(columns, found, strict=True):
            column.settle(count)
    return [column.cuts() for column in columns]


def _cells(
    table: DiskTable, chosen: Mask, numbers: tuple[DatePart, ...]
) -> Iterator[list[NDArray[np.uint64]]]:
    """Return the known cells of the columns as keys, some rows at a time."""
    names = list(dict.fromkeys(part.column for part in numbers))
    for start, window in table.windows(table.height(0), names) if names else ():
        here = np.flatnonzero(chosen[start : start + window.rows])
        columns = {column.name: column for column in window.columns}
        cells = {name: columns[name].measured()[here] for name in names}
        yield [keys_of(known(part.of(cells[part.column]))) for part in numbers]


def _gathered(
    table: DiskTable,
    chosen: Mask,
    numbers: tuple[DatePart, ...],
    columns: list[Ranked],
    shift: np.uint64,
) -> list[Quantiles]:
    """Finish in one pass that keeps the cells that begin as those looked for do."""
    kept: list[list[NDArray[np.uint64]]] = [[] for _ in numbers]
    for cells in _cells(table, chosen, numbers):
        for column, keys, parts in zip(columns, cells, kept, strict=True):
            shared = np.array(column.shared, dtype=np.uint64)
            parts.append(keys[np.isin(keys >> shift, shared)])
    for column, parts in zip(columns, kept, strict=True):
        column.finish(np.sort(np.concatenate(parts)), shift)
    return [column.cuts() for column in columns]


class Ranked:
    """The cells of a column at the ranks of :func:`cut_ranks`: the digits that are settled.

    Parameters
    ----------
    count : int
        Known cells of the column.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._ranks = cut_ranks(max(count, 1))
        self._prefixes = [0] * len(self._ranks)
        self.alike = 0  # cells that begin as those looked for do

    @property
    def shared(self) -> list[int]:
        """The different beginnings of the cells."""
        return sorted(set(self._prefixes))

    def count(self, keys: NDArray[np.uint64], shift: int, counts: list[NDArray[np.uint32]]) -> None:
        """Count the next digit of the cells that begin as those looked for do."""
        rest = keys >> np.uint64(shift)
        beginnings = rest >> np.uint64(_BITS)
        for prefix, counted in zip(self.shared, counts, strict=True):
            alike = rest[beginnings == np.uint64(prefix)]
            counted += histogram(alike & np.uint64(DIGITS - 1))

    def settle(self, counts: list[NDArray[np.uint32]]) -> None:
        """Take the next digit from the counts, one for each of :attr:`shared`."""
        below = {
            prefix: np.cumsum(counted, dtype=np.int64)
            for prefix, counted in zip(self.shared, counts, strict=True)
        }
        alike: dict[int, int] = {}
        for n, prefix in enumerate(self._prefixes):
            sums = below[prefix]
            digit = int(np.searchsorted(sums, self._ranks[n], side="right"))
            digit = min(digit, len(sums) - 1)  # of no cells at all
            before = int(sums[digit - 1]) if digit else 0
            self._ranks[n] -= before
            self._prefixes[n] = prefix << _BITS | digit
            alike[self._prefixes[n]] = int(sums[digit]) - before
        self.alike = sum(alike.values())

    def finish(self, keys: NDArray[np.uint64], shift: np.uint64) -> None:
        """Take the rest from all cells, sorted, that begin as those looked for do."""
        for n, prefix in enumerate(self._prefixes if self._count else ()):
            first = int(np.searchsorted(keys >> shift, np.uint64(prefix)))
            self._prefixes[n] = int(keys[first + self._ranks[n]])

    def cuts(self) -> Quantiles:
        """Return the quantiles; 0 of no cells."""
        if not self._count:
            return Quantiles()
        return Quantiles.of(numbers_of(np.array(self._prefixes, dtype=np.uint64)).tolist())


def sizes_of(leading: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Count the cells of a column by the leading 16 bits of their sizes, shape (32768,)."""
    half = DIGITS // 2
    sizes: NDArray[np.uint32] = leading[half:] + leading[:half][::-1]
    return sizes


def known(cells: Array) -> Array:
    """Leave the missing cells out."""
    return cells[~np.isnan(cells)]


def first_digits(cells: Array) -> NDArray[np.uint64]:
    """Return the leading 16 bits of each cell."""
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
