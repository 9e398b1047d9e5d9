"""The log-loss with a penalty, minimised by scikit-learn, watched and certified.

Symbols: y_i = +-1 class; c_i weight of row i; f = <w, x> + b scores; alpha dual variables,
one for each row, that must satisfy sum_i alpha_i y_i = 0 because b is not penalised.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy

from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.methods.baseline_settings import BaselineSettings
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import param
from aucstudio.engine.quiet import without_convergence_warnings
from aucstudio.engine.scorers import Scorer
from aucstudio.engine.types import Array, Index, Mask
from aucstudio.engine.weighted import WeighsRows

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

_GRADIENT_TOLERANCE = 1e-8
_RELATIVE_GAP = 1e-3
# Steps along the gradient that most tables need fewer than. Where they do not suffice, as with
# columns of rare levels, they would be hundreds, and a handful of Newton's, which cost the more
# the more columns there are, lead further.
_GRADIENT_STEPS = 60
_NEWTON_COLUMNS = 400
_NEWTON_GAP = 1e-12
# Gradients end some 1e-7 from the optimum. Where a step of Newton's takes next to no time, it
# removes that difference, so that equal problems have equal solutions however their rows are
# ordered or repeated.
_QUICK_NEWTON = 1e8


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class LogLossMethod(BaselineSettings, WeighsRows):
    """What methods of the log-loss share: ``1/2 |w|^2 + C sum_i c_i log(1 + exp(-y_i f_i))``."""

    family: ClassVar[str] = "baselines"
    trains_for: ClassVar[str] = "probabilities"
    counts_rows: ClassVar[bool] = True

    max_iter: int = param(
        1000,
        "Iterations after which the solver gives up.",
        label="Iterations",
        unit="iterations",
        low=1,
    )

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
        from sklearn.linear_model import LogisticRegression

        each = context.weights
        weights = self.weigh(self.classes_, positive, each)
        costs = self.C * self.weigh_rows(self.classes_, positive, each)
        problem = _LogisticProblem(X, positive, costs)
        watcher = _Watcher(problem, context.monitor, scorer)
        library = LogisticRegression(
            C=self.C,
            class_weight=None if self.class_weight is None else dict(enumerate(weights)),
            max_iter=self._gradient_steps(X),
            tol=_GRADIENT_TOLERANCE,
        )
        # Labels that are truth values are counted one by one.
        labels = positive.astype(np.intp)
        with without_convergence_warnings(), contextlib.suppress(_Halted):
            library.set_callbacks(watcher).fit(X, labels, each)
            watcher.keep(library)
            if library.n_iter_[0] < self.max_iter and (
                library.n_iter_[0] >= self._gradient_steps(X) or _is_quick(X)
            ):
                self._newton_steps(watcher, library, labels, each)
        w, b, scores = watcher.w, watcher.b, X @ watcher.w
        objective, gap = problem.certify(w, b, scores)
        made = scorer(w)
        if watcher.iteration == 0:
            context.monitor.step(1, objective, gap=gap, scorer=lambda: made)
        iterations, needed = max(1, watcher.iteration), _RELATIVE_GAP * objective
        return w, b, Fit(made, objective, iterations, gap, needed, intercept=b, scores=scores)

    def _gradient_steps(self, X: Array) -> int:
        """Steps after which others go on, if others can."""
        newton = X.shape[1] <= _NEWTON_COLUMNS
        return min(self.max_iter, _GRADIENT_STEPS) if newton else self.max_iter

    def _newton_steps(
        self, watcher: _Watcher, begun: LogisticRegression, labels: Index, weights: Array | None
    ) -> None:
        """Go on from where gradients have led, until nothing is gained."""
        from sklearn.linear_model import LogisticRegression

        library = LogisticRegression(
            C=self.C,
            class_weight=begun.class_weight,
            max_iter=1,
            tol=_GRADIENT_TOLERANCE,
            solver="newton-cholesky",
            warm_start=True,
        )
        library.coef_, library.intercept_ = begun.coef_, begun.intercept_
        before = np.inf
        while watcher.iteration < self.max_iter:
            library.fit(watcher.problem.X, labels, weights)
            objective, gap = watcher.step(library)
            if gap <= _NEWTON_GAP * objective or objective >= before * (1 - _NEWTON_GAP):
                return
            before = objective


def _is_quick(X: Array) -> bool:
    rows, columns = X.shape
    return bool(columns <= _NEWTON_COLUMNS and rows * columns**2 <= _QUICK_NEWTON)


@dataclasses.dataclass(frozen=True, eq=False)
class _LogisticProblem:
    """The objective of :class:`LogLossMethod` on given rows."""

    X: Array
    positive: Mask
    costs: Array

    def certify(self, w: Array, b: float, scores: Array) -> tuple[float, float]:
        """Work out the objective and its distance from the dual objective.

        The scores imply alpha_i = C c_i p(wrong class of i). Those of the heavier class are
        scaled down until sum_i alpha_i y_i = 0: then the dual objective is a lower bound on
        every value of the primal one, wherever the solver stands.
        """
        sign = np.where(self.positive, 1.0, -1.0)
        margins = sign * (scores + b)
        objective = float(w @ w / 2 + self.costs @ np.logaddexp(0.0, -margins))
        share = scipy.special.expit(-margins)
        weight = share * self.costs
        above, below = weight[self.positive].sum(), weight[~self.positive].sum()
        least = min(above, below)
        share *= np.where(self.positive, _ratio(least, above), _ratio(least, below))
        direction = (share * self.costs * sign) @ self.X
        lower = (
            self.costs @ (scipy.special.entr(share) + scipy.special.entr(1.0 - share))
            - direction @ direction / 2
        )
        return objective, max(0.0, objective - float(lower))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 1.0


class _Halted(Exception):  # noqa: N818  (an outcome, not an error)
    """The monitor wants the library's fit to end; the watcher holds its last iterate."""


class _Watcher:
    """Passes the library's iterations on to the monitor (scikit-learn's ``FitCallback``)."""

    def __init__(
        self, problem: _LogisticProblem, monitor: Monitor, scorer: Callable[[Array], Scorer]
    ) -> None:
        self.problem, self._monitor, self._scorer = problem, monitor, scorer
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
        """Receive an iteration; the fit as a whole and its last, empty task are none."""
        if context.parent is None or fitted_estimator is None:
            return
        self.iteration += 1
        self.keep(fitted_estimator)
        if self._monitor.is_heard:
            self._tell(*self._certified())

    def step(self, fitted: LogisticRegression) -> tuple[float, float]:
        """Take over an iterate that the library has not told of; give its certificate."""
        self.iteration += 1
        self.keep(fitted)
        objective, gap = self._certified()
        self._tell(objective, gap)
        return objective, gap

    def _certified(self) -> tuple[float, float]:
        return self.problem.certify(self.w, self.b, self.problem.X @ self.w)

    def _tell(self, objective: float, gap: float) -> None:
        made = functools.partial(self._scorer, self.w)
        if self._monitor.step(self.iteration, objective, gap=gap, scorer=made):
            raise _Halted
