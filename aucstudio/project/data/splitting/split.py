"""Which rows train and which are held out, drawn from a seed."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.splitting.enough import (
    pairs_break_groups,
    require_both_parts,
    require_enough,
    require_groups,
)
from aucstudio.project.data.splitting.forward import (
    forward_parts,
    lacks_class,
    most_steps,
    times_of,
)
from aucstudio.project.data.splitting.grouped_draws import draw_fold_numbers, draw_test_groups
from aucstudio.project.data.splitting.groups import Groups
from aucstudio.project.data.splitting.validation import (
    BOUNDS,
    FILE,
    FOLDS,
    FORWARD,
    LEAVE_PAIR_OUT,
    Validation,
)
from aucstudio.project.errors import InputError
from aucstudio.project.words import counted

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]


@dataclasses.dataclass(frozen=True, eq=False)
class Split:
    """One division of the labelled rows.

    Attributes
    ----------
    repeat, fold : int
    train, test : ndarray of int
        Positions among the labelled rows; ``test`` counts in the test file's rows where there
        is one.
    """

    repeat: int
    fold: int
    train: Rows
    test: Rows


def splits_of(table: AnyTable, validation: Validation) -> list[Split]:
    """Draw all splits of a table; see :func:`draw_splits`."""
    times = times_of(table, validation.time) if validation.scheme == FORWARD else None
    return draw_splits(table.is_positive(), validation, table.groups, times)


def draw_splits(
    positive: Mask,
    validation: Validation,
    groups: Groups | None = None,
    times: NDArray[np.float64] | None = None,
) -> list[Split]:
    """Draw all splits of a scheme, stratified by class.

    Parameters
    ----------
    positive : ndarray of bool
        The labelled rows' class.
    validation : Validation
    groups : Groups, optional
        Rows that stay on one side of every split.
    times : ndarray of float, optional
        Of the labelled rows, for ``"forward"``.

    Raises
    ------
    InputError
        If a class is too small for the scheme, or lies within too few groups or times.
    """
    everything = np.arange(len(positive))
    if validation.scheme == FILE:
        return [Split(0, 0, everything, np.empty(0, dtype=np.intp))]
    require_enough(int(min(positive.sum(), (~positive).sum())), validation)
    if validation.scheme == LEAVE_PAIR_OUT:
        if groups is not None:
            raise pairs_break_groups(groups.words)
        return [Split(0, 0, everything, everything)]
    if validation.scheme == FORWARD:
        assert times is not None
        return _forward(positive, validation, groups, times)
    if groups is not None:
        require_groups(positive, validation, groups)
    if validation.scheme == FOLDS:
        return _folds(positive, validation, groups)
    if groups is not None:
        return _grouped_hold_outs(positive, validation, groups)
    require_both_parts(positive, validation)
    from sklearn.model_selection import StratifiedShuffleSplit

    drawn = StratifiedShuffleSplit(
        validation.repeats, test_size=validation.test_size, random_state=validation.seed
    )
    pairs = drawn.split(everything, positive)
    return _checked([Split(r, 0, train, test) for r, (train, test) in enumerate(pairs)], positive)


def _forward(
    positive: Mask, validation: Validation, groups: Groups | None, times: NDArray[np.float64]
) -> list[Split]:
    codes, how = None if groups is None else groups.codes, (validation.gap, validation.window)
    parts = forward_parts(times, validation.folds, *how, codes)
    short = None if parts is None else lacks_class(parts, positive)
    if parts is not None and short is None:
        return [Split(0, k, train, test) for k, (train, test) in enumerate(parts)]
    steps, _ = most_steps(times, positive, validation.folds - 1, *how, codes)
    known = np.unique(times[~np.isnan(times)])
    if parts is None or short is None:
        count = counted(len(known), "different time")
        why = f"{validation.time} has {count}, and each step needs a new one"
    else:
        what = "trains on" if _one_class(positive[parts[short][0]]) else "judges"
        why = f"step {short + 1} {what} rows of one class only, or none"
    if steps < BOUNDS["folds"][0]:
        instead = (
            "a smaller gap, a wider window or another scheme" if any(how) else "another scheme"
        )
    else:
        instead = f"{steps} steps"
    raise InputError(
        f"{validation.describe()} cannot be made: {why}; choose {instead}", setting="folds"
    )


def _one_class(positive: Mask) -> bool:
    return bool(positive.all() or not positive.any())


def _grouped_hold_outs(positive: Mask, validation: Validation, groups: Groups) -> list[Split]:
    counts = groups.class_counts(positive)
    splits = []
    for repeat in range(validation.repeats):
        drawn = draw_test_groups(counts, validation.test_size, (validation.seed, repeat))
        held = drawn[groups.codes]
        splits.append(Split(repeat, 0, np.flatnonzero(~held), np.flatnonzero(held)))
    return splits


def _folds(positive: Mask, validation: Validation, groups: Groups | None) -> list[Split]:
    splits = []
    for repeat in range(validation.repeats):
        numbers = fold_numbers(positive, validation.folds, validation.seed + repeat, groups)
        if numbers is None:
            raise InputError(
                f"no way was found to deal the groups of {groups.words if groups else ''} out into "
                f"{validation.folds} folds that each have both classes: choose "
                f"{'fewer folds or ' if validation.folds > 2 else ''}hold-out",
                setting="folds",
            )
        splits += [
            Split(repeat, fold, np.flatnonzero(numbers != fold), np.flatnonzero(numbers == fold))
            for fold in range(validation.folds)
        ]
    return splits


def fold_numbers(
    positive: Mask, folds: int, seed: int, groups: Groups | None = None
) -> Rows | None:
    """Deal rows out into stratified folds: the number of the one that tests each.

    None where groups that are kept together would leave a fold without a class.
    """
    if groups is not None:
        counts = groups.class_counts(positive)
        return draw_fold_numbers(positive, groups.codes, counts, folds, seed)
    from sklearn.model_selection import StratifiedKFold

    numbers = np.empty(len(positive), dtype=np.intp)
    drawn = StratifiedKFold(folds, shuffle=True, random_state=seed)
    for fold, (_, test) in enumerate(drawn.split(positive, positive)):
        numbers[test] = fold
    return numbers


def _checked(splits: list[Split], positive: Mask) -> list[Split]:
    for split in splits:
        for rows, part in ((split.train, "training"), (split.test, "test")):
            if positive[rows].all() or not positive[rows].any():
                raise InputError(
                    f"the {part} part would hold one class only: choose a "
                    f"{'larger' if part == 'test' else 'smaller'} test part",
                    setting="test_size",
                )
    return splits
