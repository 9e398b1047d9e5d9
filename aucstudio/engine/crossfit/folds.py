"""Assign rows to folds, stratified by class and with whole groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.types import Array, Index, Mask

Folds = list[tuple[Index, Index]]
"""Rows to train on and rows held out, fold by fold."""


def draw_folds(positive: Mask, groups: NDArray[Any] | None, count: int, seed: int) -> Folds:
    """Deal the rows into folds, each class evenly, groups whole; fewer where a class is small.

    Where no row can be held out so that both classes are left, the one fold trains on all rows.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    units = [len(np.unique(part)) for part in _by_class(positive, groups)]
    count = min(count, *units)
    everything = np.arange(len(positive))
    if count < 2:
        return [(everything, everything)]
    draw = StratifiedKFold if groups is None else StratifiedGroupKFold
    drawn = draw(count, shuffle=True, random_state=seed).split(positive, positive, groups)
    folds = [fold for fold in drawn if all(counts(positive[fold[0]]))]
    whole = sum(len(held) for _, held in folds) == len(positive)
    return folds if whole else [(everything, everything)]


def class_shares(positive: Mask, folds: Folds, each: Array | None = None) -> Array:
    """Weigh rows so that in every fold the classes count as they do among all rows."""
    own = np.ones(len(positive)) if each is None else each
    weights = np.empty(len(positive))
    for _, held in folds:
        for of_class in (positive, ~positive):
            here = held[of_class[held]]
            if len(here):
                weights[here] = own[here] * (own[of_class].sum() / own[here].sum())
    return weights


def _by_class(positive: Mask, groups: NDArray[Any] | None) -> Iterator[NDArray[Any]]:
    units = np.arange(len(positive)) if groups is None else groups
    yield units[positive]
    yield units[~positive]


def counts(positive: Mask) -> tuple[int, int]:
    """Count positives and negatives."""
    m = int(np.count_nonzero(positive))
    return m, len(positive) - m
