"""The stratified bootstrap of (partial) AUCs, alone or paired."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine import roc
from aucstudio.engine.compiled import kernel
from aucstudio.engine.inference.partial import LEAST, Placements, few_words
from aucstudio.engine.inference.resampling import Progress, resamples
from aucstudio.engine.inference.results import (
    Interval,
    TestResult,
    absent_interval,
    binomial_interval,
    check_level,
    comparison,
    quantile_level,
    silent,
)
from aucstudio.engine.inference.staircases import deciding
from aucstudio.engine.types import Array, RowNumbers

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
    weights: ArrayLike | None = None,
    weight_kind: str = roc.SAMPLING,
    groups: ArrayLike | None = None,
) -> Interval:
    """Estimate the normalised (partial) AUC with percentile bounds of the stratified bootstrap.

    Resamples repeat rows and never show a new one: where few rows decide, the percentiles hold
    less often than they should, which :func:`pauc_interval` mends. With fewer than 3 negatives
    in the band there are none.

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
        Receives the fraction done now and then; returning True stops.
    positive : label, optional
    weights : array-like of shape (n_samples,), optional
        They stay with the rows that are drawn.
    weight_kind : {"sampling", "frequency"}
        A row of frequency weight k is drawn as k rows are.
    groups : array-like of shape (n_samples,), optional
        Labels of the groups that rows were sampled in. Whole groups are drawn (see
        :func:`~inference.resampling.resamples`), and percentiles are expanded by Student's
        quantile for so many groups.

    Raises
    ------
    Stopped
        If ``progress`` returned True.
    ValueError
        Unless 0 <= alpha < beta <= 1, 0 < level < 1 and draws >= 2, and for input that
        :meth:`~roc.Ranking.of` refuses.
    """
    check_level(level)
    roc.check_band(alpha, beta)
    sampled: roc.Sampled = {"weights": weights, "weight_kind": weight_kind, "groups": groups}
    one = Placements.of(roc.Ranking.of(y, score, positive=positive, **sampled), alpha, beta)
    if reason := _too_few(one):
        return absent_interval(one.area, level, reason)
    drawn = _bootstrap([one], draws, seed, progress)[0]
    se = _spread(drawn)
    method = f"stratified bootstrap, {draws} draws"
    if not se > 0:
        return binomial_interval(one.area, level, method, one.trials(one.variance.sizes))
    low, high = _percentiles(drawn, one.variance.degrees, level)
    return Interval(one.area, low, high, level, method, se)


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
    weights: ArrayLike | None = None,
    weight_kind: str = roc.SAMPLING,
    groups: ArrayLike | None = None,
) -> TestResult:
    """Test whether two scores of the same rows have equal (partial) AUC by the paired bootstrap.

    Both scores see the same resamples. z is the difference over its bootstrap standard error, the
    bounds are percentiles; parameters and errors are those of :func:`bootstrap_interval`.
    """
    check_level(level)
    roc.check_band(alpha, beta)
    sampled: roc.Sampled = {"weights": weights, "weight_kind": weight_kind, "groups": groups}
    a, b = (
        Placements.of(roc.Ranking.of(y, of, positive=positive, **sampled), alpha, beta)
        for of in (score_a, score_b)
    )
    difference = a.area - b.area
    if reason := _too_few(a):
        return silent(difference, level, reason)
    drawn_a, drawn_b = _bootstrap([a, b], draws, seed, progress)
    drawn = drawn_a - drawn_b
    variance = a.difference_variance(b)
    trials = a.trials(variance.sizes)
    result = comparison(difference, _spread(drawn), level, trials, variance.degrees)
    if not result.se > 0:
        return result
    low, high = _percentiles(drawn, variance.degrees, level)
    return dataclasses.replace(result, low=low, high=high)


def _too_few(one: Placements) -> str:
    """Return why there is nothing to draw from, or too little; empty where there is enough.

    Resamples show no new row, so that they cannot know the threshold at a band's end from few.
    """
    if reason := one.sampling.too_few:
        return reason
    rows = deciding(*one.variance.sizes, *one.band, 0.5)
    whole = one.band == (0, 1)
    return "" if whole or rows.negatives >= LEAST else few_words(rows.negatives)


def _spread(drawn: Array) -> float:
    spread = float((drawn - drawn[0]).std(ddof=1))
    return spread if spread > _ROUNDING else 0.0


def _percentiles(drawn: Array, degrees: float, level: float) -> tuple[float, float]:
    level = quantile_level(level, degrees)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _bootstrap(
    scorers: list[Placements], draws: int, seed: int, progress: Progress | None
) -> Array:
    """Draw the normalised area of each of some scores over the same resamples; (scores, draws)."""
    first = scorers[0].ranking
    m, n = len(first.s), len(first.t)
    alone = len(scorers) == 1  # whose rows need not match any others
    units = first.units
    if units is not None and not alone:
        units = first.in_row_order(*units)
    drawn = np.empty((len(scorers), draws))
    for part, positives, negatives in resamples(m, n, draws, seed, progress, units):
        for of_score, one in zip(drawn, scorers, strict=True):
            ranking, times = one.ranking, (positives, negatives)
            if not alone:
                times = positives[:, ranking.order_s], negatives[:, ranking.order_t]
            of_score[part] = resampled_areas(ranking, *times, *one.band)
    return drawn


def resampled_areas(
    ranking: roc.Ranking, positives: RowNumbers, negatives: RowNumbers, alpha: float, beta: float
) -> Array:
    """Compute the normalised trapezoid area of each resample.

    Parameters
    ----------
    ranking : Ranking
    positives, negatives : ndarray of int, shapes (draws, m) and (draws, n)
        How many times each row is drawn, in ascending order of the scores.
    alpha, beta : float

    Returns
    -------
    ndarray of shape (draws,)
    """
    none = np.empty(0)
    of_s, of_t = (none if of is None else of for of in (ranking.weight_s, ranking.weight_t))
    band = float(alpha), float(beta)  # whole numbers would be compiled for again
    ranks = ranking.below, ranking.at_most
    drawn: Array = _areas(positives, negatives, of_s, of_t, *ranks, *band)
    return drawn


@kernel
def _areas(
    positives: RowNumbers,
    negatives: RowNumbers,
    weight_s: Array,
    weight_t: Array,
    below: NDArray[np.intp],
    at_most: NDArray[np.intp],
    alpha: float,
    beta: float,
) -> Array:
    """Compute the normalised area of each resample, a row of ``positives`` and ``negatives``.

    A positive adds a ramp to the curve, from the FPR of the negatives above it to that of the
    negatives not below it (a step without ties); the area is the mean of the ramps' areas.
    Without weights every row counts once.
    """
    draws, n = negatives.shape
    weighted = len(weight_s) > 0
    areas = np.empty(draws)
    drawn_below = np.zeros(n + 1)
    for draw in range(draws):
        for rank in range(n):
            weight = weight_t[rank] if weighted else 1.0
            drawn_below[rank + 1] = drawn_below[rank] + weight * negatives[draw, rank]
        sum_t, sum_s, total = drawn_below[n], 0.0, 0.0
        for row in range(positives.shape[1]):
            if positives[draw, row] == 0:
                continue
            start = 1 - drawn_below[at_most[row]] / sum_t
            end = 1 - drawn_below[below[row]] / sum_t
            weight = (weight_s[row] if weighted else 1.0) * positives[draw, row]
            sum_s += weight
            total += weight * (_ramp_area(start, end, beta) - _ramp_area(start, end, alpha))
        areas[draw] = total / (sum_s * (beta - alpha))
    return areas


@kernel
def _ramp_area(start: float, end: float, x: float) -> float:
    """Area left of x under a line from 0 at ``start`` to 1 at ``end`` and level after it."""
    if x >= end:
        return x - (start + end) / 2
    return (x - start) ** 2 / (2 * (end - start)) if x > start else 0.0
