"""The rows that carry a solution: those of the support pairs, or of a kernel's expansion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.scorers import KernelScorer
from aucstudio.project.data.table import Table
from aucstudio.project.geometry.planes import Plane, Sample
from aucstudio.project.runs.record import SplitResult

Array = NDArray[np.float64]

MOST_SHARE = 0.5  # of the training rows; where more carry it, marking them tells nothing
_MOST_PAIRS = 500


def support_places(split: SplitResult, table: Table, plane: Plane) -> tuple[Array, str] | None:
    """Place the rows that a fit rests on.

    Returns
    -------
    (places, words) : ndarray of shape (k, 2), and what they are; or None
        None where no rows stand out.
    """
    n_train = len(split.train_rows)
    if split.support_pairs.shape[1]:
        rows = np.unique(split.support_pairs[:, :_MOST_PAIRS])
        known = np.flatnonzero(np.isin(split.train_rows, rows))
        sample = Sample(
            split.model.preparation.apply(table, split.train_rows[known]),
            split.train_positive[known],
            split.train_scores[known],
            split.train_rows[known],
        )
        words = "in a support pair"
    elif isinstance(split.model.scorer, KernelScorer):
        scorer = split.model.scorer
        points = scorer.points
        scores = scorer(points) + split.model.intercept
        count = np.arange(len(points))
        sample = Sample(points, np.zeros(len(points), dtype=bool), scores, count)
        words = "point of the kernel expansion"
    else:
        return None
    if not 0 < len(sample.X) <= MOST_SHARE * n_train or np.isnan(sample.X).any():
        return None
    return plane.place(sample), words
