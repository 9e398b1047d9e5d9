"""Base class of all methods: a scikit-learn classifier with a score.

A method subclasses :class:`AUCClassifier`, declares its settings with
:func:`~aucstudio.engine.params.param` and implements ``_fit``. :class:`WeighsRows` is the base of
those that take row weights.
"""

from __future__ import annotations

import dataclasses
import functools
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array, Mask, class_counts
from aucstudio.engine.declared import Declared
from aucstudio.engine.fit import (
    Context,
    Fit,
    PairsHeldOut,
    Shared,
    callback_on_columns,
    given_kernel,
    on_columns,
    row_numbers,
    warn_of_convergence,
)
from aucstudio.engine.monitor import Callback, Monitor, Spread, one_by_one
from aucstudio.engine.params import InvalidSetting, check_settings
from aucstudio.engine.scorers import LinearScorer, Scorer, score_rows
from aucstudio.notices import notice, text

if TYPE_CHECKING:
    from aucstudio.engine.blocks import Passes, RowBlocks


def two_classes(y: NDArray[Any]) -> tuple[NDArray[Any], Mask]:
    """Return the two classes, sorted, and which rows are of the second.

    Raises
    ------
    ValueError
        If there are more or fewer classes.
    """
    if y.dtype == np.bool_:  # nothing to sort
        classes = np.flatnonzero(np.array([not y.all(), y.any()])).astype(bool)
    else:
        classes = np.unique(y)
    if len(classes) == 2 and y.dtype.kind in "biuUS":
        return classes, y == classes[1]
    from sklearn.utils.multiclass import check_classification_targets, type_of_target

    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}."
        )
    if len(classes) < 2:
        raise ValueError(f"y holds one class only ({classes[0]!r}); two are needed to rank.")
    return classes, y == classes[1]


if TYPE_CHECKING:
    from sklearn.base import BaseEstimator, ClassifierMixin

    class _Estimator(ClassifierMixin, BaseEstimator):
        pass
