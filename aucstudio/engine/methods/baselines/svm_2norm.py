"""The 2-norm SVM: squared slack and an unpenalised constant, by Newton's method."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from aucstudio.engine.cost import (
    NO_KERNEL,
    NUMBER,
    Cost,
    Work,
    cost_of,
    kernel_matrix,
    refuse_kernel_matrix,
)
from aucstudio.engine.features.spaces import Expansion, Space, Vectors
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.kernels import KernelSettings
from aucstudio.engine.methods.baseline_settings import BaselineSettings
from aucstudio.engine.solvers.row_newton import minimise
from aucstudio.engine.types import Array, Mask
from aucstudio.engine.weighted import WeighsRows

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

    title: ClassVar[str] = "2-norm SVM"
    solves: ClassVar[str] = "squared row hinge"
    family: ClassVar[str] = "baselines"
    in_words: ClassVar[str] = "SVM with squared slack"
    trains_for: ClassVar[str] = "accuracy"
    counts_rows: ClassVar[bool] = True

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse kernel matrices beyond memory; see the base class."""
        if self.kernel != "linear" or positives + negatives < features:
            refuse_kernel_matrix(positives + negatives, MAX_KERNEL_ROWS, factored=True)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d = positives + negatives, features
        if self.kernel == "linear" and d <= N:
            work = Work(products=8.0 * N * d**2, numbers=60.0 * N * d, steps=100)
            return cost_of(N, NUMBER * (2.0 * N * d + 3.0 * d**2), work)
        work = kernel_matrix(N, d) + Work(products=1.7 * N**3, numbers=20.0 * N**2)
        return cost_of(N, NUMBER * (2.0 * N**2 + 512 * N + N * d), work, NO_KERNEL)

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
        done = minimise(space, y, costs, tol=_TOLERANCE, monitor=monitor)
        scorer = space.scorer(done.weights)
        b = done.b - float(scorer(centre[None, :])[0]) if kernel.is_linear else done.b
        return Fit.of(scorer, done, intercept=b)
