"""Leave-pair-out cross-validation without refitting, for AUC-RLS and RLS.

Nearly unbiased on small tables, where pooled leave-one-out scores are not.

Symbols of AUC-RLS: m, n numbers of positives and negatives left for training; D = 1/m on the
positives, 1/n on the negatives; K Gram matrix, positives first; P = lambda (D^1/2 K D^1/2 +
lambda)^-1; Q = D^-1/2 P D^-1/2; U held-out rows; u = 1/m on the positives left, 0 elsewhere; v =
1/n on the negatives left; A_U rows of A for U.

The paper's matrix L without U is D, less its part on U, less u v' + v u'. By Woodbury's formula
the function trained without U has f_U = -D_UU^-1 Q_UU^-1 [Q_U u, Q_U v] z on U, and z follows
from the 2 x 2 matrix S = [u, v]' (Q - Q_.U Q_UU^-1 Q_U.) [u, v]. Everything is written in Q, the
complement of the hat matrix, which keeps the digits where lambda is small; where it is large, Q
is nearly D^-1, so that E = Q - D^-1 is what is kept.

Symbols of RLS: y labels +-1; U the held-out pair; A inverse of K + lambda, bordered by a row and a
column of ones if there is a constant, at the rows; lambda the regularisation against the sum of
the losses over the rows left.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.arrays import Array, Index, Mask, portions
from aucstudio.engine.fit import PairsHeldOut
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.methods.least_squares_systems import kernel_products, positive_values
from aucstudio.engine.monitor import Monitor

_EPS = float(np.finfo(float).eps)
PAIRS_PER_CHUNK = 65_536  # that are scored at once
# Scores of a pair that differ by fewer rounding errors, a sum over all rows, are tied.
_TIE = 16 * _EPS


def _count_outcomes(
    chunks: Iterator[tuple[slice, Array, Array]], m: int, n: int, tie: float
) -> PairsHeldOut:
    """Count who outscored whom; ``chunks`` gives positives and the two scores of their pairs."""
    beaten, above = np.zeros(m), np.zeros(n)
    for rows, f, g in chunks:
        f -= g
        won = (f > tie).astype(np.float64) + (f >= -tie)
        beaten[rows] = 0.5 * won.sum(axis=1)
        above += 0.5 * won.sum(axis=0)
    return PairsHeldOut(beaten, above)


class HoldOut:
    """AUC-RLS with one positive and one negative held out, whichever they are.

    Equal to training once without each pair, in O(N^3) at most for each value of the
    regularisation; the eigendecomposition, which cannot be interrupted, is done once.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    positive : ndarray of shape (n_samples,)
    regularizations : array-like of shape (n_values,)
        Positive values, against the mean loss over the pairs left.
    kernel : Kernel
    monitor : Monitor

    Raises
    ------
    ValueError
        If a class has fewer than two rows, or a regularisation is not positive.
    Stopped
        If the monitor requests a stop.

    References
    ----------
    Pahikkala, Airola, Boberg, Salakoski (2008), Exact and efficient leave-pair-out
    cross-validation for ranking RLS; rederived for pairs between the classes only.
    """

    def __init__(
        self,
        X: Array,
        positive: Mask,
        regularizations: ArrayLike,
        kernel: Kernel,
        monitor: Monitor,
    ) -> None:
        self.regularizations = positive_values(regularizations)
        self._monitor = monitor
        order = np.argsort(~positive, kind="stable")
        self._place = np.argsort(order)
        self._positives = int(np.count_nonzero(positive))
        self._left = (self._positives - 1, len(positive) - self._positives - 1)
        if min(self._left) < 1:
            raise ValueError(
                "Leave-pair-out needs at least two rows of each class; there are "
                f"{self._positives} positives and {len(positive) - self._positives} negatives."
            )
        self._d = np.where(np.arange(len(positive)) < self._positives, *(1 / k for k in self._left))
        self._g, self._V, self._thin = _decompose(
            X[order], np.sqrt(self._d), kernel, X[order[0]], monitor
        )
        kept = self._g > 0
        self._low_rank = bool(self._thin or 2 * np.count_nonzero(kept) < len(X))
        self._few = kept if self._low_rank else slice(None)
        self._factor = self._V[:, self._few]
        self._sum_up()

    def _sum_up(self) -> None:
        """Compute the diagonal of E and its products with u and v of all rows, at each lambda."""
        N, m = len(self._d), self._positives
        shares = self._shares(self._g[:, None], self.regularizations)
        ends = np.zeros((N, 2))
        ends[:m, 0], ends[m:, 1] = np.sqrt(self._d[:m]), np.sqrt(self._d[m:])
        turned = self._V.T @ ends
        self._diagonal = np.empty((len(self.regularizations), N))
        for rows in portions(N, N, PAIRS_PER_CHUNK):
            self._monitor.stage("hold-out")
            self._diagonal[:, rows] = (self._V[rows] ** 2 @ shares).T / self._d[rows]
        products = [(self._V @ (shares * column[:, None])).T for column in turned.T]
        self._sums = np.stack(products, axis=2) / np.sqrt(self._d)[:, None]
        self._totals = np.einsum("ka,kl,kb->lab", turned, shares, turned)

    def _is_apart(self, lam: Array) -> Mask:
        """Return where D^-1 is kept apart from Q: where it makes up most of it."""
        apart: Mask = (lam > self._g.mean()) | self._thin
        return apart

    def _shares(self, g: Array, lam: Array) -> Array:
        """Eigenvalues of P, or of P - 1 where D^-1 is kept apart."""
        return np.where(self._is_apart(lam), -g, lam) / (g + lam)

    def _mutual(self, lam: Array, first: slice | Index, second: slice | Index) -> Array:
        """Elements of Q between different rows; few eigenvalues do if the kernel has low rank."""
        g, V = self._g[self._few], self._factor
        left = V[first] * (-g / (g + lam) if self._low_rank else self._shares(g, lam))
        left /= np.sqrt(self._d[first])[:, None]
        products: Array = left @ V[second].T
        products /= np.sqrt(self._d[second])
        return products

    def outcomes(self, which: int) -> PairsHeldOut:
        """Count for each row, at one of the lambdas, the pairs that came out right."""
        top, m = float(self._g[-1]), self._positives
        tie = _TIE * len(self._d) * top / (top + float(self.regularizations[which]))
        return _count_outcomes(self.pair_scores(which), m, len(self._d) - m, tie)

    def pair_scores(self, which: int) -> Iterator[tuple[slice, Array, Array]]:
        """Return some positives at a time and the scores of their pairs with all negatives."""
        lam, m, N = self.regularizations[which], self._positives, len(self._d)
        for rows in portions(m, N - m, PAIRS_PER_CHUNK):
            self._monitor.stage("leave-pair-out", (which + rows.start / m) / len(self._totals))
            yield rows, *self._pairs(which, rows, self._mutual(lam, rows, slice(m, N)))

    def _pairs(self, which: int, rows: slice, c: Array) -> tuple[Array, Array]:
        """Score all pairs of some positives at once.

        ``c`` holds Q between the two rows of a pair; i is the positive, j the
        negative. W is kept times the determinant of Q_UU.
        """
        m, a, b = self._positives, float(self._d[0]), float(self._d[-1])
        qi, qj = self._diagonal[which, rows, None], self._diagonal[which, m:]
        (iu, iv), (ju, jv) = self._sums[which, rows].T[:, :, None], self._sums[which, m:].T
        apart = float(self._is_apart(self.regularizations[which]))
        T = self._totals[which] + apart * np.eye(2)
        uu, vv = T[0, 0] - 2 * a * iu + a * a * qi, T[1, 1] - 2 * b * jv + b * b * qj
        uv = T[0, 1] - a * iv - b * ju + (a * b) * c
        iu, jv, iv, ju = iu - a * qi, jv - b * qj, iv - b * c, ju - a * c
        qi, qj = qi + apart / a, qj + apart / b
        det = qi * qj - c * c
        Wiu, Wju = qj * iu - c * ju, qi * ju - c * iu
        Wiv, Wjv = qj * iv - c * jv, qi * jv - c * iv
        uu, uv, vv = (
            uu - (iu * Wiu + ju * Wju) / det,
            uv - (iu * Wiv + ju * Wjv) / det,
            vv - (iv * Wiv + jv * Wjv) / det,
        )
        det *= uu + 2 * uv + vv + uv * uv - uu * vv
        zu, zv = (uv + vv) / det, (uv + uu) / det
        return (-2 / a) * (Wiu * zu - Wiv * zv), (-2 / b) * (Wju * zu - Wjv * zv)


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
        If the monitor requests a stop.
    """
    lams, N = positive_values(regularizations), len(positive)
    if N < 3:
        raise ValueError("A pair must leave at least one row to train on.")
    order = np.argsort(~positive, kind="stable")
    origin = X[order[0]] if fit_intercept else np.zeros(X.shape[1])
    g, V, null = _decompose(X[order], np.ones(N), kernel, origin, monitor)
    m, y = int(np.count_nonzero(positive)), np.where(positive[order], 1.0, -1.0)
    found = []
    for k, lam in enumerate(lams):
        pairs = _PairErrors(V, g, null, lam * (N - 2), y, fit_intercept)
        report = functools.partial(_report, monitor, k, len(lams))
        chunks = pairs.scores(m, report)
        tie = _TIE * N * g[-1] / (g[-1] + lam * (N - 2))
        found.append(_count_outcomes(chunks, m, N - m, float(tie)))
    return found


