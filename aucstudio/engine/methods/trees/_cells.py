"""The values of a table as cells that are sorted once and stay sorted while a tree grows.

A cell is one whole number, (rank of the value << 32) + (row << 1) + (1 if the row is positive):
ranks are those of the feature, equal for equal values. Each node of a tree owns the same range of
positions in every feature's cells. Symbols as in ``tree_growth``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.compiled import kernel
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.types import Array, Mask

Cells = NDArray[np.int64]

_RANK = 32
_ROW = (1 << _RANK) - 1
GAP = ((1 << 31) - 1) << _RANK  # cells from here on are gaps; they stay behind all others


@kernel
def row_of(cell: int) -> int:
    """Return the row that a cell belongs to."""
    return (cell & _ROW) >> 1


def sort(X: Array, positive: Mask, monitor: Monitor) -> Cells:
    """Sort each feature once; shape (n_features, N), gaps last."""
    cells = np.empty(X.shape[::-1], dtype=np.int64)
    rows = (np.arange(len(X)) << 1) + positive
    for k, column in enumerate(X.T):
        monitor.stage("sorting", k / X.shape[1])
        order = np.argsort(column)
        monitor.stage("sorting", k / X.shape[1])
        values = column[order]
        np.cumsum(values[1:] != values[:-1], out=cells[k, 1:])
        cells[k, 0] = 0
        cells[k] <<= _RANK
        cells[k, np.isnan(values)] = GAP
        cells[k] += rows[order]
    return cells


@kernel
def look(
    cells: Cells,
    features: tuple[int, int],
    span: tuple[int, int],
    counts: tuple[int, int],
    rows_in_leaf: int,
    found: Cells,
) -> None:
    """Replace ``found`` (strength, feature, cut, gaps left) by anything stronger.

    One pass over the cells of a feature: D changes by q at a positive and by p at a negative.
    """
    (start, stop), (p, q) = span, counts
    for f in range(features[0], features[1]):
        here, known, gap_D = cells[f], stop, 0
        while known > start and here[known - 1] >= GAP:
            known -= 1
            gap_D += (here[known] & 1) * (p + q) - p
        D, strength, gaps = 0, found[0], stop - known
        for k in range(start, known):
            D += (here[k] & 1) * (p + q) - p
            if k + 1 < known and (here[k] ^ here[k + 1]) >> _RANK == 0:
                continue
            side = k + 1 - start
            if abs(D) > strength and rows_in_leaf <= side <= stop - start - rows_in_leaf:
                strength = abs(D)
                found[:] = (strength, f, k + 1, 0)
            if gaps == 0:
                continue
            side += gaps
            if abs(D + gap_D) > strength and rows_in_leaf <= side <= stop - start - rows_in_leaf:
                strength = abs(D + gap_D)
                found[:] = (strength, f, k + 1, 1)


@kernel
def mark(cells: Cells, cut: int, gaps_left: bool, goes_left: Mask) -> tuple[int, int]:
    """Mark the rows that go left; give how many they are, and how many of them positive."""
    size = p = 0
    for k in range(len(cells)):
        left = k < cut or (gaps_left and cells[k] >= GAP)
        goes_left[row_of(cells[k])] = left
        if left:
            size += 1
            p += cells[k] & 1
    return size, p


@kernel
def reorder(
    cells: Cells,
    features: tuple[int, int],
    span: tuple[int, int],
    goes_left: Mask,
    spare: Cells,
) -> None:
    """Move the marked rows to the front in the cells of each feature, order kept on both sides."""
    start, stop = span
    for f in range(features[0], features[1]):
        here, to, put_by = cells[f], start, 0
        for k in range(start, stop):
            cell = here[k]
            left = goes_left[row_of(cell)]
            # Both are written and one of them counts: no branch that the processor has to guess.
            here[to] = cell
            spare[put_by] = cell
            to += left
            put_by += 1 - left
        here[to:stop] = spare[:put_by]
