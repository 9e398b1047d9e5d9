"""The rows of a ranking problem as vectors: scores, their transpose, lengths, and conditioning.

Symbols: x row as a vector; w direction; u scores <w, x>; H = I + C X' L'' X Hessian of
|w|^2 / 2 + C L(u).
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucstudio.engine.solvers.cutting_plane import Rows
from aucstudio.engine.squared_hinge import SquaredHinge, SquaredHingePoint

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


class RowsDesign(Design):
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
        for start in range(0, len(c), _ROWS_PER_CHUNK):
            rows = slice(start, start + _ROWS_PER_CHUNK)
            total += c[rows] @ X[rows]
        return total

    def preconditioner(self, hinge: SquaredHinge, pause: Pause) -> Preconditioner:
        """Give the inverse of H on a sample of the rows, or of its diagonal for many features.

        A sample of all rows, where there are few, makes the solver the exact Newton method.
        """
        if self._sparse or self.size > MOST_SAMPLED_FEATURES:
            return self._by_diagonal(hinge, pause)
        most = max(_LEAST_SAMPLED_ROWS, _SAMPLED_ROWS_PER_FEATURE * self.size)
        sample = _sample(hinge, most)
        rows, part = self._X[sample], SquaredHinge(hinge.is_positive[sample])

        def prepare(C: float, u: Array, point: SquaredHingePoint) -> Precondition:
            H = C * part.at(hinge.sign * u[sample]).gram(rows, pause)
            H[np.diag_indices(self.size)] += 1.0
            return functools.partial(np.matmul, np.linalg.inv(H))

        return prepare

    def _by_diagonal(self, hinge: SquaredHinge, pause: Pause) -> Preconditioner:
        spread = self._pair_spread(hinge, pause)

        def prepare(C: float, u: Array, point: SquaredHingePoint) -> Precondition:
            return functools.partial(np.multiply, 1.0 / (1.0 + 2.0 * C * point.active * spread))

        return prepare

    def _pair_spread(self, hinge: SquaredHinge, pause: Pause) -> Array:
        """Give the mean square, over all pairs, of the difference of each feature."""
        shares, X = np.zeros((2, len(hinge.is_positive))), self._X
        shares[0, hinge.positives] = 1.0 / len(hinge.positives)
        shares[1, hinge.negatives] = 1.0 / len(hinge.negatives)
        if self._sparse:
            means, squares = shares @ X, shares @ X.power(2)
        else:
            means, squares = np.zeros((2, 2, self.size))
            for start in range(0, X.shape[0], _ROWS_PER_CHUNK):
                rows = slice(start, start + _ROWS_PER_CHUNK)
                Z = X[rows].astype(np.float64)
                means += shares[:, rows] @ Z
                squares += shares[:, rows] @ np.square(Z, out=Z)
                pause()
        spread: Array = squares.sum(axis=0) - 2.0 * means[0] * means[1]
        return np.maximum(spread, 0.0)


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


def _sample(hinge: SquaredHinge, most: int) -> Index:
    """Take at most so many rows of each class, evenly spaced."""
    chosen = [rows[:: -(-len(rows) // most)] for rows in (hinge.positives, hinge.negatives)]
    return np.sort(np.concatenate(chosen))


def _unchanged(r: Array) -> Array:
    return r
