"""A truncated Newton method for a quadratic norm plus the mean squared hinge of all pairs.

Minimises P(w) = |w|^2 / 2 + C L(u), u = X w. L is once differentiable and piecewise quadratic.

Each direction solves H d = -g by preconditioned conjugate gradients, to a tenth of the residual or
better near the optimum. The step along it is where the slope, which is continuous and piecewise
linear, has fallen to a tenth: the undamped iteration can cycle for ever. Every Hessian product
costs a product with X, one with X' and O(N); every point of the line a sort.

The multipliers 2 C xi_ij / mn, scaled by their best common factor, are feasible for the dual. With
v = w - g they leave a gap of |g|^2 / 2 - <v, g>^2 / (2 |v|^2 + 4 C L), free of cancellation.

Chapelle and Keerthi (2010), Efficient algorithms for ranking with SVMs (PRSVM+).

Symbols: u scores of w; g gradient of P; H = I + C X' L'' X its generalised Hessian; d direction,
p = X d its scores; t step along d.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.engine.features.spaces import NumberedSpace, Pause, Space
from aucstudio.engine.losses.hinges import SquaredHinge, SquaredHingePoint
from aucstudio.engine.monitor import Monitor, Reporter, Stopped
from aucstudio.engine.solvers import Direction

Precondition: TypeAlias = Callable[[Array], Array]
Preconditioner: TypeAlias = Callable[[float, Array, SquaredHingePoint], Precondition]

MOST_SAMPLED_FEATURES = 256

_SAMPLED_ROWS_PER_FEATURE = 32
_LEAST_SAMPLED_ROWS = 1_000
_FORCING = 0.1
_SLOPE_SHARE = 0.1
_MOST_CG_STEPS = 1_000
_MOST_LINE_STEPS = 60
_FLOOR = 1e-15


def preconditioner(space: Space, hinge: SquaredHinge, pause: Pause) -> Preconditioner:
    """Return what makes an approximate inverse of H at C, scores and a point of the loss.

    It is the inverse of H on a sample of the rows, or of its diagonal for many features or sparse
    rows. A sample of all rows, where there are few, makes the solver the exact Newton method. In a
    kernel's own space nothing is gained.
    """
    if not isinstance(space, NumberedSpace):
        return lambda C, u, point: _unchanged
    if space.is_sparse or space.size > MOST_SAMPLED_FEATURES:
        return _by_diagonal(space, hinge, pause)
    return _by_sample(space, hinge, pause)


def _by_sample(space: NumberedSpace, hinge: SquaredHinge, pause: Pause) -> Preconditioner:
    sample = _sample(hinge, max(_LEAST_SAMPLED_ROWS, _SAMPLED_ROWS_PER_FEATURE * space.size))
    rows, part = space.take(sample), hinge.of(sample)

    def prepare(C: float, u: Array, point: SquaredHingePoint) -> Precondition:
        H = C * part.at(hinge.sign * u[sample]).gram(rows, pause)
        H[np.diag_indices(space.size)] += 1.0
        return functools.partial(np.matmul, np.linalg.inv(H))

    return prepare


def _sample(hinge: SquaredHinge, most: int) -> Index:
    """Take at most so many rows of each class, evenly spaced."""
    chosen = [rows[:: -(-len(rows) // most)] for rows in (hinge.positives, hinge.negatives)]
    return np.sort(np.concatenate(chosen))


def _by_diagonal(space: NumberedSpace, hinge: SquaredHinge, pause: Pause) -> Preconditioner:
    shares = np.zeros((2, len(hinge.is_positive)))
    for of_class, rows in zip(shares, (hinge.positives, hinge.negatives), strict=True):
        of_class[rows] = hinge.weights[rows] / hinge.weights[rows].sum()
    means, squares = space.power_sums(shares, pause)
    # The mean square of pair differences, over all pairs.
    spread = np.maximum(squares.sum(axis=0) - 2.0 * means[0] * means[1], 0.0)

    def prepare(C: float, u: Array, point: SquaredHingePoint) -> Precondition:
        return functools.partial(np.multiply, 1.0 / (1.0 + 2.0 * C * point.active * spread))

    return prepare


def _unchanged(r: Array) -> Array:
    return r


def minimise(
    space: Space,
    positive: Mask,
    C: float,
    *,
    tol: float,
    monitor: Monitor,
    start: Array | None = None,
    max_iter: int = 200,
    weights: Array | None = None,
) -> Direction:
    """Minimise |w|^2 / 2 + C mean_ij (1 - M_ij)_+^2 over all pairs of a positive and a negative.

    Parameters
    ----------
    space : Space
        The rows.
    positive : ndarray of bool, shape (N,)
    C : float
        Greater than 0.
    tol : float
        The gap to reach, as a share of P and of P(0) - P, whichever is less.
    monitor : Monitor
        Receives every iteration, and reports within one that takes long.
    start : ndarray, optional
        Weights to begin on.
    max_iter : int
    weights : ndarray of shape (N,), optional
        Of the rows, for a weighted mean over the pairs.

    Returns
    -------
    Direction
        Not converged where the monitor stopped it, ``max_iter`` did, or rounding lets P and the
        gap fall no further. The gap of single precision rows is that of the rows as they are.

    Raises
    ------
    Stopped
        If rows come in blocks and the monitor stops the first step.
    """
    state = _State(space, SquaredHinge(positive, weights), C, tol, start)
    look = Reporter(monitor, functools.partial(state.report, monitor))
    with contextlib.suppress(Stopped):
        while not state.stalled and state.n_iter < max_iter:
            state.improve(look.pause)
            if look.report() or state.found().converged:
                break
    if monitor.stopped:
        state.leave_the_origin()
    return state.found()


class _State:
    """The present point, its certificate, and the step that improves it."""

    def __init__(
        self, space: Space, hinge: SquaredHinge, C: float, tol: float, start: Array | None
    ) -> None:
        self._space, self._C, self._tol = space, C, tol
        self._hinge = hinge
        self._prepare: Preconditioner | None = None
        self.n_iter, self.stalled = 0, False
        if start is None:
            w, u = np.zeros(space.size), np.zeros(len(hinge.is_positive))
        else:
            w, u = start, space.scores(start)
        self._stand(w, u, self._hinge.at(u))

    def found(self) -> Direction:
        """Return the present point; its gap is to be small against P and what w = 0 lacks."""
        gained = self._C - self.objective
        return Direction(
            weights=self.w,
            objective=self.objective,
            gap=self.gap,
            needed=max(self._tol * min(self.objective, gained), _FLOOR * self._C),
            n_iter=self.n_iter,
        )

    def report(self, monitor: Monitor) -> bool:
        """Report the present point; return whether to stop."""
        live = functools.partial(self._space.scorer, self.w)
        return monitor.step(self.n_iter, self.objective, gap=self.gap, scorer=live)

    def improve(self, pause: Pause) -> None:
        """Do one Newton step."""
        self.n_iter += 1
        before = self.objective, self.gap
        d, p = self._direction(pause)
        step, point = self._search(d, p, pause)
        if step > 0.0:
            self._stand(self.w + step * d, self._u + step * p, point)
        self.stalled = self.objective >= before[0] and self.gap >= before[1]

    def leave_the_origin(self) -> None:
        """Go from w = 0, which ranks nothing, to the direction between the class means."""
        if not self.w.any():
            w = -self._g
            u = self._space.scores(w)
            self._stand(w, u, self._hinge.at(u))

    def _stand(self, w: Array, u: Array, point: SquaredHingePoint) -> None:
        space, C = self._space, self._C
        g = w + C * space.combine(point.gradient)  # which a stop may leave
        self.w, self._u, self._point, self._g = w, u, point, g
        ww, wg, gg = space.inner(w, w, u), space.inner(self._g, w, u), space.square(self._g)
        self.objective = ww / 2 + C * point.value
        vv, vg = ww - 2 * wg + gg, wg - gg
        saved = vg * vg / (2 * vv + 4 * C * point.value) if vg else 0.0
        self.gap = min(max(gg / 2 - saved, 0.0), self.objective)  # P is nowhere below 0

    def _direction(self, pause: Pause) -> tuple[Array, Array]:
        """Solve H d = -g approximately; return d and its scores."""
        space, point, C = self._space, self._point, self._C
        if self._prepare is None:
            self._prepare = preconditioner(space, self._hinge, pause)
        precondition = self._prepare(C, self._u, point)
        d, p, r = np.zeros(space.size), np.zeros(len(self._u)), -self._g
        q, q_scores, last = np.zeros_like(d), np.zeros_like(p), np.inf
        forcing = min(_FORCING, float(np.sqrt(self.gap / self.objective))) if self.gap else 0.0
        goal = None
        for _ in range(_MOST_CG_STEPS):
            z = precondition(r)
            z_scores = space.scores(z)
            rz = space.inner(r, z, z_scores)
            goal = forcing**2 * rz if goal is None else goal
            if rz <= goal:
                break
            q, q_scores = z + rz / last * q, z_scores + rz / last * q_scores
            pause()
            curved = point.product(q_scores)
            step = rz / (space.inner(q, q, q_scores) + C * float(q_scores @ curved))
            d, p = d + step * q, p + step * q_scores
            r = r - step * (q + C * space.combine(curved))
            last = rz
            pause()
        return d, p

    def _search(self, d: Array, p: Array, pause: Pause) -> tuple[float, SquaredHingePoint]:
        """Find a step where the slope is nearly 0 and P lower; a step of 0 if there is none."""
        space, C = self._space, self._C
        wd, dd = space.inner(d, self.w, self._u), space.inner(d, d, p)
        slope_0 = wd + C * float(self._point.gradient @ p)
        ww = 2 * (self.objective - C * self._point.value)
        low, slope_low, high, slope_high, step = 0.0, slope_0, np.inf, np.inf, 1.0
        for _ in range(_MOST_LINE_STEPS if slope_0 < 0.0 else 0):
            point = self._hinge.at(self._u + step * p)
            slope = wd + step * dd + C * float(point.gradient @ p)
            lower = (ww + step * (2 * wd + step * dd)) / 2 + C * point.value < self.objective
            if abs(slope) <= _SLOPE_SHARE * abs(slope_0) and lower:
                return step, point
            if slope < 0.0:
                low, slope_low = step, slope
            else:
                high, slope_high = step, slope
            if np.isinf(high):
                step *= 2.0
            else:
                share = min(max(slope_low / (slope_low - slope_high), 0.1), 0.9)
                step = low + share * (high - low)
            pause()
        return 0.0, self._point
