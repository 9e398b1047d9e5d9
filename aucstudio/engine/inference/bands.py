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
from aucstudio.engine.types import Array

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
) -> Band:
    """Bound the whole ROC curve by Kolmogorov's bounds of both classes, for any sample size.

    The score distribution of each class lies within its bounds with probability sqrt(level), so
    with probability ``level`` or more every point of the curve lies in a rectangle round its
    estimate, and the curve within the rectangles' union. The band is wide, but needs neither
    large samples nor resampling.

    Parameters
    ----------
    y, score : array-like of shape (n_samples,)
    level : float
    grid : array-like
        FPRs to give the bounds at.
    positive : label, optional

    Raises
    ------
    ValueError
        If level is outside (0, 1) or an FPR outside [0, 1], and for input that
        :func:`~roc.split_scores` refuses.

    Notes
    -----
    Source: Campbell, Statistics in Medicine 13 (1994), with the exact distribution of
    Kolmogorov's statistic.
    """
    check_level(level)
    curve = roc.roc_curve(y, score, positive=positive)
    dx, dy = (
        float(scipy.stats.kstwo.ppf(math.sqrt(level), k))
        for k in (curve.negatives, curve.positives)
    )
    return _displaced(curve, dx, dy, grid, level, "Kolmogorov bounds")


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
        FPRs to give the bounds at.
    draws, seed : int
    progress : callable, optional
        Hears the fraction done now and then; returning True stops.
    positive : label, optional

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
    curve = roc.roc_curve(y, score, positive=positive)
    m, n = curve.positives, curve.negatives
    drawn = _largest_deviations(curve, draws, seed, progress)
    floor = math.log(2 / (1 - level)) / math.sqrt(min(m, n))
    c = max(float(np.quantile(drawn, level)), floor)
    method = f"fixed width, {draws} bootstrap draws"
    return _displaced(curve, c / math.sqrt(n), c / math.sqrt(m), grid, level, method)


def _largest_deviations(
    curve: roc.Curve, draws: int, seed: int, progress: Progress | None
) -> Array:
    """Draw the half-width c that each resampled curve needs."""
    m, n = curve.positives, curve.negatives
    vertices = _thinned(curve)
    # Rows numbered in descending order of score: a vertex predicts the first fp and tp positive.
    u, v = _turned(vertices.fp, vertices.tp, n, m)
    deviations = np.empty(draws)
    for part, positives, negatives in resamples(m, n, draws, seed, progress):
        tp, fp = _counts(positives, vertices.tp), _counts(negatives, vertices.fp)
        drawn_u, drawn_v = _turned(fp, tp, n, m)
        deviations[part] = [
            max(
                np.abs(np.interp(u, *resampled) - v).max(),
                np.abs(np.interp(resampled[0], u, v) - resampled[1]).max(),
            )
            / 2
            for resampled in zip(drawn_u, drawn_v, strict=True)
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


def _counts(rows: NDArray[np.int32], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count in each resample the drawn rows before each of the ascending ends."""
    cell = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    cells = cell[rows] + len(ends) * np.arange(len(rows))[:, None]
    counts = np.bincount(cells.ravel(), minlength=len(ends) * len(rows))
    return np.cumsum(counts.reshape(len(rows), -1), axis=1)


def _turned(fp: NDArray[np.int64], tp: NDArray[np.int64], n: int, m: int) -> tuple[Array, Array]:
    """Compute u and v of vertices."""
    x, y = fp / math.sqrt(n), tp / math.sqrt(m)
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
