"""Duplicate rows, within a table or between training and test rows.

Rows are compared by 64-bit hashes of the features. Rows whose hash begins differently from all
others after some columns are dropped, so few columns of a table of measurements are hashed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Index
from aucstudio.notices import Notice, notice
from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.findings.column_areas import codes_of
from aucstudio.project.data.table import Table

Prints = NDArray[np.uint64]

# Fewer copies are not reported.
_FEWEST, _SHARE = 2, 1e-3
_WINDOW = 100_000
_SAMPLE = 4000
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
# Least ratio to the copies expected for independent columns.
_NOT_BY_CHANCE = 3.0


def copies(table: Table) -> Iterator[Finding]:
    """Find rows that are equal to another one in all features."""
    rows = np.flatnonzero(table.labelled()) if table.label else np.arange(table.rows)
    features = table.features
    if not features or any(column.distinct == column.height for column in features):
        return
    again, numbers = repeated(features, rows)
    if not len(again):
        return
    surplus = _surplus(table, rows, again, numbers)
    if surplus < max(_FEWEST, _SHARE * len(rows)):
        return
    if surplus <= _NOT_BY_CHANCE * _expected(features, rows):
        return
    other = _of_both(table, again, numbers)
    under = f" ({other:,} identical rows have different labels)" if other else ""
    yield found("repeated_rows", rows=surplus, under=under)


def _surplus(table: Table, rows: Index, again: Index, numbers: Index) -> int:
    """Count repetitions; equal rows of one group count once, because groups are not divided."""
    groups = table.groups
    if groups is None:
        return len(again) - int(numbers.max(initial=-1)) - 1
    place = np.searchsorted(rows, again)
    pairs = np.unique(np.stack([numbers, groups.codes[place]]), axis=1).shape[1]
    return int(pairs) - int(numbers.max(initial=-1)) - 1


def _of_both(table: Table, again: Index, numbers: Index) -> int:
    """Count repeated rows whose equals have different classes."""
    if table.label is None:
        return 0
    labels = codes_of(table.column(table.label), again)
    labels_each = np.bincount(np.unique(np.stack([numbers, labels]), axis=1)[0])
    return int(np.count_nonzero(labels_each[numbers] > 1))


def _expected(columns: Sequence[Column], rows: Index) -> float:
    """Return the number of equal pairs of rows expected for independent columns."""
    some = rows[:: max(1, len(rows) // _SAMPLE)]
    logarithm = math.log(max(len(rows), 2)) + math.log(max(len(rows) - 1, 1)) - math.log(2)
    for column in columns:
        counts = np.unique(_prints(column, some), return_counts=True)[1].astype(np.float64)
        # At least one pair: values that are unique in a sample may repeat in the table.
        agree = max(float((counts * (counts - 1)).sum()), 2.0)
        logarithm += math.log(agree) - math.log(len(some)) - math.log(max(len(some) - 1, 1))
    return math.exp(min(logarithm, 700.0))


def repeated(columns: Sequence[Column], rows: Index) -> tuple[Index, Index]:
    """Return the rows that have an equal in all columns; equal rows have equal numbers from 0.

    Parameters
    ----------
    columns : sequence of Column
    rows : ndarray of int
        Rows to compare.
    """
    prints = np.zeros(len(rows), dtype=np.uint64)
    for column in sorted(columns, key=lambda column: -column.distinct):
        prints = _mixed(prints, _prints(column, rows))
        slots = (prints >> np.uint64(64 - len(rows).bit_length())).view(np.intp)
        is_shared = (np.bincount(slots) > 1)[slots]
        rows, prints = rows[is_shared], prints[is_shared]
        if not len(rows):
            break
    _, numbers, counts = np.unique(prints, return_inverse=True, return_counts=True)
    again = counts[numbers] > 1
    return rows[again], np.cumsum(counts > 1)[numbers[again]] - 1


def met_again(ours: Sequence[Column], theirs: Sequence[Column]) -> int:
    """Count the rows of ``theirs`` that are equal to a row of ``ours``, column by column."""
    pairs = zip(ours, theirs, strict=True)
    both = [a.holding(np.concatenate([a.values, b.values])) for a, b in pairs]
    rows, numbers = repeated(both, np.arange(both[0].height))
    is_theirs = rows >= ours[0].height
    return int(np.count_nonzero(np.isin(numbers[is_theirs], numbers[~is_theirs])))


def shared(train: Table, test: Table) -> Notice | None:
    """Return a notice on test rows that are also training rows; None if chance explains them."""
    file = test.path.name
    if train.sha256 == test.sha256:
        return notice("test_file_is_training_file", file=file)
    names = [name for name in train.feature_names if name in test.feature_names]
    if not names:
        return None
    ours, theirs = ([table.column(name) for name in names] for table in (train, test))
    if any(a.kind != b.kind for a, b in zip(ours, theirs, strict=True)):
        return None
    met = met_again(ours, theirs)
    if not met:
        return None
    chance = 2 * _expected(ours, np.arange(train.rows)) * test.rows / max(train.rows, 1)
    if met <= _NOT_BY_CHANCE * chance:
        return None
    return notice("test_rows_in_training", rows=int(met), total=test.rows, file=file)


def _prints(column: Column, rows: Index) -> Prints:
    cells: NDArray[Any] = column.values if len(rows) == len(column.values) else column.values[rows]
    if column.kind == "number":
        bits = (cells + 0.0).view(np.uint64)  # -0 becomes 0
        bits[np.isnan(cells)] = 1
        return bits
    prints = np.empty(len(cells), dtype=np.int64)
    # Windows, because one pass over objects in C would hold the GIL throughout.
    for start in range(0, len(cells), _WINDOW):
        part = cells[start : start + _WINDOW].tolist()
        prints[start : start + len(part)] = np.fromiter(map(hash, part), np.int64, len(part))
    return prints.view(np.uint64)


def _mixed(prints: Prints, bits: Prints) -> Prints:
    mixed = (prints ^ bits) * _FACTOR
    mixed ^= mixed >> np.uint64(29)
    mixed *= _FACTOR
    mixed ^= mixed >> np.uint64(32)
    return mixed
