"""An interior point for the SVM with a second margin between negatives and a core of positives.

It solves min over w, b, rho >= 1 of 1/2 |w|^2 - mu rho + C1 sum_i (1 - f_i)_+ + C2
sum_i (rho - f_i)_+ + C3 sum_j (1 + f_j)_+, where f = F w + b, i are positive and j negative rows.
With multipliers 0 <= a <= C1, 0 <= b <= C2, 0 <= c <= C3 of the three sums, the dual is max sum a +
sum c + sum b - mu - 1/2 |F^T beta|^2 subject to sum a + sum b = sum c and sum b >= mu.

Symbols: beta weights of the rows, a_i + b_i and -c_j; v = (a; b; c); t = rho - 1; x = (v; bounds -
v; t), all positive, and z their complements, of which the last is sum b - mu; p = (w, b, t); G maps
p to the margins (f_i; f_i - t; -f_j), which are to be at least 1; D = 1 / (z/x of v + z/x of bounds
- v); S Newton matrix; kappa mean complementarity.

C1, C2, C3 are the costs of the slacks, m and n the numbers of positives and negatives.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable

import numpy as np

from aucstudio.engine.arrays import Array, Mask
from aucstudio.engine.linalg import cholesky, gram
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.scorers import Scorer
from aucstudio.engine.solvers import WithConstant
from aucstudio.engine.solvers.interior_point import PredictorCorrector, iterate


@dataclasses.dataclass(frozen=True)
class Costs:
    """The constants of the problem.

    Attributes
    ----------
    positive, core, negative : float
        C1, C2, C3: the cost of a row's slack.
    mu : float
        Reward of the core margin; less than m C2 and than n C3, else no rho is large enough.
    """

    positive: float
    core: float
    negative: float
    mu: float


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class TwoMargins(WithConstant):
    """What the solver found; b and rho are the best ones for w.

    Attributes
    ----------
    coefficients : ndarray of shape (N,)
        The weight of each row: their combination is w up to rounding.
    rho : float
    at_zero : float
        Primal value of w = 0.
    """

    coefficients: Array
    rho: float
    at_zero: float = np.inf


def solve_two_margins(
    F: Array,
    positive: Mask,
    costs: Costs,
    *,
    tol: float = 1e-6,
    monitor: Monitor,
    scorer: Callable[[Array, Array], Scorer],
) -> TwoMargins:
    """Solve by Mehrotra's predictor-corrector method, O(N r^2 + r^3) time a step.

    Parameters
    ----------
    F : ndarray of shape (N, r)
        Features, or a factor of the kernel matrix.
    positive : ndarray of bool, shape (N,)
    costs : Costs
    tol : float
        Stop at gap <= tol (objective + 2 mu rho), the sum of its parts without their signs.
    monitor : Monitor
    scorer : callable
        Makes a scorer from w and beta; called only if the monitor's listener wants one.

    Returns
    -------
    TwoMargins
        The iterate of the smallest objective, whether or not a limit, a stop or rounding came
        before the tolerance.
    """
    solver = _InteriorPoint(F, positive, costs, tol, monitor)
    return iterate(solver, monitor, lambda found: scorer(found.weights, found.coefficients))


class _Rows:
    """The map G from p to the margins of all three groups, and what else depends on the rows."""

    def __init__(self, F: Array, positive: Mask, costs: Costs) -> None:
        self.F, self.costs = F, costs
        self.i, self.j = np.flatnonzero(positive), np.flatnonzero(~positive)
        self.m, self.n = len(self.i), len(self.j)
        sizes = [costs.positive, costs.core, costs.negative]
        self.bounds = np.repeat(sizes, [self.m, self.m, self.n])

    def margins(self, p: Array) -> Array:
        """Return G p."""
        f = self.F @ p[:-2] + p[-2]
        return np.concatenate([f[self.i], f[self.i] - p[-1], -f[self.j]])

    def weigh(self, v: Array) -> Array:
        """Return beta."""
        m, beta = self.m, np.empty(len(self.F))
        beta[self.i] = v[:m] + v[m : 2 * m]
        beta[self.j] = -v[2 * m :]
        return beta

    def adjoint(self, v: Array) -> Array:
        """Return G^T v."""
        beta = self.weigh(v)
        ends = [beta.sum(), -v[self.m : 2 * self.m].sum()]
        return np.concatenate([self.F.T @ beta, ends])

    def gram(self, D: Array, pause: Callable[[], None]) -> Array:
        """Return G^T diag(D) G."""
        F, r, core = self.F, self.F.shape[1], np.zeros(len(self.F))
        weights, core[self.i] = np.abs(self.weigh(D)), D[self.m : 2 * self.m]
        S = np.empty((r + 2, r + 2))
        S[:r, :r] = gram(F, weights, pause)
        S[-2, :r], S[-1, :r] = weights @ F, -(core @ F)
        S[-2:, -2:] = [[weights.sum(), -core.sum()], [-core.sum(), core.sum()]]
        S[:r, -2:] = S[-2:, :r].T
        return S

    def start(self) -> Array:
        """Return multipliers strictly inside all bounds that meet the constraints of the dual."""
        costs, m, n = self.costs, self.m, self.n
        core = costs.mu + 0.5 * min(costs.core * m - costs.mu, costs.negative * n - costs.mu)
        both = core + 0.5 * min(costs.positive * m, costs.negative * n - core)
        return np.repeat([(both - core) / m, core / m, both / n], [m, m, n])

    def value_of(self, w: Array, beta: Array) -> TwoMargins:
        """Return the primal value of a direction at its best constants."""
        costs, f = self.costs, self.F @ w
        s, t = np.sort(f[self.i]), np.sort(f[self.j])
        b = self._best_constant(s, t)
        outside = min(math.ceil(costs.mu / costs.core), self.m)
        rho = max(1.0, float(s[outside - 1]) + b)
        loss = costs.positive * _hinge(1 - b - s) + costs.core * _hinge(rho - b - s)
        loss += costs.negative * _hinge(1 + b + t)
        objective = 0.5 * float(w @ w) - costs.mu * rho + loss
        return TwoMargins(weights=w, coefficients=beta, b=b, rho=rho, objective=objective)

    def _best_constant(self, s: Array, t: Array) -> float:
        """Find where the slope in b, rho being best for each b, ceases to be negative."""
        costs = self.costs
        leave, enter = np.sort(1 - s), np.sort(-1 - t)
        kinks = np.sort(np.concatenate([leave, enter]))
        short = self.m - np.searchsorted(leave, kinks, "right")
        over = np.searchsorted(enter, kinks, "right")
        gain = costs.positive * short + np.maximum(costs.mu, costs.core * short)
        return float(kinks[np.argmax(costs.negative * over >= gain)])

    def bound_from(self, v: Array) -> float:
        """Return the dual value of v, once rounding errors in its constraints are mended."""
        m, mu, room = self.m, self.costs.mu, self.bounds - v
        a, b, c = np.split(v, [m, 2 * m])
        lacking = max(mu - float(b.sum()), 0.0)
        b = b + lacking / float(room[m : 2 * m].sum()) * room[m : 2 * m]
        free, against = float(a.sum() + b.sum()) - mu, float(c.sum()) - mu
        if free <= 0.0 or against <= 0.0:
            return -np.inf
        if against >= free:
            c = c * ((mu + free) / (mu + against))
        else:
            share = against / free
            a, b = share * a, b * ((mu + share * (b.sum() - mu)) / b.sum())
        w = self.F.T @ self.weigh(np.concatenate([a, b, c]))
        return float(a.sum() + b.sum() + c.sum()) - mu - 0.5 * float(w @ w)


class _InteriorPoint(PredictorCorrector):
    """The iterate and one Newton step."""

    def __init__(
        self, F: Array, positive: Mask, costs: Costs, tol: float, monitor: Monitor
    ) -> None:
        self._rows, self._mu, self._tol = _Rows(F, positive, costs), costs.mu, tol
        self._pause = functools.partial(monitor.stage, "Newton step")
        v = self._rows.start()
        w = self._rows.adjoint(v)[:-2]
        linear, square = float(v.sum()), float(w @ w)
        w *= 1.0 if linear >= square else linear / square
        self._wb = np.append(w, 0.0)
        spare = float(v[self._rows.m : 2 * self._rows.m].sum()) - costs.mu
        self._x = np.concatenate([v, self._rows.bounds - v, [1.0]])
        self._z = np.append(np.ones(2 * len(v)), spare)
        self._q, self._total = 1.0, float(len(self._x))
        at_zero = self._rows.value_of(np.zeros_like(w), np.zeros(len(F))).objective
        first = self._rows.value_of(w, self._rows.weigh(v))
        self._best, self._bound = dataclasses.replace(first, at_zero=at_zero), -np.inf

    @property
    def _v(self) -> Array:
        return self._x[: len(self._rows.bounds)]

    def measure(self) -> TwoMargins:
        """Return the best iterate so far with its certificate."""
        here = self._rows.value_of(self._wb[:-1], self._rows.weigh(self._v))
        if here.objective < self._best.objective:
            self._best = dataclasses.replace(here, at_zero=self._best.at_zero)
        self._bound = max(self._bound, self._rows.bound_from(self._v))
        best = self._best
        needed = self._tol * (best.objective + 2 * self._mu * best.rho)
        return dataclasses.replace(best, gap=max(best.objective - self._bound, 0.0), needed=needed)

    def _factorise(self) -> None:
        theta = self._z / self._x
        self._D = 1.0 / (theta[: len(self._v)] + theta[len(self._v) : -1])
        S = self._rows.gram(self._D, self._pause)
        S[np.diag_indices(len(S) - 2)] += 1.0
        S[-1, -1] += theta[-1]
        self._pause()
        self._L = cholesky(S)

    def _direction(self, push: Array) -> tuple[Array, Array, Array]:
        v, D = self._v, self._D
        p = np.append(self._wb, self._x[-1])
        short = 1.0 - self._rows.margins(p) + push[: len(v)] - push[len(v) : -1]
        right = self._rows.adjoint(v + D * short)
        right[:-2] -= p[:-2]
        right[-1] += self._mu + push[-1]
        dp = self._L.substitute(right)
        dv = D * (short - self._rows.margins(dp))
        dx = np.concatenate([dv, -dv, dp[-1:]])
        return dp[:-1], dx, push - self._z * (1.0 + dx / self._x)

    def _move(self, step: float, dp: Array) -> None:
        self._wb = self._wb + step * dp


def _hinge(x: Array) -> float:
    return float(np.maximum(x, 0.0).sum())
