"""A trained model: scorer, preprocessing and origin."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.scorers import LinearScorer, Scorer
from aucstudio.notices import text
from aucstudio.notices.words import listed, suggestion
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import is_sparse
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.table import Table
from aucstudio.project.errors import input_error

if TYPE_CHECKING:
    from aucstudio.engine.calibration import Calibration
    from aucstudio.engine.roc import ThresholdRule

Array = NDArray[np.float64]

_CHUNK = 65_536
_CELLS = 1 << 23  # of a dense block
_SHOWN = 5
_NO_SCHEMA = Schema(())
AS_TRAINED = "as trained"  # the rule of the default threshold, 0


@dataclasses.dataclass(frozen=True, eq=False)
class Model:
    """A scorer with its preprocessing and origin.

    Attributes
    ----------
    preparation : Preparation
    scorer : Scorer
    intercept : float
        The raw score is the output of the scorer plus the intercept.
    method : str
    params : dict
    label, positive, negative : str
        The label column and the names of its two classes.
    trained_on : str
        A description of the training rows.
    threshold : float
        A row is predicted positive if its raw score exceeds it. No score depends on it.
    threshold_rule : str
        A description of how the threshold was chosen.
    schema : Schema
        Of the training table; tables to be scored are read by it.
    calibration : Calibration or None
        Maps scores to probabilities of the positive class.
    calibrated_on : str
        A description of the rows of the calibration.
    groups : tuple of ndarray of uint64
        For each group column of the schema, sorted digests of its values in the training table;
        empty if they are not known.
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
    threshold: float = 0.0
    threshold_rule: str = AS_TRAINED
    schema: Schema = _NO_SCHEMA
    calibration: Calibration | None = None
    calibrated_on: str = ""
    groups: tuple[NDArray[np.uint64], ...] = ()

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """Names of the feature columns."""
        return self.preparation.columns

    def check_columns(self, table: AnyTable) -> None:
        """Check that a table has the fitted columns, of the same kinds.

        Raises
        ------
        RefusedColumnsError
            If one is absent.
        InputError
            If one was read as another kind than in training.
        """
        names = {column.name: column for column in table.columns}
        known = self.schema.by_name
        self.check_names(names, table.path)
        for name in self.feature_columns:
            kind = known[name].kind if name in known else None
            if kind not in (None, names[name].kind):
                raise input_error(
                    "column_of_other_kind",
                    file=table.path,
                    column=name,
                    name=table.path.name,
                    kind=names[name].kind,
                    trained=kind,
                )

    def check_names(self, names: Collection[str], path: Path) -> None:
        """Check that a table has the fitted columns.

        Raises
        ------
        RefusedColumnsError
        """
        absent = [name for name in self.feature_columns if name not in names]
        if absent:
            from aucstudio.project.data.preparing.acceptance import (
                UNKNOWN,
                Refusal,
                RefusedColumnsError,
            )

            hints = {name: suggestion(name, names) for name in absent}
            words = text(
                "model_columns_absent",
                name=path.name,
                count=len(absent),
                columns=listed([repr(name) for name in absent], _SHOWN),
                hint=next(filter(None, hints.values()), ""),
            )
            refused = {
                name: Refusal(UNKNOWN, text("model_column_absent", hint=hint))
                for name, hint in hints.items()
            }
            raise RefusedColumnsError(words, refused, str(path))

    def with_threshold(
        self,
        rule: ThresholdRule,
        positive: NDArray[np.bool_],
        scores: Array,
        rows: str,
        weights: Array | None = None,
    ) -> Model:
        """Return the model with the threshold that a rule chooses.

        Parameters
        ----------
        rule : ThresholdRule
        positive, scores : ndarray
            Rows to choose it on, with scores of this model.
        rows : str
            A description of these rows.
        weights : ndarray, optional
        """
        from aucstudio.engine.roc import roc_curve

        words = f"where {rule.describe()} on {rows}"
        place = rule.place(roc_curve(positive, scores, weights=weights))
        return self.moved_to(place, scores, words)

    def moved_to(self, threshold: float, scores: Array, words: str) -> Model:
        """Return the model with another threshold; scores and probabilities are unchanged.

        Parameters
        ----------
        threshold : float
            On the scale of the raw scores.
        scores : ndarray
            Known scores of this model: rounding must not move any of them across the threshold.
        words : str
            A description of how the threshold was chosen.
        """
        place = _clear_of(scores, threshold)
        return dataclasses.replace(self, threshold=place, threshold_rule=words)

    def predicted(self, scores: Array) -> NDArray[np.str_]:
        """Return the predicted class of each raw score, shape (rows,)."""
        return np.where(scores > self.threshold, self.positive, self.negative)

    def probabilities(self, scores: Array) -> Array | None:
        """Return the probabilities of raw scores; None if the model is not calibrated."""
        return None if self.calibration is None else self.calibration(scores)

    def score(self, table: Table) -> Array:
        """Return the raw score of every row of a table, which needs no label; shape (rows,).

        Raises
        ------
        InputError
            If columns of the table do not fit; the sentence names them.
        """
        self.check_columns(table)
        if self.preparation.keeps_zeros and isinstance(self.scorer, LinearScorer):
            rows = np.arange(table.rows)
            from aucstudio.project.data.preparing.sparse import sparse_rows

            return self.scorer(sparse_rows(self.preparation, table, rows)) + self.intercept
        scores = np.empty(table.rows)
        chunk = _CHUNK
        if is_sparse(table.columns):
            chunk = max(1, _CELLS // max(len(self.preparation.feature_names), 1))
        for start in range(0, table.rows, chunk):
            rows = np.arange(start, min(start + chunk, table.rows))
            scores[rows] = self.scorer(self.preparation.apply(table, rows))
        scores += self.intercept
        return scores


def _clear_of(scores: Array, threshold: float) -> float:
    """Move a threshold away from the known scores, so that no score changes sides.

    Scores that are computed again in blocks of another size differ by rounding.
    """
    called = scores > threshold
    low = float(scores[~called].max(initial=-np.inf))
    high = float(scores[called].min(initial=np.inf))
    step = 1e-9 * max(abs(threshold), 1.0)
    if high - low <= 2 * step:
        return low + (high - low) / 2
    return float(np.clip(threshold, low + step, high - step))
