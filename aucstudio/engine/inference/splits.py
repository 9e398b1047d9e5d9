"""Intervals and tests over repeated splits of one table.

Splits of one table share rows, so the variance of a mean over k of them is taken as
(1/k + c) times that of the k values, with k - 1 degrees of freedom. For one partition into folds
c = n_test / n_train. Where rows are held out more than once (repeated folds, repeated hold-outs)
that is too little: without signal a test at 5 % rejects 8 to 14 %. There c is 2.5 times the
share held out, or n_test / n_train if that is more, with which it rejects 2 to 6 %, and less
where there is signal. One partition of a table without signal rejects up to 7 % with 5 folds and
8.8 % with 10 (linear discriminants of 2 to 20 features, 80 to 150 rows): the folds are then
correlated (:mod:`aucstudio.engine.inference.folds`), and vary less than their mean does.

Intervals of areas over folds are those of :func:`folds_interval`: near AUC 1 the t interval is too
low, as the areas are skewed (40 positives, 60 negatives, 5 folds, AUC .988: it covers .94, and .88
with four repeats).
Source: Nadeau and Bengio, Machine Learning 52 (2003); the factor for rows held out more than once
is ours, by simulation (``python -m tests.benchmarks.inference_grid``).
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike

from aucstudio.engine.arrays import Array
from aucstudio.engine.inference.results import (
    Interval,
    TestResult,
    absent_interval,
    check_level,
    silent,
    studentised,
)

_HELD_OUT_AGAIN = 2.5
_DECIMALS = 12  # beyond these, equal values may differ by rounding
LEAST_SPLITS = 3
"""Splits for an interval or a test: two values show hardly anything of the variance."""

_FEW_SPLITS = f"fewer than {LEAST_SPLITS} splits"
_NO_VARIANCE = "no variance between splits"


def splits_interval(
    values: ArrayLike,
    level: float,
    test_fraction: float,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    disjoint: bool = False,
) -> Interval:
    """Estimate the mean over repeated splits by the corrected resampled t statistic.

    Parameters
    ----------
    values : array-like of shape (k,)
        One value a split.
    level : float
    test_fraction : float
        Share of the rows in the test part, within (0, 1).
    bounds : (float, float)
        What the interval is clipped to; (-1, 1) for differences.
    disjoint : bool
        Whether no row is held out twice, as in one partition into folds.

    Returns
    -------
    Interval
        The bounds are NaN, with the reason, for fewer than 3 splits, and where all values are
        equal. Two splits share one degree of freedom: a 95 % interval would reach 12.7 standard
        errors either way, or have no width where both values happen to be equal.

    Raises
    ------
    ValueError
        If there are no values, one is not finite, or level or test_fraction is out of range.
    """
    check_level(level)
    x = _checked(values)
    if not 0 < test_fraction < 1:
        raise ValueError(f"test_fraction must lie strictly between 0 and 1; it is {test_fraction}.")
    value, se = float(x.mean()), _standard_error(x, test_fraction, disjoint)
    if not se > 0:
        return absent_interval(value, level, _reason(x))
    reach = float(scipy.special.stdtrit(x.size - 1, (1 + level) / 2)) * se
    low, high = np.clip([value - reach, value + reach], *bounds)
    method = f"corrected resampled t, {x.size} splits"
    return Interval(value, float(low), float(high), level, method, se)


def splits_test(
    a: ArrayLike,
    b: ArrayLike,
    n_train: float,
    n_test: float,
    level: float = 0.95,
    *,
    disjoint: bool = False,
) -> TestResult:
    """Test whether two scores have equal mean area, from their areas on the same splits.

    The corrected resampled t-test: z is the mean difference over its standard error, p its
    two-sided probability under t with k - 1 degrees of freedom. Where the areas agree on every
    split, z = 0 and p = 1. With fewer than 3 splits, and where they differ by the same amount on
    every split, z, p and the bounds are NaN, with the reason.

    Parameters
    ----------
    a, b : array-like of shape (k,)
        Areas on split 1 to k.
    n_train, n_test : float
        Rows of the training and the test parts; their means where splits are unequal.
    level : float
    disjoint : bool
        As for :func:`splits_interval`.

    Raises
    ------
    ValueError
        If the lengths differ or are 0, a value is not finite, or an argument is out of range.
    """
    check_level(level)
    one, other = _checked(a), _checked(b)
    if one.size != other.size:
        raise ValueError(f"a and b must be of equal length; they have {one.size}, {other.size}.")
    if not 0 < n_test < math.inf or not 0 < n_train < math.inf:
        raise ValueError(f"n_train, n_test must be positive; they are {n_train}, {n_test}.")
    x = _checked(one - other)
    difference, se = float(x.mean()), _standard_error(x, n_test / (n_train + n_test), disjoint)
    if se == 0 and difference == 0:
        return TestResult(0.0, 0.0, 0.0, 0.0, 1.0, level, se)
    if not se > 0:
        return silent(difference, level, _reason(x))
    return studentised(difference, difference, se, level, x.size - 1)


def _checked(values: ArrayLike) -> Array:
    x: Array = np.asarray(values, dtype=np.float64).round(_DECIMALS)
    if x.ndim != 1 or x.size == 0 or not np.isfinite(x).all():
        raise ValueError("Every split needs a finite value, and there must be at least one split.")
    return x


def variance_factor(splits: int, test_fraction: float, *, disjoint: bool = False) -> float:
    """Return the variance of a mean over splits, in units of the variance between them.

    Parameters are those of :func:`splits_interval`.
    """
    shared = test_fraction / (1 - test_fraction)
    return 1 / splits + (shared if disjoint else max(shared, _HELD_OUT_AGAIN * test_fraction))


def _standard_error(x: Array, test_fraction: float, disjoint: bool) -> float:
    """Compute the standard error of the mean over splits; NaN for too few of them."""
    if x.size < LEAST_SPLITS:
        return math.nan
    factor = variance_factor(x.size, test_fraction, disjoint=disjoint)
    # Taking one value off first makes the variance of equal numbers exactly 0.
    return math.sqrt(factor * float((x - x[0]).var(ddof=1)))


def _reason(x: Array) -> str:
    """Return why there is no interval or test."""
    return _FEW_SPLITS if x.size < LEAST_SPLITS else _NO_VARIANCE
