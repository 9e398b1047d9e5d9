"""Class means and scatter matrices, of all rows or of blocks of rows, in one pass.

Symbols: mu mean of a class; G products X'X of some rows; S = G - n mu mu' their scatter.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from aucstudio.engine.blocks import Parts, Passes
from aucstudio.engine.linalg import chunks
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.types import Array, Index, Mask

_ROWS_PER_CHUNK, _NUMBERS_PER_CHUNK = 512, 50_000  # the greater of both
_LEFT_OVER = 1e-3
_FEW = 128  # rows of a product that is over before anybody could ask for a stop


def class_moments(
    X: Array, positive: Mask, weights: tuple[float, float], monitor: Monitor
) -> tuple[Array, Array, Array]:
    """Take class means and weighted class scatters in one pass over the rows.

    Rows are measured from 0 where that costs few digits, as it does for standardised features;
    else from the first row of their class: then an offset far from 0 costs none, and a constant
    feature gives exact zeros.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    positive : ndarray of shape (n_samples,)
    weights : tuple of float
        Weights of a negative and of a positive row.
    monitor : Monitor

    Returns
    -------
    origin : ndarray of shape (n_features,)
        0, or a negative row.
    means : ndarray of shape (2, n_features)
        Means of the negatives and of the positives, measured from ``origin``.
    spread : ndarray of shape (n_features, n_features)
        Weighted sum of products of the rows, each measured from the mean of its class.
    """
    if scipy.sparse.issparse(X):
        return _sparse_moments(X, positive, weights, monitor)
    look = functools.partial(monitor.stage, "class moments")
    if is_near_zero(X[: _height(X)]):
        found = _moments_from_zero(X, positive, weights, look)
        if found is not None:
            return found
    spread = np.zeros((X.shape[1], X.shape[1]))
    origins, means = [], []
    for label, weight in enumerate(weights):
        rows = np.flatnonzero(positive == label)
        origins.append(X[rows[0]])
        spread /= weight
        means.append(_add_scatter(spread, X, rows, look))
        spread *= weight
    means[1] += origins[1] - origins[0]
    return origins[0], np.stack(means), spread


def weighted_moments(
    X: Any, positive: Mask, shares: Array, monitor: Monitor
) -> tuple[Array, Array, Array]:
    """Take what :func:`class_moments` does of rows that weigh differently, in two passes.

    Parameters
    ----------
    X, positive, monitor
        As there.
    shares : ndarray of shape (n_samples,)
        What each row counts in the sum of products; means follow them within the classes.
    """
    look = functools.partial(monitor.stage, "class moments")
    spread, means = np.zeros((X.shape[1], X.shape[1])), []
    for label in (0, 1):
        rows = np.flatnonzero(positive == label)
        total = shares[rows].sum()
        if scipy.sparse.issparse(X):
            of_class, each = X[rows], shares[rows]
            mean = np.asarray(of_class.T @ each).ravel() / total
            spread += (of_class.T @ of_class.multiply(each[:, None])).toarray()
            spread -= total * np.outer(mean, mean)
            means.append(mean)
            continue
        first, off, height = X[rows[0]], np.zeros(X.shape[1]), _height(X)
        parts = [rows[start : start + height] for start in range(0, len(rows), height)]
        for part in parts:
            look()
            off += shares[part] @ (X[part] - first)
        means.append(first + off / total)
        for part in parts:
            Z = (X[part] - means[-1]) * np.sqrt(shares[part])[:, None]
            add_products(spread, Z.T, look)
    # Measured from a negative row, an offset far from 0 costs their difference no digits.
    origin = np.zeros(X.shape[1]) if scipy.sparse.issparse(X) else X[np.flatnonzero(~positive)[0]]
    return origin, np.stack(means) - origin, spread


def is_near_zero(X: Array) -> bool:
    """Return whether every feature of some rows varies about as much as it is off 0."""
    return bool((np.einsum("ij,ij->j", X, X) >= 2 * len(X) * X.mean(axis=0) ** 2).all())


def _moments_from_zero(
    X: Array, positive: Mask, weights: tuple[float, float], look: Callable[[], None]
) -> tuple[Array, Array, Array] | None:
    """Take the moments of all rows where they lie, and those of the rarer class apart.

    Return None where taking the means off has cost more than three digits of some feature.
    """
    is_rare = positive if 2 * np.count_nonzero(positive) <= len(positive) else ~positive
    rare_rows = np.flatnonzero(is_rare)
    (whole, total), (rare, rare_total) = (_products(X, of, look) for of in (None, rare_rows))
    sizes = np.array([len(X) - len(rare_rows), len(rare_rows)])
    means = np.stack([(total - rare_total) / sizes[0], rare_total / sizes[1]])
    of_common, of_rare = whole - rare, rare
    scatters = [
        products - size * np.outer(mean, mean)
        for products, size, mean in zip((of_common, of_rare), sizes, means, strict=True)
    ]
    if not all(map(keeps_digits, scatters, (whole, rare))):
        return None
    order = (0, 1) if is_rare is positive else (1, 0)
    spread = sum(weights[order[k]] * scatters[k] for k in (0, 1))
    return np.zeros(X.shape[1]), means[list(order)], np.asarray(spread)


def keeps_digits(scatter: Array, products: Array) -> bool:
    """Return whether taking the means off has cost at most three digits of every feature."""
    return bool((scatter.diagonal() >= _LEFT_OVER * products.diagonal()).all())


def _products(X: Array, chosen: Index | None, look: Callable[[], None]) -> tuple[Array, Array]:
    """Return X'X and the sum of the rows, all or the chosen ones, in one pass."""
    square, total = np.zeros((X.shape[1], X.shape[1])), np.zeros(X.shape[1])
    height, ones = _height(X), np.ones(_height(X))
    for start in range(0, len(X) if chosen is None else len(chosen), height):
        rows = slice(start, start + height)
        Z = X[rows] if chosen is None else X[chosen[rows]]
        total += ones[: len(Z)] @ Z
        add_products(square, Z.T, look)
    return square, total


