"""Prepared blocks of rows of an out-of-memory table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.disk.stream import DiskTable
from aucstudio.project.data.preparing.preparation import Preparation

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]


class TableBlocks:
    """Prepared rows of a table on disk, in blocks; see :class:`~aucstudio.engine.blocks.RowBlocks`.

    Parameters
    ----------
    table : DiskTable
    preparation : Preparation
    rows : ndarray of int
        Rows of the table in the order of their numbers.
    """

    def __init__(self, table: DiskTable, preparation: Preparation, rows: Rows) -> None:
        self._table, self._preparation, self._rows = table, preparation, rows
        self.features = len(preparation.feature_names)
        self.positive: Mask = table.positives[rows]
        height = table.height(self.features)
        edges = np.arange(0, table.rows + height, height)
        self._order = np.argsort(rows, kind="stable")
        places = np.searchsorted(rows[self._order], edges)
        filled = np.flatnonzero(np.diff(places))
        self._windows = [(int(edges[k]), int(edges[k + 1])) for k in filled]
        self._parts = [slice(int(places[k]), int(places[k + 1])) for k in filled]

    def __len__(self) -> int:
        return len(self._parts)

    def block(self, k: int) -> tuple[Rows, Array]:
        """Read and prepare a block."""
        start, stop = self._windows[k]
        cells = self._table.window(start, min(stop, self._table.rows))
        numbers = self._order[self._parts[k]]
        return numbers, self._preparation.apply(cells, self._rows[numbers] - start)

    def take(self, numbers: Rows) -> Array:
        """Read and prepare some thousand rows."""
        if not len(numbers):
            return np.empty((0, self.features))
        order = np.argsort(self._rows[numbers])
        cells = self._table.pick(self._rows[numbers][order])
        X = np.empty((len(numbers), self.features))
        X[order] = self._preparation.apply(cells)
        return X

    def __getitem__(self, numbers: Rows) -> Array:
        """Return some rows, as an array does."""
        return self.take(numbers)
