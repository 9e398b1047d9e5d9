"""Partial areas under the ROC curve: over a range of FPR, over a range of TPR, and over both.

Symbols: [alpha, beta] the range of FPR, [low, high] that of TPR; T(x) the TPR of the curve at the
FPR x, F(t) its FPR at the TPR t.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine.roc.area import doubled_areas
from aucstudio.engine.roc.band import band_coverage, band_ranks, check_band
from aucstudio.engine.roc.curve import Curve, roc_curve
from aucstudio.engine.roc.geometry import fpr_at, reflect, tpr_at
from aucstudio.engine.types import Array


class _Scales(ABC):
    """The scales on which an area is reported."""

    raw: float

    @property
    @abstractmethod
    def maximum(self) -> float:
        """Area of a perfect ranking."""

    @property
    @abstractmethod
    def chance(self) -> float:
        """Area of the diagonal."""

    @property
    def normalized(self) -> float:
        """Share of the maximum; over a range of FPR the mean TPR, as SVM-pAUC reports it."""
        return self.raw / self.maximum

    @property
    def mcclish(self) -> float:
        """McClish's scale: 1/2 for chance, 1 for perfect; less than 1/2 below the diagonal."""
        return (1 + (self.raw - self.chance) / (self.maximum - self.chance)) / 2


