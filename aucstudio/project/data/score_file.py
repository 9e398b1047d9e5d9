"""Scores of a separate file, joined to the table by an identifier."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from aucstudio.notices import notice, texts
from aucstudio.notices.words import listed
from aucstudio.project.data.columns import Column, cell_texts, spell_cell
from aucstudio.project.data.schema import ScoreFile
from aucstudio.project.data.table import SomeTable, Table, read_table
from aucstudio.project.errors import column_error, input_error

_NAMED = 3  # examples in messages


@dataclasses.dataclass(frozen=True, eq=False)
class Joined:
    """A table with scores from a file.

    Attributes
    ----------
    table : Table
    scores : ScoreFile
    unscored : int
        Number of rows of the table without a score.
    unmatched : int
        Number of rows of the file that match no row of the table.
    """

    table: Table
    scores: ScoreFile
    unscored: int
    unmatched: int

    def sentence(self) -> str:
        """Return sentences on the result."""
        facts = {"name": Path(self.scores.path).name, "rows": self.table.rows}
        by = {"key": self.scores.key, "identifier": self.scores.identifier}
        found = [notice("scores_joined", given=self.table.rows - self.unscored, **facts, **by)]
        if self.unscored:
            found.append(notice("scores_absent", rows=self.unscored))
        if self.unmatched:
            found.append(notice("scores_unmatched", rows=self.unmatched))
        return " ".join(texts(found))


def read_score_file(path: str | Path) -> Table:
    """Read a file of scores, without detecting roles."""
    return read_table(path, label=False, need_label=False)


def scores_joined(table: SomeTable, given: ScoreFile) -> SomeTable:
    """Return the table with the scores as a column, unless it has it.

    Raises
    ------
    InputError
        If the file is missing, has changed, or does not match.
    """
    if any(column.name == given.name for column in table.columns):
        return table
    if not isinstance(table, Table):
        raise input_error("scores_on_disk", file=table.path)
    scores = read_score_file(given.path)
    if scores.sha256 != given.sha256:
        raise input_error("scores_changed", file=given.path)
    joined, _, _ = _joined(table, given, scores)
    return cast("SomeTable", joined)


def join_scores(
    table: Table, scores: Table, column: str, key: str | None = None, identifier: str | None = None
) -> Joined:
    """Join scores of a file to the rows of a table.

    Parameters
    ----------
    table, scores : Table
    column : str
        The score column of the file.
    key : str, optional
        The column of the file that identifies rows; by default the one named as in the table.
    identifier : str, optional
        The column of the table that identifies rows; by default the one of the role id.

    Raises
    ------
    InputError
        If it is not known which columns match, a column is absent, a row is identified twice, the
        scores are not numbers, or no row has one.
    """
    identifier = identifier or _identifier(table, key)
    names = [column.name for column in scores.columns]
    if key is None and identifier not in names:
        raise input_error(
            "score_id_absent", file=scores.path, identifier=identifier, names=listed(names)
        )
    key = key or identifier
    for of, name in ((scores, key), (scores, column), (table, identifier)):
        of.column(name)
    if column == key:
        raise column_error("score_is_key", scores.path, column)
    taken = {known.name for known in table.columns}
    name = column if column not in taken else f"{column} of {Path(scores.path).name}"
    if name in taken:
        raise column_error("score_name_taken", scores.path, column, table=table.path, name=name)
    given = ScoreFile(str(scores.path.resolve()), scores.sha256, key, column, identifier, name)
    joined, unscored, unmatched = _joined(table, given, scores)
    return Joined(joined, given, unscored, unmatched)


def _identifier(table: Table, key: str | None) -> str:
    named = [column.name for column in table.columns if column.role == "id"]
    if len(named) == 1:
        return named[0]
    if key in {column.name for column in table.columns}:
        return str(key)
    raise input_error("identifier_absent", file=table.path, count=len(named))


def _joined(table: Table, given: ScoreFile, scores: Table) -> tuple[Table, int, int]:
    """Return the table with the scores, and the numbers of unmatched rows of table and file."""
    column = scores.column(given.column)
    if column.kind != "number":
        raise column_error("score_of_text", scores.path, given.column)
    _require_one_meaning(table.column(given.identifier), table, scores.column(given.key), scores)
    keys, rows = _names(scores, given.key), _names(table, given.identifier)
    found = {key: place for place, key in enumerate(keys) if key is not None}
    places = np.array([-1 if row is None else found.get(row, -1) for row in rows], dtype=np.intp)
    values: NDArray[np.float64] = np.full(table.rows, np.nan)
    matched = places >= 0
    values[matched] = column.measured()[places[matched]]
    values[~np.isfinite(values)] = np.nan
    missing = int(np.count_nonzero(np.isnan(values)))
    if missing == table.rows:
        raise column_error(
            "scores_match_no_row",
            scores.path,
            given.key,
            table=table.path,
            given=_examples(scores, given.key),
            identifier=given.identifier,
            known=_examples(table, given.identifier),
        )
    made = dataclasses.replace(Column.of_cells(given.name, values, missing), role="ignore")
    unmatched = len(found) - len(np.unique(places[matched]))
    return dataclasses.replace(table, columns=(*table.columns, made)), missing, unmatched


def _names(table: Table, name: str) -> list[str | None]:
    """Return the identifiers of the rows as texts; None if missing.

    Raises
    ------
    InputError
        If two rows have the same identifier.
    """
    names = [text or None for text in cell_texts(table.column(name)).tolist()]
    rows: dict[str | None, list[int]] = {}
    for text, row in zip(names, table.file_rows.tolist(), strict=True):
        rows.setdefault(text, []).append(row)
    rows.pop(None, None)
    twice = [f"{text!r} in rows {at[0]:,} and {at[1]:,}" for text, at in rows.items() if at[1:]]
    if twice:
        pairs = listed(twice, _NAMED)
        raise column_error("rows_not_identified", table.path, name, rows=pairs)
    return names


def _require_one_meaning(mine: Column, table: Table, theirs: Column, scores: Table) -> None:
    """Raise InputError if one identifier holds dates and the other plain numbers."""
    if mine.kind != "number" or theirs.kind != "number" or mine.is_date == theirs.is_date:
        return
    sides = (mine.name, table.path), (theirs.name, scores.path)
    (dates, dated), (numbers, plain) = sides if mine.is_date else sides[::-1]
    raise column_error(
        "dates_beside_numbers",
        scores.path,
        theirs.name,
        dates=dates,
        dated=dated,
        numbers=numbers,
        plain=plain,
    )


def _examples(table: Table, name: str) -> str:
    column = table.column(name)
    cells = column.values[column.known()][:_NAMED].tolist()
    numbers = column.kind == "number"
    return listed([spell_cell(column, c) if numbers else str(c) for c in cells]) or "missing"
