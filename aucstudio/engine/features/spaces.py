"""Training rows as vectors phi(x_i) of a feature space, for all solvers.

A direction w is written down as numbers among features (:class:`Vectors`, :class:`BlockVectors`) or
as weights of the rows (:class:`Expansion`).

Symbols: u_i = <w, phi(x_i)> scores; K kernel matrix, K = F F^T.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index, Rows, Single
from aucstudio.engine.features import (
    FeatureMap,
    Identity,
    MakeScorer,
    Shifted,
    centred,
    k_means,
    mean_row,
    nystrom_map,
    rows_for_mean,
)
from aucstudio.engine.kernels import Kernel, KernelSettings
from aucstudio.engine.linalg import chunks, gram, kernel_factor, nothing
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.scorers import Scorer, trimmed
from aucstudio.notices import Notice, notice, text

if TYPE_CHECKING:
    from aucstudio.engine.blocks import Passes

Pause = Callable[[], None]

MAX_EXACT_ROWS = 3_000
DEFAULT_LANDMARKS = 500

_SEED = 0
_ROWS_PER_CHUNK = 4_096


class Space:
    """Training rows as vectors; all scores may differ from the scorer's by one constant.

    Attributes
    ----------
    size : int
        How many numbers a direction is written down as.
    notes : tuple of Notice
        What the analyst should know of the features.
    """

    size: int
    notes: tuple[Notice, ...] = ()

    @abstractmethod
    def scores(self, w: Array) -> Array:
        """Return <w, phi(x_i)> for all rows."""

    @abstractmethod
    def combine(self, c: Array) -> Array:
        """Return the vector sum_i c_i phi(x_i)."""

    @abstractmethod
    def scorer(self, w: Array, near: Array | None = None) -> Scorer:
        """Return <w, phi(x)> as a function of rows; see :data:`MakeScorer`."""

    def inner(self, a: Array, b: Array, b_scores: Array) -> float:
        """Return <a, b>, the scores of b being known."""
        return float(a @ b)

    def square(self, a: Array) -> float:
        """Return <a, a>."""
        return float(a @ a)


class NumberedSpace(Space):
    """A space whose vectors can be had as numbers: some of them, or sums over all."""

    is_sparse = False

    @abstractmethod
    def take(self, sample: Index) -> NDArray[Any]:
        """Return some rows."""

    @abstractmethod
    def power_sums(self, weights: Array, pause: Pause) -> tuple[Array, Array]:
        """Return weighted sums of the rows and of their squares, for each line of weights."""


class Vectors(NumberedSpace):
    """Vectors as the rows of a matrix, in double or single precision, or sparse.

    Products of single precision rows are summed in double precision over chunks of rows.

    Parameters
    ----------
    matrix : ndarray or CSR matrix of shape (N, r)
    make : MakeScorer, optional
        Makes the scorer of a direction; by default the features are the rows themselves.
    notes : tuple of Notice
    """

    def __init__(
        self,
        matrix: Rows | Single,
        make: MakeScorer | None = None,
        notes: tuple[Notice, ...] = (),
    ) -> None:
        self.matrix: Any = matrix
        self.is_sparse = scipy.sparse.issparse(matrix)
        self.size = matrix.shape[1]
        self.notes = notes
        self._make = make or Identity().scorer

    def scores(self, w: Array) -> Array:
        X = self.matrix
        scores: Array = (X @ w.astype(X.dtype, copy=False)).astype(np.float64, copy=False)
        return scores

    def combine(self, c: Array) -> Array:
        X, c = self.matrix, c.astype(self.matrix.dtype, copy=False)
        if self.is_sparse or X.dtype == np.float64:
            return cast("Array", X.T @ c)
        total = np.zeros(self.size)
        for rows in chunks(len(X), most=_ROWS_PER_CHUNK):
            total += c[rows] @ X[rows]
        return total

    def scorer(self, w: Array, near: Array | None = None) -> Scorer:
        return self._make(w, near)

    def take(self, sample: Index) -> NDArray[Any]:
        return cast("NDArray[Any]", self.matrix[sample])

    def power_sums(self, weights: Array, pause: Pause) -> tuple[Array, Array]:
        if self.is_sparse:
            return weights @ self.matrix, weights @ self.matrix.power(2)
        sums = np.zeros((2, len(weights), self.size))
        for rows in chunks(len(self.matrix), most=_ROWS_PER_CHUNK):
            _add_powers(sums, self.matrix[rows], weights[:, rows])
            pause()
        return sums[0], sums[1]

    def mean_square(self) -> float:
        """Return the mean of |phi(x)|^2 over the rows."""
        X = self.matrix.data[:, None] if self.is_sparse else self.matrix
        return float(np.einsum("ij,ij->", X, X)) / int(self.matrix.shape[0])

    def dual(self, pause: Pause = nothing) -> Expansion:
        """Return the same space with directions written down as weights of the rows."""
        F = self.matrix
        return Expansion(gram(F.T, pause=pause), lambda beta: self.scorer(F.T @ beta, beta))


class BlockVectors(NumberedSpace):
    """Vectors made on the way from rows that come in blocks.

    Every product is one pass over the blocks; so is taking a sample.

    Parameters
    ----------
    passes : Passes
    features : Shifted
        Makes the vectors of some rows.
    """

    def __init__(self, passes: Passes, features: Shifted) -> None:
        self._passes, self._features = passes, features
        self.size = passes.features if features.origin is None else len(features.origin)

    def _pieces(self) -> Iterator[tuple[Index, Vectors]]:
        """Make the vectors chunk by chunk: they may be far more than a row's numbers."""
        for rows, X in self._passes.pieces():
            for chunk in chunks(len(rows), most=_ROWS_PER_CHUNK):
                yield rows[chunk], Vectors(self._features(X[chunk]))

    def scores(self, w: Array) -> Array:
        scores = np.empty(len(self._passes))
        for rows, vectors in self._pieces():
            scores[rows] = vectors.scores(w)
        return scores

    def combine(self, c: Array) -> Array:
        total = np.zeros(self.size)
        for rows, vectors in self._pieces():
            total += vectors.combine(c[rows])
        return total

    def scorer(self, w: Array, near: Array | None = None) -> Scorer:
        return self._features.feature_map.scorer(w, near)

    def take(self, sample: Index) -> NDArray[Any]:
        return self._features(self._passes.take(sample))

    def power_sums(self, weights: Array, pause: Pause) -> tuple[Array, Array]:
        sums = np.zeros((2, len(weights), self.size))
        for rows, vectors in self._pieces():
            _add_powers(sums, vectors.matrix, weights[:, rows])
        return sums[0], sums[1]


