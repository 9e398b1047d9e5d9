"""Pairs of rows: misranked ones, and difference vectors as dots or density.

Nothing here holds many pairs: in a plane the difference of two rows is the difference of their
places. Symbols are those of :mod:`~aucstudio.project.geometry.planes`; s, t scores of m positives
and n negatives; s − t margin of a pair, misranked where it is not above 0; rank 1 is the highest
negative.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.engine.roc import band_ranks
from aucstudio.project.geometry.planes import Sample, evenly, spread_rows

MISRANKED_DRAWN = 1_000


@dataclasses.dataclass(frozen=True, eq=False)
class Misranked:
    """The pairs whose positive does not score above its negative.

    Attributes
    ----------
    wrong, tied : int
        Pairs with s < t, and with equal scores; exact.
    pairs : int
        All pairs that were looked at.
    rows : ndarray of int, shape (2, k)
        Places of positives and negatives of (an even sample of) these pairs.
    """

    wrong: int
    tied: int
    pairs: int
    rows: Index

    @property
    def count(self) -> float:
        """Wrong pairs plus half the tied ones: (1 − AUC) m n."""
        return self.wrong + 0.5 * self.tied

    @property
    def share(self) -> float:
        """The same as a share of the pairs: 1 − AUC."""
        return self.count / self.pairs


@dataclasses.dataclass(frozen=True, eq=False)
class PairOrder:
    """The rows of both classes by score; made once, in O(N log N).

    Attributes
    ----------
    positives, negatives : ndarray of int
        Places of the rows, lowest score first.
    s, t : ndarray of float
        Their scores.
    tied_from, wrong_from : ndarray of int, shape (m,)
        For each positive the first negative that scores as high, and the first that scores
        higher.
    """

    positives: Index
    negatives: Index
    s: Array
    t: Array
    tied_from: Index
    wrong_from: Index

    @classmethod
    def of(cls, positive: Mask, scores: Array) -> PairOrder:
        """Order rows of both classes; equal scores keep the order of the rows."""
        order = np.argsort(scores, kind="stable")
        positives, negatives = order[positive[order]], order[~positive[order]]
        s, t = scores[positives], scores[negatives]
        return cls(
            positives,
            negatives,
            s,
            t,
            np.searchsorted(t, s, side="left"),
            np.searchsorted(t, s, side="right"),
        )

    def band(self, alpha: float, beta: float) -> Index:
        """Return the places of the negatives whose ranks meet the FPR range, lowest first."""
        first, last = band_ranks(len(self.t), alpha, beta)
        return self.negatives[len(self.t) - last : len(self.t) - first + 1]

    def misranked(
        self, limit: int = MISRANKED_DRAWN, band: tuple[float, float] = (0.0, 1.0)
    ) -> Misranked:
        """Count the misranked pairs with a negative in the FPR range; list at most ``limit``."""
        first, last = band_ranks(len(self.t), *band)
        low, high = len(self.t) - last, len(self.t) - first + 1
        counts = high - np.clip(self.tied_from, low, high)
        wrong = int((high - np.clip(self.wrong_from, low, high)).sum())
        ends = np.cumsum(counts)
        total = int(ends[-1])
        # The k-th listed pair, all pairs of a positive in a row: evenly spaced, no list of all.
        k = np.linspace(0, total - 1, min(total, limit)).astype(np.intp)
        i = np.searchsorted(ends, k, side="right")
        j = high + k - ends[i]
        rows = np.stack([self.positives[i], self.negatives[j]])
        return Misranked(wrong, total - wrong, len(self.s) * (high - low), rows)

    def worst(self, count: int) -> Index:
        """List the pairs of the lowest margins, the lowest first; shape (2, k)."""
        # Pair (i, j), counted from the worst rows, has (i + 1)(j + 1) − 1 pairs not above it.
        m, n = min(len(self.s), count), len(self.t)
        reach = np.minimum(count // np.arange(1, m + 1), n)
        i = np.repeat(np.arange(m), reach)
        j = np.arange(len(i)) - np.repeat(np.cumsum(reach) - reach, reach)
        margin = self.s[i] - self.t[n - 1 - j]
        kept = np.argsort(margin, kind="stable")[:count]
        return np.stack([self.positives[i[kept]], self.negatives[n - 1 - j[kept]]])

    def of_row(self, place: int, is_positive: bool, limit: int = MISRANKED_DRAWN) -> Misranked:
        """Count the misranked pairs of one row; list its pairs, right or wrong, at most ``limit``.

        The listed ones are spread evenly over the other class by score.
        """
        own = self.positives if is_positive else self.negatives
        others = self.negatives if is_positive else self.positives
        at = int(np.flatnonzero(own == place)[0])
        margins = self.s[at] - self.t if is_positive else self.s - self.t[at]
        wrong, tied = int((margins < 0).sum()), int((margins == 0).sum())
        kept = evenly(others, limit)
        mine = np.full(len(kept), place, dtype=np.intp)
        rows = np.stack([mine, kept] if is_positive else [kept, mine])
        return Misranked(wrong, tied, len(others), rows)


Counts = NDArray[np.int64]

PAIRS_AS_DOTS = 4_000
PAIRS_COUNTED = 1_000_000
SUPPORT_DRAWN = 500

PAIRS_PER_CHUNK = 1 << 17  # that are counted at once
_BINS = 512
_CORNERS = 97  # of an ellipse
_PENALISED_FEATURES = 1_000
_ROWS_FRAMED = 200
_SMOOTHED = 3.0  # reach of the smoothing, in its widths
_FAINTEST = 200.0  # the fullest cell over one that can just be seen


@dataclasses.dataclass(frozen=True, eq=False)
class Density:
    """Counts of pairs over the cells of a rectangle.

    Attributes
    ----------
    counts : ndarray of int, shape (bins, bins)
        First axis first; they sum to all pairs.
    low, high : ndarray of shape (2,)
        Corners of the rectangle.
    shade : ndarray of float32
        The counts smoothed, from 0 to 1 by their logarithm, for a picture.
    shade_low, shade_high : ndarray of shape (2,)
        Corners of the rectangle of that, which is larger where the pairs end.
    """

    counts: Counts
    low: Array
    high: Array
    shade: NDArray[np.float32]
    shade_low: Array
    shade_high: Array


def _shaded(counts: Counts, low: Array, high: Array) -> Density:
    """Make a density of counts, smoothed for a picture; it fades away beyond the pairs."""
    cell, widths = (high - low) / counts.shape, _smoothing(counts)
    more = np.ceil(_SMOOTHED * np.array(widths)).astype(np.int64) + 1
    wide = np.pad(counts, np.stack([more, more], axis=1)).astype(np.float32)
    smooth = gaussian_filter(wide, widths, mode="constant", truncate=_SMOOTHED)
    most = max(float(smooth.max()), 1e-12)
    shade = np.log1p(smooth * (_FAINTEST / most)) / np.log1p(_FAINTEST)
    return Density(
        counts, low, high, shade.astype(np.float32), low - more * cell, high + more * cell
    )


def _smoothing(counts: Counts) -> list[float]:
    """Return how many cells to smooth over along both axes, the fewer the more pairs there are."""
    total, widths = max(float(counts.sum()), 1.0), []
    for axis in range(2):
        along, place = counts.sum(axis=1 - axis) / total, np.arange(counts.shape[axis])
        spread = float(along @ (place - along @ place) ** 2) ** 0.5
        # Half of Scott's rule: it shows the shape, and that single pairs make it.
        widths.append(0.5 * spread * total ** (-1 / 6))
    return widths


@dataclasses.dataclass(frozen=True, eq=False)
class PairCloud:
    """All difference vectors of a sample in a plane.

    Attributes
    ----------
    places : ndarray of shape (N, 2)
        Of the rows.
    pairs : int
    delta : ndarray of shape (2,)
    covariance : ndarray of shape (2, 2)
    low, high : ndarray of shape (2,)
        Corners of the rectangle that holds all differences.
    rows : ndarray of int, shape (2, pairs), or None
        All pairs, where they are few: they are drawn as dots.
    density : Density or None
        Else their density.
    """

    places: Array
    pairs: int
    delta: Array
    covariance: Array
    low: Array
    high: Array
    rows: Index | None = None
    density: Density | None = None

    def differences(self, rows: Index) -> Array:
        """Return the differences of pairs of rows, shape (k, 2)."""
        return np.asarray(self.places[rows[0]] - self.places[rows[1]])


def pair_cloud(places: Array, positive: Mask) -> PairCloud:
    """Gather the differences positive − negative of placed rows: dots if few, else a density.

    Up to 1,000,000 pairs are counted one by one; beyond that the two classes are binned, which
    moves no pair by more than one cell of the density and drops none.
    """
    a, b = places[positive], places[~positive]
    low, high = a.min(axis=0) - b.max(axis=0), a.max(axis=0) - b.min(axis=0)
    pairs = len(a) * len(b)
    covariance = np.cov(a.T, bias=True) + np.cov(b.T, bias=True)
    delta = a.mean(axis=0) - b.mean(axis=0)
    cloud = PairCloud(places, pairs, delta, covariance, low, high)
    if pairs <= PAIRS_AS_DOTS:
        first, second = np.flatnonzero(positive), np.flatnonzero(~positive)
        rows = np.stack([np.repeat(first, len(second)), np.tile(second, len(first))])
        return dataclasses.replace(cloud, rows=rows)
    if pairs <= PAIRS_COUNTED:
        bins = int(np.clip(3.0 * pairs ** (1 / 3), 64, 256))
        counts = difference_histogram(a, b, low, high, bins)
        density = _shaded(counts, low, high)
    else:
        density = binned_density(a, b, _BINS)
    return dataclasses.replace(cloud, density=density)


def pair_frame(cloud: PairCloud, positive: Mask) -> Array:
    """Return corners of the rectangle to show, shape (2, 2): few far-off pairs must not rule it.

    That is all pairs, but at most the inner 98 % of them with as much room again on both sides;
    large classes are represented by an even sample of rows.
    """
    first, second = (evenly(np.flatnonzero(own), _ROWS_FRAMED) for own in (positive, ~positive))
    z = (cloud.places[first][:, None] - cloud.places[second][None]).reshape(-1, 2)
    low, high = np.quantile(z, (0.01, 0.99), axis=0)
    room = high - low
    return np.clip(np.stack([cloud.low, cloud.high]), low - room, high + room)


def difference_histogram(a: Array, b: Array, low: Array, high: Array, bins: int) -> Counts:
    """Count the a_i − b_j of all i, j over the cells of their rectangle, chunk by chunk.

    Parameters
    ----------
    a, b : ndarray of shape (m, 2), (n, 2)
    low, high : ndarray of shape (2,)
        Corners of the rectangle, which holds all differences.
    bins : int
        Cells along each axis.

    Returns
    -------
    ndarray of int, shape (bins, bins)
    """
    step = np.where(high > low, high - low, 1.0) / bins
    a, b = (a - low) / step, b / step
    counts = np.zeros(bins * bins, dtype=np.int64)
    chunk = max(1, PAIRS_PER_CHUNK // len(b))
    for start in range(0, len(a), chunk):
        part = a[start : start + chunk]
        x, y = (np.subtract.outer(part[:, k], b[:, k]).astype(np.int64) for k in range(2))
        # What lies on the edge may be a little beyond it by rounding.
        cell = np.clip(x, 0, bins - 1) * bins + np.clip(y, 0, bins - 1)
        counts += np.bincount(cell.ravel(), minlength=len(counts))
    return counts.reshape(bins, bins)


def binned_density(a: Array, b: Array, bins: int) -> Density:
    """Count a_i − b_j for all i, j through histograms of both classes.

    Their cross-correlation, by fast Fourier transforms, is the histogram of all differences of
    cell centres: a pair is counted at most one cell from its own. The counts are whole numbers
    and sum to all pairs.
    """
    step = (np.ptp(a, axis=0) + np.ptp(b, axis=0)) / bins
    step = np.where(step > 0, step, 1.0)
    first, second = _histogram(a, step), _histogram(b, step)
    # Rounding takes the transform's errors away: they are far below one pair.
    counts = np.rint(scipy.signal.fftconvolve(first, second[::-1, ::-1])).astype(np.int64)
    # Cell 0 holds the lowest cell of a less the highest of b, its centre in the middle.
    low = a.min(axis=0) - b.min(axis=0) - (np.array(second.shape) - 0.5) * step
    high = low + np.array(counts.shape) * step
    return _shaded(counts, low, high)


def _histogram(places: Array, step: Array) -> Array:
    cells = ((places - places.min(axis=0)) / step).astype(np.int64)
    shape = cells.max(axis=0) + 1
    flat = np.bincount(cells[:, 0] * shape[1] + cells[:, 1], minlength=int(shape.prod()))
    return np.asarray(flat.reshape(shape).astype(np.float64))


def ellipse(centre: Array, covariance: Array, deviations: float) -> Array:
    """Trace where a covariance is ``deviations`` standard deviations from its centre."""
    values, vectors = np.linalg.eigh(covariance)
    turn = np.linspace(0.0, 2.0 * np.pi, _CORNERS)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1) * deviations
    return np.asarray(centre + (circle * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def penalised_covariance(
    values: Array, positive: Mask, directions: Array, penalty: float
) -> Array | None:
    """Compute Σ(I + λΣ)⁻¹ along two directions, shape (2, 2): Σ as SAUC-SVM's margin feels it.

    ½ w'(I + λΣ)w is the ordinary penalty on (I + λΣ)^{½}w, so that SAUC-SVM is AUC-SVM on
    (I + λΣ)^{-½}z; that is the covariance of these vectors, of which λ leaves at most 1/λ.

    Parameters
    ----------
    values : ndarray of shape (N, r)
        Rows, as features or in the basis of a kernel's space.
    positive : ndarray of bool, shape (N,)
    directions : ndarray of shape (r, 2)
    penalty : float
        λ.

    Returns
    -------
    ndarray, or None above 1,000 features.
    """
    if values.shape[1] > _PENALISED_FEATURES:
        return None
    spread = spread_rows(values, positive, of_pairs=True)
    sizes, vectors = np.linalg.eigh(spread.T @ spread)
    sizes = np.maximum(sizes, 0.0)
    seen = directions.T @ vectors
    return np.asarray((seen * (sizes / (1.0 + penalty * sizes))) @ seen.T)


def places_of(sample: Sample, rows: NDArray[np.int64]) -> Index:
    """Find table row numbers in a sample; pairs (columns) with a row outside it are left out."""
    order = np.argsort(sample.numbers, kind="stable")
    ranked = sample.numbers[order]
    at = np.minimum(np.searchsorted(ranked, rows), len(ranked) - 1)
    known = (ranked[at] == rows).all(axis=0)
    return np.asarray(order[at[:, known]])
