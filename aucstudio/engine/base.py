"""Base class of all methods: a scikit-learn classifier with a score.

A method subclasses :class:`AUCClassifier`, declares its settings with
:func:`~aucstudio.engine.params.param` and implements ``_fit``.
"""

from __future__ import annotations

import dataclasses
import functools
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine import roc
from aucstudio.engine.blocks import Parts, Passes, RowBlocks
from aucstudio.engine.features.precomputed import (
    callback_on_columns,
    given_kernel,
    on_columns,
    row_numbers,
)
from aucstudio.engine.fit import Context, Fit, Shared
from aucstudio.engine.leave_pair_out import LeavesPairsOut
from aucstudio.engine.monitor import Callback, Monitor, Spread, one_by_one
from aucstudio.engine.params import InvalidSetting, check_settings
from aucstudio.engine.predictor import check_groups, two_classes
from aucstudio.engine.scorers import LinearScorer, Scorer, score_rows
from aucstudio.engine.types import Array, Mask
from aucstudio.notices import notice

_FEW_ROWS = 20  # of a class, from which noise may decide the whole ranking


@functools.cache
def estimator_class(method: type[Any]) -> Any:
    """Return the scikit-learn classifier of a method: its class joined with scikit-learn's bases.

    Importing scikit-learn takes longer than most commands, many of which only need what a method
    declares. So methods are declared without those bases; every instance has them.
    """
    from sklearn.base import BaseEstimator, ClassifierMixin

    if issubclass(method, BaseEstimator):
        return method
    body = {
        "__module__": method.__module__,
        "__qualname__": method.__qualname__,
        "__doc__": vars(method)["__doc__"],
        "_method": method,
    }
    return type(method.__name__, (method, ClassifierMixin, BaseEstimator), body)


def _blank(method: type[AUCClassifier]) -> AUCClassifier:
    """Return an instance without settings, to unpickle into."""
    return method.__new__(method)


