"""One-number summaries of a ROC curve beside its areas: H, AUCH, KS, Gini, EER, and all at once.

Symbols: F, T the FPR and TPR of a vertex; pi0, pi1 the shares of negatives and of positives;
c the cost of a false positive as a share of the costs of both errors, u its density.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import scipy
from numpy.typing import ArrayLike

from aucstudio.engine.roc.area import auc, auc_of
from aucstudio.engine.roc.curve import Curve, roc_curve
from aucstudio.engine.roc.geometry import hull
from aucstudio.engine.roc.partial import partial_auc_of
from aucstudio.engine.roc.precision_recall import average_precision_of
from aucstudio.engine.roc.thresholds import cut_at, youden_vertex
from aucstudio.engine.types import Array


@dataclasses.dataclass(frozen=True)
class KolmogorovSmirnov:
    """The point of a curve that lies highest above the diagonal.

    Attributes
    ----------
    value : float
        TPR - FPR there: the Kolmogorov-Smirnov distance of the classes, Youden's J.
    fpr, tpr : float
    threshold : float
        Predicting positive where score > threshold gives these rates.
    """

    value: float
    fpr: float
    tpr: float
    threshold: float


def gini(y: ArrayLike, score: ArrayLike, *, positive: object = None) -> float:
    """Compute the Gini coefficient, 2 AUC - 1: 0 for chance, 1 for perfect.

    Raises
    ------
    ValueError
        For input that :func:`split_scores` refuses.
    """
    return 2 * auc(y, score, positive=positive) - 1


def auch(y: ArrayLike, score: ArrayLike, *, positive: object = None) -> float:
    """Compute the area under the convex hull of the curve, from exact counts.

    Raises
    ------
    ValueError
        For input that :func:`split_scores` refuses.
    """
    return auch_of(roc_curve(y, score, positive=positive))


def auch_of(curve: Curve) -> float:
    """Compute what :func:`auch` does from a curve."""
    return auc_of(hull(curve))


def ks(y: ArrayLike, score: ArrayLike, *, positive: object = None) -> KolmogorovSmirnov:
    """Find the greatest TPR - FPR, and where it is; of several places that of the lowest FPR.

    Raises
    ------
    ValueError
        For input that :func:`split_scores` refuses.
    """
    return ks_of(roc_curve(y, score, positive=positive))


def ks_of(curve: Curve) -> KolmogorovSmirnov:
    """Do what :func:`ks` does from a curve with all its vertices."""
    m, n = curve.positives, curve.negatives
    vertex = youden_vertex(curve)
    tp, fp = curve.tp[vertex].item(), curve.fp[vertex].item()
    value = (tp * n - fp * m) / (m * n)
    return KolmogorovSmirnov(value, fp / n, tp / m, cut_at(curve, vertex))


def equal_error_rate(y: ArrayLike, score: ArrayLike, *, positive: object = None) -> float:
    """Compute the rate at which FPR and 1 - TPR are equal on the curve of straight segments.

    Raises
    ------
    ValueError
        For input that :func:`split_scores` refuses.
    """
    return equal_error_rate_of(roc_curve(y, score, positive=positive))


def equal_error_rate_of(curve: Curve) -> float:
    """Compute what :func:`equal_error_rate` does from a curve."""
    m, n = curve.positives, curve.negatives
    surplus = curve.fp * m + curve.tp * n - m * n  # rises from -mn to mn along the curve
    after = int(np.argmax(surplus >= 0))
    here, there = surplus[after - 1].item(), surplus[after].item()
    left, right = curve.fp[after - 1].item(), curve.fp[after].item()
    return float((left * there - right * here) / ((there - here) * n))


def h_measure(
    y: ArrayLike,
    score: ArrayLike,
    costs: tuple[float, float] | None = (2.0, 2.0),
    *,
    positive: object = None,
) -> float:
    """Compute the H-measure: the share of the expected loss of no knowledge that is saved.

    Each cost share c of a false positive gets its best threshold; the loss is averaged over
    c ~ Beta(costs). 1 for a perfect ranking, 0 for the diagonal and for all below it. Swapping
    the classes and negating the score keeps the value if the two numbers of costs swap too.

    Parameters
    ----------
    y, score : array-like of shape (n_rows,)
    costs : (a, b) or None
        Beta(2, 2) by default, as in Hand (2009); None means Beta(1 + pi1, 1 + pi0) as in Hand
        and Anagnostopoulos (2014), whose mode is where an error costs each class the same.

    Raises
    ------
    ValueError
        Unless a and b are positive, and for input that :func:`split_scores` refuses.
    """
    return h_measure_of(roc_curve(y, score, positive=positive), costs)


def h_measure_of(curve: Curve, costs: tuple[float, float] | None = (2.0, 2.0)) -> float:
    """Compute what :func:`h_measure` does from a curve."""
    m, n = curve.positives, curve.negatives
    pi1, pi0 = m / (m + n), n / (m + n)
    a, b = (1 + pi1, 1 + pi0) if costs is None else costs
    if not (0 < a < np.inf and 0 < b < np.inf):
        raise ValueError(f"The two numbers of the cost distribution must be positive, not {costs}.")
    best = hull(curve)
    rise, run = np.diff(best.tp), np.diff(best.fp)
    bounds = np.concatenate([[1.0], rise / (rise + run), [0.0]])  # vertex k is best below k's
    of_fp, of_fn = _cost_moments(bounds, a, b)
    loss = (pi0 * best.fpr) @ -np.diff(of_fp) + (pi1 * (1 - best.tpr)) @ -np.diff(of_fn)
    fp_below, fn_below = _cost_moments(np.array([pi1, 1.0]), a, b)
    worst = pi0 * fp_below[0] + pi1 * (fn_below[1] - fn_below[0])
    return float(1 - loss / worst)


def _cost_moments(bounds: Array, a: float, b: float) -> tuple[Array, Array]:
    """Integrate c u(c) and (1 - c) u(c) from 0 to each bound, u the density of Beta(a, b)."""
    return a / (a + b) * scipy.special.betainc(a + 1, b, bounds), b / (
        a + b
    ) * scipy.special.betainc(a, b + 1, bounds)


def describe(
    y: ArrayLike, score: ArrayLike, band: tuple[float, float], *, positive: object = None
) -> dict[str, float]:
    """Compute every scalar measure of a table, with one sort of its scores.

    Returns
    -------
    dict
        ``auc``, ``gini``; of the FPR range ``band`` ``pauc`` (the area itself),
        ``pauc_normalized``, ``pauc_mcclish``, ``pauc_negatives`` (how many decide it); ``auch``,
        ``h`` (Beta(2, 2)), ``ks``, ``eer``, ``ap``.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1, and for input that :func:`split_scores` refuses.
    """
    return describe_of(roc_curve(y, score, positive=positive), band)


def describe_of(curve: Curve, band: tuple[float, float]) -> dict[str, float]:
    """Compute what :func:`describe` does from a curve."""
    area, over_band, cover = auc_of(curve), partial_auc_of(curve, *band), hull(curve)
    return {
        "auc": area,
        "gini": 2 * area - 1,
        "pauc": over_band.raw,
        "pauc_normalized": over_band.normalized,
        "pauc_mcclish": over_band.mcclish,
        "pauc_negatives": float(over_band.negatives),
        "auch": auc_of(cover),
        "h": h_measure_of(cover),
        "ks": ks_of(cover).value,
        "eer": equal_error_rate_of(curve),
        "ap": average_precision_of(curve),
    }
