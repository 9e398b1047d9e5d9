"""Weights of a combination, fitted on held-out scores.

Symbols: m, n numbers of positives and negatives; [alpha, beta] FPR range.

For the whole curve the weights are those of a logistic regression of the class on the scores, with
weights that are not negative and are drawn towards equal ones. Where a range of false-positive
rates counts, they are averaged with weights that are selected for the criterion.

Greedy selection: members join one by one, each time the one whose addition to the sum of those that
joined before makes the criterion largest; one may join several times. The weights are how often
each did, up to the step where the criterion was largest. That is done in several bags, each with
drawn rows of either class, and the weights are averaged.

Breiman (1996), Stacked regressions. Caruana, Niculescu-Mizil, Crew and Ksikes (2004), Ensemble
selection from libraries of models.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from aucstudio.engine.arrays import Array, Mask
from aucstudio.engine.compiled import kernel
from aucstudio.engine.roc import effective_rows

# With so many rows of either class in the range, the partial AUC has the weight of the AUC.
_ENOUGH_ROWS = 50.0


@dataclasses.dataclass(frozen=True)
class Criterion:
    """A weighted mean of the AUC and the normalised partial AUC; ties count one half.

    Attributes
    ----------
    low, high : float
        The FPR range of the partial AUC.
    share : float
        Weight of the partial AUC, within [0, 1].
    """

    low: float = 0.0
    high: float = 1.0
    share: float = 0.0

    @classmethod
    def of_range(
        cls,
        fpr_range: tuple[float, float] | None,
        positive: Mask,
        weights: Array | None = None,
    ) -> Criterion:
        """Choose the blend for an FPR range: the fewer rows decide the range, the less it counts.

        Where few rows decide, the AUC of a sample is a better estimate of the partial AUC of the
        population than the partial AUC of the sample is.

        Parameters
        ----------
        fpr_range : (float, float) or None
            None for the AUC alone.
        positive : ndarray of bool, shape (N,)
        weights : ndarray of shape (N,), optional
            Rows count as effective rows.
        """
        if fpr_range is None:
            return cls()
        low, high = map(float, fpr_range)
        each = np.ones(len(positive)) if weights is None else weights
        m, n = effective_rows(each[positive]), effective_rows(each[~positive])
        deciding = min(m, (high - low) * n)
        return cls(low, high, deciding / (deciding + _ENOUGH_ROWS))

    def __call__(self, positive: Mask, scores: Array, weights: Array | None = None) -> float:
        """Compute it for scores of rows, all shape (N,), in O(N log N)."""
        order = np.argsort(-scores)
        each = np.ones(len(scores)) if weights is None else weights
        area, part = _areas(positive[order], scores[order], each[order], self.low, self.high)
        return float((1.0 - self.share) * area + self.share * part)


@kernel
def _areas(
    positive: Mask, scores: Array, weights: Array, low: float, high: float
) -> tuple[float, float]:
    """Return AUC and normalised partial AUC of rows that are sorted by falling score."""
    N, m, n = len(scores), 0.0, 0.0
    for i in range(N):
        if positive[i]:
            m += weights[i]
        else:
            n += weights[i]
    area, part = 0.0, 0.0
    fp, tp, i = 0.0, 0.0, 0
    while i < N:
        ups, rights, k = 0.0, 0.0, i
        while k < N and scores[k] == scores[i]:
            if positive[k]:
                ups += weights[k]
            else:
                rights += weights[k]
            k += 1
        if rights:
            area += rights * (tp + 0.5 * ups)
            # The piece of this straight run between the ends of the range, in rows.
            left, right = max(low * n - fp, 0.0), min(high * n - fp, 1.0 * rights)
            if right > left:
                part += (right - left) * (tp + ups * (left + right) / (2.0 * rights))
        fp += rights
        tp += ups
        i = k
    return area / (m * n), part / (m * n * (high - low))


BAGS = 20
STEPS = 20
MOST_ROWS = 10_000
"""Of more rows of a class, each bag draws so many: chance is small then, and sorting is not."""

_DIGITS, _SAME = 6, 1e-12
# So many positives (or negatives) weigh as much as the belief that all members are equally good.
_BELIEF = 10.0


def choose_weights(
    scores: Array,
    positive: Mask,
    criterion: Criterion,
    rng: np.random.Generator,
    pulse: Callable[[float], object] = lambda fraction: None,
    bags: int = BAGS,
    row_weights: Array | None = None,
) -> Array:
    """Return the weights of members, shape (members,), which sum to 1.

    Parameters
    ----------
    scores, positive, criterion, rng, pulse, bags, row_weights
        As for :func:`select_in_bags`.
    """
    stacked = stack(scores, positive, rng, row_weights)
    if criterion.share == 0.0:
        pulse(1.0)
        return stacked
    selected = select_in_bags(scores, positive, criterion, rng, pulse, bags, row_weights)
    return np.asarray((stacked + selected) / 2.0)


def stack(
    scores: Array, positive: Mask, rng: np.random.Generator, row_weights: Array | None = None
) -> Array:
    """Return the weights of a logistic regression on the members' scores, scaled to sum to 1.

    Minimises the mean log-loss, both classes weighing the same, plus ``lambda / 2`` times the sum
    of squares of the weights about their mean, over weights that are not negative; ``lambda`` is 10
    divided by the rows of the rarer class.

    Parameters
    ----------
    scores : ndarray of shape (members, N)
        Held-out scores on a common scale.
    positive : ndarray of bool, shape (N,)
    rng : Generator
        Draws rows where a class has more than 10,000.
    row_weights : ndarray of shape (N,), optional
    """
    each = np.ones(len(positive)) if row_weights is None else row_weights
    classes = [np.flatnonzero(of & (each > 0.0)) for of in (positive, ~positive)]
    rarer = min(effective_rows(each[rows]) for rows in classes)
    kept = [
        rows if len(rows) <= MOST_ROWS else np.sort(rng.choice(rows, MOST_ROWS, replace=False))
        for rows in classes
    ]
    rows = np.concatenate(kept)
    z, signs = scores[:, rows], np.where(positive[rows], 1.0, -1.0)
    costs = np.concatenate([each[of] / (2.0 * each[of].sum()) for of in kept])
    members, pull = len(scores), _BELIEF / rarer

    from scipy.special import expit  # loaded here: listing the methods does without it

    def loss(point: Array) -> tuple[float, Array]:
        weights = point[:-1]
        margins = signs * (weights @ z + point[-1])
        slopes = -signs * costs * expit(-margins)
        away = weights - weights.mean()
        value = costs @ np.logaddexp(0.0, -margins) + 0.5 * pull * (away @ away)
        return float(value), np.append(z @ slopes + pull * away, slopes.sum())

    from scipy.optimize import minimize

    start = np.append(np.full(members, 1.0 / members), 0.0)
    bounds = [(0.0, None)] * members + [(None, None)]
    ends = {"ftol": 1e-13, "gtol": 1e-9, "maxiter": 1_000}
    done = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=ends)
    found = done.x[:-1]
    if found.sum() <= 0.0:  # no member ranks better than chance
        return np.full(members, 1.0 / members)
    return np.asarray(found / found.sum())


def select(
    scores: Array,
    positive: Mask,
    criterion: Criterion,
    steps: int = STEPS,
    row_weights: Array | None = None,
) -> Array:
    """Select members greedily; returns their weights, which sum to 1.

    Parameters
    ----------
    scores : ndarray of shape (members, N)
        Held-out scores of the rows on a common scale.
    positive : ndarray of bool, shape (N,)
    criterion : Criterion
    steps : int
        Members that join, counted with repetition.
    row_weights : ndarray of shape (N,), optional
        How much each row counts in the criterion.
    """
    counts, total = np.zeros(len(scores)), np.zeros(scores.shape[1])
    best, kept = -np.inf, counts
    for _ in range(steps):
        joined = (np.round(total + member, _DIGITS) for member in scores)  # equal but for rounding
        reached = np.array([criterion(positive, one, row_weights) for one in joined])
        k = int(np.argmax(reached >= reached.max() - _SAME))
        counts[k] += 1
        total = total + scores[k]
        if reached[k] > best + _SAME:
            best, kept = reached[k], counts.copy()
    return np.asarray(kept / kept.sum())


def select_in_bags(
    scores: Array,
    positive: Mask,
    criterion: Criterion,
    rng: np.random.Generator,
    pulse: Callable[[float], object] = lambda fraction: None,
    bags: int = BAGS,
    row_weights: Array | None = None,
) -> Array:
    """Select in several bags of drawn rows; returns the mean weights, drawn towards equal ones.

    Parameters
    ----------
    scores, positive, criterion
        As for :func:`select`.
    rng : Generator
        Draws the rows of the bags.
    pulse : callable, optional
        Called with the fraction done after each bag; an exception of it ends the selection.
    bags : int
    row_weights : ndarray of shape (N,), optional
        They stay with the rows that are drawn.
    """
    each = np.ones(len(positive)) if row_weights is None else row_weights
    # A row of weight 0 takes no part: a bag of such rows alone has no criterion.
    there = each > 0
    scores, positive, each = scores[:, there], positive[there], each[there]
    weights, classes = np.zeros(len(scores)), (np.flatnonzero(positive), np.flatnonzero(~positive))
    for bag in range(bags):
        rows = np.concatenate([rng.choice(of, min(len(of), MOST_ROWS)) for of in classes])
        drawn = scores[:, rows], positive[rows]
        weights += select(*drawn, criterion, row_weights=each[rows]) / bags
        pulse((bag + 1) / bags)
    rarer = min(effective_rows(each[of]) for of in (positive, ~positive))
    trust = rarer / (rarer + _BELIEF)
    return np.asarray(trust * weights + (1.0 - trust) / len(scores))
