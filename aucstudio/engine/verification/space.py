"""Feature space of a scorer, rebuilt from rows and settings.

Symbols: Z features of the training rows, in which scorers are linear; K = Z Z' kernel matrix;
w direction of a scorer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from aucstudio.engine.arrays import Array, Rows, portions
from aucstudio.engine.scorers import FourierScorer, KernelScorer, LinearScorer, Scorer
from aucstudio.engine.verification.counting import UnverifiableError
from aucstudio.notices import text

MOST_KERNEL_ROWS = 2_500
_LANDMARK_FLOOR = 1e-10  # of eigenvalues of the landmarks, as the feature map declares it
_ROUNDING = 1e-13
_CELLS = 1 << 20
_MOST_DENSE = 20_000_000  # cells of sparse rows, which are some copies of 160 MB


@dataclasses.dataclass(frozen=True, eq=False)
class RemadeSpace:
    """Features of the training rows, and the size of a scorer in them.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (N, d)
        Prepared training rows.
    params : mapping
        The method's settings.
    scorer : Scorer
    centre : bool
        Whether a shift of the features changes nothing, so that they are shifted to their mean.
    """

    X: Rows
    params: Mapping[str, Any]
    scorer: Scorer
    centre: bool

    def norm(self) -> float:
        """Return |w|^2 of the scorer."""
        scorer = self.scorer
        if isinstance(scorer, LinearScorer | FourierScorer):
            w = scorer.weights.astype(np.longdouble)
            return float(w @ w * (len(w) if isinstance(scorer, FourierScorer) else 1))
        if not isinstance(scorer, KernelScorer):
            raise TypeError(f"{scorer.kind} has no norm")
        a, points, total = scorer.weights, scorer.points, np.longdouble(0)
        for rows in portions(len(points), len(points), _CELLS):
            products = (a[rows, None] * self.kernel(points[rows], points)) * a[None, :]
            total += products.astype(np.longdouble).sum()
        return float(total)

    @cached_property
    def features(self) -> Array:
        """Z, shape (N, r).

        Raises
        ------
        UnverifiableError
        """
        Z = self._features()
        return Z - Z.mean(axis=0) if self.centre else Z

    def _features(self) -> Array:
        X, scorer = self.rows, self.scorer
        if isinstance(scorer, FourierScorer):
            angles = (X - X.mean(axis=0)) @ scorer.frequencies.T.astype(float)
            both = np.hstack([np.cos(angles), np.sin(angles)])
            return np.asarray(both / np.sqrt(len(scorer.frequencies)))
        if self._has_landmarks:
            assert isinstance(scorer, KernelScorer)
            directions = _roots(self.kernel(scorer.points, scorer.points), _LANDMARK_FLOOR, -0.5)
            return np.asarray(self.kernel(X, scorer.points) @ directions)
        if self._is_linear and X.shape[1] <= len(X):
            return X
        if len(X) > MOST_KERNEL_ROWS:
            raise UnverifiableError(
                text("kernel_matrix_too_large", rows=len(X), most=MOST_KERNEL_ROWS)
            )
        near = X - X.mean(axis=0) if self._is_linear and self.centre else X
        return _roots(self.kernel(near, near), _ROUNDING, 0.5)

    @cached_property
    def rows(self) -> Array:
        """X as a dense array."""
        X = self.X
        if isinstance(X, np.ndarray):
            return X
        if X.shape[0] * X.shape[1] > _MOST_DENSE:
            raise UnverifiableError(text("too_many_cells", rows=X.shape[0], features=X.shape[1]))
        return np.asarray(X.toarray())

    @property
    def _has_landmarks(self) -> bool:
        if not isinstance(self.scorer, KernelScorer) or "n_landmarks" not in self.params:
            return False
        return self.params["n_landmarks"] is not None or self.X.shape[0] > 3_000

    @property
    def _is_linear(self) -> bool:
        kernel = self.params.get("kernel", "linear")
        return kernel == "linear" and isinstance(self.scorer, LinearScorer)

    @cached_property
    def _gamma(self) -> float:
        gamma = self.params.get("gamma", 1.0)
        if not isinstance(gamma, str):
            return float(gamma)
        spread = float(np.var(self.rows)) if gamma == "scale" else 1.0
        return float(1.0 / (self.X.shape[1] * (spread or 1.0)))

    def kernel(self, A: Array, B: Array) -> Array:
        """Return k(A, B), distances summed feature by feature."""
        kind = self.params.get("kernel", "linear" if self._is_linear else "rbf")
        if kind == "rbf":
            return np.asarray(np.exp(-self._gamma * squared_distances(A, B)))
        if kind == "linear":
            return np.asarray(A @ B.T)
        degree, constant = self.params.get("degree", 3), self.params.get("coef0", 1.0)
        return np.asarray((self._gamma * (A @ B.T) + constant) ** degree)


def squared_distances(A: Array, B: Array) -> Array:
    """Return |a - b|^2 of all rows, summed over differences."""
    found = np.empty((len(A), len(B)))
    for rows in portions(len(A), B.size, _CELLS):
        part = A[rows, None, :] - B[None, :, :]
        found[rows] = np.einsum("ijk,ijk->ij", part, part)
    return found


def _roots(K: Array, floor: float, power: float) -> Array:
    """Return eigenvectors of K times a power of their eigenvalues, but for the smallest."""
    values, V = np.linalg.eigh(K)
    kept = values > floor * max(values[-1], 0.0)
    return np.asarray(V[:, kept] * values[kept] ** power)
