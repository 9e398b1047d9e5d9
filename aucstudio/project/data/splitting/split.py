"""Validation schemes: which rows train and which are held out, from a seed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.splitting.forward import (
    forward_parts,
    lacks_class,
    most_steps,
    times_of,
)
from aucstudio.project.data.splitting.grouped_draws import draw_fold_numbers, draw_test_groups
from aucstudio.project.data.splitting.groups import Groups
from aucstudio.project.errors import InputError

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]

HOLD_OUT, FOLDS, FILE, LEAVE_PAIR_OUT = "holdout", "folds", "file", "leave-pair-out"
FORWARD = "forward"
SCHEMES = (HOLD_OUT, FOLDS, FORWARD, FILE, LEAVE_PAIR_OUT)
# Seeds of the repeats count on from the first, and are numbers of 32 bits.
_FEW_TO_JUDGE, _FEW_TO_LEARN = 10, 5
_OF_FORWARD = ("time", "gap", "window")
_BOUNDS = {"folds": (2, 1_000_000), "repeats": (1, 100_000), "seed": (0, 4_294_000_000)}


@dataclasses.dataclass(frozen=True)
class Validation:
    """How rows are held out.

    Attributes
    ----------
    scheme : {"holdout", "folds", "forward", "file", "leave-pair-out"}
        ``"forward"`` trains on earlier rows and judges on later ones;
        see :mod:`aucstudio.project.data.splitting.forward`.
        The last trains on all rows, and orders each pair by a training without it, which only
        methods with a closed form can do.
    test_size : float
        Fraction held out by ``"holdout"``.
    folds : int
        Of ``"forward"``, how many blocks are judged.
    repeats : int
        How often a hold-out or a k-fold partition is drawn anew.
    seed : int
    test_file : str
        Path of the table that ``"file"`` tests on.
    time : str
        The column that ``"forward"`` orders rows by.
    gap, window : float
        Of ``"forward"``, in the unit of the column: how much earlier training rows are at least,
        and how far back they reach, which is without end if 0.
    """

    scheme: str = HOLD_OUT
    test_size: float = 0.25
    folds: int = 5
    repeats: int = 1
    seed: int = 0
    test_file: str = ""
    time: str = ""
    gap: float = 0.0
    window: float = 0.0

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise InputError(
                f"unknown validation scheme {self.scheme!r}; there are " + ", ".join(SCHEMES),
                setting="validation",
            )
        if not 0.0 < self.test_size < 1.0:
            raise InputError(
                f"the test size must lie between 0 and 1; it is {self.test_size:g}",
                setting="test_size",
            )
        for name, (least, most) in _BOUNDS.items():
            value = getattr(self, name)
            if value < least:
                raise InputError(f"{name} must be at least {least}; it is {value}", setting=name)
            if value > most:
                raise InputError(f"{name} must be at most {most}; it is {value}", setting=name)
        for name in ("gap", "window"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise InputError(
                    f"{name} must be a number of at least 0; it is {getattr(self, name):g}",
                    setting=name,
                )
        if self.scheme == FILE and not self.test_file:
            raise InputError("no test file is chosen", setting="test_file")

    @property
    def splits(self) -> int:
        """How many fits one run makes."""
        if self.scheme in (FILE, LEAVE_PAIR_OUT):
            return 1
        if self.scheme == FORWARD:
            return self.folds
        return self.repeats * (self.folds if self.scheme == FOLDS else 1)

    @property
    def disjoint(self) -> bool:
        """Whether no row is held out twice."""
        return self.repeats == 1 or self.scheme in (FORWARD, FILE, LEAVE_PAIR_OUT)

    @property
    def train_share(self) -> float:
        """Share of the rows that one fit trains on."""
        if self.scheme == HOLD_OUT:
            return 1 - self.test_size
        if self.scheme == FORWARD:
            return 0.5  # on average
        return 1 - 1 / self.folds if self.scheme == FOLDS else 1.0

    def describe(self) -> str:
        """Say the scheme in a few words."""
        if self.scheme == LEAVE_PAIR_OUT:
            return "leave-pair-out"
        if self.scheme == FORWARD:
            gap = f", gap {self.gap:g}" if self.gap else ""
            window = f", window {self.window:g}" if self.window else ""
            return f"{self.folds} steps forward by {self.time}{gap}{window}"
        times = f"{self.repeats} × " if self.repeats > 1 else ""
        if self.scheme == FOLDS:
            return f"{times}{self.folds} folds, seed {self.seed}"
        if self.scheme == FILE:
            return f"test file {self.test_file}"
        return f"{times}hold-out {100 * self.test_size:g} %, seed {self.seed}"

    def as_json(self) -> dict[str, Any]:
        """Give it as plain data; what earlier programs do not know is there where it is used."""
        return {
            name: value
            for name, value in dataclasses.asdict(self).items()
            if name not in _OF_FORWARD or value != getattr(Validation, name)
        }

    def identity(self) -> dict[str, Any]:
        """Give what decides the splits, as plain data: the rest is as usual."""
        return self.decisive().as_json()

    def decisive(self) -> Validation:
        """Give the same with the usual in the place of all that decides nothing."""
        used: dict[str, tuple[str, ...]] = {
            HOLD_OUT: ("test_size", "repeats", "seed"),
            FOLDS: ("folds", "repeats", "seed"),
            FORWARD: ("folds", *_OF_FORWARD),
            FILE: ("test_file",),
        }
        decides = {name: getattr(self, name) for name in ("scheme", *used.get(self.scheme, ()))}
        return Validation(**decides)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Validation:
        return cls(**document)


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
    _require_both_parts(positive, validation)
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
        why = f"{validation.time} has {len(known):,} different times, and each step needs a new one"
    else:
        what = "trains on" if _one_class(positive[parts[short][0]]) else "judges"
        why = f"step {short + 1} {what} rows of one class only, or none"
    if steps < _BOUNDS["folds"][0]:
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


def require_groups(positive: Mask, validation: Validation, groups: Groups) -> None:
    """Raise InputError if a class lies within fewer groups than the scheme needs."""
    if validation.scheme not in (HOLD_OUT, FOLDS):
        return
    needed, fewest = _needed(validation), groups.fewest(positive)
    if fewest < needed:
        raise InputError(
            f"rows of one {groups.words} are kept together, and one of the classes lies within "
            f"{fewest} of the {groups.count:,} groups; {validation.describe()} needs at least "
            f"{needed}: choose {'fewer folds' if fewest > 1 else 'a test file'}, or give "
            f"{groups.words} another role",
            setting=_setting(validation),
        )


def pairs_break_groups(words: str, setting: str = "validation") -> InputError:
    """Make the sentence for leave-pair-out where rows are to stay together."""
    instead = "tune by auc or pauc" if setting == "tune" else "choose hold-out or cross-validation"
    return InputError(
        "leave-pair-out holds out two rows at a time and trains on the others of their groups, "
        f"but rows of one {words} are to be kept together: {instead}, or give {words} another role",
        setting=setting,
    )


def require_enough(fewest: int, validation: Validation) -> None:
    """Raise InputError if so few rows of the smaller class are not enough for a scheme."""
    needed = _needed(validation)
    if fewest >= needed:
        return
    if fewest < 2:
        raise InputError(
            f"the smaller class has {fewest} row{'' if fewest else 's'}, and no split can hold one "
            "in training and one in test: add rows of that class, or choose a test file",
            setting=_setting(validation),
        )
    raise InputError(
        f"the smaller class has {fewest} rows; {validation.describe()} needs at least {needed}: "
        f"choose fewer folds, {fewest} at most, or a test file",
        setting=_setting(validation),
    )


def _require_both_parts(positive: Mask, validation: Validation) -> None:
    """Refuse a hold-out of single rows, one of which would leave a part without a class."""
    held = int(np.ceil(validation.test_size * len(positive)))
    if min(held, len(positive) - held) < 2:
        raise InputError(
            f"{validation.describe()} divides {len(positive)} rows into {len(positive) - held} to "
            f"train on and {held} to test on, and each part needs both classes: "
            + ("choose another test size" if len(positive) > 3 else "add rows"),
            setting="test_size",
        )


def _needed(validation: Validation) -> int:
    needed = {FOLDS: validation.folds, FILE: 1}
    return needed.get(validation.scheme, 2)


def _setting(validation: Validation) -> str:
    return {FOLDS: "folds", HOLD_OUT: "test_size"}.get(validation.scheme, "validation")


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


def few_rows_caution(positives: int, negatives: int, validation: Validation) -> str:
    """Say what so few rows of a class, which a scheme can divide, let figures be worth.

    Returns
    -------
    str
        A sentence; empty where there are rows enough.
    """
    fewest = min(positives, negatives)
    rows = "positive" if positives <= negatives else "negative"
    some = f"Only {fewest} {rows}{'' if fewest == 1 else 's'}"
    if validation.scheme == FILE:
        return f"{some} to learn from." if fewest < _FEW_TO_LEARN else ""
    held = round(validation.test_size * fewest)
    if validation.scheme == HOLD_OUT and validation.repeats == 1 and held < _FEW_TO_JUDGE:
        return (
            f"{some}, about {max(1, held)} of them in the test part: intervals will be wide. "
            "Cross-validation judges by all of them."
        )
    if fewest < _FEW_TO_JUDGE:
        return f"{some}: intervals will be wide, and methods hard to tell apart."
    return ""