def _report(monitor: Monitor, which: int, count: int, done: float) -> None:
    monitor.stage("leave-pair-out", (which + done) / count)


def _decompose(
    X: Array, roots: Array, kernel: Kernel, origin: Array, monitor: Monitor
) -> tuple[Array, Array, bool]:
    """Decompose diag(roots) K diag(roots); return eigenvalues, ascending, and eigenvectors.

    Eigenvalues within rounding errors are 0. The third value is True where the null space is left
    out, as for rows of few features. One numpy call: it lets other threads run, but cannot be
    interrupted.
    """
    N = len(X)
    if thin := kernel.is_linear and 2 * X.shape[1] < N:
        monitor.stage("decomposition")
        V, s, _ = np.linalg.svd(roots[:, None] * (X - origin), full_matrices=False)
        values, V = s[::-1] ** 2, np.ascontiguousarray(V[:, ::-1])
        values[s[::-1] <= N * _EPS * s[0]] = 0.0
    else:
        K = kernel_products(kernel, X, np.arange(N), origin, monitor)
        K *= roots
        K *= roots[:, None]
        values, V = np.linalg.eigh(K, UPLO="U")
        values[values <= N * _EPS * values[-1]] = 0.0
    return values, V, thin


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
        for rows in portions(m, N - m, PAIRS_PER_CHUNK):
            report(rows.start / m)
            c = self._left[rows] @ self._V[m:].T - np.outer(self._bend[rows], self._bend[m:])
            p, Ap = self._diagonal[rows, None], self._pull[rows, None]
            det = p * q - c * c
            yield rows, 1.0 - (q * Ap - c * Aq) / det, -1.0 - (p * Aq - c * Ap) / det
