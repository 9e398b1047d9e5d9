"""Areas under ROC curves, whole or over a band of FPR, and the rank weights of a band."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine.roc.curve import Array, Curve, Scores, roc_curve, sorted_scores
from aucstudio.engine.roc.geometry import tpr_at


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
    first = math.floor(position(n, alpha)) + 1
    return first, max(first, math.ceil(position(n, beta)))


def position(n: int, share: float) -> float:
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
