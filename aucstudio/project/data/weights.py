"""Row weights: the column that says how much each row counts, and what of it can be used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.roc import FREQUENCY, effective_rows
from aucstudio.project.data.columns import ColumnInfo
from aucstudio.project.errors import InputError
from aucstudio.project.words import counted

Array = NDArray[np.float64]

_SHOWN = 10  # rows that are named
_FARTHEST = 1e100  # from 1, up or down: squares of weights are added up


def usable_weights(
    path: object,
    column: ColumnInfo,
    cells: Array,
    rows: NDArray[np.int64],
    kind: str | None = None,
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
    kind : {"sampling", "frequency"}, optional

    Raises
    ------
    InputError
        If a weight is negative, infinite, or so large or small that its square is no number;
        and if a frequency weight is no whole number.
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
    weights = np.where(np.isnan(cells), 0.0, cells)
    broken = np.flatnonzero(weights != np.floor(weights))
    if kind == FREQUENCY and len(broken):
        raise InputError(
            f"column {column.name!r} of {path} holds frequency weights, which count rows, and "
            f"{len(broken):,} of its cells are no whole numbers: row {int(rows[broken[0]])} has "
            f"{weights[broken[0]]:g}; declare sampling weights, or correct the cells",
            file=str(path),
            column=column.name,
            setting="weight_kind",
        )
    return weights


def _what_is_wrong(weight: float) -> str:
    if weight < 0:
        return "below 0"
    if np.isinf(weight):
        return "infinite"
    return "too large" if weight > 1 else "too close to 0"


def weights_note(
    name: str, weights: Array, rows: NDArray[np.int64], kind: str | None = None
) -> str:
    """Say what weighs the rows of a run, how much they count, and which do not count.

    Parameters
    ----------
    name : str
    weights : ndarray
        Of the labelled rows.
    rows : ndarray of int
        Which data rows of the file they are.
    kind : {"sampling", "frequency"}, optional
    """
    (nothing,) = np.nonzero(weights == 0)
    if kind == FREQUENCY:
        return (
            f"Rows are weighted by {name}, in training and in every area, interval and test: its "
            f"frequencies count {weights.sum():,.0f} rows in {len(weights) - len(nothing):,}"
            f"{_of_nothing(rows[nothing])}."
        )
    return (
        f"Rows are weighted by {name}, in training and in every area, interval and test: "
        f"{len(weights) - len(nothing):,} rows say as much as {effective_rows(weights):,.0f} of "
        f"equal weight would{_of_nothing(rows[nothing])}."
    )


def _of_nothing(rows: NDArray[np.int64]) -> str:
    if not len(rows):
        return ""
    said = f"{counted(len(rows), 'row')} without a weight that can be read, or with 0, count"
    verb = "s" if len(rows) == 1 else ""
    which = ", ".join(f"{row}" for row in rows[:_SHOWN])
    more = " …" if len(rows) > _SHOWN else ""
    return f"; {said}{verb} for nothing (row{'' if len(rows) == 1 else 's'} {which}{more})"


def check_weights_left(name: str, positive: NDArray[np.bool_], weights: Array, rows: str) -> None:
    """Raise InputError where no row of a class counts; ``rows`` says which rows they are."""
    for of_class, word in ((positive, "positive"), (~positive, "negative")):
        if not weights[of_class].any():
            raise InputError(
                f"no {word} row of the {rows} has a weight greater than 0 in column {name!r}",
                column=name,
                setting="weight",
            )
