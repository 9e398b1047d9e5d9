"""Support vector machines for the area under a chosen part of the ROC curve.

Symbols: [alpha, beta] FPR range; s_i scores of the m positives x_i; v_(1) >= ... >= v_(n) scores
of the negatives z_(j) in descending order; g_j the part of negative j inside the range, so that
sum_j g_j = n (beta - alpha); pi_ij = 1 where an ordering puts negative j above positive i;
r_i = sum_j pi_ij, q_j = sum_i pi_ij.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from aucstudio.engine.base import Array, Fit, Mask
from aucstudio.engine.methods.settings import counted_range
from aucstudio.engine.methods.structural._training import SAME_MEAN, Search, StructuralSVM
from aucstudio.engine.roc import rank_weights
from aucstudio.engine.solvers.line_search import Risk
from aucstudio.engine.solvers.solution import Direction

Range = tuple[float, float]


class StructuralRisk:
    """The structural surrogate of 1 - pAUC as a convex function of the scores.

    R(u) = max over orderings pi of
    [loss(pi) - sum_ij pi_ij (s_i - v_j)] / (m n (beta - alpha)), where loss(pi) is the partial
    AUC loss of pi times m n (beta - alpha). At least the normalised 1 - pAUC of the scores; 1
    where all scores are equal; at [0, 1] the mean pair hinge.

    Given the order of the negatives, which is best left as it is, positive i falls below the
    first r of them so that sum_{j<=r} (g_j + v_(j) - s_i) is largest. One isotonic regression
    c^ (decreasing) of c_j = g_j + v_(j) answers for all positives: r_i = #{j : c^_j > s_i}. With
    alpha = 0, c is decreasing already. O(N log N) time, O(N) memory, any range.

    Parameters
    ----------
    positive : ndarray of bool, shape (N,)
    alpha, beta : float
        0 <= alpha < beta <= 1; the ends may cut a negative in parts.

    References
    ----------
    Narasimhan and Agarwal (2013), section 3, eqs. 2 to 6 (the objective; the search for r_i is
    another one, which needs no distinction of cases).
    """

    def __init__(self, positive: Mask, alpha: float, beta: float) -> None:
        self._positives = np.flatnonzero(positive)
        self._negatives = np.flatnonzero(~positive)
        self._g = rank_weights(len(self._negatives), alpha, beta)
        self._decreasing = alpha == 0.0
        self._total = len(self._positives) * float(self._g.sum())

    def __call__(self, scores: Array) -> tuple[float, Array]:
        """Give the risk and a subgradient with respect to the scores, shape (N,)."""
        s, t = scores[self._positives], -scores[self._negatives]
        order = np.argsort(t)
        c = self._g - t[order]
        r = self._counts(c, s)
        q = len(s) - np.cumsum(np.bincount(r, minlength=len(t) + 1)[:-1])
        gradient = np.empty(len(scores))
        gradient[self._positives] = -r
        gradient[self._negatives[order]] = q
        return max(float(q @ c - r @ s), 0.0) / self._total, gradient / self._total

    def _counts(self, c: Array, s: Array) -> NDArray[np.intp]:
        """Find r_i for each positive: the most violated ordering."""
        fitted: Array = c if self._decreasing else isotonic_regression(c, increasing=False).x
        return np.searchsorted(-fitted, -s)


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class RangeSVM(StructuralSVM):
    """A structural method for a range of FPR, which is widened where nothing can be learnt in it.

    Attributes
    ----------
    fpr_range_used_ : tuple of two floats
    """

    family: ClassVar[str] = "partial AUC"

    fpr_range: tuple[float, float] = counted_range()

    @abstractmethod
    def _risk(self, positive: Mask, alpha: float, beta: float) -> Risk:
        """Give the method's surrogate of 1 - pAUC."""

    def _asked(self) -> Range:
        alpha, beta = self.fpr_range
        return float(alpha), float(beta)

    def _solve(self, search: Search) -> Fit:
        found, used = self._widened(search)
        self.fpr_range_used_ = used
        return search.fit(found, notes(self._asked(), used, search.ranks_nothing(found.weights)))

    def _widened(self, search: Search) -> tuple[Direction, Range]:
        """Minimise the surrogate over the range asked for, or the first wider one that ranks."""
        for used in widening(self._asked()):
            found = self._over(search, used)
            if search.monitor.stopped or not search.ranks_nothing(found.weights):
                break
        return found, used

    def _over(self, search: Search, used: Range) -> Direction:
        """Minimise the surrogate over a range; w = 0 only where it is known to be best.

        At a large C the planes near w = 0 can be so many that the search stalls there. Another
        start leads away from it, or a small C shows that 0 is best: the subgradients at 0 are
        the same for every C.
        """
        name, risk = (type(self).key, used), self._risk(search.positive, *used)
        found = search.minimise(name, risk)
        if not self._in_doubt(search, found):
            return found
        whole = search.minimise((type(self).key, (0.0, 1.0)), self._risk(search.positive, 0.0, 1.0))
        found = search.minimise(name, risk, whole.weights)
        if self._in_doubt(search, found):
            found = search.settle_origin(name, risk)
        return found

    @staticmethod
    def _in_doubt(search: Search, found: Direction) -> bool:
        stopped = search.monitor.stopped
        return search.ranks_nothing(found.weights) and not (found.converged or stopped)


def widening(asked: Range) -> Iterator[Range]:
    """List the range asked for and then [0, 2 beta], [0, 4 beta], ... up to [0, 1]."""
    yield asked
    alpha, beta = asked
    while (alpha, beta) != (0.0, 1.0):
        alpha, beta = 0.0, min(1.0, 2 * beta)
        yield alpha, beta


def notes(asked: Range, used: Range, nothing: bool) -> tuple[str, ...]:
    """Say what became of the range."""
    if nothing:
        return (SAME_MEAN,)
    if used != asked:
        return (
            f"For the FPR range {spell(asked)} the loss is lowest with equal scores for all "
            f"rows, so the range was widened to {spell(used)}.",
        )
    return ()


def spell(fpr_range: Range) -> str:
    """Write a range the way people read it."""
    return f"[{fpr_range[0]:g}, {fpr_range[1]:g}]"
