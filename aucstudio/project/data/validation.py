"""Validation schemes."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

import numpy as np

from aucstudio.project.errors import input_error

HOLD_OUT, FOLDS, FILE, LEAVE_PAIR_OUT = "holdout", "folds", "file", "leave-pair-out"
FORWARD = "forward"
_SCHEME_OF = {"test_size": HOLD_OUT, "folds": FOLDS, "test_file": FILE, "time": FORWARD}
SCHEMES = (HOLD_OUT, FOLDS, FORWARD, FILE, LEAVE_PAIR_OUT)
_OF_FORWARD = ("time", "gap", "window")
# Repeats use consecutive seeds, which are 32-bit numbers.
BOUNDS = {"folds": (2, 1_000_000), "repeats": (1, 100_000), "seed": (0, 4_294_000_000)}


def scheme_of(settings: Collection[str]) -> str:
    """Return the scheme that settings imply: some exist in one scheme only.

    Raises
    ------
    InputError
        If they belong to different schemes.
    """
    meant = [name for name in _SCHEME_OF if name in settings]
    if "time" in meant:
        meant = [name for name in meant if name != "folds"]  # there they are its steps
    if len(meant) > 1:
        raise input_error("schemes_mixed", names=" and ".join(meant))
    return _SCHEME_OF[meant[0]] if meant else HOLD_OUT


@dataclasses.dataclass(frozen=True)
class Validation:
    """How rows are held out.

    Attributes
    ----------
    scheme : {"holdout", "folds", "forward", "file", "leave-pair-out"}
        ``"forward"`` trains on earlier rows and tests on later ones;
        see :mod:`aucstudio.project.data.split`.
        ``"leave-pair-out"`` orders each pair by a fit without the pair, which only methods with a
        closed form can do.
    test_size : float
        Fraction held out by ``"holdout"``.
    folds : int
        For ``"forward"``, the number of tested blocks.
    repeats : int
        Number of hold-outs or k-fold partitions.
    seed : int
    test_file : str
        Path of the table that ``"file"`` tests on.
    time : str
        The column that ``"forward"`` orders rows by.
    gap, window : float
        For ``"forward"``, in the unit of the column: least distance of training rows from the
        tested ones, and length of the training window (0: no limit).
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
            raise input_error("scheme_unknown", scheme=self.scheme, known=", ".join(SCHEMES))
        if not 0.0 < self.test_size < 1.0:
            raise input_error("test_size_invalid", size=self.test_size)
        for name, (least, most) in BOUNDS.items():
            value = getattr(self, name)
            if value < least:
                raise input_error("setting_too_small", setting=name, least=least, value=value)
            if value > most:
                raise input_error("setting_too_large", setting=name, most=most, value=value)
        for name in ("gap", "window"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise input_error("setting_negative", setting=name, value=getattr(self, name))
        if self.scheme == FILE and not self.test_file:
            raise input_error("test_file_absent")

    @property
    def splits(self) -> int:
        """Number of fits of one run."""
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
        """Describe the scheme in a few words."""
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
        """Return it as plain data; forward settings only if they are used."""
        return {
            name: value
            for name, value in dataclasses.asdict(self).items()
            if name not in _OF_FORWARD or value != getattr(Validation, name)
        }

    def identity(self) -> dict[str, Any]:
        """Return the settings that determine the splits, as plain data."""
        return self.decisive().as_json()

    def decisive(self) -> Validation:
        """Return the same with defaults for all settings that have no effect."""
        used: dict[str, tuple[str, ...]] = {
            HOLD_OUT: ("test_size", "repeats", "seed"),
            FOLDS: ("folds", "repeats", "seed"),
            FORWARD: ("folds", *_OF_FORWARD),
            FILE: ("test_file",),
        }
        effective = {name: getattr(self, name) for name in ("scheme", *used.get(self.scheme, ()))}
        return Validation(**effective)
