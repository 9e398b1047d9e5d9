"""Logistic regression, linear and additive: penalised log-loss by Newton's method.

Symbols: y_i = +-1 class; c_i cost of row i; f = <w, x> + b scores; p_i probability of the wrong
class; D_i = c_i p_i (1 - p_i) curvature of row i; alpha_i = c_i p_i dual variables, which must
satisfy sum_i alpha_i y_i = 0 because b is not penalised.

Of the additive one: F_k curve of feature k, sum_l w_kl N_kl of its basis; Omega_k its roughness;
L_k with L_k L_k' = I + smoothness Omega_k.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from aucstudio.engine.arrays import Array, Mask, portions
from aucstudio.engine.base import WeighsRows
from aucstudio.engine.cost import FEWER_KNOTS, Cost, Work, cost_of
from aucstudio.engine.features.splines import AdditiveScorer, Basis, basis, weighted_scorer
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.linalg import cholesky, gram
from aucstudio.engine.methods.settings import BaselineSettings, centre_of
from aucstudio.engine.monitor import Stopped
from aucstudio.engine.params import param
from aucstudio.engine.scorers import LinearScorer, Scorer

_RELATIVE_GAP = 1e-3
# Relative gaps far below the promised one, for many rows and for few: the order and repetition
# of rows then do not change the solution.
_NEAR, _EXACT = 1e-5, 1e-15
_MOST_COLUMNS = 1_000  # of which the matrix of second derivatives is factored
_FEW_ROWS, _ROWS_PER_COLUMN = 5_000, 64  # beyond both, a sample is solved first
_SAMPLED, _SAMPLED_PER_COLUMN = 16, 25  # one row of so many, but no fewer for each column
_SAMPLE_GAP = 0.1
_CONTRACTION = 0.3  # of the gap, by a step
_SUFFICIENT = 1e-4
_MOST_HALVINGS = 40
_TINY = 1e-300
_NUMBERS_PER_PART = 1 << 18

Solve = Callable[[Array], Array]


class LogLossMethod(BaselineSettings, WeighsRows):
    """What methods of the log-loss share: ``1/2 |w|^2 + C sum_i c_i log(1 + exp(-y_i f_i))``."""

    max_iter: int = param(1000)

    def _minimise(
        self, X: Array, positive: Mask, context: Context, scorer: Callable[[Array], Scorer]
    ) -> tuple[Array, float, Fit]:
        """Return w, b and the fit, with the scores <w, x_i> of the rows.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (N, d)
        positive : ndarray of bool, shape (N,)
        context : Context
        scorer : callable
            Makes a scorer of w.
        """
        monitor = context.monitor
        costs = self.C * self.weigh_rows(self.classes_, positive, context.weights)
        pause = functools.partial(monitor.stage, "Newton step")
        problem = _LogLoss(X, np.where(positive, 1.0, -1.0), costs, pause)

        def report(point: _Point, iteration: int) -> bool:
            live = functools.partial(scorer, point.w)
            return monitor.step(iteration, point.objective, gap=point.gap, scorer=live)

        found, steps = _newton(problem, self.max_iter, report)
        needed = _RELATIVE_GAP * found.objective
        fit = Fit(scorer(found.w), found.objective, steps, found.gap, needed)
        return found.w, found.b, dataclasses.replace(fit, intercept=found.b, scores=found.scores)


@dataclasses.dataclass(frozen=True, eq=False)
class _Point:
    """An iterate with its certificate.

    Attributes
    ----------
    w : ndarray of shape (d,)
    b : float
    scores : ndarray of shape (N,)
        Without b.
    objective, gap : float
    gradient : ndarray of shape (d + 1,)
        Of the objective with respect to w and b.
    curvature : ndarray of shape (N,)
        D.
    """

    w: Array
    b: float
    scores: Array
    objective: float
    gap: float
    gradient: Array
    curvature: Array


@dataclasses.dataclass(frozen=True, eq=False)
class _LogLoss:
    """The objective on given rows, dense or sparse."""

    X: Any
    y: Array
    costs: Array
    pause: Callable[[], None]

    @functools.cached_property
    def is_class(self) -> Array:
        """1 where a row is of the negative class, and of the positive; shape (2, N)."""
        return np.stack([self.y < 0, self.y > 0]).astype(np.float64)

    def at(self, w: Array, b: float) -> _Point:
        """Compute the objective, its derivatives and its distance from the dual objective.

        One pass over the rows, whose parts stay in the processor's cache. The alpha of the heavier
        class are scaled down by r until sum_i alpha_i y_i = 0. The entropy is concave, so that r
        times the entropy of p bounds that of r p from below: the dual value is a lower bound on
        every value of the primal one, wherever the solver is.
        """
        N, d = self.X.shape
        scores, curvature, loss = np.empty(N), np.empty(N), 0.0
        sums, entropy, pull = np.zeros(2), np.zeros(2), np.zeros((2, d))
        in_one = scipy.sparse.issparse(self.X)
        for rows in (slice(None),) if in_one else portions(N, d, _NUMBERS_PER_PART):
            X, y, costs = self.X[rows], self.y[rows], self.costs[rows]
            scores[rows] = f = X @ w
            margins = y * (f + b)
            small = np.exp(-np.abs(margins))
            cost = np.log1p(small) - np.minimum(margins, 0.0)
            share = np.where(margins > 0, small, 1.0) / (1.0 + small)
            alpha = costs * share
            curvature[rows] = alpha * (1.0 - share)
            loss += float(costs @ cost)
            of_class = self.is_class[:, rows]
            entropy += of_class @ (alpha * margins + costs * cost)
            of_class = of_class * alpha
            sums += of_class.sum(axis=1)
            pull += of_class @ X
        r = sums.min() / np.maximum(sums, _TINY)
        direction = r[1] * pull[1] - r[0] * pull[0]
        objective = float(w @ w) / 2 + loss
        gap = max(0.0, objective - float(r @ entropy - direction @ direction / 2))
        gradient = np.append(w - pull[1] + pull[0], sums[0] - sums[1])
        return _Point(w, b, scores, objective, gap, gradient, curvature)

    def along(self, here: _Point, step: Array) -> _Point | None:
        """Return the first point on the way, halved again and again, that is lower; else None."""
        slope, t = float(here.gradient @ step), 1.0
        for _ in range(_MOST_HALVINGS if slope < 0 else 0):
            there = self.at(here.w + t * step[:-1], here.b + t * float(step[-1]))
            if there.objective <= here.objective + _SUFFICIENT * t * slope:
                return there
            t /= 2
        return None

    def sample(self) -> _LogLoss | None:
        """Return the problem of some rows of each class with the cost of all; None for few rows."""
        N, d = self.X.shape
        if not self.is_factored or max(_FEW_ROWS, _ROWS_PER_COLUMN * (d + 1)) > N:
            return None
        every = min(_SAMPLED, N // (_SAMPLED_PER_COLUMN * (d + 1)))
        of_classes = [np.flatnonzero(self.y < 0), np.flatnonzero(self.y > 0)]
        drawn = [rows[::every] for rows in of_classes]
        totals = [self.costs[rows].sum() for rows in (*of_classes, *drawn)]
        factors = np.repeat(np.divide(totals[:2], totals[2:]), [len(rows) for rows in drawn])
        rows = np.concatenate(drawn)
        return _LogLoss(self.X[rows], self.y[rows], factors * self.costs[rows], self.pause)

    @property
    def is_factored(self) -> bool:
        """Whether the matrix of second derivatives is."""
        return not scipy.sparse.issparse(self.X) and self.X.shape[1] <= _MOST_COLUMNS

    def solver(self, here: _Point) -> Solve:
        """Return what multiplies by the inverse matrix of second derivatives at a point."""
        if not self.is_factored:
            return functools.partial(self._conjugate_gradients, here)
        D = here.curvature
        # The best b for given w is a weighted mean: about it, the matrix of w separates.
        total = max(float(D.sum()), _TINY)
        mean = D @ self.X / total
        S = gram(self.X, D, self.pause) - total * np.outer(mean, mean)
        S[np.diag_indices_from(S)] += 1.0
        factor = cholesky(S)

        def solve(g: Array) -> Array:
            w = factor.substitute(g[:-1] - mean * g[-1])
            return np.append(w, g[-1] / total - mean @ w)

        return solve

    def _conjugate_gradients(self, here: _Point, g: Array) -> Array:
        from scipy.sparse.linalg import LinearOperator, cg

        X, D, d = self.X, here.curvature, self.X.shape[1]

        def product(v: Array) -> Array:
            self.pause()
            curved = D * (X @ v[:-1] + v[-1])
            return np.append(v[:-1] + X.T @ curved, curved.sum())

        squares = X.power(2) if scipy.sparse.issparse(X) else np.square(X)
        diagonal = np.append(1.0 + squares.T @ D, max(float(D.sum()), _TINY))
        shape = (d + 1, d + 1)
        inverse = LinearOperator(shape, matvec=lambda v: v / diagonal, dtype=np.float64)
        H = LinearOperator(shape, matvec=product, dtype=np.float64)
        forcing = min(0.1, float(np.sqrt(here.gap / here.objective)))
        return np.asarray(cg(H, g, rtol=max(forcing, 1e-10), M=inverse)[0])


class _Model:
    """Newton's quadratic model at a point, corrected by the gradients met since (L-BFGS).

    Source: Nocedal (1980), Updating quasi-Newton matrices with limited storage.
    """

    def __init__(self, solve: Solve, *, is_fresh: bool = True) -> None:
        self._solve, self.is_fresh = solve, is_fresh
        self._met: list[tuple[Array, Array, float]] = []

    def correct(self, before: _Point, here: _Point) -> None:
        """Add a change of the gradient between two points to the model."""
        step = np.append(here.w - before.w, here.b - before.b)
        change = here.gradient - before.gradient
        curvature = float(step @ change)
        if curvature > 0:  # rounding can hide that of almost straight losses
            self._met.append((step, change, curvature))
        self.is_fresh = False

    def step(self, gradient: Array) -> Array:
        """Return the step to the minimum of the model."""
        left, shares = -gradient, []
        for step, change, curvature in reversed(self._met):
            shares.append(float(step @ left) / curvature)
            left = left - shares[-1] * change
        found = self._solve(left)
        for step, change, curvature in self._met:
            found = found + (shares.pop() - float(change @ found) / curvature) * step
        return found


def _newton(
    problem: _LogLoss, most: int, report: Callable[[_Point, int], bool], gap: float = 0.0
) -> tuple[_Point, int]:
    """Step until the relative gap is small or nothing improves; return the number of steps too.

    Many rows start at the solution of a sample, with its second derivatives. These are computed
    again, of all rows, where a step does not reduce the gap enough and another one would not do.
    """
    sample, step = problem.sample(), 0
    if sample is None:
        below, above = problem.is_class @ problem.costs
        here = problem.at(np.zeros(problem.X.shape[1]), float(np.log(above / below)))
        model = _Model(problem.solver(here))
    else:
        start, _ = _newton(sample, most, lambda *_: False, _SAMPLE_GAP)
        here, model = problem.at(start.w, start.b), _Model(sample.solver(start), is_fresh=False)
    gap = max(gap, _EXACT if sample is None else _NEAR)
    try:
        while True:
            there = problem.along(here, model.step(here.gradient))
            ends = there is None or there.objective >= here.objective * (1 - _EXACT)
            if ends and not model.is_fresh:
                model = _Model(problem.solver(here))
                continue
            step += 1
            before, here = here, there or here
            if report(here, step) or ends or here.gap <= gap * here.objective or step == most:
                return here, step
            rate = here.gap / before.gap
            suffices = rate < _CONTRACTION or rate * here.gap <= gap * here.objective
            if suffices and problem.is_factored and here.gap > _NEAR * here.objective:
                model.correct(before, here)
            else:
                model = _Model(problem.solver(here))
    except Stopped:
        if not step:
            raise
        return here, step


class Logistic(LogLossMethod):
    """Models the log-odds as a weighted sum of the features.

    Minimises ``½ |w|² + C sum_i c_i log(1 + exp(-y_i f_i))``, where c_i is the weight of
    the row, times N / (2 N_class) with balanced class weights. The certificate is the duality gap
    at the multipliers that the scores imply. ``decision_function`` gives log-odds.

    References
    ----------
    Cox (1958), The regression analysis of binary sequences.

    Use when
    --------
    The first baseline on any table: fast, linear, and often hard to beat.
    """

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d = positives + negatives, features
        return cost_of(N, 11.2 * N * d, Work(numbers=80 * N * d + 300 * N, steps=300))

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        centre = centre_of(X)
        near = X - centre if centre.any() else X
        w, b, done = self._minimise(near, positive, context, LinearScorer)
        moved = float(centre @ w)
        assert done.scores is not None
        return dataclasses.replace(done, intercept=b - moved, scores=done.scores + moved)


class AdditiveLogistic(LogLossMethod):
    """Models the log-odds as a sum of smooth curves, one per feature.

    Minimises ``1/2 sum_k (|w_k|^2 + smoothness int F_k''(u)^2 du) + C sum_i c_i log(1 + exp(-y_i
    f_i))`` with f = sum_k F_k(x_k) + b and F_k = sum_l w_kl N_kl, where c_i is the weight of the
    row, times N / (2 N_class) with balanced class weights, and u is the feature in standard
    deviations. N_kl are natural cubic splines, or for features with up to 10 distinct values, whose
    curves are not penalised for roughness, stumps; each has mean 0 and splines have a standard
    deviation of 1. Knots, means and deviations are those of the weighted rows.

    The certificate is the duality gap at the multipliers that the scores imply. A value that is not
    known adds 0. ``decision_function`` gives log-odds.

    References
    ----------
    Hastie and Tibshirani (1986), Generalized additive models.

    Use when
    --------
    When single features have non-linear effects and the model must stay interpretable.
    """

    smoothness: float = param(1.0, "logistic")
    n_knots: int = param(10)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N = positives + negatives
        cells = N * features * max(1, self.n_knots - 1)
        return cost_of(N, 24.0 * cells, Work(numbers=60 * cells, steps=300), FEWER_KNOTS)

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        curves = _Curves(X, self.n_knots, self.smoothness, context)
        return self._minimise(curves.values, positive, context, curves.scorer)[2]


class _Curves:
    """The functions of all features, put so that the penalty is the square of their weights.

    Attributes
    ----------
    values : ndarray of shape (N, functions)
        L^-1 N of the rows.
    """

    def __init__(self, X: Array, n_knots: int, smoothness: float, context: Context) -> None:
        self._bases: list[Basis] = []
        self._factors: list[Array] = []
        values: list[Array] = []
        for k, column in enumerate(X.T):
            context.monitor.stage("splines", k / X.shape[1])
            own = basis(column, n_knots, context.weights)
            penalty = np.eye(len(own)) + smoothness * own.roughness
            L = np.asarray(np.linalg.cholesky(penalty), dtype=np.float64)
            self._bases.append(own)
            self._factors.append(L)
            values.append(
                np.asarray(scipy.linalg.solve_triangular(L, own.pieces(column), lower=True))
            )
        # Where all features are constant there is no function; the library wants one.
        some = np.concatenate([np.empty((0, len(X))), *values])
        self.values = some.T if len(some) else np.zeros((len(X), 1))

    def scorer(self, v: Array) -> AdditiveScorer:
        """Make the scorer of weights of these functions."""
        ends = np.cumsum([len(own) for own in self._bases])
        weights = [
            scipy.linalg.solve_triangular(L, part, lower=True, trans="T")
            for L, part in zip(self._factors, np.split(v, ends)[:-1], strict=True)
        ]
        return weighted_scorer(self._bases, weights)
