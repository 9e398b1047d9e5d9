"""AUC-RLS: regularised least squares on the score differences of all pairs, in closed form.

Symbols: m, n numbers of positives and negatives; N = m + n; M_ij = f(x_i) - f(z_j) margin of a
pair; delta difference of the class means; S sum of the two class covariances (divisors m, n);
K Gram matrix, positives first; rho = 1/m on positives, -1/n on negatives; L the paper's matrix
of eq. 9; R = (L / mn)^(1/2), that is class centring divided by sqrt(m) or sqrt(n), plus
rho rho' / |rho|; lambda the regularisation against the mean pair loss.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.base import Array, AUCClassifier, Fit, Mask
from aucstudio.engine.kernels import ROWS_PER_CHUNK, Kernel, KernelSettings
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import InvalidSetting, param
from aucstudio.engine.scorers import LinearScorer, Scorer, trimmed
from aucstudio.engine.solvers.cholesky import BLOCK, Symmetric

Index = NDArray[np.intp]

MOST_KERNEL_ROWS = 20_000

_EPS = float(np.finfo(float).eps)


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class AUCRLS(KernelSettings, AUCClassifier):
    """Least squares on pairs: every margin is drawn towards 2, the gap between the labels.

    Minimises ``mean_ij (2 - M_ij)^2 + regularization * |w|^2`` over all pairs of a positive and
    a negative; the paper's lambda is ``regularization`` times m n. The mean pair loss follows
    from class means and class variances, so that no pair is ever formed: O(N d^2 + d^3) with the
    linear kernel (O(N^2 d + N^3) where features outnumber rows), O(N^3) with the others, for up
    to 20,000 rows.

    With ``regularization`` 0 the solution of least norm is taken; it rests on one
    eigendecomposition, which cannot be interrupted, and has no certificate (``gap_`` is None).

    References
    ----------
    Pahikkala, Airola, Suominen, Boberg, Salakoski (2008), Efficient AUC maximization with
    regularized least-squares; eqs. 6 to 12.
    """

    key: ClassVar[str] = "auc-rls"
    title: ClassVar[str] = "AUC-RLS"
    family: ClassVar[str] = "least squares"
    source: ClassVar[str] = (
        "Pahikkala, Airola, Suominen, Boberg and Salakoski (2008), "
        "Efficient AUC maximization with regularized least-squares"
    )
    summary: ClassVar[str] = (
        "Fits the score difference of every positive–negative pair to 2 by ridge regression; "
        "solved at once, without iterations."
    )

    regularization: float = param(
        0.1,
        "Weight of |w|² against the mean pair loss; larger is smoother.",
        label="Regularisation",
        symbol="λ",
        low=0.0,
        log=True,
        grid=tuple(2.0**k for k in range(-20, 11, 2)),
    )

    def _fit(self, X: Array, positive: Mask, monitor: Monitor) -> Fit:
        kernel = self.settle_kernel(X)
        if not kernel.is_linear:
            _refuse_large(len(X))
        lam = float(self.regularization)
        if kernel.is_linear and X.shape[1] <= len(X):
            scorer, objective, gap = _primal(X, positive, lam, monitor)
        else:
            scorer, objective, gap = _dual(kernel, X, positive, lam, monitor)
        monitor.step(1, objective, gap=gap, total=1, scorer=lambda: scorer)
        return Fit(scorer, objective, gap=gap)


def _refuse_large(rows: int) -> None:
    if rows > MOST_KERNEL_ROWS:
        raise InvalidSetting(
            "kernel",
            f"this kernel needs the {rows:,} × {rows:,} matrix of all rows, "
            f"{8 * rows**2 / 1e9:.1f} GB; beyond {MOST_KERNEL_ROWS:,} rows take the linear kernel "
            "or train on a sample of the rows",
        )


def _primal(
    X: Array, positive: Mask, lam: float, monitor: Monitor
) -> tuple[Scorer, float, float | None]:
    """Solve for the direction itself: (S + delta delta' + lambda) w = 2 delta (eq. 11 over mn).

    The gradient is -2 r with r the residual, and the objective curves by at least 2 lambda, so
    it exceeds its minimum by at most |2 r|^2 / (4 lambda).
    """
    delta, square = class_moments(X, positive, monitor)
    _add_products(square, delta[:, None], functools.partial(monitor.stage, "class moments", 1.0))
    noise = len(delta) * _EPS * float(np.trace(square))
    system = Symmetric(square, monitor)
    w = system.solve(lam, 2 * delta, noise)
    fitted = system @ w
    residual = 2 * delta - fitted - lam * w
    objective = 4 - 4 * (delta @ w) + w @ fitted + lam * (w @ w)
    return LinearScorer(w), float(objective), _over(float(residual @ residual), lam)


def class_moments(X: Array, positive: Mask, monitor: Monitor) -> tuple[Array, Array]:
    """Take class means and covariances in one pass over the rows.

    Rows are measured from the first row of their class: an offset far from 0 costs no digits,
    and a constant feature gives exact zeros.

    Returns
    -------
    delta : ndarray of shape (n_features,)
        Mean of the positives minus mean of the negatives.
    spread : ndarray of shape (n_features, n_features)
        Covariance of the positives plus that of the negatives, divisors m and n.
    """
    m, d = np.count_nonzero(positive), X.shape[1]
    share = 1 / np.sqrt(np.where(positive, m, len(X) - m))
    origins = X[[np.argmin(positive), np.argmax(positive)]]
    means, spread = np.zeros((2, d)), np.zeros((d, d))
    height = max(ROWS_PER_CHUNK, 100_000 // d)
    for start in range(0, len(X), height):
        rows = slice(start, start + height)
        Z = X[rows] - origins[positive[rows].astype(np.intp)]
        Z *= share[rows, None]
        means += (np.stack([~positive[rows], positive[rows]]) * share[rows]) @ Z
        look = functools.partial(monitor.stage, "class moments", start / len(X))
        _add_products(spread, Z.T, look)
    spread -= means.T @ means
    return origins[1] - origins[0] + means[1] - means[0], spread


def _dual(
    kernel: Kernel, X: Array, positive: Mask, lam: float, monitor: Monitor
) -> tuple[Scorer, float, float | None]:
    """Solve for the weights of the rows: a = R c with (R K R + lambda) c = R Y = 2 rho / |rho|.

    The symmetric form of eq. 8. With B = R K R and r the residual, the objective is
    |2 rho / |rho| - B c|^2 + lambda c' B c and its squared gradient in w is 4 r' B r.
    """
    order = np.argsort(~positive, kind="stable")
    m, n = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
    rho = np.concatenate([np.full(m, 1 / m), np.full(n, -1 / n)])
    target = 2 * rho / np.linalg.norm(rho)
    K = _gram(kernel, X, order, monitor)
    noise = len(X) * _EPS * float(rho @ rho) * float(np.abs(K.diagonal()).max())
    _mix_both_sides(K, m, monitor)
    system = Symmetric(K, monitor)
    c = system.solve(lam, target, noise)
    fitted = system @ c
    objective = np.sum((target - fitted) ** 2) + lam * (c @ fitted)
    residual = target - fitted - lam * c
    gap = _over(float(residual @ (system @ residual)), lam)
    _mix(c[None, :], m)
    weights = np.empty_like(c)
    weights[order] = c
    return _expansion(kernel, X, weights, monitor), float(objective), gap


def _over(squared: float, lam: float) -> float | None:
    return max(squared, 0.0) / lam if lam > 0 else None


def _gram(kernel: Kernel, X: Array, order: Index, monitor: Monitor) -> Array:
    """Compare all rows, in the given order.

    The weights of the rows sum to 0, so the linear kernel may measure them from any point. It is
    taken for more features than rows, and adds up over groups of features.
    """
    if not kernel.is_linear:
        points = X[order]
        return kernel(points, points, functools.partial(monitor.stage, "kernel matrix"))
    K = np.zeros((len(X), len(X)))
    for start in range(0, X.shape[1], BLOCK):
        cols = slice(start, start + BLOCK)
        look = functools.partial(monitor.stage, "kernel matrix", start / X.shape[1])
        _add_products(K, X[order, cols] - X[0, cols], look)
    return K


def _add_products(square: Array, Z: Array, look: Callable[[], None]) -> None:
    """Add Z Z' block by block, with a look at the monitor before each."""
    for start in range(0, len(Z), BLOCK):
        look()
        rows = slice(start, start + BLOCK)
        square[rows] += Z[rows] @ Z.T


def _expansion(kernel: Kernel, X: Array, weights: Array, monitor: Monitor) -> Scorer:
    if not kernel.is_linear:
        return trimmed(kernel, X, weights)
    w = np.empty(X.shape[1])
    for start in range(0, X.shape[1], BLOCK):
        monitor.stage("direction", start / X.shape[1])
        cols = slice(start, start + BLOCK)
        w[cols] = weights @ (X[:, cols] - X[0, cols])
    return LinearScorer(w)


def _mix_both_sides(K: Array, m: int, monitor: Monitor) -> None:
    """Replace K by R K R."""
    for view in (K, K.T):
        for start in range(0, len(K), ROWS_PER_CHUNK):
            monitor.stage("class centring", start / len(K))
            _mix(view[start : start + ROWS_PER_CHUNK], m)


def _mix(rows: Array, m: int) -> None:
    """Apply R to each row, in place and in time linear in its length."""
    n = rows.shape[1] - m
    pos, neg = rows[:, :m], rows[:, m:]
    p, q = pos.mean(axis=1, keepdims=True), neg.mean(axis=1, keepdims=True)
    tilt = (p - q) / np.sqrt(1 / m + 1 / n)
    pos -= p - tilt / np.sqrt(m)
    pos /= np.sqrt(m)
    neg -= q + tilt / np.sqrt(n)
    neg /= np.sqrt(n)
