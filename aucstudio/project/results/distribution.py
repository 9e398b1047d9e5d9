"""Histograms of scores by class."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_BINS_OF_ROWS = 0.6  # bins for each row of the rarer class, at most
_BINS = (20, 60)


@dataclasses.dataclass(frozen=True)
class WeightedRates:
    """Rates at a threshold where rows are weighted or grouped.

    Attributes
    ----------
    tpr, fpr : float
    positives, negatives : float
        Number of independent rows of equal weight with the same information.
    prior : float
        Share of the positives in the whole weight.
    """

    tpr: float
    fpr: float
    positives: float
    negatives: float
    prior: float


@dataclasses.dataclass(frozen=True)
class Confusion:
    """Counts at a threshold: a row is predicted positive where its score exceeds it.

    Attributes
    ----------
    tp, fn, fp, tn : int
        Rows (unweighted).
    weighted : WeightedRates or None
        Rates, if rows are weighted or grouped.
    """

    tp: int
    fn: int
    fp: int
    tn: int
    weighted: WeightedRates | None = None

    @property
    def tpr(self) -> float:
        """NaN where there is no positive."""
        if self.weighted is not None:
            return self.weighted.tpr
        positives = self.tp + self.fn
        return self.tp / positives if positives else float("nan")

    @property
    def fpr(self) -> float:
        """NaN where there is no negative."""
        if self.weighted is not None:
            return self.weighted.fpr
        negatives = self.fp + self.tn
        return self.fp / negatives if negatives else float("nan")

    @property
    def precision(self) -> float:
        """NaN where nothing is predicted positive."""
        called = self.tp + self.fp
        if self.weighted is not None and called:
            of = self.weighted
            found, alarms = of.prior * of.tpr, (1 - of.prior) * of.fpr
            return found / (found + alarms) if found + alarms else float("nan")
        return self.tp / called if called else float("nan")


@dataclasses.dataclass(frozen=True, eq=False)
class ScoreDistribution:
    """Scores of both classes and their histograms over common bins.

    Attributes
    ----------
    positives, negatives : ndarray
        Scores, ascending.
    edges : ndarray of shape (k + 1,)
    heights : pair of ndarrays of shape (k,)
        Densities of the positives and of the negatives.
    """

    positives: Array
    negatives: Array
    edges: Array
    heights: tuple[Array, Array]

    @classmethod
    def of(cls, positive: NDArray[np.bool_], scores: Array) -> ScoreDistribution:
        classes = np.sort(scores[positive]), np.sort(scores[~positive])
        fewest = min(map(len, classes))
        edges = bin_edges(np.asarray(scores, dtype=np.float64), most=_BINS_OF_ROWS * fewest)
        width = np.diff(edges)
        tall = [np.histogram(s, edges)[0] / (len(s) * width) for s in classes]
        return cls(*classes, edges, (tall[0], tall[1]))

    def confusion(self, threshold: float) -> Confusion:
        """Count what lies on which side of a threshold."""
        fn = int(np.searchsorted(self.positives, threshold, "right"))
        tn = int(np.searchsorted(self.negatives, threshold, "right"))
        return Confusion(len(self.positives) - fn, fn, len(self.negatives) - tn, tn)

    def wrong_parts(self, threshold: float) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Cut the histograms at a threshold: the positives below it, the negatives above it."""
        edges, (tall, low) = self.edges, self.heights
        k = int(np.searchsorted(edges, threshold))
        below = np.append(edges[:k], min(threshold, edges[-1])), tall[:k]
        above = np.append(max(threshold, edges[0]), edges[k:]), low[max(k - 1, 0) :]
        if k == 0:
            below = np.zeros(1), np.empty(0)
            above = edges, low
        elif k == len(edges):
            below, above = (edges, tall), (np.zeros(1), np.empty(0))
        return below, above


def bin_edges(scores: Array, most: float = math.inf) -> Array:
    """Choose common bins by the rule of Freedman and Diaconis, within bounds.

    ``most`` bins keep a histogram of few rows from being a comb; it does not go below the least.
    """
    low, high = float(scores.min()), float(scores.max())
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        air = 0.5 * max(abs(low), 1.0)
        return np.linspace(low - air, high + air, _BINS[0] + 1)
    quarter, three = np.percentile(scores, [25, 75])
    width = 2 * (three - quarter) / len(scores) ** (1 / 3)
    count = (high - low) / width if width > 0 else _BINS[1]
    least, highest = _BINS
    return np.linspace(low, high, int(np.clip(min(count, most), least, highest)) + 1)
