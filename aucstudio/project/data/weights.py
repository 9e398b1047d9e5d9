"""Row weights of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array
from aucstudio.engine.roc import FREQUENCY, effective_rows
from aucstudio.notices import Notice, notice
from aucstudio.project.data.columns import ColumnInfo
from aucstudio.project.errors import input_error

_SHOWN = 10  # rows that are named
_FARTHEST = 1e100  # weights and their inverses; squares of weights are summed


def usable_weights(
    path: object, column: ColumnInfo, cells: Array, rows: NDArray[np.int64], kind: str | None = None
) -> Array:
    """Return the weights of cells; a missing weight is 0.

    Parameters
    ----------
    path : Path
    column : ColumnInfo
    cells : ndarray
        NaN where missing.
    rows : ndarray of int
        Numbers of the rows in the file, for the message.
    kind : {"sampling", "frequency"}, optional

    Raises
    ------
    InputError
        If a weight is negative, infinite, or so large or small that its square overflows or
        underflows; or if a frequency weight is not a whole number.
    """
    weights = np.where(np.isnan(cells), 0.0, cells)
    checks = {"weights_invalid": invalid_weights(cells)}
    if kind == FREQUENCY:
        checks["frequencies_invalid"] = weights != np.floor(weights)
    for code, wrong in checks.items():
        if wrong.any():
            first, count = int(wrong.argmax()), int(np.count_nonzero(wrong))
            facts: dict[str, Any] = {"cells": count, "row": int(rows[first])}
            if code == "weights_invalid":
                facts["what"] = _what_is_wrong(float(cells[first]))
            facts["weight"] = cells[first]
            raise input_error(code, file=path, column=column.name, **facts)
    return weights


def invalid_weights(cells: Array) -> NDArray[np.bool_]:
    """Mark weights that are negative, infinite, or too large or small to be squared."""
    found: NDArray[np.bool_] = (cells != 0) & ((cells < 1 / _FARTHEST) | (cells > _FARTHEST))
    return found


def _what_is_wrong(weight: float) -> str:
    if weight < 0:
        return "below 0"
    if np.isinf(weight):
        return "infinite"
    return "too large" if weight > 1 else "too close to 0"


def weights_notes(
    name: str, weights: Array, rows: NDArray[np.int64], kind: str | None = None
) -> tuple[Notice, ...]:
    """Return notices about the weights of a run's rows, and about unused rows.

    Parameters
    ----------
    name : str
    weights : ndarray
        Weights of the labelled rows.
    rows : ndarray of int
        Numbers of the rows in the file.
    kind : {"sampling", "frequency"}, optional
    """
    (nothing,) = np.nonzero(weights == 0)
    used = len(weights) - len(nothing)
    if kind == FREQUENCY:
        first = notice("weights_frequency", column=name, rows=used, total=float(weights.sum()))
    else:
        effective = float(effective_rows(weights))
        first = notice("weights_sampling", column=name, rows=used, effective=effective)
    if not len(nothing):
        return (first,)
    shown = tuple(rows[nothing][:_SHOWN].tolist())
    more = " …" if len(nothing) > _SHOWN else ""
    return first, notice("weightless_rows", count=len(nothing), rows=shown, more=more)


def check_weights_left(name: str, positive: NDArray[np.bool_], weights: Array, rows: str) -> None:
    """Raise InputError if no row of a class has a positive weight; ``rows`` names the rows."""
    for of_class, word in ((positive, "positive"), (~positive, "negative")):
        if not weights[of_class].any():
            raise input_error("class_without_weight", column=name, word=word, rows=rows)
