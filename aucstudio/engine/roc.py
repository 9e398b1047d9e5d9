"""ROC curves, the areas under them, and the thresholds read off them.

Symbols: s scores of the m positives, t scores of the n negatives, v_(1) >= ... >= v_(n) the
negatives in descending order, FPR and TPR the shares of negatives and positives predicted
positive, [alpha, beta] the band of FPR that counts, g_j the part of negative j inside the band.

Everywhere ``y`` is a boolean mask of the positives or holds two labels, of which the larger is
positive unless ``positive`` names one; tied pairs count one half.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Scores = NDArray[np.floating[Any]]


@dataclasses.dataclass(frozen=True, eq=False)
class Curve:
    """An empirical ROC curve as counts, one vertex for each group of tied scores.

    Attributes
    ----------
    fp, tp : ndarray of int, shape (n_vertices,)
        Negatives and positives predicted positive, from (0, 0) to (n, m).
    thresholds : ndarray of shape (n_vertices,)
        A vertex predicts positive where score >= threshold; the first is +inf.
    """

    fp: NDArray[np.int64]
    tp: NDArray[np.int64]
    thresholds: Scores

    @property
    def positives(self) -> int:
        return int(self.tp[-1])

    @property
    def negatives(self) -> int:
        return int(self.fp[-1])

    @cached_property
    def fpr(self) -> Array:
        return self.fp / self.negatives

    @cached_property
    def tpr(self) -> Array:
        return self.tp / self.positives

    def corners(self) -> Curve:
        """Give the same polyline without the vertices inside its straight runs."""
        return self._at(_inner(_turns(self) != 0))

    def _at(self, kept: Mask) -> Curve:
        return Curve(self.fp[kept], self.tp[kept], self.thresholds[kept])


@dataclasses.dataclass(frozen=True)
class PartialAUC:
    """Area under the curve over the band alpha <= FPR <= beta.

    Attributes
    ----------
    alpha, beta : float
    raw : float
        The area itself.
    negatives : int
        How many negatives decide it: those whose rank interval meets the band.
    """

    alpha: float
    beta: float
    raw: float
    negatives: int

    @property
    def maximum(self) -> float:
        """Area of a perfect ranking."""
        return self.beta - self.alpha

    @property
    def chance(self) -> float:
        """Area under the diagonal."""
        return (self.beta**2 - self.alpha**2) / 2

    @property
    def normalized(self) -> float:
        """Mean TPR over the band, as SVM-pAUC reports it."""
        return self.raw / self.maximum

    @property
    def mcclish(self) -> float:
        """McClish's scale: 1/2 for chance, 1 for perfect; less than 1/2 below the diagonal."""
        return (1 + (self.raw - self.chance) / (self.maximum - self.chance)) / 2


def split_scores(y: ArrayLike, score: ArrayLike, positive: object = None) -> tuple[Scores, Scores]:
    """Check labels and scores; give the positives' and the negatives' scores, in row order.

    Raises
    ------
    ValueError
        If the lengths differ, a score is NaN or infinite, or y does not hold two classes.
    """
    scores = np.asarray(score)
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    mask = _positive_mask(np.asarray(y), positive)
    if scores.ndim != 1 or mask.shape != scores.shape:
        raise ValueError(
            f"y and score must be two columns of equal length; they have the shapes "
            f"{mask.shape} and {scores.shape}."
        )
    if not np.isfinite(scores).all():
        raise ValueError("score holds NaN or infinite values; every row needs a finite score.")
    return scores.compress(mask), scores.compress(~mask)


def _positive_mask(y: NDArray[Any], positive: object) -> Mask:
    if y.size == 0:
        raise ValueError("y is empty; at least one positive and one negative are needed.")
    if y.dtype.kind in "biuf":
        low, high = y.min(), y.max()
    else:
        low, high = np.unique(y)[[0, -1]]
    if low == high:
        raise ValueError(f"y holds one class only ({low}); a ROC curve needs two.")
    larger = y == high
    if np.count_nonzero(larger) + np.count_nonzero(y == low) != y.size:
        raise ValueError("y must hold exactly two distinct labels, none of them missing.")
    if positive is None or positive == high:
        return np.asarray(larger)
    if positive != low:
        raise ValueError(f"The positive label {positive!r} does not occur in y ({low}, {high}).")
    return ~np.asarray(larger)


def sorted_scores(y: ArrayLike, score: ArrayLike, positive: object) -> tuple[Scores, Scores]:
    """Do what :func:`split_scores` does, each class in ascending order."""
    s, t = split_scores(y, score, positive)
    s.sort()
    t.sort()
    return s, t


