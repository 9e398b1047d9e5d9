"""Preprocessing learnt from an out-of-memory table, and its prepared rows block by block.

The numbers are those that :mod:`aucstudio.project.data.preparing.learning` learns in memory:
medians are exact, means and deviations are so to rounding.
"""

from __future__ import annotations

import collections
import dataclasses

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.date_parts import DatePart, taken
from aucstudio.project.data.disk.medians import (
    DIGITS,
    cuts_of,
    first_digits,
    histogram,
    known,
    sizes_of,
)
from aucstudio.project.data.disk.stream import DiskTable
from aucstudio.project.data.preparing.learning import assembled, no_features
from aucstudio.project.data.preparing.levels import learn_levels, level_counts
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.preparing.preparation_choice import MEAN, NONE, USUAL, PreparationChoice
from aucstudio.project.data.preparing.scales import (
    Number,
    Quantiles,
    limits,
    settled,
    unit_of,
    usual_size,
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
        """Return some rows, as an array does."""
        return self.take(numbers)


def learn_on_disk(
    table: DiskTable, rows: Rows, choice: PreparationChoice = USUAL, *, keep_gaps: bool = False
) -> Preparation:
    """Fit the preprocessing of a table's feature columns on the given rows alone.

    Of a choice, missing values become the median or the mean, and numbers are standardised or
    not scaled: whoever asks for more is refused before.
    """
    if not table.features:
        raise no_features(table)
    chosen = np.zeros(table.rows, dtype=bool)
    chosen[rows] = True
    numbers = tuple(part for c in table.features if c.role == "number" for part in taken(c))
    categories = tuple(c.name for c in table.features if c.role == "category")
    found = _first_pass(table, chosen, numbers, categories)
    counts = [int(first.sum()) for first in found.leading]
    cuts = cuts_of(table, chosen, numbers, counts, found.leading)
    ends = [_limits(*column) for column in zip(cuts, found.leading, strict=True)]
    lows, highs = np.array(ends).reshape(-1, 2).T.copy()
    for moments, low, high in zip(found.moments, lows, highs, strict=True):
        moments.settle(low, high)
    doubtful = [k for k, moments in enumerate(found.moments) if not moments.holds]
    _again(table, chosen, numbers, {k: found.moments[k] for k in doubtful})
    learnt = [
        moments.number(cut.median, ends, choice)
        for moments, cut, ends in zip(
            found.moments, cuts, zip(lows.tolist(), highs.tolist(), strict=True), strict=True
        )
    ]
    same = {column.name: column.same for column in table.features}
    return assembled(
        table.features,
        {part.name: number for part, number in zip(numbers, learnt, strict=True)},
        {
            name: learn_levels(counted, same[name], choice)
            for name, counted in zip(categories, found.levels, strict=True)
        },
        choice,
        keep_gaps=keep_gaps,
    )


def _limits(cuts: Quantiles, leading: NDArray[np.uint32]) -> tuple[float, float]:
    return limits(cuts, 0.0 if cuts.lower < cuts.upper else usual_size(sizes_of(leading)))


class _Moments:
    """Mean and squared deviations of the cells of a column that are known and not too far out."""

    def __init__(self) -> None:
        self.holds = True
        self._least, self._most, self._unit = np.inf, -np.inf, 1.0
        self._low, self._high = -np.inf, np.inf
        self._clear()

    def _clear(self) -> None:
        self._count, self._missing, self._mean, self._square = 0, 0, 0.0, 0.0

    def add(self, cells: Array) -> None:
        """Add cells; the smallest and the largest are remembered from the first pass."""
        near = cells[(cells >= self._low) & (cells <= self._high)]
        self._missing += len(cells) - len(near)
        if not len(near):
            return
        self._least = min(self._least, float(near.min()))
        self._most = max(self._most, float(near.max()))
        if self._unit != 1:
            near = near / self._unit
        with np.errstate(over="ignore", invalid="ignore"):
            off = float(near.mean()) - self._mean
            total = self._count + len(near)
            self._square += float(np.square(near - (self._mean + off)).sum())
            self._square += off * off * self._count * len(near) / total
            self._mean += off * len(near) / total
        self._count = total

    def settle(self, low: float, high: float) -> None:
        """Set the limits; if they or the sizes of the cells require it, add all cells again."""
        least, most = max(self._least, low), min(self._most, high)
        unit = unit_of(max(abs(least), abs(most))) if self._count else 1.0
        self.holds = unit == 1 and low <= self._least and self._most <= high
        if not self.holds:
            self._low, self._high, self._unit = low, high, unit
            self._clear()

    def number(self, median: float, ends: tuple[float, float], choice: PreparationChoice) -> Number:
        """Return what is learnt of the column: mean and scale with what is missing filled in."""
        if not self._count:
            return Number((0.0, 0.0, 1.0, *ends), self._missing)
        fill = self._mean * self._unit if choice.impute == MEAN else median
        if choice.scale == NONE:
            return Number((fill, 0.0, 1.0, *ends), self._missing)
        total, off = self._count + self._missing, fill / self._unit - self._mean
        mean = self._mean + off * self._missing / total
        square = self._square + off * off * self._count * self._missing / total
        figures = settled(mean, float(np.sqrt(square / total)), self._unit)
        return Number((fill, *figures, *ends), self._missing)


@dataclasses.dataclass
class _FirstPass:
    """What the first pass finds of every column."""

    moments: list[_Moments]
    leading: NDArray[np.uint32]
    levels: list[collections.Counter[str]]


def _first_pass(
    table: DiskTable, chosen: Mask, numbers: tuple[DatePart, ...], categories: tuple[str, ...]
) -> _FirstPass:
    found = _FirstPass(
        [_Moments() for _ in numbers],
        np.zeros((len(numbers), DIGITS), dtype=np.uint32),
        [collections.Counter() for _ in categories],
    )
    for start, window in table.windows(table.height(0)):
        columns = {column.name: column for column in window.columns}
        here = np.flatnonzero(chosen[start : start + window.rows])
        for k, part in enumerate(numbers):
            cells = part.of(columns[part.column].measured()[here])
            found.moments[k].add(cells)
            found.leading[k] += histogram(first_digits(known(cells)))
        for counter, name in zip(found.levels, categories, strict=True):
            counter.update(level_counts(columns[name], here))
    return found


def _again(
    table: DiskTable, chosen: Mask, numbers: tuple[DatePart, ...], moments: dict[int, _Moments]
) -> None:
    """Add the cells of some columns again."""
    names = list(dict.fromkeys(numbers[k].column for k in moments))
    for start, window in table.windows(table.height(0), names) if names else ():
        columns = {column.name: column for column in window.columns}
        here = np.flatnonzero(chosen[start : start + window.rows])
        for k, found in moments.items():
            part = numbers[k]
            found.add(part.of(columns[part.column].measured()[here]))
