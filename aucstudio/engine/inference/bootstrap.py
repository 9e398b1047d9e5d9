"""The stratified bootstrap of (partial) AUCs, alone or paired."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine import roc
from aucstudio.engine.compiled import kernel
from aucstudio.engine.inference.partial import LEAST, ONE_ROW, few_words
from aucstudio.engine.inference.resampling import Progress, resamples
from aucstudio.engine.inference.results import (
    Interval,
    TestResult,
    absent_interval,
    binomial_interval,
    check_level,
    comparison,
    silent,
)
from aucstudio.engine.inference.staircases import decided_by
from aucstudio.engine.roc.curve import positive_mask
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
        Hears the fraction done now and then; returning True stops.
    positive : label, optional
    weights : array-like of shape (n_samples,), optional
        They stay with the rows that are drawn.

    Raises
    ------
    Stopped
        If ``progress`` returned True.
    ValueError
        Unless 0 <= alpha < beta <= 1, 0 < level < 1 and draws >= 2, and for input that
        :func:`~roc.split_scores` refuses.
    """
    check_level(level)
    area = roc.partial_auc(y, score, alpha, beta, positive=positive, weights=weights)
    s, t = roc.sorted_scores(y, score, positive)
    rows = [_Rows(s, t, len(t))]
    if weights is not None:
        ranked = roc.Ranking.of(y, score, positive=positive, weights=weights)
        s, t, of_s, of_t = ranked.s, ranked.t, ranked.weight_s, ranked.weight_t
        rows = [_Rows(s, t, ranked.curve.effective(), of_s, of_t)]
    few = _too_few(rows[0].worth, alpha, beta)
    if few or min(len(s), len(t)) < 2:
        return absent_interval(area.normalized, level, few or ONE_ROW)
    drawn = _bootstrap(rows, alpha, beta, draws, seed, progress)[0]
    se = _spread(drawn)
    method = f"stratified bootstrap, {draws} draws"
    if not se > 0:
        return binomial_interval(area.normalized, level, method, min(len(s), area.negatives))
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
    weights: ArrayLike | None = None,
) -> TestResult:
    """Test whether two scores of the same rows have equal (partial) AUC by the paired bootstrap.

    Both scores see the same resamples. z is the difference over its bootstrap standard error, the
    bounds are percentiles; parameters and errors are those of :func:`bootstrap_interval`.
    """
    check_level(level)
    areas = [
        roc.partial_auc(y, of, alpha, beta, positive=positive, weights=weights)
        for of in (score_a, score_b)
    ]
    pairs = [_Rows.of(y, of, positive, weights) for of in (score_a, score_b)]
    m, n = len(pairs[0].s), len(pairs[0].t)
    difference = areas[0].normalized - areas[1].normalized
    few = _too_few(pairs[0].worth, alpha, beta)
    if few or min(m, n) < 2:
        return silent(difference, level, few or ONE_ROW)
    drawn_a, drawn_b = _bootstrap(pairs, alpha, beta, draws, seed, progress)
    drawn = drawn_a - drawn_b
    result = comparison(difference, _spread(drawn), level, min(m, areas[0].negatives))
    if not result.se > 0:
        return result
    low, high = _percentiles(drawn, level)
    return dataclasses.replace(result, low=low, high=high)


@dataclasses.dataclass(frozen=True, eq=False)
class _Rows:
    """Scores of both classes in row order, and what the rows weigh, those without weight left out.

    ``worth`` is how many negatives of equal weight would say as much.
    """

    s: roc.Scores
    t: roc.Scores
    worth: float
    weight_s: Array | None = None
    weight_t: Array | None = None

    @classmethod
    def of(
        cls, y: ArrayLike, score: ArrayLike, positive: object, weights: ArrayLike | None
    ) -> _Rows:
        s, t = roc.split_scores(y, score, positive)
        if weights is None:
            return cls(s, t, len(t))
        mask = positive_mask(y, positive)
        each = roc.check_weights(weights, mask)
        of_s, of_t = each[mask], each[~mask]
        worth = roc.effective_rows(of_t)
        return cls(s[of_s > 0], t[of_t > 0], worth, of_s[of_s > 0], of_t[of_t > 0])


def _too_few(n: float, alpha: float, beta: float) -> str:
    """Say so where resamples cannot know the threshold at a band's end: they show no new row."""
    rows = decided_by(n, n * beta, n * (1 - alpha), (alpha, beta), 0.5)
    whole = (alpha, beta) == (0, 1)
    return "" if whole or rows.negatives >= LEAST else few_words(rows)


