"""Class means and scatter matrices of rows in memory or in blocks, weighted or not.

Rows are measured from 0 where that costs few digits, as it does for standardised features, in one
pass. Otherwise they are measured from the first row of their class, in another pass: an offset far
from 0 then costs no digits, and a constant feature gives exact zeros.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy

from aucstudio.engine.blocks import Parts, Passes
from aucstudio.engine.linalg import chunks, nothing
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.types import Array, Mask, Rows

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

    def joined(self, other: Moments) -> Moments:
        """Add the sums over other rows, as if they were measured from here."""
        shift, weight = other.origin - self.origin, other.weight
        across = np.outer(shift, other.total)
        square = other.square + across + across.T + weight * np.outer(shift, shift)
        total = self.total + other.total + weight * shift
        removed = self.removed + other.removed
        return Moments(self.origin, self.square + square, total, self.weight + weight, removed)

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
Sums = dict[bool, Moments] | None


def class_moments(X: Rows, positive: Mask, weights: Array | None, monitor: Monitor) -> Classes:
    """Return the moments of the negatives and of the positives.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    positive : ndarray of shape (n_samples,)
    weights : ndarray of shape (n_samples,) or None
    monitor : Monitor
    """
    N, look = X.shape[0], functools.partial(monitor.stage, "class moments")
    height = max(_ROWS_PER_PIECE, _NUMBERS_PER_PIECE // X.shape[1])
    if scipy.sparse.issparse(X):
        height = N
    columns = [positive] if weights is None else [positive, weights]

    def sums(from_zero: bool) -> Iterable[Sums]:
        parts = (slice(start, start + height) for start in range(0, N, height))
        pieces = ((part, X[part], *(column[part] for column in columns)) for part in parts)
        return [_add_up(from_zero, _rarer(positive), look, pieces)]

    return _moments(sums)


def block_moments(passes: Passes) -> Classes:
    """Return the moments of the negatives and of the positives of rows in blocks."""

    def sums(from_zero: bool) -> Iterable[Sums]:
        work = functools.partial(_add_up, from_zero, _rarer(passes.positive), nothing)
        return passes.over(work, passes.positive)

    return _moments(sums)


def difference(classes: Classes) -> Array:
    """Return the mean of the positives less that of the negatives."""
    negative, positive = classes
    return positive.origin - negative.origin + positive.mean - negative.mean


def _moments(sums: Callable[[bool], Iterable[Sums]]) -> Classes:
    """Join the sums of all parts; a part without sums is too far from 0."""
    for from_zero in (True, False):
        found: dict[bool, Moments] = {}
        for part in sums(from_zero):
            if part is None:
                break
            for label, one in part.items():
                found[label] = found[label].joined(one) if label in found else one
        else:
            classes = found[False], found[True]
            if not from_zero or all(one.keeps_digits() for one in classes):
                break
    return classes


def _rarer(positive: Mask) -> bool:
    return bool(2 * np.count_nonzero(positive) <= len(positive))


def _add_up(from_zero: bool, rare: bool, look: Callable[[], None], pieces: Parts) -> Sums:
    """Add up both classes of some rows; None as soon as rows are found to be far from 0.

    From 0, all rows are added where they lie and the rarer class is subtracted: only its rows are
    copied.
    """
    found: dict[bool, Moments] = {}
    for _, X, positive, *columns in pieces:
        weights = columns[0] if columns else None
        if from_zero and not found:
            if not scipy.sparse.issparse(X) and not _is_near_zero(X):
                return None
            found = {label: Moments.about(np.zeros(X.shape[1])) for label in (False, True)}
        if from_zero:
            found[not rare].add(X, weights, look)
        for label in (rare,) if from_zero else (False, True):
            mine = np.flatnonzero(positive == label)
            if len(mine):
                Z = X[mine]
                if label not in found:
                    found[label] = Moments.about(Z[0].copy())
                if not from_zero:
                    Z -= found[label].origin
                found[label].add(Z, None if weights is None else weights[mine], look)
    if from_zero and found:
        found[not rare] = found[not rare].without(found[rare])
    return found


def _is_near_zero(X: Array) -> bool:
    """Return whether every feature of some rows varies about as much as it is off 0."""
    return bool((np.einsum("ij,ij->j", X, X) >= 2 * len(X) * X.mean(axis=0) ** 2).all())


def add_products(square: Array, Z: Array, look: Callable[[], None]) -> None:
    """Add Z Z' block by block; ``look`` is called before each."""
    for rows in chunks(len(Z)) if len(Z) > _FEW else (slice(None),):
        look()
        square[rows] += Z[rows] @ Z.T
