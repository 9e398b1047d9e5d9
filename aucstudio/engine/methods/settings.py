"""Settings that several methods share."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.features.maps import rows_for_mean, shift_for_digits
from aucstudio.engine.params import InvalidSetting, Param, param
from aucstudio.engine.types import Array, Mask

Range = tuple[float, float]


POSITIVE: dict[str, Any] = {"low": 0.0, "low_open": True, "log": True}
COUNTS = (50, 100, 200, 400, 800, 1_600)
"Numbers of features that a search tries."

_PAIR_LOSS = "Weight of the mean pair loss against the size of the weights."


def cost(default: float, powers: Iterable[int], help: str = _PAIR_LOSS) -> Any:  # noqa: A002
    """Declare ``C``, the weight of a loss, with the powers of ten that a search tries."""
    grid = tuple(10.0**k for k in powers)
    return param(default, help, label="Cost", symbol="C", grid=grid, **POSITIVE)


def regularization(default: float, loss: str, grid: Iterable[float], **bounds: Any) -> Any:
    """Declare ``regularization``, the weight of |w|² against a mean loss."""
    return param(
        default,
        f"Weight of |w|² against the mean {loss}; larger is smoother.",
        label="Regularisation",
        symbol="λ",
        grid=tuple(grid),
        **{"low": 0.0, "log": True, **bounds},
    )


def landmark_count(**more: Any) -> Any:
    """Declare ``n_landmarks``, the number of cluster centres."""
    return param(
        400,
        "Cluster centres that approximate the kernel of all rows.",
        unit="rows",
        label="Landmarks",
        symbol="v",
        low=1,
        high=2_000,
        log=True,
        grid=COUNTS,
        **more,
    )


def tolerance(default: float) -> Any:
    """Declare ``tol``, how near to its optimum the objective has to come."""
    return param(
        default,
        "Relative distance to the optimal objective at which training stops.",
        unit="shares of the objective",
        label="Tolerance",
        symbol="ε",
        low=0.0,
        low_open=True,
        high=0.1,
        log=True,
    )


def counted_range() -> Any:
    """Declare ``fpr_range``, the false-positive rates between which an area counts."""
    return param(
        (0.0, 0.1),
        "Range of false-positive rates whose area is maximised.",
        unit="shares of the negatives",
        label="FPR range",
        symbol="[α, β]",
        kind="range",
        low=0.0,
        high=1.0,
    )


def widening(asked: Range) -> Iterator[Range]:
    """List the range asked for and then [0, 2 beta], [0, 4 beta], ... up to [0, 1]."""
    yield asked
    alpha, beta = asked
    while (alpha, beta) != (0.0, 1.0):
        alpha, beta = 0.0, min(1.0, 2 * beta)
        yield alpha, beta


MOST_LEVELS = 255  # of a feature in scikit-learn's histogram boosting


@dataclasses.dataclass(frozen=True)
class ClassWeight(Param):
    """Class weights: a choice by word or, from scripts, a mapping of class to positive weight."""

    def check(self, value: Any) -> None:
        """Raise :class:`InvalidSetting` unless the setting can hold ``value``."""
        if not isinstance(value, Mapping):
            super().check(value)
        elif not all(isinstance(w, Real) and 0 < float(w) < math.inf for w in value.values()):
            raise InvalidSetting(self.name, f"{self.name} must hold positive numbers")


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ClassWeightSettings:
    """The class weights, in scikit-learn's convention."""

    class_weight: str | Mapping[Any, float] | None = dataclasses.field(
        default=None,
        metadata={
            "param": ClassWeight(
                kind="choice",
                default=None,
                help="Whether the rows of the rarer class weigh more.",
                label="Class weights",
                choices={
                    None: "every row counts the same",
                    "balanced": "both classes count the same",
                },
                grid=(None, "balanced"),
            )
        },
    )

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

    C: float = cost(
        1.0,
        range(-3, 4),
        "Weight of the sum of the rows' losses against ½|w|²; larger fits closer.",
    )


def centre_of(X: Array) -> Array:
    """Return the mean of the rows where measuring from there saves digits, else 0.

    Sparse rows would not stay sparse about it.
    """
    few = None if scipy.sparse.issparse(X) else shift_for_digits(X[rows_for_mean(len(X))])
    return np.zeros(X.shape[1]) if few is None else X.mean(axis=0)
