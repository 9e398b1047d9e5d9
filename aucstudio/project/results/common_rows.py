"""The rows that two runs both scored, where one of them set rows without a score aside."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.runs.record import RunRecord

Scores = tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64] | None]


def common_scores(a: RunRecord, b: RunRecord) -> Iterator[tuple[Scores, Scores]]:
    """Give, split by split, classes, scores and weights of both on the rows that both scored."""
    for x, y in zip(a.splits, b.splits, strict=True):
        _, of_x, of_y = np.intersect1d(x.test_rows, y.test_rows, return_indices=True)
        yield (
            (x.test_positive[of_x], x.test_scores[of_x], _at(x.test_weights, of_x)),
            (y.test_positive[of_y], y.test_scores[of_y], _at(y.test_weights, of_y)),
        )


def _at(weights: NDArray[np.float64] | None, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
    return None if weights is None else weights[rows]


def comparable(a: RunRecord, b: RunRecord) -> bool:
    """Tell whether there are positive and negative rows, alike in both, in every split."""
    return all(
        np.array_equal(positive, other) and 0 < np.count_nonzero(positive) < len(positive)
        for (positive, *_), (other, *_) in common_scores(a, b)
    )
