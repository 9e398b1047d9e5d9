"""Simultaneous confidence bands: regions that hold the whole true ROC curve.

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
from aucstudio.engine.inference.resampling import Progress, resamples
from aucstudio.engine.inference.results import check_level
from aucstudio.engine.inference.sampling import Sampling
from aucstudio.engine.types import Array, RowNumbers

GRID = np.linspace(0.0, 1.0, 201)
GRID.setflags(write=False)

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
    """Bound the whole ROC curve by Kolmogorov's bounds of both classes, for any sample size.

    The score distribution of each class lies within its bounds with probability sqrt(level), so
    with probability ``level`` or more every point of the curve lies in a rectangle round its
    estimate, and the curve within the rectangles' union. The band is wide, but needs neither
    large samples nor resampling. Weighted rows, and groups of rows, count as so many rows of equal
    weight: a group as one row, which its rows could at worst repeat.

    Parameters
    ----------
    y, score : array-like of shape (n_samples,)
    level : float
    grid : array-like
        FPRs at which to compute the bounds.
    positive : label, optional
    weights, weight_kind, groups
        As for :func:`~inference.delong_interval`.

    Raises
    ------
    ValueError
        If level is outside (0, 1) or an FPR outside [0, 1], and for input that
        :meth:`~roc.Ranking.of` refuses.

    Notes
    -----
    Source: Campbell, Statistics in Medicine 13 (1994), with the exact distribution of
    Kolmogorov's statistic.
    """
    check_level(level)
    sampled: roc.Sampled = {"weights": weights, "weight_kind": weight_kind, "groups": groups}
    ranking = roc.Ranking.of(y, score, positive=positive, **sampled)
    m, n = (max(1, math.floor(units + 1e-9)) for units in Sampling.of(ranking).groups)
    dx, dy = (float(scipy.stats.kstwo.ppf(math.sqrt(level), k)) for k in (n, m))
    return _displaced(ranking.curve, dx, dy, grid, level, "Kolmogorov bounds")


def bootstrap_band(
    y: ArrayLike,
    score: ArrayLike,
    level: float = 0.95,
    *,
    grid: ArrayLike = GRID,
    draws: int = 2000,
    seed: int = 0,
    progress: Progress | None = None,
    positive: object = None,
    weights: ArrayLike | None = None,
    weight_kind: str = roc.SAMPLING,
    groups: ArrayLike | None = None,
) -> Band:
    """Bound the whole ROC curve by a band of fixed width, chosen by the stratified bootstrap.

    The band is the curve displaced by c / sqrt(n) along the FPR and by c / sqrt(m) along the TPR,
    with the least c for which the share ``level`` of the resampled curves stays inside. It needs
    no slope of the curve, unlike vertical bands, whose slope may be infinite at FPR 0. Where
    the classes hardly overlap resamples vary too little; c is therefore at least such that a
    class may have the share log(2 / (1 - level)) / size beyond its outermost score.

    Parameters
    ----------
    y, score : array-like of shape (n_samples,)
    level : float
    grid : array-like
        FPRs at which to compute the bounds.
    draws, seed : int
    progress : callable, optional
        Receives the fraction done now and then; returning True stops.
    positive : label, optional
    weights, weight_kind, groups
        As for :func:`~inference.bootstrap_interval`.

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
    sampled: roc.Sampled = {"weights": weights, "weight_kind": weight_kind, "groups": groups}
    ranking = roc.Ranking.of(y, score, positive=positive, **sampled)
    m, n = Sampling.of(ranking).groups
    # With every vertex where it can be had, for long curves are thinned evenly.
    counted = weights is not None and weight_kind == roc.FREQUENCY
    curve = ranking.curve
    if not counted:
        curve = roc.roc_curve(y, score, positive=positive, weights=weights)
    drawn = _largest_deviations(ranking, curve, draws, seed, progress)
    floor = math.log(2 / (1 - level)) / math.sqrt(min(m, n))
    c = max(float(np.quantile(drawn, level)), floor)
    method = f"fixed width, {draws} bootstrap draws"
    return _displaced(curve, c / math.sqrt(n), c / math.sqrt(m), grid, level, method)


def _largest_deviations(
    ranking: roc.Ranking, curve: roc.Curve, draws: int, seed: int, progress: Progress | None
) -> Array:
    """Draw the half-width c that each resampled curve needs, with units of groups or rows."""
    m, n = Sampling.of(ranking).groups
    vertices = _thinned(curve)
    rows = vertices.behind or vertices
    u, v = _turned(vertices.fpr, vertices.tpr, n, m)
    deviations = np.empty(draws)
    units = ranking.units and (ranking.units[0][::-1], ranking.units[1][::-1])
    # Rows in descending order of score: a vertex predicts the first fp and tp positive.
    sizes = len(ranking.s), len(ranking.t)
    for part, positives, negatives in resamples(*sizes, draws, seed, progress, units):
        tpr = _rates(positives, rows.tp, ranking.weight_s)
        fpr = _rates(negatives, rows.fp, ranking.weight_t)
        deviations[part] = [
            max(
                np.abs(np.interp(u, *resampled) - v).max(),
                np.abs(np.interp(resampled[0], u, v) - resampled[1]).max(),
            )
            / 2
            for resampled in zip(*_turned(fpr, tpr, n, m), strict=True)
        ]
    return deviations


def _thinned(curve: roc.Curve) -> roc.Curve:
    """Leave out vertices of a long curve, evenly along it."""
    if len(curve.fp) <= _VERTICES:
        return curve
    along = curve.fpr + curve.tpr
    kept = np.zeros(len(along), dtype=bool)
    kept[np.searchsorted(along, np.linspace(0, along[-1], _VERTICES))] = True
    return curve.at(kept)


def _rates(times: RowNumbers, ends: NDArray[np.int64], weights: Array | None) -> Array:
    """Compute in each resample the share of the weight of the drawn rows before each end."""
    drawn = times if weights is None else times * weights[::-1]
    sums = np.cumsum(drawn, axis=1, dtype=np.float64)
    rates: Array = np.where(ends > 0, sums[:, np.maximum(ends, 1) - 1], 0.0) / sums[:, -1:]
    return rates


def _turned(fpr: Array, tpr: Array, n: float, m: float) -> tuple[Array, Array]:
    """Compute u and v of vertices."""
    x, y = fpr * math.sqrt(n), tpr * math.sqrt(m)
    return x + y, y - x


def _displaced(
    curve: roc.Curve, dx: float, dy: float, grid: ArrayLike, level: float, method: str
) -> Band:
    """Displace the curve by (-dx, dy) and by (dx, -dy)."""
    x = np.asarray(grid, dtype=np.float64)
    if not ((x >= 0) & (x <= 1)).all():
        raise ValueError("The FPRs of grid must lie within [0, 1].")
    # The lower bound takes the lower end of vertical segments: the limit from the left.
    left = np.nextafter(x - dx, -1.0)
    low = np.where(left >= 0, roc.tpr_at(curve, np.maximum(left, 0.0)) - dy, 0.0)
    high = np.where(x + dx < 1, roc.tpr_at(curve, np.minimum(x + dx, 1.0)) + dy, 1.0)
    return Band(x, np.maximum(low, 0.0), np.minimum(high, 1.0), level, method)
