"""Scores of held-out rows without retraining, exact, for least squares on labels.

Symbols: K Gram matrix; y labels +-1; U held-out rows; A inverse of K + lambda, bordered by a row
and a column of ones if there is a constant, at the rows; lambda the regularisation against the
sum of the losses over the rows left.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.base import Array, Mask
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.methods.rls_systems import Index, eigensystem, gram, positive_values
from aucstudio.engine.monitor import Monitor


def rls_held_out_scores(
    data: Array,
    positive: Mask,
    folds: Sequence[Index],
    regularizations: ArrayLike,
    kernel: Kernel | None = None,
    *,
    fit_intercept: bool = False,
    monitor: Monitor | None = None,
) -> Array:
    """Score each fold by RLS trained on all rows outside of it.

    With A the inverse of the bordered matrix of the equations, the errors on a fold U are
    A_UU^-1 (A y)_U. One eigendecomposition serves all folds; leave-one-out is folds of one row.

    Parameters
    ----------
    data : ndarray
        Rows of shape (n_samples, n_features) if ``kernel`` is given, else their Gram matrix.
    positive : ndarray of shape (n_samples,)
    folds : sequence of index arrays
        Rows of each fold.
    regularizations : array-like of shape (n_values,)
        Positive values, against the mean loss over the rows left.
    kernel : Kernel, optional
    fit_intercept : bool
    monitor : Monitor, optional
        Heard before each fold.

    Returns
    -------
    ndarray of shape (n_values, n_samples)
        Scores with the constant; NaN for rows in no fold.

    Raises
    ------
    ValueError
        If a regularisation is not positive, or a fold leaves no row.
    """
    lams, N = positive_values(regularizations), len(positive)
    if any(len(fold) >= N for fold in folds):
        raise ValueError("A fold must leave at least one row to train on.")
    monitor = monitor or Monitor()
    origin = data[0] if fit_intercept else np.zeros(data.shape[1])
    K = data if kernel is None else gram(kernel, data, np.arange(N), origin, monitor)
    g, V = eigensystem(K, 0.0)
    y = np.where(positive, 1.0, -1.0)
    ends = V.T @ np.column_stack([y, np.ones(N)])
    scores = np.full((len(lams), N), np.nan)
    for k, lam in enumerate(lams):
        for fold in folds:
            monitor.stage("hold-out", k / len(lams))
            paper = lam * (N - len(fold))
            errors = _held_out_errors(V[fold], paper / (g + paper), ends, fit_intercept)
            scores[k, fold] = y[fold] - errors
    return scores


def _held_out_errors(V: Array, shares: Array, ends: Array, fit_intercept: bool) -> Array:
    """Compute A_UU^-1 (A y)_U from the eigenvectors at U; ``ends`` is V'y and V'1."""
    left = V * shares
    A, sums = left @ V.T, left @ ends
    pull = sums[:, 0]
    if fit_intercept:
        totals = (shares * ends[:, 1]) @ ends
        pull = pull - sums[:, 1] * (totals[0] / totals[1])
        A = A - np.outer(sums[:, 1], sums[:, 1]) / totals[1]
    errors: Array = np.linalg.solve(A, pull).astype(np.float64, copy=False)
    return errors
