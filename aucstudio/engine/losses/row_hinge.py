"""Hinge loss of rows at the best constant, as a function of the scores.

Symbols: y_i = +-1 class; c_i cost of row i; u scores; k_i = y_i - u_i the constant at which row i
meets its margin.
"""

from __future__ import annotations

import numpy as np

from aucstudio.engine.types import Array, Mask


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
