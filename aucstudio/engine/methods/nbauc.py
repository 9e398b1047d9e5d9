"""RankSVM on features that approximate the Gaussian kernel: NBAUC and RFAUC.

Symbols: v landmarks; D random features; b mean squared distance of the rows to their mean,
gamma = 1 / b.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Mask
from aucstudio.engine.blocks import Passes, mean_variance
from aucstudio.engine.cost import (
    FEW_CELLS,
    NUMBER,
    Cost,
    Work,
    cluster_bytes,
    cost_of,
    landmarks,
    newton,
    newton_bytes,
)
from aucstudio.engine.features import (
    FeatureMap,
    Shifted,
    k_means,
    nystrom_map,
    rows_for_mean,
    rows_to_cluster,
)
from aucstudio.engine.features.spaces import BlockVectors, Space, mapped
from aucstudio.engine.fit import Context
from aucstudio.engine.kernels import Kernel, KernelSettings
from aucstudio.engine.methods.rank_svm import PairNewton
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import InvalidSetting, param
from aucstudio.engine.scorers import FourierScorer
from aucstudio.notices import text

MOST_BYTES = 8e9

_SINGLE_TOL = 1e-6


class GaussianFeatures(PairNewton):
    """The settings and the features of the methods that approximate a Gaussian kernel."""

    gamma: float | str = param("scale", "gaussian")
    C: float = param(1_000.0, "features")
    random_state: int = param(0, "features")

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, (name, v) = positives + negatives, self._count()
        size = np.dtype(self._precision(N)).itemsize
        memory, making = self._cost_of_map(N, features)
        memory += newton_bytes(N, v, size) + size * N * v
        words = f"lower {name}"
        if size == NUMBER and N * v > FEW_CELLS:
            words = f"set tol to 1e-6, which float32 allows, or {words}"
        return cost_of(N, memory, newton(N, v, size) + making, (name, words))

    @abstractmethod
    def _cost_of_map(self, rows: int, features: int) -> tuple[float, Work]:
        """Return the bytes and the work that the map takes to be made and applied."""

    @abstractmethod
    def _map(
        self, X: Array, kernel: Kernel, rng: np.random.Generator, context: Context
    ) -> FeatureMap:
        """Make the map to the features."""

    @abstractmethod
    def _count(self) -> tuple[str, int]:
        """Return name and value of the setting that says how many features there are."""

    def _space(self, X: Array, positive: Mask, context: Context) -> Space:
        monitor, (name, count) = context.monitor, self._count()
        dtype = self._precision(len(X))
        size = len(X) * count * np.dtype(dtype).itemsize
        if size > MOST_BYTES:
            known = {"size": size / 1e9, "most": MOST_BYTES / 1e9, "name": name}
            message = text("features_beyond_memory", count=count, rows=len(X), **known)
            raise InvalidSetting(name, message)
        settings = KernelSettings(kernel="rbf", gamma=self.gamma)
        kernel = settings.resolve_kernel(X, weights=context.weights)
        feature_map = self._map(X, kernel, self._rng(), context)
        return mapped(feature_map, X, monitor, dtype, weights=context.weights)

    def _precision(self, rows: int) -> type[np.floating[Any]]:
        """Return the precision in which the features of so many rows are kept."""
        is_large = rows * self._count()[1] > FEW_CELLS
        return np.float32 if is_large and self.tol >= _SINGLE_TOL else np.float64

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.random_state)


_ROUNDS = 5
_DRAWN_AT_ONCE = 16


class NBAUC(GaussianFeatures):
    """RankSVM with a Gaussian kernel approximated by k-means landmarks; for many rows.

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))^2`` over all pairs of a
    positive and a negative, f(x) = <w, phi(x)>, phi(x) = S_r^-1/2 V_r' k(U, x) with the
    landmarks U and k(U, U) = V S V'. The paper sums over the pairs: C_paper = C / (m n).

    Landmarks are centres of clusters of the rows. With as many landmarks as rows they are the rows
    themselves, and the method is kernel RankSVM. Time grows with the square of their number v,
    memory with v N. The paper's width, 1 / b with b the mean squared distance of the rows to their
    mean, is ``"scale"`` for standardised features. More than 4,000,000 feature values are stored in
    single precision, which changes ``objective_`` by some millionths, unless ``tol`` is below 1e-6.
    For rows in blocks the features are computed again in every pass; there is one pass more than
    with RankSVM.

    Raises
    ------
    InvalidSetting
        If the features take more than 8 GB.

    References
    ----------
    Khalid, Ray and Chitsaz (ECML PKDD 2018), Scalable nonlinear AUC maximization methods.

    Algorithms 1 and 2 (with a line search, and with the feature map in its conformable form);
    Zhang, Tsang and Kwok (2008).

    Use when
    --------
    Non-linear boundaries on many rows: a few hundred landmarks approximate the kernel.
    """

    n_landmarks: int = param(400)

    def _count(self) -> tuple[str, int]:
        return "n_landmarks", self.n_landmarks

    def _cost_of_map(self, rows: int, features: int) -> tuple[float, Work]:
        work = landmarks(rows, features, self.n_landmarks, rounds=_ROUNDS, at_once=_DRAWN_AT_ONCE)
        return 0.3 * cluster_bytes(rows, features, _DRAWN_AT_ONCE), work

    def _map(
        self, X: Array, kernel: Kernel, rng: np.random.Generator, context: Context
    ) -> FeatureMap:
        landmarks = X
        if self.n_landmarks < len(X):
            landmarks = k_means(
                X,
                self.n_landmarks,
                rng,
                context.monitor,
                _ROUNDS,
                at_once=_DRAWN_AT_ONCE,
                dtype=np.float32,
            )
        return nystrom_map(kernel, landmarks)

    def _block_space(self, rows: Passes, monitor: Monitor) -> Space:
        rng = self._rng()
        sample = rows.take(rows_to_cluster(len(rows), rng))
        settings = KernelSettings(kernel="rbf", gamma=self.gamma)
        kernel = settings.resolve_kernel_by(rows.features, lambda: mean_variance(rows))
        feature_map = self._map(sample, kernel, rng, Context(monitor))
        few = rows.take(rows_for_mean(len(rows)))
        return BlockVectors(rows, Shifted.about(feature_map, few, self._precision(len(rows))))


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

    n_components: int = param(400)

    def _count(self) -> tuple[str, int]:
        return "n_components", self.n_components

    def _cost_of_map(self, rows: int, features: int) -> tuple[float, Work]:
        cells = rows * self.n_components
        return 0.0, Work(products=cells * features, numbers=4 * cells, exponentials=2 * cells)

    def _map(
        self, X: Array, kernel: Kernel, rng: np.random.Generator, context: Context
    ) -> FeatureMap:
        origin = np.average(X, axis=0, weights=context.weights)
        return fourier_map(kernel.gamma, origin, self.n_components, rng)
