"""The stratified bootstrap of (partial) AUCs, alone or paired."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine import roc
from aucstudio.engine.inference.results import (
    Array,
    Interval,
    TestResult,
    check_level,
    comparison,
    normal_interval,
)
from aucstudio.engine.monitor import Stopped

Progress = Callable[[float], object]

_SCORES_PER_CHUNK = 200_000
_ROUNDING = 1e-13  # equal areas of different resamples differ by less, unequal ones by more


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
    check_level(level)
    area = roc.partial_auc(y, score, alpha, beta, positive=positive)
    s, t = roc.sorted_scores(y, score, positive)
    drawn = _bootstrap([(s, t)], alpha, beta, draws, seed, progress)[0]
    se = _spread(drawn, len(s), len(t))
    method = f"stratified bootstrap, {draws} draws"
    if not se > 0:
        return normal_interval(area.normalized, se, level, method, min(len(s), area.negatives))
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
    check_level(level)
    areas = [roc.partial_auc(y, of, alpha, beta, positive=positive) for of in (score_a, score_b)]
    pairs = [roc.split_scores(y, of, positive) for of in (score_a, score_b)]
    drawn_a, drawn_b = _bootstrap(pairs, alpha, beta, draws, seed, progress)
    m, n = (len(of_class) for of_class in pairs[0])
    drawn = drawn_a - drawn_b
    difference = areas[0].normalized - areas[1].normalized
    result = comparison(difference, _spread(drawn, m, n), level, min(m, areas[0].negatives))
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
