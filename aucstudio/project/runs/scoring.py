"""Scores of a table by a trained model, wherever the table's cells are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.disk.stream import StreamedTable
from aucstudio.project.data.table import Table
from aucstudio.project.runs.model import Model

Array = NDArray[np.float64]


def score_model(model: Model, table: StreamedTable) -> Iterator[tuple[int, Array]]:
    """Score every row of a table on disk: the number of a first row, and the scores from there.

    Raises
    ------
    InputError
        If the table's columns do not fit; the sentence names them.
    """
    preparation = model.preparation
    names = (*preparation.numbers, *preparation.categories)
    height = table.height(len(preparation.feature_names))
    for start, window in table.windows(height, names):
        yield start, model.score(window)


def scores_of(model: Model, table: Table) -> Array:
    """Score every row of a table, wherever its cells are; shape (rows,)."""
    if not isinstance(table, StreamedTable):
        return model.score(table)
    return np.concatenate([scores for _, scores in score_model(model, table)])
