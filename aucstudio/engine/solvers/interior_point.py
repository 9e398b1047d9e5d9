"""The loop that interior-point methods share, and the certificate of the best of their iterates."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.scorers import Scorer
from aucstudio.engine.solvers.solution import Solution

Found = TypeVar("Found", bound=Solution, covariant=True)
Result = TypeVar("Result", bound=Solution)
TO_BOUNDARY = 0.995

# Steps without a smaller gap after which rounding is taken to prevent one. Where equal scores are
# the optimum, the bound alone has to rise, which takes up to ten.
_PATIENCE = 12


class InteriorPoint(Protocol[Found]):
    """An iterate strictly inside all bounds."""

    def measure(self) -> Found:
        """Return the best iterate so far with its certificate."""

    def advance(self) -> None:
        """Make one predictor-corrector step."""


def run(
    method: InteriorPoint[Result],
    monitor: Monitor,
    scorer: Callable[[Result], Scorer],
    max_iter: int = 200,
) -> Result:
    """Step until the certificate is met.

    Parameters
    ----------
    method : InteriorPoint
    monitor : Monitor
    scorer : callable
        Makes a scorer of an iterate; called only if the monitor's listener wants one.
    max_iter : int

    Returns
    -------
    The iterate of the smallest objective, whether or not a limit, a stop or rounding came before
    the tolerance.
    """
    best = method.measure()
    iteration = idle = 0
    while not best.converged and iteration < max_iter and idle < _PATIENCE:
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
