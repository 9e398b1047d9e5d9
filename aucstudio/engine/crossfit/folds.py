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
    count = min(count, fewest_units(positive, groups))
    everything = np.arange(len(positive))
    if count < 2:
        return [(everything, everything)]
    codes = None if groups is None else np.unique(groups, return_inverse=True)[1]
    numbers = fold_numbers(positive, codes, count, seed)
    drawn = [(np.flatnonzero(numbers != k), np.flatnonzero(numbers == k)) for k in range(count)]
    folds = [fold for fold in drawn if len(fold[1]) and all(class_counts(positive[fold[0]]))]
    whole = sum(len(held) for _, held in folds) == len(positive)
    return folds if whole else [(everything, everything)]


def fold_numbers(positive: Mask, groups: Index | None, folds: int, seed: int) -> Index:
    """Assign rows, or whole groups of them, to folds; return the fold of each row.

    Groups with equal class counts are spread evenly; scikit-learn assigns only the last few of
    each kind so that classes are balanced, because it is slow for many groups.

    Parameters
    ----------
    positive : ndarray of bool, shape (rows,)
        Each class has at least as many rows, or is in as many groups, as there are folds.
    groups : ndarray of int, optional
        The group of each row, numbered from 0.
    folds : int
    seed : int
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    if groups is None:
        numbers, left = np.empty(len(positive), dtype=np.intp), np.arange(len(positive))
        drawn = StratifiedKFold(folds, shuffle=True, random_state=seed).split(positive, positive)
    else:
        counts = [
            np.bincount(groups[of], minlength=groups.max() + 1) for of in (positive, ~positive)
        ]
        alike = GroupKinds(np.stack(counts, axis=1), np.random.default_rng(seed))
        # At least one group per fold of each kind is left to scikit-learn, so that no class is
        # short.
        dealt = np.maximum(alike.members // folds - 1, 0) * folds
        numbers = (alike.place % folds)[groups]
        left = np.flatnonzero((alike.place >= dealt[alike.kind])[groups])
        drawn = StratifiedGroupKFold(folds, shuffle=True, random_state=seed).split(
            positive[left], positive[left], groups[left]
        )
    for fold, (_, test) in enumerate(drawn):
        numbers[left[test]] = fold
    return numbers


class GroupKinds:
    """Groups by kind, that is by equal class counts, in random order.

    Attributes
    ----------
    kinds : ndarray of int, shape (kinds, 2)
        Rows by class.
    members : ndarray of int, shape (kinds,)
        Number of groups of each kind.
    kind, place : ndarray of int, shape (groups,)
        The kind of each group, and its position among those of its kind.
    """

    def __init__(self, counts: NDArray[np.intp], rng: np.random.Generator) -> None:
        self.kinds, kind, self.members = np.unique(
            counts, axis=0, return_inverse=True, return_counts=True
        )
        self.kind = kind.ravel()
        shuffled = np.lexsort((rng.random(len(counts)), self.kind))
        first = np.cumsum(self.members) - self.members
        self.place = np.empty(len(counts), dtype=np.intp)
        self.place[shuffled] = np.arange(len(counts)) - first[self.kind[shuffled]]


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


def fewest_units(positive: Mask, groups: NDArray[Any] | None) -> int:
    """Count the rows, or the groups with rows, of the rarer class."""
    units = np.arange(len(positive)) if groups is None else groups
    return min(len(np.unique(units[of_class])) for of_class in (positive, ~positive))


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
