"""The precision-recall curve of a ROC curve, its average precision and its exact area."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.roc.curve import Curve, roc_curve
from aucstudio.engine.types import Array


def precision_recall(curve: Curve) -> tuple[Array, Array]:
    """Give the precision-recall curve at each vertex, in ascending recall.

    At no predicted positives precision is undefined: the first point repeats that of the next,
    which is its limit. Between points it is the counts that run straight, not the precision.

    Returns
    -------
    recall, precision : ndarray of shape (n_vertices,)
    """
    precision = curve.tp[1:] / (curve.tp[1:] + curve.fp[1:])
    return curve.tpr, np.append(precision[:1], precision)


def average_precision(y: ArrayLike, score: ArrayLike, *, positive: object = None) -> float:
    """Compute the mean over the positives of the precision at their scores, as steps.

    Raises
    ------
    ValueError
        For input that :func:`split_scores` refuses.
    """
    return average_precision_of(roc_curve(y, score, positive=positive))


def average_precision_of(curve: Curve) -> float:
    """Compute what :func:`average_precision` does from a curve with all its vertices."""
    _, precision = precision_recall(curve)
    return float(np.diff(curve.tp) @ precision[1:] / curve.positives)


def precision_recall_area(y: ArrayLike, score: ArrayLike, *, positive: object = None) -> float:
    """Compute the area under the precision-recall curve with counts interpolated, exactly.

    Each segment runs straight in ROC space, so TP / (TP + FP) is a ratio of linear functions of
    TP there, whose integral has a closed form.

    Source: Davis and Goadrich (2006) for the interpolation.

    Raises
    ------
    ValueError
        For input that :func:`split_scores` refuses.
    """
    return precision_recall_area_of(roc_curve(y, score, positive=positive))


def precision_recall_area_of(curve: Curve) -> float:
    """Compute what :func:`precision_recall_area` does from a curve."""
    corners = curve.corners()
    tp, fp = corners.tp, corners.fp
    rise, chosen = np.diff(tp), np.diff(tp + fp)
    before = np.append(1, (tp + fp)[1:-1])  # 0 at the first vertex, where offset is 0
    offset = fp[:-1] * rise - np.diff(fp) * tp[:-1]  # 0 on lines through the origin
    areas = rise / chosen * (rise - offset / chosen * np.log1p(chosen / before))
    return float(areas.sum() / curve.positives)
