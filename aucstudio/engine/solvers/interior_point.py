"""The iteration that interior-point methods share, and Mehrotra's predictor-corrector step."""

from __future__ import annotations

import dataclasses
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from aucstudio.engine.arrays import Array
from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.scorers import Scorer
from aucstudio.engine.solvers import Solution

Found = TypeVar("Found", bound=Solution, covariant=True)
Result = TypeVar("Result", bound=Solution)
TO_BOUNDARY = 0.995

# Steps without a smaller gap after which rounding is taken to prevent one. Where equal scores are
# the optimum, the bound alone has to rise, which takes up to ten.
_PATIENCE = 12
_MOST_STEPS = 200


class InteriorPoint(Protocol[Found]):
    """An iterate strictly inside all bounds."""

    def measure(self) -> Found:
        """Return the best iterate so far with its certificate."""

    def advance(self) -> None:
        """Make one predictor-corrector step."""


class PredictorCorrector(ABC):
    """Mehrotra's step for an iterate x > 0 with complements z > 0, arrays of one shape.

    A problem factorises its Newton matrix and solves for a direction. On the central path
    x z = kappa q, q being the weights of the constraints.
    """

    _x: Array
    _z: Array
    _q: Array | float
    _total: float  # of q over all constraints

    def advance(self) -> None:
        """Make one predictor-corrector step."""
        x, z = self._x, self._z
        self._factorise()
        _, dx, dz = self._direction(np.zeros_like(x))
        reach = min(1.0, self._reach(dx, dz))
        before, after = float((x * z).sum()), float(((x + reach * dx) * (z + reach * dz)).sum())
        kappa = min(max(after / before, 0.0), 1.0) ** 3 * before / self._total
        dp, dx, dz = self._direction((kappa * self._q - dx * dz) / x)
        step = min(1.0, TO_BOUNDARY * self._reach(dx, dz))
        self._move(step, dp)
        self._x, self._z = x + step * dx, z + step * dz

    def _reach(self, dx: Array, dz: Array) -> float:
        """Return the longest feasible step."""
        lowest = min(float((dx / self._x).min()), float((dz / self._z).min()))
        return -1.0 / lowest if lowest < 0.0 else np.inf

    @abstractmethod
    def _factorise(self) -> None:
        """Prepare the Newton equations where the iterate is."""

    @abstractmethod
    def _direction(self, push: Array) -> tuple[Array, Array, Array]:
        """Solve them with x z + dx z + x dz = x push: return d of the primal variables, dx, dz."""

    @abstractmethod
    def _move(self, step: float, dp: Array) -> None:
        """Move the primal variables."""


def iterate(
    method: InteriorPoint[Result],
    monitor: Monitor,
    scorer: Callable[[Result], Scorer],
) -> Result:
    """Step until the certificate is met.

    Parameters
    ----------
    method : InteriorPoint
    monitor : Monitor
    scorer : callable
        Makes a scorer of an iterate; called only if the monitor's listener wants one.

    Returns
    -------
    The iterate of the smallest objective, whether or not a limit, a stop or rounding came before
    the tolerance.
    """
    best = method.measure()
    iteration = idle = 0
    while not best.converged and iteration < _MOST_STEPS and idle < _PATIENCE:
        try:
            method.advance()
        except (Stopped, np.linalg.LinAlgError):
            break
        iteration, before = iteration + 1, best.gap
        best = method.measure()
        idle = 0 if best.gap < before else idle + 1
        live = functools.partial(scorer, best)
        if monitor.step(iteration, best.objective, gap=best.gap, scorer=live):
            break
    return dataclasses.replace(best, n_iter=iteration)
