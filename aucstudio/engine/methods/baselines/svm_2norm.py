"""The 2-norm SVM: squared slack and a constant that is not penalised, by Newton's method.

The objective is piecewise quadratic. Newton's method jumps to the optimum of the present piece,
a ridge regression of the labels on the rows inside the margin, and a search along the line gives
the point to go on from; at the right piece, the jump is the solution (Keerthi and DeCoste 2005;
Chapelle 2007).

Symbols: y_i = +-1 class; C_i = C c_i cost of row i; f scores; xi_i = (1 - y_i f_i)_+ slack; S rows
with slack; alpha_i = 2 C_i xi_i dual variables; beta = alpha y weights of the rows; K kernel
matrix; X features, centred.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.base import Array, AUCClassifier, Context, Fit, Mask
from aucstudio.engine.cost import NO_KERNEL, NUMBER, Cost, Work, cost_of, kernel_matrix
from aucstudio.engine.features.kernels import Kernel, KernelSettings
from aucstudio.engine.linalg import COPY, cholesky, chunks, gram, product
from aucstudio.engine.methods.baselines._settings import BaselineSettings
from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.scorers import LinearScorer, Scorer, trimmed

Index = NDArray[np.intp]

MAX_KERNEL_ROWS = 20_000

_TOLERANCE = 1e-8
_MOST_STEPS = 100
_SEARCH_STEPS = 60
_SEARCH_TOLERANCE = 1e-14


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class SVM2Norm(KernelSettings, BaselineSettings, AUCClassifier):
    """Support vector machine with squared slack, trained for accuracy.

    Minimises ``½ |w|² + C sum_i c_i max(0, 1 - y_i f_i)²``, f = <w, phi(x)> + b, where c_i is 1, or
    N / (2 N_class) with balanced class weights. Its dual is that of a hard-margin SVM with the
    kernel k_ij + delta_ij / (2 C c_i). The certificate is the duality gap.

    A step costs O(N d^2 + d^3) with the linear kernel, else O(N^2 + s^3) for s rows inside the
    margin; a dozen steps are usual.

    References
    ----------
    Rakotomamonjy (2004), Optimizing area under ROC curve with SVMs, section 3.6. Eq. 15 is not the
    dual of eq. 14: as printed, it lacks a ½ and has the ridge 1 / C.
    """

    key: ClassVar[str] = "svm-2norm"
    title: ClassVar[str] = "2-norm SVM"
    solves: ClassVar[str] = "squared row hinge"
    family: ClassVar[str] = "baselines"
    source: ClassVar[str] = (
        "Cortes and Vapnik (1995), Support-vector networks; compared with AUC methods by "
        "Rakotomamonjy (2004), Optimizing area under ROC curve with SVMs"
    )
    summary: ClassVar[str] = "SVM with squared slack; said to maximise the AUC along the way."
    in_words: ClassVar[str] = "SVM with squared slack"
    trains_for: ClassVar[str] = "accuracy"
    use_when: ClassVar[str] = (
        "A second yardstick, said to rank well although it trains for accuracy."
    )

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse kernel matrices beyond memory; see the base class."""
        if self.kernel != "linear" or positives + negatives < features:
            _refuse_large(positives + negatives)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Say what a fit takes; see the base class."""
        N, d = positives + negatives, features
        if self.kernel == "linear" and d <= N:
            work = Work(products=8.0 * N * d**2, numbers=60.0 * N * d, steps=100)
            return cost_of(N, NUMBER * (2.0 * N * d + 3.0 * d**2), work)
        work = kernel_matrix(N, d) + Work(products=1.7 * N**3, numbers=20.0 * N**2)
        return cost_of(N, NUMBER * (2.0 * N**2 + 512 * N + N * d), work, NO_KERNEL)

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        kernel = self.settle_kernel(X, context.given)
        costs = self.C * self.weigh(self.classes_, positive)[positive.astype(int)]
        y = np.where(positive, 1.0, -1.0)
        centre = X.mean(axis=0) if kernel.is_linear else np.zeros(X.shape[1])
        rows = X - centre
        if kernel.is_linear and X.shape[1] <= len(X):
            space: _Space = _Features(rows, y, costs, monitor)
        else:
            space = _Rows(kernel, rows, y, costs, monitor)
        done = _minimise(space, y, costs, monitor)
        scorer = space.scorer(done.w)
        b = done.b - float(scorer(centre[None, :])[0]) if kernel.is_linear else done.b
        needed = _TOLERANCE * done.objective
        return Fit(scorer, done.objective, done.n_iter, done.gap, needed, intercept=b)


def _refuse_large(rows: int) -> None:
    if rows > MAX_KERNEL_ROWS:
        raise InvalidSetting(
            "kernel",
            f"this kernel needs the {rows:,} × {rows:,} matrix of all rows, "
            f"{2 * 8 * rows**2 / 1e9:.1f} GB with its factor; beyond {MAX_KERNEL_ROWS:,} rows take "
            "the linear kernel or train on a sample of the rows",
        )


class _Space(Protocol):
    """A way to write down w: as itself, or by the weights of the rows."""

    def jump(self, active: Mask) -> tuple[Array, float]:
        """Minimise ½|w|² + sum_(i in S) C_i (y_i - f_i)²: give w and b."""

    def combine(self, beta: Array) -> Array:
        """Write down sum_i beta_i phi(x_i)."""

    def scores(self, w: Array) -> Array:
        """Give <w, phi(x_i)> for all rows."""

    def inner(self, w: Array, other: Array, others_scores: Array) -> float:
        """Give the inner product of w and another direction."""

    def scorer(self, w: Array) -> Scorer:
        """Make a scorer."""


class _Features:
    """w itself; for at least as many rows as features."""

    def __init__(self, X: Array, y: Array, costs: Array, monitor: Monitor) -> None:
        self._X, self._y, self._costs = X, y, costs
        self._pause = functools.partial(monitor.stage, "Newton step")

    def jump(self, active: Mask) -> tuple[Array, float]:
        # The best b for given w is a weighted mean: centred rows and labels leave w alone.
        X, y, D = self._X[active], self._y[active], 2 * self._costs[active]
        mean, level = D @ X / D.sum(), float(D @ y / D.sum())
        X = X - mean
        S = gram(X, D, self._pause)
        S[np.diag_indices_from(S)] += 1.0
        w = cholesky(S).substitute((D * (y - level)) @ X)
        return w, level - float(mean @ w)

    def combine(self, beta: Array) -> Array:
        return beta @ self._X

    def scores(self, w: Array) -> Array:
        return self._X @ w

    def inner(self, w: Array, other: Array, others_scores: Array) -> float:
        return float(w @ other)

    def scorer(self, w: Array) -> Scorer:
        return LinearScorer(w.copy())


class _Rows:
    """w by the weights beta of the rows."""

    def __init__(
        self, kernel: Kernel, points: Array, y: Array, costs: Array, monitor: Monitor
    ) -> None:
        self._kernel, self._points, self._y, self._costs = kernel, points, y, costs
        self._pause = functools.partial(monitor.stage, "Newton step")
        self._K = kernel(points, points, functools.partial(monitor.stage, "kernel matrix"))

    def jump(self, active: Mask) -> tuple[Array, float]:
        # On S, (K + 1/(2 C)) beta + b = y and sum beta = 0; elsewhere beta = 0.
        S = self._block_of_kernel(np.flatnonzero(active))
        S[np.diag_indices_from(S)] += 0.5 / self._costs[active]
        self._pause()
        L = cholesky(S)
        from_y = L.substitute(self._y[active])
        from_one = L.substitute(np.ones(len(S)))
        b = float(from_y.sum() / from_one.sum())
        beta = np.zeros(len(self._y))
        beta[active] = from_y - b * from_one
        return beta, b

    def _block_of_kernel(self, chosen: Index) -> Array:
        block = np.empty((len(chosen), len(chosen)))
        for rows in chunks(len(chosen), COPY * len(chosen)):
            np.take(self._K[chosen[rows]], chosen, axis=1, out=block[rows], mode="clip")
            self._pause()
        return block

    def combine(self, beta: Array) -> Array:
        return beta

    def scores(self, w: Array) -> Array:
        return product(self._K, w, self._pause)

    def inner(self, w: Array, other: Array, others_scores: Array) -> float:
        return float(w @ others_scores)

    def scorer(self, w: Array) -> Scorer:
        return trimmed(self._kernel, self._points, w)


@dataclasses.dataclass(frozen=True, eq=False)
class _Iterate:
    """A direction with its constant; ``scores`` are those of the training rows, without b."""

    w: Array
    scores: Array
    b: float
    objective: float
    gap: float
    n_iter: int


def _minimise(space: _Space, y: Array, costs: Array, monitor: Monitor) -> _Iterate:
    """Step until the gap is met, nothing improves or the monitor stops it."""
    state = _Newton(space, y, costs)
    while True:
        before = state.best.objective
        try:
            best = state.advance()
        except Stopped:
            if state.best.n_iter == 0:
                raise
            return state.best
        live = functools.partial(space.scorer, best.w)
        stop = monitor.step(best.n_iter, best.objective, gap=best.gap, scorer=live)
        met = best.gap <= _TOLERANCE * best.objective
        if stop or met or best.objective >= before or best.n_iter == _MOST_STEPS:
            return best


class _Newton:
    """The iterate, the lower bound, and the step that improves both."""

    def __init__(self, space: _Space, y: Array, costs: Array) -> None:
        self._space, self._y, self._costs = space, y, costs
        w, b = space.combine(np.zeros(len(y))), float(costs @ y / costs.sum())
        self._bound = 0.0
        self.best = self._measure(w, np.zeros(len(y)), b, 0)

    def advance(self) -> _Iterate:
        """Jump, search the line, and take the lower bound that the new slacks imply."""
        here, space = self.best, self._space
        slack = 1.0 - self._y * (here.scores + here.b)
        w, b = space.jump(slack >= min(slack.max(), 0.0))
        scores = space.scores(w)
        dw, along, db = w - here.w, scores - here.scores, b - here.b
        fall = space.inner(here.w, dw, along)
        bend = space.inner(dw, dw, along)
        t = _search(slack, self._y * (along + db), self._costs, fall, bend)
        there = self._measure(
            here.w + t * dw, here.scores + t * along, here.b + t * db, here.n_iter + 1
        )
        best = there if there.objective < here.objective else here
        self._bound = max(self._bound, self._dual(there))
        gap = max(0.0, best.objective - self._bound)
        self.best = dataclasses.replace(best, gap=gap, n_iter=there.n_iter)
        return self.best

    def _measure(self, w: Array, scores: Array, b: float, n_iter: int) -> _Iterate:
        slack = np.maximum(0.0, 1.0 - self._y * (scores + b))
        objective = 0.5 * self._space.inner(w, w, scores) + float(self._costs @ slack**2)
        return _Iterate(w, scores, b, objective, np.inf, n_iter)

    def _dual(self, at: _Iterate) -> float:
        """Give the largest dual value on the ray of alpha = 2 C xi, made to balance the classes."""
        y, space = self._y, self._space
        alpha = 2 * self._costs * np.maximum(0.0, 1.0 - y * (at.scores + at.b))
        sums = [alpha[y > 0].sum(), alpha[y < 0].sum()]
        if min(sums) == 0.0:
            return 0.0
        alpha *= min(sums) / np.where(y > 0, *sums)
        w = space.combine(alpha * y)
        square = space.inner(w, w, space.scores(w)) + float(alpha @ (0.5 * alpha / self._costs))
        return float(alpha.sum()) ** 2 / (2 * square)


def _search(slack: Array, closing: Array, costs: Array, fall: float, bend: float) -> float:
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
