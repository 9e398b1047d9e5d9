"""Histograms of the scores of both classes."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array

_BINS_OF_ROWS = 0.6  # bins for each row of the rarer class, at most
_BINS = (20, 60)


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

    def wrong_parts(self, threshold: float) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Cut the histograms at a threshold: the positives below it, the negatives above it."""
        edges, (tall, low) = self.edges, self.heights
        end = np.clip(threshold, edges[0], edges[-1])
        k = max(1, int(np.searchsorted(edges, end)))
        return (np.append(edges[:k], end), tall[:k]), (np.append(end, edges[k:]), low[k - 1 :])


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
