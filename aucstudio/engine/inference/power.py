"""How precise an AUC will be, and how surely a difference of two will be found, before a study.

Symbols: A an area, h = Phi^-1(A), m positives, n negatives, Q1 the probability that two positives
rank above one negative, Q2 that one positive ranks above two negatives. Then the variance of the
estimate is [A (1 - A) + (m - 1)(Q1 - A^2) + (n - 1)(Q2 - A^2)] / (m n), whatever the scores.
Source: Hanley and McNeil, Radiology 143 (1982), also for the model called exponential.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import scipy

from aucstudio.engine.inference.results import check_level

BINORMAL, EXPONENTIAL = "binormal", "exponential"

_MOST_ROWS = 10**12


def auc_se(area: float, m: int, n: int, *, model: str = BINORMAL) -> float:
    """Compute the standard error that an estimate of a true AUC will have.

    Parameters
    ----------
    area : float
        The true AUC, within (0, 1).
    m, n : int
        Positives and negatives.
    model : {"binormal", "exponential"}
        Normal scores of equal spread in both classes, or exponential ones, for which the formula
        is that of Hanley and McNeil.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    if min(m, n) < 1:
        raise ValueError(f"There must be at least one row of each class; they are {m}, {n}.")
    q1, q2 = _triple_shares(area, model)
    square = area**2
    pairs = area * (1 - area) + (m - 1) * (q1 - square) + (n - 1) * (q2 - square)
    return math.sqrt(pairs / (m * n))


def difference_se(
    area_a: float, area_b: float, m: int, n: int, correlation: float, *, model: str = BINORMAL
) -> float:
    """Compute the standard error of a difference of two AUCs on the same rows.

    ``correlation`` is that of the two estimates, 0 for different rows; of a pilot study it is
    C_ab / sqrt(C_aa C_bb) with C from :func:`~inference.delong_covariance`. Other parameters and
    errors are those of :func:`auc_se`.
    """
    if not -1 <= correlation <= 1:
        raise ValueError(f"correlation must lie within [-1, 1]; it is {correlation}.")
    a, b = (auc_se(area, m, n, model=model) for area in (area_a, area_b))
    # The sum is at least (a - b)^2; rounding must not take it below 0.
    return math.sqrt(max(a * a + b * b - 2 * correlation * a * b, 0.0))


def power_of(difference: float, se: float, level: float = 0.95) -> float:
    """Compute the probability that a two-sided test finds a true difference.

    The test rejects where the estimate is further from 0 than the normal quantile for ``level``
    times its standard error, as :func:`~inference.delong_test` does. From a pilot study: its
    ``se`` times sqrt(pilot rows / planned rows).

    Raises
    ------
    ValueError
        If level is outside (0, 1) or se is not positive.
    """
    check_level(level)
    if not 0 < se < math.inf:
        raise ValueError(f"se must be positive; it is {se}.")
    z, critical = abs(difference) / se, float(scipy.special.ndtri((1 + level) / 2))
    return float(scipy.special.ndtr(z - critical) + scipy.special.ndtr(-z - critical))


def auc_power(
    area_a: float,
    area_b: float,
    m: int,
    n: int,
    correlation: float = 0.0,
    *,
    level: float = 0.95,
    model: str = BINORMAL,
) -> float:
    """Compute the power of the paired test of two AUCs; parameters as :func:`difference_se`."""
    se = difference_se(area_a, area_b, m, n, correlation, model=model)
    if se == 0:  # equal areas, perfectly correlated: scores that never differ
        check_level(level)
        return 0.0
    return power_of(area_a - area_b, se, level)


def auc_sample_size(
    area_a: float,
    area_b: float,
    power: float = 0.8,
    ratio: float = 1.0,
    correlation: float = 0.0,
    *,
    level: float = 0.95,
    model: str = BINORMAL,
) -> tuple[int, int]:
    """Find the fewest rows with which :func:`auc_power` reaches a power.

    Parameters
    ----------
    area_a, area_b : float
        True AUCs, not equal.
    power : float
    ratio : float
        Negatives per positive.
    correlation, level, model
        As for :func:`auc_power`.

    Returns
    -------
    m, n : int
        Positives and negatives, n the least whole number not below ratio m.

    Raises
    ------
    ValueError
        If the areas are equal or an argument is out of range.
    """
    if area_a == area_b:
        raise ValueError(f"The areas must differ; both are {area_a}.")
    if not 0 < power < 1:
        raise ValueError(f"power must lie strictly between 0 and 1; it is {power}.")

    def enough(m: int, n: int) -> bool:
        reached = auc_power(area_a, area_b, m, n, correlation, level=level, model=model)
        return reached >= power

    return _fewest(enough, ratio)


def precision_sample_size(
    area: float,
    half_width: float,
    ratio: float = 1.0,
    *,
    level: float = 0.95,
    model: str = BINORMAL,
) -> tuple[int, int]:
    """Find the fewest rows for which the interval of one AUC reaches ``half_width`` either side.

    Other parameters, result and errors are those of :func:`auc_sample_size`.
    """
    check_level(level)
    if not 0 < half_width < 1:
        raise ValueError(f"half_width must lie strictly between 0 and 1; it is {half_width}.")
    z = float(scipy.special.ndtri((1 + level) / 2))
    return _fewest(lambda m, n: z * auc_se(area, m, n, model=model) <= half_width, ratio)


def _fewest(enough: Callable[[int, int], bool], ratio: float) -> tuple[int, int]:
    """Find the least m >= 2, with n = ceil(ratio m) >= 2, that is enough; more always is."""
    if not 0 < ratio < math.inf:
        raise ValueError(f"ratio must be positive; it is {ratio}.")

    def sizes(m: int) -> tuple[int, int]:
        return m, max(2, math.ceil(ratio * m))

    few, many = 1, 2
    while not enough(*sizes(many)):
        few, many = many, 2 * many
        if many > _MOST_ROWS:
            raise ValueError("No number of rows that could be had is enough.")
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(*sizes(middle)) else (middle, many)
    return sizes(many)


def _triple_shares(area: float, model: str) -> tuple[float, float]:
    """Compute Q1 and Q2 of a model of the scores."""
    if not 0 < area < 1:
        raise ValueError(f"An AUC must lie strictly between 0 and 1 here; it is {area}.")
    if model == EXPONENTIAL:
        return area / (2 - area), 2 * area**2 / (1 + area)
    if model != BINORMAL:
        raise ValueError(f"model must be {BINORMAL!r} or {EXPONENTIAL!r}; it is {model!r}.")
    # Two differences of scores that share one of the two have correlation 1/2.
    both = area - 2 * float(scipy.special.owens_t(scipy.special.ndtri(area), 1 / math.sqrt(3)))
    return both, both
