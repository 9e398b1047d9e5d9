"""A trained model: a scorer with its preprocessing and what it was made from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.roc import ThresholdRule
from aucstudio.engine.scorers import Scorer
from aucstudio.project.data.prepare import Preparation
from aucstudio.project.data.table import Table

Array = NDArray[np.float64]

_CHUNK = 65_536


@dataclasses.dataclass(frozen=True, eq=False)
class Model:
    """A scorer with its preprocessing and what it was made from.

    Attributes
    ----------
    preparation : Preparation
    scorer : Scorer
    intercept : float
        Added to the scores; a row is called positive where the sum exceeds 0.
    method : str
    params : dict
    label, positive, negative : str
        The label column and what its two classes are called.
    trained_on : str
        Which rows, in words.
    threshold : str
        Where rows begin to be called positive, in words.
    """

    preparation: Preparation
    scorer: Scorer
    intercept: float
    method: str
    params: Mapping[str, Any]
    label: str
    positive: str
    negative: str
    trained_on: str
    threshold: str = "as trained"

    def with_threshold(
        self, rule: ThresholdRule, positive: NDArray[np.bool_], scores: Array, rows: str
    ) -> Model:
        """Move the threshold to where a rule puts it.

        Parameters
        ----------
        rule : ThresholdRule
        positive, scores : ndarray
            Rows to choose it on, with scores of this very model.
        rows : str
            What these rows are, in words.
        """
        place = rule.place(positive, scores)
        words = f"where {rule.describe()} on {rows}"
        return dataclasses.replace(self, intercept=self.intercept - place, threshold=words)

    def score(self, table: Table) -> Array:
        """Score every row of a table, which need not have a label; shape (rows,).

        Raises
        ------
        InputError
            If the table's columns do not fit; the sentence names them.
        """
        parts = [
            self.scorer(
                self.preparation.apply(table, np.arange(start, min(start + _CHUNK, table.rows)))
            )
            for start in range(0, table.rows, _CHUNK)
        ]
        scores: Array = np.concatenate(parts) if parts else np.empty(0)
        scores += self.intercept
        return scores
