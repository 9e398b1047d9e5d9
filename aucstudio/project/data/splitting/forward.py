"""Validation forward in time.

The rows with a time are divided in its order into blocks of about equal size; rows of one time stay
together. The first block is never tested. Each other block is tested by a fit on earlier rows: all
of them, or those within a window; a gap may be left out in between.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import ColumnInfo
from aucstudio.project.errors import input_error

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]
Part = tuple[Rows, Rows]


def times_of(table: AnyTable, name: str) -> Array:
    """Return the times of the labelled rows; NaN if missing.

    Raises
    ------
    InputError
        If there is no such column, or it holds no numbers or dates.
    """
    (cells,) = table.measured((time_column(table, name).name,))
    return np.asarray(cells[table.labelled()], dtype=np.float64)


def time_column(table: AnyTable, name: str) -> ColumnInfo:
    """Return the column that orders rows in time; InputError unless it can."""
    if not name:
        raise input_error("time_absent")
    column = table.column(name)
    if column.kind != "number" or column.role == "label":
        what = "is the label" if column.role == "label" else "holds texts"
        raise input_error("time_invalid", file=table.path, column=name, what=what)
    return column


def forward_parts(
    times: Array, steps: int, gap: float = 0.0, window: float = 0.0, codes: Rows | None = None
) -> list[Part] | None:
    """Return the training and test rows of each step; None if there are too few times.

    Parameters
    ----------
    times : ndarray of shape (N,)
        Rows whose time is NaN are left out.
    steps : int
        Number of tested blocks.
    gap : float
        Least difference between the times of training rows and of the first tested row.
    window : float
        Length of the training window, which ends where the gap begins; 0 for no limit.
    codes : ndarray of int, optional
        Groups of rows; a step does not train on groups that it tests.
    """
    starts = _starts(times, steps)
    if starts is None:
        return None
    parts = []
    for start, end in zip(starts, [*starts[1:], np.inf], strict=True):
        test = np.flatnonzero((times >= start) & (times < end))
        # Times such as tenths of a day are rounded; a row at the very edge must not be lost.
        slack = 4 * np.spacing(max(abs(start), gap, window))
        before = (times < start) & (times <= start - gap + slack)
        if window > 0:
            before &= times >= start - gap - window - slack
        if codes is not None:
            before &= ~np.isin(codes, codes[test])
        parts.append((np.flatnonzero(before), test))
    return parts


def _starts(times: Array, steps: int) -> list[float] | None:
    """Return the first time of each block but the first; blocks are of about equal size."""
    values, counts = np.unique(times[~np.isnan(times)], return_counts=True)
    if len(values) <= steps:
        return None
    ends = np.cumsum(counts)
    places: list[int] = []
    for step in range(1, steps + 1):
        low = places[-1] + 1 if places else 1
        high = len(values) - steps + step - 1  # each later block needs a time
        wanted = ends[-1] * step / (steps + 1)
        near = np.abs(ends[low - 1 : high] - wanted)
        places.append(low + int(near.argmin()))
    return [float(values[place]) for place in places]


def blocks_of(times: Array, positive: Mask, most: int) -> Rows | None:
    """Number the most blocks of times that have both classes; None if fewer than two."""
    for blocks in range(most, 1, -1):
        starts = _starts(times, blocks - 1)
        if starts is None:
            continue
        codes = np.searchsorted(starts, times, "right")
        counts = [np.bincount(codes[of], minlength=blocks) for of in (positive, ~positive)]
        if np.all(counts):
            return codes
    return None


def lacks_class(parts: list[Part], positive: Mask) -> int | None:
    """Return the first step that trains on or tests one class only."""
    for k, part in enumerate(parts):
        if any(not positive[rows].any() or positive[rows].all() for rows in part):
            return k
    return None


def most_steps(
    times: Array, positive: Mask, most: int, gap: float, window: float, codes: Rows | None
) -> tuple[int, list[Part]]:
    """Return the largest number of steps that all have both classes, and their parts."""
    for steps in range(most, 0, -1):
        parts = forward_parts(times, steps, gap, window, codes)
        if parts is not None and lacks_class(parts, positive) is None:
            return steps, parts
    return 0, []
