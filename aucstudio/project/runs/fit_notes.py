"""What the scores of training and held-out rows say against a model, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import inference, roc

_LEVEL = 0.99
_FAR_BETTER = 0.1  # in AUC, beyond what chance explains
# So rarely may one of the columns separate the classes by chance.
_BY_CHANCE = 1e-3


def score_notes(
    train_positive: NDArray[np.bool_],
    train_scores: NDArray[np.float64],
    test_positive: NDArray[np.bool_],
    test_scores: NDArray[np.float64],
    *,
    memorises: bool,
    weights: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None] = (None, None),
) -> tuple[str, ...]:
    """Say where all scores are equal, training rows are ranked upside down, or overfitted.

    Parameters
    ----------
    train_positive, train_scores, test_positive, test_scores : ndarray
    memorises : bool
        Whether the method ranks its training rows nearly perfectly as a matter of course, so
        that their AUC says nothing.
    weights : (ndarray or None, ndarray or None)
        Of the training and of the held-out rows, where they do not all count once.
    """
    if (train_scores == train_scores[0]).all():
        return (
            "All training rows have the same score, so that nothing is ranked: the columns do not "
            "tell the classes apart at these settings, or their scale is extreme.",
        )
    of_train, of_test = weights
    trained = roc.auc(train_positive, train_scores, weights=of_train)
    if trained < 0.5:
        return (
            f"The training rows themselves are ranked the wrong way round (AUC {trained:.3f}): "
            "few positives or extreme settings led training astray; class weights or weaker "
            "settings help.",
        )
    if memorises or not 0 < np.count_nonzero(test_positive) < len(test_positive):
        return ()
    held_out = inference.delong_interval(test_positive, test_scores, _LEVEL, weights=of_test)
    if not trained > held_out.high + _FAR_BETTER:  # unknown where too few rows decide
        return ()
    return (
        f"Overfitted: the AUC is {trained:.3f} on the rows trained on and "
        f"{held_out.value:.3f} on held-out rows. Fewer columns, a smaller C "
        "or a larger regularisation narrow the difference.",
    )


def leak_notes(
    names: Sequence[str], X: NDArray[np.float64], positive: NDArray[np.bool_]
) -> tuple[str, ...]:
    """Say which prepared column separates the classes alone, as the label itself would.

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
    also = f", and {len(apart) - 1} more do" if len(apart) > 1 else ""
    return (
        f"Column {names[apart[0]]} tells the classes apart by itself, without an error in the rows "
        f"trained on{also}: is it known before the outcome is, or is it the label again?",
    )
