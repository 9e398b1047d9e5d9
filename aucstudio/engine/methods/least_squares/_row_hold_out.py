"""Scores of held-out rows without retraining, exact, for least squares on labels.

Symbols: K Gram matrix; y labels +-1; U held-out rows; A inverse of K + lambda, bordered by a row
and a column of ones if there is a constant, at the rows; lambda the regularisation against the
sum of the losses over the rows left.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.kernels import Kernel
from aucstudio.engine.leave_pair_out import TIE, PairsHeldOut, count_outcomes, pair_chunks
from aucstudio.engine.methods.least_squares._systems import eigensystem, gram, positive_values
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.types import Array, Index, Mask


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


def rls_leave_pair_out(
    data: Array,
    positive: Mask,
    regularizations: ArrayLike,
    kernel: Kernel | None = None,
    *,
    fit_intercept: bool = False,
    monitor: Monitor | None = None,
) -> list[PairsHeldOut]:
    """Tell how RLS orders every pair of a positive and a negative when trained without it.

    Parameters
    ----------
    data, positive, regularizations, kernel, fit_intercept, monitor
        As for :func:`rls_held_out_scores`.

    Returns
    -------
    list of PairsHeldOut
        One for each regularisation.

    Raises
    ------
    ValueError
        If there are fewer than three rows, or a regularisation is not positive.
    Stopped
        If the monitor wants to stop.
    """
    lams, N = positive_values(regularizations), len(positive)
    if N < 3:
        raise ValueError("A pair must leave at least one row to train on.")
    monitor = monitor or Monitor()
    order = np.argsort(~positive, kind="stable")
    g, V, null = _basis(
        data[order] if kernel is not None else data[np.ix_(order, order)],
        kernel,
        fit_intercept,
        monitor,
    )
    m, y = int(np.count_nonzero(positive)), np.where(positive[order], 1.0, -1.0)
    found = []
    for k, lam in enumerate(lams):
        pairs = _PairErrors(V, g, null, lam * (N - 2), y, fit_intercept)
        report = functools.partial(_report, monitor, k, len(lams))
        chunks = pairs.scores(m, report)
        tie = TIE * N * g[-1] / (g[-1] + lam * (N - 2))
        found.append(count_outcomes(chunks, m, N - m, float(tie)))
    return found


def _report(monitor: Monitor, which: int, count: int, done: float) -> None:
    monitor.stage("leave-pair-out", (which + done) / count)


def _basis(
    data: Array, kernel: Kernel | None, fit_intercept: bool, monitor: Monitor
) -> tuple[Array, Array, bool]:
    """Give eigenvalues and -vectors of the Gram matrix; True if its null space is left out."""
    N = len(data)
    origin = data[0] if fit_intercept else np.zeros(data.shape[1])
    if kernel is not None and kernel.is_linear and 2 * data.shape[1] < N:
        monitor.stage("decomposition")
        V, s, _ = np.linalg.svd(data - origin, full_matrices=False)
        return s[::-1] ** 2, np.ascontiguousarray(V[:, ::-1]), True
    K = data if kernel is None else gram(kernel, data, np.arange(N), origin, monitor)
    return *eigensystem(K, 0.0), False


class _PairErrors:
    """Errors on every pair of a positive and a negative, at one regularisation.

    A = V diag(shares) V' (plus 1 on the diagonal where V leaves out the null space of K), less a
    dyad if there is a constant; the errors on a pair are A_UU^-1 (A y)_U.
    """

    def __init__(
        self, V: Array, g: Array, null: bool, paper: float, y: Array, fit_intercept: bool
    ) -> None:
        shares = -g / (g + paper) if null else paper / (g + paper)
        ends = np.column_stack([y, np.ones(len(y))])
        turned = V.T @ ends
        self._y, self._V, self._left = y, V, V * shares
        sums = self._left @ turned + null * ends
        self._diagonal = np.einsum("ij,ij->i", self._left, V) + null
        self._pull, self._bend = sums[:, 0], np.zeros(len(y))
        if fit_intercept:
            totals = ends[:, 1] @ sums
            self._bend = sums[:, 1] / np.sqrt(totals[1])
            self._pull = sums[:, 0] - self._bend * (totals[0] / np.sqrt(totals[1]))
            self._diagonal = self._diagonal - self._bend**2

    def scores(
        self, m: int, report: Callable[[float], None]
    ) -> Iterator[tuple[slice, Array, Array]]:
        """Give some positives at a time and the scores of their pairs with all negatives."""
        N = len(self._y)
        q, Aq = self._diagonal[m:], self._pull[m:]
        for rows in pair_chunks(m, N - m):
            report(rows.start / m)
            c = self._left[rows] @ self._V[m:].T - np.outer(self._bend[rows], self._bend[m:])
            p, Ap = self._diagonal[rows, None], self._pull[rows, None]
            det = p * q - c * c
            yield rows, 1.0 - (q * Ap - c * Aq) / det, -1.0 - (p * Aq - c * Ap) / det


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
