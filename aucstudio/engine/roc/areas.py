"""Areas under the ROC curve, whole or over a range of FPR, and the negatives that a range covers.

Symbols: [alpha, beta] the range of FPR; T(x) the TPR of the curve at the FPR x.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.roc.curve import Curve, tpr_at
from aucstudio.engine.roc.ranking import Ranking, Sampled, roc_curve
from aucstudio.engine.types import Array
from aucstudio.notices import text


def auc_of(curve: Curve) -> float:
    """Compute the area under a curve by the trapezoid rule, from exact counts."""
    return _area_between(curve, 0, len(curve.fp) - 1)


def _area_between(curve: Curve, first: int, last: int) -> float:
    """Compute the area between two vertices."""
    rises = curve.tp[first + 1 : last + 1] + curve.tp[first:last]
    doubled = (np.diff(curve.fp[first : last + 1]) * rises).sum()
    return float(doubled.item() / (2 * curve.positives * curve.negatives))


def area(ranking: Ranking, alpha: float, beta: float) -> float:
    """Return the normalised area over a range of FPR: over [0, 1] the AUC from pair counts."""
    if (alpha, beta) == (0.0, 1.0):
        return ranking.auc
    return partial_auc_of(ranking.curve, alpha, beta).normalized


def check_band(alpha: float, beta: float) -> None:
    """Raise ValueError unless 0 <= alpha < beta <= 1."""
    if not 0 <= alpha < beta <= 1:
        raise ValueError(text("range_out_of_order", alpha=alpha, beta=beta))


def band_ranks(n: int, alpha: float, beta: float) -> tuple[int, int]:
    """Return the ranks j (from 1) of the first and last of n negatives that meet the band."""
    first = math.floor(position(n, alpha)) + 1
    return first, max(first, math.ceil(position(n, beta)))


def position(n: int, share: float) -> float:
    """Compute n * share, a whole number where only rounding kept it from one (100 * 0.07)."""
    place = n * share
    nearest = round(place)
    return nearest if abs(place - nearest) <= 1e-14 * n else place


def band_coverage(low: float, high: float, n: int) -> str:
    """Word how many of n negatives a range of FPR covers: ``FPR ≤ 0.001 covers 3 negatives``."""
    if low == 0:
        band = f"FPR ≤ {high:g}"
    else:
        band = f"FPR ≥ {low:g}" if high == 1 else f"FPR {low:g} … {high:g}"
    first, last = band_ranks(n, low, high)
    covered = position(n, high) - position(n, low)
    return f"{band} covers {_amount(covered, last - first + 1)}"


def _amount(covered: float, count: int) -> str:
    """Word how many negatives a range touches, the outermost ones perhaps in part."""
    if covered < 0.995:
        return "part of one negative" if count == 1 else "less than one negative"
    return f"{count:,} negative{'' if count == 1 else 's'}"


def rank_weights(n: int, alpha: float, beta: float) -> Array:
    """Return g_j for j = 1..n: n times the length of [(j-1)/n, j/n] inside [alpha, beta]."""
    check_band(alpha, beta)
    ends = np.clip(np.arange(n + 1.0), n * alpha, n * beta)
    return np.diff(ends)


@dataclasses.dataclass(frozen=True)
class PartialAUC:
    """Area under the curve over the band alpha <= FPR <= beta.

    Attributes
    ----------
    alpha, beta : float
    raw : float
        The area itself, the integral of T from alpha to beta.
    negatives : int
        How many negatives in the range: those whose rank interval meets the band.
    of_negatives : int
        How many there are.
    effective : float or None
        Where rows are weighted, how many negatives of equal weight would say as much.
    """

    alpha: float
    beta: float
    raw: float
    negatives: int
    of_negatives: int
    effective: float | None = None

    @property
    def maximum(self) -> float:
        """Area of a perfect ranking."""
        return self.beta - self.alpha

    @property
    def chance(self) -> float:
        """Area of the diagonal."""
        return (self.beta**2 - self.alpha**2) / 2

    @property
    def normalized(self) -> float:
        """Share of the maximum: the mean TPR over the range, as SVM-pAUC reports it."""
        return self.raw / self.maximum

    @property
    def mcclish(self) -> float:
        """McClish's scale: 1/2 for chance, 1 for perfect; less than 1/2 below the diagonal."""
        return (1 + (self.raw - self.chance) / (self.maximum - self.chance)) / 2

    def coverage(self) -> str:
        """State how many negatives the band covers."""
        if self.effective is not None:
            band = band_coverage(self.alpha, self.beta, 1).partition(" covers")[0]
            rows = f"{self.negatives:,} negative{'' if self.negatives == 1 else 's'}"
            return f"{band} covers {rows}, with weights worth {self.effective:.3g}"
        return band_coverage(self.alpha, self.beta, self.of_negatives)


def partial_auc(
    y: ArrayLike,
    score: ArrayLike,
    alpha: float = 0.0,
    beta: float = 1.0,
    **rows: Unpack[Sampled],
) -> PartialAUC:
    """Compute the trapezoid area over alpha <= FPR <= beta, exact at interpolated ends.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1, and for input that :meth:`Ranking.of` refuses.
    """
    check_band(alpha, beta)
    return partial_auc_of(roc_curve(y, score, **rows), alpha, beta)


def partial_auc_of(curve: Curve, alpha: float = 0.0, beta: float = 1.0) -> PartialAUC:
    """Compute what :func:`partial_auc` does from a curve."""
    check_band(alpha, beta)
    ends = np.array([alpha, beta])
    vertex = np.searchsorted(curve.fpr, ends, "right") - 1
    beyond = (ends - curve.fpr[vertex]) * (curve.tpr[vertex] + tpr_at(curve, ends)) / 2
    area = _area_between(curve, *vertex.tolist()) + float(beyond[1] - beyond[0])
    # Rounding must not take a perfect ranking above its maximum.
    area = min(max(area, 0.0), beta - alpha)
    effective = None if curve.behind is None else curve.effective(alpha, beta)
    inside = _negatives_within(curve, alpha, beta)
    return PartialAUC(float(alpha), float(beta), area, inside, curve.rows[1], effective)


def _negatives_within(curve: Curve, low: float, high: float) -> int:
    """Count the negatives whose rank intervals meet a range; tied weighted rows are one piece."""
    if curve.behind is not None:
        start = max(0, int(np.searchsorted(curve.fpr, low, "right")) - 1)
        rows = curve.behind.fp
        return int(rows[np.searchsorted(curve.fpr, high, "left")] - rows[start])
    first, last = band_ranks(curve.negatives, low, high)
    return last - first + 1
