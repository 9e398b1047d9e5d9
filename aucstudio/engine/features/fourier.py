"""Random Fourier features of the Gaussian kernel.

Symbols: omega_l (q x d) frequencies, drawn from N(0, 2 gamma I); D = 2 q features
phi(x) = (cos omega_l.x, sin omega_l.x) / sqrt(q), so that phi(x).phi(z) is on average
exp(-gamma |x - z|^2).
"""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.scorers import FourierScorer
from aucstudio.engine.types import Array


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
        """Return the same map in single precision."""
        return dataclasses.replace(self, frequencies=self.frequencies.astype(np.float32))

    def scorer(self, w: Array, near: Array | None = None) -> FourierScorer:
        """Return <w, phi(x)>; a cosine and a sine of one frequency make one shifted cosine."""
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
