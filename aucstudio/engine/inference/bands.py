"""Confidence bands of ROC curves: simultaneous ones, and bounds of one point after the other.

Symbols: c half-width of a band in units of 1/sqrt(n) along the FPR and of 1/sqrt(m) along the
TPR; u = sqrt(n) FPR + sqrt(m) TPR, v = sqrt(m) TPR - sqrt(n) FPR. A curve is a function v(u), for
each of its steps increases u, and a displacement by c across the band changes v by 2 c.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array
from aucstudio.engine.inference.areas import Placements
from aucstudio.engine.inference.drawn_curves import drawn_heights
from aucstudio.engine.inference.resampling import Progress, drawn_rates, resamples
from aucstudio.engine.inference.results import check_level, quantile_level, widened
from aucstudio.engine.inference.sampling import Sampling

GRID = np.linspace(0.0, 1.0, 201)
GRID.setflags(write=False)

_NODES = 64  # equally likely values that approximate a binomial distribution
_HALVINGS = 18  # down to 4e-6
_TINY = 1e-300
_VERTICES = 1000  # of the curve that is resampled; more change the quantile by less than its noise


@dataclasses.dataclass(frozen=True, eq=False)
class Band:
    """A confidence band of a ROC curve.

    Attributes
    ----------
    fpr : ndarray of shape (n_points,)
    low, high : ndarray of shape (n_points,)
        Bounds of the TPR, not decreasing.
    level : float
    method : str
    """

    fpr: Array
    low: Array
    high: Array
    level: float
    method: str


def kolmogorov_band(
    ranking: roc.Ranking,
    level: float = 0.95,
    *,
    grid: ArrayLike = GRID,
) -> Band:
    """Bound the whole ROC curve by Kolmogorov's bounds of both classes, for any sample size.

    The score distribution of each class lies within its bounds with probability sqrt(level), so
    with probability ``level`` or more every point of the curve lies in a rectangle round its
    estimate, and the curve within the rectangles' union. The band is wide, but needs neither
    large samples nor resampling. Weighted rows, and groups of rows, count as so many rows of equal
    weight: a group as one row, which its rows could at worst repeat.

    Parameters
    ----------
    ranking : Ranking
    level : float
    grid : array-like
        FPRs at which to compute the bounds.

    Raises
    ------
    ValueError
        If level is outside (0, 1) or an FPR outside [0, 1].

    Notes
    -----
    Source: Campbell, Statistics in Medicine 13 (1994), with the exact distribution of
    Kolmogorov's statistic.
    """
    check_level(level)
    m, n = (max(1, math.floor(units + 1e-9)) for units in Sampling.of(ranking).groups)
    dx, dy = (float(scipy.stats.kstwo.ppf(math.sqrt(level), k)) for k in (n, m))
    return _displaced(ranking.curve, dx, dy, grid, level, "Kolmogorov bounds")


def bootstrap_band(
    ranking: roc.Ranking,
    level: float = 0.95,
    *,
    grid: ArrayLike = GRID,
    draws: int = 2000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Band:
    """Bound the whole ROC curve by a band of fixed width, chosen by the stratified bootstrap.

    The band is the curve displaced by c / sqrt(n) along the FPR and by c / sqrt(m) along the TPR,
    with the least c for which the share ``level`` of the resampled curves stays inside. It needs
    no slope of the curve, unlike vertical bands, whose slope may be infinite at FPR 0. Where
    the classes hardly overlap resamples vary too little; c is therefore at least such that a
    class may have the share log(2 / (1 - level)) / size beyond its outermost score.

    Parameters
    ----------
    ranking : Ranking
    level : float
    grid : array-like
        FPRs at which to compute the bounds.
    draws, seed : int
    progress : callable, optional
        Receives the fraction done now and then; returning True stops.

    Raises
    ------
    Stopped
        If ``progress`` returned True.
    ValueError
        As :func:`kolmogorov_band`, and if draws is less than 2.

    Notes
    -----
    Sources: Campbell, Statistics in Medicine 13 (1994), for the displaced curve and its
    bootstrap; Macskassy, Provost and Rosset, ICML (2005), for its coverage. The floor of c is
    ours.
    """
    check_level(level)
    m, n = Sampling.of(ranking).groups
    curve, drawn = ranking.curve, largest_deviations(ranking, draws, seed, progress)
    floor = math.log(2 / (1 - level)) / math.sqrt(min(m, n))
    c = max(float(np.quantile(drawn, level)), floor)
    method = f"fixed width, {draws} bootstrap draws"
    return _displaced(curve, c / math.sqrt(n), c / math.sqrt(m), grid, level, method)


def largest_deviations(
    ranking: roc.Ranking, draws: int, seed: int, progress: Progress | None
) -> Array:
    """Draw the half-width c that each resampled curve needs, with units of groups or rows."""
    m, n = Sampling.of(ranking).groups
    vertices = ranking.curve.thinned(_VERTICES)
    u, v = _turned(vertices.fpr, vertices.tpr, n, m)
    deviations = np.empty(draws)
    units = ranking.units and (ranking.units[0][::-1], ranking.units[1][::-1])
    # Rows in descending order of score: a vertex predicts the first fp and tp positive.
    sizes = len(ranking.s), len(ranking.t)
    for part, positives, negatives in resamples(*sizes, draws, seed, progress, units):
        tpr, fpr = drawn_rates(ranking, vertices, positives, negatives)
        deviations[part] = [
            max(
                np.abs(np.interp(u, *resampled) - v).max(),
                np.abs(np.interp(resampled[0], u, v) - resampled[1]).max(),
            )
            / 2
            for resampled in zip(*_turned(fpr, tpr, n, m), strict=True)
        ]
    return deviations


def _turned(fpr: Array, tpr: Array, n: float, m: float) -> tuple[Array, Array]:
    """Compute u and v of vertices."""
    x, y = fpr * math.sqrt(n), tpr * math.sqrt(m)
    return x + y, y - x


def _displaced(
    curve: roc.RocCurve, dx: float, dy: float, grid: ArrayLike, level: float, method: str
) -> Band:
    """Displace the curve by (-dx, dy) and by (dx, -dy)."""
    x = _checked_grid(grid)
    # The lower bound takes the lower end of vertical segments: the limit from the left.
    left = np.nextafter(x - dx, -1.0)
    low = np.where(left >= 0, roc.tpr_at(curve, np.maximum(left, 0.0)) - dy, 0.0)
    high = np.where(x + dx < 1, roc.tpr_at(curve, np.minimum(x + dx, 1.0)) + dy, 1.0)
    return Band(x, np.maximum(low, 0.0), np.minimum(high, 1.0), level, method)


def _checked_grid(grid: ArrayLike) -> Array:
    x = np.asarray(grid, dtype=np.float64)
    if not ((x >= 0) & (x <= 1)).all():
        raise ValueError("The FPRs of grid must lie within [0, 1].")
    return x


def pointwise_band(
    ranking: roc.Ranking,
    level: float = 0.95,
    *,
    grid: ArrayLike = GRID,
) -> Band:
    """Bound the TPR at each FPR of a grid by melding two binomial statements.

    Where the threshold of an FPR lies among the negatives is binomial, and so is how many
    positives lie above a threshold; the bounds are quantiles of the second's confidence
    distribution averaged over the first. A known threshold would give the mid-p version of
    Clopper and Pearson's bounds. Unlike percentiles of a bootstrap the band keeps a width at
    TPR 0 and 1, and starts from 0 at FPR 0. The whole curve leaves it more often than one
    point does, see :func:`~inference.bootstrap_band`.

    Where rows have sampling weights or come in groups, and where a positive and a negative have
    the same score, the bounds are quantiles over drawn curves as in
    :func:`~inference.pauc_interval`; they are NaN where it has none. Binomial bounds of tied
    scores would reach from one end of a tie to the other, however many rows there are.

    Parameters
    ----------
    ranking : Ranking
    level : float
    grid : array-like
        FPRs at which to compute the bounds.

    Raises
    ------
    ValueError
        If level is outside (0, 1) or an FPR outside [0, 1].

    Notes
    -----
    Source of melding: Fay, Proschan and Brittain, Biometrics 71 (2015).
    """
    check_level(level)
    x = _checked_grid(grid)
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
    one = Placements(ranking, (0.0, 1.0))
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
    shares, p = (np.arange(_NODES) + 0.5) / _NODES, x[:, None]
    inner = np.clip(p, _TINY, np.nextafter(1.0, 0.0))  # scipy.stats takes a second to load
    k = np.clip(np.nan_to_num(np.ceil(scipy.special.bdtrik(shares, n, inner))), 0, n)
    below = np.maximum(k - 1, 0)
    k = np.where(scipy.special.bdtr(below, n, inner) >= shares, below, k)
    return np.where(p == 1, n, k).astype(np.intp)


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
