"""Interior-point methods: the iteration they share, the pair hinge and the soft-margin SVM.

The box-constrained dual of a pairwise hinge problem is min_a 1/2 a^T W Q W a - rho 1^T W a subject
to 0 <= a <= c. Q = A F F^T A^T is never formed; A is the incidence matrix of
:mod:`aucstudio.engine.losses.pairs`, W the weights of the pairs. The primal is min_w 1/2 |w|^2 + c
sum_pairs W (rho - M)_+ with w = F^T A^T W a and M = A F w. A pair of weight k takes the same steps
as k equal pairs: every sum over the pairs is weighted.

Symbols: a multipliers, b = c - a; z, u multipliers of a >= 0 and b >= 0; Theta = z/a + u/b; D =
1/Theta; mu mean complementarity; P, P - gap primal and dual value.

The soft-margin SVM with an unpenalised constant is min over w and b of 1/2 |w|^2 + sum_i c_i (1 -
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
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from aucstudio.engine.arrays import Array, portions
from aucstudio.engine.linalg import Symmetric, cholesky
from aucstudio.engine.losses.hinges import FreeConstantHinge
from aucstudio.engine.losses.pairs import Pairs
from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.scorers import LinearScorer, Scorer
from aucstudio.engine.solvers import RowDirection, Solution, WithConstant

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


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class PairSolution(RowDirection):
    """What the solver found.

    Attributes
    ----------
    multipliers : ndarray of the pairs' shape
        a, strictly within (0, c); the coefficients are A^T W a.
    """

    multipliers: Array


def solve_box_qp(
    pairs: Pairs,
    F: Array,
    c: float,
    *,
    margin: float = 1.0,
    tol: float = 1e-6,
    monitor: Monitor,
    scorer: Callable[[Array, Array], Scorer],
) -> PairSolution:
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
    PairSolution
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
        self._best = PairSolution(multipliers=self._a.copy(), coefficients=beta, weights=self._w)
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

    def measure(self) -> PairSolution:
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
