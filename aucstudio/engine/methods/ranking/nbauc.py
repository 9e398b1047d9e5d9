"""NBAUC: RankSVM on Nystrom landmarks.

Symbols: v landmarks; b mean squared distance of the rows to their mean, gamma = 1 / b.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from aucstudio.engine.blocks import Passes, mean_variance
from aucstudio.engine.cost import Work, cluster_bytes, landmarks
from aucstudio.engine.features.maps import FeatureMap, Shifted, rows_for_mean
from aucstudio.engine.features.nystrom import k_means, nystrom_map, rows_to_cluster
from aucstudio.engine.features.spaces import BlockVectors, Space
from aucstudio.engine.fit import Context
from aucstudio.engine.kernels import Kernel, KernelSettings
from aucstudio.engine.methods.ranking._gaussian_features import (
    GaussianFeatures,
)
from aucstudio.engine.methods.settings import landmark_count
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.types import Array

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

    title: ClassVar[str] = "NBAUC"
    adds_up: ClassVar[bool] = True
    weights_differ: ClassVar[str] = "landmarks are chosen without regard to row weights"
    in_words: ClassVar[str] = "Kernel RankSVM, Nyström approximation"

    n_landmarks: int = landmark_count()

    def _count(self) -> tuple[str, int]:
        return "n_landmarks", self.n_landmarks

    def _map_work(self, rows: int, features: int) -> Work:
        count = self.n_landmarks
        return landmarks(rows, features, count, rounds=_ROUNDS, at_once=_DRAWN_AT_ONCE)

    def _map_bytes(self, rows: int, features: int) -> float:
        return 0.3 * cluster_bytes(rows, features, _DRAWN_AT_ONCE)

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
