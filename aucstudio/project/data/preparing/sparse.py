"""Preprocessing of sparse columns.

Results equal those of :func:`~aucstudio.project.data.preparing.scales.learn_number` up to rounding.
If at most a tenth of the cells of a column differ from zero, all its quantiles are zero, and only
sums must be computed; other columns are fitted one by one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.project.data.columns import Column, ColumnInfo, without
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.preparing.preparation_choice import (
    MEAN,
    MIN_MAX,
    NONE,
    STANDARD,
    PreparationChoice,
)
from aucstudio.project.data.preparing.scales import Number, limits_of_rare, mean_and_scale
from aucstudio.project.data.preparing.stored import FITTED
from aucstudio.project.data.sparse_columns import SparseColumn, gathered
from aucstudio.project.data.table import Table

if TYPE_CHECKING:
    from scipy import sparse


def sparse_rows(preparation: Preparation, table: Table, rows: Index) -> sparse.csr_array:
    """Return the result of ``preparation.apply`` as a sparse matrix.

    Raises
    ------
    InputError
        If the table lacks columns, or has text in number columns.
    """
    by_name = preparation.matched(table)
    # Categories coded by frequency are last among the numbers.
    plain = [name for name in preparation.numbers if name not in preparation.shares]
    X = gathered([by_name[name] for name in plain]).tocsr()[rows]
    k, cells = X.indices, X.data
    for name, absent in preparation.absent.items():
        here = k == plain.index(name)
        cells[here] = without(cells[here], absent)
    near = (cells >= preparation.lows[k]) & (cells <= preparation.highs[k])
    indicators = _indicators(preparation, X, ~near, plain)
    cells[~near] = np.nan if preparation.keep_gaps else preparation.medians[k[~near]]
    units = preparation.units
    cells /= units[k]
    cells /= (preparation.scales / units)[k]
    others = [*_coded(preparation, table, by_name, rows), *indicators]
    return scipy.sparse.hstack([X, *others], format="csr") if others else X


def _coded(
    preparation: Preparation, table: Table, by_name: Mapping[str, Column], rows: Index
) -> list[sparse.csr_array]:
    """Return the columns of categories, if any."""
    shared = [k for k, name in enumerate(preparation.numbers) if name in preparation.shares]
    if not shared and not preparation.categories:
        return []
    learnt = {name: getattr(preparation, name)[shared] for name in FITTED}
    names = tuple(preparation.numbers[k] for k in shared)
    rest = dataclasses.replace(preparation, numbers=names, indicated=(), absent={}, **learnt)
    needed = tuple(by_name[name] for name in rest.columns)
    return [
        scipy.sparse.csr_array(
            rest.apply(dataclasses.replace(table, columns=needed), rows, for_fit=True)
        )
    ]


def _indicators(
    preparation: Preparation, X: sparse.csr_array, missing: Mask, names: Sequence[str]
) -> list[sparse.csr_array]:
    """Return the missing-value indicator columns, if any."""
    if not preparation.indicated:
        return []
    flags = missing.astype(np.float64), X.indices.copy(), X.indptr.copy()
    marks = scipy.sparse.csr_array(flags, shape=X.shape)
    marks.eliminate_zeros()
    return [marks[:, [names.index(name) for name in preparation.indicated]]]


# Smallest size of cells whose squares do not underflow.
_SMALL = 1e-140


def learn_rare(
    columns: Sequence[ColumnInfo], rows: Index, choice: PreparationChoice
) -> dict[str, Number]:
    """Fit the sparse columns that can be fitted together; return them by name."""
    many = [c for c in columns if isinstance(c, SparseColumn) and not (c.absent or c.parts)]
    if not many or choice.makes_ranks:
        return {}
    return _of_rare(many, gathered(many).tocsr()[rows].tocsc(), choice)


def _of_rare(
    columns: Sequence[SparseColumn], X: sparse.csc_array, choice: PreparationChoice
) -> dict[str, Number]:
    """Fit the columns whose quantiles are all zero and whose cells are within the limits."""

    def reduced(by: np.ufunc, values: Array, nothing: float) -> Array:
        """Reduce the stored numbers of each column."""
        found: Array = np.full(X.shape[1], nothing)
        filled = np.diff(X.indptr) > 0
        if filled.any():
            found[filled] = by.reduceat(values, X.indptr[:-1][filled])
        return found

    count = X.shape[0]
    stored, sizes = np.diff(X.indptr), np.abs(X.data)
    of_column = np.repeat(np.arange(X.shape[1]), stored)
    most, least = reduced(np.maximum, sizes, 1.0), reduced(np.minimum, sizes, 1.0)
    usual = _median_sizes(X, sizes, of_column)
    reach = limits_of_rare(usual)
    # Comparisons with NaN are false.
    plain = (stored <= (count - 1) // 10) & (most <= reach) & (most < 1 / _SMALL)
    plain &= least > _SMALL
    cells = np.where(plain[of_column], X.data, 0.0)
    means = reduced(np.add, cells, 0.0) / count
    apart = reduced(np.add, (cells - means[of_column]) ** 2, 0.0)
    spreads = np.sqrt((apart + (count - stored) * means**2) / count)
    low = reduced(np.minimum, np.minimum(cells, 0.0), 0.0)
    ranges = reduced(np.maximum, np.maximum(cells, 0.0), 0.0) - low
    centres, scales = {
        STANDARD: (means, spreads),
        MIN_MAX: (low, ranges),
        NONE: (np.zeros(len(stored)), np.ones(len(stored))),
    }.get(choice.scale, (np.zeros(len(stored)), spreads))
    fills = means if choice.impute == MEAN else np.zeros(len(stored))
    learnt = zip(*(part.tolist() for part in (fills, centres, scales, reach)), strict=True)
    return {
        column.name: Number((fill, *mean_and_scale(centre, scale, 1.0), -beyond, beyond))
        for column, is_plain, (fill, centre, scale, beyond) in zip(
            columns, plain.tolist(), learnt, strict=True
        )
        if is_plain
    }


def _median_sizes(X: sparse.csc_array, sizes: Array, of_column: Index) -> Array:
    """Return the lower median of the stored sizes of each column."""
    usual = np.zeros(X.shape[1])
    filled = np.flatnonzero(np.diff(X.indptr))
    ordered = sizes[np.lexsort((sizes, of_column))]
    middles = X.indptr[filled] + (np.diff(X.indptr)[filled] - 1) // 2
    usual[filled] = ordered[middles]
    return usual
