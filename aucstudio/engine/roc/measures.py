"""Summaries of a ROC curve: H-measure, AUCH, KS, Gini, EER.

Symbols: F, T the FPR and TPR of a vertex; pi0, pi1 the shares of negatives and of positives;
c the cost of a false positive as a share of the costs of both errors, u its density; skew the
number of negatives for each positive (times the cost of a false positive for each unit of that of
a false negative).

The measures of a point are ratios of two expressions linear in TPR and FPR, so that their
isometrics, the sets of points of equal value, are straight lines.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from aucstudio.engine.arrays import Array
from aucstudio.engine.roc.curve import RocCurve, auc_of, hull, partial_auc_of
from aucstudio.engine.roc.thresholds import check_costs


def ks(curve: RocCurve) -> float:
    """Return the greatest TPR - FPR: Kolmogorov and Smirnov's distance of the classes."""
    m, n = curve.positives, curve.negatives
    return float((curve.tp * n - curve.fp * m).max() / (m * n))


def equal_error_rate(curve: RocCurve) -> float:
    """Return the rate at which FPR and 1 - TPR are equal on the curve of straight segments."""
    m, n = curve.positives, curve.negatives
    surplus = curve.fp * m + curve.tp * n - m * n  # rises from -mn to mn along the curve
    after = int(np.argmax(surplus >= 0))
    here, there = surplus[after - 1].item(), surplus[after].item()
    left, right = curve.fp[after - 1].item(), curve.fp[after].item()
    return float((left * there - right * here) / ((there - here) * n))


def h_measure(curve: RocCurve) -> float:
    """Return the H-measure: the share of the expected loss of no knowledge that is saved.

    Each cost share c of a false positive gets its best threshold; the loss is averaged over
    c ~ Beta(2, 2), as in Hand (2009). 1 for a perfect ranking, 0 for the diagonal and for all
    below it. Swapping the classes and negating the score keeps the value.
    """
    m, n = curve.positives, curve.negatives
    pi1, pi0 = m / (m + n), n / (m + n)
    best = hull(curve)
    rise, run = np.diff(best.tp), np.diff(best.fp)
    bounds = np.concatenate([[1.0], rise / (rise + run), [0.0]])  # vertex k is best below k's
    of_fp, of_fn = _cost_moments(bounds)
    loss = (pi0 * best.fpr) @ -np.diff(of_fp) + (pi1 * (1 - best.tpr)) @ -np.diff(of_fn)
    fp_below, fn_below = _cost_moments(np.array([pi1, 1.0]))
    worst = pi0 * fp_below[0] + pi1 * (fn_below[1] - fn_below[0])
    return float(1 - loss / worst)


def _cost_moments(bounds: Array) -> tuple[Array, Array]:
    """Integrate c u(c) and (1 - c) u(c) from 0 to each bound, u the density of Beta(2, 2)."""
    return scipy.special.betainc(3, 2, bounds) / 2, scipy.special.betainc(2, 3, bounds) / 2


def describe(curve: RocCurve, band: tuple[float, float]) -> dict[str, float]:
    """Return every scalar measure of a curve.

    Returns
    -------
    dict
        ``auc``, ``gini`` (2 AUC - 1); of the FPR range ``band`` ``pauc`` (the area itself),
        ``pauc_normalized``, ``pauc_mcclish``, ``pauc_negatives`` (how many decide it); ``auch``,
        ``h`` (Beta(2, 2)), ``ks``, ``eer``, ``ap``.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1.
    """
    area, over_band, cover = auc_of(curve), partial_auc_of(curve, *band), hull(curve)
    return {
        "auc": area,
        "gini": 2 * area - 1,
        "pauc": over_band.raw,
        "pauc_normalized": over_band.normalized,
        "pauc_mcclish": over_band.mcclish,
        "pauc_negatives": float(over_band.negatives),
        "auch": auc_of(cover),
        "h": h_measure(cover),
        "ks": ks(cover),
        "eer": equal_error_rate(curve),
        "ap": average_precision(curve),
    }


def cost_curve(curve: RocCurve) -> tuple[Array, Array]:
    """Return the least expected cost that any vertex reaches, at every mix of classes and costs.

    Source: Drummond and Holte (2006). The cost is straight between the returned points, which
    are where the best vertex changes.

    Returns
    -------
    probability_cost : ndarray, ascending from 0 to 1
        Share of the cost that the positives could cause: cost_fn pi1 / (cost_fn pi1 + cost_fp pi0).
    cost : ndarray
        Expected cost as a share of that of getting every row wrong; without knowledge it is
        the smaller of probability_cost and 1 - probability_cost.
    """
    best = hull(curve)
    rise, run = np.diff(best.tpr), np.diff(best.fpr)
    mix = np.concatenate([[0.0], run / (rise + run), [1.0]])
    fpr, fnr = np.append(best.fpr, 1.0), np.append(1 - best.tpr, 0.0)
    return mix, mix * fnr + (1 - mix) * fpr


def gain(curve: RocCurve) -> tuple[Array, Array]:
    """Return the share of rows predicted positive, and the share of the positives among them."""
    return (curve.tp + curve.fp) / (curve.positives + curve.negatives), curve.tpr


def lift(curve: RocCurve) -> tuple[Array, Array]:
    """Return the share of rows predicted positive, and how many times richer in positives they are.

    Starts at the first group of rows: no rows have no lift.
    """
    rows, found = gain(curve)
    return rows[1:], found[1:] / rows[1:]


