"""Cutting planes with a line search, for a quadratic norm plus a convex risk of linear scores.

Minimises P(w) = |w|^2 / 2 + C R(Xw). Every subgradient of R is a plane below it; the highest of
the planes seen so far is the model, and the optimum of |w|^2 / 2 + C model(w) a lower bound.

One iteration costs one product X w and at most two products X'c; the rest happens in the scores
(the line search calls ``risk`` a few times) and in the cuts (a QP with as many variables). The
search goes from the best point to the optimum of the model, and a cut is taken just beyond the
lowest point of that line, where P rises again: it excludes the model's optimum, and it is tight
where the best point will be. Where the best point has moved, another is taken half way from there
to the model's optimum; with as many features as rows it saves most of the iterations. Iterations:
O(C |a|^2 / (tol P)) at most, for smooth risks far fewer (Joachims 2006; Franc and Sonnenburg 2008,
OCAS).

The model's optimum is sought with a proximal term mu |w - best|^2 / 2, as bundle methods do
(Lemarechal 1975; Kiwiel 1990): many features at a large C otherwise make it leap about. The gap is
the sum of what the model lacks and of the pull mu / (1 + mu) |w - best|^2 / 2, w being where the
multipliers point without the term; mu keeps the pull at a share of the gap, so that it costs the
bound little and disappears at the end.

Symbols: u = Xw scores; c subgradient of R with respect to u; (a, b) = (X'c, R(u) - c.u) a cut,
R(Xw) >= a.w + b; D value of the model's dual; mu weight of the proximal term; d
direction of a line, p = Xd; A the matrix of the a; lam multipliers of the cuts.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from aucstudio.engine.arrays import Array, Rows
from aucstudio.engine.losses import Risk
from aucstudio.engine.monitor import Monitor, Reporter
from aucstudio.engine.scorers import LinearScorer, Scorer
from aucstudio.engine.solvers import Direction
from aucstudio.engine.solvers.cuts import Cuts

_STEPS = 30
Meant = Callable[[Array, Array], float]

_PATIENCE = 20
_MODEL_SHARE = 0.1
_SEARCH_SHARE = 1e-2
_FIRST_MU = 0.1
_PULL_SHARES = 0.2, 0.5


@dataclasses.dataclass(frozen=True, eq=False)
class Point:
    """A point of the line: P and its slope along the line, R and its subgradient."""

    step: float
    objective: float
    slope: float
    value: float
    gradient: Array


class Ray:
    """P along the ray from one w (step 0) to another (step 1), without further use of X.

    Parameters
    ----------
    risk : callable
        R and a subgradient of it, from the scores.
    C : float
    w, target : ndarray of shape (n_features,)
    u, u_target : ndarray of shape (N,)
        Their scores.
    stop : callable
        Called before each evaluation of the risk; True ends the search at the current point.
    """

    def __init__(
        self,
        risk: Risk,
        C: float,
        w: Array,
        target: Array,
        u: Array,
        u_target: Array,
        stop: Callable[[], bool],
    ) -> None:
        self._risk, self._C, self._w, self._u = risk, C, w, u
        self._d, self._p = target - w, u_target - u
        self._ww, self._wd, self._dd = w @ w, w @ self._d, self._d @ self._d
        self.stop = stop

    def weights(self, step: float) -> Array:
        return self._w + step * self._d

    def scores(self, step: float) -> Array:
        return self._u + step * self._p

    def start(self, objective: float, gradient: Array) -> Point:
        """Return the point of step 0, of which P and a subgradient are known."""
        slope = float(self._wd + self._C * (gradient @ self._p))
        return Point(0.0, objective, slope, np.nan, gradient)

    def at(self, step: float) -> Point:
        value, gradient = self._risk(self.scores(step))
        square = self._ww + step * (2 * self._wd + step * self._dd)
        slope = self._wd + step * self._dd + self._C * (gradient @ self._p)
        return Point(step, float(square / 2 + self._C * value), float(slope), value, gradient)


def bracket(line: Ray, start: Point, tolerance: float) -> tuple[Point, Point]:
    """Find two points round the minimum on the line, neither above it by more than tolerance.

    Regula falsi on the slope with the Illinois rule. The second point has slope >= 0; the first
    has slope < 0, unless it is the start.
    """
    below, above = start, line.at(1.0)
    while above.slope < 0.0 and not line.stop():
        below, above = above, line.at(2 * above.step)
    left, right = min(below.slope, 0.0), above.slope
    moved = 0
    for _ in range(_STEPS):
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


def _height(below: Point, above: Point) -> float:
    """Bound the distance of the worse of two points from the minimum, by tangents at both."""
    floor = below.objective
    if below.slope < 0.0:
        width = above.step - below.step
        rise = above.objective - above.slope * width - below.objective
        floor += below.slope * rise / (below.slope - above.slope)
    return max(below.objective, above.objective) - floor


def minimise(
    X: Rows,
    risk: Risk,
    C: float,
    *,
    tol: float,
    monitor: Monitor,
    max_iter: int = 5000,
    done: int = 0,
    scorer: Callable[[Array], Scorer] = LinearScorer,
    start: Array | None = None,
    cuts: Cuts | None = None,
    meant: Meant | None = None,
    most_at_zero: int | None = None,
) -> Direction:
    """Minimise |w|^2 / 2 + C R(Xw) until P(best) - D <= tol |P(best)|.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (N, n_features)
    risk : callable
        ``risk(scores)`` gives the value, nonnegative and convex in the scores, and a subgradient
        of shape (N,).
    C : float
        Greater than 0.
    tol : float
        Relative gap.
    monitor : Monitor
        Receives every iteration, and reports within one that takes long.
    max_iter : int
    done : int
        Iterations already reported to the monitor, for its numbering.
    scorer : callable
        Makes a scorer of some weights for the monitor.
    start : ndarray of shape (n_features,), optional
        Weights of the direction to begin on, of any length; one product X w more.
    cuts : Cuts, optional
        Planes below this very risk on these very rows; new ones are added to them.
    meant : callable, optional
        ``meant(weights, scores)`` is the objective reported to the monitor where P bounds or
        prepares another one; no gap is reported then.
    most_at_zero : int, optional
        Ends after so many iterations if no w is better than 0 yet.

    Returns
    -------
    Direction
        Not converged where the monitor stopped it, ``max_iter`` did, or rounding let the gap
        shrink no further.
    """
    state = _State(X, risk, C, Cuts(X.shape[1]) if cuts is None else cuts)
    look = Reporter(monitor, functools.partial(state.report, monitor, done, scorer, meant))
    state.begin(start, look)
    while True:
        state.improve(look)
        found = state.found(tol)
        is_over = state.idle == _PATIENCE or state.n_iter == max_iter
        is_over |= state.n_iter == most_at_zero and not state.weights.any()
        if look.report() or found.converged or is_over:
            return found


class _State:
    """The best point so far, the lower bound, and the step that improves both."""

    def __init__(self, X: Rows, risk: Risk, C: float, cuts: Cuts) -> None:
        self._X, self._risk, self._C, self._cuts = X, risk, C, cuts
        self._mu = _FIRST_MU
        self.weights = np.zeros(X.shape[1])
        self.scores = np.zeros(X.shape[0])
        self._value, self._gradient = risk(self.scores)
        self.objective, self.bound = C * self._value, 0.0
        self.n_iter = self.idle = 0

    @property
    def gap(self) -> float:
        return max(self.objective - self.bound, 0.0)

    def found(self, tol: float) -> Direction:
        """Return the best point with its relative gap."""
        return Direction(
            weights=self.weights,
            objective=self.objective,
            gap=self.gap,
            needed=tol * abs(self.objective),
            n_iter=self.n_iter,
        )

    def report(
        self,
        monitor: Monitor,
        done: int,
        scorer: Callable[[Array], Scorer],
        meant: Meant | None,
    ) -> bool:
        """Report the best point; return whether to stop."""
        weights = self.weights
        return monitor.step(
            done + self.n_iter,
            self.objective if meant is None else meant(weights, self.scores),
            gap=self.gap if meant is None else None,
            scorer=lambda: scorer(weights.copy()),
        )

    def begin(self, start: Array | None, look: Reporter) -> None:
        """Start where the initial direction is best; at 0 without one."""
        if start is not None:
            line, below, above = self._search(start, look)
            self._move(line, _lower(below, above))
        if not len(self._cuts):
            self._cut((self._value, self._gradient, self.scores))

    def improve(self, look: Reporter) -> None:
        """Do one iteration: find the model's optimum, and cut on the line from the best point."""
        self.n_iter += 1
        before = self.objective, self.bound
        inexact = _MODEL_SHARE * min(self.gap, self.bound)
        w, bound = self._cuts.optimum(self._C, self.weights, self._mu, inexact, look.stop)
        self.bound = max(self.bound, bound)
        share, away = self._mu / (1 + self._mu), self.weights - w
        line, below, above = self._search(w + share * away, look)
        best = _lower(below, above)
        points = [above]
        if 0.0 < best.step < 1.0:
            points.append(line.at((best.step + 1.0) / 2))
        self._cut(*((point.value, point.gradient, line.scores(point.step)) for point in points))
        self._move(line, best)
        self._adapt(share * float(away @ away) / 2)
        self.idle = self.idle + 1 if before == (self.objective, self.bound) else 0

    def _search(self, target: Array, look: Reporter) -> tuple[Ray, Point, Point]:
        """Bracket the lowest point of the line from the best point to the target."""
        line = Ray(
            self._risk, self._C, self.weights, target, self.scores, self._X @ target, look.stop
        )
        start = line.start(self.objective, self._gradient)
        return line, *bracket(line, start, _SEARCH_SHARE * self.gap)

    def _move(self, line: Ray, best: Point) -> None:
        if best.step > 0.0:
            self.weights, self.scores = line.weights(best.step), line.scores(best.step)
            self.objective, self._value, self._gradient = best.objective, best.value, best.gradient

    def _adapt(self, pull: float) -> None:
        low, high = _PULL_SHARES
        if pull > high * self.gap:
            self._mu /= 2
        elif pull < low * self.gap:
            self._mu *= 2

    def _cut(self, *touched: tuple[float, Array, Array]) -> None:
        """Add the planes that touch R at some scores, given (value, subgradient, scores)."""
        for value, gradient, scores in touched:  # one by one: twice as fast as two columns at once
            self._cuts.add(self._X.T @ gradient, value - float(gradient @ scores))


def _lower(below: Point, above: Point) -> Point:
    return below if below.objective <= above.objective else above
