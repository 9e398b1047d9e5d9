"""The precision-recall curve of a ROC curve, and its average precision."""

from __future__ import annotations

import numpy as np

from aucstudio.engine.roc.curve import Curve
from aucstudio.engine.types import Array


def precision_recall(curve: Curve) -> tuple[Array, Array]:
    """Return the precision-recall curve at each vertex, in ascending recall.

    At no predicted positives precision is undefined: the first point repeats that of the next,
    which is its limit. Between points it is the counts that run straight, not the precision.

    Returns
    -------
    recall, precision : ndarray of shape (n_vertices,)
    """
    precision = curve.tp[1:] / (curve.tp[1:] + curve.fp[1:])
    return curve.tpr, np.append(precision[:1], precision)


def average_precision(curve: Curve) -> float:
    """Return the mean over the positives of the precision at their scores, as steps."""
    _, precision = precision_recall(curve)
    return float(np.diff(curve.tp) @ precision[1:] / curve.positives)