def _spread(drawn: Array) -> float:
    spread = float((drawn - drawn[0]).std(ddof=1))
    return spread if spread > _ROUNDING else 0.0


def _percentiles(drawn: Array, level: float) -> tuple[float, float]:
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _bootstrap(
    pairs: list[_Rows],
    alpha: float,
    beta: float,
    draws: int,
    seed: int,
    progress: Progress | None,
) -> Array:
    """Draw the normalised area of each of some scores over the same resamples; (pairs, draws)."""
    m, n = len(pairs[0].s), len(pairs[0].t)
    areas = [
        _resampled_area(rows.s, rows.t, alpha, beta)
        if rows.weight_s is None
        else _resampled_weighted_area(rows, alpha, beta)
        for rows in pairs
    ]
    drawn = np.empty((len(pairs), draws))
    for part, positives, negatives in resamples(m, n, draws, seed, progress):
        for row, area in zip(drawn, areas, strict=True):
            row[part] = area(positives, negatives)
    return drawn


def _resampled_area(
    s: roc.Scores, t: roc.Scores, alpha: float, beta: float
) -> Callable[[RowNumbers, RowNumbers], Array]:
    """Make the function from drawn rows of both classes to normalised trapezoid areas."""
    order = np.argsort(t)
    place = np.empty(len(t), dtype=np.int32)
    place[order] = np.arange(len(t), dtype=np.int32)
    ranks = roc.look_up(t[order], s)
    band = float(alpha), float(beta)  # whole numbers would be compiled for anew

    def area(positives: RowNumbers, negatives: RowNumbers) -> Array:
        drawn: Array = _areas(positives, negatives, place, *ranks, *band)
        return drawn

    return area


def _resampled_weighted_area(
    rows: _Rows, alpha: float, beta: float
) -> Callable[[RowNumbers, RowNumbers], Array]:
    """Make the same of weighted rows, whose weights stay with them."""
    ascending, group = np.unique(np.concatenate([rows.s, rows.t]), return_inverse=True)
    place, count = len(ascending) - group, len(ascending) + 1  # the highest score is the first
    of_s, of_t = place[: len(rows.s)], place[len(rows.s) :]
    thresholds = np.append(np.inf, ascending[::-1])

    def sums(drawn: RowNumbers, places: NDArray[np.intp], weights: Array | None) -> Array:
        assert weights is not None
        return np.cumsum(np.bincount(places[drawn], weights[drawn], minlength=count))

    def area(positives: RowNumbers, negatives: RowNumbers) -> Array:
        drawn = [
            roc.Curve(sums(down, of_t, rows.weight_t), sums(up, of_s, rows.weight_s), thresholds)
            for up, down in zip(positives, negatives, strict=True)
        ]
        return np.array([roc.partial_auc_of(curve, alpha, beta).normalized for curve in drawn])

    return area


@kernel
def _areas(
    positives: RowNumbers,
    negatives: RowNumbers,
    place: RowNumbers,
    below: NDArray[np.intp],
    at_most: NDArray[np.intp],
    alpha: float,
    beta: float,
) -> Array:
    """Compute the normalised area of each resample, a row of ``positives`` and ``negatives``.

    A positive adds a ramp to the curve, from the FPR of the negatives above it to that of the
    negatives not below it (a step without ties); the area is the mean of the ramps' areas.
    """
    draws, n = negatives.shape
    areas = np.empty(draws)
    for draw in range(draws):
        drawn_below = np.zeros(n + 1, np.int32)
        for row in negatives[draw]:
            drawn_below[place[row] + 1] += 1
        for rank in range(n):
            drawn_below[rank + 1] += drawn_below[rank]
        total = 0.0
        for row in positives[draw]:
            start = 1 - drawn_below[at_most[row]] / n
            end = 1 - drawn_below[below[row]] / n
            total += _ramp_area(start, end, beta) - _ramp_area(start, end, alpha)
        areas[draw] = total / (positives.shape[1] * (beta - alpha))
    return areas


@kernel
def _ramp_area(start: float, end: float, x: float) -> float:
    """Area left of x under a line from 0 at ``start`` to 1 at ``end`` and level after it."""
    if x >= end:
        return x - (start + end) / 2
    return (x - start) ** 2 / (2 * (end - start)) if x > start else 0.0
