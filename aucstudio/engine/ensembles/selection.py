"""Weights of a combination: greedy selection with replacement, in bags.

Members join one by one, each time the one whose addition to the sum of those that joined before
(scores on a common scale) makes the criterion largest; one may join several times. The weights
are how often each did, up to the step where the criterion was largest. That is done in several
bags, each with rows drawn anew from either class, and the weights are averaged, which keeps
chance from deciding.

Caruana, Niculescu-Mizil, Crew and Ksikes (2004), Ensemble selection from libraries of models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.engine.roc.weights import effective_rows
from aucstudio.engine.types import Array, Index, Mask

BAGS = 20
STEPS = 20
# Of more rows, each bag draws so many of a class: chance is small then, and sorting is not.
_MOST_ROWS = 10_000
_DIGITS, _SAME = 6, 1e-12
# So many positives (or negatives) weigh as much as the belief that all members are equally good.
_BELIEF = 10.0


def select(
    scores: Array,
    positive: Mask,
    criterion: Criterion,
    steps: int = STEPS,
    row_weights: Array | None = None,
) -> Array:
    """Select members greedily; gives their weights, which sum to 1.

    Parameters
    ----------
    scores : ndarray of shape (members, N)
        Held-out scores of the rows on a common scale.
    positive : ndarray of bool, shape (N,)
    criterion : Criterion
    steps : int
        Members that join, counted with repetition.
    row_weights : ndarray of shape (N,), optional
        What the rows weigh in the criterion.
    """
    counts, total = np.zeros(len(scores)), np.zeros(scores.shape[1])
    best, kept = -np.inf, counts
    for _ in range(steps):
        joined = (_joined(total, member) for member in scores)
        reached = np.array([criterion(positive, one, row_weights) for one in joined])
        k = int(np.argmax(reached >= reached.max() - _SAME))
        counts[k] += 1
        total = total + scores[k]
        if reached[k] > best + _SAME:
            best, kept = reached[k], counts.copy()
    return np.asarray(kept / kept.sum())


def _joined(total: Array, scores: Array) -> Array:
    """Add up standardised scores; what differs by rounding is a tie."""
    return np.round(total + scores, _DIGITS)


def select_in_bags(
    scores: Array,
    positive: Mask,
    criterion: Criterion,
    rng: np.random.Generator,
    pulse: Callable[[float], object] = lambda fraction: None,
    bags: int = BAGS,
    row_weights: Array | None = None,
) -> Array:
    """Select in several bags of drawn rows; gives the mean weights, drawn towards equal ones.

    Parameters
    ----------
    scores, positive, criterion
        As for :func:`select`.
    rng : Generator
        Draws the rows of the bags.
    pulse : callable, optional
        Told the fraction done after each bag; what it raises ends the selection.
    bags : int
    row_weights : ndarray of shape (N,), optional
        They stay with the rows that are drawn.
    """
    if row_weights is not None and not row_weights.all():
        # A row of weight 0 is not there: a bag of such rows alone would tell nothing.
        there = row_weights > 0
        scores, positive, row_weights = scores[:, there], positive[there], row_weights[there]
    weights = np.zeros(len(scores))
    for bag, rows in enumerate(_bags(positive, rng, bags)):
        drawn = None if row_weights is None else row_weights[rows]
        weights += select(scores[:, rows], positive[rows], criterion, row_weights=drawn) / bags
        pulse((bag + 1) / bags)
    rarer = float(min(np.count_nonzero(positive), np.count_nonzero(~positive)))
    if row_weights is not None:
        rarer = min(effective_rows(row_weights[of]) for of in (positive, ~positive))
    trust = rarer / (rarer + _BELIEF)
    return np.asarray(trust * weights + (1.0 - trust) / len(scores))


def _bags(positive: Mask, rng: np.random.Generator, count: int) -> Iterator[Index]:
    classes = np.flatnonzero(positive), np.flatnonzero(~positive)
    for _ in range(count):
        drawn = [rng.choice(rows, min(len(rows), _MOST_ROWS)) for rows in classes]
        yield np.concatenate(drawn)