def _height(X: Array) -> int:
    return int(max(_ROWS_PER_CHUNK, _NUMBERS_PER_CHUNK // X.shape[1]))


def _sparse_moments(
    X: Any, positive: Mask, weights: tuple[float, float], monitor: Monitor
) -> tuple[Array, Array, Array]:
    """Take the same of sparse rows, measured from 0 so that they stay sparse."""
    spread, means = np.zeros((X.shape[1], X.shape[1])), []
    for label, weight in enumerate(weights):
        monitor.stage("class moments", label / 2)
        rows = X[np.flatnonzero(positive == label)]
        mean = np.asarray(rows.sum(axis=0)).ravel() / rows.shape[0]
        spread += weight * (rows.T @ rows).toarray()
        spread -= weight * rows.shape[0] * np.outer(mean, mean)
        means.append(mean)
    return np.zeros(X.shape[1]), np.stack(means), spread


def _add_scatter(square: Array, X: Array, rows: Index, look: Callable[[], None]) -> Array:
    """Add the scatter of some rows about their mean; return it, measured from the first row."""
    height = _height(X)
    chunk, ones = np.empty((min(height, len(rows)), X.shape[1])), np.ones(height)
    total = np.zeros(X.shape[1])
    for start in range(0, len(rows), height):
        taken = rows[start : start + height]
        # Unlike "raise", "clip" writes straight into the chunk; no index is out of range.
        Z = np.take(X, taken, axis=0, out=chunk[: len(taken)], mode="clip")
        Z -= X[rows[0]]
        total += ones[: len(Z)] @ Z
        add_products(square, Z.T, look)
    shifted = total / np.sqrt(len(rows))
    square -= np.outer(shifted, shifted)
    return total / len(rows)


def add_products(square: Array, Z: Array, look: Callable[[], None]) -> None:
    """Add Z Z' block by block, with a look at the monitor before each."""
    for rows in chunks(len(Z)) if len(Z) > _FEW else (slice(None),):
        look()
        square[rows] += Z[rows] @ Z.T


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
        As :func:`~aucstudio.engine.methods.least_squares._moments.class_moments` gives them.
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
