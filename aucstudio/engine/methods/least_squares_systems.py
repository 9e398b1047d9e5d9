"""The two linear systems of regularised least squares, and the class moments behind them.

Moments are those of rows in memory or in blocks, weighted or not. Rows are measured from 0 where
that costs few digits, as it does for standardised features, in one pass. Otherwise they are
measured from the first row of their class, in another pass: an offset far from 0 then costs no
digits, and a constant feature gives exact zeros.

Symbols: K Gram matrix; R a matrix that scales and centres the rows ("mixing"); B = R'K R; t target;
lambda regularisation against a mean loss; a = R c weights of the rows.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
import scipy
from numpy.typing import ArrayLike

from aucstudio.engine.arrays import Array, Index, Mask, Rows
from aucstudio.engine.blocks import Passes
from aucstudio.engine.fit import Fit
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.linalg import Symmetric, chunks, nothing
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.scorers import LinearScorer, Scorer, trimmed

_ROWS_PER_PIECE, _NUMBERS_PER_PIECE = 512, 50_000  # the greater of both
_LEFT_OVER = 1e-3
_FEW = 128  # rows of a product that ends before anybody could request a stop


@dataclasses.dataclass
class Moments:
    """Weighted sums over rows of one class, measured from an origin.

    Attributes
    ----------
    origin, total : ndarray of shape (n_features,)
    square : ndarray of shape (n_features, n_features)
        Weighted sum of the products of the rows.
    weight : float
        Sum of the weights; the number of rows where each counts once.
    removed : ndarray of shape (n_features,) or float
        Diagonal of the squares that were subtracted.
    """

    origin: Array
    square: Array
    total: Array
    weight: float = 0.0
    removed: Array | float = 0.0

    @classmethod
    def about(cls, origin: Array) -> Moments:
        """Start with no rows."""
        return cls(origin, np.zeros((len(origin), len(origin))), np.zeros(len(origin)))

    def add(self, Z: Any, weights: Array | None, look: Callable[[], None]) -> None:
        """Add rows that are measured from the origin."""
        each = np.ones(Z.shape[0]) if weights is None else weights
        self.total += each @ Z
        self.weight += float(each.sum())
        if weights is not None:
            roots = np.sqrt(weights)[:, None]
            Z = Z.multiply(roots).tocsr() if scipy.sparse.issparse(Z) else Z * roots
        if scipy.sparse.issparse(Z):
            self.square += (Z.T @ Z).toarray()
        else:
            add_products(self.square, Z.T, look)

    def without(self, other: Moments) -> Moments:
        """Subtract the sums over some of the rows, measured from the same origin."""
        square, total = self.square - other.square, self.total - other.total
        removed = other.square.diagonal()
        return Moments(self.origin, square, total, self.weight - other.weight, removed)

    @property
    def mean(self) -> Array:
        """Mean of the class, measured from the origin."""
        return self.total / self.weight

    def scatter(self) -> Array:
        """Return the weighted sum of products about the mean."""
        return self.square - self.weight * np.outer(self.mean, self.mean)

    def keeps_digits(self) -> bool:
        """Return whether all that was subtracted costs at most three digits of every feature."""
        square = self.square.diagonal()
        left = square - self.weight * self.mean**2
        return bool((left >= _LEFT_OVER * (square + self.removed)).all())


Classes = tuple[Moments, Moments]
Pieces = Iterator[tuple[Any, Mask, Array | None]]


def class_moments(X: Rows, positive: Mask, weights: Array | None, monitor: Monitor) -> Classes:
    """Return the moments of the negatives and of the positives.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    positive : ndarray of shape (n_samples,)
    weights : ndarray of shape (n_samples,) or None
    monitor : Monitor
    """
    N = X.shape[0]
    height = max(_ROWS_PER_PIECE, _NUMBERS_PER_PIECE // X.shape[1])
    parts = [slice(None)] if scipy.sparse.issparse(X) else list(chunks(N, most=height))

    def pieces() -> Pieces:
        for rows in parts:
            yield X[rows], positive[rows], None if weights is None else weights[rows]

    return _moments(pieces, positive, functools.partial(monitor.stage, "class moments"))


def block_moments(passes: Passes) -> Classes:
    """Return the moments of the negatives and of the positives of rows in blocks."""

    def pieces() -> Pieces:
        for rows, X in passes.pieces():
            yield X, passes.positive[rows], None

    return _moments(pieces, passes.positive, nothing)


def moment_difference(classes: Classes) -> Array:
    """Return the mean of the positives less that of the negatives."""
    negative, positive = classes
    return positive.origin - negative.origin + positive.mean - negative.mean


def _moments(pieces: Callable[[], Pieces], positive: Mask, look: Callable[[], None]) -> Classes:
    """Add up both classes: from 0 if that keeps their digits, else from a row of each."""
    is_rarer = bool(2 * np.count_nonzero(positive) <= len(positive))
    classes = _sums_from_zero(pieces(), is_rarer, look)
    if classes is not None and all(one.keeps_digits() for one in classes):
        return classes
    found: dict[bool, Moments] = {}
    for X, of_piece, weights in pieces():
        for label in (False, True):
            mine = np.flatnonzero(of_piece == label)
            if len(mine):
                Z = X[mine]
                if label not in found:
                    found[label] = Moments.about(Z[0].copy())
                Z -= found[label].origin
                found[label].add(Z, None if weights is None else weights[mine], look)
    return found[False], found[True]


def _sums_from_zero(pieces: Pieces, rarer: bool, look: Callable[[], None]) -> Classes | None:
    """Add up both classes from 0; None as soon as rows are found to be far from it.

    All rows are added where they lie and the rarer class is subtracted: only its rows are copied.
    """
    sums: Classes | None = None  # of all rows, and of the rarer class
    for X, of_piece, weights in pieces:
        if sums is None:
            if not scipy.sparse.issparse(X):
                squares = np.einsum("ij,ij->j", X, X)
                if (squares < 2 * len(X) * X.mean(axis=0) ** 2).any():  # farther off than it varies
                    return None
            sums = Moments.about(np.zeros(X.shape[1])), Moments.about(np.zeros(X.shape[1]))
        sums[0].add(X, weights, look)
        mine = np.flatnonzero(of_piece == rarer)
        if len(mine):
            sums[1].add(X[mine], None if weights is None else weights[mine], look)
    assert sums is not None
    rest = sums[0].without(sums[1])
    return (rest, sums[1]) if rarer else (sums[1], rest)


def add_products(square: Array, Z: Array, look: Callable[[], None]) -> None:
    """Add Z Z' block by block; ``look`` is called before each."""
    for rows in chunks(len(Z)) if len(Z) > _FEW else (slice(None),):
        look()
        square[rows] += Z[rows] @ Z.T


