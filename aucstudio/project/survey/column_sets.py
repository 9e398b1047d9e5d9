"""Several columns at once for display: correlations and missing values."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array
from aucstudio.project.data.columns import Column
from aucstudio.project.survey.columns import Classes, RankedColumn, Stop, go_on

SPEARMAN, PEARSON = "spearman", "pearson"
MOST_ROWS, MOST_COLUMNS = 200_000, 40
_JUDGED_ROWS = 20_000


@dataclasses.dataclass(frozen=True, eq=False)
class Correlation:
    """How columns go together, pair by pair.

    Attributes
    ----------
    columns : tuple of str
    values : ndarray of shape (columns, columns)
        NaN where fewer than three rows have both cells, or one of them does not vary.
    rows : ndarray of int, shape (columns, columns)
        Rows that have both cells.
    looked_at : int
        Rows that were looked at.
    """

    columns: tuple[str, ...]
    values: Array
    rows: NDArray[np.int64]
    looked_at: int


def correlate(columns: Sequence[Column], kind: str, stop: Stop = go_on) -> Correlation:
    """Correlate number columns over the rows that have both cells.

    Spearman's ranks are those within all known cells of a column. Of more than
    :data:`MOST_ROWS` rows that many are looked at, evenly spaced.
    """
    total = len(columns[0].values) if columns else 0
    step = max(1, -(-total // MOST_ROWS))
    height = len(range(0, total, step))
    cells, known = np.zeros((height, len(columns))), np.zeros((height, len(columns)))
    rank = scipy.stats.rankdata if kind == SPEARMAN else np.asarray
    for k, column in enumerate(columns):
        stop()
        values = column.values[::step]
        here = ~np.isnan(values)
        known[:, k] = here
        cells[here, k] = _standard(rank(values[here]))
    stop()
    values, rows = _pairwise(cells, known)
    return Correlation(tuple(c.name for c in columns), values, rows, height)


def most_telling(
    columns: Sequence[Column],
    classes: Classes | None,
    stop: Stop = go_on,
    most: int = MOST_COLUMNS,
) -> list[Column]:
    """Choose the columns whose AUC is farthest from 0.5, in their order.

    Judged on some of the rows; without classes, or where columns are few, the first are chosen.
    """
    if len(columns) <= most or classes is None:
        return list(columns[:most])
    step = max(1, -(-len(classes.positive) // _JUDGED_ROWS))
    some = Classes(classes.names, classes.positive[::step], classes.negative[::step])
    areas = np.zeros(len(columns))
    for k, column in enumerate(columns):
        stop()
        ranked = RankedColumn.of(column.part(slice(None, None, step)), some)
        areas[k] = 0.0 if ranked is None else abs(ranked.area() - 0.5)
    kept = np.sort(np.argsort(-areas, kind="stable")[:most])
    return [columns[k] for k in kept]


def _standard(values: Array) -> Array:
    """Move values to mean 0 and scale them to 1, which correlations do not see."""
    if not len(values):
        return values
    values = values / (np.abs(values).max() or 1.0)
    values = values - values.mean()
    largest: float = np.abs(values).max()
    # What is left of equal values after their mean was taken is rounding.
    if largest < 1e-14:
        return np.zeros(len(values))
    return np.asarray(values / largest)


def _pairwise(cells: Array, known: Array) -> tuple[Array, NDArray[np.int64]]:
    """Correlate over the rows that both columns have; cells that are not known hold 0."""
    n = known.T @ known
    sums, squares = cells.T @ known, (cells**2).T @ known
    with np.errstate(divide="ignore", invalid="ignore"):
        between = cells.T @ cells - sums * sums.T / n
        spread = squares - sums**2 / n
        values = between / np.sqrt(spread * spread.T)
    still = spread <= 1e-12 * np.maximum(squares, 1e-300)
    values[still | still.T | (n < 3)] = np.nan
    return np.clip(values, -1.0, 1.0), n.astype(np.int64)


MOST_LINES, MOST_GAPPY = 400, 300


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


def gap_columns(columns: Sequence[Column], most: int = MOST_GAPPY) -> list[Column]:
    """Choose columns with missing values, in their order; of too many those with most."""
    gappy = [k for k, column in enumerate(columns) if column.missing]
    kept = sorted(gappy, key=lambda k: -columns[k].missing)[:most]
    return [columns[k] for k in sorted(kept)]


def map_gaps(
    columns: Sequence[Column],
    rows: NDArray[np.intp],
    classes: Classes | None,
    stop: Stop = go_on,
    most: int = MOST_LINES,
) -> GapMap:
    """Look at columns, in some rows in their order; many rows share a line."""
    lines = min(most, len(rows))
    starts = np.linspace(0, len(rows), lines + 1).astype(np.intp)
    heights = np.diff(starts)
    missing, any_gap = np.zeros((lines, len(columns))), np.zeros(len(rows), dtype=bool)
    for k, column in enumerate(columns):
        stop()
        gaps = ~column.known()[rows]
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
