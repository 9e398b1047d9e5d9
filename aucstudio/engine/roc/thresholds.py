"""Thresholds read off scores and curves: equal error, bounded FPR, least cost, Youden, mid-gap."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.roc.band import position
from aucstudio.engine.roc.curve import Curve, roc_curve
from aucstudio.engine.types import Array

_ROUNDING = 1e-12


def equal_error_threshold(
    y: ArrayLike,
    score: ArrayLike,
    *,
    positive: object = None,
    weights: ArrayLike | None = None,
) -> float:
    """Find t such that predicting positive where score > t makes FPR and 1 - TPR most alike.

    It lies midway between two neighbouring scores; if all scores are equal, it is that score.

    Raises
    ------
    ValueError
        For input that :func:`split_scores` refuses.
    """
    return equal_error_threshold_of(roc_curve(y, score, positive=positive, weights=weights))


def equal_error_threshold_of(curve: Curve) -> float:
    """Do what :func:`equal_error_threshold` does, on a curve with all its vertices."""
    if len(curve.tp) == 2:
        return float(curve.thresholds[1])
    m, n = curve.positives, curve.negatives
    imbalance = np.abs(curve.fp[1:-1] * m - (m - curve.tp[1:-1]) * n)
    if curve.behind is not None:  # sums of weights that are equal but for rounding
        imbalance = np.maximum(imbalance - imbalance.min(), _ROUNDING * m * n)
    return cut_at(curve, int(imbalance.argmin()) + 1)


def fpr_threshold(negative_scores: ArrayLike, beta: float) -> float:
    """Find t = v_(floor(n beta) + 1): score > t for at most a share beta of the negatives.

    Raises
    ------
    ValueError
        If there is no negative, a score is not finite, or beta is outside [0, 1].
    """
    scores = np.asarray(negative_scores, dtype=np.float64)
    if scores.ndim != 1 or scores.size == 0 or not np.isfinite(scores).all():
        raise ValueError("negative_scores must be one column of finite scores, at least one.")
    if not 0 <= beta <= 1:
        raise ValueError(f"beta must lie within [0, 1]; it is {beta}.")
    above = math.floor(position(scores.size, beta))
    if above == scores.size:
        return float(np.nextafter(scores.min(), -np.inf))
    place = scores.size - 1 - above
    return float(np.partition(scores, place)[place])


def cost_threshold(
    curve: Curve, cost_fp: float, cost_fn: float, prior: float | None = None
) -> float:
    """Find t such that predicting positive where score > t costs least.

    The expected cost of a case is cost_fp (1 - prior) FPR + cost_fn prior (1 - TPR); of equally
    cheap vertices (always on the hull) the one with the lowest FPR is taken.

    Parameters
    ----------
    curve : Curve
        With all its vertices: t lies midway between two neighbouring scores.
    cost_fp, cost_fn : float
        Positive costs of one false positive and of one false negative.
    prior : float, optional
        Share of positives where the scores will be used; by default that of the curve.

    Raises
    ------
    ValueError
        If a cost is not a positive number, or the prior not strictly between 0 and 1.
    """
    m, n = curve.positives, curve.negatives
    prior = m / (m + n) if prior is None else prior
    check_costs(prior, cost_fp, cost_fn)
    cost = cost_fp * (1 - prior) * curve.fpr + cost_fn * prior * (1 - curve.tpr)
    return cut_at(curve, int(cost.argmin()))


def check_costs(prior: float, cost_fp: float, cost_fn: float) -> None:
    """Raise ValueError unless the costs are positive and the prior strictly between 0 and 1."""
    if not (0 < cost_fp < math.inf and 0 < cost_fn < math.inf and 0 < prior < 1):
        raise ValueError(
            f"Costs must be positive and the prior between 0 and 1; they are cost_fp = {cost_fp}, "
            f"cost_fn = {cost_fn}, prior = {prior}."
        )


def youden_vertex(curve: Curve) -> int:
    """Find the vertex with the greatest TPR - FPR; of several the one with the lowest FPR."""
    return int((curve.tp * curve.negatives - curve.fp * curve.positives).argmax())


def minmax_threshold(curve: Curve) -> float:
    """Return (min s + max t) / 2, which makes sense only for (nearly) separable scores.

    Source: structure-embedded AUC-SVM, eq. 4 (where it appears as the constant -t).
    """
    lowest_positive = curve.thresholds[int(np.searchsorted(curve.tp, curve.positives, "left"))]
    highest_negative = curve.thresholds[int(np.searchsorted(curve.fp, 0, "right"))]
    return _midpoint(highest_negative, lowest_positive)


def cut_at(curve: Curve, vertex: int) -> float:
    """Return t such that score > t selects what the vertex does."""
    if vertex == 0:
        return float(curve.thresholds[1])
    if vertex == len(curve.thresholds) - 1:
        return float(np.nextafter(curve.thresholds[vertex], -np.inf, dtype=curve.thresholds.dtype))
    return _midpoint(curve.thresholds[vertex + 1], curve.thresholds[vertex])


def cuts(curve: Curve) -> Array:
    """Return for each vertex the t of :func:`cut_at`; for the first one, which calls none, +inf."""
    above, below = curve.thresholds[1:-1], curve.thresholds[2:]
    middle = below / 2 + above / 2
    last = cut_at(curve, len(curve.thresholds) - 1)
    inner = np.where(middle == above, below, middle)
    return np.concatenate([[np.inf], inner, [last]]).astype(np.float64)


def _midpoint(low: np.floating[Any], high: np.floating[Any]) -> float:
    middle = low / 2 + high / 2  # the sum itself could overflow
    return float(low if middle == high else middle)  # neighbouring floats have no middle
