"""Folds, stratified by class and with whole groups, and nested estimates over them.

The maximum over many candidates on the same rows is too high, the more so the more candidates
there are. Here every fold is scored by the candidate, or with the weights, that the other folds
chose, and the scores of all folds are judged together.

Varma and Simon (2006), Bias in error estimation when using cross-validation for model selection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index, Mask, class_counts
from aucstudio.engine.ensembles.selection import Criterion

Folds = list[tuple[Index, Index]]
"""Rows to train on and rows held out, fold by fold."""


def draw_folds(positive: Mask, groups: NDArray[Any] | None, count: int, seed: int) -> Folds:
    """Deal the rows into folds, each class evenly, groups whole; fewer where a class is small.

    Where no row can be held out so that both classes are left, the one fold trains on all rows.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    everything = np.arange(len(positive))
    units = everything if groups is None else groups
    count = min(count, *(len(np.unique(units[of])) for of in (positive, ~positive)))
    if count < 2:
        return [(everything, everything)]
    draw = StratifiedKFold if groups is None else StratifiedGroupKFold
    drawn = draw(count, shuffle=True, random_state=seed).split(positive, positive, groups)
    folds = [fold for fold in drawn if all(class_counts(positive[fold[0]]))]
    whole = sum(len(held) for _, held in folds) == len(positive)
    return folds if whole else [(everything, everything)]


def fold_weights(positive: Mask, folds: Folds, each: Array | None = None) -> Array:
    """Weigh rows so that in every fold the classes count as they do among all rows."""
    own = np.ones(len(positive)) if each is None else each
    weights = np.empty(len(positive))
    for _, held in folds:
        for of_class in (positive, ~positive):
            here = held[of_class[held]]
            if len(here):
                weights[here] = own[here] * (own[of_class].sum() / own[here].sum())
    return weights


_MOST_DRAWS, _FEWEST_DRAWS = 200, 50
_ROWS_DRAWN = 4_000_000  # in all draws together


def nested_scores(folds: Folds, score: Callable[[int, Index, Index], Array]) -> Array:
    """Return the scores of rows that had no part in the choice, shape (N,).

    Parameters
    ----------
    folds : list of (ndarray, ndarray)
        Rows to choose on, and rows to score.
    score : callable
        Given the number of a fold and both parts of it, chooses on the first part and returns the
        scores of the second.
    """
    total = np.empty(sum(len(held) for _, held in folds))
    for k, (choosing, held) in enumerate(folds):
        total[held] = score(k, choosing, held)
    return total


def best_alone(
    scores: Array, positive: Mask, criterion: Criterion, weights: Array | None = None
) -> int:
    """Return the number of the candidate with the highest criterion; the first wins a tie."""
    return int(np.argmax([criterion(positive, one, weights) for one in scores]))


def lead_of(
    criterion: Criterion,
    positive: Mask,
    one: Array,
    other: Array,
    weights: Array | None = None,
    groups: Index | None = None,
) -> tuple[float, float]:
    """Return the criterion of one minus that of the other, and its standard error.

    The error is the standard deviation over bootstrap samples of the rows of each class, or of
    whole groups.
    """
    lead = criterion(positive, one, weights) - criterion(positive, other, weights)
    drawn = [
        criterion(positive, one, counts) - criterion(positive, other, counts)
        for counts in drawn_weights(positive, weights, groups)
    ]
    return lead, float(np.std(drawn, ddof=1)) if len(drawn) > 1 else float("inf")


def drawn_weights(
    positive: Mask, weights: Array | None = None, groups: Index | None = None
) -> Iterator[Array]:
    """Draw bootstrap samples; yields how much each row counts in a sample.

    Without groups each class keeps its number of rows. A sample of groups without rows of both
    classes is left out.
    """
    rng, rows = np.random.default_rng(0), len(positive)
    own = np.ones(rows) if weights is None else weights
    codes = None if groups is None else np.unique(groups, return_inverse=True)[1]
    for _ in range(max(_FEWEST_DRAWS, min(_MOST_DRAWS, _ROWS_DRAWN // rows))):
        if codes is None:
            classes = np.flatnonzero(positive), np.flatnonzero(~positive)
            chosen = np.concatenate([rng.choice(of, len(of)) for of in classes])
            drawn = own * np.bincount(chosen, minlength=rows)
        else:
            count = int(codes.max()) + 1
            drawn = own * np.bincount(rng.integers(count, size=count), minlength=count)[codes]
        if drawn[positive].any() and drawn[~positive].any():
            yield drawn
