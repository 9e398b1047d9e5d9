"""What the scores of training and held-out rows say against a model, as notices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import inference, roc
from aucstudio.engine.params import declared_params
from aucstudio.notices import Notice, notice

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier

_LEVEL = 0.99
# Scores that differ by no more than this share of their size differ by rounding.
_ROUNDING = 1e-9
_FAR_BETTER = 0.1  # in AUC, beyond what chance explains
# So rarely may one of the columns separate the classes by chance.
_BY_CHANCE = 1e-3


def score_notes(
    train_positive: NDArray[np.bool_],
    train_scores: NDArray[np.float64],
    test_positive: NDArray[np.bool_],
    test_scores: NDArray[np.float64],
    *,
    method: type[AUCClassifier],
    params: Mapping[str, Any],
    weights: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None] = (None, None),
    weight_kind: str = roc.SAMPLING,
    groups: NDArray[np.intp] | None = None,
) -> tuple[Notice, ...]:
    """Return notes on equal scores, training rows that are ranked upside down, and overfitting.

    Parameters
    ----------
    train_positive, train_scores, test_positive, test_scores : ndarray
    method : class of the method
    params : mapping
        Its settings.
    weights : (ndarray or None, ndarray or None)
        Of the training and of the held-out rows, where they do not all count once.
    weight_kind : {"sampling", "frequency"}
    groups : ndarray of int, optional
        Of the held-out rows.
    """
    # Halves, because the difference of the largest numbers overflows.
    low, high = train_scores.min() / 2, train_scores.max() / 2
    if high - low <= _ROUNDING * max(abs(low), abs(high)):
        helps = (*_weaker_settings(method, params), notice("help_columns"))
        return (notice("constant_scores", helps=helps),)
    of_train, of_test = weights
    trained = roc.auc(train_positive, train_scores, weights=of_train)
    if trained < 0.5:
        helps = (*_balance(method, params), notice("help_milder"))
        return (notice("ranks_backwards", auc=float(trained), helps=helps),)
    if method.memorises or not 0 < np.count_nonzero(test_positive) < len(test_positive):
        return ()
    sampled: roc.Sampled = {"weights": of_test, "weight_kind": weight_kind, "groups": groups}
    held_out = inference.delong_interval(test_positive, test_scores, _LEVEL, **sampled)
    if not trained > held_out.high + _FAR_BETTER:  # unknown where too few rows decide
        return ()
    return (notice("overfitted", trained=float(trained), held_out=float(held_out.value)),)


def _weaker_settings(method: type[AUCClassifier], params: Mapping[str, Any]) -> list[Notice]:
    """List the changes of declared settings that let a fit depart from a constant."""
    known, helps = declared_params(method), _balance(method, params)
    for name, change in (("C", "help_larger"), ("regularization", "help_smaller")):
        if name in known:
            setting = f"{known[name].label.lower()} {known[name].symbol}".strip()
            helps.append(notice(change, setting=setting))
    if "min_samples_leaf" in known:
        helps.append(notice("help_leaf"))
    if "kernel" in known and params.get("kernel") == "linear":
        helps.append(notice("help_kernel"))
    return helps


def _balance(method: type[AUCClassifier], params: Mapping[str, Any]) -> list[Notice]:
    takes = "class_weight" in declared_params(method) and params.get("class_weight") is None
    return [notice("help_balance")] if takes else []


def leak_notes(
    names: Sequence[str], X: NDArray[np.float64], positive: NDArray[np.bool_]
) -> tuple[Notice, ...]:
    """Return which prepared column separates the classes alone, as the label itself would.

    Parameters
    ----------
    names : sequence of str
        Of the columns of ``X``.
    X : ndarray of shape (N, d)
        The training rows.
    positive : ndarray of bool, shape (N,)
    """
    m, n = np.count_nonzero(positive), np.count_nonzero(~positive)
    if not m or not n or 2 * len(names) > _BY_CHANCE * math.comb(m + n, m):
        return ()
    (low, high), (below, above) = (
        (np.fmin.reduce(part), np.fmax.reduce(part)) for part in (X[positive], X[~positive])
    )
    apart = np.flatnonzero((low > above) | (high < below))
    if not len(apart):
        return ()
    column, more = str(names[apart[0]]), len(apart) - 1
    if more:
        return (notice("columns_separate", column=column, more=more),)
    return (notice("column_separates", column=column),)
