"""Single-precision features on one scale, for stochastic methods.

Symbols: phi(x) the row itself, or its Nystrom features; F features of all rows, centred and
divided by a scale such that the mean of |F_i|^2 is 1, with the origin as one more row.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from aucstudio.engine.arrays import Array, Single
from aucstudio.engine.blocks import Passes
from aucstudio.engine.features import NystromMap
from aucstudio.engine.linalg import chunks
from aucstudio.engine.scorers import LinearScorer, Scorer

Progress = Callable[[float], None]

_SAME = 1e-13  # of the largest feature: a spread as small as this is rounding


def _unreported(_: float) -> None:
    """Report no progress."""


@dataclasses.dataclass(frozen=True, eq=False)
class Embedding:
    """How a row becomes a row of F.

    What is subtracted before the rounding to single precision is near the mean of phi, so that
    neither a far offset costs digits nor a kernel under which all rows are nearly alike.

    Attributes
    ----------
    nystrom : NystromMap or None
        None: phi(x) = x.
    near : ndarray of shape (r,)
        Near the mean of phi.
    unit : float
        What phi(x) - near is divided by to be a number of ordinary size.
    shift : ndarray of float32, shape (r,)
        Mean of (phi(x) - near) / unit.
    spread : float
        Root of the mean square of what then is left; 0 if that is rounding alone.
    """

    nystrom: NystromMap | None
    near: Array
    unit: float
    shift: Single
    spread: float

    @property
    def scale(self) -> float:
        """What differences of phi are divided by in F; 1 if there are none."""
        return self.unit * self.spread or 1.0

    def __call__(self, X: Array, progress: Progress = _unreported) -> Single:
        """Compute F for the rows of X, shape (len(X) + 1, r); report chunks to ``progress``."""
        F = _filled(X, self.nystrom, self.near, self.unit, progress)
        for rows in chunks(len(X)):
            F[rows] -= self.shift
        _divide(F, self.spread, progress)
        return F

    def scorer(self, w: Array) -> Scorer:
        """Return <w, F(x)> as a function of rows, but for a constant."""
        weights = w / self.scale
        return LinearScorer(weights) if self.nystrom is None else self.nystrom.scorer(weights)


def embed(X: Array, nystrom: NystromMap | None, progress: Progress) -> tuple[Embedding, Single]:
    """Make the embedding that suits the rows of X, and F for them."""
    near, unit, largest = _place(nystrom, lambda: (X.mean(axis=0), X.max(axis=0), X.min(axis=0)))
    F = _filled(X, nystrom, near, unit, progress)
    shift = F[:-1].mean(axis=0, dtype=np.float64).astype(np.float32)
    square = 0.0
    for rows in chunks(len(X)):
        F[rows] -= shift
        square += float(np.einsum("ij,ij->", F[rows], F[rows]))
        progress(1.0)
    spread = _beyond_rounding(float(np.sqrt(square / len(X))), unit, largest)
    _divide(F, spread, progress)
    return Embedding(nystrom, near, unit, shift, spread), F


def embed_blocks(rows: Passes, nystrom: NystromMap | None) -> Embedding:
    """Make the embedding that suits rows in blocks; one pass, two without a map."""
    near, unit, largest = _place(nystrom, lambda: _centre(rows))
    count, square, mean = 0, 0.0, np.zeros(len(near))
    for _, X in rows.pieces(width=len(near)):
        f = _filled(X, nystrom, near, unit, _unreported)[:-1].astype(np.float64)
        off = f.mean(axis=0) - mean
        square += float(np.square(f - (mean + off)).sum())
        square += float(off @ off) * count * len(f) / (count + len(f))
        count += len(f)
        mean += off * len(f) / count
    spread = _beyond_rounding(float(np.sqrt(square / count)), unit, largest)
    return Embedding(nystrom, near, unit, mean.astype(np.float32), spread)


def _centre(rows: Passes) -> tuple[Array, Array, Array]:
    """Return mean, greatest and least value of every feature; one pass."""
    total, high, low = np.zeros(rows.features), -np.inf, np.inf
    for _, X in rows.pieces():
        total += X.sum(axis=0)
        high, low = np.maximum(high, X.max(axis=0)), np.minimum(low, X.min(axis=0))
    return total / len(rows), np.asarray(high), np.asarray(low)


def _place(
    nystrom: NystromMap | None, extent: Callable[[], tuple[Array, Array, Array]]
) -> tuple[Array, float, float]:
    """Return ``near`` and ``unit`` of an embedding, and the largest number among features."""
    if nystrom is not None:
        near = nystrom(nystrom.landmarks).mean(axis=0)
        return near, 1.0, float(np.abs(near).max())
    near, high, low = extent()
    unit = float(np.maximum(high - near, near - low).max()) or 1.0
    return near, unit, float(np.abs([high, low]).max())


def _beyond_rounding(spread: float, unit: float, largest: float) -> float:
    """Return the spread, or 0 if it is rounding alone."""
    return 0.0 if unit * spread <= _SAME * largest else spread


def _filled(
    X: Array, nystrom: NystromMap | None, near: Array, unit: float, progress: Progress
) -> Single:
    F = np.zeros((len(X) + 1, len(near)), dtype=np.float32)
    for rows in chunks(len(X)):
        phi = X[rows] if nystrom is None else nystrom(X[rows])
        F[rows] = (phi - near) / unit
        progress(min(1.0, rows.stop / len(X)))
    return F


def _divide(F: Single, spread: float, progress: Progress) -> None:
    for rows in chunks(len(F) - 1):
        if spread:
            F[rows] /= np.float32(spread)
        else:
            F[rows] = 0.0
        progress(1.0)
