"""Preprocessing learnt from a table that stays on disk, and its prepared rows block by block.

The numbers are those that :mod:`aucstudio.project.data.prepare` learns in memory: medians are
exact, means and deviations are so to rounding.
"""

from __future__ import annotations

import collections
import dataclasses

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.disk.medians import DIGITS, first_digits, histogram, known, medians
from aucstudio.project.data.disk.stream import DiskTable
from aucstudio.project.data.prepare import (
    MAX_LEVELS,
    Preparation,
    as_text,
    no_features,
    settled_scale,
)

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]


class TableBlocks:
    """Prepared rows of a table on disk, in blocks; see :class:`~aucstudio.engine.blocks.RowBlocks`.

    Parameters
    ----------
    table : DiskTable
    preparation : Preparation
    rows : ndarray of int
        Rows of the table, in the order in which they are to be numbered.
    """

    def __init__(self, table: DiskTable, preparation: Preparation, rows: Rows) -> None:
        self._table, self._preparation, self._rows = table, preparation, rows
        self.features = len(preparation.feature_names)
        self.positive: Mask = table.positives[rows]
        height = table.height(self.features)
        edges = np.arange(0, table.rows + height, height)
        self._order = np.argsort(rows, kind="stable")
        places = np.searchsorted(rows[self._order], edges)
        filled = np.flatnonzero(np.diff(places))
        self._windows = [(int(edges[k]), int(edges[k + 1])) for k in filled]
        self._parts = [slice(int(places[k]), int(places[k + 1])) for k in filled]

    def __len__(self) -> int:
        return len(self._parts)

    def block(self, k: int) -> tuple[Rows, Array]:
        """Read and prepare a block."""
        start, stop = self._windows[k]
        cells = self._table.window(start, min(stop, self._table.rows))
        numbers = self._order[self._parts[k]]
        return numbers, self._preparation.apply(cells, self._rows[numbers] - start)

    def take(self, numbers: Rows) -> Array:
        """Read and prepare some thousand rows."""
        if not len(numbers):
            return np.empty((0, self.features))
        order = np.argsort(self._rows[numbers])
        cells = self._table.pick(self._rows[numbers][order])
        X = np.empty((len(numbers), self.features))
        X[order] = self._preparation.apply(cells)
        return X

    def __getitem__(self, numbers: Rows) -> Array:
        """Give some rows, as an array does."""
        return self.take(numbers)


def learn_on_disk(table: DiskTable, rows: Rows, *, keep_gaps: bool = False) -> Preparation:
    """Learn the preprocessing of a table's feature columns on the given rows alone."""
    if not table.features:
        raise no_features(table)
    chosen = np.zeros(table.rows, dtype=bool)
    chosen[rows] = True
    numbers = tuple(c.name for c in table.features if c.role == "number")
    categories = tuple(c.name for c in table.features if c.role == "category")
    found = _first_pass(table, chosen, numbers, categories)
    counts = [moments.count for moments in found.moments]
    middle = medians(table, chosen, numbers, counts, found.leading)
    of_numbers = zip(found.moments, middle, strict=True)
    learnt = [moments.filled(float(median)) for moments, median in of_numbers]
    means, scales = np.array(learnt).reshape(-1, 2).T
    return Preparation(
        numbers,
        middle,
        means.copy(),
        scales.copy(),
        categories,
        tuple(map(_most_frequent, found.levels)),
        keep_gaps,
    )


@dataclasses.dataclass
class _Moments:
    """Count, mean and squared deviations of known cells, and how many are missing."""

    count: int = 0
    mean: float = 0.0
    square: float = 0.0
    gaps: int = 0

    def add(self, known: Array) -> None:
        if not len(known):
            return
        off = float(known.mean()) - self.mean
        total = self.count + len(known)
        self.square += float(np.square(known - (self.mean + off)).sum())
        self.square += off**2 * self.count * len(known) / total
        self.mean += off * len(known) / total
        self.count = total

    def filled(self, median: float) -> tuple[float, float]:
        """Give mean and scale with the gaps filled."""
        if not self.count:
            return 0.0, 1.0
        total, off = self.count + self.gaps, median - self.mean
        mean = self.mean + off * self.gaps / total
        square = self.square + off**2 * self.count * self.gaps / total
        return mean, settled_scale(mean, float(np.sqrt(square / total)))


@dataclasses.dataclass
class _FirstPass:
    """What the first pass finds of every column."""

    moments: list[_Moments]
    leading: NDArray[np.uint32]
    levels: list[collections.Counter[str]]


def _first_pass(
    table: DiskTable, chosen: Mask, numbers: tuple[str, ...], categories: tuple[str, ...]
) -> _FirstPass:
    found = _FirstPass(
        [_Moments() for _ in numbers],
        np.zeros((len(numbers), DIGITS), dtype=np.uint32),
        [collections.Counter() for _ in categories],
    )
    for start, window in table.windows(table.height(0)):
        columns = {column.name: column for column in window.columns}
        here = np.flatnonzero(chosen[start : start + window.rows])
        for k, name in enumerate(numbers):
            cells = known(columns[name].values[here])
            found.moments[k].add(cells)
            found.moments[k].gaps += len(here) - len(cells)
            found.leading[k] += histogram(first_digits(cells))
        for counter, name in zip(found.levels, categories, strict=True):
            levels, counts = np.unique(as_text(columns[name], here), return_counts=True)
            for level, count in zip(levels.tolist(), counts.tolist(), strict=True):
                counter[level] += count
    return found


def _most_frequent(levels: collections.Counter[str]) -> tuple[str, ...]:
    ranked = sorted(levels, key=lambda level: (-levels[level], level))
    return tuple(ranked[:MAX_LEVELS])
