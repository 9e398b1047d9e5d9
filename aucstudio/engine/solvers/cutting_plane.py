"""Cutting planes with a line search, for a quadratic norm plus a convex risk of linear scores.

Minimises P(w) = |w|^2 / 2 + C R(Xw). Every subgradient of R is a plane below it; the highest of
the planes seen so far is the model, and the optimum of |w|^2 / 2 + C model(w) a lower bound.

Symbols: u = Xw scores; c subgradient of R with respect to u; (a, b) = (X'c, R(u) - c.u) a cut,
R(Xw) >= a.w + b; lam multipliers of the cuts; D value of the model's dual.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.monitor import Monitor
from aucstudio.engine.scorers import LinearScorer, Scorer
from aucstudio.engine.solvers import simplex_qp

Array = NDArray[np.float64]
Risk = Callable[[Array], tuple[float, Array]]

_IDLE_ROUNDS = 50
_PATIENCE = 20
_MODEL_SHARE = 0.1
_SEARCH_SHARE = 1e-2
_SEARCH_STEPS = 30
_LOOK_INTERVAL = 0.1


@dataclasses.dataclass(frozen=True, eq=False)
class Solution:
    """What the solver found.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
        The best point seen.
    objective : float
        P there.
    gap : float
        Upper bound on the objective minus its optimum.
    n_iter : int
    converged : bool
        Whether the gap met the tolerance.
    """

    weights: Array
    objective: float
    gap: float
    n_iter: int
    converged: bool


def minimise(
    X: Array,
    risk: Risk,
    C: float,
    *,
    tol: float,
    monitor: Monitor,
    max_iter: int = 5000,
    done: int = 0,
    scorer: Callable[[Array], Scorer] = LinearScorer,
) -> Solution:
    """Minimise |w|^2 / 2 + C R(Xw) until P(best) - D <= tol |P(best)|.

    One iteration costs one product X w and one product X'c (c of two columns); the rest happens
    in the scores (the line search calls ``risk`` a few times) and in the cuts (a QP with as many
    variables). The search goes from the best point to the optimum of the model, and a cut is
    taken just beyond the lowest point of that line, where P rises again: it excludes the model's
    optimum, and it is tight where the best point will be. Where the best point has moved,
    another is taken half way from there to the model's optimum; with as many features as rows it
    saves most of the iterations. Iterations: O(C |a|^2 / (tol P)) at most, for smooth risks far
    fewer (Joachims 2006; Franc and Sonnenburg 2008, OCAS).

    Parameters
    ----------
    X : ndarray of shape (N, n_features)
    risk : callable
        ``risk(scores)`` gives the value, nonnegative and convex in the scores, and a subgradient
        of shape (N,).
    C : float
        Greater than 0.
    tol : float
        Relative gap.
    monitor : Monitor
        Hears of every iteration, and within one that takes long.
    max_iter : int
    done : int
        Iterations already reported to the monitor, for its numbering.
    scorer : callable
        Makes what the monitor shows of some weights.

    Returns
    -------
    Solution
        Not converged where the monitor stopped it, ``max_iter`` did, or rounding let the gap
        shrink no further.
    """
    state = _State(X, risk, C)
    look = _Look(state, monitor, done, scorer)
    stalled = 0
    while True:
        before = state.objective, state.bound
        state.improve(look)
        stalled = stalled + 1 if before == (state.objective, state.bound) else 0
        converged = state.gap <= tol * abs(state.objective)
        stop = look.report() or stalled == _PATIENCE or state.n_iter == max_iter
        if converged or stop:
            return Solution(state.weights, state.objective, state.gap, state.n_iter, converged)


class _State:
    """The best point so far, the lower bound, and the step that improves both."""

    def __init__(self, X: Array, risk: Risk, C: float) -> None:
        self._X, self._risk, self._C = X, risk, C
        self._cuts = _Cuts(X.shape[1])
        self.weights = np.zeros(X.shape[1])
        self._scores = np.zeros(len(X))
        value, self._gradient = risk(self._scores)
        self.objective, self.bound = C * value, 0.0
        self.n_iter = 0
        self._cut((value, self._gradient, self._scores))

    @property
    def gap(self) -> float:
        return max(self.objective - self.bound, 0.0)

    def improve(self, look: _Look) -> None:
        """Do one iteration."""
        target, bound = self._cuts.optimum(
            self._C, _MODEL_SHARE * min(self.gap, self.bound), look.stop
        )
        self.bound = max(self.bound, bound)
        self.n_iter += 1
        line = _Line(
            self._risk, self._C, self.weights, target, self._scores, self._X @ target, look
        )
        start = line.start(self.objective, self._gradient)
        below, above = _bracket(line, start, _SEARCH_SHARE * self.gap)
        best = min(below, above, key=lambda point: point.objective)
        points = [above]
        if 0.0 < best.step < 1.0:
            points.append(line.at((best.step + 1.0) / 2))
        self._cut(*((point.value, point.gradient, line.scores(point.step)) for point in points))
        if best.step > 0.0:
            self.weights, self._scores = line.weights(best.step), line.scores(best.step)
            self.objective, self._gradient = best.objective, best.gradient

    def _cut(self, *touched: tuple[float, Array, Array]) -> None:
        """Add the planes that touch R at some scores, given (value, subgradient, scores)."""
        slopes = self._X.T @ np.column_stack([gradient for _, gradient, _ in touched])
        for (value, gradient, scores), slope in zip(touched, slopes.T, strict=True):
            self._cuts.add(slope, value - float(gradient @ scores))


class _Look:
    """The monitor's view of the solver: every iteration, and now and then within a long one."""

    def __init__(
        self, state: _State, monitor: Monitor, done: int, scorer: Callable[[Array], Scorer]
    ) -> None:
        self._state, self._monitor, self._done = state, monitor, done
        self._scorer = scorer
        self._last = time.perf_counter()

    def report(self) -> bool:
        """Tell the monitor of the best point; True if it wants to stop."""
        if self._monitor.stopped:
            return True
        weights = self._state.weights
        self._last = time.perf_counter()
        return self._monitor.step(
            self._done + self._state.n_iter,
            self._state.objective,
            gap=self._state.gap,
            scorer=lambda: self._scorer(weights.copy()),
        )

    def stop(self) -> bool:
        """Tell the monitor only if it has heard nothing for a while."""
        if time.perf_counter() - self._last < _LOOK_INTERVAL:
            return self._monitor.stopped
        return self.report()


