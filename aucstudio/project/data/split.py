"""Validation schemes: which rows train and which are held out, from a seed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from aucstudio.project.errors import InputError

Rows = NDArray[np.intp]


HOLD_OUT, FOLDS, FILE, LEAVE_PAIR_OUT = "holdout", "folds", "file", "leave-pair-out"
SCHEMES = (HOLD_OUT, FOLDS, FILE, LEAVE_PAIR_OUT)


@dataclasses.dataclass(frozen=True)
class Validation:
    """How rows are held out.

    Attributes
    ----------
    scheme : {"holdout", "folds", "file", "leave-pair-out"}
        The last trains on all rows, and orders each pair by a training without it, which only
        methods with a closed form can do.
    test_size : float
        Fraction held out by ``"holdout"``.
    folds : int
    repeats : int
        How often a hold-out or a k-fold partition is drawn anew.
    seed : int
    test_file : str
        Path of the table that ``"file"`` tests on.
    """

    scheme: str = HOLD_OUT
    test_size: float = 0.25
    folds: int = 5
    repeats: int = 1
    seed: int = 0
    test_file: str = ""

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
        for name, least in (("folds", 2), ("repeats", 1), ("seed", 0)):
            value = getattr(self, name)
            if value < least:
                raise InputError(f"{name} must be at least {least}; it is {value}", setting=name)
        if self.scheme == FILE and not self.test_file:
            raise InputError("no test file is chosen", setting="test_file")

    @property
    def splits(self) -> int:
        """How many fits one run makes."""
        if self.scheme in (FILE, LEAVE_PAIR_OUT):
            return 1
        return self.repeats * (self.folds if self.scheme == FOLDS else 1)

    @property
    def train_share(self) -> float:
        """Share of the rows that one fit trains on."""
        if self.scheme == HOLD_OUT:
            return 1 - self.test_size
        return 1 - 1 / self.folds if self.scheme == FOLDS else 1.0

    def describe(self) -> str:
        """Say the scheme in a few words."""
        if self.scheme == LEAVE_PAIR_OUT:
            return "leave-pair-out"
        times = f"{self.repeats} × " if self.repeats > 1 else ""
        if self.scheme == FOLDS:
            return f"{times}{self.folds} folds, seed {self.seed}"
        if self.scheme == FILE:
            return f"test file {self.test_file}"
        return f"{times}hold-out {100 * self.test_size:g} %, seed {self.seed}"

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

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


def draw_splits(positive: NDArray[np.bool_], validation: Validation) -> list[Split]:
    """Draw all splits of a scheme, stratified by class.

    Parameters
    ----------
    positive : ndarray of bool
        The labelled rows' class.

    Raises
    ------
    InputError
        If a class is too small for the scheme.
    """
    everything = np.arange(len(positive))
    if validation.scheme == FILE:
        return [Split(0, 0, everything, np.empty(0, dtype=np.intp))]
    if validation.scheme == LEAVE_PAIR_OUT:
        return [Split(0, 0, everything, everything)]
    _require_enough(positive, validation)
    if validation.scheme == HOLD_OUT:
        drawn = StratifiedShuffleSplit(
            validation.repeats, test_size=validation.test_size, random_state=validation.seed
        )
        pairs = drawn.split(everything, positive)
        return _checked(
            [Split(r, 0, train, test) for r, (train, test) in enumerate(pairs)], positive
        )
    return [
        Split(repeat, fold, train, test)
        for repeat in range(validation.repeats)
        for fold, (train, test) in enumerate(
            StratifiedKFold(
                validation.folds, shuffle=True, random_state=validation.seed + repeat
            ).split(everything, positive)
        )
    ]


def _require_enough(positive: NDArray[np.bool_], validation: Validation) -> None:
    fewest = int(min(positive.sum(), (~positive).sum()))
    needed = validation.folds if validation.scheme == FOLDS else 2
    if fewest < needed:
        raise InputError(
            f"the smaller class has {fewest} rows; {validation.describe()} needs at least "
            f"{needed}: choose fewer folds, or a test file",
            setting="folds" if validation.scheme == FOLDS else "test_size",
        )


def _checked(splits: list[Split], positive: NDArray[np.bool_]) -> list[Split]:
    for split in splits:
        for rows, part in ((split.train, "training"), (split.test, "test")):
            if positive[rows].all() or not positive[rows].any():
                raise InputError(
                    f"the {part} part would hold one class only: choose another test size",
                    setting="test_size",
                )
    return splits
