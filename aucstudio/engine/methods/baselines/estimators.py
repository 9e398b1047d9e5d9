"""What people use today, as baselines: scikit-learn's SVM and logistic regression.

Symbols: y_i = +-1 class; c_i class weight of row i; f = <w, x> + b scores; alpha dual variables,
one for each row, that must satisfy sum_i alpha_i y_i = 0 because b is not penalised.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import entr, expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from aucstudio.engine.base import Array, AUCClassifier, Fit, Mask
from aucstudio.engine.cost import NUMBER, Cost, Work, cost_of
from aucstudio.engine.features.kernels import Kernel, KernelSettings
from aucstudio.engine.methods.baselines.class_weight import ClassWeightSettings
from aucstudio.engine.methods.settings import cost
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import param
from aucstudio.engine.quiet import without_convergence_warnings
from aucstudio.engine.scorers import KernelScorer, LinearScorer, Scorer

Index = NDArray[np.intp]

_CACHE_MEGABYTES = 1000
_LEAST_ITERATION_LIMIT = 10_000_000
_GRADIENT_TOLERANCE = 1e-8
_RELATIVE_GAP = 1e-3
_HINGE_GAP = 1e-2  # libsvm ends when no multiplier violates its condition by more than 1e-3


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class CostSettings:
    """The cost, in scikit-learn's convention."""

    C: float = cost(
        1.0,
        "Weight of the sum of the rows' losses against ½|w|²; larger fits closer.",
        powers=range(-3, 4),
    )


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class BaselineSettings(ClassWeightSettings, CostSettings):
    """The settings that scikit-learn's own SVM and logistic regression share."""


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

    def _fit(self, X: Array, positive: Mask, monitor: Monitor) -> Fit:
        kernel = self.settle_kernel(X)
        # b absorbs any shift of the rows, and libsvm loses no digits about their centre; a
        # polynomial depends on where 0 lies, and rows that are numbers on what they are.
        shiftable = kernel.kind in ("linear", "rbf")
        centre = _centre(X) if shiftable else np.zeros(X.shape[1])
        centred = X - centre if centre.any() else X
        weights = self.weigh(self.classes_, positive)
        library = self._library(kernel, X.shape[0], weights)
        with without_convergence_warnings():
            library.fit(centred if self.given is None else kernel(X, X), positive)
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


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class Logistic(BaselineSettings, AUCClassifier):
    """Logistic regression by scikit-learn's ``LogisticRegression``.

    Minimises ``½ |w|² + C sum_i c_i log(1 + exp(-y_i f_i))``, where c_i is 1, or N / (2 N_class)
    with balanced class weights. The certificate is the duality gap at the multipliers that the
    scores imply. ``decision_function`` gives log-odds.

    References
    ----------
    Cox (1958), The regression analysis of binary sequences.
    """

    key: ClassVar[str] = "logistic"
    title: ClassVar[str] = "Logistic regression"
    family: ClassVar[str] = "baselines"
    source: ClassVar[str] = (
        "Cox (1958), The regression analysis of binary sequences; scikit-learn's LogisticRegression"
    )
    summary: ClassVar[str] = "Models the log-odds as a weighted sum of the features."
    in_words: ClassVar[str] = "Log-odds as a weighted sum"
    trains_for: ClassVar[str] = "probabilities"
    use_when: ClassVar[str] = (
        "The first yardstick on any table: quick, linear, and often hard to beat."
    )

    max_iter: int = param(
        1000,
        "Iterations after which the solver gives up.",
        label="Iterations",
        low=1,
    )

    def _takes_sparse(self) -> bool:
        return True

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Say what a fit takes; see the base class."""
        N, d = positives + negatives, features
        work = Work(numbers=45.0 * N * d + 500.0 * N, steps=300)
        return cost_of(N, float(NUMBER * N * d), work)

    def _fit(self, X: Array, positive: Mask, monitor: Monitor) -> Fit:
        centre = _centre(X)
        weights = self.weigh(self.classes_, positive)
        costs = self.C * weights[positive.astype(int)]
        problem = _LogisticProblem(X - centre if centre.any() else X, positive, costs)
        watcher = _Watcher(problem, monitor)
        library = LogisticRegression(
            C=self.C,
            class_weight={False: weights[0], True: weights[1]},
            max_iter=self.max_iter,
            tol=_GRADIENT_TOLERANCE,
        ).set_callbacks(watcher)
        with without_convergence_warnings(), contextlib.suppress(_Halted):
            library.fit(problem.X, positive)
            watcher.keep(library)
        objective, gap = problem.certify(watcher.w, watcher.b)
        scorer, b = LinearScorer(watcher.w), watcher.b - float(centre @ watcher.w)
        if watcher.iteration == 0:
            monitor.step(1, objective, gap=gap, scorer=lambda: scorer)
        iterations, needed = max(1, watcher.iteration), _RELATIVE_GAP * objective
        return Fit(scorer, objective, iterations, gap, needed, intercept=b)


@dataclasses.dataclass(frozen=True, eq=False)
class _LogisticProblem:
    """The objective of :class:`Logistic` on given rows."""

    X: Array
    positive: Mask
    costs: Array

    def certify(self, w: Array, b: float) -> tuple[float, float]:
        """Work out the objective and its distance from the dual objective.

        The scores imply alpha_i = C c_i p(wrong class of i). Those of the heavier class are
        scaled down until sum_i alpha_i y_i = 0: then the dual objective is a lower bound on
        every value of the primal one, wherever the solver stands.
        """
        sign = np.where(self.positive, 1.0, -1.0)
        margins = sign * (self.X @ w + b)
        objective = float(w @ w / 2 + self.costs @ np.logaddexp(0.0, -margins))
        share = expit(-margins)
        weight = share * self.costs
        above, below = weight[self.positive].sum(), weight[~self.positive].sum()
        least = min(above, below)
        share *= np.where(self.positive, _ratio(least, above), _ratio(least, below))
        direction = (share * self.costs * sign) @ self.X
        lower = self.costs @ (entr(share) + entr(1.0 - share)) - direction @ direction / 2
        return objective, max(0.0, objective - float(lower))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 1.0


class _Halted(Exception):  # noqa: N818  (an outcome, not an error)
    """The monitor wants the library's fit to end; the watcher holds its last iterate."""


