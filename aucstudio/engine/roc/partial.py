"""The partial area under the ROC curve over a range of FPR.

Symbols: [alpha, beta] the range of FPR; T(x) the TPR of the curve at the FPR x.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.roc.area import doubled_areas
from aucstudio.engine.roc.band import band_coverage, band_ranks, check_band
from aucstudio.engine.roc.curve import Curve, roc_curve
from aucstudio.engine.roc.geometry import tpr_at


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
    *,
    positive: object = None,
    weights: ArrayLike | None = None,
) -> PartialAUC:
    """Compute the trapezoid area over alpha <= FPR <= beta, exact at interpolated ends.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1, and for input that :func:`split_scores` refuses.
    """
    check_band(alpha, beta)
    return partial_auc_of(roc_curve(y, score, positive=positive, weights=weights), alpha, beta)


def partial_auc_of(curve: Curve, alpha: float = 0.0, beta: float = 1.0) -> PartialAUC:
    """Compute what :func:`partial_auc` does from a curve."""
    check_band(alpha, beta)
    area, n = _area(curve, alpha, beta), curve.rows[1]
    effective = None if curve.behind is None else curve.effective(alpha, beta)
    rows = _negatives_within(curve, alpha, beta)
    return PartialAUC(float(alpha), float(beta), area, rows, n, effective)


def _negatives_within(curve: Curve, low: float, high: float) -> int:
    """Count the negatives whose rank intervals meet a range; tied weighted rows are one piece."""
    if curve.behind is not None:
        start = max(0, int(np.searchsorted(curve.fpr, low, "right")) - 1)
        rows = curve.behind.fp
        return int(rows[np.searchsorted(curve.fpr, high, "left")] - rows[start])
    first, last = band_ranks(curve.negatives, low, high)
    return last - first + 1


def _area(curve: Curve, alpha: float, beta: float) -> float:
    ends = np.array([alpha, beta])
    vertex = np.searchsorted(curve.fpr, ends, "right") - 1
    areas = doubled_areas(curve)[vertex] / (2 * curve.positives * curve.negatives)
    heights = curve.tpr[vertex] + tpr_at(curve, ends)
    areas += (ends - curve.fpr[vertex]) * heights / 2
    # Rounding must not take a perfect ranking above its maximum.
    return min(max(float(areas[1] - areas[0]), 0.0), beta - alpha)
