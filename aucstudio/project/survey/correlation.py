"""Correlations of number columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.project.data.columns import Column
from aucstudio.project.survey.classes import Classes
from aucstudio.project.survey.column_auc import RankedColumn

Array = NDArray[np.float64]

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


def correlate(
    columns: Sequence[Column], kind: str, stop: Callable[[], object] = lambda: None
) -> Correlation:
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
    stop: Callable[[], object] = lambda: None,
    most: int = MOST_COLUMNS,
) -> list[Column]:
    """Choose the columns whose AUC is farthest from 0.5, in their order.

    Judged on some of the rows; without classes, or where columns are few, the first are chosen.
    """
    if len(columns) <= most or classes is None:
        return list(columns[:most])
    step = max(1, -(-len(classes.positive) // _JUDGED_ROWS))
    some = Classes(classes.names, classes.positive[::step], classes.negative[::step])
    told = np.zeros(len(columns))
    for k, column in enumerate(columns):
        stop()
        ranked = RankedColumn.of(column.part(slice(None, None, step)), some)
        told[k] = 0.0 if ranked is None else abs(ranked.area() - 0.5)
    kept = np.sort(np.argsort(-told, kind="stable")[:most])
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
