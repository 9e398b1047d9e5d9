"""The support vector machine and the 2-norm SVM, with certificates.

Symbols: y_i = +-1 class; c_i weight of row i; f = <w, x> + b scores.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy

from aucstudio.engine.arrays import Array, Mask
from aucstudio.engine.base import WeighsRows
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
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.kernels import Kernel, KernelSettings
from aucstudio.engine.losses.hinges import FreeConstantHinge
from aucstudio.engine.methods.settings import BaselineSettings, centre_of
from aucstudio.engine.scorers import KernelScorer, LinearScorer
from aucstudio.engine.solvers import Direction, row_newton
from aucstudio.engine.solvers.cutting_plane import minimise
from aucstudio.engine.solvers.decomposition import KernelRows, solve_kernel_hinge
from aucstudio.engine.solvers.row_interior_point import solve_hinge
from aucstudio.notices import text

_HINGE_GAP = 1e-2
# By how much a coefficient may violate its condition, and so the error of scores: with the 1e-3 of
# libraries, scores change with the order of the rows and weights are not repeated rows.
_VIOLATION = 1e-8
_LINEAR_GAP = 1e-6
_PLANES_GAP = 1e-4
_USUAL_STEPS, _USUAL_PLANES = 24, 60  # of solvers, for estimates of time
MOST_FEATURES = 1_500  # of which the interior point takes a matrix in every step


class SVM(KernelSettings, BaselineSettings, WeighsRows):
    """Separates the classes with a wide margin; trained for accuracy.

    Minimises ``½ |w|² + C sum_i c_i max(0, 1 - y_i f_i)``, where c_i is the weight of the row,
    times N / (2 N_class) with balanced class weights. The certificate is the duality gap. As in
    scikit-learn's ``SVC``, whose optimum this is, the constant is not penalised.

    With the linear kernel an interior point takes O(N d²) a step, d the lesser of features and
    rows, and needs some twenty steps. Sparse rows, and d above 1,500, are solved by cutting planes
    to a relative gap of 1e-4. With any other kernel, steps on pairs of rows are followed by
    Newton's method on the rows that are at no bound; it takes time as the square of the rows, and
    up to a gigabyte of kernel values.

    References
    ----------
    Cortes and Vapnik (1995), Support-vector networks.

    For kernels: Fan, Chen and Lin (2005), Working set selection using second order information.

    Use when
    --------
    The standard baseline: what training for the AUC has to beat.
    """

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d = positives + negatives, features
        if self.kernel != "linear":
            work = kernel_matrix(N, d) + Work(numbers=10 * N**2)
            return cost_of(N, min(12.0 * N**2, 1.5e9) + 16 * N * d, work)
        if min(N, d) > MOST_FEATURES:
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
        if kernel.kind == "poly":
            _check_size_of_values(kernel, X)
        order = np.argsort(positive, kind="stable")  # of support vectors

        def scorer(beta: Array) -> KernelScorer:
            used = order[np.flatnonzero(beta[order])]
            return KernelScorer(kernel, X[used], beta[used])

        done = solve_kernel_hinge(
            KernelRows(X, kernel, functools.partial(monitor.stage, "kernel matrix")),
            positive,
            self.C * self.weigh_rows(self.classes_, positive, context.weights),
            tol=_VIOLATION,
            monitor=monitor,
            scorer=scorer,
        )
        needed = _HINGE_GAP * done.objective
        found = scorer(done.coefficients)
        return Fit.of(found, done, needed=needed, intercept=done.b, scores=done.scores)

    def _fit_linear(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        costs = self.C * self.weigh_rows(self.classes_, positive, context.weights)
        loss, centre = FreeConstantHinge(positive, costs), centre_of(X)
        # b absorbs any shift of the rows.
        rows = X - centre if centre.any() else X
        if scipy.sparse.issparse(X) or min(X.shape) > MOST_FEATURES:
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


def _in_basis(basis: Array | None, v: Array) -> Array:
    """Return the direction with coordinates v; of no basis, v itself."""
    return v if basis is None else np.asarray(basis @ v)


def _check_size_of_values(kernel: Kernel, X: Array) -> None:
    """Refuse rows whose kernel values keep no digits of a margin of 1."""
    longest = X[[np.argmax(np.einsum("ij,ij->i", X, X))]]
    value = float(kernel(longest, longest)[0, 0])
    if not value < 1.0 / np.finfo(np.float64).eps:
        raise ValueError(text("kernel_values_too_large", value=value))


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
