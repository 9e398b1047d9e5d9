"""The threshold of least expected cost, and how far chance moves it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine import roc
from aucstudio.engine.compiled import kernel
from aucstudio.engine.inference.resampling import resamples
from aucstudio.engine.inference.results import Interval, check_level
from aucstudio.engine.roc.thresholds import check_costs
from aucstudio.engine.types import Array, Index, RowNumbers

_NONE = np.empty(0)


def cost_threshold_interval(
    y: ArrayLike,
    score: ArrayLike,
    cost_fp: float,
    cost_fn: float,
    prior: float,
    *,
    draws: int = 500,
    level: float = 0.95,
    seed: int = 0,
    progress: Callable[[float], object] | None = None,
    positive: object = None,
    weights: ArrayLike | None = None,
    weight_kind: str = roc.SAMPLING,
    groups: ArrayLike | None = None,
) -> Interval:
    """Bound :func:`~roc.cost_threshold` by percentiles of the stratified bootstrap.

    Parameters
    ----------
    y, score : array-like of shape (n_samples,)
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
    positive : label, optional
    weights : array-like of shape (n_samples,), optional
        They stay with the rows that are drawn.
    weight_kind : {"sampling", "frequency"}
        A row of frequency weight k is drawn as k rows are.
    groups : array-like of shape (n_samples,), optional
        Labels of the groups that rows were sampled in, which are drawn as a whole.

    Raises
    ------
    Stopped
        If ``progress`` returned True.
    ValueError
        Unless 0 < level < 1 and draws >= 2, and for what :func:`~roc.cost_threshold` refuses.
    """
    check_level(level)
    check_costs(prior, cost_fp, cost_fn)
    sampled: roc.Sampled = {"weights": weights, "weight_kind": weight_kind, "groups": groups}
    ranking = roc.Ranking.of(y, score, positive=positive, **sampled)
    s, t = ranking.in_row_order(ranking.s, ranking.t)
    m, of_s, of_t, units = len(s), _NONE, _NONE, ranking.units
    if ranking.weight_s is not None and ranking.weight_t is not None:
        of_s, of_t = ranking.in_row_order(ranking.weight_s, ranking.weight_t)
    if units is not None:
        units = ranking.in_row_order(*units)
    ascending, group = np.unique(np.concatenate([s, t]), return_inverse=True)
    scores = ascending[::-1]  # as a curve runs
    place = len(scores) - 1 - group
    gains = cost_fn * prior / m, cost_fp * (1 - prior) / len(t)
    places = place[:m], place[m:], of_s, of_t
    placed = np.empty(draws)
    for part, positives, negatives in resamples(m, len(t), draws, seed, progress, units):
        ends = _cheapest(positives, negatives, *places, *gains, len(scores))
        placed[part] = [_cut(scores, above, below) for above, below in ends]
    low, high = np.quantile(placed, [(1 - level) / 2, (1 + level) / 2])
    value = roc.cost_threshold(
        roc.roc_curve(y, score, positive=positive, weights=weights), cost_fp, cost_fn, prior
    )
    method = f"stratified bootstrap, {draws} draws"
    return Interval(value, float(low), float(high), level, method, float(placed.std(ddof=1)))


@kernel
def _cheapest(
    positives: RowNumbers,
    negatives: RowNumbers,
    place_s: Index,
    place_t: Index,
    weight_s: Array,
    weight_t: Array,
    gain: float,
    loss: float,
    groups: int,
) -> Index:
    """Find between which two drawn scores each resample's threshold lies.

    Gives the places, among all scores from the highest, of the last one above it (-1 where there
    is none) and of the first one below it (``groups`` where there is none). Without weights every
    row counts once; ``gain`` and ``loss`` are those of a row of mean weight.
    """
    weighted = len(weight_s) > 0
    ends = np.empty((len(positives), 2), np.intp)
    for draw in range(len(positives)):
        tp, fp = np.zeros(groups), np.zeros(groups)
        total_s, total_t = 0.0, 0.0
        for row in range(positives.shape[1]):
            weight = positives[draw, row] * (weight_s[row] if weighted else 1.0)
            tp[place_s[row]] += weight
            total_s += weight
        for row in range(negatives.shape[1]):
            weight = negatives[draw, row] * (weight_t[row] if weighted else 1.0)
            fp[place_t[row]] += weight
            total_t += weight
        unit_s, unit_t = total_s / positives.shape[1], total_t / negatives.shape[1]
        best, above, below, found, alarms = 0.0, -1, -1, 0.0, 0.0
        for k in range(groups):
            if tp[k] + fp[k] == 0:
                continue
            if below < 0:
                below = k
            found += tp[k]
            alarms += fp[k]
            saved = gain / unit_s * found - loss / unit_t * alarms
            if saved > best:
                best, above, below = saved, k, -1
        ends[draw, 0] = above
        ends[draw, 1] = groups if below < 0 else below
    return ends


def _cut(scores: Array, above: int, below: int) -> float:
    if above < 0:
        return float(scores[below])
    if below == len(scores):
        return float(np.nextafter(scores[above], -np.inf))
    return float(scores[above] / 2 + scores[below] / 2)
