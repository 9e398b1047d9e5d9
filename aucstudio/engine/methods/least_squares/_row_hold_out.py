"""Scores of held-out rows without retraining, exact, for least squares on labels.

Symbols: K Gram matrix; y labels +-1; U the held-out pair; A inverse of K + lambda, bordered by a
row and a column of ones if there is a constant, at the rows; lambda the regularisation against
the sum of the losses over the rows left.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.kernels import Kernel
from aucstudio.engine.leave_pair_out import TIE, PairsHeldOut, count_outcomes, pair_chunks
from aucstudio.engine.methods.least_squares._systems import eigensystem, gram, positive_values
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.types import Array, Mask


def rls_leave_pair_out(
    X: Array,
    positive: Mask,
    regularizations: ArrayLike,
    kernel: Kernel,
    *,
    fit_intercept: bool,
    monitor: Monitor,
) -> list[PairsHeldOut]:
    """Return how RLS orders every pair of a positive and a negative when trained without it.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    positive : ndarray of shape (n_samples,)
    regularizations : array-like of shape (n_values,)
        Positive values, against the mean loss over the rows left.
    kernel : Kernel
    fit_intercept : bool
    monitor : Monitor

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
    order = np.argsort(~positive, kind="stable")
    g, V, null = _basis(X[order], kernel, fit_intercept, monitor)
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
    X: Array, kernel: Kernel, fit_intercept: bool, monitor: Monitor
) -> tuple[Array, Array, bool]:
    """Return eigenvalues and -vectors of the Gram matrix; True if its null space is left out."""
    N = len(X)
    origin = X[0] if fit_intercept else np.zeros(X.shape[1])
    if kernel.is_linear and 2 * X.shape[1] < N:
        monitor.stage("decomposition")
        V, s, _ = np.linalg.svd(X - origin, full_matrices=False)
        return s[::-1] ** 2, np.ascontiguousarray(V[:, ::-1]), True
    K = gram(kernel, X, np.arange(N), origin, monitor)
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
        """Return some positives at a time and the scores of their pairs with all negatives."""
        N = len(self._y)
        q, Aq = self._diagonal[m:], self._pull[m:]
        for rows in pair_chunks(m, N - m):
            report(rows.start / m)
            c = self._left[rows] @ self._V[m:].T - np.outer(self._bend[rows], self._bend[m:])
            p, Ap = self._diagonal[rows, None], self._pull[rows, None]
            det = p * q - c * c
            yield rows, 1.0 - (q * Ap - c * Aq) / det, -1.0 - (p * Aq - c * Ap) / det
