"""One-number summaries of a ROC curve beside its areas: H, AUCH, KS, Gini, EER, and all at once.

Symbols: F, T the FPR and TPR of a vertex; pi0, pi1 the shares of negatives and of positives;
c the cost of a false positive as a share of the costs of both errors, u its density.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import scipy

from aucstudio.engine.roc.area import auc_of
from aucstudio.engine.roc.curve import Curve
from aucstudio.engine.roc.geometry import hull
from aucstudio.engine.roc.partial import partial_auc_of
from aucstudio.engine.roc.precision_recall import average_precision
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


def auch(curve: Curve) -> float:
    """Return the area under the convex hull of the curve, from exact counts."""
    return auc_of(hull(curve))


def ks(curve: Curve) -> KolmogorovSmirnov:
    """Return the greatest TPR - FPR and its place; of several places that of the lowest FPR."""
    m, n = curve.positives, curve.negatives
    vertex = youden_vertex(curve)
    tp, fp = curve.tp[vertex].item(), curve.fp[vertex].item()
    value = (tp * n - fp * m) / (m * n)
    return KolmogorovSmirnov(value, fp / n, tp / m, cut_at(curve, vertex))


def equal_error_rate(curve: Curve) -> float:
    """Return the rate at which FPR and 1 - TPR are equal on the curve of straight segments."""
    m, n = curve.positives, curve.negatives
    surplus = curve.fp * m + curve.tp * n - m * n  # rises from -mn to mn along the curve
    after = int(np.argmax(surplus >= 0))
    here, there = surplus[after - 1].item(), surplus[after].item()
    left, right = curve.fp[after - 1].item(), curve.fp[after].item()
    return float((left * there - right * here) / ((there - here) * n))


def h_measure(curve: Curve, costs: tuple[float, float] | None = (2.0, 2.0)) -> float:
    """Return the H-measure: the share of the expected loss of no knowledge that is saved.

    Each cost share c of a false positive gets its best threshold; the loss is averaged over
    c ~ Beta(costs). 1 for a perfect ranking, 0 for the diagonal and for all below it. Swapping
    the classes and negating the score keeps the value if the two numbers of costs swap too.

    Parameters
    ----------
    curve : Curve
    costs : (a, b) or None
        Beta(2, 2) by default, as in Hand (2009); None means Beta(1 + pi1, 1 + pi0) as in Hand
        and Anagnostopoulos (2014), whose mode is where an error costs each class the same.

    Raises
    ------
    ValueError
        Unless a and b are positive.
    """
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


def describe(curve: Curve, band: tuple[float, float]) -> dict[str, float]:
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
        "ks": ks(cover).value,
        "eer": equal_error_rate(curve),
        "ap": average_precision(curve),
    }