class _Watcher:
    """Passes the library's iterations on to the monitor (scikit-learn's ``FitCallback``)."""

    def __init__(self, problem: _LogisticProblem, monitor: Monitor) -> None:
        self._problem, self._monitor = problem, monitor
        self.iteration = 0

    def keep(self, fitted: LogisticRegression) -> None:
        """Take the iterate over."""
        self.w, self.b = fitted.coef_[0].copy(), float(fitted.intercept_[0])

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to clear away."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing to say before an iteration."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any) -> None:
        """Hear of an iteration; the fit as a whole and its last, empty task are none."""
        if context.parent is None or fitted_estimator is None:
            return
        self.iteration += 1
        self.keep(fitted_estimator)
        if not self._monitor.is_heard:
            return
        objective, gap = self._problem.certify(self.w, self.b)
        scorer = LinearScorer(self.w)
        if self._monitor.step(self.iteration, objective, gap=gap, scorer=lambda: scorer):
            raise _Halted


def _expansion(kernel: Kernel, points: Array, dual: Array) -> Scorer:
    if kernel.is_linear:
        return LinearScorer(points.T @ dual)
    return KernelScorer(kernel, points, dual)


def _centre(X: Array) -> Array:
    """Give the mean of the rows; 0 for sparse ones, which would not stay sparse about it."""
    return np.zeros(X.shape[1]) if sparse.issparse(X) else X.mean(axis=0)


def _dense(X: Any) -> Array:
    dense: Array = X.toarray() if sparse.issparse(X) else X
    return dense
