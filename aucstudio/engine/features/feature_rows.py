"""The rows as features in which a kernel's scorer is linear: themselves, a factor, or landmarks.

Symbols: K kernel matrix, K = F F^T; phi(x) the features of a row; w direction among them.
"""

from __future__ import annotations

import functools
from typing import Protocol

import numpy as np
from scipy import sparse

from aucstudio.engine.base import Array
from aucstudio.engine.features.fourier import rows_for_mean
from aucstudio.engine.features.kernels import Kernel, KernelSettings
from aucstudio.engine.features.nystrom import NystromMap, k_means, nystrom_map
from aucstudio.engine.linalg import KernelFactor, kernel_factor
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.scorers import LinearScorer, Scorer, trimmed
from aucstudio.engine.solvers.cutting_plane import Rows

MAX_EXACT_ROWS = 3_000
DEFAULT_LANDMARKS = 500

_SEED = 0


class FeatureRows(Protocol):
    """Training rows as features; all scores may differ from the scorer's by one constant.

    Attributes
    ----------
    features : ndarray or CSR matrix of shape (N, r)
    notes : tuple of str
        What the analyst should know of them.
    """

    features: Rows
    notes: tuple[str, ...]

    def scorer(self, w: Array) -> Scorer:
        """Give <w, phi(x)> as a function of rows."""

    def direction(self, scorer: Scorer) -> Array | None:
        """Give the w whose scorer is nearest to another scorer, or None if that is unknown."""


def feature_rows(
    X: Rows,
    settings: KernelSettings,
    n_landmarks: int | None,
    monitor: Monitor,
    given: Kernel | None = None,
) -> FeatureRows:
    """Choose the features: the rows for a linear kernel, else a factor of K or landmarks.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (N, d)
    settings : KernelSettings
    n_landmarks : int or None
        None: the exact factor up to 3,000 rows, 500 landmarks beyond.
    monitor : Monitor
        Hears of the stages "landmarks", "kernel matrix", "features" and "factorising".
    given : Kernel, optional
        Kernel values of the caller's own.

    Raises
    ------
    InvalidSetting
        For sparse rows with a kernel other than the linear one.
    """
    if settings.kernel == "linear":
        return LinearRows(X)
    if sparse.issparse(X):
        raise InvalidSetting("kernel", "sparse rows are possible with the linear kernel only")
    kernel = settings.settle_kernel(X, given)
    if n_landmarks is None and len(X) <= MAX_EXACT_ROWS:
        return FactorRows(X, kernel, monitor)
    if given is not None:
        if n_landmarks is not None:
            raise InvalidSetting(
                "n_landmarks",
                "landmarks are centres of clusters of rows, which a precomputed kernel hides: "
                "leave it out",
            )
        return FactorRows(X, kernel, monitor)
    count = min(n_landmarks or DEFAULT_LANDMARKS, len(X))
    return LandmarkRows(X, kernel, count, monitor)


class LinearRows:
    """The rows themselves, less their mean where that saves digits."""

    notes: tuple[str, ...] = ()

    def __init__(self, X: Rows) -> None:
        self.features: Rows = X if sparse.issparse(X) else centred(X)

    def scorer(self, w: Array) -> Scorer:
        return LinearScorer(w)

    def direction(self, scorer: Scorer) -> Array | None:
        return scorer.weights if isinstance(scorer, LinearScorer) else None


class FactorRows:
    """The rows of a factor of the whole kernel matrix: exact."""

    notes: tuple[str, ...] = ()

    def __init__(self, X: Array, kernel: Kernel, monitor: Monitor) -> None:
        K = kernel(X, X, functools.partial(monitor.stage, "kernel matrix"))
        monitor.stage("factorising")
        factor = kernel_factor(K)
        self._kernel, self._points = kernel, X[factor.pivots]
        everyone = np.arange(len(factor.pivots))
        self._pivots = KernelFactor(factor.F[factor.pivots], everyone, factor.remainder)
        self.features: Rows = shifted_in_place(factor.F)

    def scorer(self, w: Array) -> Scorer:
        weights = self._pivots.represent(w, np.zeros(len(w)))
        return trimmed(self._kernel, self._points, weights)

    def direction(self, scorer: Scorer) -> Array | None:
        return self._pivots.project(scorer(self._points))


class LandmarkRows:
    """Nystrom features: what the rows have in common with some landmarks."""

    def __init__(self, X: Array, kernel: Kernel, count: int, monitor: Monitor) -> None:
        landmarks = k_means(X, count, np.random.default_rng(_SEED), monitor)
        self._map: NystromMap = nystrom_map(kernel, landmarks)
        features = self._map(X, functools.partial(monitor.stage, "features"))
        self.features: Rows = shifted_in_place(features)
        self.notes: tuple[str, ...] = (
            f"The kernel was approximated on {len(landmarks):,} landmarks, centres of clusters "
            "of the rows.",
        )

    def scorer(self, w: Array) -> Scorer:
        return self._map.scorer(w)

    def direction(self, scorer: Scorer) -> Array | None:
        return self._map.project(scorer(self._map.landmarks))


def shifted_in_place(features: Array) -> Array:
    """Shift the rows by their mean, without a copy; pair margins stay the same."""
    features -= features.mean(axis=0)
    return features


def centred(X: Array) -> Array:
    """Shift the rows by their mean where that saves digits; pair margins stay the same.

    A feature whose mean is within its standard deviation is near enough to 0: X itself is
    returned if all are, on rows here and there, else a shifted copy.
    """
    mean = shift_for_digits(X[rows_for_mean(len(X))])
    return X if mean is None else X - mean


def shift_for_digits(few: Array) -> Array | None:
    """Give the mean of some rows where subtracting it saves digits, else None."""
    mean: Array = few.mean(axis=0)
    square = np.einsum("ij,ij->j", few, few) / len(few)
    return None if np.all(2 * mean**2 <= square) else mean


def mean_square(features: Rows) -> float:
    """Give the mean of |phi(x)|^2 over the rows."""
    if isinstance(features, np.ndarray):
        return float(np.einsum("ij,ij->", features, features)) / len(features)
    return float(features.data @ features.data) / int(features.shape[0])
