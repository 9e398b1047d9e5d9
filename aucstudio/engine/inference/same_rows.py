"""The condition of every paired test: both scores belong to the same rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


class NotSameRows(ValueError):  # noqa: N818  (a reason, which the message gives)
    """Two scores cannot be compared by a paired test, for they are not of the same rows."""


def check_same_rows(rows_a: ArrayLike, y_a: ArrayLike, rows_b: ArrayLike, y_b: ArrayLike) -> None:
    """Refuse a paired test unless both scores are of the same rows in the same order.

    Parameters
    ----------
    rows_a, rows_b : array-like of shape (n_samples,)
        What identifies the rows: numbers in one table, keys or fingerprints.
    y_a, y_b : array-like of shape (n_samples,)
        Their labels.

    Raises
    ------
    NotSameRows
        With the reason as its message, in a form that goes on after "not compared: ".
    """
    a, b = np.asarray(rows_a), np.asarray(rows_b)
    if not np.array_equal(a, b):
        raise NotSameRows(_difference(a, b))
    differ = np.asarray(y_a) != np.asarray(y_b)
    if np.any(differ):
        raise NotSameRows(f"the labels of {_rows(int(np.count_nonzero(differ)))} differ")


def _difference(a: np.ndarray, b: np.ndarray) -> str:
    only_a, only_b = np.setdiff1d(a, b).size, np.setdiff1d(b, a).size
    if only_a or only_b:
        return (
            f"scored on different rows: {_rows(only_a)} only in the first, "
            f"{_rows(only_b)} only in the second"
        )
    if len(a) != len(b):
        return "scored on the same rows, but some of them more than once"
    return "scored on the same rows in another order"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
