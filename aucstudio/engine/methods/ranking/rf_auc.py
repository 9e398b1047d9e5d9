"""RankSVM on random Fourier features.

Symbols: D random features.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.cost import Work
from aucstudio.engine.features.maps import FeatureMap
from aucstudio.engine.fit import Context
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.methods.ranking._gaussian_features import (
    GaussianFeatures,
)
from aucstudio.engine.methods.settings import COUNTS
from aucstudio.engine.params import param
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


class RFAUC(GaussianFeatures):
    """RankSVM with a Gaussian kernel approximated by random Fourier features; baseline for NBAUC.

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))^2`` over all pairs of a
    positive and a negative, f(x) = <w, phi(x)>, phi(x) = (cos omega_l.x, sin omega_l.x) sqrt(2/D)
    with D / 2 random frequencies omega_l (an odd D is rounded up). The paper sums over the pairs:
    C_paper = C / (m n).

    The error of the kernel falls as 1 / sqrt(D) for any rows. Landmarks are chosen from the rows
    and usually need fewer features. Precision as in :class:`NBAUC`.

    Raises
    ------
    InvalidSetting
        If the features take more than 8 GB.

    References
    ----------
    Rahimi and Recht (2008), Random features for large-scale kernel machines, as used by Khalid,
    Ray and Chitsaz (2018).

    Section 5.2 of the latter.

    Use when
    --------
    As a comparison for NBAUC, which usually needs fewer features for the same ranking.
    """

    title: ClassVar[str] = "RFAUC"
    in_words: ClassVar[str] = "Kernel RankSVM, random Fourier features"

    n_components: int = param(
        400,
        "Random features that approximate the kernel.",
        unit="features",
        label="Features",
        symbol="D",
        low=1,
        high=10_000,
        log=True,
        grid=COUNTS,
    )

    def _count(self) -> tuple[str, int]:
        return "n_components", self.n_components

    def _map_work(self, rows: int, features: int) -> Work:
        cells = float(rows) * self.n_components
        return Work(products=cells * features, numbers=4 * cells, exponentials=2 * cells)

    def _map(
        self, X: Array, kernel: Kernel, rng: np.random.Generator, context: Context
    ) -> FeatureMap:
        origin = np.average(X, axis=0, weights=context.weights)
        return fourier_map(kernel.gamma, origin, self.n_components, rng)