class Expansion(Space):
    """The space of a kernel itself: w = sum_i beta_i phi(x_i) is written down as beta.

    Solvers are as well conditioned here as among features with K = phi phi', at the price of one
    product with K for each product with phi, and no factor.

    Parameters
    ----------
    K : ndarray of shape (N, N)
    make : callable
        Makes a scorer of beta.
    """

    def __init__(self, K: Array, make: Callable[[Array], Scorer] | None = None) -> None:
        self.K, self._make = K, make
        self.size = len(K)

    @classmethod
    def of(cls, X: Array, kernel: Kernel, monitor: Monitor) -> Expansion:
        """Compare all rows by a kernel."""
        K = kernel(X, X, functools.partial(monitor.stage, "kernel matrix"))
        return cls(K, functools.partial(trimmed, kernel, X))

    def scores(self, w: Array) -> Array:
        return self.K @ w

    def combine(self, c: Array) -> Array:
        return c

    def inner(self, a: Array, b: Array, b_scores: Array) -> float:
        return float(a @ b_scores)

    def square(self, a: Array) -> float:
        return max(float(a @ (self.K @ a)), 0.0)

    def scorer(self, w: Array, near: Array | None = None) -> Scorer:
        assert self._make is not None
        return self._make(w)


def exact(X: Array, kernel: Kernel, monitor: Monitor) -> Vectors:
    """Return as few features as lose nothing: the rows, or a factor of their kernel matrix.

    The linear kernel, too, is factored where there are fewer rows than features.
    """
    if kernel.is_linear and X.shape[1] <= len(X):
        return Vectors(X)
    K = kernel(X, X, functools.partial(monitor.stage, "kernel matrix"))
    monitor.stage("factorising")
    factor = kernel_factor(K)

    def scorer(w: Array, near: Array | None) -> Scorer:
        near = np.zeros(len(X)) if near is None else near
        return trimmed(kernel, X, factor.represent(w, near))

    return Vectors(factor.F, scorer)