RELATIVE_GAP = 1e-6

_EPS = float(np.finfo(float).eps)


class System(Protocol):
    """A loss on given rows, to be minimised at one regularisation after another."""

    def solve(self, lam: float, monitor: Monitor) -> Fit:
        """Minimise it.

        The gap is None if ``lam`` is 0, or so small that no certificate could be computed.
        """


class DirectionSystem:
    """``constant - 2 pull.w + w'(square)w + lam |w|^2``, minimised over the direction w.

    The gradient is -2 r with r the residual of the normal equations, and the objective curves
    by at least 2 lam, so it exceeds its minimum by at most |2 r|^2 / (4 lam).

    Parameters
    ----------
    square : ndarray of shape (n_features, n_features)
        Positive semidefinite; overwritten.
    pull : ndarray of shape (n_features,)
    constant : float
    """

    def __init__(self, square: Array, pull: Array, constant: float) -> None:
        self._pull, self._constant = pull, constant
        self._noise = len(pull) * _EPS * float(np.trace(square))
        self._system = Symmetric(square)

    def solve(self, lam: float, monitor: Monitor) -> Fit:
        monitor.stage("factorisation")
        w = self._system.solve(lam, self._pull, self._noise)
        monitor.stage("solving")
        fitted = self._system @ w
        residual = self._pull - fitted - lam * w
        objective = self._constant - 2 * (self._pull @ w) + w @ fitted + lam * (w @ w)
        squared = float(residual @ residual)
        return _fit(LinearScorer(w), float(objective), squared, lam, self._noise)


@dataclasses.dataclass(frozen=True)
class Mixing:
    """How a loss orders, scales and centres the rows: the matrix R = diag(roots) Q.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        Rows in the order of ``roots`` and of what ``apply`` expects.
    roots : ndarray of shape (n_samples,)
        Square roots of the shares of the rows in the weight of their class, or of all rows.
    apply : callable
        Applies Q, which is symmetric, to each row of a matrix, in place.
    size : float
        Bound on the squared row norms of R.
    centred : bool
        Whether weights of the form R c sum to 0.
    """

    order: Index
    roots: Array
    apply: Callable[[Array], None]
    size: float
    centred: bool

    def origin(self, X: Array) -> Array:
        """Return the point from which a linear kernel measures; any does if weights sum to 0."""
        free = self.centred and not scipy.sparse.issparse(X)
        return X[0] if free else np.zeros(X.shape[1])

    def both_sides(self, K: Array, monitor: Monitor) -> None:
        """Replace K, in this order of the rows, by R' K R."""
        K *= self.roots
        K *= self.roots[:, None]
        for view in (K, K.T):
            for rows in chunks(len(K)):
                monitor.stage("class centring", rows.start / len(K))
                self.apply(view[rows])

    def weights(self, c: Array) -> Array:
        """Compute R c in the order in which the rows came; ``c`` is overwritten."""
        self.apply(c[None, :])
        c *= self.roots
        weights = np.empty_like(c)
        weights[self.order] = c
        return weights


