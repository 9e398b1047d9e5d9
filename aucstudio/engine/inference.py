"""Intervals and tests for AUC and partial AUC: DeLong, placements, bootstrap, repeated splits.

Symbols: s scores of the m positives, t scores of the n negatives, g rank weights of the negatives
over the band [alpha, beta], psi10 and psi01 the components of a partial AUC: one number for each
positive and each negative, whose variances add up to that of the area. On [0, 1] they are
DeLong's V10 and V01. Partial areas are normalised, pAUC / (beta - alpha).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtrit

from aucstudio.engine import roc
from aucstudio.engine.monitor import Stopped

Array = NDArray[np.float64]
Progress = Callable[[float], object]

_SCORES_PER_CHUNK = 200_000
_ROUNDING = 1e-13  # equal areas of different resamples differ by less, unequal ones by more


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

    difference: float
    low: float
    high: float
    z: float
    p: float
    level: float
    se: float


def delong_interval(
    y: ArrayLike, score: ArrayLike, level: float = 0.95, *, positive: object = None
) -> Interval:
    """Estimate the AUC with DeLong's standard error, in O(N log N).

    The bounds are value -+ z se, clipped to [0, 1]. Where the variance vanishes (AUC 0 or 1, or
    all scores equal) they are the exact binomial bounds for min(m, n) trials: so many disjoint
    pairs of a positive and a negative are independent, and all of them came out alike. With
    fewer than two rows in a class the bounds are NaN.

    Raises
    ------
    ValueError
        If level is outside (0, 1), and for input that :func:`~roc.split_scores` refuses.
    """
    _check_level(level)
    s, t = roc.sorted_scores(y, score, positive)
    below, at_most = roc.look_up(t, s)
    se = _standard_error(*_components(below, at_most, len(t), 0.0, 1.0))
    value = roc.pair_share(below, at_most, len(t))
    return _interval(value, se, level, "DeLong", min(len(s), len(t)))


def pauc_interval(
    y: ArrayLike,
    score: ArrayLike,
    alpha: float,
    beta: float,
    level: float = 0.95,
    *,
    positive: object = None,
) -> Interval:
    """Estimate the normalised partial AUC with the standard error of its components.

    As :func:`delong_interval`, which it equals on [0, 1]. Where the variance vanishes, the
    binomial bounds count min(m, negatives in the band) trials, which is approximate.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1 and 0 < level < 1, and for input that
        :func:`~roc.split_scores` refuses.
    """
    _check_level(level)
    area = roc.partial_auc(y, score, alpha, beta, positive=positive)
    s, t = roc.sorted_scores(y, score, positive)
    se = _standard_error(*_components(*roc.look_up(t, s), len(t), alpha, beta))
    return _interval(area.normalized, se, level, "placements", min(len(s), area.negatives))


def delong_test(
    y: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    level: float = 0.95,
    *,
    positive: object = None,
) -> TestResult:
    """Test whether two scores of the same rows have equal AUC (paired DeLong test).

    Identical rankings give z = 0 and p = 1. Where the variance vanishes although the AUCs differ,
    p is that of a sign test on min(m, n) disjoint pairs.

    Raises
    ------
    ValueError
        If level is outside (0, 1), and for input that :func:`~roc.split_scores` refuses.
    """
    _check_level(level)
    area_a, area_b = (roc.auc(y, of, positive=positive) for of in (score_a, score_b))
    (a10, a01), (b10, b01) = (
        _aligned_components(y, of, 0.0, 1.0, positive) for of in (score_a, score_b)
    )
    se = _standard_error(a10 - b10, a01 - b01)
    return _comparison(area_a - area_b, se, level, min(len(a10), len(a01)))


def pauc_test(
    y: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    alpha: float,
    beta: float,
    level: float = 0.95,
    *,
    positive: object = None,
) -> TestResult:
    """Test whether two scores of the same rows have equal partial AUC; see :func:`delong_test`.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1 and 0 < level < 1, and for input that
        :func:`~roc.split_scores` refuses.
    """
    _check_level(level)
    area_a, area_b = (
        roc.partial_auc(y, of, alpha, beta, positive=positive) for of in (score_a, score_b)
    )
    (a10, a01), (b10, b01) = (
        _aligned_components(y, of, alpha, beta, positive) for of in (score_a, score_b)
    )
    se = _standard_error(a10 - b10, a01 - b01)
    difference = area_a.normalized - area_b.normalized
    return _comparison(difference, se, level, min(len(a10), area_a.negatives))


def delong_covariance(y: ArrayLike, scores: ArrayLike, *, positive: object = None) -> Array:
    """Estimate the covariance matrix of the AUCs of several scores of the same rows.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    scores : array-like of shape (n_samples, n_scores)

    Returns
    -------
    ndarray of shape (n_scores, n_scores)
        NaN with fewer than two rows in a class.

    Raises
    ------
    ValueError
        For input that :func:`~roc.split_scores` refuses.
    """
    columns = np.atleast_2d(np.asarray(scores).T)
    parts = [_aligned_components(y, of, 0.0, 1.0, positive) for of in columns]
    total = np.zeros((len(parts), len(parts)))
    for psi in (np.stack(of_class) for of_class in zip(*parts, strict=True)):
        centred = psi - psi.mean(axis=1, keepdims=True)
        size = psi.shape[1]
        total += centred @ centred.T / (size * (size - 1)) if size > 1 else np.nan
    return total


def _components(
    below: NDArray[np.intp], at_most: NDArray[np.intp], n: int, alpha: float, beta: float
) -> tuple[Array, Array]:
    """Give psi10 and psi01 of the normalised partial AUC, each class in ascending order.

    A positive's component is the rank weight of the negatives below it, ties one half. A
    negative's is the share of positives above it, the negative being moved to the nearest one
    inside the band: the winsorised placement.
    """
    weight = np.append(0.0, np.cumsum(roc.rank_weights(n, alpha, beta)[::-1]))
    psi10 = (weight[below] + weight[at_most]) / (2 * weight[-1])
    # A positive is above the negative of ascending rank j where it has more than j below it.
    found = np.bincount(below, minlength=n + 1) + np.bincount(at_most, minlength=n + 1)
    psi01 = (1 - np.cumsum(found[:n]) / (2 * len(below))) / (beta - alpha)
    first, last = roc.band_ranks(n, alpha, beta)
    psi01[: n - last] = psi01[n - last]
    psi01[n - first :] = psi01[n - first]
    return psi10, psi01


def _aligned_components(
    y: ArrayLike, score: ArrayLike, alpha: float, beta: float, positive: object
) -> tuple[Array, Array]:
    """Give the components in row order, so that those of several scores match."""
    s, t = roc.split_scores(y, score, positive)
    orders = np.argsort(s), np.argsort(t)
    ranks = roc.look_up(t[orders[1]], s[orders[0]])
    aligned = np.empty(len(s)), np.empty(len(t))
    components = _components(*ranks, len(t), alpha, beta)
    for out, order, psi in zip(aligned, orders, components, strict=True):
        out[order] = psi
    return aligned


def _standard_error(psi10: Array, psi01: Array) -> float:
    if min(len(psi10), len(psi01)) < 2:
        return math.nan
    # Taking one value off first makes the variance of equal numbers exactly 0.
    return math.sqrt(sum(float((psi - psi[0]).var(ddof=1)) / len(psi) for psi in (psi10, psi01)))


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1; it is {level}.")


def _alike(level: float, trials: int) -> float:
    """Least probability of an outcome that came up in every trial (Clopper and Pearson)."""
    return float(((1 - level) / 2) ** (1 / trials))


def _interval(value: float, se: float, level: float, method: str, trials: int) -> Interval:
    if se == 0:
        q = _alike(level, trials)
        method = f"exact binomial bounds, {trials} trials (no variance for {method})"
        return Interval(value, q * value, 1 - q * (1 - value), level, method, se)
    reach = float(ndtri((1 + level) / 2)) * se
    low, high = np.clip([value - reach, value + reach], 0.0, 1.0)
    return Interval(value, float(low), float(high), level, method, se)


def _comparison(difference: float, se: float, level: float, trials: int) -> TestResult:
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


def bootstrap_interval(
    y: ArrayLike,
    score: ArrayLike,
    alpha: float = 0.0,
    beta: float = 1.0,
    *,
    draws: int = 2000,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
    positive: object = None,
) -> Interval:
    """Estimate the normalised (partial) AUC with percentile bounds of the stratified bootstrap.

    Parameters
    ----------
    y, score : array-like of shape (n_samples,)
    alpha, beta : float
        The band of FPR; [0, 1] is the whole AUC.
    draws : int
        Resamples, each within the classes.
    level : float
    seed : int
    progress : callable, optional
        Hears the fraction done now and then; returning True stops.
    positive : label, optional

    Raises
    ------
    Stopped
        If ``progress`` returned True.
    ValueError
        Unless 0 <= alpha < beta <= 1, 0 < level < 1 and draws >= 2, and for input that
        :func:`~roc.split_scores` refuses.
    """
    _check_level(level)
    area = roc.partial_auc(y, score, alpha, beta, positive=positive)
    s, t = roc.sorted_scores(y, score, positive)
    drawn = _bootstrap([(s, t)], alpha, beta, draws, seed, progress)[0]
    se = _spread(drawn, len(s), len(t))
    method = f"stratified bootstrap, {draws} draws"
    if not se > 0:
        return _interval(area.normalized, se, level, method, min(len(s), area.negatives))
    low, high = _percentiles(drawn, level)
    return Interval(area.normalized, low, high, level, method, se)


def bootstrap_test(
    y: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    alpha: float = 0.0,
    beta: float = 1.0,
    *,
    draws: int = 2000,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
    positive: object = None,
) -> TestResult:
    """Test whether two scores of the same rows have equal (partial) AUC by the paired bootstrap.

    Both scores see the same resamples. z is the difference over its bootstrap standard error, the
    bounds are percentiles; parameters and errors are those of :func:`bootstrap_interval`.
    """
    _check_level(level)
    areas = [roc.partial_auc(y, of, alpha, beta, positive=positive) for of in (score_a, score_b)]
    pairs = [roc.split_scores(y, of, positive) for of in (score_a, score_b)]
    drawn_a, drawn_b = _bootstrap(pairs, alpha, beta, draws, seed, progress)
    m, n = (len(of_class) for of_class in pairs[0])
    drawn = drawn_a - drawn_b
    difference = areas[0].normalized - areas[1].normalized
    result = _comparison(difference, _spread(drawn, m, n), level, min(m, areas[0].negatives))
    if not result.se > 0:
        return result
    low, high = _percentiles(drawn, level)
    return dataclasses.replace(result, low=low, high=high)


def _spread(drawn: Array, m: int, n: int) -> float:
    if min(m, n) < 2:
        return math.nan
    spread = float((drawn - drawn[0]).std(ddof=1))
    return spread if spread > _ROUNDING else 0.0


def _percentiles(drawn: Array, level: float) -> tuple[float, float]:
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _bootstrap(
    pairs: list[tuple[roc.Scores, roc.Scores]],
    alpha: float,
    beta: float,
    draws: int,
    seed: int,
    progress: Progress | None,
) -> Array:
    """Draw the normalised area of each (s, t) pair over the same resamples; (n_pairs, draws)."""
    if draws < 2:
        raise ValueError(f"draws must be at least 2; it is {draws}.")
    m, n = (len(of_class) for of_class in pairs[0])
    areas = [_resampled_area(s, t, alpha, beta) for s, t in pairs]
    rng = np.random.default_rng(seed)
    drawn = np.empty((len(pairs), draws))
    size = max(1, _SCORES_PER_CHUNK // (m + n))
    for start in range(0, draws, size):
        count = min(size, draws - start)
        positives, negatives = _multiplicities(rng, m, count), _multiplicities(rng, n, count)
        for row, area in zip(drawn, areas, strict=True):
            row[start : start + count] = area(positives, negatives)
        if progress is not None and progress((start + count) / draws):
            raise Stopped("bootstrap")
    return drawn


def _multiplicities(rng: np.random.Generator, size: int, draws: int) -> NDArray[np.intp]:
    """Say how often each of ``size`` rows occurs in each resample; shape (draws, size)."""
    rows = rng.integers(0, size, (draws, size))
    rows += size * np.arange(draws)[:, None]
    return np.bincount(rows.ravel(), minlength=draws * size).reshape(draws, size)


def _resampled_area(
    s: roc.Scores, t: roc.Scores, alpha: float, beta: float
) -> Callable[[NDArray[np.intp], NDArray[np.intp]], Array]:
    """Make the function from multiplicities of the rows to normalised trapezoid areas.

    A positive adds a ramp to the curve, from the FPR of the negatives above it to that of the
    negatives not below it (a step without ties); the area is the mean of the ramps' areas.
    """
    order = np.argsort(t)
    below, at_most = roc.look_up(t[order], s)

    def area(positives: NDArray[np.intp], negatives: NDArray[np.intp]) -> Array:
        counts = np.zeros((len(negatives), len(t) + 1), dtype=np.intp)
        np.cumsum(negatives[:, order], axis=1, out=counts[:, 1:])
        start = 1 - counts[:, at_most] / len(t)
        end = 1 - counts[:, below] / len(t)
        ramps = _ramp_area(start, end, beta) - _ramp_area(start, end, alpha)
        means: Array = (positives * ramps).sum(axis=1) / (len(s) * (beta - alpha))
        return means

    return area


def _ramp_area(start: Array, end: Array, x: float) -> Array:
    """Area left of x under a line from 0 at ``start`` to 1 at ``end`` and level after it."""
    inside = np.clip(x, start, end) - start
    width = end - start
    area: Array = np.maximum(x - end, 0.0)
    area += inside * (inside / np.where(width > 0, 2 * width, 1.0))
    return area


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
    _check_level(level)
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
