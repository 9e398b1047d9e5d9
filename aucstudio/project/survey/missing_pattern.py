"""Pattern of missing values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.columns import Column
from aucstudio.project.survey.classes import Classes
from aucstudio.project.survey.conditions import MISSING, Condition

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

MOST_LINES, MOST_COLUMNS = 400, 300


@dataclasses.dataclass(frozen=True, eq=False)
class GapMap:
    """Shares of missing cells.

    Attributes
    ----------
    columns : tuple of str
    starts : ndarray of int
        Which place in the order of the rows each line begins at; and where the last one ends.
    missing : ndarray of shape (lines, columns)
    positive : ndarray of shape (lines,)
        Share of positives among the labelled rows; NaN where there are none.
    rows : int
        Rows with at least one missing value in the columns.
    """

    columns: tuple[str, ...]
    starts: NDArray[np.intp]
    missing: Array
    positive: Array
    rows: int


def gap_columns(columns: Sequence[Column], most: int = MOST_COLUMNS) -> list[Column]:
    """Choose columns with missing values, in their order; of too many those with most."""
    gappy = [k for k, column in enumerate(columns) if column.missing]
    kept = sorted(gappy, key=lambda k: -columns[k].missing)[:most]
    return [columns[k] for k in sorted(kept)]


def map_gaps(
    columns: Sequence[Column],
    rows: Rows,
    classes: Classes | None,
    stop: Callable[[], object] = lambda: None,
    most: int = MOST_LINES,
) -> GapMap:
    """Look at columns, in some rows in their order; many rows share a line."""
    lines = min(most, len(rows))
    starts = np.linspace(0, len(rows), lines + 1).astype(np.intp)
    heights = np.diff(starts)
    missing, any_gap = np.zeros((lines, len(columns))), np.zeros(len(rows), dtype=bool)
    for k, column in enumerate(columns):
        stop()
        gaps = Condition(column.name, MISSING).holds(column)[rows]
        any_gap |= gaps
        if lines:
            missing[:, k] = np.add.reduceat(gaps, starts[:-1], dtype=float) / heights
    positive = np.full(lines, np.nan)
    if classes is not None and lines:
        ones = np.add.reduceat(classes.positive[rows], starts[:-1], dtype=float)
        known = ones + np.add.reduceat(classes.negative[rows], starts[:-1], dtype=float)
        np.divide(ones, known, out=positive, where=known > 0)
    names = tuple(column.name for column in columns)
    return GapMap(names, starts, missing, positive, int(any_gap.sum()))