def pair_mixing(positive: Mask, weights: Array | None) -> tuple[Mixing, Array]:
    """Return the mixing R of the pair loss, and its target R'Y = sqrt(2) u.

    The pair of rows i and j weighs p_i q_j, p and q being shares in their classes. With a and b
    the roots of p and q and u = (a, -b), the paper's matrix over mn is D Q Q D with D = diag(a, b)
    and Q = I - aa' - bb' + uu' / |u|, |u| = sqrt(2); and Q u = sqrt(2) u.
    """
    order = np.argsort(~positive, kind="stable")
    each = np.ones(len(positive)) if weights is None else weights[order]
    m = int(np.count_nonzero(positive))
    roots = np.sqrt(np.concatenate([part / part.sum() for part in (each[:m], each[m:])]))
    apply = functools.partial(_mix, roots=roots, m=m)
    u = np.concatenate([roots[:m], -roots[m:]])
    return Mixing(order, roots, apply, 2 * float((roots**2).max()), True), np.sqrt(2.0) * u


def _mix(rows: Array, roots: Array, m: int) -> None:
    """Apply Q to each row, in place and in time linear in its length."""
    a, b = roots[:m], roots[m:]
    along_a, along_b = rows[:, :m] @ a, rows[:, m:] @ b
    tilt = (along_a - along_b) / np.sqrt(2.0)
    rows[:, :m] -= (along_a - tilt)[:, None] * a
    rows[:, m:] -= (along_b + tilt)[:, None] * b


class RowsSystem:
    """``|t - B c|^2 + lam c'Bc`` with B = R'K R, minimised over the mixed weights of the rows.

    It is minimal where (B + lam) c = t; with r the residual of that, the squared gradient in
    the direction is 4 r'Br.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (n_samples, n_features)
    mixing : Mixing
    target : ndarray of shape (n_samples,)
        In the order of ``mixing``.
    monitor : Monitor
    """

    def __init__(
        self, kernel: Kernel, X: Array, mixing: Mixing, target: Array, monitor: Monitor
    ) -> None:
        self._kernel, self._X, self._mixing, self._target = kernel, X, mixing, target
        self._origin = mixing.origin(X)
        K = kernel_products(kernel, X, mixing.order, self._origin, monitor)
        self._noise = len(K) * _EPS * mixing.size * float(np.abs(K.diagonal()).max())
        mixing.both_sides(K, monitor)
        self._system = Symmetric(K)

    def solve(self, lam: float, monitor: Monitor) -> Fit:
        monitor.stage("factorisation")
        c = self._system.solve(lam, self._target, self._noise)
        monitor.stage("solving")
        fitted = self._system @ c
        objective = np.sum((self._target - fitted) ** 2) + lam * (c @ fitted)
        residual = self._target - fitted - lam * c
        squared = float(residual @ (self._system @ residual))
        weights = self._mixing.weights(c)
        scorer = _expansion(self._kernel, self._X, self._origin, weights, monitor)
        return _fit(scorer, float(objective), squared, lam, self._noise)


def _fit(scorer: Scorer, objective: float, squared: float, lam: float, noise: float) -> Fit:
    gap = max(squared, 0.0) / lam if lam > noise * _EPS else None
    return Fit(scorer, objective, gap=gap, needed=RELATIVE_GAP * objective)


def kernel_products(
    kernel: Kernel, X: Array, order: Index, origin: Array, monitor: Monitor
) -> Array:
    """Compare all rows, in the given order; the linear kernel measures them from ``origin``.

    That one is taken for more features than rows, and adds up over groups of features.
    """
    if not kernel.is_linear:
        points = X[order]
        return kernel(points, points, functools.partial(monitor.stage, "kernel matrix"))
    if scipy.sparse.issparse(X):
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
    if scipy.sparse.issparse(X):
        return LinearScorer(X.T @ weights)
    w = np.empty(X.shape[1])
    for cols in chunks(X.shape[1]):
        monitor.stage("direction", cols.start / X.shape[1])
        w[cols] = weights @ (X[:, cols] - origin[cols])
    return LinearScorer(w)


def positive_values(regularizations: ArrayLike) -> Array:
    """Read one or more positive numbers, or raise ValueError."""
    values = np.atleast_1d(np.asarray(regularizations, float))
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError("Every regularisation must be a positive number.")
    return values
