"""The two linear systems behind regularised least squares: one for the direction, one for rows.

Symbols: K Gram matrix; R a symmetric matrix that centres and scales the rows ("mixing");
B = R K R; t target; lambda regularisation against a mean loss; a = R c weights of the rows.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from aucstudio.engine.kernels import Kernel
from aucstudio.engine.linalg import Symmetric, chunks
from aucstudio.engine.methods.least_squares._class_moments import add_products
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.scorers import LinearScorer, Scorer, trimmed
from aucstudio.engine.types import Array, Index, Mask

Solution = tuple[Scorer, float, float | None]

_EPS = float(np.finfo(float).eps)


def solve_direction(
    square: Array, pull: Array, constant: float, lam: float, monitor: Monitor
) -> Solution:
    """Minimise ``constant - 2 pull.w + w'(square)w + lam |w|^2`` over the direction w.

    The gradient is -2 r with r the residual of the normal equations, and the objective curves
    by at least 2 lam, so it exceeds its minimum by at most |2 r|^2 / (4 lam).

    Parameters
    ----------
    square : ndarray of shape (n_features, n_features)
        Positive semidefinite; overwritten.
    pull : ndarray of shape (n_features,)
    constant, lam : float
    monitor : Monitor

    Returns
    -------
    scorer : Scorer
    objective : float
    gap : float or None
        Upper bound on the objective minus its minimum; None if ``lam`` is 0, or so small
        that no certificate could be computed.
    """
    noise = len(pull) * _EPS * float(np.trace(square))
    system = Symmetric(square)
    monitor.stage("factorisation")
    w = system.solve(lam, pull, noise)
    monitor.stage("solving")
    fitted = system @ w
    residual = pull - fitted - lam * w
    objective = constant - 2 * (pull @ w) + w @ fitted + lam * (w @ w)
    return LinearScorer(w), float(objective), _over(float(residual @ residual), lam, noise)


@dataclasses.dataclass(frozen=True)
class Mixing:
    """How a loss orders, centres and scales the rows: the matrix R.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        Rows in the order that ``apply`` expects.
    apply : callable
        Applies R to each row of a matrix, in place.
    size : float
        Bound on the squared row norms of R.
    centred : bool
        Whether weights of the form R c sum to 0.
    """

    order: Index
    apply: Callable[[Array], None]
    size: float
    centred: bool

    def origin(self, X: Array) -> Array:
        """Give the point from which a linear kernel measures; any does if weights sum to 0."""
        free = self.centred and not sparse.issparse(X)
        return X[0] if free else np.zeros(X.shape[1])

    def both_sides(self, K: Array, monitor: Monitor) -> None:
        """Replace K, in this order of the rows, by R K R."""
        for view in (K, K.T):
            for rows in chunks(len(K)):
                monitor.stage("class centring", rows.start / len(K))
                self.apply(view[rows])

    def weights(self, c: Array) -> Array:
        """Compute R c in the order in which the rows came; ``c`` is overwritten."""
        self.apply(c[None, :])
        weights = np.empty_like(c)
        weights[self.order] = c
        return weights


def pair_mixing(positive: Mask) -> tuple[Mixing, Array]:
    """Give the mixing R of the pair loss, and its target R Y = 2 rho / |rho|."""
    m = int(np.count_nonzero(positive))
    n = len(positive) - m
    rho = np.concatenate([np.full(m, 1 / m), np.full(n, -1 / n)])
    order = np.argsort(~positive, kind="stable")
    mixing = Mixing(order, functools.partial(_mix, m=m), float(rho @ rho), centred=True)
    return mixing, 2 * rho / np.linalg.norm(rho)


def _mix(rows: Array, m: int) -> None:
    """Apply R of the pair loss to each row, in place and in time linear in its length."""
    n = rows.shape[1] - m
    pos, neg = rows[:, :m], rows[:, m:]
    p, q = pos.mean(axis=1, keepdims=True), neg.mean(axis=1, keepdims=True)
    tilt = (p - q) / np.sqrt(1 / m + 1 / n)
    pos -= p - tilt / np.sqrt(m)
    pos /= np.sqrt(m)
    neg -= q + tilt / np.sqrt(n)
    neg /= np.sqrt(n)


def solve_rows(
    kernel: Kernel, X: Array, mixing: Mixing, target: Array, lam: float, monitor: Monitor
) -> Solution:
    """Minimise ``|t - B c|^2 + lam c'Bc`` over the mixed weights of the rows, with B = R K R.

    It is minimal where (B + lam) c = t; with r the residual of that, the squared gradient in
    the direction is 4 r'Br.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (n_samples, n_features)
    mixing : Mixing
    target : ndarray of shape (n_samples,)
        In the order of ``mixing``.
    lam : float
    monitor : Monitor

    Returns
    -------
    scorer : Scorer
    objective : float
    gap : float or None
        As for :func:`solve_direction`.
    """
    origin = mixing.origin(X)
    K = gram(kernel, X, mixing.order, origin, monitor)
    noise = len(K) * _EPS * mixing.size * float(np.abs(K.diagonal()).max())
    mixing.both_sides(K, monitor)
    system = Symmetric(K)
    monitor.stage("factorisation")
    c = system.solve(lam, target, noise)
    monitor.stage("solving")
    fitted = system @ c
    objective = np.sum((target - fitted) ** 2) + lam * (c @ fitted)
    residual = target - fitted - lam * c
    gap = _over(float(residual @ (system @ residual)), lam, noise)
    return _expansion(kernel, X, origin, mixing.weights(c), monitor), float(objective), gap


def _over(squared: float, lam: float, noise: float) -> float | None:
    return max(squared, 0.0) / lam if lam > noise * _EPS else None


def gram(kernel: Kernel, X: Array, order: Index, origin: Array, monitor: Monitor) -> Array:
    """Compare all rows, in the given order; the linear kernel measures them from ``origin``.

    That one is taken for more features than rows, and adds up over groups of features.
    """
    if not kernel.is_linear:
        points = X[order]
        return kernel(points, points, functools.partial(monitor.stage, "kernel matrix"))
    if sparse.issparse(X):
        rows: Any = X[order]
        products: Array = (rows @ rows.T).toarray()
        return products
    K = np.zeros((len(X), len(X)))
    for cols in chunks(X.shape[1]):
        look = functools.partial(monitor.stage, "kernel matrix", cols.start / X.shape[1])
        add_products(K, X[order, cols] - origin[cols], look)
    return K


def _expansion(kernel: Kernel, X: Array, origin: Array, weights: Array, monitor: Monitor) -> Scorer:
    if not kernel.is_linear:
        return trimmed(kernel, X, weights)
    if sparse.issparse(X):
        return LinearScorer(X.T @ weights)
    w = np.empty(X.shape[1])
    for cols in chunks(X.shape[1]):
        monitor.stage("direction", cols.start / X.shape[1])
        w[cols] = weights @ (X[:, cols] - origin[cols])
    return LinearScorer(w)


def ordered_gram(data: Array, order: Index, kernel: Kernel | None, monitor: Monitor) -> Array:
    """Compute the Gram matrix of the rows, or copy the one given, with its rows in order."""
    if kernel is None:
        given: Array = data[np.ix_(order, order)]
        return given
    return gram(kernel, data, order, data[0], monitor)


def eigensystem(K: Array, noise: float) -> tuple[Array, Array]:
    """Decompose a positive semidefinite matrix; eigenvalues within its rounding errors are 0.

    One numpy call: it lets other threads run, but cannot be interrupted.
    """
    values, vectors = np.linalg.eigh(K, UPLO="U")
    values[values <= max(noise, len(K) * _EPS * values[-1])] = 0.0
    return values, vectors


def positive_values(regularizations: ArrayLike) -> Array:
    """Read one or more positive numbers, or raise ValueError."""
    values = np.atleast_1d(np.asarray(regularizations, float))
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError("Every regularisation must be a positive number.")
    return values
