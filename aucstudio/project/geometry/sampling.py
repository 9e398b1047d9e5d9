"""Rows for a picture: prepared, imputed and thinned."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.table import Table
from aucstudio.project.runs.record import SplitResult

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

LIVE_ROWS = 2_000


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """Prepared rows with classes, scores and row numbers.

    Attributes
    ----------
    X : ndarray of shape (N, d)
        Without missing values: a picture needs a place for every row.
    positive : ndarray of bool, shape (N,)
    scores : ndarray of shape (N,) or None
        Including the intercept, from the rows with their missing values; None where no finished
        run scored them.
    numbers : ndarray of int, shape (N,)
        Row numbers in the table.
    gaps : int
        Missing values, which are placed at the training median here.
    """

    X: Array
    positive: Mask
    scores: Array | None
    numbers: Index
    gaps: int = 0


def split_sample(table: Table, split: SplitResult, held_out: bool = False) -> Sample:
    """Take the rows a split was trained on, or those it was tested on.

    Raises
    ------
    InputError
        If the table lacks columns of the model.
    """
    rows = split.test_rows if held_out else split.train_rows
    positive = split.test_positive if held_out else split.train_positive
    scores = split.test_scores if held_out else split.train_scores
    X, gaps = _without_gaps(split.model.preparation, table, rows)
    return Sample(X, positive, scores, rows, gaps)


def labelled_sample(table: Table, preparation: Preparation, limit: int = LIVE_ROWS) -> Sample:
    """Take labelled rows, at most ``limit``, for a picture before any run has ended.

    Raises
    ------
    InputError
        If the table has no two classes, or lacks columns of the preparation.
    """
    positive = table.is_positive()
    kept = thinned(positive, limit)
    rows = np.flatnonzero(table.labelled())[kept]
    X, gaps = _without_gaps(preparation, table, rows)
    return Sample(X, positive[kept], None, rows, gaps)


def _without_gaps(preparation: Preparation, table: Table, rows: Index) -> tuple[Array, int]:
    """Prepare rows with missing values at the training median; return how many there were."""
    X = preparation.apply(table, rows)
    at_row, at_feature = np.nonzero(np.isnan(X))
    # Only numbers have missing values, and they come first.
    medians = [preparation.scaled(k, m) for k, m in enumerate(preparation.medians[:, None].copy())]
    X[at_row, at_feature] = np.concatenate(medians)[at_feature] if medians else 0.0
    return X, len(at_row)


def thinned(positive: Mask, limit: int) -> Index:
    """Choose at most ``limit`` places, evenly within each class, in proportion to its size.

    The rarer class keeps at least a tenth of ``limit``, or all its rows.
    """
    if len(positive) <= limit:
        return np.arange(len(positive))
    classes = np.flatnonzero(positive), np.flatnonzero(~positive)
    rare = min(classes, key=len)
    few = min(len(rare), max(limit // 10, limit * len(rare) // len(positive)))
    sizes = [few if rows is rare else limit - few for rows in classes]
    return np.sort(np.concatenate([evenly(r, k) for r, k in zip(classes, sizes, strict=True)]))


def evenly(rows: Index, size: int) -> Index:
    """Choose at most ``size`` of some rows, evenly spaced."""
    if len(rows) <= size:
        return rows
    return rows[np.linspace(0, len(rows) - 1, size).astype(np.intp)]


def by_weight(rows: Index, weights: Array, size: int) -> Index:
    """Choose ``size`` rows in proportion to their weights, by systematic sampling."""
    reached = np.cumsum(weights)
    places = (np.arange(size) + 0.5) / size * reached[-1]
    chosen: Index = rows[np.searchsorted(reached, places, side="right")]
    return chosen
