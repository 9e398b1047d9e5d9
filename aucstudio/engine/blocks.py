"""Out-of-memory tables: blocks of rows that can be read several times.

What is kept of a row is its class, and a number or two such as its score; its features are in
memory only while their block is.

Symbols: N rows, d features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

import numpy as np

from aucstudio.engine.arrays import Array, Index, Mask, portions
from aucstudio.engine.monitor import Monitor

Look = Callable[[float], None]

_NUMBERS_PER_PIECE = 1 << 19


@runtime_checkable
class RowBlocks(Protocol):
    """Rows of a table that is read block by block; the same rows whenever it is read.

    Rows are known by their number, 0 to N - 1. Each is in exactly one block.
    """

    @property
    def positive(self) -> Mask:
        """Which rows are positive, shape (N,)."""

    @property
    def features(self) -> int:
        """Number of features of a row."""

    def __len__(self) -> int:
        """Number of blocks."""

    def block(self, k: int) -> tuple[Index, Array]:
        """Read a block: the numbers of its rows, and the rows, shape (len(numbers), d)."""

    def take(self, numbers: Index) -> Array:
        """Read some thousand rows, in the order of the numbers given; none twice."""


class Passes:
    """Passes over rows in blocks: checked, counted, and open to a stop between pieces.

    Parameters
    ----------
    blocks : RowBlocks
    look : callable
        Called with the fraction of a pass that is done; may raise to stop.

    Attributes
    ----------
    count : int
        Passes begun so far.
    """

    def __init__(self, blocks: RowBlocks, look: Look) -> None:
        self._blocks, self._look = blocks, look
        self.positive, self.features = blocks.positive, blocks.features
        self.count = 0

    @classmethod
    def watched(cls, blocks: RowBlocks, monitor: Monitor) -> Passes:
        """Make passes that report the stage "reading rows" to the monitor."""
        return cls(blocks, lambda fraction: monitor.stage("reading rows", fraction))

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.positive)

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self._blocks)

    def block(self, k: int) -> tuple[Index, Array]:
        """Read one block.

        Raises
        ------
        ValueError
            If its rows are not what was promised, or not finite.
        """
        rows, X = self._blocks.block(k)
        if X.shape != (len(rows), self.features) or not (rows < len(self)).all():
            raise ValueError("the table changed while it was being read: start again")
        if not np.isfinite(X).all():
            raise ValueError("Input X contains NaN or infinity.")
        return rows, X

    def unwatched(self) -> Passes:
        """Return passes over the same rows without monitor."""
        return Passes(self._blocks, lambda _: None)

    def pieces(self, order: Index | None = None, width: int = 0) -> Iterator[tuple[Index, Array]]:
        """Go over all rows, in pieces of some megabytes: the numbers of the rows, and the rows.

        Parameters
        ----------
        order : ndarray of int, optional
            Of the blocks.
        width : int
            Numbers that will be made of a row, where these are more than its features.

        Raises
        ------
        ValueError
            If there are not as many rows as there are labels.
        """
        self.count += 1
        done = 0
        for k in range(self.blocks) if order is None else order.tolist():
            rows, X = self.block(k)
            for piece in portions(len(rows), max(self.features, width), _NUMBERS_PER_PIECE):
                self._look((done + piece.start) / len(self))
                yield rows[piece], X[piece]
            done += len(rows)
            del rows, X  # else two blocks are in memory while the next one is read
        if done != len(self):
            raise ValueError("the table changed while it was being read: start again")

    def take(self, wanted: Index) -> Array:
        """Return some rows, in the order of their numbers given; each at most once."""
        X = self._blocks.take(wanted)
        if not np.isfinite(X).all():
            raise ValueError("Input X contains NaN or infinity.")
        return X


def mean_variance(passes: Passes) -> float:
    """Return the variance of all numbers of the rows, as ``X.var()`` is, in one pass."""
    count, mean, square = 0, 0.0, 0.0  # of the numbers so far; squares about the mean
    for _, X in passes.pieces():
        off, before = float(X.mean()) - mean, count
        count += X.size
        square += float(np.square(X - (mean + off)).sum()) + off**2 * before * X.size / count
        mean += off * X.size / count
    return square / count
