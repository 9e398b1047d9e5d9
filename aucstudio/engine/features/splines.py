"""Additive models: the sum of one spline or step function per feature.

Symbols: u standardised value of a feature; k_1 < ... < k_L knots; N_l natural cubic splines;
theta a threshold; Omega_ab = int f_a''(u) f_b''(u) du roughness of two functions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from aucstudio.engine.arrays import Array, Index, portions
from aucstudio.engine.scorers import Scorer

_MOST_LEVELS = 10
_SAME_SHARE = 1e-10
_ROWS_PER_CHUNK = 16_384


@dataclasses.dataclass(frozen=True, eq=False)
class Pieces:
    """Functions of one number x that are cubic between breaks: on piece q, c_0 + c_1 t + ...

    t = x - origins_q. Piece q holds the x above q of the breaks; a break belongs to the piece on
    its left.

    Attributes
    ----------
    breaks : ndarray of shape (n_breaks,)
        Ascending.
    origins : ndarray of shape (n_breaks + 1,)
    coefficients : ndarray of shape (n_functions, n_breaks + 1, 4)
    """

    breaks: Array
    origins: Array
    coefficients: Array

    def __call__(self, x: Array) -> Array:
        """Evaluate all functions, shape (n_functions, len(x)); 0 where x is NaN."""
        known = np.flatnonzero(~np.isnan(x))
        values = np.zeros((len(self.coefficients), len(x)))
        piece = np.searchsorted(self.breaks, x[known])
        t = x[known] - self.origins[piece]
        c = self.coefficients
        inner = (c[:, piece, 3] * t + c[:, piece, 2]) * t + c[:, piece, 1]
        values[:, known] = inner * t + c[:, piece, 0]
        return values

    def combined(self, weights: Array) -> Pieces:
        """Make the one function that is the weighted sum of all."""
        summed = np.tensordot(weights, self.coefficients, axes=1)
        return Pieces(self.breaks, self.origins, summed[None])


@dataclasses.dataclass(frozen=True, eq=False)
class Basis:
    """Functions of one feature, to be weighed and added; their mean over the known values is 0.

    Attributes
    ----------
    pieces : Pieces
        May hold no function, where the feature is constant.
    roughness : ndarray of shape (n_functions, n_functions)
        Omega, with second derivatives and integral in standard deviations of the feature.
    """

    pieces: Pieces
    roughness: Array

    def __len__(self) -> int:
        return len(self.roughness)


def basis(x: Array, n_knots: int = 10, weights: Array | None = None) -> Basis:
    """Choose the functions of one feature: stumps for up to 10 distinct values, else splines.

    Splines are the N_l of :func:`natural_splines` in the standardised value u, scaled to a
    standard deviation of 1, on up to ``n_knots`` quantiles. Stumps are
    1(x > theta), theta half way between neighbouring values, and are not rough.

    Parameters
    ----------
    x : ndarray of shape (N,)
        Training values; NaN where not known.
    n_knots : int
        At least 2, which leaves the straight line.
    weights : ndarray of shape (N,), optional
        Of the rows, greater than 0: a row of weight 2 is a row twice.
    """
    is_known = ~np.isnan(x)
    known, weights = x[is_known], np.ones(len(x)) if weights is None else weights
    shares = weights[is_known] / max(weights[is_known].sum(), np.finfo(np.float64).tiny)
    levels = np.unique(known)
    if len(levels) <= _MOST_LEVELS:
        pieces = _stumps(levels)
        return Basis(_centred(pieces, known, shares), np.zeros((len(pieces.coefficients),) * 2))
    mean = float(shares @ known)
    scale = float(np.sqrt(shares @ (known - mean) ** 2))
    knots = _quantiles(known, shares, n_knots)
    splines = natural_splines((knots - mean) / scale)
    pieces = _centred(splines.pieces(knots, scale), known, shares)
    size = 1 / np.sqrt(pieces(known) ** 2 @ shares)
    scaled = Pieces(pieces.breaks, pieces.origins, pieces.coefficients * size[:, None, None])
    return Basis(scaled, splines.roughness() * np.outer(size, size))


def _quantiles(known: Array, shares: Array, count: int) -> Array:
    """Return the distinct ones of the quantiles (q + 1/2) / count of values with their shares.

    Repeating all values moves none: numpy's "averaged_inverted_cdf", without its rounding.
    """
    order = np.argsort(known, kind="stable")
    ascending, reached = known[order], np.cumsum(shares[order])
    wanted = (np.arange(count) + 0.5) / count
    # Where a step of the distribution ends at the very share wanted, up to rounding, the quantile
    # is midway between the two values.
    low = ascending[np.searchsorted(reached, wanted - _SAME_SHARE)]
    high = ascending[np.searchsorted(reached, wanted + _SAME_SHARE, side="right")]
    return np.unique(low + (high - low) / 2)


def _stumps(levels: Array) -> Pieces:
    thresholds = levels[:-1] + np.diff(levels) / 2
    coefficients = np.zeros((len(thresholds), max(1, len(levels)), 4))
    coefficients[:, :, 0] = np.tri(*coefficients.shape[:2][::-1], k=-1).T
    return Pieces(thresholds, np.zeros(len(thresholds) + 1), coefficients)


def _centred(pieces: Pieces, known: Array, shares: Array) -> Pieces:
    if not len(pieces.coefficients):
        return pieces
    coefficients = pieces.coefficients.copy()
    coefficients[:, :, 0] -= (pieces(known) @ shares)[:, None]
    return Pieces(pieces.breaks, pieces.origins, coefficients)


@dataclasses.dataclass(frozen=True, eq=False)
class Splines:
    """Natural cubic splines as they are at their knots; cubic between them, straight outside.

    Attributes
    ----------
    knots : ndarray of shape (L,)
    value, slope, bend : ndarray of shape (n_functions, L)
        The function and its first and second derivative; ``bend`` is 0 at both ends.
    """

    knots: Array
    value: Array
    slope: Array
    bend: Array

    def roughness(self) -> Array:
        """Return Omega exactly: second derivatives are straight between the knots."""
        h, a, b = np.diff(self.knots), self.bend[:, :-1], self.bend[:, 1:]
        cross = (a * h) @ b.T
        omega: Array = (2 * ((a * h) @ a.T + (b * h) @ b.T) + cross + cross.T) / 6
        return omega

    def pieces(self, at: Array, scale: float) -> Pieces:
        """Write the splines in x with knots ``at`` and u growing by 1 over each ``scale``."""
        third = np.diff(self.bend) / np.diff(self.knots)
        count, L = self.value.shape
        coefficients = np.zeros((count, L + 1, 4))
        coefficients[:, 1:, :3] = np.stack((self.value, self.slope, self.bend / 2), axis=2)
        coefficients[:, 1:-1, 3] = third / 6
        coefficients[:, 0, :2] = coefficients[:, 1, :2]
        return Pieces(at, np.r_[at[0], at], coefficients / scale ** np.arange(4))


def natural_splines(knots: Array) -> Splines:
    """Return the natural cubic splines that vanish left of a knot, after the straight line.

    N_1 = u and N_{l+1} = d_l - d_{L-1} for l = 1..L-2, where
    d_l(u) = ((u - k_l)^3_+ - (u - k_L)^3_+) / (k_L - k_l). They are integrated from their second
    derivatives, which are nonnegative: as it stands, d_l loses its digits far from the knots.

    Parameters
    ----------
    knots : ndarray of shape (L,)
        Ascending, L >= 1.

    References
    ----------
    Hastie, Tibshirani and Friedman, The elements of statistical learning, section 5.2.1.
    """
    L = len(knots)
    bend = np.zeros((max(1, L - 1), L))
    if L > 2:
        ramps = 6 * np.maximum(knots - knots[:-1, None], 0.0) / (knots[-1] - knots[:-1, None])
        bend[1:, :-1] = (ramps[:-1] - ramps[-1])[:, :-1]
    slope, value = np.zeros_like(bend), np.zeros_like(bend)
    slope[0], value[0] = 1.0, knots
    h, a, b = np.diff(knots), bend[1:, :-1], bend[1:, 1:]
    slope[1:, 1:] = np.cumsum(h * (a + b) / 2, axis=1)
    value[1:, 1:] = np.cumsum(h * slope[1:, :-1] + h**2 * (2 * a + b) / 6, axis=1)
    return Splines(knots, value, slope, bend)


@dataclasses.dataclass(frozen=True, eq=False)
class AdditiveScorer(Scorer):
    """Scores sum_k F_k(x_k), each F_k cubic between breaks; a feature that is not known adds 0.

    Function c is the :class:`Pieces` of feature ``feature[c]`` with the next ``n_breaks[c]``
    of the ``breaks`` and one more of the ``origins`` and rows of ``coefficients``.

    Attributes
    ----------
    feature, n_breaks : ndarray of int, shape (n_functions,)
    breaks : ndarray of shape (sum of n_breaks,)
    origins : ndarray of shape (sum of n_breaks + 1,)
    coefficients : ndarray of shape (sum of n_breaks + 1, 4)

    Raises
    ------
    ValueError
        If the arrays do not fit together.
    """

    feature: Index
    n_breaks: Index
    breaks: Array
    origins: Array
    coefficients: Array
    kind: ClassVar[str] = "additive"
    layout: ClassVar[Mapping[str, str]] = {
        "feature": "int n",
        "n_breaks": "int n",
        "breaks": "float b",
        "origins": "float p",
        "coefficients": "float p 4",
    }

    def __post_init__(self) -> None:
        n_pieces = int(np.sum(self.n_breaks)) + len(self.feature)
        sound = (
            len(self.n_breaks) == len(self.feature)
            and len(self.breaks) == n_pieces - len(self.feature)
            and self.origins.shape == (n_pieces,)
            and self.coefficients.shape == (n_pieces, 4)
            and bool((self.feature >= 0).all() and (self.n_breaks >= 0).all())
        )
        if not sound:
            raise ValueError("the arrays of the additive model are inconsistent")

    def __call__(self, X: Array) -> Array:
        if len(self.feature) and X.shape[1] <= self.feature.max():
            raise ValueError(f"the additive model needs {self.feature.max() + 1} features")
        scores = np.zeros(len(X))
        for rows in portions(len(X), 1, _ROWS_PER_CHUNK):
            for c, k in enumerate(self.feature):
                scores[rows] += self._function(c)(X[rows, k])[0]
        return scores

    def component(self, k: int, x: Array) -> Array:
        """Evaluate F_k at values x of feature k, shape of x; 0 if the model leaves k out."""
        total = np.zeros(len(x))
        for c in np.flatnonzero(self.feature == k):
            total += self._function(int(c))(x)[0]
        return total

    def _function(self, c: int) -> Pieces:
        first = int(np.sum(self.n_breaks[:c]))
        last = first + int(self.n_breaks[c])
        pieces = slice(first + c, last + c + 1)
        return Pieces(
            self.breaks[first:last], self.origins[pieces], self.coefficients[None, pieces]
        )


def additive_scorer(feature: Sequence[int], functions: Sequence[Pieces]) -> AdditiveScorer:
    """Make a scorer of single functions, one for each listed feature."""
    parts = [Pieces(np.zeros(0), np.zeros(0), np.zeros((1, 0, 4))), *functions]
    return AdditiveScorer(
        feature=np.array(feature, dtype=np.intp),
        n_breaks=np.array([len(part.breaks) for part in functions], dtype=np.intp),
        breaks=np.concatenate([part.breaks for part in parts]),
        origins=np.concatenate([part.origins for part in parts]),
        coefficients=np.concatenate([part.coefficients[0] for part in parts]),
    )


def weighted_scorer(bases: Sequence[Basis], weights: Sequence[Array]) -> AdditiveScorer:
    """Make the scorer of weighted functions of all features, without those not in use."""
    used = [k for k, own in enumerate(weights) if own.any()]
    return additive_scorer(used, [bases[k].pieces.combined(weights[k]) for k in used])
