"""RankSVM on features that stand in for the Gaussian kernel: landmarks, or random waves.

Symbols: v landmarks; D random features; b mean squared distance of the rows to their mean,
gamma = 1 / b.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.base import Array
from aucstudio.engine.blocks import Passes
from aucstudio.engine.cost import NUMBER, Cost, Work, cluster_bytes, cost_of, landmarks
from aucstudio.engine.features.fourier import (
    FeatureMap,
    embed,
    fourier_map,
    near_mean,
    rows_for_mean,
)
from aucstudio.engine.features.kernels import Kernel, KernelSettings, width
from aucstudio.engine.features.nystrom import k_means, nystrom_map, rows_to_cluster
from aucstudio.engine.methods.least_squares.block_moments import mean_variance
from aucstudio.engine.methods.ranking.rank_svm import Embedded, PairNewton, newton
from aucstudio.engine.methods.settings import cost
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import InvalidSetting, param
from aucstudio.engine.solvers.rank_designs import BlocksDesign, Design, RowsDesign

MOST_BYTES = 8e9

_SINGLE_TOL = 1e-6
_ROUNDS = 5
_DRAWN_AT_ONCE = 16
_COUNTS = (50, 100, 200, 400, 800, 1_600)


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class GaussianFeatures(PairNewton):
    """The settings and the features of the methods that approximate a Gaussian kernel."""

    gamma: float | str = width({})
    C: float = cost(
        1_000.0, "Weight of the mean pair loss against the size of the weights.", range(0, 7)
    )
    random_state: int = param(
        0, "Where the random choices begin.", label="Seed", low=0, high=2**32 - 1
    )

    @abstractmethod
    def _map(
        self, X: Array, kernel: Kernel, rng: np.random.Generator, monitor: Monitor
    ) -> FeatureMap:
        """Make the map to the features."""

    @abstractmethod
    def _count(self) -> tuple[str, int]:
        """Give name and value of the setting that says how many features there are."""

    def _embed(self, X: Array, monitor: Monitor) -> Embedded:
        name, count = self._count()
        dtype = np.float32 if self.tol >= _SINGLE_TOL else np.float64
        size = len(X) * count * np.dtype(dtype).itemsize
        if size > MOST_BYTES:
            raise InvalidSetting(
                name,
                f"{count:,} features of {len(X):,} rows take {size / 1e9:.1f} GB; at most "
                f"{MOST_BYTES / 1e9:g} GB are possible: lower {name} or train on a sample",
            )
        kernel = KernelSettings(kernel="rbf", gamma=self.gamma).settle_kernel(X)
        return _MappedRows(X, self._map(X, kernel, self._rng(), monitor), dtype, monitor)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Say what a fit takes; see the base class."""
        N, (name, count) = positives + negatives, self._count()
        size = 4 if self.tol >= _SINGLE_TOL else NUMBER
        memory, work = newton(N, count, size)
        memory += float(size) * N * count + self._map_bytes(N, features)
        words = f"lower {name}" if size == 4 else f"let tol be 1e-6, for float32, or lower {name}"
        return cost_of(N, memory, work + self._map_work(N, features), (name, words))

    @abstractmethod
    def _map_work(self, rows: int, features: int) -> Work:
        """Count what making the map and the features takes."""

    def _map_bytes(self, rows: int, features: int) -> float:
        """Give the memory that making the map adds to what comes later."""
        return 0.0

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.random_state)


class _MappedRows:
    """Rows as features of a map, kept in single precision unless more is asked for."""

    def __init__(
        self, X: Array, feature_map: FeatureMap, dtype: type[Any], monitor: Monitor
    ) -> None:
        self.scorer = feature_map.scorer
        self.design: Design = RowsDesign(embed(feature_map, X, dtype, monitor))


