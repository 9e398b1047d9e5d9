"""Features of columns of numbers of which most are zero, many at once.

The same as :func:`~aucstudio.project.data.preparing.scales.learn_number` gives for each, to
rounding. Where no more than a tenth of a column's cells differ from zero, all its quantiles are
zero, and what is left to learn are sums; the few others are learnt one by one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.columns import Column, without
from aucstudio.project.data.preparing.preparation_choice import (
    MEAN,
    MIN_MAX,
    NONE,
    STANDARD,
    PreparationChoice,
)
from aucstudio.project.data.preparing.scales import Number, learn_number, limits_of_rare, settled
from aucstudio.project.data.sparse_columns import SparseColumn, gathered

if TYPE_CHECKING:
    from scipy import sparse

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Between these a column is computed in its own unit, and its usual size is a double's.
_SMALL = 1e-140


def learn_numbers(
    columns: Sequence[Column], rows: Rows, choice: PreparationChoice
) -> dict[str, Number]:
    """Fit each column on some rows; return the results by name."""
    found = {}
    many = [c for c in columns if isinstance(c, SparseColumn) and not c.absent]
    if many and not choice.makes_ranks:
        found = _of_rare(many, gathered(many).tocsr()[rows].tocsc(), choice)
    return {
        column.name: found[column.name]
        if column.name in found
        else learn_number(without(column.values[rows], column.absent), choice)
        for column in columns
    }


@dataclasses.dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over the stored numbers of each column, shape (columns,)."""

    matrix: sparse.csc_array

    def reduced(self, by: np.ufunc, values: Array, nothing: float) -> Array:
        found: Array = np.full(self.matrix.shape[1], nothing)
        starts = self.matrix.indptr[:-1]
        filled = np.diff(self.matrix.indptr) > 0
        if filled.any():
            found[filled] = by.reduceat(values, starts[filled])
        return found


def _of_rare(
    columns: Sequence[SparseColumn], X: sparse.csc_array, choice: PreparationChoice
) -> dict[str, Number]:
    """Fit the columns whose quantiles are all zero and that hold nothing strange."""
    count, sums = X.shape[0], _Sums(X)
    stored, sizes = np.diff(X.indptr), np.abs(X.data)
    of_column = np.repeat(np.arange(X.shape[1]), stored)
    most, least = sums.reduced(np.maximum, sizes, 1.0), sums.reduced(np.minimum, sizes, 1.0)
    usual = _usual_sizes(X, sizes, of_column)
    reach = limits_of_rare(usual)
    # NaN is less than nothing.
    plain = (stored <= (count - 1) // 10) & (most <= reach) & (most < 1 / _SMALL)
    plain &= least > _SMALL
    cells = np.where(plain[of_column], X.data, 0.0)
    means = sums.reduced(np.add, cells, 0.0) / count
    apart = sums.reduced(np.add, (cells - means[of_column]) ** 2, 0.0)
    spreads = np.sqrt((apart + (count - stored) * means**2) / count)
    low = sums.reduced(np.minimum, np.minimum(cells, 0.0), 0.0)
    ranges = sums.reduced(np.maximum, np.maximum(cells, 0.0), 0.0) - low
    centres, scales = {
        STANDARD: (means, spreads),
        MIN_MAX: (low, ranges),
        NONE: (np.zeros(len(stored)), np.ones(len(stored))),
    }.get(choice.scale, (np.zeros(len(stored)), spreads))
    fills = means if choice.impute == MEAN else np.zeros(len(stored))
    learnt = zip(
        *(part.tolist() for part in (fills, centres, scales, reach)),
        strict=True,
    )
    return {
        column.name: Number((fill, *settled(centre, scale, 1.0), -beyond, beyond))
        for column, is_plain, (fill, centre, scale, beyond) in zip(
            columns, plain.tolist(), learnt, strict=True
        )
        if is_plain
    }


def _usual_sizes(X: sparse.csc_array, sizes: Array, of_column: Rows) -> Array:
    """Return the median stored size of each column, counted as ``scales.usual_size`` does."""
    usual = np.zeros(X.shape[1])
    filled = np.flatnonzero(np.diff(X.indptr))
    ordered = sizes[np.lexsort((sizes, of_column))]
    middles = X.indptr[filled] + (np.diff(X.indptr)[filled] - 1) // 2
    leading = ordered[middles].view(np.uint64) >> np.uint64(48) << np.uint64(48)
    usual[filled] = leading.view(np.float64)
    return usual
