"""Held-out rows for inference, and rows that two runs share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import roc
from aucstudio.project.runs.record import RunRecord, SplitResult


class Scores(NamedTuple):
    """Classes and scores of held-out rows, and how the rows were sampled.

    Attributes
    ----------
    positive : ndarray of bool
    scores : ndarray
    weights : ndarray or None
    weight_kind : {"sampling", "frequency"}
    groups : ndarray of int or None
    """

    positive: NDArray[np.bool_]
    scores: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None
    weight_kind: str = roc.SAMPLING
    groups: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, split: SplitResult) -> Self:
        """Take the held-out rows of a split."""
        rows = split.test_positive, split.test_scores, split.test_weights
        return cls(*rows, split.weight_kind, split.test_groups)

    @property
    def independent(self) -> bool:
        """Whether every row counts once, independently of all others."""
        return self.weights is None and self.groups is None

    def at(self, rows: NDArray[Any]) -> Scores:
        """Return those of some of the rows: numbers or a mask."""
        weights = None if self.weights is None else self.weights[rows]
        groups = None if self.groups is None else self.groups[rows]
        return Scores(self.positive[rows], self.scores[rows], weights, self.weight_kind, groups)

    def ranking(self) -> roc.Ranking:
        """Sort the scores."""
        return roc.Ranking.of(
            self.positive,
            self.scores,
            weights=self.weights,
            weight_kind=self.weight_kind,
            groups=self.groups,
        )


def common_scores(a: RunRecord, b: RunRecord) -> Iterator[tuple[Scores, Scores]]:
    """Return, split by split, the held-out rows that both runs scored."""
    for x, y in zip(a.splits, b.splits, strict=True):
        _, of_x, of_y = np.intersect1d(x.test_rows, y.test_rows, return_indices=True)
        yield Scores.of(x).at(of_x), Scores.of(y).at(of_y)


def comparable(a: RunRecord, b: RunRecord) -> bool:
    """Return whether every split has common rows of both classes, labelled equally in both runs."""
    return all(
        np.array_equal(one.positive, other.positive)
        and 0 < np.count_nonzero(one.positive) < len(one.positive)
        for one, other in common_scores(a, b)
    )
