"""Measures of a point in ROC space at a class skew, and the lines on which they are constant.

Symbols: tp, fp the true and false positive rates; c the skew, the number of negatives for each
positive (times the cost of a false positive for each unit of that of a false negative).

Each of them is a ratio of two expressions linear in tp and fp, so that its isometrics, the sets
of points of equal value, are straight lines.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.roc.thresholds import check_costs
from aucstudio.engine.types import Array

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
