"""Surrogates of 1 - pAUC as convex functions of the scores, by sorting and isotonic regression.

Symbols: [alpha, beta] FPR range; s_i scores of the m positives x_i; v_(1) >= ... >= v_(n) scores
of the negatives z_(j) in descending order; g_j the part of negative j inside the range, so that
sum_j g_j = n (beta - alpha); pi_ij = 1 where an ordering puts negative j above positive i;
r_i = sum_j pi_ij, q_j = sum_i pi_ij; f_j the part of negative j inside [0, beta], 1 but for the
last of the ceil(n beta) highest; R_0(beta) the surrogate of [0, beta].
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.losses import Risk
from aucstudio.engine.roc import rank_weights
from aucstudio.engine.types import Array, Mask


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
        f = self._charged(len(self._negatives), beta)
        self._kept = np.count_nonzero(f)
        self._f = f[: self._kept]
        self._g = rank_weights(len(self._negatives), alpha, beta)[: self._kept]
        self._rise = self._g / self._f
        self._mass = np.append(0.0, np.cumsum(self._f))
        self._decreasing = alpha == 0.0
        self._total = len(self._positives) * float(self._g.sum())

    def __call__(self, scores: Array) -> tuple[float, Array]:
        """Return the risk and a subgradient with respect to the scores, shape (N,)."""
        s, t = scores[self._positives], -scores[self._negatives]
        top = self._highest(t)
        v = -t[top]
        r = self._counts(v + self._rise, s)
        q = len(s) - np.cumsum(np.bincount(r, minlength=self._kept + 1)[:-1])
        gradient = np.zeros(len(scores))
        gradient[self._positives] = -self._mass[r]
        gradient[self._negatives[top]] = q * self._f
        value = q @ (self._g + self._f * v) - self._mass[r] @ s
        return max(float(value), 0.0) / self._total, gradient / self._total

    def _highest(self, t: Array) -> NDArray[np.intp]:
        """List the k negatives of highest score, in descending order."""
        if self._kept == len(t):
            return np.argsort(t)
        top = np.argpartition(t, self._kept - 1)[: self._kept]
        return top[np.argsort(t[top])]

    def _counts(self, c: Array, s: Array) -> NDArray[np.intp]:
        fitted: Array = c
        if not self._decreasing:
            fitted = scipy.optimize.isotonic_regression(c, weights=self._f, increasing=False).x
        return np.searchsorted(-fitted, -s)

    def _charged(self, count: int, beta: float) -> Array:
        """Return f: all negatives are charged."""
        return np.ones(count)


class TightRisk(StructuralRisk):
    """The tight convex surrogate of 1 - pAUC as a function of the scores.

    R(u) = sum_i max over r of sum_{j<=r} [g_j - f_j (s_i - v_(j))] / (m n (beta - alpha)), j
    running over the ceil(n beta) highest negatives: the structural surrogate of these alone, which
    is the maximum over all choices of so many negatives. At least the normalised 1 - pAUC, and 1
    where all scores are equal. With alpha = 0, where g = f, it is
    sum_ij g_j (1 - M_i(j))_+ / (m n beta).

    One isotonic regression c^ (decreasing) of v_(j) + g_j / f_j with weights f_j answers for all
    positives: r_i = #{j : c^_j > s_i}. O(N + k log k) time for k negatives in the range.

    Parameters
    ----------
    positive : ndarray of bool, shape (N,)
    alpha, beta : float
        0 <= alpha < beta <= 1; the ends may cut a negative in parts.

    References
    ----------
    Narasimhan and Agarwal (KDD 2013), SVM_pAUC^tight: the truncated feature map. The weights f
    extend it to ranges that cut a negative in parts, as the authors' program does for [0, beta].
    """

    def _charged(self, count: int, beta: float) -> Array:
        return rank_weights(count, 0.0, beta)


class DifferenceRisk:
    """The tight surrogate of [alpha, beta], alpha > 0, as a difference of two convex ones.

    R(u) = (1 + rho) R_0(beta) - rho R_0(alpha) with rho = alpha / (beta - alpha), which is
    sum_ij g_j (1 - M_i(j))_+ / (m n (beta - alpha)): not convex, but it charges only what is
    inside the range.

    References
    ----------
    Narasimhan and Agarwal (Neural Computation 2017), SVM_pAUC^dc.
    """

    def __init__(self, positive: Mask, alpha: float, beta: float) -> None:
        self.rho = alpha / (beta - alpha)
        self._whole = TightRisk(positive, 0.0, beta)
        self._left = TightRisk(positive, 0.0, alpha)

    def __call__(self, scores: Array) -> float:
        """Return the risk."""
        return (1 + self.rho) * self._whole(scores)[0] - self.rho * self._left(scores)[0]

    def tangent(self, scores: Array) -> tuple[Array, float]:
        """Return (c, k) so that c.u + k <= rho R_0(alpha)(u) for all u, with equality here."""
        value, c = self._left(scores)
        return self.rho * c, self.rho * (value - float(c @ scores))

    def above(self, tangent: tuple[Array, float]) -> Risk:
        """Return the convex risk that is at least this one, and equal where the tangent touches."""
        slope, offset = tangent

        def risk(scores: Array) -> tuple[float, Array]:
            value, c = self._whole(scores)
            raised = (1 + self.rho) * value - float(slope @ scores) - offset
            return max(raised, 0.0), (1 + self.rho) * c - slope

        return risk
