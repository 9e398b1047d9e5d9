"""RankSVM on features that approximate the Gaussian kernel.

Symbols: v landmarks; D random features; b mean squared distance of the rows to their mean,
gamma = 1 / b.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from aucstudio.engine.cost import Cost, Work, cost_of
from aucstudio.engine.features.maps import FeatureMap
from aucstudio.engine.features.spaces import Space, mapped
from aucstudio.engine.fit import Context
from aucstudio.engine.kernels import Kernel, KernelSettings, width
from aucstudio.engine.methods.ranking._newton import PairNewton, newton
from aucstudio.engine.methods.settings import cost
from aucstudio.engine.params import InvalidSetting, param
from aucstudio.engine.types import Array, Mask

MOST_BYTES = 8e9

_SINGLE_TOL = 1e-6
# Of features that take less room than this there is no need to save any.
_FEW_CELLS = 4_000_000


class GaussianFeatures(PairNewton):
    """The settings and the features of the methods that approximate a Gaussian kernel."""

    gamma: float | str = width({})
    C: float = cost(1_000.0, range(0, 7))
    random_state: int = param(0, "Random seed.", label="Seed", low=0, high=2**32 - 1)

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
            raise InvalidSetting(
                name,
                f"{count:,} features of {len(X):,} rows take {size / 1e9:.1f} GB; at most "
                f"{MOST_BYTES / 1e9:g} GB are possible: lower {name} or train on a sample",
            )
        settings = KernelSettings(kernel="rbf", gamma=self.gamma)
        kernel = settings.resolve_kernel(X, weights=context.weights)
        feature_map = self._map(X, kernel, self._rng(), context)
        return mapped(feature_map, X, monitor, dtype, weights=context.weights)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, (name, count) = positives + negatives, self._count()
        size = np.dtype(self._precision(N)).itemsize
        memory, work = newton(N, count, size)
        memory += float(size) * N * count + self._map_bytes(N, features)
        words = f"lower {name}"
        if size > 4 and N * count > _FEW_CELLS:
            words = f"set tol to 1e-6, which float32 allows, or {words}"
        return cost_of(N, memory, work + self._map_work(N, features), (name, words))

    @abstractmethod
    def _map_work(self, rows: int, features: int) -> Work:
        """Count what making the map and the features takes."""

    def _map_bytes(self, rows: int, features: int) -> float:
        """Return the memory that making the map adds to what comes later."""
        return 0.0

    def _precision(self, rows: int) -> type[np.floating[Any]]:
        """Return the precision in which the features of so many rows are kept."""
        is_large = rows * self._count()[1] > _FEW_CELLS
        return np.float32 if is_large and self.tol >= _SINGLE_TOL else np.float64

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.random_state)
