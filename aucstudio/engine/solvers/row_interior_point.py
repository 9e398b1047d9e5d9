"""An interior point for the linear soft-margin SVM with an unpenalised constant.

It solves min over w and b of 1/2 |w|^2 + sum_i c_i (1 -
y_i f_i)_+, f = F w + b. The dual is max sum a - 1/2 |F^T (a y)|^2 subject to 0 <= a <= c and sum a
y = 0. A step costs O(N r^2 + r^3), and some twenty to thirty are enough whatever the costs: on many
rows of few features that is far less than coordinate descent takes, whose number of sweeps grows
with the costs.

Symbols: y_i = +-1 class; c_i cost of row i; x = (a; c - a), all positive, and z their complements;
D = 1 / (z/x of a + z/x of c - a); S Newton matrix of (w, b); kappa complementarity; q_i weight of
row i, with x z = q kappa on the central path, so that a row of weight 2 takes the steps of two.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from aucstudio.engine.arrays import Array, portions
from aucstudio.engine.linalg import Symmetric
from aucstudio.engine.losses.hinges import FreeConstantHinge
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.scorers import LinearScorer, Scorer
from aucstudio.engine.solvers import WithConstant
from aucstudio.engine.solvers.interior_point import PredictorCorrector, iterate

_NUMBERS_PER_CHUNK = 1 << 16  # stay in the processor's cache
_CHUNKS_PER_LOOK = 64


def solve_hinge(
    F: Array,
    loss: FreeConstantHinge,
    *,
    tol: float,
    monitor: Monitor,
    scorer: Callable[[Array], Scorer] = LinearScorer,
    weights: Array | None = None,
) -> WithConstant:
    """Solve by Mehrotra's predictor-corrector method.

    Parameters
    ----------
    F : ndarray of shape (N, r)
    loss : FreeConstantHinge
    tol : float
        Stop at gap <= tol * objective.
    monitor : Monitor
    scorer : callable
        Makes a scorer from w; called only if the monitor's listener wants one.
    weights : ndarray of shape (N,), optional
        Of the rows; ``loss`` has them among its costs.

    Returns
    -------
    WithConstant
        The iterate of the smallest objective, whether or not a limit, a stop or rounding came
        before the tolerance.
    """
    q = np.ones(len(F)) if weights is None else weights
    solver = _HingeIterate(F, loss, q, tol, monitor)
    return iterate(solver, monitor, lambda found: scorer(found.weights))


class _HingeIterate(PredictorCorrector):
    """The iterate, the best of those seen, and one Newton step."""

    def __init__(
        self, F: Array, loss: FreeConstantHinge, q: Array, tol: float, monitor: Monitor
    ) -> None:
        self._F, self._loss, self._tol = F, loss, tol
        self._q, self._total = q, float(2 * q.sum())
        self._pause = functools.partial(monitor.stage, "Newton step")
        a = 0.5 * self._balanced(loss.costs)
        self._x, self._z = np.stack([a, loss.costs - a]), np.ones((2, len(a)))
        self._w, self._b, self._f = np.zeros(F.shape[1]), 0.0, np.zeros(len(F))
        self._bound = 0.0
        self._best = WithConstant(weights=self._w, b=0.0)

    def _balanced(self, a: Array) -> Array:
        """Scale the multipliers of the heavier class down until those of both add up alike."""
        positive = self._loss.y > 0
        above, below = float(a[positive].sum()), float(a[~positive].sum())
        least = min(above, below)
        return a * np.where(positive, least / above, least / below)

    def measure(self) -> WithConstant:
        """Return the best iterate so far with its certificate."""
        b = self._loss.best_constant(self._f)
        objective = 0.5 * float(self._w @ self._w) + self._loss.at(self._f, b)
        best = self._best
        if objective < best.objective:
            best = WithConstant(weights=self._w, b=b, objective=objective)
        gap, needed = max(best.objective - self._bound, 0.0), self._tol * best.objective
        self._best = dataclasses.replace(best, gap=gap, needed=needed)
        return self._best

    def _factorise(self) -> None:
        """Prepare the Newton equations, and take the dual value of where the iterate is."""
        x = self._x
        self._D = 1.0 / (self._z / x).sum(axis=0)
        a = self._balanced(x[0])
        first = self._aim(np.zeros_like(x))
        S, toward = self._gram(self._D, np.stack([first, a * self._loss.y], axis=1))
        w = toward[:-1, 1]
        self._bound = max(self._bound, float(a.sum()) - 0.5 * float(w @ w))
        self._system, self._known = Symmetric(S), toward[:, 0]
        self._system.factorise()

    def _aim(self, push: Array) -> Array:
        """Return the weights of the rows that the right side of the Newton equations adds up."""
        aim: Array = self._loss.y * (self._x[0] + self._D * self._short(push))
        return aim

    def _short(self, push: Array) -> Array:
        short: Array = 1.0 - self._loss.y * (self._f + self._b) + push[0] - push[1]
        return short

    def _gram(self, D: Array, weights: Array) -> tuple[Array, Array]:
        """Return S, and what some weights of the rows make of (F, 1), in one pass over F."""
        F, r = self._F, self._F.shape[1]
        S, total = np.zeros((r + 1, r + 1)), np.zeros((r + 1, weights.shape[1]))
        for chunk, rows in enumerate(portions(len(F), r, _NUMBERS_PER_CHUNK)):
            if chunk % _CHUNKS_PER_LOOK == 0:
                self._pause()
            Z = np.sqrt(D[rows, None]) * F[rows]
            S[:r, :r] += Z.T @ Z
            S[r, :r] += D[rows] @ F[rows]
            total[:r] += F[rows].T @ weights[rows]
        S[:r, r], S[r, r] = S[r, :r], D.sum()
        S.flat[: r * (r + 1) : r + 2] += 1.0
        total[r] = weights.sum(axis=0)
        return S, total

    def _direction(self, push: Array) -> tuple[Array, Array, Array]:
        toward = self._known
        if push.any():
            aim = self._aim(push)
            toward = np.append(self._F.T @ aim, aim.sum())
        dp = self._system.substitute(toward - np.append(self._w, 0.0))
        self._pause()
        self._df = self._F @ dp[:-1]
        da = self._D * (self._short(push) - self._loss.y * (self._df + dp[-1]))
        dx = np.stack([da, -da])
        return dp, dx, push - self._z * (1.0 + dx / self._x)

    def _move(self, step: float, dp: Array) -> None:
        self._w, self._b = self._w + step * dp[:-1], self._b + step * float(dp[-1])
        self._f = self._f + step * self._df
