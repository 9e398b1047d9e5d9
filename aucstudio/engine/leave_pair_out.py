"""Leave-pair-out cross-validation.

Nearly unbiased on small tables, where pooled leave-one-out scores are not. Methods that know the
outcome in closed form count it here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from aucstudio.engine.roc import equal_error_threshold, roc_curve
from aucstudio.engine.types import Array, Mask

_PAIRS_PER_CHUNK = 65_536
# Scores of a pair that differ by fewer rounding errors, a sum over all rows, are tied.
TIE = 16 * float(np.finfo(float).eps)


@dataclasses.dataclass(frozen=True, eq=False)
class PairsHeldOut:
    """How every pair of a positive and a negative came out when trained without the two.

    Attributes
    ----------
    beaten : ndarray of shape (n_positives,)
        For each positive the number of negatives that it outscored in their pair, ties one half.
    above : ndarray of shape (n_negatives,)
        For each negative the number of positives that outscored it, ties one half.
    """

    beaten: Array
    above: Array

    @property
    def auc(self) -> float:
        """The share of pairs in order: the leave-pair-out AUC."""
        return float(self.beaten.sum()) / (len(self.beaten) * len(self.above))

    def placements(self, positive: Mask) -> Array:
        """Return scores whose ROC curve is that of the positives' places among the negatives.

        Scores of different pairs come from different functions and cannot be put on one scale;
        how many negatives a positive outscores can. The negatives, those that win most on top,
        take the scores 1, ..., n; a positive that outscores k of them in its pairs scores just
        above k. The AUC of these scores is exactly :attr:`auc`; 0 is their equal-error point.

        Parameters
        ----------
        positive : ndarray of bool, shape (n_samples,)
            The rows, in the order in which both counts were made.
        """
        scores = np.empty(len(positive))
        scores[positive] = self.beaten + 0.5
        order = np.argsort(-self.above, kind="stable")
        scores[np.flatnonzero(~positive)[order]] = np.arange(1.0, len(order) + 1.0)
        return scores - equal_error_threshold(roc_curve(positive, scores))


def count_outcomes(
    chunks: Iterator[tuple[slice, Array, Array]], m: int, n: int, tie: float
) -> PairsHeldOut:
    """Count who outscored whom; ``chunks`` gives positives and the two scores of their pairs."""
    beaten, above = np.zeros(m), np.zeros(n)
    for rows, f, g in chunks:
        f -= g
        won = (f > tie).astype(np.float64) + (f >= -tie)
        beaten[rows] = 0.5 * won.sum(axis=1)
        above += 0.5 * won.sum(axis=0)
    return PairsHeldOut(beaten, above)


def pair_chunks(rows: int, columns: int) -> Iterator[slice]:
    """Cut so many rows into slices whose pairs with all columns stay in the cache."""
    height = max(1, _PAIRS_PER_CHUNK // columns)
    for start in range(0, rows, height):
        yield slice(start, min(start + height, rows))
