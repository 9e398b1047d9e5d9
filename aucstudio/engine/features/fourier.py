"""Random Fourier features of the Gaussian kernel, and the embedding of many rows in few bytes.

Symbols: omega_l (q x d) frequencies, drawn from N(0, 2 gamma I); D = 2 q features
phi(x) = (cos omega_l.x, sin omega_l.x) / sqrt(q), so that phi(x).phi(z) is on average
exp(-gamma |x - z|^2).
"""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.features.kernels import ROWS_PER_CHUNK
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.scorers import FourierScorer, Scorer

Array = NDArray[np.float64]

_ROWS_FOR_MEAN = 2_048


class FeatureMap(Protocol):
    """A map from rows to features phi(x), in which scorers are linear."""

    def __call__(self, X: Array) -> NDArray[Any]:
        """Compute phi for the rows of X."""

    def in_single(self) -> Self:
        """Give the map that computes in single precision, or itself if that loses too much."""

    def scorer(self, w: Array) -> Scorer:
        """Give <w, phi(x)> as a function of rows."""


@dataclasses.dataclass(frozen=True, eq=False)
class FourierMap:
    """Cosines and sines of random frequencies, about an origin.

    With both, moving the origin only turns each pair of features: products, and with them every
    method that knows features by their products, do not depend on it.

    Attributes
    ----------
    origin : ndarray of shape (d,)
    frequencies : ndarray of shape (q, d)
        Of the precision to compute in.
    """

    origin: Array
    frequencies: NDArray[Any]

    def __call__(self, X: Array) -> NDArray[Any]:
        """Compute phi for the rows of X, shape (len(X), 2 q)."""
        angles = (X - self.origin).astype(self.frequencies.dtype) @ self.frequencies.T
        features = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
        features /= angles.dtype.type(np.sqrt(len(self.frequencies)))
        return features

    def in_single(self) -> Self:
        """Give the same map in single precision."""
        return dataclasses.replace(self, frequencies=self.frequencies.astype(np.float32))

    def scorer(self, w: Array) -> FourierScorer:
        """Give <w, phi(x)>; a cosine and a sine of one frequency make one shifted cosine."""
        of_cosine, of_sine = w.reshape(2, -1) / np.sqrt(len(self.frequencies))
        phases = -np.arctan2(of_sine, of_cosine) - self.frequencies @ self.origin
        return FourierScorer(self.frequencies, phases, np.hypot(of_cosine, of_sine))


def fourier_map(
    gamma: float, origin: Array, n_components: int, rng: np.random.Generator
) -> FourierMap:
    """Draw the map for exp(-gamma |x - z|^2).

    Parameters
    ----------
    gamma : float
    origin : ndarray of shape (d,)
        Any point near the rows.
    n_components : int
        Number of features; rounded up to an even one.
    rng : Generator

    References
    ----------
    Rahimi and Recht (2008), Random features for large-scale kernel machines, in the form with
    cosines and sines, whose error is the lower one.
    """
    shape = (-(-n_components // 2), len(origin))
    return FourierMap(origin, np.sqrt(2.0 * gamma) * rng.standard_normal(shape))


def rows_for_mean(count: int) -> NDArray[np.intp]:
    """Choose rows here and there that tell about where all lie."""
    return np.arange(0, count, -(-count // _ROWS_FOR_MEAN))


def near_mean(
    feature_map: FeatureMap, few: Array, dtype: type[np.floating[Any]]
) -> tuple[FeatureMap, NDArray[Any]]:
    """Give the map for features of a precision, and the mean of the features of some rows."""
    if dtype is np.float32:
        feature_map = feature_map.in_single()
    phi = feature_map(few)
    return feature_map, phi.mean(axis=0, dtype=np.float64).astype(phi.dtype)


def embed(
    feature_map: FeatureMap, X: Array, dtype: type[np.floating[Any]], monitor: Monitor
) -> NDArray[Any]:
    """Compute the features of all rows, less about their mean, chunk by chunk.

    One constant vector off all rows changes no margin of a pair, and saves digits.

    Parameters
    ----------
    feature_map : FeatureMap
    X : ndarray of shape (N, d)
    dtype : type
        ``np.float32`` halves memory and the time of what follows; errors are some 1e-7 of the
        features.
    monitor : Monitor
        Hears of the stage "embedding".

    Returns
    -------
    ndarray of shape (N, r)

    Raises
    ------
    Stopped
        If the callback wants to stop.
    """
    feature_map, mean = near_mean(feature_map, X[rows_for_mean(len(X))], dtype)
    features = np.empty((len(X), len(mean)), dtype=dtype)
    for start in range(0, len(X), ROWS_PER_CHUNK):
        rows = slice(start, start + ROWS_PER_CHUNK)
        np.subtract(feature_map(X[rows]), mean, out=features[rows], casting="same_kind")
        monitor.stage("embedding", min(1.0, (start + ROWS_PER_CHUNK) / len(X)))
    return features