else:
    _Estimator = object  # see aucstudio.engine.base.estimator_class


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
class AUCClassifier(Declared, _Estimator):
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
        The ``dual_gap_`` at which the fit was to end; undefined without a gap.
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

    classes_: NDArray[Any]
    scorer_: Scorer
    intercept_: float
    dual_gap_: float | None
    train_scores_: Array

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
        return InvalidSetting("sample_weight", text("no_row_weights", title=self.title))

    def _train(
        self,
        X: ArrayLike,
        y: ArrayLike,
        callback: Callback | None,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **given: Any,
    ) -> Self:
        """Fit; ``given`` are other inputs of the :class:`~aucstudio.engine.fit.Context`."""
        from sklearn.utils.validation import validate_data

        check_settings(type(self), self.get_params(deep=False))
        with np.errstate(invalid="ignore"):  # it adds up huge cells, to see whether all are finite
            rows, labels = validate_data(self, X, y, ensure_min_samples=2, **self._demands())
        self.classes_, positive = two_classes(labels)
        weights = self._weigh(sample_weight, positive)
        counted = slice(None) if weights is None else np.flatnonzero(weights)
        train = positive[counted]
        self.check_size(*class_counts(train), rows.shape[1])
        if self._is_given_kernel():
            callback, given["given"] = callback_on_columns(callback, len(rows)), given_kernel(rows)
            X_train = row_numbers(rows)[counted]
        else:
            X_train = rows if weights is None else rows[counted]
        if groups is not None:
            given["groups"] = roc.group_codes(groups, len(positive))[counted]
        if weights is not None:
            given["weights"] = weights[counted]
        monitor = Monitor(callback)
        context = Context(monitor, **given)
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
        from aucstudio.engine.blocks import Passes

        if not self.adds_up:
            raise InvalidSetting("method", f"{self.title} needs all rows in memory at once")
        check_settings(type(self), self.get_params(deep=False))
        positive = np.asarray(blocks.positive, dtype=bool)
        self.classes_, positive = two_classes(positive)
        self.n_features_in_ = blocks.features
        monitor = Monitor(callback)
        done = self._fit_blocks(Passes.watched(blocks, monitor), Context(monitor))
        scores = np.empty(len(positive))
        passes = Passes(blocks, functools.partial(monitor.pulse, "scoring"))
        for rows, X in passes.pieces():
            scores[rows] = done.scorer(X)
        self._keep(done, scores, positive, monitor)
        return self

    def _fit_blocks(self, rows: Passes, context: Context) -> Fit:
        """Train on rows that come in blocks; only methods with ``adds_up`` are asked to."""
        raise NotImplementedError

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

    def leave_pair_out(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        regularizations: ArrayLike | None = None,
        callback: Callback | None = None,
    ) -> list[PairsHeldOut]:
        """Return how every pair of a positive and a negative is ordered by training without it.

        Parameters
        ----------
        X, y : array-like
            As for :meth:`fit`.
        regularizations : array-like, optional
            Values of that setting to answer for, at little more than the cost of one; by default
            the method's own.
        callback : callable, optional
            As for :meth:`fit`.

        Returns
        -------
        list of PairsHeldOut
            One for each value.

        Raises
        ------
        ValueError
            For what :meth:`fit` refuses, for too few rows, and for methods that
            know no closed form (see ``leaves_pairs_out``).
        Stopped
            If the callback requests a stop.
        """
        from sklearn.base import clone
        from sklearn.utils.validation import validate_data

        check_settings(type(self), self.get_params(deep=False))
        # Checked as for a fit, and a fitted model stays as it is.
        asked = clone(self)
        rows, labels = validate_data(asked, X, y, dtype=np.float64, ensure_min_samples=3)
        _, positive = two_classes(labels)
        if regularizations is None:
            regularizations = [getattr(self, "regularization", np.nan)]
        context = Context(Monitor(callback))
        if self._is_given_kernel():
            context = dataclasses.replace(context, given=given_kernel(rows))
            rows = row_numbers(rows)
        return self._leave_pair_out(rows, positive, regularizations, context)

    def _leave_pair_out(
        self, X: Array, positive: Mask, regularizations: ArrayLike, context: Context
    ) -> list[PairsHeldOut]:
        """Answer :meth:`leave_pair_out` for checked rows."""
        raise ValueError(text("leave_pair_out_unknown", title=self.title))

    def decision_function(self, X: ArrayLike) -> Array:
        """Score the rows of X, shape (n_samples,); positive where ``predict`` says positive."""
        from sklearn.utils.validation import check_is_fitted, validate_data

        check_is_fitted(self, "scorer_")
        rows = validate_data(self, X, reset=False, **self._demands())
        scores: Array = self.scorer_(rows) + self.intercept_
        return scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Name the class of each row of X, shape (n_samples,)."""
        positive = self.decision_function(X) > 0
        labels: NDArray[Any] = self.classes_[positive.astype(int)]
        return labels

    def set_threshold(
        self,
        X: ArrayLike,
        y: ArrayLike,
        rule: str = "equal-error",
        *,
        sample_weight: ArrayLike | None = None,
        **constants: float | None,
    ) -> Self:
        """Set the decision threshold of ``predict``; scores do not change.

        Parameters
        ----------
        X, y : array-like
            Rows to choose it on, training rows or others; y holds both of ``classes_``.
        rule, fpr, cost_fp, cost_fn, prior, tpr, precision, alerts
            See :class:`~aucstudio.engine.roc.ThresholdRule`.
        sample_weight : array-like of shape (n_samples,), optional
            What each row weighs, whatever the method takes.

        Raises
        ------
        ValueError
            For an unknown rule, labels other than ``classes_``, constants out of range, or a
            precision that no threshold has.
        """
        from sklearn.utils.validation import check_is_fitted, validate_data

        check_is_fitted(self, "scorer_")
        chosen = roc.ThresholdRule(rule, **constants)  # type: ignore[arg-type]
        rows, labels = validate_data(self, X, y, reset=False, **self._demands())
        if not np.isin(labels, self.classes_).all():
            raise ValueError(f"y holds labels other than {self.classes_.tolist()}.")
        positive = labels == self.classes_[1]
        place = chosen.place(roc.roc_curve(positive, self.scorer_(rows), weights=sample_weight))
        self.train_scores_ = self.train_scores_ + (-place - self.intercept_)
        self.intercept_ = -place  # set at once: a rounded sum could pass the nearest score
        return self

    def _is_given_kernel(self) -> bool:
        return getattr(self, "kernel", None) == "precomputed"

    def _demands(self) -> dict[str, Any]:
        """Return what scikit-learn shall check of X."""
        return {
            "dtype": np.float64,
            "accept_sparse": "csr" if self.stays_sparse() else False,
            "ensure_all_finite": "allow-nan" if self.takes_missing else True,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.takes_missing
        tags.input_tags.pairwise = self._is_given_kernel()
        tags.input_tags.sparse = self.stays_sparse()
        tags.classifier_tags.multi_class = False
        return tags

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
            warn_of_convergence(f"{self.title}: {shortfall}", stacklevel=3)
        if done.intercept is None:
            curve = roc.roc_curve(positive, scores, weights=weights)
            self.intercept_ = -roc.equal_error_threshold(curve)
        else:
            self.intercept_ = done.intercept
        self.train_scores_ = scores + self.intercept_
        few = min(class_counts(positive))
        if few <= _FEW_ROWS and np.isfinite(scores).all():
            area = roc.auc(positive, scores, weights=weights)
            if area < 0.5:
                self.notes_ += (notice("training_ranked_backwards", area=area, rows=few),)
        if done.n_iter is not None:
            self.n_iter_ = done.n_iter
        if isinstance(done.scorer, LinearScorer) and not self._is_given_kernel():
            self.coef_ = done.scorer.weights[None, :]


class WeighsRows(AUCClassifier):
    """A method that can let some rows count more than others.

    A row of weight 2 counts as two equal rows, a row of weight 0 is left out, and a pair has the
    product of the weights of its rows. The scale of the weights has no effect on a mean over pairs
    or rows; in a sum over rows it acts like ``C`` (``counts_rows``). A method that does this only
    approximately gives the reason in ``weights_differ``; the others do so to rounding, or to the
    tolerance of their solver.
    """

    takes_weights: ClassVar[bool] = True

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        callback: Callback | None = None,
        **options: Any,
    ) -> Self:
        """Train on the rows of X; see :meth:`AUCClassifier.fit`.

        Parameters
        ----------
        X, y, callback, options
            As there.
        sample_weight : array-like of shape (n_samples,), optional
            What each row weighs: finite, not negative, and some of each class greater than 0.

        Raises
        ------
        ValueError
            For other weights, and as there.
        """
        return self._train(X, y, callback, sample_weight=sample_weight, **options)
