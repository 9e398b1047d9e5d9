"""Newton's method for squared slack of rows with an unpenalised constant.

Minimises 1/2 |w|^2 + sum_i C_i (1 - y_i (<w, phi(x_i)> + b))_+^2, which is piecewise quadratic.
Newton's method jumps to the optimum of the present piece, a ridge regression of the labels on the
rows inside the margin, and a search along the line gives the point to go on from; at the right
piece, the jump is the solution (Keerthi and DeCoste 2005; Chapelle 2007).

Symbols: y_i = +-1 class; C_i cost of row i; f scores; xi_i = (1 - y_i f_i)_+ slack; S rows with
slack; alpha_i = 2 C_i xi_i dual variables; beta = alpha y weights of the rows; K kernel matrix.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.engine.features.spaces import Expansion, Pause, Space, Vectors
from aucstudio.engine.linalg import COPY, cholesky, chunks, gram
from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.solvers import WithConstant

_MOST_STEPS = 100
_SEARCH_STEPS = 60
_SEARCH_TOLERANCE = 1e-14


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _Iterate(WithConstant):
    """A point on the way, with the scores of the training rows without b."""

    scores: Array


def minimise(space: Space, y: Array, costs: Array, *, tol: float, monitor: Monitor) -> WithConstant:
    """Step until the gap is met, nothing improves or the monitor stops it.

    Parameters
    ----------
    space : Vectors or Expansion
    y : ndarray of shape (N,)
        -1 or 1.
    costs : ndarray of shape (N,)
    tol : float
        Stop at gap <= tol * objective.
    monitor : Monitor

    Raises
    ------
    Stopped
        If the monitor requests a stop within the first step.
    """
    state = _Newton(space, y, costs, tol, functools.partial(monitor.stage, "Newton step"))
    while True:
        before = state.best.objective
        try:
            best = state.advance()
        except Stopped:
            if state.best.n_iter == 0:
                raise
            return state.best
        live = functools.partial(space.scorer, best.weights)
        stop = monitor.step(best.n_iter, best.objective, gap=best.gap, scorer=live)
        if stop or best.converged or best.objective >= before or best.n_iter == _MOST_STEPS:
            return best


class _Newton:
    """The iterate, the lower bound, and the step that improves both."""

    def __init__(self, space: Space, y: Array, costs: Array, tol: float, pause: Pause) -> None:
        self._space, self._y, self._costs, self._tol = space, y, costs, tol
        self._pause = pause
        w, b = space.combine(np.zeros(len(y))), float(costs @ y / costs.sum())
        self._bound = 0.0
        self.best = self._measure(w, np.zeros(len(y)), b, 0)

    def advance(self) -> _Iterate:
        """Jump, search the line, and take the lower bound that the new slacks imply."""
        here, space = self.best, self._space
        slack = 1.0 - self._y * (here.scores + here.b)
        w, b = self._jump(slack >= min(slack.max(), 0.0))
        scores = space.scores(w)
        dw, along, db = w - here.weights, scores - here.scores, b - here.b
        fall = space.inner(here.weights, dw, along)
        bend = space.inner(dw, dw, along)
        t = line_search(slack, self._y * (along + db), self._costs, fall, bend)
        there = self._measure(
            here.weights + t * dw, here.scores + t * along, here.b + t * db, here.n_iter + 1
        )
        best = there if there.objective < here.objective else here
        self._bound = max(self._bound, self._dual(there))
        gap, needed = max(0.0, best.objective - self._bound), self._tol * best.objective
        self.best = dataclasses.replace(best, gap=gap, needed=needed, n_iter=there.n_iter)
        return self.best

    def _jump(self, active: Mask) -> tuple[Array, float]:
        """Minimise 1/2 |w|^2 + sum_(i in S) C_i (y_i - f_i)^2: return w and b."""
        y, D = self._y[active], 2 * self._costs[active]
        if isinstance(self._space, Vectors):
            return _ridge(self._space.matrix[active], y, D, self._pause)
        assert isinstance(self._space, Expansion)
        few, b = _kernel_ridge(_among(self._space.K, active, self._pause), y, D, self._pause)
        beta = np.zeros(len(active))
        beta[active] = few
        return beta, b

    def _measure(self, w: Array, scores: Array, b: float, n_iter: int) -> _Iterate:
        slack = np.maximum(0.0, 1.0 - self._y * (scores + b))
        objective = 0.5 * self._space.inner(w, w, scores) + float(self._costs @ slack**2)
        return _Iterate(weights=w, scores=scores, b=b, objective=objective, n_iter=n_iter)

    def _dual(self, at: _Iterate) -> float:
        """Return the largest dual value on the ray of alpha = 2 C xi with the classes balanced."""
        y, space = self._y, self._space
        alpha = 2 * self._costs * np.maximum(0.0, 1.0 - y * (at.scores + at.b))
        sums = [alpha[y > 0].sum(), alpha[y < 0].sum()]
        if min(sums) == 0.0:
            return 0.0
        alpha *= min(sums) / np.where(y > 0, *sums)
        w = space.combine(alpha * y)
        square = space.inner(w, w, space.scores(w)) + float(alpha @ (0.5 * alpha / self._costs))
        return float(alpha.sum()) ** 2 / (2 * square)


def _ridge(X: Array, y: Array, D: Array, pause: Pause) -> tuple[Array, float]:
    # The best b for given w is a weighted mean: centred rows and labels leave w alone.
    mean, level = D @ X / D.sum(), float(D @ y / D.sum())
    X = X - mean
    S = gram(X, D, pause)
    S[np.diag_indices_from(S)] += 1.0
    w = cholesky(S).substitute((D * (y - level)) @ X)
    return w, level - float(mean @ w)


def _kernel_ridge(S: Array, y: Array, D: Array, pause: Pause) -> tuple[Array, float]:
    # On S, (K + 1/(2 C)) beta + b = y and sum beta = 0; elsewhere beta = 0.
    S[np.diag_indices_from(S)] += 1.0 / D
    pause()
    L = cholesky(S)
    from_y, from_one = L.substitute(y), L.substitute(np.ones(len(y)))
    b = float(from_y.sum() / from_one.sum())
    return from_y - b * from_one, b


def _among(K: Array, active: Mask, pause: Pause) -> Array:
    chosen: Index = np.flatnonzero(active)
    block = np.empty((len(chosen), len(chosen)))
    for rows in chunks(len(chosen), COPY * len(chosen)):
        np.take(K[chosen[rows]], chosen, axis=1, out=block[rows], mode="clip")
        pause()
    return block


def line_search(slack: Array, closing: Array, costs: Array, fall: float, bend: float) -> float:
    """Minimise fall t + bend t²/2 + sum_i C_i (slack_i - t closing_i)_+² over t > 0.

    The derivative is increasing and piecewise linear, so that Newton's method with a bracket ends
    after a few steps.
    """
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(_SEARCH_STEPS):
        left = np.maximum(0.0, slack - t * closing)
        slope = fall + bend * t - 2 * float(costs @ (left * closing))
        curvature = bend + 2 * float(costs @ (closing**2 * (left > 0)))
        low, high = (t, high) if slope < 0 else (low, t)
        following = t - slope / curvature if curvature > 0 else t
        if not low <= following <= high:
            following = (low + high) / 2
        if abs(following - t) <= _SEARCH_TOLERANCE * t:
            break
        t = following
    return t
