"""RankSVM on random waves, which stand in for the Gaussian kernel.

Symbols: D random features.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from aucstudio.engine.cost import Work
from aucstudio.engine.features.fourier import fourier_map
from aucstudio.engine.features.maps import FeatureMap
from aucstudio.engine.fit import Context
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.methods.ranking._gaussian_features import (
    COUNTS,
    GaussianFeatures,
)
from aucstudio.engine.params import param
from aucstudio.engine.types import Array


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class RFAUC(GaussianFeatures):
    """RankSVM on random Fourier features: a Gaussian kernel as a mean of random waves.

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))^2`` over all pairs of a
    positive and a negative, f(x) = <w, phi(x)>, phi(x) = (cos omega_l.x, sin omega_l.x) sqrt(2/D)
    with D / 2 random frequencies omega_l (an odd D is
    rounded up). The paper sums over the pairs: C_paper = C / (m n).

    The error of the kernel falls as 1 / sqrt(D), whatever the rows are; landmarks, which see the
    rows, usually need fewer features. Precision as in :class:`NBAUC`.

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
        "RankSVM with a Gaussian kernel approximated by random Fourier features; the "
        "baseline for NBAUC."
    )
    in_words: ClassVar[str] = "Kernel RankSVM, random Fourier features"
    use_when: ClassVar[str] = (
        "As a comparison for NBAUC, which usually needs fewer features for the same ranking."
    )

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
