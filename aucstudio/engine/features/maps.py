"""Feature maps phi(x), in which a scorer is linear: f(x) = <w, phi(x)>.

Symbols: K kernel matrix of the training rows, K = F F^T; P its pivots, K(P, P) = L L^T, so that
F = k(., P) L^-T.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.kernels import Kernel
from aucstudio.engine.linalg import KernelFactor
from aucstudio.engine.scorers import LinearScorer, Scorer, trimmed
from aucstudio.engine.types import Array, Index

_ROWS_FOR_MEAN = 2_048


class Directions(Protocol):
    """What the directions w among some features mean for rows."""

    def scorer(self, w: Array, near: Array | None = None) -> Scorer:
        """Return <w, phi(x)> as a function of rows.

        ``near`` are weights of the training rows that combine to w up to rounding, where a solver
        has them.
        """


class FeatureMap(Directions, Protocol):
    """A map that can be computed for any rows."""

    def __call__(self, X: Array) -> NDArray[Any]:
        """Compute phi for some rows, all at once."""

    def in_single(self) -> Self:
        """Return the map that computes in single precision, or itself if that loses too much."""


class Identity:
    """The rows themselves."""

    def __call__(self, X: Array) -> Array:
        return X

    def in_single(self) -> Self:
        return self

    def scorer(self, w: Array, near: Array | None = None) -> Scorer:
        return LinearScorer(w)


@dataclasses.dataclass(frozen=True, eq=False)
class FactorDirections:
    """Directions among the rows of a factor of the whole kernel matrix: exact.

    Attributes
    ----------
    kernel : Kernel
    points : ndarray of shape (N, d)
        The training rows.
    factor : KernelFactor
    """

    kernel: Kernel
    points: Array
    factor: KernelFactor

    def scorer(self, w: Array, near: Array | None = None) -> Scorer:
        near = np.zeros(len(self.points)) if near is None else near
        return trimmed(self.kernel, self.points, self.factor.represent(w, near))


@dataclasses.dataclass(frozen=True, eq=False)
class Shifted:
    """A map less a constant vector, which changes no margin of a pair and saves digits.

    Attributes
    ----------
    feature_map : FeatureMap
    origin : ndarray of shape (r,) or None
    dtype : type
        Precision of the features.
    """

    feature_map: FeatureMap
    origin: NDArray[Any] | None
    dtype: type[np.floating[Any]] = np.float64

    def __call__(self, X: Array) -> NDArray[Any]:
        """Compute the features of some rows."""
        phi = self.feature_map(X)
        return np.asarray(phi if self.origin is None else phi - self.origin, self.dtype)

    @classmethod
    def about(
        cls,
        feature_map: FeatureMap,
        few: Array,
        dtype: type[np.floating[Any]],
        weights: Array | None = None,
    ) -> Self:
        """Shift by the (weighted) mean of the features of some rows, in a precision."""
        if dtype is np.float32:
            feature_map = feature_map.in_single()
        phi = feature_map(few)
        mean = mean_row(phi.astype(np.float64, copy=False), weights)
        return cls(feature_map, mean.astype(phi.dtype), dtype)


def mean_row(X: Array, weights: Array | None = None) -> Array:
    """Return the (weighted) mean of the rows, of which there may be no features."""
    if weights is None:
        return np.asarray(X.mean(axis=0))
    return np.asarray(weights @ X / weights.sum())


def rows_for_mean(count: int) -> Index:
    """Choose sample rows that represent all."""
    return np.arange(0, count, -(-count // _ROWS_FOR_MEAN))


def shift_for_digits(few: Array, weights: Array | None = None) -> Array | None:
    """Return the (weighted) mean of some rows where subtracting it saves digits, else None.

    A feature whose mean is within its standard deviation is near enough to 0.
    """
    mean = mean_row(few, weights)
    square = mean_row(np.square(few), weights)
    return None if np.all(2 * mean**2 <= square) else mean


def centred(X: Array, weights: Array | None = None) -> Array:
    """Shift the rows by about their mean where that saves digits; pair margins stay the same."""
    few = rows_for_mean(len(X))
    mean = shift_for_digits(X[few], None if weights is None else weights[few])
    return X if mean is None else X - mean