class _Cuts:
    """The planes seen, less those long out of use, with their Gram matrix and multipliers."""

    def __init__(self, n_features: int) -> None:
        self._slopes = np.empty((0, n_features))
        self._offsets = np.empty(0)
        self._gram = np.empty((0, 0))
        self._multipliers = np.empty(0)
        self._idle = np.empty(0, dtype=int)

    def add(self, slope: Array, offset: float) -> None:
        products = np.append(self._slopes @ slope, slope @ slope)
        gram = np.pad(self._gram, (0, 1))
        gram[-1], gram[:, -1] = products, products
        self._gram = gram
        self._slopes = np.vstack((self._slopes, slope))
        self._offsets = np.append(self._offsets, offset)
        self._multipliers = np.append(self._multipliers, 0.0)
        self._idle = np.append(self._idle, 0)

    def optimum(self, C: float, tolerance: float, stop: Callable[[], bool]) -> tuple[Array, float]:
        """Give the w that minimises |w|^2 / 2 + C model(w), and the dual value D.

        Both are inexact, D being too low by the tolerance at most: it is a bound all the same,
        and as long as it has further to rise, that costs few iterations and saves much work.
        """
        lam = simplex_qp.solve(self._gram, self._offsets, C, self._multipliers, tolerance, stop)
        w = -(lam @ self._slopes)
        bound = float(lam @ self._offsets - w @ w / 2)
        self._multipliers = lam
        self._idle = np.where(lam > 0.0, 0, self._idle + 1)
        if self._idle.max() > _IDLE_ROUNDS:
            self._keep(self._idle <= _IDLE_ROUNDS)
        return w, bound

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        self._slopes, self._offsets = self._slopes[kept], self._offsets[kept]
        self._multipliers, self._idle = self._multipliers[kept], self._idle[kept]
        self._gram = self._gram[np.ix_(kept, kept)]


@dataclasses.dataclass(frozen=True, eq=False)
class _Point:
    """A point of the line: P and its slope along the line, R and its subgradient."""

    step: float
    objective: float
    slope: float
    value: float
    gradient: Array


class _Line:
    """P along the line from one w (step 0) to another (step 1), without further use of X."""

    def __init__(
        self, risk: Risk, C: float, w: Array, target: Array, u: Array, u_target: Array, look: _Look
    ) -> None:
        self._risk, self._C, self._w, self._u = risk, C, w, u
        self._d, self._p = target - w, u_target - u
        self._ww, self._wd, self._dd = w @ w, w @ self._d, self._d @ self._d
        self.stop = look.stop

    def weights(self, step: float) -> Array:
        return self._w + step * self._d

    def scores(self, step: float) -> Array:
        return self._u + step * self._p

    def start(self, objective: float, gradient: Array) -> _Point:
        """Give the point of step 0, whose cut is already in the model."""
        slope = float(self._wd + self._C * (gradient @ self._p))
        return _Point(0.0, objective, slope, np.nan, gradient)

    def at(self, step: float) -> _Point:
        value, gradient = self._risk(self.scores(step))
        square = self._ww + step * (2 * self._wd + step * self._dd)
        slope = self._wd + step * self._dd + self._C * (gradient @ self._p)
        return _Point(step, float(square / 2 + self._C * value), float(slope), value, gradient)


def _bracket(line: _Line, start: _Point, tolerance: float) -> tuple[_Point, _Point]:
    """Find two points round the minimum on the line, neither above it by more than tolerance.

    Regula falsi on the slope with the Illinois rule. The second point has slope >= 0; the first
    has slope < 0, unless it is the start.
    """
    below, above = start, line.at(1.0)
    while above.slope < 0.0 and not line.stop():
        below, above = above, line.at(2 * above.step)
    left, right = min(below.slope, 0.0), above.slope
    moved = 0
    for _ in range(_SEARCH_STEPS):
        if line.stop() or _height(below, above) <= tolerance:
            break
        share = min(max(left / (left - right), 0.02), 0.98) if left < right else 0.5
        point = line.at(below.step + share * (above.step - below.step))
        if point.slope < 0.0:
            below, left = point, point.slope
            right = right / 2 if moved < 0 else above.slope
            moved = -1
        else:
            above, right = point, point.slope
            left = left / 2 if moved > 0 else min(below.slope, 0.0)
            moved = 1
    return below, above


def _height(below: _Point, above: _Point) -> float:
    """Bound how far the worse of two points lies above the minimum, by the tangents at both."""
    floor = below.objective
    if below.slope < 0.0:
        width = above.step - below.step
        rise = above.objective - above.slope * width - below.objective
        floor += below.slope * rise / (below.slope - above.slope)
    return max(below.objective, above.objective) - floor
