"""An approximate inverse of the Newton matrix H = I + C X' L'' X of the squared pair hinge.

Symbols: u scores of the rows; L'' second derivative of the loss with respect to them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from aucstudio.engine.features.spaces import NumberedSpace, Pause, Space
from aucstudio.engine.losses.squared_hinge import SquaredHinge, SquaredHingePoint
from aucstudio.engine.types import Array, Index

Precondition: TypeAlias = Callable[[Array], Array]
Preconditioner: TypeAlias = Callable[[float, Array, SquaredHingePoint], Precondition]

MOST_SAMPLED_FEATURES = 256

_SAMPLED_ROWS_PER_FEATURE = 32
_LEAST_SAMPLED_ROWS = 1_000


def preconditioner(space: Space, hinge: SquaredHinge, pause: Pause) -> Preconditioner:
    """Return what makes an approximate inverse of H at C, scores and a point of the loss.

    It is the inverse of H on a sample of the rows, or of its diagonal for many features or sparse
    rows. A sample of all rows, where there are few, makes the solver the exact Newton method. In a
    kernel's own space nothing is gained.
    """
    if not isinstance(space, NumberedSpace):
        return lambda C, u, point: _unchanged
    if space.is_sparse or space.size > MOST_SAMPLED_FEATURES:
        return _by_diagonal(space, hinge, pause)
    return _by_sample(space, hinge, pause)


def _by_sample(space: NumberedSpace, hinge: SquaredHinge, pause: Pause) -> Preconditioner:
    sample = _sample(hinge, max(_LEAST_SAMPLED_ROWS, _SAMPLED_ROWS_PER_FEATURE * space.size))
    rows, part = space.take(sample), hinge.of(sample)

    def prepare(C: float, u: Array, point: SquaredHingePoint) -> Precondition:
        H = C * part.at(hinge.sign * u[sample]).gram(rows, pause)
        H[np.diag_indices(space.size)] += 1.0
        return functools.partial(np.matmul, np.linalg.inv(H))

    return prepare


def _sample(hinge: SquaredHinge, most: int) -> Index:
    """Take at most so many rows of each class, evenly spaced."""
    chosen = [rows[:: -(-len(rows) // most)] for rows in (hinge.positives, hinge.negatives)]
    return np.sort(np.concatenate(chosen))


def _by_diagonal(space: NumberedSpace, hinge: SquaredHinge, pause: Pause) -> Preconditioner:
    shares = np.zeros((2, len(hinge.is_positive)))
    for of_class, rows in zip(shares, (hinge.positives, hinge.negatives), strict=True):
        weights = np.ones(len(rows)) if hinge.weights is None else hinge.weights[rows]
        of_class[rows] = weights / weights.sum()
    means, squares = space.power_sums(shares, pause)
    # The mean square of pair differences, over all pairs.
    spread = np.maximum(squares.sum(axis=0) - 2.0 * means[0] * means[1], 0.0)

    def prepare(C: float, u: Array, point: SquaredHingePoint) -> Precondition:
        return functools.partial(np.multiply, 1.0 / (1.0 + 2.0 * C * point.active * spread))

    return prepare


def _unchanged(r: Array) -> Array:
    return r
