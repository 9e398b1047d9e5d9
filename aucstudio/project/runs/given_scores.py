"""Runs of given scores: a column that is already a score.

Scores of a file become a column first, joined by row identifiers. The method of the experiment
takes the column unchanged, and every other column is ignored. Only the direction is trained, so
that the scores can be compared with those of another run on the same held-out rows, split by split.
"""

from __future__ import annotations

import dataclasses
from typing import TypeVar

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.score_file import Joined, join_scores, read_score_file
from aucstudio.project.data.splitting.validation import FILE, Validation
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.record import RunRecord

SomeTable = TypeVar("SomeTable", bound=AnyTable)
MARKER = "marker"
_FEATURE_ROLES = ("number", "category")


def score_columns(table: AnyTable) -> list[str]:
    """List the columns that can be scores: numbers other than the label."""
    return [c.name for c in table.columns if c.kind == "number" and c.role != "label"]


def scored_by(table: SomeTable, column: str) -> SomeTable:
    """Return the table with one feature column; its other features are ignored.

    Raises
    ------
    InputError
        If there is no column of this name and of numbers, or it is the label.
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
    """A file with scores of a table's rows.

    Attributes
    ----------
    path : str
    key, identifier : str or None
        The columns of the file and of the table that identify rows, if given.
    """

    path: str
    key: str | None = None
    identifier: str | None = None

    def join(self, table: AnyTable, column: str, validation: Validation) -> Joined:
        """Read the file and join its scores.

        Raises
        ------
        InputError
            If it does not fit, or the rows are not those of one table in memory.
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
        If the table stays on disk, or rows of another file are held out.
    """
    reason = "a test file" if validation.scheme == FILE else "an out-of-memory table"
    if validation.scheme == FILE or not isinstance(table, Table):
        raise InputError(
            "scores of a file are joined to the rows of one table in memory, and not to those of "
            f"{reason}",
            setting="score-file",
        )
    return table


def is_given(record: RunRecord) -> bool:
    """Return whether a run's scores are a column of the table."""
    return record.experiment.method == MARKER
