"""Greedy pairwise combination of features for the partial AUC.

Symbols: u_k columns of scores, of mean 0 and standard deviation 1; K their number; theta angle of
the combination cos(theta) u_p + sin(theta) u_q; [alpha, beta] FPR range.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Mask, class_counts
from aucstudio.engine.base import AUCClassifier
from aucstudio.engine.cost import Cost, Work, cost_of
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.params import param
from aucstudio.engine.scorers import LinearScorer
from aucstudio.engine.solvers.angle_search import MAX_SWEEP_PAIRS, AngleSearch, direction
from aucstudio.notices import notice

Found = tuple[float, float]


class GreedyPAUC(AUCClassifier):
    """Combines features two at a time; each step maximises the partial AUC directly.

    Minimises ``1 - pAUC(w.x; alpha, beta)`` over linear scores w.x, greedily, where pAUC is the
    normalised partial AUC of the training rows: the mean true positive rate over the FPR range.
    Without ties that is ``sum_ij g_j [1(s_i > v_(j)) + 1/2 1(s_i = v_(j))] / (m n (beta -
    alpha))`` with rank weights g_j; where a bound of the range cuts a block of ties, the part
    under the ROC curve counts. No constants differ from the paper's, which has none.

    The columns are the standardised features, without the constant ones. K - 1 times, the pair
    of columns and the angle with the largest ``pAUC(cos(theta) u_p + sin(theta) u_q)`` are sought,
    and the combination, rescaled to standard deviation 1, takes the place of the pair. Among equal
    values the smaller angle counts, then the earlier pair. Searches between old columns are
    remembered, so that K^2 or so are made in all; see
    :class:`~aucstudio.engine.solvers.angle_search.AngleSearch` for one of them. ``sequential``
    starts from the best feature and merges one of the others into it each time: K^2 / 2 searches.

    The best column met is the result, so that no feature, nor its negative, has a larger pAUC;
    merging ends early where pAUC is 1. The search is greedy: ``dual_gap_`` is None. ``n_iter_``
    counts the first look at the features and the merges.

    The outline is that of the papers' abstracts; selection strategies differ between papers of the
    same group. The details (angles, standardising, ties) are a recollection not checked against
    the original text. Merging the raw features over [alpha, beta] is the SVM-pAUC paper's use.

    References
    ----------
    Ricamato and Tortorella (2011), Partial AUC maximization in a linear combination of
    dichotomizers (Pattern Recognition 44); details as recalled.

    Marrocco, Duin and Tortorella (2008), for the AUC.

    Use when
    --------
    Few features that each rank well alone; gives weights that are easy to explain.
    """

    fpr_range: tuple[float, float] = param((0.0, 0.1))
    strategy: str = param("greedy")

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d, pairs = positives + negatives, features, positives * negatives
        searches = (d - 1) ** 2 if self.strategy == "greedy" else d * (d - 1) / 2
        if self.fpr_range == (0.0, 1.0) and pairs <= MAX_SWEEP_PAIRS:
            work = Work(numbers=60 * pairs, steps=2).times(searches)
            return cost_of(N, 80.0 * pairs + 16 * N * d, work)
        return cost_of(N, 16.0 * N * d, Work(numbers=900 * N, steps=80).times(searches))

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        features, scales, columns = _standardised(X, positive, monitor)
        if not columns:
            nothing, chance = LinearScorer(np.zeros(X.shape[1])), sum(self.fpr_range) / 2
            return Fit(nothing, 1.0 - chance, n_iter=1, notes=(notice("no_feature"),))
        best, met = None, 0
        try:
            for column in self._meet(columns, self._search(positive, len(columns), monitor)):
                met += 1
                if best is None or column.area > best.area:
                    best = column
                scorer = functools.partial(_unfolded, best.weights / scales, features, X.shape[1])
                loss = 1.0 - best.area
                if monitor.step(met, loss, total=len(columns), scorer=scorer) or loss <= 0.0:
                    break
        except Stopped:
            if best is None:
                raise
        return Fit(scorer(), loss, n_iter=met)

    def _search(self, positive: Mask, K: int, monitor: Monitor) -> AngleSearch:
        total = (K - 1) ** 2 if self.strategy == "greedy" else K * (K - 1) // 2

        def look() -> None:
            monitor.stage("pair searches", search.searches / total if total else None)

        alpha, beta = map(float, self.fpr_range)
        search = AngleSearch(*class_counts(positive), alpha, beta, look)
        return search

    def _meet(self, columns: list[_Column], search: AngleSearch) -> Iterator[_Column]:
        """Return the best feature and then each merged column."""
        signed = [side for column in columns for side in _both_signs(column, search)]
        first = int(np.argmax([side.area for side in signed]))
        yield signed[first]
        if self.strategy == "greedy":
            yield from _merge_pairs(columns, search)
        else:
            yield from _merge_into(
                signed[first], columns[: first // 2] + columns[first // 2 + 1 :], search
            )


@dataclasses.dataclass(frozen=True, eq=False)
class _Column:
    """Scores of the rows, positives first, and the weights of the standardised features."""

    scores: Array
    weights: Array
    area: float = 0.0


def _standardised(
    X: Array, positive: Mask, monitor: Monitor
) -> tuple[NDArray[np.intp], Array, list[_Column]]:
    """Return the features that vary, their standard deviations, and a column for each."""
    rows = np.concatenate([np.flatnonzero(positive), np.flatnonzero(~positive)])
    features = np.flatnonzero(np.ptp(X, axis=0))
    scales, columns = np.empty(len(features)), []
    for k, unit in enumerate(np.eye(len(features))):
        monitor.stage("standardising", k / len(features))
        scores = X[rows, features[k]]
        scores -= scores.mean()
        scores -= scores.mean()  # far from 0, the first mean has rounding errors
        largest = np.abs(scores).max()
        scores /= largest  # squares of tiny numbers would be 0
        deviation = scores.std()
        scales[k] = largest * deviation
        columns.append(_Column(scores / deviation, unit))
    return features, scales, columns


def _unfolded(weights: Array, features: NDArray[np.intp], n_features: int) -> LinearScorer:
    unfolded = np.zeros(n_features)
    unfolded[features] = weights
    return LinearScorer(unfolded)


def _both_signs(column: _Column, search: AngleSearch) -> Iterator[_Column]:
    for sign in (1.0, -1.0):
        scores = sign * column.scores
        yield _Column(scores, sign * column.weights, search.area(scores))


def _merge_pairs(columns: list[_Column], search: AngleSearch) -> Iterator[_Column]:
    """Merge the best pair until one column is left."""
    left = dict(enumerate(columns))
    found = {(p, q): _angle(left, p, q, search) for p, q in itertools.combinations(left, 2)}
    for new in range(len(columns), 2 * len(columns) - 1):
        p, q = best = min(found, key=lambda pair: _by_merit(found[pair]))
        merged = _merged(left.pop(p), left.pop(q), *found[best])
        yield merged
        found = {pair: value for pair, value in found.items() if not {p, q} & set(pair)}
        left[new] = merged
        found |= {(old, new): _angle(left, old, new, search) for old in left if old != new}


def _merge_into(start: _Column, others: list[_Column], search: AngleSearch) -> Iterator[_Column]:
    """Merge the column that helps most into the one so far, until none is left."""
    column, left = start, dict(enumerate(others))
    while left:
        found = {q: search.best(column.scores, other.scores) for q, other in left.items()}
        best = min(found, key=lambda q: _by_merit(found[q]))
        column = _merged(column, left.pop(best), *found[best])
        yield column


def _angle(columns: dict[int, _Column], p: int, q: int, search: AngleSearch) -> Found:
    return search.best(columns[p].scores, columns[q].scores)


def _by_merit(found: Found) -> tuple[float, float]:
    area, theta = found
    return -area, abs(theta)


def _merged(u: _Column, v: _Column, area: float, theta: float) -> _Column:
    cos, sin = direction(theta)
    scores = cos * u.scores + sin * v.scores
    deviation = scores.std()
    return _Column(scores / deviation, (cos * u.weights + sin * v.weights) / deviation, area)
