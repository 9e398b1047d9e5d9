"""Class means and scatters of rows that come in blocks, and what else one pass can add up.

Symbols: mu mean of a class; G products X'X of some rows; S = G - n mu mu' their scatter.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from aucstudio.engine.blocks import Parts, Passes
from aucstudio.engine.methods.least_squares._class_moments import (
    add_products,
    is_near_zero,
    keeps_digits,
)
from aucstudio.engine.types import Array


@dataclasses.dataclass
class _Class:
    """Sums over the rows of one class, measured from an origin."""

    origin: Array
    square: Array
    total: Array
    count: int = 0

    @classmethod
    def about(cls, origin: Array) -> _Class:
        size = len(origin)
        return cls(origin, np.zeros((size, size)), np.zeros(size))

    def joined(self, other: _Class) -> _Class:
        """Add the sums over other rows, as if they were measured from here."""
        shift, count = other.origin - self.origin, other.count
        across = np.outer(shift, other.total)
        square = other.square + across + across.T + count * np.outer(shift, shift)
        total = other.total + count * shift
        return _Class(self.origin, self.square + square, self.total + total, self.count + count)

    @property
    def mean(self) -> Array:
        """Mean of the class, measured from its origin."""
        return self.total / self.count

    def scatter(self) -> Array:
        """Return the scatter about the mean."""
        return self.square - self.count * np.outer(self.mean, self.mean)


def block_moments(passes: Passes, weights: tuple[float, float]) -> tuple[Array, Array, Array]:
    """Take class means and weighted class scatters of rows in blocks.

    One pass where the rows lie about 0, as standardised ones do; else one more, in which each
    class is measured from its first row, so that a far offset costs no digits.

    Parameters
    ----------
    passes : Passes
    weights : tuple of float
        Weights of a negative and of a positive row.

    Returns
    -------
    origin, means, spread : ndarray
        As :func:`~aucstudio.engine.methods.least_squares._class_moments.class_moments` gives them.
    """
    classes = _sums(passes, from_zero=True)
    if classes is None or not all(keeps_digits(one.scatter(), one.square) for one in classes):
        classes = _sums(passes, from_zero=False)
    assert classes is not None
    origin = classes[0].origin
    means = np.stack([one.origin - origin + one.mean for one in classes])
    spread = np.zeros_like(classes[0].square)
    for weight, one in zip(weights, classes, strict=True):
        spread += weight * one.scatter()
    return origin, means, spread


def _sums(passes: Passes, *, from_zero: bool) -> list[_Class] | None:
    """Add up both classes in one pass; None as soon as rows are found to be far from 0."""
    found: dict[int, _Class] = {}
    for part in passes.over(functools.partial(_add_up, from_zero), passes.positive):
        if part is None:
            return None
        for label, one in part.items():
            found[label] = found[label].joined(one) if label in found else one
    return [found[0], found[1]]


def _add_up(from_zero: bool, pieces: Parts) -> dict[int, _Class] | None:
    found: dict[int, _Class] = {}
    for _, X, is_positive in pieces:
        if from_zero and not found and not is_near_zero(X):
            return None
        for label in (0, 1):
            Z = X[is_positive == label]
            if not len(Z):
                continue
            if label not in found:
                found[label] = _Class.about(np.zeros(X.shape[1]) if from_zero else Z[0].copy())
            one = found[label]
            Z -= one.origin
            one.total += Z.sum(axis=0)
            one.count += len(Z)
            add_products(one.square, Z.T, lambda: None)
    return found
