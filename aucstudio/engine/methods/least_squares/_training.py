"""Closed forms shared by regularised least squares on pairs and on labels.

Symbols: m, n numbers of positives and negatives; N = m + n; M_ij = f(x_i) - f(z_j) margin of a
pair; y_i = +-1 label; delta difference of the class means; S sum of the two class covariances
(divisors m, n); K Gram matrix, positives first; rho = 1/m on positives, -1/n on negatives; L the
AUC-RLS paper's matrix of eq. 9; R = (L / mn)^(1/2), that is class centring divided by sqrt(m) or
sqrt(n), plus rho rho' / |rho|; lambda the regularisation against the mean loss.
"""

from __future__ import annotations

import dataclasses
import functools
from abc import abstractmethod
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import ArrayLike

from aucstudio.engine.cost import (
    FEWER_FEATURES,
    NO_KERNEL,
    NUMBER,
    Cost,
    Work,
    cost_of,
    kernel_matrix,
    refuse_kernel_matrix,
)
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.kernels import Kernel, KernelSettings
from aucstudio.engine.linalg import chunks
from aucstudio.engine.methods.least_squares._moments import add_products
from aucstudio.engine.methods.least_squares._systems import RELATIVE_GAP, System
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.scorers import LinearScorer, Scorer
from aucstudio.engine.types import Array, Mask, Rows
from aucstudio.engine.weighted import WeighsRows

MOST_KERNEL_ROWS = 20_000
MOST_HOLD_OUT_ROWS = 10_000

_ROWS_PER_CHUNK = 16_384

PATH = tuple(2.0**k for k in range(10, -21, -2))
"Values of the regularisation that a search tries."


class LeastSquares(KernelSettings, WeighsRows):
    """A method that solves for the direction, or for the weights of the rows if that is less."""

    takes_sparse: ClassVar[bool] = True
    leaves_pairs_out: ClassVar[bool] = True
    path_setting: ClassVar[str] = "regularization"
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
            work = Work(products=1.5 * N * d**2 + d**3, numbers=2.0 * N * d)
            return cost_of(N, 7.0 * NUMBER * d**2, work, FEWER_FEATURES)
        memory = NUMBER * (float(N) ** 2 + 1024 * N)
        work = kernel_matrix(N, d) + Work(products=0.5 * N**3, numbers=20.0 * N**2)
        return cost_of(N, memory, work, NO_KERNEL)

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
            raise InvalidSetting(
                "regularization", "leave-pair-out needs a regularization greater than 0"
            )
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