def roc_curve(y: ArrayLike, score: ArrayLike, *, positive: object = None) -> Curve:
    """Build the ROC curve with all its vertices.

    Raises
    ------
    ValueError
        For input that :func:`split_scores` refuses.
    """
    s, t = sorted_scores(y, score, positive)
    place = np.arange(len(s)) + np.searchsorted(t, s, "right")  # in the merged order
    is_positive = np.zeros(len(s) + len(t), dtype=bool)
    is_positive[place] = True
    merged = np.empty(len(is_positive), dtype=s.dtype)
    merged[is_positive], merged[~is_positive] = s, t
    lowest = np.flatnonzero(np.append(True, merged[1:] != merged[:-1]))[::-1]  # of each group
    tp = len(s) - np.append(0, np.cumsum(is_positive))[lowest]
    fp = len(is_positive) - lowest - tp
    thresholds = np.append(np.array([np.inf], dtype=s.dtype), merged[lowest])
    return Curve(np.append(0, fp), np.append(0, tp), thresholds)


def auc(y: ArrayLike, score: ArrayLike, *, positive: object = None) -> float:
    """Compute the area under the ROC curve from exact pair counts, in O(N log N).

    Both classes are sorted by value and the smaller is looked up in the larger from both
    sides, which counts tied pairs one half.

    Raises
    ------
    ValueError
        For input that :func:`split_scores` refuses.
    """
    s, t = sorted_scores(y, score, positive)
    if len(s) > len(t):  # the same area with both the classes and the order reversed
        s, t = -t[::-1], -s[::-1]
    return pair_share(*look_up(t, s), len(t))


def look_up(ascending: Scores, values: Scores) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Count for each value how many of the sorted scores are below it, and how many not above.

    Several times faster where the values are sorted too.
    """
    below = np.searchsorted(ascending, values, "left")
    tied = ascending[np.minimum(below, len(ascending) - 1)] == values
    at_most = below.copy()
    at_most[tied] = np.searchsorted(ascending, values[tied], "right")
    return below, at_most


def pair_share(below: NDArray[np.intp], at_most: NDArray[np.intp], n: int) -> float:
    """Compute the AUC from what :func:`look_up` says of the positives among n negatives."""
    return (int(below.sum()) + int(at_most.sum())) / (2 * len(below) * n)


def auc_of(curve: Curve) -> float:
    """Compute the area under a curve by the trapezoid rule, from exact counts."""
    return int(_doubled_areas(curve)[-1]) / (2 * curve.positives * curve.negatives)


def _doubled_areas(curve: Curve) -> NDArray[np.int64]:
    """Twice the area left of each vertex, in units of one pair."""
    return np.append(0, np.cumsum(np.diff(curve.fp) * (curve.tp[1:] + curve.tp[:-1])))


def partial_auc(
    y: ArrayLike,
    score: ArrayLike,
    alpha: float = 0.0,
    beta: float = 1.0,
    *,
    positive: object = None,
) -> PartialAUC:
    """Compute the trapezoid area over alpha <= FPR <= beta, exact at interpolated ends.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1, and for input that :func:`split_scores` refuses.
    """
    check_band(alpha, beta)
    return partial_auc_of(roc_curve(y, score, positive=positive), alpha, beta)


def partial_auc_of(curve: Curve, alpha: float = 0.0, beta: float = 1.0) -> PartialAUC:
    """Compute what :func:`partial_auc` does from a curve."""
    check_band(alpha, beta)
    ends = np.array([alpha, beta])
    vertex = np.searchsorted(curve.fpr, ends, "right") - 1
    areas = _doubled_areas(curve)[vertex] / (2 * curve.positives * curve.negatives)
    heights = curve.tpr[vertex] + tpr_at(curve, ends)
    areas += (ends - curve.fpr[vertex]) * heights / 2
    # Rounding must not take a perfect ranking above its maximum.
    raw = min(max(float(areas[1] - areas[0]), 0.0), beta - alpha)
    first, last = band_ranks(curve.negatives, alpha, beta)
    return PartialAUC(float(alpha), float(beta), raw, last - first + 1)


def check_band(alpha: float, beta: float) -> None:
    """Raise ValueError unless 0 <= alpha < beta <= 1."""
    if not 0 <= alpha < beta <= 1:
        raise ValueError(
            f"The FPR range needs 0 <= alpha < beta <= 1; it is alpha = {alpha}, beta = {beta}."
        )


def band_ranks(n: int, alpha: float, beta: float) -> tuple[int, int]:
    """Give the ranks j (from 1) of the first and last of n negatives that meet the band."""
    first = math.floor(_position(n, alpha)) + 1
    return first, max(first, math.ceil(_position(n, beta)))


def _position(n: int, share: float) -> float:
    """Compute n * share, a whole number where only rounding kept it from one (100 * 0.07)."""
    place = n * share
    nearest = round(place)
    return nearest if abs(place - nearest) <= 1e-14 * n else place


def rank_weights(n: int, alpha: float, beta: float) -> Array:
    """Give g_j for j = 1..n: n times the length of [(j-1)/n, j/n] inside [alpha, beta]."""
    check_band(alpha, beta)
    ends = np.clip(np.arange(n + 1.0), n * alpha, n * beta)
    return np.diff(ends)


def rank_pauc(
    y: ArrayLike,
    score: ArrayLike,
    alpha: float = 0.0,
    beta: float = 1.0,
    *,
    positive: object = None,
) -> float:
    """Compute the normalised partial AUC by rank weights, the definition used in training.

    sum_ij g_j [1(s_i > v_(j)) + 1/2 1(s_i = v_(j))] / (m n (beta - alpha)). It differs from
    :func:`partial_auc` only where a bound falls inside a tie of positives and negatives.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1, and for input that :func:`split_scores` refuses.
    """
    s, t = sorted_scores(y, score, positive)
    g = rank_weights(len(t), alpha, beta)[::-1]
    below, at_most = look_up(s, t)
    return float(g @ (1 - (below + at_most) / (2 * len(s))) / g.sum())


def hull(curve: Curve) -> Curve:
    """Find the upper convex hull: the curve's vertices that are optimal for some costs."""
    while True:
        # A vertex on or below the chord of its neighbours is off the hull, whatever else is.
        kept = _inner(_turns(curve) < 0)
        if kept.all():
            return curve
        curve = curve._at(kept)


