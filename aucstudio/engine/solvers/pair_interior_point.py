"""An interior point for the box-constrained dual of a pairwise hinge problem.

The box-constrained dual of a pairwise hinge problem is min_a 1/2 a^T W Q W a - rho 1^T W a subject
to 0 <= a <= c. Q = A F F^T A^T is never formed; A is the incidence matrix of
:mod:`aucstudio.engine.losses.pairs`, W the weights of the pairs. The primal is min_w 1/2 |w|^2 + c
sum_pairs W (rho - M)_+ with w = F^T A^T W a and M = A F w. A pair of weight k takes the same steps
as k equal pairs: every sum over the pairs is weighted.

Symbols: a multipliers, b = c - a; z, u multipliers of a >= 0 and b >= 0; Theta = z/a + u/b; D =
1/Theta; mu mean complementarity; P, P - gap primal and dual value.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from aucstudio.engine.arrays import Array
from aucstudio.engine.linalg import Symmetric, cholesky
from aucstudio.engine.losses.pairs import Pairs
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.scorers import Scorer
from aucstudio.engine.solvers import Direction, Solution
from aucstudio.engine.solvers.interior_point import TO_BOUNDARY, iterate


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class PairSolution(Solution):
    """A function in the span of the rows.

    Attributes
    ----------
    multipliers : ndarray of the pairs' shape
        a.
    coefficients : ndarray of shape (N,)
        beta = A^T W a: the weight of each row.
    """

    multipliers: Array
    coefficients: Array


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class PairDirection(PairSolution, Direction):
    """What the interior point found: a strictly within (0, c), and w, more accurate than beta."""


def solve_box_qp(
    pairs: Pairs,
    F: Array,
    c: float,
    *,
    margin: float = 1.0,
    tol: float = 1e-6,
    monitor: Monitor,
    scorer: Callable[[Array, Array], Scorer],
) -> PairDirection:
    """Solve by Mehrotra's predictor-corrector method.

    A step costs O(pairs r + N r^2 + r^3) time; memory is O(pairs + N r + r^2).

    Parameters
    ----------
    pairs : Pairs
        Over the N rows of F.
    F : ndarray of shape (N, r)
        Features, or a factor of the kernel matrix.
    c : float
        Constant of one pair's loss.
    margin : float
        rho.
    tol : float
        Stop at gap <= tol * objective.
    monitor : Monitor
    scorer : callable
        Makes a scorer from w and A^T a; called only if the monitor's listener wants one.

    Returns
    -------
    PairDirection
        The iterate of the smallest objective, whether or not a limit, a stop or rounding came
        before the tolerance.
    """
    solver = _BoxIterate(pairs, F, c, margin, tol, monitor)
    return iterate(solver, monitor, lambda found: scorer(found.weights, found.coefficients))


class _BoxIterate:
    """The iterate and one Newton step.

    Every pass over the pairs works part by part: temporaries then stay in the cache, and only
    a, b, z, u, a copy of the best a and three work arrays have the size of all pairs.
    """

    def __init__(
        self, pairs: Pairs, F: Array, c: float, margin: float, tol: float, monitor: Monitor
    ) -> None:
        self._pairs, self._F, self._c, self._margin, self._tol = pairs, F, c, margin, tol
        self._pause = functools.partial(monitor.stage, "Newton step")
        self._z = np.full(pairs.shape, margin)
        self._u = self._z.copy()
        self._a = np.full(pairs.shape, 0.5 * c)
        self._b = self._a.copy()  # c - a would round to 0 near the bound
        beta, self._w = self._start()
        self._best = PairDirection(multipliers=self._a.copy(), coefficients=beta, weights=self._w)
        self._bound = 0.0  # of no multipliers at all
        # First D, later da; first corrections of z and u, later dz and du.
        self._D, self._p, self._q = (np.empty(pairs.shape) for _ in range(3))

    def _start(self) -> tuple[Array, Array]:
        """Return beta and w of equal multipliers: the present ones, or less if less is better."""
        beta = self._sum_over_pairs(lambda part: self._a[part])
        w = self._F.T @ beta
        linear, square = self._margin * self._pairs.total(self._a), float(w @ w)
        share = 1.0 if linear >= square else linear / square
        return share * beta, share * w

    def measure(self) -> PairDirection:
        """Return the best iterate so far with its certificate; prepare the next step on the way."""
        pairs, F = self._pairs, self._F
        beta = self._sum_over_pairs(lambda part: self._a[part])
        from_a, w = F.T @ beta, self._w
        self._scores = F @ w
        self._mu = 0.5 * self._mean(self._a, self._z) + 0.5 * self._mean(self._b, self._u)
        hinge = 0.0
        self._drive = beta.copy()
        for part in pairs.parts():
            short = self._margin - pairs.margins(self._scores, part)
            D = 1.0 / (self._z[part] / self._a[part] + self._u[part] / self._b[part])
            self._D[part] = D
            self._drive += pairs.adjoint(D * short, part)
            hinge += pairs.total(np.maximum(short, 0.0), part)
        objective = 0.5 * float(w @ w) + self._c * hinge
        dual = self._margin * pairs.total(self._a) - 0.5 * float(from_a @ from_a)
        self._bound = max(self._bound, dual)
        if objective < self._best.objective:
            np.copyto(self._best.multipliers, self._a)
            self._best = dataclasses.replace(
                self._best, coefficients=beta, weights=w, objective=objective
            )
        objective = self._best.objective
        gap = max(objective - self._bound, float(np.spacing(objective)))  # no less can be known
        return dataclasses.replace(self._best, gap=gap, needed=self._tol * objective)

    def advance(self) -> None:
        """Make one predictor-corrector step."""
        S = self._pairs.weighted_gram(self._D, self._F, self._pause)
        S[np.diag_indices_from(S)] += 1.0
        self._pause()
        L = cholesky(S)
        reach, cross = self._predict(self._target(L, self._drive))
        mu = (1.0 - reach) * self._mu + reach**2 * cross / (2 * self._pairs.weight)
        centring = min(max(mu / self._mu, 0.0), 1.0) ** 3
        drive = self._correct(centring * self._mu)
        self._move(min(1.0, TO_BOUNDARY * self._direct(self._target(L, drive))))

    def _sum_over_pairs(self, values: Callable[[slice], Array]) -> Array:
        total = np.zeros(self._pairs.n_rows)
        for part in self._pairs.parts():
            total += self._pairs.adjoint(values(part), part)
        return total

    def _mean(self, x: Array, y: Array) -> float:
        parts = self._pairs.parts()
        return sum(self._pairs.total(x[p] * y[p], p) for p in parts) / self._pairs.weight

    def _target(self, L: Symmetric, drive: Array) -> Array:
        """Return the scores to aim at: F (w + y), where (I + F^T A^T D A F) y = F^T drive."""
        self._dw = L.substitute(self._F.T @ drive - self._w)
        return self._scores + self._F @ self._dw

    def _predict(self, target: Array) -> tuple[float, float]:
        """Take the affine step in mind: fill p = -da dz, q = -da du.

        Returns
        -------
        reach : float
            Longest feasible step, at most 1.
        cross : float
            Sum of da dz - da du, from which the complementarity after the step follows.
        """
        steepest, cross = 1.0, 0.0
        for part in self._pairs.parts():
            da = self._D[part] * (self._margin - self._pairs.margins(target, part))
            to_a, to_b = da / self._a[part], da / self._b[part]
            # dz/z = -1 - da/a and du/u = -1 + da/b, so these two ratios bound every step.
            steepest = max(steepest, -to_a.min(), 1.0 + to_a.max(), to_b.max(), 1.0 - to_b.min())
            self._p[part] = self._z[part] * da * (1.0 + to_a)
            self._q[part] = self._u[part] * da * (1.0 - to_b)
            cross += self._pairs.total(self._q[part] - self._p[part], part)
        return 1.0 / steepest, cross

    def _correct(self, centre: float) -> Array:
        """Turn p, q into the corrections (centre + p)/a, (centre - q)/b; return the new drive."""
        drive = self._drive.copy()
        for part in self._pairs.parts():
            p, q = self._p[part], self._q[part]
            p += centre
            p /= self._a[part]
            np.subtract(centre, q, out=q)
            q /= self._b[part]
            drive += self._pairs.adjoint(self._D[part] * (p - q), part)
        return drive

    def _direct(self, target: Array) -> float:
        """Replace D, p, q by da, dz, du; return the longest feasible step."""
        steepest = 0.0
        for part in self._pairs.parts():
            a, b, z, u = self._a[part], self._b[part], self._z[part], self._u[part]
            da, dz, du = self._D[part], self._p[part], self._q[part]
            da *= self._margin + dz - du - self._pairs.margins(target, part)
            to_a, to_b = da / a, da / b
            dz -= z * (1.0 + to_a)
            du -= u * (1.0 - to_b)
            steepest = max(steepest, -to_a.min(), to_b.max(), -(dz / z).min(), -(du / u).min())
        return 1.0 / steepest if steepest > 0.0 else np.inf

    def _move(self, step: float) -> None:
        self._w = self._w + step * self._dw
        for part in self._pairs.parts():
            da = step * self._D[part]
            self._a[part] += da
            self._b[part] -= da
            self._z[part] += step * self._p[part]
            self._u[part] += step * self._q[part]
