"""ROC curves as polylines: their convex hull, heights between vertices, and averages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.roc.curve import Curve, inner, turns
from aucstudio.engine.types import Array


def hull(curve: Curve) -> Curve:
    """Find the upper convex hull: the curve's vertices that are optimal for some costs."""
    while True:
        # A vertex on or below the chord of its neighbours is off the hull, whatever else is.
        kept = inner(turns(curve) < 0)
        if kept.all():
            return curve
        curve = curve.at(kept)


def reflect(curve: Curve) -> Curve:
    """Mirror the curve at the falling diagonal: the classes swap roles, the scores their sign.

    The thresholds are right where the curve has all its vertices.
    """
    return Curve(
        curve.positives - curve.tp[::-1],
        curve.negatives - curve.fp[::-1],
        np.append(curve.thresholds[:1], -curve.thresholds[:0:-1]),
        curve.behind and curve.behind.reflected(),
    )


def tpr_at(curve: Curve, fpr: ArrayLike) -> Array:
    """Interpolate the TPR at FPRs within [0, 1]; the upper end of vertical segments."""
    return _limits(curve.fpr, curve.tpr, _rates(fpr, "fpr"))[1]


def fpr_at(curve: Curve, tpr: ArrayLike) -> Array:
    """Interpolate the FPR at TPRs within [0, 1]; the left end of horizontal segments."""
    return _limits(curve.tpr, curve.fpr, _rates(tpr, "tpr"))[0]


def _rates(values: ArrayLike, name: str) -> Array:
    rates = np.asarray(values, dtype=np.float64)
    if not ((rates >= 0) & (rates <= 1)).all():
        raise ValueError(f"{name} must lie within [0, 1].")
    return rates


def _limits(rate: Array, other: Array, x: Array) -> tuple[Array, Array]:
    """Lower and upper other rate where a rate is x; they differ where the curve is upright."""
    first = np.searchsorted(rate, x, "left")
    last = np.searchsorted(rate, x, "right") - 1
    between = first > last
    width = np.where(between, rate[first] - rate[last], 1.0)
    rise = np.where(between, other[first] - other[last], 0.0)
    upper = other[last] + rise * ((x - rate[last]) / width)
    return np.where(between, upper, other[first]), upper


def vertical_average(
    curves: Sequence[Curve], grid: ArrayLike | None = None
) -> tuple[Array, Array, Array]:
    """Average the TPR of several curves at equal FPR.

    Parameters
    ----------
    curves : sequence of Curve, at least one
    grid : array-like, optional
        FPRs to evaluate at, taking upper values. Without it the mean is exact everywhere: it
        bends only where a curve does, and an FPR at which a curve jumps occurs twice.

    Returns
    -------
    fpr, mean_tpr, sd_tpr : ndarray
        The standard deviation has the divisor len(curves) - 1, and is 0 for one curve.
    """
    if grid is not None:
        fpr = np.asarray(grid, dtype=np.float64)
        tpr = np.stack([tpr_at(curve, fpr) for curve in curves])
    else:
        bends = [curve.corners() for curve in curves]
        x = np.unique(np.concatenate([curve.fpr for curve in bends]))
        limits = np.stack([np.stack(_limits(c.fpr, c.tpr, x), axis=-1) for c in bends])
        jumps = (limits[:, :, 0] != limits[:, :, 1]).any(axis=0)
        kept = np.stack([np.ones_like(jumps), jumps], axis=-1)
        fpr, tpr = np.repeat(x, kept.sum(axis=1)), limits[:, kept]
    spread = tpr.std(axis=0, ddof=1) if len(tpr) > 1 else np.zeros(len(fpr))
    return fpr, tpr.mean(axis=0), spread
