"""Surrogates of 1 - pAUC: structural ones, by isotonic regression, and the smoothed partial AUC.

Symbols of the structural ones: [alpha, beta] FPR range; s_i scores of the m positives x_i; v_(1) >=
... >= v_(n) scores of the negatives z_(j) in descending order; g_j the part of negative j inside
the range, so that sum_j g_j = n (beta - alpha); pi_ij = 1 where an ordering puts negative j above
positive i; r_i = sum_j pi_ij, q_j = sum_i pi_ij; f_j the part of negative j inside [0, beta], 1 but
for the last of the ceil(n beta) highest; R_0(beta) the surrogate of [0, beta].

Of the smoothed area, in which a normal distribution function replaces the step, no table of pairs
is made: the summand is so smooth that a few scores represent many.

Its symbols: s_j scores of the m positives, t_i of the n negatives, F of all rows; [alpha, beta] FPR
range; g_i part of negative i inside the range, sum_i g_i = n (beta - alpha); p_j and r_j shares of
positive j between the thresholds of the range (the fan) and above both (the rectangle); Phi, phi
distribution and density of the standard normal; D = s_j - t_i; f a function added to F.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import scipy
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Mask, portions, sums_below
from aucstudio.engine.losses import Risk
from aucstudio.engine.roc import position, rank_weights

Range = tuple[float, float]


def widening(asked: Range) -> Iterator[Range]:
    """List the range asked for and then [0, 2 beta], [0, 4 beta], ... up to [0, 1]."""
    yield asked
    alpha, beta = asked
    while (alpha, beta) != (0.0, 1.0):
        alpha, beta = 0.0, min(1.0, 2 * beta)
        yield alpha, beta


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
        self._mass = sums_below(self._f)
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


_POINTS, _WIDTH = 24, 3.0
_CELLS_PER_BLOCK = 1 << 19
_NODES = chebyshev.chebpts1(_POINTS)
_TO_COEFFICIENTS = np.linalg.inv(chebyshev.chebvander(_NODES, _POINTS - 1))


@dataclasses.dataclass(frozen=True, eq=False)
class Fan:
    """Which pairs of scores the range lets count, and how much.

    m n pAUC = sum_i g_i [sum_j p_j H(s_j - t_i) + sum_j r_j] exactly, H(0) = 1/2. A positive tied
    with the negatives at a threshold is shared out as in the mean over all ways to break the tie,
    so that the sum is the area below the ROC curve with its diagonals. (Half of each tied pair
    inside the range, the other convention, would make the scorer that ties all rows a maximum.)

    Attributes
    ----------
    g : ndarray of shape (n,)
    p, r : ndarray of shape (m,)
    """

    g: Array
    p: Array
    r: Array


def fan(s: Array, t: Array, alpha: float, beta: float) -> Fan:
    """Find the fan of scores s of positives, t of negatives, 0 <= alpha < beta <= 1.

    No threshold limits the range at alpha = 0 or beta = 1; otherwise it is the score of the
    negative that the bound cuts, and the one outside where it falls between two.
    """
    low, high = position(len(t), alpha), position(len(t), beta)
    levels, which, counts = np.unique(-t, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    starts = ends - counts
    inside = np.clip(ends, low, high) - np.clip(starts, low, high)
    above = np.ones(len(s))
    if beta < 1:
        cut = np.searchsorted(ends, high, side="right")
        above = (s > -levels[cut]) + (s == -levels[cut]) * (high - starts[cut]) / counts[cut]
    r = np.zeros(len(s))
    if alpha > 0:
        cut = np.searchsorted(ends, low)
        r = (s > -levels[cut]) + (s == -levels[cut]) * (low - starts[cut]) / counts[cut]
    return Fan((inside / counts)[which], above - r, r)


class Grid:
    """A few points that represent many scores in sums of a smooth function, up to rounding.

    As a function of one score, a normal distribution function or density of width 1 is, over an
    interval of width 3, a polynomial of degree 23 but for some 1e-15; so the intervals that hold
    scores get 24 Chebyshev points each, and what the scores have is shared out to them. Where
    that is no gain, the points are the scores.

    Attributes
    ----------
    points : ndarray of shape (q,)
    """

    def __init__(self, s: Array) -> None:
        cells, self._cell = np.unique(np.floor(s / _WIDTH), return_inverse=True)
        self._is_plain = _POINTS * len(cells) >= len(s)
        if self._is_plain:
            self.points = s
            return
        middles = (cells + 0.5) * _WIDTH
        self.points = np.add.outer(middles, _NODES * (_WIDTH / 2)).ravel()
        local = (s - middles[self._cell]) / (_WIDTH / 2)
        self._weights = chebyshev.chebvander(local, _POINTS - 1) @ _TO_COEFFICIENTS

    def gather(self, shares: Array) -> Array:
        """Sum what the scores have at the points; shape (m,) or (m, c) to (q,) or (q, c)."""
        if self._is_plain:
            return shares
        gathered = np.empty((len(self.points) // _POINTS, _POINTS, *shares.shape[1:]))
        for cell, at_points in enumerate(gathered):
            here = np.flatnonzero(self._cell == cell)
            at_points[:] = self._weights[here].T @ shares[here]
        return gathered.reshape(-1, *shares.shape[1:])


def smooth_area(s: Array, t: Array, parts: Fan) -> float:
    """Return (1 / (m n)) sum_i g_i [sum_j p_j Phi(s_j - t_i) + sum_j r_j]: pAUC_sigma, sigma = 1.

    Some 24 (m + n) operations, and (8 x range of the scores)^2.
    """
    high, low = Grid(s[parts.p > 0]), Grid(t[parts.g > 0])
    p, g = high.gather(parts.p[parts.p > 0]), low.gather(parts.g[parts.g > 0])
    total = float(parts.r.sum() * parts.g.sum())
    for block in portions(len(g), len(p), _CELLS_PER_BLOCK):
        total += float(p @ scipy.special.ndtr(high.points[:, None] - low.points[block]) @ g[block])
    return total / (len(s) * len(t))


def derivatives(F: Array, positive: Mask, parts: Fan, learners: Array) -> tuple[Array, Array]:
    """Differentiate :func:`smooth_area` of F + step f by step at 0, for every learner f.

    (1 / (m n)) sum_ij g_i p_j phi(D) d and -(1 / (m n)) sum_ij g_i p_j D phi(D) d^2 with
    d = f(x_j) - f(z_i), the fan as it is.

    Parameters
    ----------
    F : ndarray of shape (N,)
    positive : ndarray of bool, shape (N,)
    parts : Fan
    learners : ndarray of shape (N, P)
        Values f(x) at all rows.

    Returns
    -------
    first, second : ndarray of shape (P,)
    """
    high, p, pf, pff = _moments(F[positive], parts.p, learners[positive])
    low, g, gf, gff = _moments(F[~positive], parts.g, learners[~positive])
    first, second = np.zeros((2, learners.shape[1]))
    for block in portions(len(g), len(p), _CELLS_PER_BLOCK):
        D = high[:, None] - low[block]
        density = np.exp(-0.5 * D**2) / np.sqrt(2 * np.pi)
        first += (density @ g[block]) @ pf - (p @ density) @ gf[block]
        bend = D * density
        mixed = np.einsum("qf,qf->f", pf, bend @ gf[block])
        second -= (bend @ g[block]) @ pff - 2 * mixed + (p @ bend) @ gff[block]
    pairs = len(parts.p) * len(parts.g)
    return first / pairs, second / pairs


def _moments(scores: Array, weights: Array, f: Array) -> tuple[Array, Array, Array, Array]:
    """Return points for the scores that count and the sums there of weights, times f, times f^2."""
    used = np.flatnonzero(weights)
    grid, weights, f = Grid(scores[used]), weights[used], f[used]
    weighted = weights[:, None] * f
    return grid.points, grid.gather(weights), grid.gather(weighted), grid.gather(weighted * f)
