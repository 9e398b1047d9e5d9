"""The support vector machine by scikit-learn, certified: the usual yardstick.

Symbols: y_i = +-1 class; c_i class weight of row i; f = <w, x> + b scores; alpha dual variables,
one for each row, that must satisfy sum_i alpha_i y_i = 0 because b is not penalised.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import SVC

from aucstudio.engine.base import Array, AUCClassifier, Context, Fit, Mask
from aucstudio.engine.cost import NUMBER, Cost, Work, cost_of
from aucstudio.engine.features.kernels import Kernel, KernelSettings
from aucstudio.engine.methods.baselines._settings import BaselineSettings, centre_of
from aucstudio.engine.quiet import without_convergence_warnings
from aucstudio.engine.scorers import KernelScorer, LinearScorer, Scorer

Index = NDArray[np.intp]

_CACHE_MEGABYTES = 1000
_LEAST_ITERATION_LIMIT = 10_000_000
_HINGE_GAP = 1e-2  # libsvm ends when no multiplier violates its condition by more than 1e-3


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class SVM(KernelSettings, BaselineSettings, AUCClassifier):
    """Soft-margin support vector machine by scikit-learn's ``SVC``: trained for accuracy.

    Minimises ``½ |w|² + C sum_i c_i max(0, 1 - y_i f_i)``, where c_i is 1, or N / (2 N_class) with
    balanced class weights. The certificate is the duality gap of the library's multipliers. The
    library has a constant of its own, and is one call that cannot be interrupted.

    References
    ----------
    Cortes, Vapnik (1995), Support-vector networks.
    """

    key: ClassVar[str] = "svm"
    title: ClassVar[str] = "SVM"
    family: ClassVar[str] = "baselines"
    source: ClassVar[str] = "Cortes and Vapnik (1995), Support-vector networks; scikit-learn's SVC"
    summary: ClassVar[str] = (
        "Separates the classes with a wide margin; trained for accuracy, the usual yardstick."
    )
    in_words: ClassVar[str] = "Support vector machine"
    trains_for: ClassVar[str] = "accuracy"
    use_when: ClassVar[str] = "The usual yardstick: what training for the AUC has to beat."

    interruptible: ClassVar[bool] = False

    def _takes_sparse(self) -> bool:
        return self.kernel == "linear"

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Say what a fit takes; see the base class."""
        N, d = positives + negatives, features
        cache = min(2.4 * N**2, 1e6 * _CACHE_MEGABYTES)
        work = Work(numbers=float(N) ** 2 * (0.7 * d + 14))
        return cost_of(N, cache + 2.0 * NUMBER * N * d, work)

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        kernel = self.settle_kernel(X, context.given)
        # b absorbs any shift of the rows, and libsvm loses no digits about their centre; a
        # polynomial depends on where 0 lies, and rows that are numbers on what they are.
        shiftable = kernel.kind in ("linear", "rbf")
        centre = centre_of(X) if shiftable else np.zeros(X.shape[1])
        centred = X - centre if centre.any() else X
        weights = self.weigh(self.classes_, positive)
        library = self._library(kernel, X.shape[0], weights)
        with without_convergence_warnings():
            library.fit(centred if context.given is None else kernel(X, X), positive)
        dual, rows = _dense(library.dual_coef_)[0], library.support_
        b = float(library.intercept_[0])
        near = _expansion(kernel, centred[rows], dual)
        scorer = near if kernel.is_linear else KernelScorer(kernel, X[rows], dual)
        b_here = b - float(centre @ near.weights) if isinstance(near, LinearScorer) else b
        costs = self.C * weights[positive.astype(int)]
        objective, gap = _certify_hinge(near(centred) + b, dual, rows, positive, costs)
        monitor.step(1, objective, gap=gap, total=1, scorer=lambda: scorer)
        iterations = max(1, int(library.n_iter_[0]))
        needed = _HINGE_GAP * objective
        return Fit(scorer, objective, iterations, gap, needed, intercept=b_here)

    def _library(self, kernel: Kernel, rows: int, weights: Array) -> SVC:
        return SVC(
            C=self.C,
            kernel=kernel.kind,
            gamma=kernel.gamma,
            degree=kernel.degree,
            coef0=kernel.coef0,
            class_weight={False: weights[0], True: weights[1]},
            cache_size=_CACHE_MEGABYTES,
            max_iter=max(_LEAST_ITERATION_LIMIT, 100 * rows),
        )


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


def _expansion(kernel: Kernel, points: Array, dual: Array) -> Scorer:
    if kernel.is_linear:
        return LinearScorer(points.T @ dual)
    return KernelScorer(kernel, points, dual)


def _dense(X: Any) -> Array:
    dense: Array = X.toarray() if sparse.issparse(X) else X
    return dense
