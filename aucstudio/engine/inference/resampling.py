"""Bootstrap draws of rows or whole groups, in portions, so that they can be stopped."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array, Index, RowNumbers, portions
from aucstudio.engine.inference.areas import LEAST, Placements, few_words
from aucstudio.engine.inference.drawn_curves import deciding, polyline_areas
from aucstudio.engine.inference.results import (
    Interval,
    TestResult,
    absent_interval,
    check_level,
    comparison,
    quantile_level,
    silent,
    unanimous_interval,
)
from aucstudio.engine.monitor import Stopped

Progress = Callable[[float], object]
Units = tuple[Index, Index]

_ROWS_PER_PORTION = 200_000
_LEAST_IN_STRATUM = 5
_ATTEMPTS = 1000
_ROUNDING = 1e-13  # equal areas of different resamples differ by less, unequal ones by more


def resamples(
    m: int,
    n: int,
    draws: int,
    seed: int,
    progress: Progress | None,
    units: Units | None = None,
) -> Iterator[tuple[slice, RowNumbers, RowNumbers]]:
    """Draw rows of each class, ``draws`` times, in portions that fit the cache.

    Where rows come in groups, whole groups are drawn: those with positives alone, with negatives
    alone and with both classes as strata of fixed size. Strata of fewer than 5 groups are drawn
    together with the largest; draws without a row of either class are drawn again.

    Parameters
    ----------
    m, n : int
        Rows of the two classes.
    draws, seed : int
    progress : callable or None
        Receives the fraction done after every portion; returning True stops.
    units : (ndarray of int, ndarray of int), optional
        The groups of the rows of both classes.

    Yields
    ------
    part : slice
        Which of the draws these are.
    positives, negatives : ndarray of int, shapes (portion, m) and (portion, n)
        How many times each row is drawn.

    Raises
    ------
    Stopped
        If ``progress`` returned True.
    ValueError
        If draws is less than 2.
    """
    if draws < 2:
        raise ValueError(f"draws must be at least 2; it is {draws}.")
    rng = np.random.default_rng(seed)
    strata = [] if units is None else _strata(units)
    for part in portions(draws, m + n, _ROWS_PER_PORTION):
        count = part.stop - part.start
        if units is None:
            positives, negatives = (_times(rng, count, rows) for rows in (m, n))
        else:
            positives, negatives = _group_times(rng, count, strata, units)
        yield part, positives, negatives
        if progress is not None and progress(part.stop / draws):
            raise Stopped("bootstrap")


def _times(rng: np.random.Generator, draws: int, count: int) -> RowNumbers:
    """Draw so many of so many; return how many times each is drawn."""
    drawn = rng.integers(0, count, (draws, count), dtype=np.int32)
    places = drawn + count * np.arange(draws)[:, None]
    times = np.bincount(places.ravel(), minlength=drawn.size).reshape(drawn.shape)
    return times.astype(np.int32)


def _strata(units: Units) -> list[Index]:
    """Divide the groups by the classes that they have rows of."""
    count = 1 + max(int(of_class.max()) for of_class in units)
    has = [np.bincount(of_class, minlength=count) > 0 for of_class in units]
    kind = has[0] + 2 * has[1].astype(np.intp)
    strata = sorted((np.flatnonzero(kind == k) for k in (1, 2, 3)), key=len)
    large = [one for one in strata[:-1] if len(one) >= _LEAST_IN_STRATUM]
    small = [one for one in strata[:-1] if len(one) < _LEAST_IN_STRATUM]
    return [*large, np.concatenate([*small, strata[-1]])]


def _group_times(
    rng: np.random.Generator, draws: int, strata: list[Index], units: Units
) -> tuple[RowNumbers, RowNumbers]:
    """Draw groups within strata until every draw has rows of both classes."""
    times = np.zeros((draws, 1 + max(int(of_class.max()) for of_class in units)), np.int32)
    lacking = np.arange(draws)
    for _ in range(_ATTEMPTS):
        for groups in strata:
            times[np.ix_(lacking, groups)] = _times(rng, len(lacking), len(groups))
        some = [times[np.ix_(lacking, np.unique(of))].any(axis=1) for of in units]
        lacking = lacking[~(some[0] & some[1])]
        if not len(lacking):
            return times[:, units[0]], times[:, units[1]]
    raise ValueError("Almost no bootstrap draw of whole groups has rows of both classes.")


def drawn_rates(
    ranking: roc.Ranking, curve: roc.RocCurve, positives: RowNumbers, negatives: RowNumbers
) -> tuple[Array, Array]:
    """Compute the TPR and the FPR of each resample at the vertices of a curve.

    Rows are in descending order of the scores; where they are weighted, weights are added up.
    """
    rows, weights = curve.behind or curve, ranking.weights or (None, None)
    tpr = _rates_at(rows.tp, positives, weights[0])
    return tpr, _rates_at(rows.fp, negatives, weights[1])


def _rates_at(ends: NDArray[np.int64], times: RowNumbers, weights: Array | None) -> Array:
    """Compute in each resample the share of the weight of the drawn rows before each end."""
    drawn = times if weights is None else times * weights[::-1]
    sums = np.cumsum(drawn, axis=1, dtype=np.float64)
    rates: Array = np.where(ends > 0, sums[:, np.maximum(ends, 1) - 1], 0.0) / sums[:, -1:]
    return rates


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
    **rows: Unpack[roc.Sampled],
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
    one = Placements(roc.Ranking.of(y, score, **rows), (alpha, beta))
    if reason := _too_few(one):
        return absent_interval(one.area, level, reason)
    drawn = _resampled_areas([one], draws, seed, progress)[0]
    method = f"stratified bootstrap, {draws} draws"
    if not (se := _spread(drawn)) > 0:
        return unanimous_interval(one.area, level, method, one.trials(one.variance.sizes))
    return Interval(one.area, *_percentiles(drawn, one.variance.degrees, level), level, method, se)


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
    **rows: Unpack[roc.Sampled],
) -> TestResult:
    """Test whether two scores of the same rows have equal (partial) AUC by the paired bootstrap.

    Both scores see the same resamples. z is the difference over its bootstrap standard error, the
    bounds are percentiles; parameters and errors are those of :func:`bootstrap_interval`.
    """
    check_level(level)
    a, b = (Placements(roc.Ranking.of(y, of, **rows), (alpha, beta)) for of in (score_a, score_b))
    if reason := _too_few(a):
        return silent(a.area - b.area, level, reason)
    of_a, of_b = _resampled_areas([a, b], draws, seed, progress)
    variance, drawn = a.difference_variance(b), of_a - of_b
    trials, degrees = a.trials(variance.sizes), variance.degrees
    result = comparison(a.area - b.area, _spread(drawn), level, trials, degrees)
    if not result.se > 0:
        return result
    low, high = _percentiles(drawn, degrees, level)
    return dataclasses.replace(result, low=low, high=high)


def _too_few(one: Placements) -> str:
    """Return why there is nothing to draw from, or too little; empty where there is enough.

    Resamples show no new row, so that they cannot know the threshold at a band's end from few.
    """
    if reason := one.sampling.too_few:
        return reason
    rows = deciding(one.ranking, *one.band, 0.5, one.variance.sizes)
    whole = one.band == (0, 1)
    return "" if whole or rows.negatives >= LEAST else few_words(one.sampling, rows.negatives)


def _spread(drawn: Array) -> float:
    spread = float((drawn - drawn[0]).std(ddof=1))
    return spread if spread > _ROUNDING else 0.0


def _percentiles(drawn: Array, degrees: float, level: float) -> tuple[float, float]:
    level = quantile_level(level, degrees)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _resampled_areas(
    scorers: list[Placements], draws: int, seed: int, progress: Progress | None
) -> Array:
    """Draw the normalised area of each of some scores over the same resamples; (scores, draws)."""
    first, drawn = scorers[0].ranking, np.empty((len(scorers), draws))
    sizes = len(first.s), len(first.t)
    places = first.in_row_order(*map(np.arange, sizes))  # of the rows in the draws
    for part, positives, negatives in resamples(*sizes, draws, seed, progress, first.units):
        for of_score, one in zip(drawn, scorers, strict=True):
            ranking = one.ranking
            of_s, of_t = places[0][ranking.order_s[::-1]], places[1][ranking.order_t[::-1]]
            of_classes = positives[:, of_s], negatives[:, of_t]
            tpr, fpr = drawn_rates(ranking, ranking.curve, *of_classes)
            of_score[part] = polyline_areas(fpr, tpr, *one.band)
    return drawn


def cost_threshold_interval(
    ranking: roc.Ranking,
    cost_fp: float,
    cost_fn: float,
    prior: float,
    *,
    draws: int = 500,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> Interval:
    """Bound :func:`~roc.cost_threshold` by percentiles of the stratified bootstrap.

    Parameters
    ----------
    ranking : Ranking
    cost_fp, cost_fn : float
        Costs of one false positive and of one false negative.
    prior : float
        Share of positives where the scores will be used.
    draws : int
        Resamples, each within the classes.
    level : float
    seed : int
    progress : callable, optional
        Receives the fraction done now and then; returning True stops.

    Raises
    ------
    Stopped
        If ``progress`` returned True.
    ValueError
        Unless 0 < level < 1 and draws >= 2, and for what :func:`~roc.cost_threshold` refuses.
    """
    check_level(level)
    roc.check_costs(prior, cost_fp, cost_fn)
    curve, placed = ranking.curve, []
    of_s, of_t = ranking.order_s[::-1], ranking.order_t[::-1]
    units = ranking.units and ranking.in_row_order(*ranking.units)
    sizes = len(of_s), len(of_t)
    for _, positives, negatives in resamples(*sizes, draws, seed, progress, units):
        rates = drawn_rates(ranking, curve, positives[:, of_s], negatives[:, of_t])
        for tpr, fpr in zip(*rates, strict=True):
            met = np.append(True, (np.diff(tpr) > 0) | (np.diff(fpr) > 0))
            drawn = roc.RocCurve(fpr[met], tpr[met], curve.thresholds[met])
            placed.append(roc.cost_threshold(drawn, cost_fp, cost_fn, prior))
    low, high = np.quantile(placed, [(1 - level) / 2, (1 + level) / 2])
    value = roc.cost_threshold(ranking.curve, cost_fp, cost_fn, prior)
    method = f"stratified bootstrap, {draws} draws"
    return Interval(value, float(low), float(high), level, method, float(np.std(placed, ddof=1)))
