"""Out-of-memory tables: blocks of rows that can be read several times.

What is kept of a row is its class, and a number or two such as its score; its features are in
memory only while their block is.

Symbols: N rows, d features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.engine.monitor import Monitor

Pieces = Iterator[tuple[Index, NDArray[Any]]]
Look = Callable[[float], None]
Parts = Iterator[tuple[Any, ...]]
Result = TypeVar("Result")
Work = Callable[[Parts], Result]

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


@runtime_checkable
class SpreadBlocks(RowBlocks, Protocol):
    """Blocks that lie elsewhere: work goes to them, and what it gives comes back."""

    def spread(
        self, work: Work[Result], columns: Sequence[NDArray[Any]], look: Look
    ) -> Iterator[Result]:
        """Apply the work to each block where it is stored; return the results in order.

        Of each of ``columns``, shape (N,), a block needs what belongs to its rows; ``look`` is
        called with the fraction done, and may raise to stop.
        """


@runtime_checkable
class PickedBlocks(RowBlocks, Protocol):
    """Blocks of which single rows can be read without a pass over all."""

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

    def pieces(self, order: Index | None = None, width: int = 0) -> Pieces:
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
        height = max(1, _NUMBERS_PER_PIECE // max(1, self.features, width))
        done = 0
        for k in range(self.blocks) if order is None else order.tolist():
            rows, X = self.block(k)
            for start in range(0, len(rows), height):
                piece = slice(start, start + height)
                self._look((done + start) / len(self))
                yield rows[piece], X[piece]
            done += len(rows)
            del rows, X  # else two blocks are in memory while the next one is read
        if done != len(self):
            raise ValueError("the table changed while it was being read: start again")

    def over(self, work: Work[Result], *columns: NDArray[Any]) -> Iterator[Result]:
        """Do some work on all rows, where they are; one pass.

        Parameters
        ----------
        work : callable
            Gets pieces: the numbers of some rows, these rows, and what of each column belongs to
            them. It is called once with all rows, or once for each block if these lie elsewhere,
            and must not rest on anything that cannot be sent there.
        columns : ndarray of shape (N,)

        Yields
        ------
        what each call gave, for the caller to put together
        """
        if not isinstance(self._blocks, SpreadBlocks):
            yield work((r, X, *(column[r] for column in columns)) for r, X in self.pieces())
            return
        self.count += 1
        yield from self._blocks.spread(work, columns, self._look)

    def take(self, wanted: Index) -> Array:
        """Gather some rows, in the order of their numbers given; one pass if it must be.

        Parameters
        ----------
        wanted : ndarray of int
            Each at most once.
        """
        if isinstance(self._blocks, PickedBlocks):
            X = self._blocks.take(wanted)
            if not np.isfinite(X).all():
                raise ValueError("Input X contains NaN or infinity.")
            return X
        place = np.full(len(self), -1, dtype=np.intp)
        place[wanted] = np.arange(len(wanted))
        found = np.empty((len(wanted), self.features))
        for part in self.over(_taken, place):
            for target, X in part:
                found[target] = X
        return found


def _taken(pieces: Parts) -> list[tuple[Index, Array]]:
    return [(place[place >= 0], X[place >= 0]) for _, X, place in pieces]


def mean_variance(passes: Passes) -> float:
    """Return the variance of all numbers of the rows, as ``X.var()`` is, in one pass."""
    whole = (0, 0.0, 0.0)
    for part in passes.over(_spread_of_numbers):
        whole = _joined(whole, part)
    return whole[2] / whole[0]


def _spread_of_numbers(pieces: Parts) -> tuple[int, float, float]:
    """Return the count of the numbers, their mean, and their squares about it added up."""
    whole = (0, 0.0, 0.0)
    for _, X in pieces:
        mean = float(X.mean())
        whole = _joined(whole, (X.size, mean, float(np.square(X - mean).sum())))
    return whole


def _joined(a: tuple[int, float, float], b: tuple[int, float, float]) -> tuple[int, float, float]:
    count, off = a[0] + b[0], b[1] - a[1]
    between = off**2 * a[0] * b[0] / count
    return count, a[1] + off * b[0] / count, a[2] + b[2] + between
