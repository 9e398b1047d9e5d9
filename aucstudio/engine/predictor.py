"""Scores and predicted classes of a fitted method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine import roc
from aucstudio.engine.declared import Declared
from aucstudio.engine.scorers import Scorer
from aucstudio.engine.types import Array, Mask


def check_groups(groups: ArrayLike, rows: int) -> NDArray[Any]:
    """Return one group for each row.

    Raises
    ------
    ValueError
        If there are more or fewer.
    """
    found = np.asarray(groups)
    if found.shape != (rows,):
        raise ValueError(f"groups must name one group for each of the {rows} rows.")
    return found


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


class Predictor(Declared, _Estimator):
    """Scores, classes and threshold of a fitted method; see :class:`AUCClassifier`."""

    classes_: NDArray[Any]
    scorer_: Scorer
    intercept_: float
    dual_gap_: float | None
    train_scores_: Array

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
        fpr: float = 0.1,
        cost_fp: float = 1.0,
        cost_fn: float = 1.0,
        prior: float | None = None,
        tpr: float = 0.9,
        precision: float = 0.5,
        alerts: float = 0.01,
        sample_weight: ArrayLike | None = None,
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
        bounds = {"tpr": tpr, "precision": precision, "alerts": alerts}
        chosen = roc.ThresholdRule(rule, fpr, cost_fp, cost_fn, prior, **bounds)
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
