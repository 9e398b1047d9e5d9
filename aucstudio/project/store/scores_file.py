"""The file of scores: row, the identifier if there is one, score and the class that is called."""

from __future__ import annotations

import codecs
import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.runs.model import Model
from aucstudio.project.runs.scoring import score_file
from aucstudio.project.runs.scoring_report import ScoringReport
from aucstudio.project.store.files import written_atomically
from aucstudio.project.store.sheets import Writable, write_rows


def write_scores(
    file: Writable, model: Model, table: str | Path, *, identifier: str | None = None, **how: Any
) -> ScoringReport:
    """Score a table and write the scores as CSV, block by block.

    Parameters
    ----------
    file : Writable
    model : Model
    table : str or Path
    identifier : str, optional
        A column to be carried along.
    **how
        See :func:`~aucstudio.project.runs.scoring.score_file`.

    Raises
    ------
    InputError, Cancelled
        As that does.
    """
    # The header is written before the first block: not at all if the table is refused.
    header = iter([["row", *([identifier] if identifier else []), "score", "label"]])

    def take(numbers: NDArray[Any], cells: NDArray[Any] | None, scores: NDArray[Any]) -> None:
        carried = [] if cells is None else [cells.tolist()]
        called = called_classes(model, scores).tolist()
        rows = zip(numbers.tolist(), *carried, scores.tolist(), called, strict=True)
        write_rows(file, itertools.chain(header, rows))

    return score_file(model, table, take, identifier=identifier, **how)


def called_classes(model: Model, scores: NDArray[np.float64]) -> NDArray[np.str_]:
    """Name the class that a model gives to each score; shape (rows,)."""
    return np.where(scores > 0, model.positive, model.negative)


@contextlib.contextmanager
def scores_file(path: str | Path) -> Iterator[Writable]:
    """Give a file to write scores into, which is there wholly or not at all."""
    with written_atomically(path) as file:
        # Unlike a TextIOWrapper this one does not close the file a second time when it fails.
        yield codecs.getwriter("utf-8")(file)
