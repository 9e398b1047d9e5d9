"""Scores and ranking of the rows of one split."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from aucstudio.project.runs.record import RunRecord

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

NEITHER, TRAINING, HELD_OUT = 0, 1, 2

ALL, CHOSEN, TRAINED_ON, HELD, MISRANKED, FALSE_ALARM, MISSED = (
    "all",
    "chosen",
    "training",
    "held out",
    "misranked",
    "false positive",
    "missed positive",
)


@dataclasses.dataclass(frozen=True, eq=False)
class ScoredRows:
    """The rows of a table as one split of a run saw them; arrays have one entry a row.

    Attributes
    ----------
    scores : ndarray
        NaN where the split has none.
    part : ndarray of int8
        :data:`NEITHER`, :data:`TRAINING` or :data:`HELD_OUT`.
    positive : ndarray of bool
        Whether the run took a held-out row for a positive one.
    """

    scores: Array
    part: NDArray[np.int8]
    positive: Mask

    @classmethod
    def of(cls, record: RunRecord, split: int, rows: int) -> ScoredRows:
        """Gather them; rows that were held out in a test file are none of the table's."""
        found = record.splits[split]
        scores = np.full(rows, np.nan)
        part, positive = np.zeros(rows, dtype=np.int8), np.zeros(rows, dtype=bool)
        scores[found.train_rows], part[found.train_rows] = found.train_scores, TRAINING
        if record.experiment.validation.scheme != "file":
            held = found.test_rows
            scores[held], part[held] = found.test_scores, HELD_OUT
            positive[held] = found.test_positive
        return cls(scores, part, positive)

    @functools.cached_property
    def wrong_pairs(self) -> Array:
        """Held-out rows of the other class that each held-out row is ranked wrongly against.

        Ties are not counted; NaN for other rows.
        """
        held, pairs = self.part == HELD_OUT, np.full(len(self.part), np.nan)
        pairs[held] = wrong_pairs(self.positive[held], self.scores[held])
        return pairs

    def marked(self, what: str, threshold: float) -> Mask:
        """Mark the rows of a part of the table, or those that went wrong."""
        held: Mask = self.part == HELD_OUT
        called: Mask = self.scores > threshold
        if what == ALL:
            return np.ones(len(self.part), dtype=bool)
        if what == TRAINED_ON:
            return np.asarray(self.part == TRAINING)
        if what == MISRANKED:
            return np.asarray(self.wrong_pairs > 0)
        if what == FALSE_ALARM:
            held &= ~self.positive & called
        if what == MISSED:
            held &= self.positive & ~called
        return held


def wrong_pairs(positive: Mask, scores: Array) -> Array:
    """Count for every row the rows of the other class that it is ranked wrongly against."""
    above, below = np.sort(scores[positive]), np.sort(scores[~positive])
    found = np.empty(len(scores))
    found[positive] = len(below) - np.searchsorted(below, scores[positive], "right")
    found[~positive] = np.searchsorted(above, scores[~positive], "left")
    return found
