"""Pairs in a plane: the differences of rows, the misranked among them, and their density.

Nothing here ever holds all pairs: in a plane the difference of two rows is the difference of
their places. Symbols are those of :mod:`planes`, whose names can be had from here too.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.planes import (
    COMPONENTS,
    FEATURES,
    LIVE_ROWS,
    SCORE,
    Array,
    Index,
    Mask,
    Plane,
    Sample,
    angle,
    carried,
    choose_plane,
    component_plane,
    curved_plane,
    evenly,
    feature_plane,
    labelled_sample,
    mean_difference,
    score_plane,
    split_sample,
    strongest,
    thinned,
)

__all__ = [
    "COMPONENTS",
    "FEATURES",
    "LIVE_ROWS",
    "MISRANKED_DRAWN",
    "PAIRS_AS_DOTS",
    "PAIRS_COUNTED",
    "SCORE",
    "SUPPORT_DRAWN",
    "Array",
    "Index",
    "Mask",
    "Misranked",
    "PairCloud",
    "Plane",
    "Sample",
    "angle",
    "carried",
    "choose_plane",
    "component_plane",
    "curved_plane",
    "difference_histogram",
    "ellipse",
    "feature_plane",
    "find_misranked",
    "labelled_sample",
    "mean_difference",
    "pair_cloud",
    "places_of",
    "score_plane",
    "split_sample",
    "strongest",
    "thinned",
]

PAIRS_AS_DOTS = 4_000
PAIRS_COUNTED = 2_000_000
MISRANKED_DRAWN = 2_000
SUPPORT_DRAWN = 500

_PAIRS_PER_CHUNK = 1 << 17


@dataclasses.dataclass(frozen=True, eq=False)
class Misranked:
    """The pairs whose positive does not score above its negative.

    Attributes
    ----------
    wrong, tied : int
        Pairs with f(x⁺) < f(x⁻), and with equal scores; exact.
    pairs : int
        m·n.
    rows : ndarray of int, shape (2, k)
        Places of positives and negatives of (an even sample of) these pairs.
    """

    wrong: int
    tied: int
    pairs: int
    rows: Index

    @property
    def share(self) -> float:
        """Wrong pairs plus half the tied ones, as a share: 1 − AUC."""
        return (self.wrong + 0.5 * self.tied) / self.pairs


def find_misranked(positive: Mask, scores: Array, limit: int = MISRANKED_DRAWN) -> Misranked:
    """Count the misranked pairs and list at most ``limit``, in O(N log N + limit)."""
    positives, negatives = np.flatnonzero(positive), np.flatnonzero(~positive)
    s, t = scores[positives], scores[negatives]
    order = np.argsort(t, kind="stable")
    first = np.searchsorted(t[order], s, side="left")
    above = len(t) - np.searchsorted(t[order], s, side="right")
    ends = np.cumsum(len(t) - first)
    total, wrong = int(ends[-1]), int(above.sum())
    # The k-th listed pair, all pairs of a positive in a row: evenly spaced k, no list of all.
    k = np.linspace(0, total - 1, min(total, limit)).astype(np.intp)
    i = np.searchsorted(ends, k, side="right")
    j = order[len(t) + k - ends[i]]
    rows = np.stack([positives[i], negatives[j]])
    return Misranked(wrong, total - wrong, len(s) * len(t), rows)


@dataclasses.dataclass(frozen=True, eq=False)
class PairCloud:
    """All difference vectors of a sample in a plane.

    Attributes
    ----------
    places : ndarray of shape (N, 2)
        Of the rows.
    pairs, counted : int
        How many there are, and how many the density was counted from.
    delta : ndarray of shape (2,)
    covariance : ndarray of shape (2, 2)
    low, high : ndarray of shape (2,)
        Corners of the rectangle that holds all differences.
    dots : ndarray of shape (pairs, 2) or None
        All differences, where they are few.
    counts : ndarray of int, shape (bins, bins), or None
        Else their histogram over the rectangle, first axis first.
    """

    places: Array
    pairs: int
    counted: int
    delta: Array
    covariance: Array
    low: Array
    high: Array
    dots: Array | None = None
    counts: NDArray[np.int64] | None = None

    def differences(self, rows: Index) -> Array:
        """Give the differences of pairs of rows, shape (k, 2)."""
        found: Array = self.places[rows[0]] - self.places[rows[1]]
        return found


def pair_cloud(places: Array, positive: Mask) -> PairCloud:
    """Gather the differences positive − negative of placed rows: dots if few, else a density.

    Up to 2,000,000 pairs are counted; beyond that, those of rows spaced evenly in each class.
    """
    a, b = places[positive], places[~positive]
    low, high = a.min(axis=0) - b.max(axis=0), a.max(axis=0) - b.min(axis=0)
    pairs = len(a) * len(b)
    covariance = np.cov(a.T, bias=True) + np.cov(b.T, bias=True)
    delta = a.mean(axis=0) - b.mean(axis=0)
    cloud = PairCloud(places, pairs, pairs, delta, covariance, low, high)
    if pairs <= PAIRS_AS_DOTS:
        return dataclasses.replace(cloud, dots=(a[:, None] - b[None]).reshape(-1, 2))
    a, b = _fewer(a, b)
    bins = int(np.clip(3.0 * pairs ** (1 / 3), 64, 256))
    counts = difference_histogram(a, b, low, high, bins)
    return dataclasses.replace(cloud, counted=len(a) * len(b), counts=counts)


def _fewer(a: Array, b: Array) -> tuple[Array, Array]:
    few = int(np.sqrt(PAIRS_COUNTED))
    most_a = max(few, PAIRS_COUNTED // len(b))
    most_b = max(few, PAIRS_COUNTED // min(len(a), most_a))
    return a[evenly(np.arange(len(a)), most_a)], b[evenly(np.arange(len(b)), most_b)]


def difference_histogram(
    a: Array, b: Array, low: Array, high: Array, bins: int
) -> NDArray[np.int64]:
    """Count a_i − b_j for all i, j over a rectangle, chunk by chunk; shape (bins, bins)."""
    step = np.where(high > low, high - low, 1.0) / bins
    a, b = (a - low) / step, b / step
    counts = np.zeros(bins * bins, dtype=np.int64)
    chunk = max(1, _PAIRS_PER_CHUNK // len(b))
    for start in range(0, len(a), chunk):
        cell = np.zeros((len(a[start : start + chunk]), len(b)), dtype=np.int64)
        for axis in range(2):
            place = np.subtract.outer(a[start : start + chunk, axis], b[:, axis])
            cell = cell * bins + np.clip(place.astype(np.int64), 0, bins - 1)
        counts += np.bincount(cell.ravel(), minlength=bins * bins)
    return counts.reshape(bins, bins)


def ellipse(centre: Array, covariance: Array, deviations: float, points: int = 97) -> Array:
    """Trace where a covariance is ``deviations`` standard deviations from its centre."""
    values, vectors = np.linalg.eigh(covariance)
    turn = np.linspace(0.0, 2.0 * np.pi, points)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1) * deviations
    trace: Array = centre + (circle * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return trace


def places_of(sample: Sample, rows: NDArray[np.int64]) -> Index:
    """Find table row numbers in a sample; pairs (columns) with a row outside it are left out."""
    order = np.argsort(sample.numbers, kind="stable")
    ranked = sample.numbers[order]
    at = np.minimum(np.searchsorted(ranked, rows), len(ranked) - 1)
    known = (ranked[at] == rows).all(axis=0)
    found: Index = order[at[:, known]]
    return found
