"""Validation schemes."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from aucstudio.project.errors import input_error

HOLD_OUT, FOLDS, FILE, LEAVE_PAIR_OUT = "holdout", "folds", "file", "leave-pair-out"
FORWARD = "forward"
_SCHEME_OF = {"test_size": HOLD_OUT, "folds": FOLDS, "test_file": FILE, "time": FORWARD}
SCHEMES = (HOLD_OUT, FOLDS, FORWARD, FILE, LEAVE_PAIR_OUT)
_OF_FORWARD = ("time", "gap", "window")
# Seeds of the repeats count on from the first, and are numbers of 32 bits.
BOUNDS = {"folds": (2, 1_000_000), "repeats": (1, 100_000), "seed": (0, 4_294_000_000)}


def scheme_of(settings: Collection[str]) -> str:
    """Return the scheme that has these settings: some mean something in one scheme alone.

    Raises
    ------
    InputError
        If they are of different schemes.
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
        """Return it as plain data; what earlier programs do not know is there where it is used."""
        return {
            name: value
            for name, value in dataclasses.asdict(self).items()
            if name not in _OF_FORWARD or value != getattr(Validation, name)
        }

    def identity(self) -> dict[str, Any]:
        """Return what decides the splits, as plain data: the rest is as usual."""
        return self.decisive().as_json()

    def decisive(self) -> Validation:
        """Return the same with the usual in the place of all that decides nothing."""
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
