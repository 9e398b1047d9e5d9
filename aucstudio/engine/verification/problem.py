"""What a problem is to verification: an objective to count, and a way to solve it again.

Symbols: s_i, t_j scores of positives and negatives; w direction; b constant.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.scorers import Scorer
from aucstudio.engine.types import Rows
from aucstudio.engine.verification.counting import Tell
from aucstudio.engine.verification.programme import Optimum, Programme, solve
from aucstudio.engine.verification.space import RemadeSpace

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclasses.dataclass(frozen=True, eq=False)
class Trained:
    """A fit as it was left, and what it was made of.

    Attributes
    ----------
    method : str
        Key of the method.
    params : mapping
        All its settings.
    X : ndarray or CSR matrix of shape (N, d)
        Prepared training rows.
    positive : ndarray of bool, shape (N,)
    scorer : Scorer
    intercept : float
    scores : ndarray of shape (N,)
        Of the training rows, with the intercept, as they were kept.
    objective : float
    gap : float or None
    trained_range : (float, float) or None
        The FPR range that was used in the end.
    weights : ndarray of shape (N,) or None
        What the rows weighed in the fit.
    converged : bool
        Whether the fit was stored as one that reached its optimum.
    needed : float or None
        The gap at which it was to end; None where that is not known.
    """

    method: str
    params: Mapping[str, Any]
    X: Rows
    positive: Mask
    scorer: Scorer
    intercept: float
    scores: Array
    objective: float
    gap: float | None
    trained_range: tuple[float, float] | None = None
    weights: Array | None = None
    converged: bool = False
    needed: float | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Solved:
    """What an independent route came to.

    Attributes
    ----------
    route : str
        In a few words.
    objective : float
        Of the scores found, counted.
    bound : float
        What no objective of the problem is below.
    scores : ndarray of shape (N,)
    whole : bool
        Whether the whole problem was solved; False where a part of it only bounds it.
    """

    route: str
    objective: float
    bound: float
    scores: Array
    whole: bool = True


class Problem:
    """The objective of some methods.

    Attributes
    ----------
    rounding : float
        Class attribute: how much of the objective may be rounding of the fit.
    centred : bool
        Class attribute: whether a shift of all features changes no optimum.
    has_constant : bool
        Class attribute: whether the constant is part of the solution; else the threshold was
        chosen afterwards, and scores are compared without it.
    convex : bool
        Class attribute: whether there is one optimum, to be found again.
    """

    rounding: ClassVar[float] = 1e-6
    centred: ClassVar[bool] = True
    has_constant: ClassVar[bool] = False
    convex: ClassVar[bool] = True

    def __init__(self, trained: Trained, tell: Tell) -> None:
        self.trained, self.tell = trained, tell
        self.params, self.positive = trained.params, trained.positive
        self.C = float(self.params.get("C", 1.0))

    @cached_property
    def space(self) -> RemadeSpace:
        """Where the scorer lives."""
        trained = self.trained
        return RemadeSpace(trained.X, trained.params, trained.scorer, self.centred)

    @property
    def is_convex(self) -> bool:
        """Whether there is one optimum at the present settings."""
        return self.convex

    def pairs_of(self, scores: Array) -> tuple[Array, Array]:
        """Part scores by class."""
        return scores[self.positive], scores[~self.positive]

    def objective(self, scores: Array, intercept: float) -> float:
        """Count the objective of the scorer, whose scores without the intercept are given."""
        return self.value(scores, intercept, self.norm(scores))

    def norm(self, scores: Array) -> float:
        """Give what the objective has of the direction's size."""
        return self.space.norm()

    def value(self, scores: Array, intercept: float, norm: float) -> float:
        """Count the objective."""
        raise NotImplementedError

    def solve(self, scores: Array, intercept: float) -> Solved:
        """Solve the problem again.

        Raises
        ------
        UnverifiableError, NotSolvedError
        """
        raise NotImplementedError

    def run(self, programme: Programme) -> Optimum:
        """Have cvxopt solve a programme."""
        return solve(programme, self.tell)


def no_rows(r: int) -> tuple[Array, Array]:
    """Give the constraints of a programme that has none."""
    return np.zeros((0, r)), np.zeros(0)


def signs(positive: Mask) -> Array:
    """Give +1 for positives and -1 for negatives."""
    return np.where(positive, 1.0, -1.0)