def _turns(curve: Curve) -> NDArray[np.int64]:
    """Cross product of the edges at each inner vertex; negative where the curve bends down."""
    dx, dy = np.diff(curve.fp), np.diff(curve.tp)
    turns: NDArray[np.int64] = dx[:-1] * dy[1:] - dy[:-1] * dx[1:]
    return turns


def _inner(kept: Mask) -> Mask:
    return np.concatenate([[True], kept, [True]])


def tpr_at(curve: Curve, fpr: ArrayLike) -> Array:
    """Interpolate the TPR at FPRs within [0, 1]; the upper end of vertical segments."""
    return _limits(curve, np.asarray(fpr, dtype=np.float64))[1]


def _limits(curve: Curve, x: Array) -> tuple[Array, Array]:
    """Lower and upper TPR at each FPR x; they differ on vertical segments."""
    if not ((x >= 0) & (x <= 1)).all():
        raise ValueError("fpr must lie within [0, 1].")
    first = np.searchsorted(curve.fpr, x, "left")
    last = np.searchsorted(curve.fpr, x, "right") - 1
    between = first > last
    width = np.where(between, curve.fpr[first] - curve.fpr[last], 1.0)
    rise = np.where(between, curve.tpr[first] - curve.tpr[last], 0.0)
    upper = curve.tpr[last] + rise * ((x - curve.fpr[last]) / width)
    return np.where(between, upper, curve.tpr[first]), upper


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
        limits = np.stack([np.stack(_limits(curve, x), axis=-1) for curve in bends])
        jumps = (limits[:, :, 0] != limits[:, :, 1]).any(axis=0)
        kept = np.stack([np.ones_like(jumps), jumps], axis=-1)
        fpr, tpr = np.repeat(x, kept.sum(axis=1)), limits[:, kept]
    spread = tpr.std(axis=0, ddof=1) if len(tpr) > 1 else np.zeros(len(fpr))
    return fpr, tpr.mean(axis=0), spread


def equal_error_threshold(y: ArrayLike, score: ArrayLike, *, positive: object = None) -> float:
    """Find t such that predicting positive where score > t makes FPR and 1 - TPR most alike.

    It lies midway between two neighbouring scores; if all scores are equal, it is that score.

    Raises
    ------
    ValueError
        For input that :func:`split_scores` refuses.
    """
    curve = roc_curve(y, score, positive=positive)
    if len(curve.tp) == 2:
        return float(curve.thresholds[1])
    m, n = curve.positives, curve.negatives
    imbalance = np.abs(curve.fp[1:-1] * m - (m - curve.tp[1:-1]) * n)
    return _cut(curve, int(imbalance.argmin()) + 1)


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
    above = math.floor(_position(scores.size, beta))
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
    if not (0 < cost_fp < math.inf and 0 < cost_fn < math.inf and 0 < prior < 1):
        raise ValueError(
            f"Costs must be positive and the prior between 0 and 1; they are cost_fp = {cost_fp}, "
            f"cost_fn = {cost_fn}, prior = {prior}."
        )
    cost = cost_fp * (1 - prior) * curve.fpr + cost_fn * prior * (1 - curve.tpr)
    return _cut(curve, int(cost.argmin()))


def minmax_threshold(y: ArrayLike, score: ArrayLike, *, positive: object = None) -> float:
    """Compute (min s + max t) / 2, which makes sense only for (nearly) separable scores.

    Source: structure-embedded AUC-SVM, eq. 4 (where it appears as the constant -t).
    """
    s, t = split_scores(y, score, positive)
    return _midpoint(t.max(), s.min())


def _cut(curve: Curve, vertex: int) -> float:
    """Give t such that score > t selects what the vertex does."""
    if vertex == 0:
        return float(curve.thresholds[1])
    if vertex == len(curve.thresholds) - 1:
        return float(np.nextafter(curve.thresholds[vertex], -np.inf, dtype=curve.thresholds.dtype))
    return _midpoint(curve.thresholds[vertex + 1], curve.thresholds[vertex])


def _midpoint(low: np.floating[Any], high: np.floating[Any]) -> float:
    middle = low / 2 + high / 2  # the sum itself could overflow
    return float(low if middle == high else middle)  # neighbouring floats have no middle
