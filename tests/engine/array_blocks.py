"""Rows in blocks, for tests: the rows of an array, a few at a time."""

import numpy as np


class ArrayBlocks:
    """A few rows of an array at a time; see :class:`~aucstudio.engine.blocks.RowBlocks`."""

    def __init__(self, X, positive, height):
        self._X, self._height = X, height
        self.positive = np.asarray(positive, dtype=bool)
        self.features = X.shape[1]

    def __len__(self):
        return -(-len(self._X) // self._height)

    def block(self, k):
        start = k * self._height
        rows = np.arange(start, min(start + self._height, len(self._X)))
        return rows, np.asarray(self._X[rows[0] : rows[-1] + 1], dtype=np.float64)

    def take(self, numbers):
        return np.asarray(self._X[numbers], dtype=np.float64)
