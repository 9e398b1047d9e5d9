"""Rows of a table as a matrix, or as blocks if the table stays on disk."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.blocks import Passes, RowBlocks
from aucstudio.engine.monitor import Callback, Spread
from aucstudio.engine.scorers import Scorer, score_rows
from aucstudio.engine.types import Rows as Matrix
from aucstudio.engine.warnings_filter import without_convergence_warnings
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.preparing.preparation import Preparation, learn_preparation
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.preparing.scales import FarCells
from aucstudio.project.data.sparse_columns import SparseColumn
from aucstudio.project.data.splitting.groups import Groups
from aucstudio.project.data.table import Column, Table
from aucstudio.project.runs.parallel_parts import side_by_side

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier
    from aucstudio.project.data.disk.stream import DiskTable
    from aucstudio.project.data.disk.stream_rows import TableBlocks

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]
Prepared: TypeAlias = "Matrix | TableBlocks"
Pulse = Callable[[str, float], None]


def learn(
    method: type[AUCClassifier],
    table: AnyTable,
    rows: Rows,
    choice: PreparationChoice = USUAL,
    *,
    sparse: bool = False,
) -> Preparation:
    """Fit the preprocessing that a method needs on some rows of a table.

    The choice does not apply to a method that takes values unchanged. In a ``sparse`` matrix zeros
    stay zero.
    """
    keep_gaps = None if method.in_parts and method.takes_missing else method.takes_missing
    if method.as_given:
        return learn_preparation(table, rows, keep_gaps=keep_gaps).unscaled()
    return learn_preparation(table, rows, choice, keep_gaps=keep_gaps, keep_zeros=sparse)


def prepared(preparation: Preparation, table: AnyTable, rows: Rows) -> Prepared:
    """Return prepared rows of a table."""
    if on_disk := _on_disk(table):
        from aucstudio.project.data.disk.stream_rows import TableBlocks

        return TableBlocks(on_disk, preparation, rows)
    return matrix(preparation, in_memory(table), rows)


def matrix(preparation: Preparation, table: Table, rows: Rows) -> Matrix:
    """Return prepared rows of a table in memory, sparse if preprocessing keeps zeros."""
    if preparation.keeps_zeros:
        from aucstudio.project.data.preparing.sparse import sparse_rows

        return sparse_rows(preparation, table, rows)
    return preparation.apply(table, rows, for_fit=True)


def far_cells(preparation: Preparation, table: AnyTable) -> tuple[FarCells, ...]:
    """List the cells of a table beyond the limits of its columns, column by column."""
    limits = zip(preparation.lows, preparation.highs, strict=True)
    bounded = {
        name: (low, high)
        for name, (low, high) in zip(preparation.numbers, limits, strict=True)
        if (low > -np.inf or high < np.inf) and name not in preparation.parts
    }
    names = [c.name for c in table.columns if c.name in bounded and c.kind == "number"]
    found: dict[str, FarCells] = {}
    for start, window in table.windows(table.height(len(names)), names) if names else ():
        for column in window.columns:
            rows = _beyond(column, *bounded[column.name])
            if not len(rows):
                continue
            value, row = float(column.at(rows[0])), int(table.file_rows[start + rows[0]])
            first = found.setdefault(column.name, FarCells(column.name, 0, value, row))
            found[column.name] = dataclasses.replace(first, count=first.count + len(rows))
    return tuple(found[name] for name in bounded if name in found)


def _beyond(column: Column, low: float, high: float) -> Rows:
    """Return the rows whose cell is beyond the limits, in order."""
    if isinstance(column, SparseColumn) and low <= 0 <= high:
        rows, numbers = column.cells
        return rows[(numbers < low) | (numbers > high)]
    return np.flatnonzero((column.values < low) | (column.values > high))


def _on_disk(table: AnyTable) -> DiskTable | None:
    """Return an out-of-memory table, None for one in memory."""
    if isinstance(table, Table):
        return None
    from aucstudio.project.data.disk.stream import DiskTable

    assert isinstance(table, DiskTable), f"{table.path} is neither in memory nor on disk"
    return table


def in_memory(table: AnyTable) -> Table:
    """Return a table in memory; others were refused before."""
    assert isinstance(table, Table), f"{table.path} stays on disk"
    return table


def fit(
    method: AUCClassifier,
    rows: Prepared,
    positive: Mask,
    callback: Callback,
    groups: Groups | None = None,
    weights: Array | None = None,
    kept: Any = None,
    spread: Spread = side_by_side,
) -> None:
    """Fit on prepared rows; rows of a group stay together if the method holds rows out.

    Weights are divided by their mean over the rows that count. Their scale then does not matter,
    and a cost that is summed over the rows keeps its meaning. ``kept`` and ``spread`` are those of
    :func:`~aucstudio.project.runs.execute.execute_split`.
    """
    with without_convergence_warnings():  # the fit has a note on convergence
        if isinstance(rows, RowBlocks):
            method.fit_blocks(rows, callback=callback)
        else:
            codes = None if groups is None else groups.codes
            more: dict[str, Any] = {} if weights is None else {"sample_weight": relative(weights)}
            together = {"groups": codes, "spread": spread, "kept": kept}
            method.fit(rows, positive, callback=callback, **together, **more)


def relative(weights: Array) -> Array:
    """Return weights whose mean is 1 over the rows that count."""
    counted = weights > 0
    return weights / weights[counted].mean() if counted.any() else weights


def score(scorer: Scorer, rows: Prepared, pulse: Pulse) -> Array:
    """Score prepared rows."""
    if not isinstance(rows, RowBlocks):
        return score_rows(scorer, rows, pulse)
    scores = np.empty(len(rows.positive))
    for numbers, X in Passes(rows, lambda fraction: pulse("scoring", fraction)).pieces():
        scores[numbers] = scorer(X)
    return scores
