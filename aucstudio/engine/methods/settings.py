"""Settings that several methods share."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Mask
from aucstudio.engine.features import rows_for_mean, shift_for_digits
from aucstudio.engine.params import param

MOST_LEVELS = 255  # of a feature in scikit-learn's histogram boosting


def is_weighing(value: Any) -> bool:
    """Return whether it maps classes to positive weights, which scripts may give."""
    return isinstance(value, Mapping) and all(
        isinstance(weight, Real) and 0 < float(weight) < math.inf for weight in value.values()
    )


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ClassWeightSettings:
    """The class weights, in scikit-learn's convention."""

    class_weight: str | Mapping[Any, float] | None = param(None, also=is_weighing)

    def weigh(self, classes: NDArray[Any], positive: Mask, each: Array | None = None) -> Array:
        """Return the weights of the negative and of the positive class, shape (2,).

        Where rows weigh ``each`` something themselves, balance is between their sums.
        """
        from sklearn.utils.class_weight import compute_class_weight

        if self.class_weight is None:
            return np.ones(2)
        labels = classes[positive.astype(int)]
        more = {} if each is None else {"sample_weight": each}
        weights: Array = compute_class_weight(self.class_weight, classes=classes, y=labels, **more)
        return weights

    def weigh_rows(self, classes: NDArray[Any], positive: Mask, each: Array | None = None) -> Array:
        """Return the weights of all rows: those of their classes times their own."""
        weights: Array = self.weigh(classes, positive, each)[positive.astype(int)]
        return weights if each is None else weights * each


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class BaselineSettings(ClassWeightSettings):
    """The settings that scikit-learn's own SVM and logistic regression share."""

    C: float = param(1.0, "rows")


def centre_of(X: Array) -> Array:
    """Return the mean of the rows where measuring from there saves digits, else 0.

    Sparse rows would not stay sparse about it.
    """
    few = None if scipy.sparse.issparse(X) else shift_for_digits(X[rows_for_mean(len(X))])
    return np.zeros(X.shape[1]) if few is None else X.mean(axis=0)
