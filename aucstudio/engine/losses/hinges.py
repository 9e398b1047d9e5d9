"""Hinge loss of rows at the best constant, and squared hinge of all pairs, by sorting.

Symbols of rows: y_i = +-1 class; c_i cost of row i; u scores; k_i = y_i - u_i the constant at which
row i meets its margin.

Symbols of pairs: m, n numbers of positives and negatives; s, t their scores; M_ij = s_i - t_j
margin; xi_ij = (1 - M_ij)_+ slack; a pair is active where its slack is above 0; k_i number of
active pairs of a row; A (m n x N) incidence of pairs and rows, D the 0/1 diagonal of active pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index, Mask, portions, sums_below, sums_from


class FreeConstantHinge:
    """Summed hinge, min_b sum_i c_i (1 - y_i (u_i + b))_+: exact, O(N) where costs are equal.

    With a rising b positives cease to be short at k_i and negatives begin to be: the slope in b
    is the cost of all k_i below b, less that of the positives. So the best b is a quantile of k.

    Parameters
    ----------
    positive : ndarray of bool, shape (N,)
    costs : ndarray of shape (N,)
        Positive.

    Attributes
    ----------
    y, costs : ndarray of shape (N,)
    """

    def __init__(self, positive: Mask, costs: Array) -> None:
        self.y, self.costs = np.where(positive, 1.0, -1.0), costs
        self._positives = int(np.count_nonzero(positive))
        self._are_equal = bool((costs == costs[0]).all())
        self._of_positives = float(costs[positive].sum())

    def best_constant(self, scores: Array) -> float:
        """Return b."""
        kinks = self.y - scores
        if self._are_equal:
            return float(np.partition(kinks, self._positives - 1)[self._positives - 1])
        order = np.argsort(kinks)
        below = np.cumsum(self.costs[order])
        place = int(np.searchsorted(below, self._of_positives))
        return float(kinks[order[min(place, len(order) - 1)]])

    def at(self, scores: Array, b: float) -> float:
        """Return the loss at a constant."""
        return float(self.costs @ np.maximum(1.0 - self.y * (scores + b), 0.0))

    def __call__(self, scores: Array) -> tuple[float, Array]:
        """Return the loss at the best constant and a subgradient in the scores, which adds up to 0.

        Rows that just meet their margin there share what the others lack.
        """
        kinks, b = self.y - scores, self.best_constant(scores)
        before, here = kinks < b, kinks == b
        lacking = self._of_positives - float(self.costs[before].sum())
        share = min(max(lacking / float(self.costs[here].sum()), 0.0), 1.0)
        # Negatives are short left of b, positives right of it.
        left = np.where(before, 1.0, np.where(here, share, 0.0))
        gradient = self.costs * np.where(self.y > 0, left - 1.0, left)
        loss = float(gradient @ -kinks)
        return max(loss, 0.0), gradient


def mean_hinge(positive: Mask, balanced: bool, scores: Array) -> float:
    """Return the mean over the rows of (1 - y_i f_i)_+, or the mean of the means of the classes."""
    loss = np.maximum(1.0 - np.where(positive, scores, -scores), 0.0)
    if balanced:
        return 0.5 * float(loss[positive].mean() + loss[~positive].mean())
    return float(loss.mean())


_NUMBERS_PER_CHUNK = 50_000


class SquaredHinge:
    """mean_ij (1 - M_ij)_+^2 as a function of the scores; no pair is ever formed.

    O(N log N) time, O(N) memory, exact.

    Parameters
    ----------
    positive : ndarray of bool, shape (N,)
    weights : ndarray of shape (N,), optional
        Of the rows: a pair weighs the product of both, and the mean is weighted.

    References
    ----------
    Chapelle and Keerthi (2010), Efficient algorithms for ranking with SVMs, section 3; for two
    classes, prefix sums of sorted scores take the place of their general recursion.
    """

    def __init__(self, positive: Mask, weights: Array | None = None) -> None:
        # Swapping the classes and the sign of all scores leaves every margin as it is, so
        # "positives" may always be the rarer class: the cheaper side to cut into segments.
        rarer = 2 * np.count_nonzero(positive) <= len(positive)
        self.sign = 1.0 if rarer else -1.0
        self.is_positive = positive if rarer else ~positive
        self.positives = np.flatnonzero(self.is_positive)
        self.negatives = np.flatnonzero(~self.is_positive)
        self.weights = np.ones(len(positive)) if weights is None else weights
        self.pairs = float(self.weights[self.positives].sum() * self.weights[self.negatives].sum())

    def __call__(self, scores: Array) -> tuple[float, Array]:
        """Return the mean loss and its gradient with respect to the scores, shape (N,)."""
        point = self.at(scores)
        return point.value, point.gradient

    def of(self, sample: Index) -> SquaredHinge:
        """Return the loss on some of the rows."""
        return SquaredHinge(self.is_positive[sample], self.weights[sample])

    def at(self, scores: Array) -> SquaredHingePoint:
        """Return the loss and its derivatives at some scores."""
        return SquaredHingePoint(self, scores)


class SquaredHingePoint:
    """The loss, its gradient and its generalised Hessian at some scores.

    Pairs with a margin of exactly 1 count as inactive in the Hessian.

    Attributes
    ----------
    value : float
        mean_ij xi_ij^2.
    gradient : ndarray of shape (N,)
    active : float
        Share of the pairs that are active.
    """

    def __init__(self, hinge: SquaredHinge, scores: Array) -> None:
        self._hinge = hinge
        s, t = hinge.sign * scores[hinge.positives], hinge.sign * scores[hinge.negatives]
        # Both sides sorted: the search then walks through memory instead of jumping.
        rising, order = np.argsort(s), np.argsort(t)
        self._positives, self._negatives = hinge.positives[rising], hinge.negatives[order]
        origin = t[order[len(t) // 2]]  # scores far from 0 would cost digits in the sums
        a, t = 1.0 + origin - s[rising], t[order] - origin
        # Active are the negatives of rank first[i] and above with positive i; as many positives,
        # the lowest, with negative j are given by the segment between those ranks.
        self._first = np.searchsorted(t, -a, side="right")
        steps = np.diff(self._first, prepend=0, append=len(t))
        self._segment = np.repeat(np.arange(len(a) + 1), steps)
        self._p, self._q = hinge.weights[self._positives], hinge.weights[self._negatives]
        self._k_positive = sums_from(self._q)[self._first]
        self._k_negative = sums_below(self._p)[self._segment]
        slack = self._over_negatives(a, t)
        slack_negative = self._over_positives(t, a)
        self.value = max(float(a @ slack + t @ slack_negative), 0.0) / hinge.pairs
        self.active = float(self._p @ self._k_positive) / hinge.pairs
        self._double = 2.0 / hinge.pairs
        self.gradient = self._per_row(-hinge.sign * slack, hinge.sign * slack_negative)

    def product(self, v: Array) -> Array:
        """Multiply the Hessian with respect to the scores, 2 A'DA / mn, by v; shape (N,)."""
        p, q = v[self._positives], v[self._negatives]
        return self._per_row(self._over_negatives(p, -q), self._over_positives(q, -p))

    def _over_negatives(self, own: Array, others: Array) -> Array:
        """Sum own + other over the negatives active with each positive, with the pairs' weights."""
        per_row = self._k_positive * own + sums_from(self._q * others)[self._first]
        return np.asarray(self._p * per_row)

    def _over_positives(self, own: Array, others: Array) -> Array:
        """Sum own + other over the positives active with each negative, with the pairs' weights."""
        per_row = self._k_negative * own + sums_below(self._p * others)[self._segment]
        return np.asarray(self._q * per_row)

    def gram(self, X: NDArray[Any], pause: Callable[[], None]) -> Array:
        """Return the Hessian with respect to w of scores X w, shape (d, d).

        X' (2 A'DA / mn) X is a weighted sum of products of rows less the products of each
        positive with the sum of the negatives active with it; those sums are running sums over
        segments of the negatives. One pass over the rows, O(N d^2).

        Parameters
        ----------
        X : ndarray of shape (N, d)
            Double or single precision; sums over chunks of rows are double.
        pause : callable
            Called between chunks.
        """
        N, d = X.shape
        active = self._p * self._k_positive, self._q * self._k_negative
        root = np.sqrt(self._per_row(*active)).astype(X.dtype)
        square = np.zeros((d, d))
        for rows in portions(N, 1, max(512, _NUMBERS_PER_CHUNK // d)):
            Z = X[rows] * root[rows, None]
            square += Z.T @ Z
            pause()
        sums = self._segments(X.dtype) @ X
        above = np.cumsum(sums[::-1], axis=0, dtype=np.float64)[::-1]
        own = X[self._positives].astype(np.float64).T
        across = own * self._p @ above[1:] * self._double
        square -= across
        square -= across.T
        return square

    def _segments(self, dtype: Any) -> scipy.sparse.csc_array:
        """Return the matrix that sums the rows of the negatives in each segment, in data order."""
        hinge, N = self._hinge, len(self._hinge.is_positive)
        segment = np.empty(N, dtype=np.intp)
        segment[self._negatives] = self._segment
        ends = np.concatenate([[0], np.cumsum(~hinge.is_positive)])
        weights, shape = hinge.weights[hinge.negatives].astype(dtype), (len(hinge.positives) + 1, N)
        return scipy.sparse.csc_array((weights, segment[hinge.negatives], ends), shape=shape)

    def _per_row(self, at_positives: Array, at_negatives: Array) -> Array:
        """Put numbers for the sorted rows of both classes, times 2 / mn, in the data's order."""
        out = np.empty(len(self._hinge.is_positive))
        out[self._positives] = at_positives
        out[self._negatives] = at_negatives
        out *= self._double
        return out
