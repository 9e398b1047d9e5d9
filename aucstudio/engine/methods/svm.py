"""The support vector machine and the 2-norm SVM, with certificates.

A linear SVM is solved here, in time that grows with the rows; with a kernel it is scikit-learn's.

Symbols: y_i = +-1 class; c_i weight of row i; f = <w, x> + b scores; alpha dual variables,
one for each row, that must satisfy sum_i alpha_i y_i = 0 because b is not penalised.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
import scipy

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.engine.base import WeighsRows
from aucstudio.engine.fit import Context, Fit, without_convergence_warnings
from aucstudio.engine.kernels import Kernel, KernelSettings
from aucstudio.engine.losses.hinges import FreeConstantHinge
from aucstudio.engine.methods.settings import BaselineSettings, centre_of
from aucstudio.engine.scorers import KernelScorer, LinearScorer
from aucstudio.engine.solvers import Direction
from aucstudio.engine.solvers.cutting_plane import minimise
from aucstudio.engine.solvers.interior_point import solve_hinge

if TYPE_CHECKING:
    from sklearn.svm import SVC
from aucstudio.engine.cost import (
    NO_KERNEL,
    Cost,
    Work,
    cost_of,
    cutting_planes,
    kernel_matrix,
    refuse_kernel_matrix,
)
from aucstudio.engine.features.spaces import Expansion, Space, Vectors
from aucstudio.engine.solvers import row_newton

_CACHE_MEGABYTES = 1000
_MOST_MATRIX_ROWS = 8_000  # of which libsvm is given the kernel matrix, half a gigabyte
_LEAST_ITERATION_LIMIT = 10_000_000
_HINGE_GAP = 1e-2
# By how much a multiplier may violate its condition when libsvm ends, and so the error of scores.
# With its own 1e-3, scores change with the order of the rows and weights are not repeated rows.
# At large C a fit takes up to twice as long for it.
_LIBSVM_TOLERANCE = 1e-8
_LINEAR_GAP = 1e-6
_PLANES_GAP = 1e-4
_USUAL_STEPS, _USUAL_PLANES = 24, 60  # of solvers, for estimates of time
_MOST_FEATURES = 1_500  # of which the interior point takes a matrix in every step


class SVM(KernelSettings, BaselineSettings, WeighsRows):
    """Separates the classes with a wide margin; trained for accuracy.

    Minimises ``½ |w|² + C sum_i c_i max(0, 1 - y_i f_i)``, where c_i is the weight of the row,
    times N / (2 N_class) with balanced class weights. The certificate is the duality gap. As in
    scikit-learn's ``SVC``, whose optimum this is, the constant is not penalised.

    With the linear kernel an interior point takes O(N d²) a step, d the lesser of features and
    rows, and needs some twenty steps. Sparse rows, and d above 1,500, are solved by cutting planes
    to a relative gap of 1e-4. Any other kernel is solved by ``SVC``, on the kernel matrix for up to
    8,000 rows: one call that cannot be interrupted and takes time as the square of the rows or
    worse.

    References
    ----------
    Cortes and Vapnik (1995), Support-vector networks; scikit-learn's SVC for kernels.

    Use when
    --------
    The standard baseline: what training for the AUC has to beat.
    """

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d = positives + negatives, features
        if self.kernel != "linear":
            memory = min(2.4 * N**2, 1e9) + (8 * N**2 if N <= _MOST_MATRIX_ROWS else 0)
            return cost_of(N, memory + 16 * N * d, Work(numbers=N**2 * (0.7 * d + 14)))
        if min(N, d) > _MOST_FEATURES:
            return cost_of(N, 8.0 * N * (d + 10), cutting_planes(N, d, _USUAL_PLANES))
        if d <= N:
            step = Work(products=1.2 * N * d**2, numbers=N * (6 * d + 150), steps=100)
            return cost_of(N, 8.0 * (N * (d + 30) + 3 * d**2), step.times(_USUAL_STEPS))
        step = Work(products=1.2 * N**3 + d * N**2 / 6, numbers=N * (6 * N + 150), steps=100)
        return cost_of(N, 8.0 * (N * (3 * d + 30) + 4 * N**2), step.times(_USUAL_STEPS))

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        if self.kernel == "linear":
            return self._fit_linear(X, positive, context)
        kernel = self.resolve_kernel(X, context.given, context.weights)
        has_matrix = context.given is not None or len(X) <= _MOST_MATRIX_ROWS
        if has_matrix:
            Z = kernel(X, X, functools.partial(monitor.stage, "kernel matrix"))
        else:
            # b absorbs any shift of the rows, and libsvm loses no digits about their centre; a
            # polynomial depends on where 0 lies.
            Z = X - centre_of(X) if kernel.kind == "rbf" else X
        weights = self.weigh(self.classes_, positive, context.weights)
        library = self._library(kernel, has_matrix, len(X), weights)
        with without_convergence_warnings():
            library.fit(Z, positive, context.weights)
        dual, rows = library.dual_coef_[0], library.support_
        scores = dual @ Z[rows] if has_matrix else KernelScorer(kernel, Z[rows], dual)(Z)
        b, scorer = float(library.intercept_[0]), KernelScorer(kernel, X[rows], dual)
        costs = self.C * self.weigh_rows(self.classes_, positive, context.weights)
        objective, gap = _certify_hinge(scores + b, dual, rows, positive, costs)
        monitor.step(1, objective, gap=gap, total=1, scorer=lambda: scorer)
        iterations, needed = max(1, int(library.n_iter_[0])), _HINGE_GAP * objective
        return Fit(scorer, objective, iterations, gap, needed, intercept=b, scores=scores)

    def _fit_linear(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        costs = self.C * self.weigh_rows(self.classes_, positive, context.weights)
        loss, centre = FreeConstantHinge(positive, costs), centre_of(X)
        # b absorbs any shift of the rows.
        rows = X - centre if centre.any() else X
        if scipy.sparse.issparse(X) or min(X.shape) > _MOST_FEATURES:
            done: Direction = minimise(rows, loss, 1.0, tol=_PLANES_GAP, monitor=monitor)
            w = done.weights
        else:
            basis, features = None, rows
            if X.shape[1] > X.shape[0]:  # no direction is needed but those of the rows
                basis, R = np.linalg.qr(rows.T)
                features = R.T
            done = solve_hinge(
                features,
                loss,
                tol=_LINEAR_GAP,
                monitor=monitor,
                scorer=lambda v: LinearScorer(_in_basis(basis, v)),
                weights=context.weights,
            )
            w = _in_basis(basis, done.weights)
        scores = rows @ w
        b = loss.best_constant(scores)
        return Fit(
            LinearScorer(w),
            done.objective,
            done.n_iter,
            done.gap,
            done.needed,
            intercept=b - float(centre @ w),
            scores=scores + centre @ w,
        )

    def _library(self, kernel: Kernel, has_matrix: bool, rows: int, weights: Array) -> SVC:
        from sklearn.svm import SVC

        return SVC(
            C=self.C,
            kernel="precomputed" if has_matrix else kernel.kind,
            gamma=kernel.gamma,
            degree=kernel.degree,
            coef0=kernel.coef0,
            class_weight={False: weights[0], True: weights[1]},
            cache_size=_CACHE_MEGABYTES,
            tol=_LIBSVM_TOLERANCE,
            max_iter=max(_LEAST_ITERATION_LIMIT, 100 * rows),
        )


def _in_basis(basis: Array | None, v: Array) -> Array:
    """Return the direction with coordinates v; of no basis, v itself."""
    return v if basis is None else np.asarray(basis @ v)


def _certify_hinge(
    scores: Array, dual: Array, rows: Index, positive: Mask, costs: Array
) -> tuple[float, float]:
    """Work out the objective of :class:`SVM` and its distance from the dual objective.

    ``dual`` holds alpha_i y_i of the support vectors, which are the given ``rows``; as it sums
    to 0, the constant in the scores leaves |w|^2 alone.
    """
    norm = float(dual @ scores[rows])
    margins = np.where(positive, 1.0, -1.0) * scores
    objective = norm / 2 + float(costs @ np.maximum(0.0, 1.0 - margins))
    lower = max(float(np.abs(dual).sum()) - norm / 2, 0.0)
    return objective, max(0.0, objective - lower)


MAX_KERNEL_ROWS = 20_000

_TOLERANCE = 1e-8


class SVM2Norm(KernelSettings, BaselineSettings, WeighsRows):
    """SVM with squared slack; reported to maximise the AUC as a side effect.

    Minimises ``½ |w|² + C sum_i c_i max(0, 1 - y_i f_i)²``, f = <w, phi(x)> + b, where c_i is the
    weight of the row, times N / (2 N_class) with balanced class weights. Its dual is that of a
    hard-margin SVM with the kernel k_ij + delta_ij / (2 C c_i). The certificate is the duality gap.

    A step costs O(N d^2 + d^3) with the linear kernel, else O(N^2 + s^3) for s rows inside the
    margin; a dozen steps are usual.

    References
    ----------
    Cortes and Vapnik (1995), Support-vector networks; compared with AUC methods by Rakotomamonjy
    (2004), Optimizing area under ROC curve with SVMs.

    Section 3.6 of the latter. Its eq. 15 is not the dual of eq. 14: as printed, it lacks a ½ and
    has the ridge 1 / C.

    Use when
    --------
    A second baseline, reported to rank well although it trains for accuracy.
    """

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse kernel matrices beyond memory; see the base class."""
        if self.kernel != "linear" or positives + negatives < features:
            refuse_kernel_matrix(positives + negatives, MAX_KERNEL_ROWS, factored=True)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d = positives + negatives, features
        if self.kernel == "linear" and d <= N:
            work = Work(products=8 * N * d**2, numbers=60 * N * d, steps=100)
            return cost_of(N, 8.0 * (2 * N * d + 3 * d**2), work)
        work = kernel_matrix(N, d) + Work(products=1.7 * N**3, numbers=20 * N**2)
        return cost_of(N, 8.0 * (2 * N**2 + 512 * N + N * d), work, NO_KERNEL)

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        kernel = self.resolve_kernel(X, context.given, context.weights)
        costs = self.C * self.weigh_rows(self.classes_, positive, context.weights)
        y = np.where(positive, 1.0, -1.0)
        centre = X.mean(axis=0)
        rows = X - centre if kernel.is_linear else X
        space: Space = Vectors(rows)
        if not kernel.is_linear or X.shape[1] > len(X):
            space = Expansion.of(rows, kernel, monitor)
        done = row_newton.minimise(space, y, costs, tol=_TOLERANCE, monitor=monitor)
        scorer = space.scorer(done.weights)
        b = done.b - float(scorer(centre[None, :])[0]) if kernel.is_linear else done.b
        return Fit.of(scorer, done, intercept=b)
