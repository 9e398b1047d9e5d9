"""The best threshold of a single feature for weighted rows, found exactly.

Each feature is sorted once and cut into blocks of neighbouring values, as for a histogram; gaps
make one block more. A search adds up the blocks, which bounds what the thresholds inside each can
reach, and then walks value by value through the few that can hold the best: no threshold is lost.

Symbols: potential pi(x) = +u(x) at positives, -g(x) at negatives; h(x) = 1(x_k > theta), q at gaps,
q = 0 or 1; c = sum of pi over known values up to theta; G = sum of pi over gaps. As pi adds up to
0, r = sum_x pi(x) h(x) is -c for q = 1 and -(c + G) for q = 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index, Mask, RowNumbers, by_digits
from aucstudio.engine.compiled import kernel
from aucstudio.engine.scorers import ABOVE_ALL, midway

Found = tuple[float, int, int, bool, float]
"""What |r| must exceed from here on; feature, number of rows below, q and r of the best so far."""

SAME = 1e-12  # correlations that differ by no more are taken as equal: it may be rounding

_MOST_BLOCKS = 255  # a byte holds their numbers, with one more for gaps
_ROWS_PER_BLOCK = 40
CELLS_PER_CALL = 4_000_000  # a few ms to add up, at worst some 50 ms to walk through
_LANES = 4


@dataclasses.dataclass(frozen=True)
class Stump:
    """A learner h that is 1 above a threshold of a feature, else 0.

    Attributes
    ----------
    feature : int
    threshold : float
        Midway between two values; the largest number if h separates missing from known values.
    gaps_above : bool
        q: whether h is 1 where the feature is NaN.
    above : ndarray of int
        Where h is 1 among the training rows, as positions in the search's ``rows``.
    r : float
        Correlation of h with the potential.
    """

    feature: int
    threshold: float
    gaps_above: bool
    above: RowNumbers
    r: float


class StumpSearch:
    """Finds the stump of the largest ``|r|`` for any potential on the rows.

    O(N) time a feature and search, 6 bytes a cell.

    Parameters
    ----------
    X : ndarray of shape (N, d)
        NaN is a gap.
    positive : ndarray of bool, shape (N,)
    progress : callable
        Receives the fraction done after every feature that is sorted.

    Attributes
    ----------
    rows : ndarray of int, shape (N,)
        The rows of X, positives first: the order in which a potential is given.
    """

    def __init__(self, X: Array, positive: Mask, progress: Callable[[float], None]) -> None:
        N, d = X.shape
        self.rows: Index = np.argsort(~positive, kind="stable")
        self._X, self._m = X, int(positive.sum())
        most = int(np.clip(N // _ROWS_PER_BLOCK, 2, _MOST_BLOCKS))
        self._order = np.empty((d, N), dtype=np.int32)
        self._is_last = np.empty((d, N), dtype=np.bool_)  # of the rows with the same value
        self._block = np.empty((d, N), dtype=np.uint8)
        self._bounds = np.empty((d, most + 1), dtype=np.int64)
        self._is_pure = np.empty((d, most), dtype=np.bool_)  # holds one value only, or none
        self._sums = np.empty((d, 2, most + 1))  # of the positives, of the negatives
        for k in range(d):
            self._sort(k)
            progress((k + 1) / d)

    def _sort(self, k: int) -> None:
        order, rising = by_digits(self._X[self.rows, k])
        self._order[k] = order
        into = self._is_last[k], self._block[k], self._bounds[k], self._is_pure[k]
        cut_into_blocks(order, rising, *into)

    def best(self, potential: Array, pause: Callable[[float], None]) -> Stump | None:
        """Find the stump of the largest ``|r|``, or None if no ``|r|`` exceeds rounding.

        Among equals the first feature wins, then the lowest threshold, then gaps below.

        Parameters
        ----------
        potential : ndarray of shape (N,)
            In the order of ``rows``; adds up to 0.
        pause : callable
            Receives the fraction done between two calls of compiled code; what it raises ends the
            search.
        """
        d, N = self._order.shape
        step = max(1, CELLS_PER_CALL // N)
        slices = [(k, min(k + step, d)) for k in range(0, d, step)]
        for first, last in slices:
            if first:
                pause(0.5 * first / d)
            _add_up(self._block, potential, self._m, first, last, self._sums)
        found = (max(_reach(self._sums) - SAME, SAME), -1, 0, False, 0.0)
        for first, last in slices:
            if first:
                pause(0.5 + 0.5 * first / d)
            found = self._walk(potential, first, last, found)
        return self._stump(*found[1:]) if found[1] >= 0 else None

    def _walk(self, potential: Array, first: int, last: int, found: Found) -> Found:
        shape = self._order, self._is_last, self._bounds, self._is_pure
        return _walk(*shape, self._sums, potential, first, last, found)

    def _stump(self, k: int, cut: int, gaps_above: bool, r: float) -> Stump:
        n_known = self._bounds[k, -1]
        threshold = ABOVE_ALL
        if cut < n_known:
            below, above = self._X[self.rows[self._order[k, cut - 1 : cut + 1]], k]
            threshold = midway(float(below), float(above))
        rows = self._order[k, cut:] if gaps_above else self._order[k, cut:n_known]
        return Stump(k, threshold, gaps_above, rows, r)


@kernel
def cut_into_blocks(
    order: RowNumbers,
    rising: Array,
    is_last: Mask,
    block: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    is_pure: Mask,
) -> None:
    """Cut a sorted feature into blocks, the last ones empty if fewer will do.

    Blocks are quantiles, except that a value with more rows than a quantile has a block of its
    own, as gaps have.
    """
    most, n_known = len(is_pure), len(rising)
    while n_known > 0 and rising[n_known - 1] != rising[n_known - 1]:
        n_known -= 1
    quantile = n_known / (most // 2)
    bounds[0] = b = start = values = begin = 0
    for p in range(n_known):
        is_last[p] = p + 1 == n_known or rising[p + 1] != rising[p]
        if not is_last[p]:
            continue
        if p + 1 - begin > quantile and begin > start:
            is_pure[b], bounds[b + 1] = values < 2, begin
            b, start, values = b + 1, begin, 0
        begin, values = p + 1, values + 1
        if begin - start >= quantile or begin == n_known:
            is_pure[b], bounds[b + 1] = values < 2, begin
            b, start, values = b + 1, begin, 0
    is_last[n_known:] = True
    is_pure[b:] = True
    bounds[b + 1 :] = n_known
    for b in range(most):
        for p in range(bounds[b], bounds[b + 1]):
            block[order[p]] = b
    for p in range(n_known, len(order)):
        block[order[p]] = most


@kernel
def _reach(sums: Array) -> float:
    """Return the largest ``|r|`` between two blocks."""
    n_blocks, most = sums.shape[2] - 1, 0.0
    for k in range(len(sums)):
        c, G = 0.0, sums[k, 0, n_blocks] + sums[k, 1, n_blocks]
        for b in range(n_blocks):
            c += sums[k, 0, b] + sums[k, 1, b]
            most = max(most, abs(c), abs(c + G))
    return most


@kernel
def _add_up(
    block: NDArray[np.uint8], potential: Array, m: int, first: int, last: int, sums: Array
) -> None:
    """Add up the potential of features ``first`` to ``last`` by block and class.

    Rows take turns in a few lanes: a sum need not wait for the one before it. Features go two by
    two, so that a potential is read once for both.
    """
    n_blocks = sums.shape[2]
    a_0, a_1, a_2, a_3 = np.zeros((4, n_blocks))
    b_0, b_1, b_2, b_3 = np.zeros((4, n_blocks))
    for side in range(2):
        # Slices that begin at 0 spare a test for negative places in every access.
        part = potential[:m] if side == 0 else potential[m:]
        whole = len(part) - len(part) % _LANES
        for k in range(first, last, 2):
            other = min(k + 1, last - 1)
            a = block[k, :m] if side == 0 else block[k, m:]
            b = block[other, :m] if side == 0 else block[other, m:]
            a_0[:], a_1[:], a_2[:], a_3[:] = 0.0, 0.0, 0.0, 0.0
            b_0[:], b_1[:], b_2[:], b_3[:] = 0.0, 0.0, 0.0, 0.0
            for i in range(0, whole, _LANES):
                p_0, p_1, p_2, p_3 = part[i], part[i + 1], part[i + 2], part[i + 3]
                a_0[a[i]] += p_0
                a_1[a[i + 1]] += p_1
                a_2[a[i + 2]] += p_2
                a_3[a[i + 3]] += p_3
                b_0[b[i]] += p_0
                b_1[b[i + 1]] += p_1
                b_2[b[i + 2]] += p_2
                b_3[b[i + 3]] += p_3
            for i in range(whole, len(part)):
                a_0[a[i]] += part[i]
                b_0[b[i]] += part[i]
            for j in range(n_blocks):
                sums[k, side, j] = (a_0[j] + a_1[j]) + (a_2[j] + a_3[j])
                sums[other, side, j] = (b_0[j] + b_1[j]) + (b_2[j] + b_3[j])


@kernel
def _walk(
    order: RowNumbers,
    is_last: Mask,
    bounds: NDArray[np.int64],
    is_pure: Mask,
    sums: Array,
    potential: Array,
    first: int,
    last: int,
    found: Found,
) -> Found:
    """Look for more than was found at the thresholds of features ``first`` to ``last``.

    Blocks that cannot reach as far are skipped.
    """
    bar, feature, cut, gaps_above, r = found
    n_blocks = is_pure.shape[1]
    for k in range(first, last):
        G = sums[k, 0, n_blocks] + sums[k, 1, n_blocks]
        c_end = 0.0
        for b in range(n_blocks):
            c = c_end
            highest, lowest = c + sums[k, 0, b], c + sums[k, 1, b]
            c_end = highest + sums[k, 1, b]
            begin, end = bounds[k, b], bounds[k, b + 1]
            if begin == end or max(highest, highest + G, -lowest, -lowest - G) <= bar:
                continue
            if is_pure[k, b]:
                begin = end - 1
                c = c_end - potential[order[k, begin]]
            for p in range(begin, end):
                c += potential[order[k, p]]
                if not is_last[k, p]:
                    continue
                if abs(c + G) > bar:
                    bar, feature, cut, gaps_above, r = abs(c + G) + SAME, k, p + 1, False, -(c + G)
                if abs(c) > bar:
                    bar, feature, cut, gaps_above, r = abs(c) + SAME, k, p + 1, True, -c
    return bar, feature, cut, gaps_above, r