@dataclasses.dataclass(frozen=True)
class PartialAUC(_Scales):
    """Area under the curve over the band alpha <= FPR <= beta.

    Attributes
    ----------
    alpha, beta : float
    raw : float
        The area itself, the integral of T from alpha to beta.
    negatives : int
        How many negatives decide it: those whose rank interval meets the band.
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
        return self.beta - self.alpha

    @property
    def chance(self) -> float:
        return (self.beta**2 - self.alpha**2) / 2

    def coverage(self) -> str:
        """Say how many negatives the band covers."""
        if self.effective is not None:
            band = band_coverage("FPR", self.alpha, self.beta, 1, "").partition(" covers")[0]
            rows = f"{self.negatives:,} negative{'' if self.negatives == 1 else 's'}"
            return f"{band} covers {rows}, whose weights say as much as {self.effective:.3g}"
        return band_coverage("FPR", self.alpha, self.beta, self.of_negatives, "negative")


@dataclasses.dataclass(frozen=True)
class PartialAUCByTPR(_Scales):
    """Area on the right of the curve over the band low <= TPR <= high.

    Attributes
    ----------
    low, high : float
    raw : float
        The area itself, the integral of 1 - F from low to high.
    positives : int
        How many positives decide it: those whose rank interval meets the band.
    of_positives : int
        How many there are.
    """

    low: float
    high: float
    raw: float
    positives: int
    of_positives: int

    @property
    def maximum(self) -> float:
        return self.high - self.low

    @property
    def chance(self) -> float:
        return (self.high - self.low) * (2 - self.low - self.high) / 2

    def coverage(self) -> str:
        """Say how many positives the band covers."""
        return band_coverage("TPR", self.low, self.high, self.of_positives, "positive")


@dataclasses.dataclass(frozen=True)
class TwoWayPartialAUC(_Scales):
    """Area under the curve where both FPR <= max_fpr and TPR >= min_tpr.

    Attributes
    ----------
    max_fpr, min_tpr : float
    raw : float
        The area itself, the integral of max(T - min_tpr, 0) from 0 to max_fpr.
    negatives, positives : int
        How many of each class decide it: those whose rank intervals meet the region.
    of_negatives, of_positives : int
        How many there are.
    """

    max_fpr: float
    min_tpr: float
    raw: float
    negatives: int
    positives: int
    of_negatives: int
    of_positives: int

    @property
    def maximum(self) -> float:
        return self.max_fpr * (1 - self.min_tpr)

    @property
    def chance(self) -> float:
        return max(self.max_fpr - self.min_tpr, 0.0) ** 2 / 2

    def coverage(self) -> str:
        """Say how many rows of each class the region covers."""
        of_fpr = band_coverage("FPR", 0.0, self.max_fpr, self.of_negatives, "negative")
        of_tpr = band_coverage("TPR", self.min_tpr, 1.0, self.of_positives, "positive")
        return f"{of_fpr}, {of_tpr}"


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


def partial_auc_by_tpr(
    y: ArrayLike, score: ArrayLike, low: float, high: float = 1.0, *, positive: object = None
) -> PartialAUCByTPR:
    """Compute the area on the right of the curve over low <= TPR <= high.

    With high = 1 it is the area of high sensitivity: above TPR = low and under the curve. It
    equals the area by FPR of the curve mirrored at the falling diagonal, where the classes swap
    roles.

    Source: Jiang, Metz and Nishikawa (1996); any range as in the R package pROC.

    Raises
    ------
    ValueError
        Unless 0 <= low < high <= 1, and for input that :func:`split_scores` refuses.
    """
    check_band(low, high, "TPR")
    return partial_auc_by_tpr_of(roc_curve(y, score, positive=positive), low, high)


def partial_auc_by_tpr_of(curve: Curve, low: float, high: float = 1.0) -> PartialAUCByTPR:
    """Compute what :func:`partial_auc_by_tpr` does from a curve."""
    check_band(low, high, "TPR")
    m = curve.rows[0]
    rows = _positives_within(curve, low, high)
    raw = min(_area(reflect(curve), 1 - high, 1 - low), high - low)
    return PartialAUCByTPR(float(low), float(high), raw, rows, m)


def two_way_partial_auc(
    y: ArrayLike, score: ArrayLike, max_fpr: float, min_tpr: float, *, positive: object = None
) -> TwoWayPartialAUC:
    """Compute the area under the curve above TPR = min_tpr and left of FPR = max_fpr.

    Source: Yang, Lu, Lyu and Hu (2019), two-way partial AUC.

    Raises
    ------
    ValueError
        Unless 0 < max_fpr <= 1 and 0 <= min_tpr < 1, and for input that :func:`split_scores`
        refuses.
    """
    _check_corner(max_fpr, min_tpr)
    return two_way_partial_auc_of(roc_curve(y, score, positive=positive), max_fpr, min_tpr)


def two_way_partial_auc_of(curve: Curve, max_fpr: float, min_tpr: float) -> TwoWayPartialAUC:
    """Compute what :func:`two_way_partial_auc` does from a curve."""
    _check_corner(max_fpr, min_tpr)
    m, n = curve.rows
    start, raw = float(fpr_at(curve, min_tpr)), 0.0
    if start < max_fpr:
        under = _area(curve, start, max_fpr) - min_tpr * (max_fpr - start)
        raw = min(max(under, 0.0), max_fpr * (1 - min_tpr))
    negatives = _negatives_within(curve, 0.0, max_fpr)
    positives = _positives_within(curve, min_tpr, 1.0)
    return TwoWayPartialAUC(float(max_fpr), float(min_tpr), raw, negatives, positives, n, m)


def _check_corner(max_fpr: float, min_tpr: float) -> None:
    check_band(0.0, max_fpr)
    check_band(min_tpr, 1.0, "TPR")


def _negatives_within(curve: Curve, low: float, high: float) -> int:
    """Count the negatives whose rank intervals meet a range; tied weighted rows are one piece."""
    if curve.behind is not None:
        return _rows_between(curve.fpr, curve.behind.fp, low, high)
    first, last = band_ranks(curve.negatives, low, high)
    return last - first + 1


def _positives_within(curve: Curve, low: float, high: float) -> int:
    """Count the positives likewise."""
    if curve.behind is not None:
        return _rows_between(curve.tpr, curve.behind.tp, low, high)
    first, last = band_ranks(curve.positives, low, high)
    return last - first + 1


def _rows_between(rate: Array, rows: NDArray[np.int64], low: float, high: float) -> int:
    start = max(0, int(np.searchsorted(rate, low, "right")) - 1)
    return int(rows[np.searchsorted(rate, high, "left")] - rows[start])


def _area(curve: Curve, alpha: float, beta: float) -> float:
    ends = np.array([alpha, beta])
    vertex = np.searchsorted(curve.fpr, ends, "right") - 1
    areas = doubled_areas(curve)[vertex] / (2 * curve.positives * curve.negatives)
    heights = curve.tpr[vertex] + tpr_at(curve, ends)
    areas += (ends - curve.fpr[vertex]) * heights / 2
    # Rounding must not take a perfect ranking above its maximum.
    return min(max(float(areas[1] - areas[0]), 0.0), beta - alpha)
