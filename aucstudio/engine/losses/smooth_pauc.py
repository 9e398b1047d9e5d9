"""Smoothed partial AUC: a normal distribution function replaces the step.

No table of pairs is made: the summand is so smooth that a few scores represent many.

Symbols: s_j scores of the m positives, t_i of the n negatives, F of all rows; [alpha, beta] FPR
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

from aucstudio.engine.roc import position
from aucstudio.engine.types import Array, Mask

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
    for block in _blocks(len(g), len(p)):
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
    for block in _blocks(len(g), len(p)):
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


def _blocks(length: int, width: int) -> Iterator[slice]:
    step = max(1, _CELLS_PER_BLOCK // max(1, width))
    return (slice(start, start + step) for start in range(0, length, step))