class _MappedBlocks:
    """Rows in blocks as features of a map, made anew in every pass."""

    def __init__(
        self, rows: Passes, feature_map: FeatureMap, dtype: type[np.floating[Any]]
    ) -> None:
        self.scorer = feature_map.scorer
        mapped, mean = near_mean(feature_map, rows.take(rows_for_mean(len(rows))), dtype)

        def features(X: Array) -> NDArray[Any]:
            return np.asarray(mapped(X) - mean, dtype=dtype)

        self.design: Design = BlocksDesign(rows, len(mean), features)


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class NBAUC(GaussianFeatures):
    """RankSVM on Nystrom features: a Gaussian kernel through its values at some landmarks.

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))^2`` over all pairs of a
    positive and a negative, f(x) = <w, phi(x)>, phi(x) = S_r^-1/2 V_r' k(U, x) with the
    landmarks U and k(U, U) = V S V'. The paper sums over the pairs: C_paper = C / (m n).

    Landmarks are centres of clusters of the rows; from as many landmarks as rows on, the rows
    themselves, and the method is kernel RankSVM. The paper's width, 1 / b with b the mean squared
    distance of the rows to their mean, is ``"scale"`` where features are standardised. Features
    are kept in single precision, which moves ``objective_`` by some millionths, unless ``tol``
    is below 1e-6. Of rows that come in blocks no features are kept: they are made anew in every
    pass, of which there is one more than with RankSVM.

    Parameters
    ----------
    n_landmarks : int
        v; time grows with its square, memory with v N.
    gamma : float, "scale" or "auto"
        Of exp(-gamma |x - z|^2).
    C : float
        Weight of the mean pair loss.
    tol : float
        Relative gap to reach.
    random_state : int
        Seed of the clustering.

    Raises
    ------
    InvalidSetting
        If the features take more than 8 GB.

    References
    ----------
    Khalid, Ray and Chitsaz (2018), Scalable nonlinear AUC maximization methods, Algorithms 1
    and 2 (with a line search, and with the feature map in its conformable form); Zhang, Tsang
    and Kwok (2008).
    """

    key: ClassVar[str] = "nbauc"
    title: ClassVar[str] = "NBAUC"
    adds_up: ClassVar[bool] = True
    source: ClassVar[str] = (
        "Khalid, Ray and Chitsaz (ECML PKDD 2018), Scalable nonlinear AUC maximization methods"
    )
    summary: ClassVar[str] = (
        "RankSVM with a Gaussian kernel seen from some hundred landmarks: curved borders for "
        "many rows."
    )
    in_words: ClassVar[str] = "Kernel ranking machine on landmarks"
    use_when: ClassVar[str] = (
        "Curved borders on many rows: a few hundred landmarks stand for the whole kernel."
    )

    n_landmarks: int = param(
        400,
        "Cluster centres that stand for all rows in the kernel.",
        label="Landmarks",
        symbol="v",
        low=1,
        high=2_000,
        log=True,
        grid=_COUNTS,
    )

    def _count(self) -> tuple[str, int]:
        return "n_landmarks", self.n_landmarks

    def _map_work(self, rows: int, features: int) -> Work:
        count = self.n_landmarks
        return landmarks(rows, features, count, rounds=_ROUNDS, at_once=_DRAWN_AT_ONCE)

    def _map_bytes(self, rows: int, features: int) -> float:
        return 0.3 * cluster_bytes(rows, features, _DRAWN_AT_ONCE)

    def _map(
        self, X: Array, kernel: Kernel, rng: np.random.Generator, monitor: Monitor
    ) -> FeatureMap:
        landmarks = X
        if self.n_landmarks < len(X):
            landmarks = k_means(
                X,
                self.n_landmarks,
                rng,
                monitor,
                _ROUNDS,
                at_once=_DRAWN_AT_ONCE,
                dtype=np.float32,
            )
        return nystrom_map(kernel, landmarks)

    def _embed_blocks(self, rows: Passes, monitor: Monitor) -> Embedded:
        rng = self._rng()
        sample = rows.take(rows_to_cluster(len(rows), rng))
        settings = KernelSettings(kernel="rbf", gamma=self.gamma)
        kernel = settings.settle_kernel_by(rows.features, lambda: mean_variance(rows))
        dtype = np.float32 if self.tol >= _SINGLE_TOL else np.float64
        return _MappedBlocks(rows, self._map(sample, kernel, rng, monitor), dtype)


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class RFAUC(GaussianFeatures):
    """RankSVM on random Fourier features: a Gaussian kernel as a mean of random waves.

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))^2`` over all pairs of a
    positive and a negative, f(x) = <w, phi(x)>, phi(x) = (cos omega_l.x, sin omega_l.x) sqrt(2/D)
    with D / 2 random frequencies omega_l. The paper sums over the pairs: C_paper = C / (m n).

    The error of the kernel falls as 1 / sqrt(D), whatever the rows are; landmarks, which see the
    rows, usually need fewer features. Precision as in :class:`NBAUC`.

    Parameters
    ----------
    n_components : int
        D; an odd one is rounded up.
    gamma, C, tol
        As in :class:`NBAUC`.
    random_state : int
        Seed of the frequencies.

    Raises
    ------
    InvalidSetting
        If the features take more than 8 GB.

    References
    ----------
    Khalid, Ray and Chitsaz (2018), Scalable nonlinear AUC maximization methods, section 5.2;
    Rahimi and Recht (2008).
    """

    key: ClassVar[str] = "rf-auc"
    title: ClassVar[str] = "RFAUC"
    source: ClassVar[str] = (
        "Rahimi and Recht (2008), Random features for large-scale kernel machines, as used by "
        "Khalid, Ray and Chitsaz (2018)"
    )
    summary: ClassVar[str] = (
        "RankSVM with a Gaussian kernel drawn as random waves: the plain rival of NBAUC."
    )
    in_words: ClassVar[str] = "Kernel ranking machine on random waves"
    use_when: ClassVar[str] = (
        "To compare with NBAUC, which mostly needs fewer features for the same ranking."
    )

    n_components: int = param(
        400,
        "Random features that stand in for the kernel.",
        label="Features",
        symbol="D",
        low=1,
        high=10_000,
        log=True,
        grid=_COUNTS,
    )

    def _count(self) -> tuple[str, int]:
        return "n_components", self.n_components

    def _map_work(self, rows: int, features: int) -> Work:
        cells = float(rows) * self.n_components
        return Work(products=cells * features, numbers=4 * cells, exponentials=2 * cells)

    def _map(
        self, X: Array, kernel: Kernel, rng: np.random.Generator, monitor: Monitor
    ) -> FeatureMap:
        return fourier_map(kernel.gamma, X.mean(axis=0), self.n_components, rng)
