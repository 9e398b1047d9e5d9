"""Best-first growth of a decision tree by local AUC.

Symbols: P, Q positives and negatives of all rows, p, q of a node, p_l, q_l of its left side;
tpr = p_l / p, fpr = q_l / q; D = |p_l q - q_l p| the strength of a split, a whole number. The
local AUC of a split is (1 + |tpr - fpr|) / 2 = (1 + D / (p q)) / 2, and its global gain, which is
(p q / (P Q)) (local AUC - 1/2), is D / (2 P Q): both orders are those of D, without rounding.
"""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Mask, portions
from aucstudio.engine.compiled import kernel
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.scorers import ABOVE_ALL, EnsembleScorer, midway

Cells = NDArray[np.int64]

_RANK = 32
_ROW = (1 << _RANK) - 1
GAP = ((1 << 31) - 1) << _RANK  # cells from here on are gaps; they stay behind all others
CELLS_PER_LOOK = 4_000_000  # some 20 ms


@kernel
def row_of(cell: int) -> int:
    """Return the row that a cell belongs to."""
    return (cell & _ROW) >> 1


def sort_cells(X: Array, positive: Mask, monitor: Monitor) -> Cells:
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
def find_split(
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
def mark_left(cells: Cells, cut: int, gaps_left: bool, goes_left: Mask) -> tuple[int, int]:
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
def reorder_cells(
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


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a tree may not exceed; ``leaves`` None means without limit."""

    rows_in_leaf: int
    depth: int
    leaves: int | None
    gain: float


class _Leaf(NamedTuple):
    """The rows of one leaf, ``start`` to ``stop`` in every feature's cells."""

    start: int
    stop: int
    p: int
    q: int
    depth: int


class _Split(NamedTuple):
    """The strongest split of a leaf: cells before ``cut`` go left; ``strength`` is D."""

    strength: int
    feature: int
    cut: int
    gaps_left: bool


@dataclasses.dataclass
class _Node:
    """A node of a growing tree and its rows of both classes; a leaf is its own child."""

    p: int
    q: int
    left: int
    right: int
    feature: int = 0
    threshold: float = 0.0
    gaps_left: bool = False


class TreeGrower:
    """A tree, and the order of its training rows by which it can grow further.

    The strongest split of a leaf is taken over all features, all thresholds between values that
    differ, and both sides for the gaps; also that of known values from gaps. Among equally strong
    ones the first feature counts, then the lowest threshold, then gaps to the right; among
    equally strong leaves the older one. So nothing depends on the order of the rows.

    Parameters
    ----------
    X : ndarray of shape (N, n_features)
        May hold NaN.
    positive : ndarray of bool, shape (N,)
    limits : Limits
    monitor : Monitor
        Receives a stage after every few million cells.

    Attributes
    ----------
    n_splits : int

    Raises
    ------
    Stopped
        If the monitor wants to stop, from the constructor and from ``split_strongest``; the tree
        then is as before the call, and cannot grow further.
    """

    def __init__(self, X: Array, positive: Mask, limits: Limits, monitor: Monitor) -> None:
        self._X, self._limits, self._monitor = X, limits, monitor
        self._cells = sort_cells(X, positive, monitor)
        self._goes_left = np.empty(len(X), dtype=np.bool_)
        self._spare = np.empty(len(X), dtype=np.int64)
        p, q = int(positive.sum()), int((~positive).sum())
        self._least = max(1.0, limits.gain * 2 * p * q)
        self._nodes: list[_Node] = []
        self._open: list[tuple[int, int, _Leaf, _Split]] = []
        self.n_splits = 0
        root = _Leaf(0, len(X), p, q, 0)
        self._offer(self._add(p, q), root, self._strongest(root))

    def split_strongest(self) -> bool:
        """Split the leaf with the largest global gain; False if none may be split."""
        if not self._open or self.n_splits + 1 == self._limits.leaves:
            return False
        _, node, leaf, split = heapq.heappop(self._open)
        threshold, has_gaps = self._describe(leaf, split)
        left, right = self._part(leaf, split)
        if self._may_split(left) or self._may_split(right):
            self._reorder(leaf)
        found = self._strongest(left), self._strongest(right)
        most_left = left.stop - left.start > right.stop - right.start
        inner = self._nodes[node]
        inner.feature, inner.threshold = split.feature, threshold
        inner.gaps_left = split.gaps_left if has_gaps else most_left
        inner.left, inner.right = self._add(left.p, left.q), self._add(right.p, right.q)
        self._offer(inner.left, left, found[0])
        self._offer(inner.right, right, found[1])
        self.n_splits += 1
        return True

    def counts(self) -> NDArray[np.int64]:
        """Return the positives and negatives of each node, shape (n_nodes, 2)."""
        return np.array([(node.p, node.q) for node in self._nodes])

    def leaves(self) -> Mask:
        """Return which nodes are leaves, shape (n_nodes,)."""
        return np.array([node.left == k for k, node in enumerate(self._nodes)])

    def tree(self, value: Array) -> EnsembleScorer:
        """Make a scorer of the tree, given a score for each node; those of leaves count."""
        roots = np.zeros(1, dtype=np.intp)
        names = ("feature", "threshold", "left", "right", "gaps_left")
        of_nodes = {name: np.array([getattr(node, name) for node in self._nodes]) for name in names}
        return EnsembleScorer(roots=roots, value=value, base=0.0, **of_nodes)

    def _add(self, p: int, q: int) -> int:
        """Add a leaf of p positives and q negatives; return its number."""
        number = len(self._nodes)
        self._nodes.append(_Node(p, q, number, number))
        return number

    def _may_split(self, leaf: _Leaf) -> bool:
        enough = leaf.stop - leaf.start >= 2 * self._limits.rows_in_leaf
        return enough and leaf.depth < self._limits.depth and leaf.p > 0 and leaf.q > 0

    def _strongest(self, leaf: _Leaf) -> _Split:
        found = np.zeros(4, dtype=np.int64)
        if self._may_split(leaf):
            for first, last in self._parts_of_work(leaf):
                find_split(
                    self._cells,
                    (first, last),
                    (leaf.start, leaf.stop),
                    (leaf.p, leaf.q),
                    self._limits.rows_in_leaf,
                    found,
                )
        strength, feature, cut, gaps_left = found.tolist()
        return _Split(strength, feature, cut, bool(gaps_left))

    def _offer(self, node: int, leaf: _Leaf, split: _Split) -> None:
        if split.strength >= self._least:
            heapq.heappush(self._open, (-split.strength, node, leaf, split))

    def _describe(self, leaf: _Leaf, split: _Split) -> tuple[float, bool]:
        """Return the threshold of a split, and whether any row of the leaf has a gap there."""
        cells = self._cells[split.feature]
        has_gaps = bool(cells[leaf.stop - 1] >= GAP)
        if cells[split.cut] >= GAP:
            return ABOVE_ALL, has_gaps
        rows = [row_of(cell) for cell in cells[split.cut - 1 : split.cut + 1].tolist()]
        low, high = self._X[rows, split.feature].tolist()
        return midway(low, high), has_gaps

    def _part(self, leaf: _Leaf, split: _Split) -> tuple[_Leaf, _Leaf]:
        cells = self._cells[split.feature, leaf.start : leaf.stop]
        size, p = mark_left(cells, split.cut - leaf.start, split.gaps_left, self._goes_left)
        middle, depth = leaf.start + size, leaf.depth + 1
        left = _Leaf(leaf.start, middle, p, size - p, depth)
        return left, _Leaf(middle, leaf.stop, leaf.p - left.p, leaf.q - left.q, depth)

    def _reorder(self, leaf: _Leaf) -> None:
        for first, last in self._parts_of_work(leaf):
            reorder_cells(
                self._cells, (first, last), (leaf.start, leaf.stop), self._goes_left, self._spare
            )

    def _parts_of_work(self, leaf: _Leaf) -> Iterator[tuple[int, int]]:
        """Cut the features into ranges that take some 20 ms each on the rows of a leaf."""
        for part in portions(len(self._cells), leaf.stop - leaf.start, CELLS_PER_LOOK):
            self._monitor.stage("splitting")
            yield part.start, part.stop
