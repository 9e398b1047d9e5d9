"""Pointwise confidence bands: bounds of the TPR at one FPR after the other.

Symbols: v_(1) >= ... >= v_(n) the negatives' scores, v_(0) = inf, v_(n+1) = -inf; K the rank for
which the threshold of true FPR x lies between v_(K+1) and v_(K): K ~ Binomial(n, x).
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine import roc
from aucstudio.engine.inference.bands import GRID, Band
from aucstudio.engine.inference.partial import Placements
from aucstudio.engine.inference.results import check_level, quantile_level, widened
from aucstudio.engine.inference.staircases import drawn_heights
from aucstudio.engine.types import Array

_NODES = 64  # equally likely values that stand for a binomial distribution
_HALVINGS = 18  # down to 4e-6
_TINY = 1e-300


def pointwise_band(
    y: ArrayLike,
    score: ArrayLike,
    level: float = 0.95,
    *,
    grid: ArrayLike = GRID,
    positive: object = None,
    weights: ArrayLike | None = None,
    weight_kind: str = roc.SAMPLING,
    groups: ArrayLike | None = None,
) -> Band:
    """Bound the TPR at each FPR of a grid by melding two binomial statements.

    Where the threshold of an FPR lies among the negatives is binomial, and so is how many
    positives lie above a threshold; the bounds are quantiles of the second's confidence
    distribution averaged over the first. A known threshold would give the mid-p version of
    Clopper and Pearson's bounds. Unlike percentiles of a bootstrap the band keeps a width at
    TPR 0 and 1, and starts from 0 at FPR 0. The whole curve leaves it more often than one
    point does, see :func:`~inference.bootstrap_band`.

    Parameters
    ----------
    y, score : array-like of shape (n_samples,)
    level : float
    grid : array-like
        FPRs at which to compute the bounds.
    positive : label, optional
    weights, weight_kind, groups
        As for :func:`~inference.delong_interval`. Where rows have sampling weights or come in
        groups, and where a positive and a negative have the same score, the bounds are quantiles
        over drawn curves as in :func:`~inference.pauc_interval`; they are NaN where it has none.
        Binomial bounds of tied scores would reach from one end of a tie to the other, however many
        rows there are.

    Raises
    ------
    ValueError
        If level is outside (0, 1) or an FPR outside [0, 1], and for input that
        :meth:`~roc.Ranking.of` refuses.

    Notes
    -----
    Source of melding: Fay, Proschan and Brittain, Biometrics 71 (2015).
    """
    check_level(level)
    x = np.asarray(grid, dtype=np.float64)
    if not ((x >= 0) & (x <= 1)).all():
        raise ValueError("The FPRs of grid must lie within [0, 1].")
    sampled: roc.Sampled = {"weights": weights, "weight_kind": weight_kind, "groups": groups}
    ranking = roc.Ranking.of(y, score, positive=positive, **sampled)
    tied = bool((ranking.below != ranking.at_most).any())
    if tied or ranking.is_weighted or ranking.units is not None:
        return _drawn_band(ranking, x, level)
    s, t = ranking.s, ranking.t
    m, n = len(s), len(t)
    K = _binomial_nodes(n, x)
    below, at_most = roc.look_up(s, t[::-1])  # of the positives, for each v_(j)
    upper = m - np.append(m, at_most)[K]  # positives above v_(K)
    lower = m - np.append(below, 0)[K]  # positives not below v_(K+1)
    a, b = np.hstack([upper, lower + 1]), np.hstack([m + 1 - upper, m - lower])
    low, high = (_quantile(a, b, share) for share in ((1 - level) / 2, (1 + level) / 2))
    low[x == 1], high[x == 1] = 1.0, 1.0
    return Band(x, low, high, level, "melded binomial bounds")


def _drawn_band(ranking: roc.Ranking, x: Array, level: float) -> Band:
    """Bound the TPR by quantiles of the lower and of the upper drawn curves."""
    one = Placements.of(ranking, 0.0, 1.0)
    if one.sampling.too_few:
        none = np.full(len(x), np.nan)
        return Band(x, none, none, level, "none")
    order = np.argsort(x)
    lower, upper = drawn_heights(ranking, x[order], one.variance.sizes)
    outer = quantile_level(level, one.variance.degrees)
    low, high = np.empty(len(x)), np.empty(len(x))
    low[order] = np.quantile(lower, (1 - outer) / 2, axis=0)
    high[order] = np.quantile(upper, (1 + outer) / 2, axis=0)
    low[x == 1], high[x == 1] = 1.0, 1.0
    at = roc.tpr_at(ranking.curve, x)
    low, high = np.minimum(low, at), np.maximum(high, at)
    if one.variance.widening > 1:
        ends = [
            widened(*of, one.variance.widening)
            for of in zip(at.tolist(), low.tolist(), high.tolist(), strict=True)
        ]
        low, high = np.array(ends).T
    return Band(x, low, high, level, "order statistics, drawn curves")


def _binomial_nodes(n: int, x: Array) -> NDArray[np.intp]:
    """Return the middle quantiles of Binomial(n, x), shape (n_points, n_nodes)."""
    shares = (np.arange(_NODES) + 0.5) / _NODES
    return np.asarray(scipy.stats.binom.ppf(shares, n, x[:, None]), dtype=np.intp)


def _quantile(a: NDArray[np.intp], b: NDArray[np.intp], share: float) -> Array:
    """Find a quantile of each row's even mixture of Beta(a, b); a = 0 means 0 and b = 0 means 1."""
    # betainc need not know zeros; Beta with a vanishing parameter is as good.
    a, b = np.maximum(a, _TINY), np.maximum(b, _TINY)
    low, high = np.zeros(len(a)), np.ones(len(a))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        less = scipy.special.betainc(a, b, middle[:, None]).mean(axis=1) < share
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return low if share < 0.5 else high