def precision_recall(curve: RocCurve) -> tuple[Array, Array]:
    """Return the precision-recall curve at each vertex, in ascending recall.

    At no predicted positives precision is undefined: the first point repeats that of the next,
    which is its limit. Between points it is the counts that run straight, not the precision.

    Returns
    -------
    recall, precision : ndarray of shape (n_vertices,)
    """
    precision = curve.tp[1:] / (curve.tp[1:] + curve.fp[1:])
    return curve.tpr, np.append(precision[:1], precision)


def average_precision(curve: RocCurve) -> float:
    """Return the mean over the positives of the precision at their scores, as steps."""
    _, precision = precision_recall(curve)
    return float(np.diff(curve.tp) @ precision[1:] / curve.positives)


Linear = tuple[float, float, float]  # constant, factor of tp, factor of fp


@dataclasses.dataclass(frozen=True)
class Line:
    """The points of ROC space with constant + of_tpr * tpr + of_fpr * fpr = 0."""

    constant: float
    of_tpr: float
    of_fpr: float

    @property
    def slope(self) -> float:
        """Rise of the TPR for each unit of FPR; infinite for an upright line."""
        return -self.of_fpr / self.of_tpr if self.of_tpr else math.inf

    @property
    def intercept(self) -> float:
        """TPR at an FPR of 0; NaN for an upright line."""
        return -self.constant / self.of_tpr if self.of_tpr else math.nan

    def segment(self) -> tuple[Array, Array]:
        """Return the FPRs and the TPRs of the two ends of its part inside the unit square.

        They run from left to right, and are empty where the line misses the square.
        """
        corners = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
        height = self.constant + corners @ np.array([self.of_fpr, self.of_tpr])
        here, there = height[:-1], height[1:]
        crossed = (here != there) & (np.minimum(here, there) <= 0) & (np.maximum(here, there) >= 0)
        if not crossed.any():
            return np.empty(0), np.empty(0)
        share = (here[crossed] / (here - there)[crossed])[:, None]
        points = corners[:-1][crossed] * (1 - share) + corners[1:][crossed] * share
        order = np.lexsort((points[:, 1], points[:, 0]))
        fpr, tpr = points[order[[0, -1]]].T
        return fpr, tpr


@dataclasses.dataclass(frozen=True)
class PointMeasure:
    """A function of (tpr, fpr, skew) that is a ratio of two linear expressions in tpr and fpr.

    Attributes
    ----------
    name : str
    over, under : callable
        From the skew to the coefficients (constant, of tpr, of fpr) of either expression.
    """

    name: str
    over: Callable[[float], Linear]
    under: Callable[[float], Linear]

    def __call__(self, tpr: ArrayLike, fpr: ArrayLike, skew: float) -> Array:
        """Compute the measure, elementwise; NaN where it is undefined.

        Raises
        ------
        ValueError
            Unless the skew is a positive number.
        """
        _check_skew(skew)
        over, under = _value(self.over(skew), tpr, fpr), _value(self.under(skew), tpr, fpr)
        undefined = np.full(np.broadcast(over, under).shape, np.nan)
        return np.asarray(np.divide(over, under, out=undefined, where=under != 0))

    def isometric(self, value: float, skew: float) -> Line:
        """Return the line on which the measure has a value; it may miss the unit square.

        Raises
        ------
        ValueError
            Unless the skew is a positive number, and where no point has the value.
        """
        _check_skew(skew)
        line = Line(
            *(o - value * u for o, u in zip(self.over(skew), self.under(skew), strict=True))
        )
        if not math.isfinite(value) or line.of_tpr == line.of_fpr == 0:
            raise ValueError(f"No point of ROC space has the {self.name} {value}.")
        return line

    def through(self, tpr: float, fpr: float, skew: float) -> Line:
        """Return the isometric through a point.

        Raises
        ------
        ValueError
            Unless the skew is a positive number, and where the measure is undefined.
        """
        return self.isometric(float(self(tpr, fpr, skew)), skew)


def _value(form: Linear, tpr: ArrayLike, fpr: ArrayLike) -> Array:
    return form[0] + form[1] * np.asarray(tpr, np.float64) + form[2] * np.asarray(fpr, np.float64)


def _check_skew(skew: float) -> None:
    if not 0 < skew < math.inf:
        raise ValueError(f"The skew must be a positive number; it is {skew}.")


# ROC-SVM paper, Table 1.
accuracy = PointMeasure("accuracy", lambda c: (c, 1.0, -c), lambda c: (1 + c, 0.0, 0.0))
precision = PointMeasure("precision", lambda c: (0.0, 1.0, 0.0), lambda c: (0.0, 1.0, c))
f_measure = PointMeasure("F-measure", lambda c: (0.0, 2.0, 0.0), lambda c: (1.0, 1.0, c))
weighted_relative_accuracy = PointMeasure(
    "weighted relative accuracy",
    lambda c: (0.0, 4 * c, -4 * c),
    lambda c: ((1 + c) ** 2, 0.0, 0.0),
)


def skew_of(prior: float, cost_fp: float = 1.0, cost_fn: float = 1.0) -> float:
    """Compute the skew cost_fp (1 - prior) / (cost_fn prior), prior the share of positives.

    It is the slope of the lines of equal expected cost, which are the isometrics of accuracy.

    Raises
    ------
    ValueError
        If a cost is not a positive number, or the prior not strictly between 0 and 1.
    """
    check_costs(prior, cost_fp, cost_fn)
    return cost_fp * (1 - prior) / (cost_fn * prior)


def cost_line(
    tpr: float, fpr: float, prior: float, cost_fp: float = 1.0, cost_fn: float = 1.0
) -> Line:
    """Return the line through a point on which the expected cost is the same as there.

    Raises
    ------
    ValueError
        For what :func:`skew_of` refuses.
    """
    return accuracy.through(tpr, fpr, skew_of(prior, cost_fp, cost_fn))
