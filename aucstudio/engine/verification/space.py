"""The space that a scorer lives in, made again from the rows and the settings alone.

Symbols: Z features of the training rows, in which scorers are linear; K = Z Z' kernel matrix;
phi(x) the features of a map with landmarks or waves; w direction of a scorer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.scorers import FourierScorer, KernelScorer, LinearScorer, Scorer
from aucstudio.engine.types import Rows

Array = NDArray[np.float64]

MOST_KERNEL_ROWS = 2_500
_FLOOR = 1e-10  # of eigenvalues of the landmarks, as the feature map declares it
_ROUNDING = 1e-13
_CELLS = 1 << 20
_MOST_WRITTEN = 20_000_000  # cells of sparse rows, which are some copies of 160 MB


class UnverifiableError(ValueError):
    """It cannot be verified here: it would not fit in memory, take hours, or is open."""


@dataclasses.dataclass(frozen=True, eq=False)
class RemadeSpace:
    """Features of the training rows, and what a scorer weighs in them.

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

    @property
    def approximates(self) -> bool:
        """Whether landmarks or waves stand for the kernel: the scorer alone knows them."""
        if isinstance(self.scorer, FourierScorer):
            return True
        if not isinstance(self.scorer, KernelScorer) or "n_landmarks" not in self.params:
            return False
        return self.params["n_landmarks"] is not None or self.X.shape[0] > 3_000

    def norm(self) -> float:
        """Give |w|^2 of the scorer."""
        scorer = self.scorer
        if isinstance(scorer, LinearScorer):
            w = scorer.weights.astype(np.longdouble)
            return float(w @ w)
        if isinstance(scorer, FourierScorer):
            a = scorer.weights.astype(np.longdouble)
            return float(a @ a) * len(a)
        if isinstance(scorer, KernelScorer):
            return quadratic_form(self.kernel, scorer.points, scorer.weights)
        raise TypeError(f"{scorer.kind} has no norm")

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
        X, scorer = self._written_out(), self.scorer
        if isinstance(scorer, FourierScorer):
            angles = (X - X.mean(axis=0)) @ scorer.frequencies.T.astype(float)
            both = np.hstack([np.cos(angles), np.sin(angles)])
            return np.asarray(both / np.sqrt(len(scorer.frequencies)))
        if self.approximates:
            assert isinstance(scorer, KernelScorer)
            values, V = np.linalg.eigh(self.kernel(scorer.points, scorer.points))
            kept = values > _FLOOR * values[-1]
            return np.asarray(self.kernel(X, scorer.points) @ (V[:, kept] / np.sqrt(values[kept])))
        if self.is_linear and X.shape[1] <= len(X):
            return X
        if len(X) > MOST_KERNEL_ROWS:
            raise UnverifiableError(
                f"the {len(X):,} × {len(X):,} kernel matrix is beyond {MOST_KERNEL_ROWS:,} rows, "
                "the most that an independent solver takes"
            )
        near = X - X.mean(axis=0) if self.is_linear and self.centre else X
        values, V = np.linalg.eigh(self.kernel(near, near))
        kept = values > _ROUNDING * max(values[-1], 0.0)
        return np.asarray(V[:, kept] * np.sqrt(values[kept]))

    def _written_out(self) -> Array:
        if isinstance(self.X, np.ndarray):
            return self.X
        rows, columns = self.X.shape
        if rows * columns > _MOST_WRITTEN:
            raise UnverifiableError(
                f"{rows:,} rows of {columns:,} features would have to be written out with all "
                "their zeros"
            )
        return np.asarray(self.X.toarray())

    @property
    def is_linear(self) -> bool:
        """Whether rows are compared by their product."""
        return self.params.get("kernel", "linear") == "linear" and isinstance(
            self.scorer, LinearScorer
        )

    @cached_property
    def kernel(self) -> Callable[[Array, Array], Array]:
        """k, written out again; distances feature by feature, from the differences themselves."""
        kind = self.params.get("kernel", "linear" if self.is_linear else "rbf")
        gamma = self.params.get("gamma", 1.0)
        if isinstance(gamma, str):
            spread = float(np.var(self._written_out())) if gamma == "scale" else 1.0
            gamma = 1.0 / (self.X.shape[1] * (spread or 1.0))
        degree, constant = self.params.get("degree", 3), self.params.get("coef0", 1.0)

        def k(A: Array, B: Array) -> Array:
            if kind == "linear":
                return np.asarray(A @ B.T)
            if kind == "poly":
                return np.asarray((gamma * (A @ B.T) + constant) ** degree)
            return np.asarray(np.exp(-gamma * squared_distances(A, B)))

        return k


def squared_distances(A: Array, B: Array) -> Array:
    """Give |a - b|^2 of all rows, summed over differences."""
    found = np.empty((len(A), len(B)))
    step = max(1, _CELLS // max(1, B.size))
    for start in range(0, len(A), step):
        part = A[start : start + step, None, :] - B[None, :, :]
        found[start : start + step] = np.einsum("ijk,ijk->ij", part, part)
    return found


def quadratic_form(kernel: Callable[[Array, Array], Array], points: Array, a: Array) -> float:
    """Give a' k(points, points) a, some rows at a time."""
    total = np.longdouble(0)
    step = max(1, _CELLS // max(1, len(points)))
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        products = (a[rows, None] * kernel(points[rows], points)) * a[None, :]
        total += products.astype(np.longdouble).sum()
    return float(total)
