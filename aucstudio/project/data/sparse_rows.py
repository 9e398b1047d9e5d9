"""Prepared rows as a sparse matrix, where preprocessing keeps zeros."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.project.data.columns import Column, without
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.preparing.stored import LEARNT, LIMITS
from aucstudio.project.data.sparse_columns import gathered
from aucstudio.project.data.table import Table

if TYPE_CHECKING:
    from scipy import sparse

Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]


def sparse_rows(preparation: Preparation, table: Table, rows: Rows) -> sparse.csr_array:
    """Return what ``preparation.apply`` gives, with the zeros left out.

    Raises
    ------
    InputError
        If the table lacks columns, or holds text where numbers were learnt.
    """
    by_name = preparation.matched(table)
    # Shares of levels come last among the numbers.
    plain = [name for name in preparation.numbers if name not in preparation.shares]
    X = gathered([by_name[name] for name in plain]).tocsr()[rows]
    k, cells = X.indices, X.data
    for name, absent in preparation.absent.items():
        here = k == plain.index(name)
        cells[here] = without(cells[here], absent)
    near = (cells >= preparation.lows[k]) & (cells <= preparation.highs[k])
    gaps = _gaps(preparation, X, ~near, plain)
    cells[~near] = np.nan if preparation.keep_gaps else preparation.medians[k[~near]]
    units = preparation.units
    cells /= units[k]
    cells /= (preparation.scales / units)[k]
    others = [*_coded(preparation, table, by_name, rows), *gaps]
    return scipy.sparse.hstack([X, *others], format="csr") if others else X


def _coded(
    preparation: Preparation, table: Table, by_name: Mapping[str, Column], rows: Rows
) -> list[sparse.csr_array]:
    """Return the columns that categories become, if there are any."""
    shared = [k for k, name in enumerate(preparation.numbers) if name in preparation.shares]
    if not shared and not preparation.categories:
        return []
    learnt = {name: getattr(preparation, name)[shared] for name in (*LEARNT, *LIMITS)}
    names = tuple(preparation.numbers[k] for k in shared)
    rest = dataclasses.replace(preparation, numbers=names, indicated=(), absent={}, **learnt)
    needed = tuple(by_name[name] for name in rest.columns)
    return [
        scipy.sparse.csr_array(
            rest.apply(dataclasses.replace(table, columns=needed), rows, for_fit=True)
        )
    ]


def _gaps(
    preparation: Preparation, X: sparse.csr_array, gaps: Mask, names: Sequence[str]
) -> list[sparse.csr_array]:
    """Return the columns that tell missing values, if there are any."""
    if not preparation.indicated:
        return []
    at_row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[gaps]
    places = np.full(len(names), -1)
    for place, name in enumerate(preparation.indicated):
        places[names.index(name)] = place
    column = places[X.indices[gaps]]
    told = column >= 0
    shape = (X.shape[0], len(preparation.indicated))
    ones = np.ones(np.count_nonzero(told))
    return [scipy.sparse.csr_array((ones, (at_row[told], column[told])), shape=shape)]
