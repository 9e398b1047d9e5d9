"""Scores from elsewhere as runs: a column of the table that is a score already.

A file of scores becomes a column first, joined by what names the rows.

Such a run is an experiment like any other: its method takes one column as it is, and every other
column is ignored. Nothing is trained but the direction, so the scores of exactly the rows that
another run held out can be held against that run's, split by split.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.notices import Notice, notice
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.score_file import Joined, ScoreFile, join_scores, read_score_file
from aucstudio.project.data.splitting.split import Split
from aucstudio.project.data.splitting.validation import FILE, Validation
from aucstudio.project.data.table import Column, Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.record import RunRecord

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier

SomeTable = TypeVar("SomeTable", bound=AnyTable)
MARKER = "marker"
_FEATURE_ROLES = ("number", "category")


def score_columns(table: AnyTable) -> list[str]:
    """Name the columns that can be scores: those of numbers, the label aside."""
    return [c.name for c in table.columns if c.kind == "number" and c.role != "label"]


def scored_by(table: SomeTable, column: str) -> SomeTable:
    """Return the table with one column to learn from, whatever it was for; others are ignored.

    Raises
    ------
    InputError
        If there is no such column of numbers, or it is the label.
    """
    found = table.column(column)
    if found.role == "label" or found.kind == "text":
        what = "is the label" if found.role == "label" else "holds text"
        raise InputError(
            f"column {column!r} of {table.path} {what} and cannot be a score: choose a column of "
            "numbers",
            file=str(table.path),
            column=column,
            setting="score-column",
        )
    others = [c.name for c in table.columns if c.role in _FEATURE_ROLES and c.name != column]
    return table.with_roles(roles={**dict.fromkeys(others, "ignore"), column: "number"})


@dataclasses.dataclass(frozen=True)
class ScoreSource:
    """A file with scores of a table's rows, as a person names it.

    Attributes
    ----------
    path : str
    key, identifier : str or None
        The columns of the file and of the table that name the rows, where they are told.
    """

    path: str
    key: str | None = None
    identifier: str | None = None

    def join(self, table: AnyTable, column: str, validation: Validation) -> Joined:
        """Read the file and join its scores.

        Raises
        ------
        InputError
            If it does not fit, or rows are not those of one table in memory.
        """
        return join_scores(
            joinable(table, validation),
            read_score_file(self.path),
            column,
            self.key,
            self.identifier,
        )


def joinable(table: AnyTable, validation: Validation) -> Table:
    """Return a table that scores of a file can be joined to.

    Raises
    ------
    InputError
        If it stays on disk, or rows of another file are held out.
    """
    reason = "a test file" if validation.scheme == FILE else "an out-of-memory table"
    if validation.scheme == FILE or not isinstance(table, Table):
        raise InputError(
            "scores of a file are joined to the rows of one table in memory, and not to those of "
            f"{reason}",
            setting="score-file",
        )
    return table


def with_score_file(experiment: Experiment, scores: ScoreFile) -> Experiment:
    """Return an experiment on a table whose scores come from a file."""
    data = dataclasses.replace(experiment.data, scores=(scores,))
    return dataclasses.replace(experiment, data=data)


def with_scores(
    method: type[AUCClassifier], split: Split, table: AnyTable, test_table: AnyTable | None
) -> tuple[Split, tuple[Notice, ...]]:
    """Set rows without a score aside, for a method that takes one column as it is.

    Positions are those among labelled rows; with a test file all of its rows are ``test``.

    Raises
    ------
    InputError
        If no positive or no negative row with a score is left.
    """
    if test_table is not None:
        split = dataclasses.replace(split, test=np.arange(np.count_nonzero(test_table.labelled())))
    name = given_column(method, table)
    if name is None:
        return split, ()
    held = test_table or table
    train = _known(table, name, split.train, "trains on")
    test = _known(held, name, split.test, "holds out")
    aside = len(split.train) - len(train), len(split.test) - len(test)
    kept = dataclasses.replace(split, train=train, test=test)
    if not any(aside):
        return kept, ()
    return kept, (notice("scores_missing", column=name, train=aside[0], test=aside[1]),)


def given_column(method: type[AUCClassifier], table: AnyTable) -> str | None:
    """Name the one column whose values are the scores; None where something is learnt."""
    features = [column for column in table.columns if column.role in _FEATURE_ROLES]
    alone = method.as_given and len(features) == 1 and features[0].role == "number"
    return features[0].name if alone else None


def is_given(record: RunRecord) -> bool:
    """Return whether a run's scores are a column of the table."""
    return record.experiment.method == MARKER


def _known(table: AnyTable, name: str, places: NDArray[np.intp], verb: str) -> NDArray[np.intp]:
    column = table.column(name)
    assert isinstance(column, Column)  # a table on disk is refused
    rows = np.flatnonzero(table.labelled())[places]
    known = ~np.isnan(column.measured()[rows])
    positive = table.is_positive()[places[known]]
    if not 0 < np.count_nonzero(positive) < len(positive):
        raise InputError(
            f"column {name!r} of {table.path} has no value in the positive or in the negative rows "
            f"that a split {verb}: these rows cannot be ranked by it",
            file=str(table.path),
            column=name,
            setting="score-column",
        )
    kept: NDArray[np.intp] = places[known]
    return kept
