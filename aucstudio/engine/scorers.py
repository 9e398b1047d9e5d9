"""Scorers: what training leaves behind, as arrays and plain settings that a file can hold.

A scorer ranks rows; it knows nothing of thresholds or of how it was trained.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.kernels import ROWS_PER_CHUNK, Kernel

Array = NDArray[np.float64]

_PULSE_ROWS = 2_048


class Scorer(Protocol):
    """Anything that gives a row a score and can be written down as arrays and settings."""

    kind: ClassVar[str]

    def __call__(self, X: Array) -> Array:
        """Score the rows of X; higher means more likely positive. Shape (len(X),)."""

    def arrays(self) -> dict[str, Array]:
        """Give the arrays that define the scorer."""

    def settings(self) -> dict[str, Any]:
        """Give the remaining constants as plain JSON values."""


@dataclasses.dataclass(frozen=True, eq=False)
class LinearScorer:
    """Scores <w, x>.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
    """

    weights: Array
    kind: ClassVar[str] = "linear"

    def __call__(self, X: Array) -> Array:
        return X @ self.weights

    def arrays(self) -> dict[str, Array]:
        return {"weights": self.weights}

    def settings(self) -> dict[str, Any]:
        return {}


@dataclasses.dataclass(frozen=True, eq=False)
class KernelScorer:
    """Scores sum_l weights_l k(points_l, x).

    Attributes
    ----------
    kernel : Kernel
    points : ndarray of shape (n_points, n_features)
    weights : ndarray of shape (n_points,)
    """

    kernel: Kernel
    points: Array
    weights: Array
    kind: ClassVar[str] = "kernel"

    def __call__(self, X: Array) -> Array:
        scores = np.empty(len(X))
        for start in range(0, len(X), ROWS_PER_CHUNK):
            rows = slice(start, start + ROWS_PER_CHUNK)
            scores[rows] = self.kernel(X[rows], self.points) @ self.weights
        return scores

    def arrays(self) -> dict[str, Array]:
        return {"points": self.points, "weights": self.weights}

    def settings(self) -> dict[str, Any]:
        return dataclasses.asdict(self.kernel)


def score_rows(scorer: Scorer, X: Array, pulse: Callable[[str, float], None]) -> Array:
    """Score the rows of X; ``pulse("scoring", fraction)`` is called after every chunk."""
    scores = np.empty(len(X))
    for start in range(0, len(X), _PULSE_ROWS):
        rows = slice(start, start + _PULSE_ROWS)
        scores[rows] = scorer(X[rows])
        pulse("scoring", min(1.0, (start + _PULSE_ROWS) / len(X)))
    return scores


def trimmed(kernel: Kernel, points: Array, weights: Array) -> Scorer:
    """Make the smallest equal scorer: no points without weight, a plain direction if linear."""
    if kernel.is_linear:
        return LinearScorer(points.T @ weights)
    used = np.flatnonzero(weights)
    return KernelScorer(kernel, points[used], weights[used])


def restore(kind: str, settings: Mapping[str, Any], arrays: Mapping[str, Array]) -> Scorer:
    """Rebuild a scorer from what ``arrays()`` and ``settings()`` gave.

    Raises
    ------
    ValueError
        If the kind is unknown: the file comes from a newer program.
    """
    if kind == "linear":
        return LinearScorer(arrays["weights"])
    if kind == "kernel":
        return KernelScorer(Kernel(**settings), arrays["points"], arrays["weights"])
    raise ValueError(f"unknown kind of scorer {kind!r}")
