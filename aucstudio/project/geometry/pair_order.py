"""Count misranked pairs exactly, and list the worst.

Nothing here ever holds all pairs. Symbols: s, t scores of the m positives and n negatives;
s − t margin of a pair, misranked where it is not above 0; rank 1 is the highest negative.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.roc import band_ranks

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

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
        kept = others[np.linspace(0, len(others) - 1, min(len(others), limit)).astype(np.intp)]
        mine = np.full(len(kept), place, dtype=np.intp)
        rows = np.stack([mine, kept] if is_positive else [kept, mine])
        return Misranked(wrong, tied, len(others), rows)
