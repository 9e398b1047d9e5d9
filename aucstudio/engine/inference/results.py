"""What estimates and tests give back, and how it follows from a standard error."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Array = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Interval:
    """A value with its confidence interval.

    Attributes
    ----------
    value, low, high : float
        The bounds are NaN where there is too little data for any.
    level : float
    method : str
        How the bounds were found.
    se : float
        Standard error.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    se: float


@dataclasses.dataclass(frozen=True)
class TestResult:
    """A two-sided test of the difference between two scores, first minus second.

    Attributes
    ----------
    difference, low, high : float
    z, p : float
        Standardised difference and its p-value.
    level : float
        Of the interval from low to high.
    se : float
    """

    __test__: ClassVar[bool] = False  # pytest takes a class of this name for tests

    difference: float
    low: float
    high: float
    z: float
    p: float
    level: float
    se: float


def check_level(level: float) -> None:
    """Raise ValueError unless 0 < level < 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1; it is {level}.")


def _alike(level: float, trials: int) -> float:
    """Least probability of an outcome that came up in every trial (Clopper and Pearson)."""
    return float(((1 - level) / 2) ** (1 / trials))


def normal_interval(value: float, se: float, level: float, method: str, trials: int) -> Interval:
    """Make the normal bounds within [0, 1]; the exact binomial ones where se is 0."""
    if se == 0:
        q = _alike(level, trials)
        method = f"exact binomial bounds, {trials} trials (no variance for {method})"
        return Interval(value, q * value, 1 - q * (1 - value), level, method, se)
    reach = float(ndtri((1 + level) / 2)) * se
    low, high = np.clip([value - reach, value + reach], 0.0, 1.0)
    return Interval(value, float(low), float(high), level, method, se)


def comparison(difference: float, se: float, level: float, trials: int) -> TestResult:
    """Test a difference by its standard error; by a sign test where se is 0."""
    if se == 0:
        return _unanimous(difference, level, trials)
    z = difference / se
    reach = float(ndtri((1 + level) / 2)) * se
    low, high = np.clip([difference - reach, difference + reach], -1.0, 1.0)
    p = float(2 * ndtr(-abs(z)))
    return TestResult(difference, float(low), float(high), z, p, level, se)


def _unanimous(difference: float, level: float, trials: int) -> TestResult:
    """Compare where every disjoint pair of rows shows the same difference."""
    q = _alike(level, trials)
    p = 2.0 ** (1 - trials) if difference else 1.0
    z = math.copysign(float(ndtri(1 - p / 2)), difference) if difference else 0.0
    low, high = q * difference - (1 - q), q * difference + (1 - q)
    return TestResult(difference, low, high, z, p, level, 0.0)
