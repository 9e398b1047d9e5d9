"""Intervals over repeated splits of one table."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from aucstudio.engine.inference.results import Interval, check_level


def splits_interval(
    values: ArrayLike,
    level: float,
    test_fraction: float,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """Estimate the mean over repeated splits by the corrected resampled t statistic.

    Splits of one table share rows, so the variance of their mean is taken as
    (1/k + n_test/n_train) times that of the k values, with k - 1 degrees of freedom.
    Source: Nadeau and Bengio, Machine Learning 52 (2003).

    Parameters
    ----------
    values : array-like of shape (k,)
        One value a split; with fewer than two the bounds are NaN.
    level : float
    test_fraction : float
        Share of the rows in the test part, within (0, 1).
    bounds : (float, float)
        What the interval is clipped to; (-1, 1) for differences.

    Raises
    ------
    ValueError
        If there are no values, one is not finite, or level or test_fraction is out of range.
    """
    check_level(level)
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or x.size == 0 or not np.isfinite(x).all():
        raise ValueError("values must be one finite number a split, at least one.")
    if not 0 < test_fraction < 1:
        raise ValueError(f"test_fraction must lie strictly between 0 and 1; it is {test_fraction}.")
    k, value = x.size, float(x.mean())
    method = f"corrected resampled t, {k} splits"
    if k < 2:
        return Interval(value, math.nan, math.nan, level, method, math.nan)
    factor = 1 / k + test_fraction / (1 - test_fraction)
    se = math.sqrt(factor * float((x - x[0]).var(ddof=1)))
    reach = float(stdtrit(k - 1, (1 + level) / 2)) * se
    low, high = np.clip([value - reach, value + reach], *bounds)
    return Interval(value, float(low), float(high), level, method, se)
