"""Selection criterion: a blend of AUC and partial AUC.

Symbols: m, n numbers of positives and negatives; [alpha, beta] FPR range.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from aucstudio.engine.compiled import kernel
from aucstudio.engine.roc import effective_rows
from aucstudio.engine.types import Array, Mask

# With so many rows of either class in the range, the partial AUC has the weight of the AUC.
_ENOUGH_ROWS = 50.0


@dataclasses.dataclass(frozen=True)
class Criterion:
    """A weighted mean of the AUC and the normalised partial AUC; ties count one half.

    Attributes
    ----------
    low, high : float
        The FPR range of the partial AUC.
    share : float
        Weight of the partial AUC, within [0, 1].
    """

    low: float = 0.0
    high: float = 1.0
    share: float = 0.0

    @classmethod
    def of_range(
        cls,
        fpr_range: tuple[float, float] | None,
        positive: Mask,
        weights: Array | None = None,
    ) -> Criterion:
        """Choose the blend for an FPR range: the fewer rows decide the range, the less it counts.

        Where few rows decide, the AUC of a sample is a better estimate of the partial AUC of the
        population than the partial AUC of the sample is.

        Parameters
        ----------
        fpr_range : (float, float) or None
            None for the AUC alone.
        positive : ndarray of bool, shape (N,)
        weights : ndarray of shape (N,), optional
            Rows count as effective rows.
        """
        if fpr_range is None:
            return cls()
        low, high = map(float, fpr_range)
        each = np.ones(len(positive)) if weights is None else weights
        m, n = effective_rows(each[positive]), effective_rows(each[~positive])
        deciding = min(m, (high - low) * n)
        return cls(low, high, deciding / (deciding + _ENOUGH_ROWS))

    def __call__(self, positive: Mask, scores: Array, weights: Array | None = None) -> float:
        """Compute it for scores of rows, all shape (N,), in O(N log N)."""
        order = np.argsort(-scores)
        each = np.ones(len(scores)) if weights is None else weights
        area, part = _areas(positive[order], scores[order], each[order], self.low, self.high)
        return float((1.0 - self.share) * area + self.share * part)


@kernel
def _areas(
    positive: Mask, scores: Array, weights: Array, low: float, high: float
) -> tuple[float, float]:
    """Return AUC and normalised partial AUC of rows that are sorted by falling score."""
    N, m, n = len(scores), 0.0, 0.0
    for i in range(N):
        if positive[i]:
            m += weights[i]
        else:
            n += weights[i]
    area, part = 0.0, 0.0
    fp, tp, i = 0.0, 0.0, 0
    while i < N:
        ups, rights, k = 0.0, 0.0, i
        while k < N and scores[k] == scores[i]:
            if positive[k]:
                ups += weights[k]
            else:
                rights += weights[k]
            k += 1
        if rights:
            area += rights * (tp + 0.5 * ups)
            # The piece of this straight run between the ends of the range, in rows.
            left, right = max(low * n - fp, 0.0), min(high * n - fp, 1.0 * rights)
            if right > left:
                part += (right - left) * (tp + ups * (left + right) / (2.0 * rights))
        fp += rights
        tp += ups
        i = k
    return area / (m * n), part / (m * n * (high - low))
