"""Solvers, and what they return: the solution and a bound on its distance from the optimum."""

from __future__ import annotations

import dataclasses

import numpy as np

from aucstudio.engine.arrays import Array


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Solution:
    """The best point of a solver; solvers add its position.

    Attributes
    ----------
    objective : float
        Primal value there.
    gap : float
        Upper bound on the objective minus its optimum.
    needed : float
        The requested gap.
    n_iter : int
    """

    objective: float = np.inf
    gap: float = np.inf
    needed: float = 0.0
    n_iter: int = 0

    @property
    def converged(self) -> bool:
        """Whether the certificate is met; a limit, a stop or rounding may have come before."""
        return self.gap <= self.needed

    @property
    def bound(self) -> float:
        """The lower bound of the optimum behind the gap."""
        return self.objective - self.gap


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Direction(Solution):
    """A solution that is a direction.

    Attributes
    ----------
    weights : ndarray of shape (r,)
        w, in the space that the solver was given.
    """

    weights: Array


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class WithConstant(Direction):
    """A direction with a constant, of a method that chooses one itself.

    Attributes
    ----------
    b : float
        The constant.
    """

    b: float
