"""The precision-recall curve of a ROC curve, and its average precision."""

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
