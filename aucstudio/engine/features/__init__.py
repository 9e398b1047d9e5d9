"""Feature maps phi(x), in which a scorer is linear: f(x) = <w, phi(x)>.

The identity, kernel factors and Nystrom features are here; splines and stumps, training rows as
vectors and embeddings in modules of their own.

Symbols: K kernel matrix of the training rows, K = F F^T; P its pivots, K(P, P) = L L^T, so that F =
k(., P) L^-T.

Of Nystrom features, on landmarks chosen by k-means: U (v x d) landmarks; W = k(U, U) = V S V^T;
phi(x) = S_r^-1/2 V_r^T k(U, x) features, r <= v of them, so that phi(x).phi(z) = k(x, U) W^+ k(U,
z).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.linalg import chunks
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.scorers import KernelScorer, LinearScorer, Scorer

_ROWS_FOR_MEAN = 2_048


class FeatureMap(Protocol):
    """A map that can be computed for any rows."""

    def __call__(self, X: Array) -> NDArray[Any]:
        """Compute phi for some rows, all at once."""

    def in_single(self) -> Self:
        """Return the map that computes in single precision, or itself if that loses too much."""

    def scorer(self, w: Array, near: Array | None = None) -> Scorer:
        """Return <w, phi(x)> as a function of rows; ``near`` is that of :data:`MakeScorer`."""


MakeScorer = Callable[[Array, Array | None], Scorer]
"""Returns what a direction w among some features is as a function of rows. Beside it are weights
of the training rows that combine to w up to rounding, where a solver has them."""


class Identity:
    """The rows themselves."""

    def __call__(self, X: Array) -> Array:
        return X

    def in_single(self) -> Self:
        return self

    def scorer(self, w: Array, near: Array | None = None) -> Scorer:
        return LinearScorer(w)


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


EIGENVALUE_FLOOR = 1e-10
ROWS_TO_CLUSTER = 20_000

_ROWS_PER_CHUNK = 2_048
_MOST_AMPLIFIED = 100.0


@dataclasses.dataclass(frozen=True, eq=False)
class NystromMap:
    """The features that a kernel and some landmarks make of a row.

    Attributes
    ----------
    kernel : Kernel
    landmarks : ndarray of shape (v, d)
    whitener : ndarray of shape (v, r)
        V_r S_r^-1/2, of the precision that features shall have.
    """

    kernel: Kernel
    landmarks: Array
    whitener: NDArray[Any]

    def __call__(self, X: Array) -> NDArray[Any]:
        """Compute phi for the rows of X, shape (len(X), r); all at once."""
        values = self.kernel.against(self.landmarks)(X)
        phi: NDArray[Any] = values.astype(self.whitener.dtype, copy=False) @ self.whitener
        return phi

    def in_single(self) -> Self:
        """Return the map that multiplies in single precision, or itself if errors grew too much.

        Rounding of the kernel values grows by S_r^-1/2; up to a hundredfold is let pass.
        """
        if np.einsum("ij,ij->j", self.whitener, self.whitener).max() > _MOST_AMPLIFIED**2:
            return self
        return dataclasses.replace(self, whitener=self.whitener.astype(np.float32))

    def scorer(self, w: Array, near: Array | None = None) -> KernelScorer:
        """Return the scorer <w, phi(x)>, as weights of the landmarks."""
        return KernelScorer(self.kernel, self.landmarks, self.whitener @ w)


def nystrom_map(kernel: Kernel, landmarks: Array) -> NystromMap:
    """Make the map from the landmarks' kernel matrix.

    Directions whose eigenvalue is at most 1e-10 of the largest are left out.

    References
    ----------
    Williams and Seeger (2001); Zhang, Tsang and Kwok (2008), with k-means centres as landmarks.
    """
    eigenvalues, V = np.linalg.eigh(kernel(landmarks, landmarks))
    kept = eigenvalues > EIGENVALUE_FLOOR * max(eigenvalues[-1], 0.0)
    return NystromMap(kernel, landmarks, V[:, kept] / np.sqrt(eigenvalues[kept]))


def k_means(
    X: Array,
    count: int,
    rng: np.random.Generator,
    monitor: Monitor,
    rounds: int = 10,
    *,
    at_once: int = 1,
    dtype: type[np.floating[Any]] = np.float64,
) -> Array:
    """Choose landmarks: centres of clusters of the rows, of at most 20,000 drawn ones.

    Lloyd's rounds from a start drawn by k-means++ (Arthur and Vassilvitskii 2007). A cluster
    that loses all its rows takes the row farthest from its centre.

    Parameters
    ----------
    X : ndarray of shape (N, d)
    count : int
        At least 1.
    rng : Generator
    monitor : Monitor
        Receives the stage "landmarks".
    rounds : int
    at_once : int
        Rows of the start drawn at a time, maybe equal ones; some tens take far less time than one
        by one.
    dtype : type
        Precision in which rows look for their nearest centre.

    Returns
    -------
    ndarray of shape (at most count, d)
        Fewer if there are fewer distinct rows.

    Raises
    ------
    Stopped
        If the callback requests a stop.
    """
    if len(X) > ROWS_TO_CLUSTER:
        X = X[rows_to_cluster(len(X), rng)]
    origin = X.mean(axis=0)
    Z = X - origin
    centres = _spread_start(Z, count, rng, monitor, at_once)
    short = Z.astype(dtype, copy=False)
    for done in range(rounds):
        nearest, distances = _assign(short, centres.astype(dtype), monitor, done / rounds)
        centres = _means(Z, nearest, distances, len(centres))
    landmarks: Array = centres + origin
    return landmarks


def rows_to_cluster(count: int, rng: np.random.Generator) -> Index:
    """Draw a sorted sample of ``count`` rows; all if they are few."""
    if count <= ROWS_TO_CLUSTER:
        return np.arange(count)
    return np.sort(rng.choice(count, ROWS_TO_CLUSTER, replace=False))


def _spread_start(
    Z: Array, count: int, rng: np.random.Generator, monitor: Monitor, at_once: int
) -> Array:
    """Draw rows with chances that grow as the squared distance to those drawn before."""
    square = np.einsum("ij,ij->i", Z, Z)
    chosen = new = np.array([rng.integers(len(Z))])
    # A distance within rounding of 0 is that of an equal row.
    floor = 1e-12 * float(square.max(initial=0.0))
    distances = np.full(len(Z), np.inf)
    while True:
        there = square[:, None] - 2 * (Z @ Z[new].T) + square[new]
        np.minimum(distances, there.min(axis=1), out=distances)
        distances[distances <= floor] = 0.0
        if len(chosen) == count or not distances.any():
            return np.asarray(Z[chosen])
        new = _draw(distances, min(at_once, count - len(chosen)), rng)
        chosen = np.concatenate([chosen, new])
        monitor.stage("landmarks", 0.0)


def _draw(weights: Array, count: int, rng: np.random.Generator) -> Index:
    """Draw positions without replacement, with chances as the weights."""
    if count == 1:
        total = np.cumsum(weights)
        return np.searchsorted(total, [rng.random() * total[-1]], side="right")
    # The first of clocks that ring at such rates.
    likely = np.flatnonzero(weights)
    rings = rng.exponential(size=len(likely)) / weights[likely]
    drawn: Index = likely[np.argsort(rings)[:count]]
    return drawn


def _assign(Z: Array, centres: Array, monitor: Monitor, fraction: float) -> tuple[Index, Array]:
    """Find the nearest centre of each row, and the squared distance less the row's own square."""
    half = np.einsum("ij,ij->i", centres, centres) / 2
    nearest, distances = np.empty(len(Z), dtype=np.intp), np.empty(len(Z))
    for rows in chunks(len(Z), most=_ROWS_PER_CHUNK):
        distance = half - Z[rows] @ centres.T
        nearest[rows] = distance.argmin(axis=1)
        distances[rows] = 2 * distance.min(axis=1)
        monitor.stage("landmarks", fraction)
    return nearest, distances


def _means(Z: Array, nearest: Index, distances: Array, count: int) -> Array:
    members = scipy.sparse.csr_array(
        (np.ones(len(Z)), nearest, np.arange(len(Z) + 1)), shape=(len(Z), count)
    )
    sizes = np.bincount(nearest, minlength=count)
    centres = np.asarray(members.T @ Z) / np.maximum(sizes, 1)[:, None]
    empty = np.flatnonzero(sizes == 0)
    farthest = np.argsort(-(distances + np.einsum("ij,ij->i", Z, Z)), kind="stable")
    centres[empty] = Z[farthest[: len(empty)]]
    return centres
