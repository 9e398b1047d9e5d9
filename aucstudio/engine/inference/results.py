"""Results of estimates and tests, derived from a standard error."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import ArrayLike

from aucstudio.engine.arrays import Array


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
    reason : str
        Why there are no bounds; empty where there are.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    se: float
    reason: str = ""


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
    reason : str
        Why there is no p; empty where there is one.
    """

    __test__: ClassVar[bool] = False  # pytest takes a class of this name for tests

    difference: float
    low: float
    high: float
    z: float
    p: float
    level: float
    se: float
    reason: str = ""


def check_level(level: float) -> None:
    """Raise ValueError unless 0 < level < 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1; it is {level}.")


def _alike(level: float, trials: int) -> float:
    """Least probability of an outcome that came up in every trial (Clopper and Pearson)."""
    return float(((1 - level) / 2) ** (1 / trials))


def absent_interval(value: float, level: float, reason: str) -> Interval:
    """Return a value whose bounds cannot be known."""
    return Interval(value, math.nan, math.nan, level, "none", math.nan, reason)


def silent(difference: float, level: float, reason: str) -> TestResult:
    """Return a difference that cannot be tested."""
    none = math.nan
    return TestResult(difference, none, none, none, none, level, none, reason)


def unanimous_interval(value: float, level: float, method: str, trials: int) -> Interval:
    """Make the exact binomial bounds of what came out alike in all trials."""
    q = _alike(level, trials)
    method = f"exact binomial bounds, {trials} trials (no variance for {method})"
    return Interval(value, q * value, 1 - q * (1 - value), level, method, 0.0)


def quantile_level(level: float, degrees: float) -> float:
    """Return the level whose normal quantile is Student's for ``level``.

    Percentiles over draws are too narrow by as much as a normal quantile is where few units vary.
    Source: Hesterberg, The American Statistician 69 (2015), expanded percentiles.
    """
    if math.isinf(degrees):
        return level
    reach = float(scipy.special.stdtrit(degrees, (1 + level) / 2))
    return 2 * float(scipy.special.ndtr(reach)) - 1


def logit_interval(
    value: float, se: float, level: float, method: str, degrees: float = math.inf
) -> Interval:
    """Make the bounds of a share on the scale of its logit: of 0 and 1 they are the share itself.

    They are normal, or Student's where the standard error has finite degrees of freedom.
    """
    low = high = value
    if 0 < value < 1:
        quantile = float(scipy.special.stdtrit(degrees, (1 + level) / 2))
        reach = np.array([-1, 1]) * quantile * se / (value * (1 - value))
        low, high = scipy.special.expit(float(scipy.special.logit(value)) + reach).tolist()
    return Interval(value, low, high, level, f"{method}, logit scale", se)


def widened(value: float, low: float, high: float, factor: float) -> tuple[float, float]:
    """Move the bounds of a share away from it by a factor, on the scale of the logit."""
    if factor == 1 or not 0 < low <= value <= high < 1:
        return low, high
    centre, *ends = scipy.special.logit([value, low, high]).tolist()
    lower, upper = (scipy.special.expit(centre + factor * (end - centre)) for end in ends)
    return float(lower), float(upper)


def comparison(
    difference: float, se: float, level: float, trials: int, degrees: float = math.inf
) -> TestResult:
    """Test a difference by its standard error; by a sign test where se is 0."""
    if se == 0:
        return _unanimous(difference, level, trials)
    return studentised(difference, difference, se, level, degrees)


def studentised(
    difference: float, centre: float, se: float, level: float, degrees: float
) -> TestResult:
    """Test a difference by a centre and its standard error, which follow Student's t."""
    z = centre / se
    reach = float(scipy.special.stdtrit(degrees, (1 + level) / 2)) * se
    low, high = np.clip([centre - reach, centre + reach], -1.0, 1.0)
    p = float(2 * scipy.special.stdtr(degrees, -abs(z)))
    return TestResult(difference, float(low), float(high), z, p, level, se)


def _unanimous(difference: float, level: float, trials: int) -> TestResult:
    """Compare where every disjoint pair of rows shows the same difference."""
    q = _alike(level, trials)
    p = 2.0 ** (1 - trials) if difference else 1.0
    z = math.copysign(float(scipy.special.ndtri(1 - p / 2)), difference) if difference else 0.0
    low, high = q * difference - (1 - q), q * difference + (1 - q)
    return TestResult(difference, low, high, z, p, level, 0.0)


def bonferroni(p: ArrayLike) -> Array:
    """Multiply p-values by their number.

    Parameters
    ----------
    p : array-like of shape (n_tests,)
        NaN where there was no test; it stays NaN.

    Returns
    -------
    ndarray of shape (n_tests,)
        At most 1. Rejecting those below a bound errs anywhere with at most that probability.

    Raises
    ------
    ValueError
        Unless every p is NaN or within [0, 1].
    """
    checked = _checked(p)
    return np.minimum(checked * np.count_nonzero(~np.isnan(checked)), 1.0)


def holm(p: ArrayLike) -> Array:
    """Correct p-values by Holm's step-down method: as safe as Bonferroni's and never larger.

    Parameters, result and errors are those of :func:`bonferroni`.
    Source: Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    corrected = _checked(p)
    order = np.argsort(corrected)[: np.count_nonzero(~np.isnan(corrected))]  # NaN sorts last
    raised = corrected[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return corrected


def is_significant(p: float, level: float = 0.95) -> bool:
    """Return whether a difference is significant, by the one rule of the program.

    ``p`` is corrected for every test that it was selected from; a missing p is not significant.
    """
    return p < 1 - level


def _checked(p: ArrayLike) -> Array:
    values = np.array(p, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1) | np.isnan(values)).all():
        raise ValueError("p must be one column of numbers within [0, 1], or NaN where missing.")
    return values
