"""Regularised least squares on pairs (AUC-RLS) and on labels (RLS), in closed form.

Symbols: m, n numbers of positives and negatives; N = m + n; M_ij = f(x_i) - f(z_j) margin of a
pair; y_i = +-1 label; delta difference of the class means; S sum of the two class covariances
(divisors m, n); K Gram matrix, positives first; L the AUC-RLS paper's matrix of eq. 9; R a factor
of it, L / mn = R R'; lambda the regularisation against the mean loss.
"""

from __future__ import annotations

import dataclasses
import functools
from abc import abstractmethod

import numpy as np
import scipy
from numpy.typing import ArrayLike

from aucstudio.engine.arrays import Array, Mask, Rows
from aucstudio.engine.base import WeighsRows
from aucstudio.engine.blocks import Passes
from aucstudio.engine.cost import (
    FEWER_FEATURES,
    NO_KERNEL,
    Cost,
    Work,
    cost_of,
    kernel_matrix,
    refuse_kernel_matrix,
)
from aucstudio.engine.fit import Context, Fit, PairsHeldOut
from aucstudio.engine.kernels import Kernel, KernelSettings
from aucstudio.engine.linalg import chunks
from aucstudio.engine.methods.hold_out import HoldOut, rls_leave_pair_out
from aucstudio.engine.methods.least_squares_systems import (
    RELATIVE_GAP,
    Classes,
    DirectionSystem,
    Mixing,
    RowsSystem,
    System,
    add_products,
    block_moments,
    class_moments,
    moment_difference,
    pair_mixing,
)
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import InvalidSetting, param
from aucstudio.engine.scorers import LinearScorer, Scorer, score_rows
from aucstudio.notices import text

MOST_KERNEL_ROWS = 20_000
MOST_HOLD_OUT_ROWS = 10_000

_ROWS_PER_CHUNK = 16_384