def mapped(
    feature_map: FeatureMap,
    X: Array,
    monitor: Monitor,
    dtype: type[np.floating[Any]] = np.float64,
    notes: tuple[Notice, ...] = (),
    weights: Array | None = None,
) -> Vectors:
    """Compute the features of all rows, less about their mean, chunk by chunk.

    Parameters
    ----------
    feature_map : FeatureMap
    X : ndarray of shape (N, d)
    monitor : Monitor
        Receives the stage "features".
    dtype : type
        ``np.float32`` halves memory and the time of what follows; errors are some 1e-7 of the
        features.
    notes : tuple of Notice
    weights : ndarray of shape (N,), optional
        Of the rows, for the mean.

    Raises
    ------
    Stopped
        If the callback requests a stop.
    """
    few = rows_for_mean(len(X))
    each = None if weights is None else weights[few]
    features = Shifted.about(feature_map, X[few], dtype, each)
    origin = cast("Array", features.origin)
    F = np.empty((len(X), len(origin)), dtype)
    for rows in chunks(len(X)):
        np.subtract(features.feature_map(X[rows]), origin, out=F[rows], casting="same_kind")
        monitor.stage("features", rows.stop / len(X))
    return Vectors(F, feature_map.scorer, notes)


def chosen(
    X: Rows,
    settings: KernelSettings,
    n_landmarks: int | None,
    monitor: Monitor,
    given: Kernel | None = None,
    weights: Array | None = None,
) -> Vectors:
    """Choose the features: the rows for a linear kernel, else a factor of K or landmarks.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (N, d)
    settings : KernelSettings
    n_landmarks : int or None
        None: the exact factor up to 3,000 rows, 500 landmarks beyond.
    monitor : Monitor
        Receives the stages "landmarks", "kernel matrix", "features" and "factorising".
    given : Kernel, optional
        Kernel values of the caller's own.
    weights : ndarray of shape (N,), optional
        Of the rows, by which a kernel's width is worked out.

    Raises
    ------
    InvalidSetting
        For sparse rows with a kernel other than the linear one, and for landmarks among rows that
        a kernel of the caller's hides.
    """
    if settings.kernel == "linear":
        return Vectors(X if scipy.sparse.issparse(X) else centred(X, weights))
    if scipy.sparse.issparse(X):
        raise InvalidSetting("kernel", "sparse rows are possible with the linear kernel only")
    if given is not None and n_landmarks is not None:
        raise InvalidSetting("n_landmarks", text("landmarks_hidden"))
    kernel = settings.resolve_kernel(X, given, weights)
    if given is not None or (n_landmarks is None and len(X) <= MAX_EXACT_ROWS):
        space = exact(X, kernel, monitor)
        space.matrix -= mean_row(space.matrix, weights)  # in place; pair margins stay the same
        return space
    count = min(n_landmarks or DEFAULT_LANDMARKS, len(X))
    landmarks = k_means(X, count, np.random.default_rng(_SEED), monitor)
    note = notice("landmarks", count=len(landmarks))
    return mapped(nystrom_map(kernel, landmarks), X, monitor, notes=(note,))


def _add_powers(sums: Array, X: NDArray[Any], weights: Array) -> None:
    """Add the weighted sums of some rows and of their squares."""
    Z = X.astype(np.float64)
    sums[0] += weights @ Z
    sums[1] += weights @ np.square(Z, out=Z)
