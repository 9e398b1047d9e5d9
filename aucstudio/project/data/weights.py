"""Row weights: the column that says how much each row counts, and what of it can be used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.roc import effective_rows
from aucstudio.project.data.columns import ColumnInfo
from aucstudio.project.errors import InputError

Array = NDArray[np.float64]

_FARTHEST = 1e100  # from 1, up or down: squares of weights are added up


def usable_weights(
    path: object, column: ColumnInfo, cells: Array, rows: NDArray[np.int64]
) -> Array:
    """Give the weights that cells stand for: a row without one counts for nothing.

    Parameters
    ----------
    path : Path
    column : ColumnInfo
    cells : ndarray
        NaN where missing.
    rows : ndarray of int
        Which data rows of the file they are, for the sentence.

    Raises
    ------
    InputError
        If a weight is negative, infinite, or so large or small that its square is no number.
    """
    far = (cells != 0) & ((cells < 1 / _FARTHEST) | (cells > _FARTHEST))
    bad = np.flatnonzero((cells < 0) | far)
    if len(bad):
        what = _what_is_wrong(float(cells[bad[0]]))
        raise InputError(
            f"column {column.name!r} of {path} weighs the rows, and {len(bad):,} of its cells "
            f"cannot be weights: row {int(rows[bad[0]])} has {cells[bad[0]]:g}, which is {what}; "
            "mend them or give the column another role",
            file=str(path),
            column=column.name,
            setting="weight",
        )
    return np.where(np.isnan(cells), 0.0, cells)


def _what_is_wrong(weight: float) -> str:
    if weight < 0:
        return "below 0"
    if np.isinf(weight):
        return "infinite"
    return "too large" if weight > 1 else "too close to 0"


def weight_notes(name: str | None, weights: Array | None) -> tuple[str, ...]:
    """Say what weighs the rows of a run, and how much they say then."""
    if name is None or weights is None:
        return ()
    counted, worth = int(np.count_nonzero(weights)), effective_rows(weights)
    nothing = len(weights) - counted
    return (
        f"Rows are weighted by {name}, in training and in every area, interval and test: "
        f"{counted:,} rows say as much as {worth:,.0f} of equal weight would"
        + (f"; {nothing:,} without a weight count for nothing." if nothing else "."),
    )


def check_weights_left(name: str, positive: NDArray[np.bool_], weights: Array, rows: str) -> None:
    """Raise InputError where no row of a class counts; ``rows`` says which rows they are."""
    for of_class, word in ((positive, "positive"), (~positive, "negative")):
        if not weights[of_class].any():
            raise InputError(
                f"no {word} row of the {rows} has a weight greater than 0 in column {name!r}",
                column=name,
                setting="weight",
            )
