"""One scorer's order of rows, sorted once for every area, interval and test of it."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.order import ascending
from aucstudio.engine.roc.area import look_up, pair_share
from aucstudio.engine.roc.curve import Curve, Scores, split_scores
from aucstudio.engine.types import Index


@dataclasses.dataclass(frozen=True, eq=False)
class Ranking:
    """Scores of both classes in ascending order, and where they came from.

    Attributes
    ----------
    s, t : ndarray
        Scores of the positives and of the negatives.
    order_s, order_t : ndarray of int
        Places that these had within their class.
    below, at_most : ndarray of int, shape (len(s),)
        How many negatives are below each positive, and how many not above it.
    """

    s: Scores
    t: Scores
    order_s: Index
    order_t: Index
    below: Index
    at_most: Index

    @classmethod
    def of(cls, y: ArrayLike, score: ArrayLike, *, positive: object = None) -> Ranking:
        """Sort the scores.

        Raises
        ------
        ValueError
            For input that :func:`split_scores` refuses.
        """
        s, t = split_scores(y, score, positive)
        (order_s, s), (order_t, t) = ascending(s), ascending(t)
        return cls(s, t, order_s, order_t, *look_up(t, s))

    @classmethod
    def of_sorted(cls, s: Scores, t: Scores) -> Ranking:
        """Take scores that ascend in both classes for rows in that order."""
        return cls(s, t, np.arange(len(s)), np.arange(len(t)), *look_up(t, s))

    @property
    def nbytes(self) -> int:
        """How much memory it takes, its curve included."""
        parts = (self.s, self.t, self.order_s, self.order_t, self.below, self.at_most)
        return sum(part.nbytes for part in parts) + 6 * self.s.nbytes

    @property
    def auc(self) -> float:
        """The area under the curve, from exact pair counts."""
        return pair_share(self.below, self.at_most, len(self.t))

    @cached_property
    def curve(self) -> Curve:
        """The ROC curve with its vertices before and after each group of tied positives.

        Between these it is straight: all areas and measures are those of the whole curve.
        """
        m, n = len(self.s), len(self.t)
        first = np.flatnonzero(np.append(True, self.s[1:] != self.s[:-1]))[::-1]  # highest first
        behind = np.append(m, first[:-1])
        # Before a group all above it are predicted positive, after it its ties too.
        fp = np.stack([n - self.at_most[first], n - self.below[first]], axis=1).ravel()
        tp = np.stack([m - behind, m - first], axis=1).ravel()
        above = self.t[np.minimum(self.at_most[first], n - 1)]
        higher = np.append(np.inf, self.s[first[:-1]])
        lowest = np.where(self.at_most[first] < n, np.minimum(above, higher), higher)
        thresholds = np.stack([lowest, self.s[first]], axis=1).ravel()
        fp, tp = np.append(fp, n), np.append(tp, m)
        thresholds = np.append(thresholds, min(self.s[0], self.t[0]))
        start = fp[0] > 0
        if start:
            fp, tp = np.append(0, fp), np.append(0, tp)
            thresholds = np.append(np.inf, thresholds)
        kept = np.append(True, (np.diff(fp) > 0) | (np.diff(tp) > 0))
        return Curve(fp[kept], tp[kept], thresholds[kept].astype(self.s.dtype))