class LeastSquares(KernelSettings, WeighsRows):
    """A method that solves for the direction, or for the weights of the rows if that is less."""

    regularization: float

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        settings = {**self.get_params(deep=False), "regularization": None}
        system = context.shared.once(settings, lambda: self._system(X, positive, context))
        done = system.solve(float(self.regularization), monitor)
        if isinstance(done.scorer, LinearScorer):
            done = self._recounted(done, done.scorer.weights, X, positive, context)
        monitor.step(1, done.objective, gap=done.gap, total=1, scorer=lambda: done.scorer)
        constant = self._constant(done.scorer, X, positive, context)
        return dataclasses.replace(done, intercept=constant)

    def _recounted(self, done: Fit, w: Array, X: Rows, positive: Mask, context: Context) -> Fit:
        """Return the fit with its objective counted from the scores of the rows.

        Moments of features that are far from 0, or of very different sizes, lose its digits.
        """
        mean = _mean(X, context.weights)
        scores = np.empty(X.shape[0])
        for rows in chunks(X.shape[0], most=_ROWS_PER_CHUNK):
            scores[rows] = (X[rows] if scipy.sparse.issparse(X) else X[rows] - mean) @ w
        if scipy.sparse.issparse(X):
            scores -= mean @ w
        loss = self._mean_loss(scores, float(mean @ w), positive, context.weights)
        objective = loss + float(self.regularization) * float(w @ w)
        return dataclasses.replace(done, objective=objective, needed=RELATIVE_GAP * objective)

    @abstractmethod
    def _mean_loss(
        self, scores: Array, level: float, positive: Mask, weights: Array | None
    ) -> float:
        """Return the mean loss of scores, of which ``level`` was taken off."""

    def _system(self, X: Array, positive: Mask, context: Context) -> System:
        kernel = self.resolve_kernel(X, context.given, context.weights)
        if kernel.is_linear and X.shape[1] <= X.shape[0]:
            return self._primal(X, positive, context)
        return self._dual(kernel, X, positive, context)

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse kernel matrices beyond memory; see the base class."""
        if self.kernel != "linear" or positives + negatives < features:
            refuse_kernel_matrix(positives + negatives, MOST_KERNEL_ROWS)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d = positives + negatives, features
        if self.kernel == "linear" and d <= N:
            work = Work(products=1.5 * N * d**2 + d**3, numbers=2 * N * d)
            return cost_of(N, 56.0 * d**2, work, FEWER_FEATURES)
        work = kernel_matrix(N, d) + Work(products=0.5 * N**3, numbers=20 * N**2)
        return cost_of(N, 8.0 * (N**2 + 1024 * N), work, NO_KERNEL)

    def estimate_sparse(self, positives: int, negatives: int, features: int, stored: float) -> Cost:
        """Estimate memory and time of a fit: the equations are as many as from dense rows."""
        return self.estimate(positives, negatives, features)

    @abstractmethod
    def _primal(self, X: Array, positive: Mask, context: Context) -> System:
        """Return the equations of the direction itself."""

    @abstractmethod
    def _dual(self, kernel: Kernel, X: Array, positive: Mask, context: Context) -> System:
        """Return the equations of the weights of the rows."""

    def _constant(self, scorer: Scorer, X: Array, positive: Mask, context: Context) -> float | None:
        """Return the constant that the method chooses, if it does."""
        return None

    def _kernel_for_hold_out(
        self, X: Array, regularizations: ArrayLike, given: Kernel | None
    ) -> Kernel:
        """Return the kernel, or refuse what the closed form of held-out scores cannot do."""
        if np.min(regularizations) <= 0:
            raise InvalidSetting("regularization", text("leave_pair_out_unregularised"))
        kernel = self.resolve_kernel(X, given)
        if 2 * X.shape[1] >= len(X) or not kernel.is_linear:
            refuse_kernel_matrix(len(X), MOST_HOLD_OUT_ROWS)
        return kernel


def _mean(X: Rows, weights: Array | None) -> Array:
    """Return the (weighted) mean of the rows."""
    shares = np.full(X.shape[0], 1.0) if weights is None else weights
    return np.asarray(X.T @ (shares / shares.sum())).ravel()


def add_square(square: Array, columns: Array, monitor: Monitor) -> None:
    add_products(square, columns, functools.partial(monitor.stage, "class moments", 1.0))


class AUCRLS(LeastSquares):
    """Fits the score difference of every positive–negative pair to 2 by ridge regression.

    Minimises ``mean_ij (2 - M_ij)^2 + regularization * |w|^2`` over all pairs of a positive and
    a negative; the paper's lambda is ``regularization`` times m n. The mean pair loss follows
    from class means and class variances, and no pair is formed. Time is O(N d^2 + d^3) with the
    linear kernel (O(N^2 d + N^3) where features outnumber rows) and O(N^3) with the others, for
    up to 20,000 rows.

    Rows may come in blocks with the linear kernel: one pass over them, a second where they lie
    far from 0.

    With ``regularization`` 0 the result is the solution of least norm. It takes one
    eigendecomposition, which cannot be interrupted, and has no certificate (``dual_gap_`` is None).

    References
    ----------
    Pahikkala, Airola, Suominen, Boberg and Salakoski (2008), Efficient AUC maximization with
    regularized least-squares.

    Eqs. 6 to 12.

    Use when
    --------
    A good first method on any table: one linear system, tuning costs almost nothing, and a
    Gaussian kernel gives non-linear boundaries up to a few thousand rows.
    """

    regularization: float = param(0.1)

    def _primal(self, X: Array, positive: Mask, context: Context) -> System:
        """Solve (S + delta delta' + lambda) w = 2 delta, eq. 11 over mn."""
        classes = class_moments(X, positive, context.weights, context.monitor)
        return self._from_moments(classes, context.monitor)

    def _from_moments(self, classes: Classes, monitor: Monitor) -> System:
        delta = moment_difference(classes)
        square = np.asarray(sum(one.scatter() / one.weight for one in classes))
        add_square(square, delta[:, None], monitor)
        return DirectionSystem(square, 2 * delta, 4.0)

    def _fit_blocks(self, rows: Passes, context: Context) -> Fit:
        monitor = context.monitor
        if self.kernel != "linear":
            raise InvalidSetting("kernel", "rows that come in blocks need the linear kernel")
        system = self._from_moments(block_moments(rows), monitor)
        done = system.solve(float(self.regularization), monitor)
        monitor.step(1, done.objective, gap=done.gap, total=1, scorer=lambda: done.scorer)
        return done

    def _mean_loss(
        self, scores: Array, level: float, positive: Mask, weights: Array | None
    ) -> float:
        of_class = []
        for label in (True, False):
            part = scores[positive == label]
            each = None if weights is None else weights[positive == label]
            mean = float(np.average(part, weights=each))
            of_class.append((mean, float(np.average((part - mean) ** 2, weights=each))))
        (above, spread), (below, other) = of_class
        return (2.0 - (above - below)) ** 2 + spread + other

    def _dual(self, kernel: Kernel, X: Array, positive: Mask, context: Context) -> System:
        """Solve (R'K R + lambda) c = R'Y, a symmetric form of eq. 8."""
        mixing, target = pair_mixing(positive, context.weights)
        return RowsSystem(kernel, X, mixing, target, context.monitor)

    def _leave_pair_out(
        self, X: Array, positive: Mask, regularizations: ArrayLike, context: Context
    ) -> list[PairsHeldOut]:
        kernel = self._kernel_for_hold_out(X, regularizations, context.given)
        system = HoldOut(X, positive, regularizations, kernel, context.monitor)
        return [system.outcomes(k) for k in range(len(system.regularizations))]


class RLS(LeastSquares):
    """Fits the labels ±1 by ridge regression; the baseline for AUC-RLS.

    Minimises ``mean_i (y_i - f(x_i))^2 + regularization * |w|^2`` over all rows, with
    ``f(x) = <w, x>``, or ``<w, x> + b`` and b unpenalised if ``fit_intercept``; the paper's
    lambda is ``regularization`` times N. The paper's form has no constant: the result then depends
    on the origin of the features, and often ranks worse on unbalanced classes. Without a constant
    the threshold is chosen after training, as for a ranking; with one it is b.

    Solved like :class:`AUCRLS`, at the same cost.

    References
    ----------
    Pahikkala, Airola, Suominen, Boberg and Salakoski (2008), Efficient AUC maximization with
    regularized least-squares.

    Eqs. 3, 4 and 7.

    Use when
    --------
    Shows what training on pairs adds: the same model as AUC-RLS, fitted to the labels.
    """

    regularization: float = param(0.1, "labels")
    fit_intercept: bool = param(False)

    def _primal(self, X: Array, positive: Mask, context: Context) -> System:
        """Solve (X'X / N + lambda) w = X'y / N, with centred X and y if there is a constant."""
        monitor = context.monitor
        classes = class_moments(X, positive, context.weights, monitor)
        negatives, positives = classes
        total = negatives.weight + positives.weight
        p, q = positives.weight / total, negatives.weight / total
        delta, square = (
            moment_difference(classes),
            (negatives.scatter() + positives.scatter()) / total,
        )
        pull, constant = 2 * p * q * delta, 4 * p * q
        products = np.sqrt(p * q) * delta[:, None]
        if not self.fit_intercept:
            mean = p * (positives.origin + positives.mean)
            mean += q * (negatives.origin + negatives.mean)
            pull, constant = pull + (p - q) * mean, 1.0
            products = np.column_stack([products, mean])
        add_square(square, products, monitor)
        return DirectionSystem(square, pull, constant)

    def _mean_loss(
        self, scores: Array, level: float, positive: Mask, weights: Array | None
    ) -> float:
        missing = np.where(positive, 1.0, -1.0) - scores
        # A constant takes up whatever all rows lack alike.
        missing -= np.average(missing, weights=weights) if self.fit_intercept else level
        return float(np.average(missing**2, weights=weights))

    def _dual(self, kernel: Kernel, X: Array, positive: Mask, context: Context) -> System:
        """Solve (R'K R + lambda) c = R'y, with the roots of the rows' shares on R's diagonal.

        K and y are centred if there is a constant.
        """
        weights = np.ones(X.shape[0]) if context.weights is None else context.weights
        roots = np.sqrt(weights / weights.sum())
        mix = functools.partial(_level, roots=roots, centred=self.fit_intercept)
        size = float((roots**2).max())
        mixing = Mixing(np.arange(X.shape[0]), roots, mix, size, self.fit_intercept)
        target = np.where(positive, roots, -roots)
        mix(target[None, :])
        return RowsSystem(kernel, X, mixing, target, context.monitor)

    def _constant(self, scorer: Scorer, X: Array, positive: Mask, context: Context) -> float | None:
        if not self.fit_intercept:
            return None
        labels = np.where(positive, 1.0, -1.0)
        missing = labels - score_rows(scorer, X, context.monitor.pulse)
        return float(np.average(missing, weights=context.weights))

    def _leave_pair_out(
        self, X: Array, positive: Mask, regularizations: ArrayLike, context: Context
    ) -> list[PairsHeldOut]:
        kernel = self._kernel_for_hold_out(X, regularizations, context.given)
        constant, monitor = self.fit_intercept, context.monitor
        return rls_leave_pair_out(
            X, positive, regularizations, kernel, fit_intercept=constant, monitor=monitor
        )


def _level(rows: Array, roots: Array, centred: bool) -> None:
    """Take the part along the roots off each row, in place, if there is a constant."""
    if centred:
        rows -= (rows @ roots)[:, None] * roots
