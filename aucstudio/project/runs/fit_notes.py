"""What the scores of training and held-out rows say against a model, in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import inference, roc

_LEVEL = 0.99
_FAR_BETTER = 0.1  # in AUC, beyond what chance explains


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
    if np.ptp(train_scores) == 0.0:
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
