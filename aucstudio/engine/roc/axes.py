"""The ROC curve on other axes: cost curve, gain and lift."""

from __future__ import annotations

import numpy as np

from aucstudio.engine.roc.curve import Curve
from aucstudio.engine.roc.geometry import hull
from aucstudio.engine.types import Array


def cost_curve(curve: Curve) -> tuple[Array, Array]:
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


def gain(curve: Curve) -> tuple[Array, Array]:
    """Return the share of rows predicted positive, and the share of the positives among them."""
    return (curve.tp + curve.fp) / (curve.positives + curve.negatives), curve.tpr


def lift(curve: Curve) -> tuple[Array, Array]:
    """Return the share of rows predicted positive, and how many times richer in positives they are.

    Starts at the first group of rows: no rows have no lift.
    """
    rows, found = gain(curve)
    return rows[1:], found[1:] / rows[1:]
