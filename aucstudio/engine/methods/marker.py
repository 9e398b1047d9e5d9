"""A single column used as the score."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array, Mask
from aucstudio.engine.base import WeighsRows
from aucstudio.engine.cost import Cost, Work, cost_of
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.params import param
from aucstudio.engine.scorers import LinearScorer
from aucstudio.notices import Notice, notice

FOUND, HIGHER, LOWER = "found", "higher", "lower"


class Marker(WeighsRows):
    """Uses the values of one column as scores: the column with the highest AUC of its own.

    Minimises ``1 - AUC(s x_j)`` on the training rows over the columns j, and over the sign s where
    the direction is to be found. Nothing else is fitted. ``decision_function`` returns the column
    itself, or its negative where lower values mean positive. The threshold of ``predict`` is 0
    until ``set_threshold`` changes it.

    References
    ----------
    Hanley and McNeil (1982), The meaning and use of the area under a ROC curve.

    Use when
    --------
    For a marker or the scores of another program, and to see what one column achieves alone.
    """

    direction: str = param(FOUND)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        rows = positives + negatives
        return cost_of(rows, 8.0 * rows, Work(numbers=20 * rows * features))

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        areas = np.empty(X.shape[1])
        for j in range(X.shape[1]):
            areas[j] = roc.auc(positive, X[:, j], weights=context.weights)
            context.monitor.stage("reading columns", (j + 1) / X.shape[1])
        signs = {HIGHER: 1.0, LOWER: -1.0}.get(self.direction, np.where(areas < 0.5, -1.0, 1.0))
        reached = np.where(np.multiply(signs, np.ones(X.shape[1])) > 0, areas, 1.0 - areas)
        j = int(np.argmax(reached))
        weights = np.zeros(X.shape[1])
        weights[j] = np.broadcast_to(signs, X.shape[1])[j]
        scorer, objective = LinearScorer(weights), float(1.0 - reached[j])
        context.monitor.step(1, objective, scorer=lambda: scorer)
        notes = _notes(weights[j], self.direction)
        scores = weights[j] * X[:, j]
        return Fit(scorer, objective, 1, intercept=0.0, notes=notes, scores=scores)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # 0 is no threshold of a marker
        return tags


def _notes(sign: float, direction: str) -> tuple[Notice, ...]:
    source = "as in the training rows" if direction == FOUND else "as set"
    return (notice("marker_rises" if sign > 0 else "marker_falls", source=source),)