@dataclass_transform(eq_default=False, kw_only_default=True)
class AUCClassifier(LeavesPairsOut):
    """A two-class classifier trained to rank positives above negatives.

    The positive class is the second of ``classes_`` (sorted). ``predict`` returns it where
    ``decision_function`` exceeds 0; unless the method has a constant of its own, that point is
    the equal-error point of the training scores.

    Class attributes describe a method and its abilities, see
    :class:`~aucstudio.engine.declared.Declared`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    n_features_in_ : int
    scorer_ : Scorer
        Scores without the constant.
    intercept_ : float
        Constant added to the scores; minus the threshold.
    objective_ : float
    dual_gap_ : float or None
        Upper bound on ``objective_`` minus its optimum.
    needed_gap_ : float
        The ``dual_gap_`` at which the fit was to end; means nothing where there is none.
    converged_ : bool
        False if the callback stopped the fit, or an iteration limit did.
    train_scores_ : ndarray of shape (n_samples,)
        ``decision_function`` of the training rows.
    n_iter_ : int
        Only where the method iterates.
    coef_ : ndarray of shape (1, n_features)
        Only where the scorer is linear.
    support_pairs_ : tuple of two index arrays or None
    notes_ : tuple of Notice
    """

    def __init_subclass__(cls, **details: Any) -> None:
        """Set the attributes of a method from its settings and its docstring."""
        super().__init_subclass__(**details)
        if "_method" in vars(cls):  # joined with scikit-learn's bases
            return
        dataclasses.dataclass(cls, eq=False, repr=False, kw_only=True)
        cls.read_declaration()

    def __new__(cls, *settings: Any, **named: Any) -> Self:
        """Create an instance of the class that :func:`estimator_class` returns."""
        declared: type = cls
        blank: Self = super().__new__(estimator_class(declared))
        return blank

    def __reduce__(self) -> tuple[Any, ...]:
        # The joined class has no name of its own by which it could be found.
        declared = vars(type(self)).get("_method", type(self))
        return _blank, (declared,), self.__getstate__()

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        callback: Callback | None = None,
        groups: ArrayLike | None = None,
        spread: Spread = one_by_one,
        kept: Mapping[Any, Any] | None = None,
        **unknown: Any,
    ) -> Self:
        """Train on the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two distinct labels.
        callback : callable, optional
            Called with a :class:`~aucstudio.engine.monitor.Step`; returning True stops the
            fit, which then keeps the scorer as it stands.
        groups : array-like of shape (n_samples,), optional
            Rows of one group belong together: methods that hold rows out hold whole groups out.
        spread : callable, optional
            Does independent parts of the work, side by side if it can; see
            :data:`~aucstudio.engine.monitor.Spread`.
        kept : mapping, optional
            Parts of the work that were done elsewhere; see
            :class:`~aucstudio.engine.fit.Context`.

        Returns
        -------
        self

        Raises
        ------
        InvalidSetting
            If a setting is out of its range, or rows are given weights (``sample_weight``) that
            the method does not take.
        ValueError
            If X holds infinite values, or NaN where the method takes no missing values, or y
            does not hold exactly two classes.
        Stopped
            If the callback stops a fit that has no usable scorer yet.
        """
        # A method that takes weights has them in its signature, where scikit-learn looks for them.
        if unknown.pop("sample_weight", None) is not None:
            raise self._refuse_weights()
        if unknown:
            raise TypeError(f"fit() got an unexpected keyword argument {next(iter(unknown))!r}")
        return self._train(X, y, callback, kept=kept, groups=groups, spread=spread)

    def _refuse_weights(self) -> InvalidSetting:
        return InvalidSetting(
            "sample_weight",
            f"{self.title} takes no row weights (sample_weight): every row counts once in its "
            "training",
        )

    def _train(
        self,
        X: ArrayLike,
        y: ArrayLike,
        callback: Callback | None,
        *,
        kept: Mapping[Any, Any] | None = None,
        groups: ArrayLike | None = None,
        spread: Spread = one_by_one,
        sample_weight: ArrayLike | None = None,
        shared: Shared | None = None,
    ) -> Self:
        """Fit, with what fits on the same rows share."""
        from sklearn.utils.validation import validate_data

        check_settings(type(self), self.get_params(deep=False))
        with np.errstate(invalid="ignore"):  # it adds up huge cells, to see whether all are finite
            rows, labels = validate_data(self, X, y, ensure_min_samples=2, **self._demands())
        self.classes_, positive = two_classes(labels)
        weights = self._weigh(sample_weight, positive)
        counted = slice(None) if weights is None else np.flatnonzero(weights)
        train = positive[counted]
        m = int(np.count_nonzero(train))
        self.check_size(m, len(train) - m, rows.shape[1])
        if self._is_given_kernel():
            monitor = Monitor(callback_on_columns(callback, len(rows)))
            context = Context(monitor, given_kernel(rows))
            X_train = row_numbers(rows)[counted]
        else:
            monitor = Monitor(callback)
            together = None if groups is None else check_groups(groups, len(positive))[counted]
            context = Context(monitor, kept=kept, groups=together, spread=spread)
            X_train = rows if weights is None else rows[counted]
        if weights is not None:
            context = dataclasses.replace(context, weights=weights[counted])
        if shared is not None:
            context = dataclasses.replace(context, shared=shared)
        done = self._fit(X_train, train, context)
        if self._is_given_kernel():
            done = dataclasses.replace(done, scorer=on_columns(done.scorer, len(rows)))
        if weights is not None and not weights.all():
            done = done.among_all(np.flatnonzero(weights))
        scores = done.scores
        if scores is None:
            scores = score_rows(done.scorer, rows, monitor.pulse)
        self._keep(done, scores, positive, monitor, weights)
        return self

    def _weigh(self, sample_weight: ArrayLike | None, positive: Mask) -> Array | None:
        """Check the weights of rows; None where every row counts once."""
        if sample_weight is None:
            return None
        if not self.takes_weights:
            raise self._refuse_weights()
        weights = roc.check_weights(sample_weight, positive)
        return None if (weights == 1).all() else weights

    def fit_blocks(self, blocks: RowBlocks, *, callback: Callback | None = None) -> Self:
        """Train on rows that come in blocks, with one block of them in memory at a time.

        The result is that of :meth:`fit` on the same rows, to rounding, unless the method's own
        text says otherwise; ``classes_`` are False and True. What is kept of a row is some
        numbers, such as its score. A last pass over the blocks, which cannot be stopped, makes
        ``train_scores_``.

        Parameters
        ----------
        blocks : RowBlocks
        callback : callable, optional
            As for :meth:`fit`; called after every few megabytes of rows.

        Raises
        ------
        InvalidSetting
            If a setting is out of its range, or needs all rows at once.
        ValueError
            If the method needs all rows at once (see ``adds_up``), a class has no rows, or the
            rows are not finite or change between two passes.
        Stopped
            If the callback stops a fit that has no usable scorer yet.
        """
        check_settings(type(self), self.get_params(deep=False))
        positive = np.asarray(blocks.positive, dtype=bool)
        self.classes_, positive = two_classes(positive)
        self.n_features_in_ = blocks.features
        monitor = Monitor(callback)
        done = self._fit_blocks(Passes.watched(blocks, monitor), Context(monitor))
        scores = np.empty(len(positive))
        passes = Passes(blocks, functools.partial(monitor.pulse, "scoring"))
        for part in passes.over(functools.partial(_scored, done.scorer)):
            for rows, of_rows in part:
                scores[rows] = of_rows
        self._keep(done, scores, positive, monitor)
        return self

    def _fit_blocks(self, rows: Passes, context: Context) -> Fit:
        """Train on rows that come in blocks; methods that can set ``adds_up``."""
        raise InvalidSetting("method", f"{self.title} needs all rows in memory at once")

    def fit_path(
        self,
        X: ArrayLike,
        y: ArrayLike,
        name: str,
        values: Sequence[Any],
        *,
        callback: Callback | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Iterator[Self]:
        """Fit a copy for each value of one setting, in their order; for searches.

        Parameters
        ----------
        X, y, callback
            As for :meth:`fit`.
        name : str
            A setting; methods share most work along ``path_setting``. Empty: the settings stay
            as they are, and ``values`` only counts.
        values : sequence
        sample_weight : array-like of shape (n_samples,), optional
            For methods that take weights of rows.

        Yields
        ------
        fitted : a fitted copy for each value
        """
        from sklearn.base import clone

        shared = Shared()
        for value in values:
            changes = {name: value} if name else {}
            changed = clone(self).set_params(**changes)
            yield changed._train(X, y, callback, sample_weight=sample_weight, shared=shared)

    @abstractmethod
    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        """Train on float64 rows X; ``positive`` marks the positive rows (at least one each)."""

    def _keep(
        self,
        done: Fit,
        scores: Array,
        positive: Mask,
        monitor: Monitor,
        weights: Array | None = None,
    ) -> None:
        self.scorer_ = done.scorer
        self.objective_ = done.objective
        self.dual_gap_ = done.gap
        self.needed_gap_ = done.needed
        self.support_pairs_ = done.support_pairs
        self.notes_ = done.notes
        self.converged_ = done.converged and not monitor.stopped
        if not (self.converged_ or monitor.stopped):
            shortfall = done.shortfall()
            self.notes_ += (shortfall,)
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(f"{self.title}: {shortfall}", ConvergenceWarning, stacklevel=3)
        if done.intercept is None:
            curve = roc.roc_curve(positive, scores, weights=weights)
            self.intercept_ = -roc.equal_error_threshold(curve)
        else:
            self.intercept_ = done.intercept
        self.train_scores_ = scores + self.intercept_
        m = int(np.count_nonzero(positive))
        few = min(m, len(positive) - m)
        if few <= _FEW_ROWS and np.isfinite(scores).all():
            area = roc.auc(positive, scores, weights=weights)
            if area < 0.5:
                self.notes_ += (notice("training_ranked_backwards", area=area, rows=few),)
        if done.n_iter is not None:
            self.n_iter_ = done.n_iter
        if isinstance(done.scorer, LinearScorer) and not self._is_given_kernel():
            self.coef_ = done.scorer.weights[None, :]


def _scored(scorer: Scorer, pieces: Parts) -> list[tuple[Any, Array]]:
    return [(rows, scorer(X)) for rows, X in pieces]
