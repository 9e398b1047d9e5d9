"""The rows of a ranking problem as vectors: scores, their transpose, lengths, and conditioning.

Symbols: x row as a vector; w direction; u scores <w, x>; H = I + C X' L'' X Hessian of
|w|^2 / 2 + C L(u).
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucstudio.engine.blocks import Parts, Passes
from aucstudio.engine.losses.squared_hinge import SquaredHinge, SquaredHingePoint
from aucstudio.engine.solvers.cutting_plane import Rows

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Pause = Callable[[], None]
Precondition: TypeAlias = Callable[[Array], Array]
Preconditioner: TypeAlias = Callable[[float, Array, SquaredHingePoint], Precondition]

MOST_SAMPLED_FEATURES = 256

_SAMPLED_ROWS_PER_FEATURE = 32
_LEAST_SAMPLED_ROWS = 1_000
_ROWS_PER_CHUNK = 4_096


class Design:
    """What the solver needs to know of the rows as vectors x: scores, their transpose, lengths."""

    size: int

    @abstractmethod
    def lift(self, w: Array) -> Array:
        """Give the scores <w, x> of all rows."""

    @abstractmethod
    def pull(self, c: Array) -> Array:
        """Give the vector sum_i c_i x_i."""

    def dot(self, a: Array, b: Array, b_scores: Array) -> float:
        """Give <a, b>, the scores of b being known."""
        return float(a @ b)

    def square(self, a: Array) -> float:
        """Give <a, a>."""
        return float(a @ a)

    def preconditioner(self, hinge: SquaredHinge, pause: Pause) -> Preconditioner:
        """Give what makes an approximate inverse of H at a point."""
        return lambda C, u, point: _unchanged


class _VectorDesign(Design):
    """Rows that can be had as numbers: sums over all of them, or a sample."""

    @abstractmethod
    def _take(self, sample: Index) -> NDArray[Any]:
        """Give some rows."""

    def preconditioner(self, hinge: SquaredHinge, pause: Pause) -> Preconditioner:
        """Give the inverse of H on a sample of the rows, or of its diagonal for many features.

        A sample of all rows, where there are few, makes the solver the exact Newton method.
        """
        if self.size > MOST_SAMPLED_FEATURES:
            return self._by_diagonal(hinge, pause)
        most = max(_LEAST_SAMPLED_ROWS, _SAMPLED_ROWS_PER_FEATURE * self.size)
        sample = _sample(hinge, most)
        rows, part = self._take(sample), SquaredHinge(hinge.is_positive[sample])

        def prepare(C: float, u: Array, point: SquaredHingePoint) -> Precondition:
            H = C * part.at(hinge.sign * u[sample]).gram(rows, pause)
            H[np.diag_indices(self.size)] += 1.0
            return functools.partial(np.matmul, np.linalg.inv(H))

        return prepare

    def _by_diagonal(self, hinge: SquaredHinge, pause: Pause) -> Preconditioner:
        shares = np.zeros((2, len(hinge.is_positive)))
        shares[0, hinge.positives] = 1.0 / len(hinge.positives)
        shares[1, hinge.negatives] = 1.0 / len(hinge.negatives)
        spread = self._pair_spread(shares, pause)

        def prepare(C: float, u: Array, point: SquaredHingePoint) -> Precondition:
            return functools.partial(np.multiply, 1.0 / (1.0 + 2.0 * C * point.active * spread))

        return prepare

    @abstractmethod
    def _pair_spread(self, shares: Array, pause: Pause) -> Array:
        """Give the mean square, over all pairs, of the difference of each feature.

        ``shares`` are the weights of the rows in the means of the positives and the negatives.
        """


class RowsDesign(_VectorDesign):
    """Rows of numbers, in double or single precision, or sparse.

    Products of single precision rows are summed in double precision over chunks of rows.
    """

    def __init__(self, X: Rows | NDArray[np.float32]) -> None:
        self._X: Any = X
        self._sparse = sparse.issparse(X)
        self.size = X.shape[1]

    def lift(self, w: Array) -> Array:
        scores: Array = (self._X @ w.astype(self._X.dtype)).astype(np.float64, copy=False)
        return scores

    def pull(self, c: Array) -> Array:
        X, c = self._X, c.astype(self._X.dtype, copy=False)
        if self._sparse or X.dtype == np.float64:
            product: Array = X.T @ c
            return product
        total = np.zeros(self.size)
        for rows, Z in self._pieces():
            total += c[rows] @ Z
        return total

    def preconditioner(self, hinge: SquaredHinge, pause: Pause) -> Preconditioner:
        """See the base class; for sparse rows the diagonal, whatever their number."""
        if self._sparse:
            return self._by_diagonal(hinge, pause)
        return super().preconditioner(hinge, pause)

    def _pieces(self) -> Iterator[tuple[slice, NDArray[Any]]]:
        for start in range(0, self._X.shape[0], _ROWS_PER_CHUNK):
            rows = slice(start, start + _ROWS_PER_CHUNK)
            yield rows, self._X[rows]

    def _take(self, sample: Index) -> NDArray[Any]:
        rows: NDArray[Any] = self._X[sample]
        return rows

    def _pair_spread(self, shares: Array, pause: Pause) -> Array:
        if self._sparse:
            return _spread(shares @ self._X, shares @ self._X.power(2))
        sums = np.zeros((2, 2, self.size))
        for rows, X in self._pieces():
            _add_powers(sums, X, shares[:, rows])
            pause()
        return _spread(*sums)


class BlocksDesign(_VectorDesign):
    """Rows that come in blocks, as they are or as features that are made of them on the way.

    Every product is one pass over the blocks; so is the sample for the preconditioner.

    Parameters
    ----------
    passes : Passes
    size : int
        Number of features.
    features : callable
        Makes the features of some rows.
    """

    def __init__(
        self, passes: Passes, size: int, features: Callable[[Array], NDArray[Any]]
    ) -> None:
        self._passes, self._features, self.size = passes, features, size

    def lift(self, w: Array) -> Array:
        scores = np.empty(len(self._passes))
        features = self._features

        def lifted(pieces: Parts) -> list[tuple[Index, Array]]:
            return [(rows, RowsDesign(X).lift(w)) for rows, X in _chunks(pieces, features)]

        for part in self._passes.over(lifted):
            for rows, of_rows in part:
                scores[rows] = of_rows
        return scores

    def pull(self, c: Array) -> Array:
        size, features = self.size, self._features

        def pulled(pieces: Parts) -> Array:
            total = np.zeros(size)
            for _, X, weights in _chunks(pieces, features):
                total += RowsDesign(X).pull(weights)
            return total

        found: Array = sum(self._passes.over(pulled, c), np.zeros(size))
        return found

    def _take(self, sample: Index) -> NDArray[Any]:
        return self._features(self._passes.take(sample))

    def _pair_spread(self, shares: Array, pause: Pause) -> Array:
        size, features = self.size, self._features

        def powers(pieces: Parts) -> Array:
            sums = np.zeros((2, 2, size))
            for _, X, *weights in _chunks(pieces, features):
                _add_powers(sums, X, np.stack(weights))
            return sums

        zero: Array = np.zeros((2, 2, size))
        return _spread(*sum(self._passes.over(powers, *shares), zero))


class KernelDesign(Design):
    """Rows in the space of a kernel, x_i = k(row_i, .); a vector is its weights of the rows.

    Newton's method in that space, hence as well conditioned as in features phi with
    K = phi phi', at the price of one product with K for each Hessian product, and no factor.

    Parameters
    ----------
    K : ndarray of shape (N, N)
    """

    def __init__(self, K: Array) -> None:
        self._K = K
        self.size = len(K)

    def lift(self, w: Array) -> Array:
        return self._K @ w

    def pull(self, c: Array) -> Array:
        return c

    def dot(self, a: Array, b: Array, b_scores: Array) -> float:
        return float(a @ b_scores)

    def square(self, a: Array) -> float:
        return max(float(a @ (self._K @ a)), 0.0)


def _chunks(pieces: Parts, features: Callable[[Array], NDArray[Any]]) -> Parts:
    """Make the features of pieces, chunk by chunk: they may be far more than a row's numbers."""
    for rows, X, *columns in pieces:
        for start in range(0, len(rows), _ROWS_PER_CHUNK):
            chunk = slice(start, start + _ROWS_PER_CHUNK)
            yield rows[chunk], features(X[chunk]), *(column[chunk] for column in columns)


def _sample(hinge: SquaredHinge, most: int) -> Index:
    """Take at most so many rows of each class, evenly spaced."""
    chosen = [rows[:: -(-len(rows) // most)] for rows in (hinge.positives, hinge.negatives)]
    return np.sort(np.concatenate(chosen))


def _add_powers(sums: Array, X: NDArray[Any], weights: Array) -> None:
    """Add the weighted sums of some rows and of their squares."""
    Z = X.astype(np.float64)
    sums[0] += weights @ Z
    sums[1] += weights @ np.square(Z, out=Z)


def _spread(means: Array, squares: Array) -> Array:
    """Give the mean square of pair differences from the means and mean squares of the classes."""
    spread: Array = squares.sum(axis=0) - 2.0 * means[0] * means[1]
    return np.maximum(spread, 0.0)


def _unchanged(r: Array) -> Array:
    return r
