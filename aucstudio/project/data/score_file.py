"""Scores of a separate file, joined to the table by an identifier."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.choices import listed
from aucstudio.project.data.columns import Column, spell_cell, spelled
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.errors import input_error
from aucstudio.project.words import counted

SomeTable = TypeVar("SomeTable", bound=AnyTable)
_NAMED = 3  # of the rows that are in the way


@dataclasses.dataclass(frozen=True)
class ScoreFile:
    """A file with a score for each row of a table.

    Attributes
    ----------
    path : str
    sha256 : str
        Of its bytes.
    key : str
        Its column that names rows.
    column : str
        Its column of scores.
    identifier : str
        The table's column that names rows.
    name : str
        What the scores are called as a column of the table.
    """

    path: str
    sha256: str
    key: str
    column: str
    identifier: str
    name: str

    def identity(self) -> dict[str, str]:
        """Return what determines the scores read, without the file's location."""
        return {n: v for n, v in dataclasses.asdict(self).items() if n != "path"}

    def joined(self, table: SomeTable) -> SomeTable:
        """Return the table with the scores as a column, unless it has them.

        Raises
        ------
        InputError
            If the file is gone or has changed, or does not fit.
        """
        if any(column.name == self.name for column in table.columns):
            return table
        if not isinstance(table, Table):
            raise input_error("scores_on_disk", file=table.path)
        scores = read_score_file(self.path)
        if scores.sha256 != self.sha256:
            raise input_error("scores_changed", file=self.path)
        joined, _, _ = _joined(table, self, scores)
        return cast("SomeTable", joined)


@dataclasses.dataclass(frozen=True, eq=False)
class Joined:
    """A table with scores from a file.

    Attributes
    ----------
    table : Table
    scores : ScoreFile
    unscored : int
        Rows of the table that the file gives no score.
    strangers : int
        Rows of the file that are none of the table's.
    """

    table: Table
    scores: ScoreFile
    unscored: int
    strangers: int

    def sentence(self) -> str:
        """Return what was found as a sentence."""
        given, name = self.table.rows - self.unscored, Path(self.scores.path).name
        told = (
            f"{name} has scores of {given:,} of {counted(self.table.rows, 'row')}, matched by "
            f"{self.scores.key} = {self.scores.identifier}"
        )
        if self.unscored:
            told += f"; excluded: {counted(self.unscored, 'row')} without a score"
        if self.strangers:
            told += (
                f"; ignored: {counted(self.strangers, 'row')} of the file that match no row here"
            )
        return f"{told}."


def read_score_file(path: str | Path) -> Table:
    """Read a file of scores; its columns keep their names, and none is a label."""
    return read_table(path, label=False, need_label=False)


def join_scores(
    table: Table,
    scores: Table,
    column: str,
    key: str | None = None,
    identifier: str | None = None,
) -> Joined:
    """Join scores of a file to the rows of a table.

    Parameters
    ----------
    table, scores : Table
    column : str
        The file's column of scores.
    key : str, optional
        The file's column that names rows; by default the one called as the table's.
    identifier : str, optional
        The table's column that names rows; by default the one of the role id.

    Raises
    ------
    InputError
        If it is not known which columns match, one of them is not there, a row is named twice, the
        scores are no numbers, or no row has one.
    """
    identifier = identifier or _identifier(table, key)
    key = key or _key(scores, identifier)
    for of, name in ((scores, key), (scores, column), (table, identifier)):
        of.column(name)
    if column == key:
        raise input_error("score_is_key", file=scores.path, column=column)
    taken = {known.name for known in table.columns}
    name = column if column not in taken else f"{column} of {Path(scores.path).name}"
    if name in taken:
        raise input_error(
            "score_name_taken", file=scores.path, column=column, table=table.path, name=name
        )
    given = ScoreFile(str(scores.path.resolve()), scores.sha256, key, column, identifier, name)
    joined, unscored, strangers = _joined(table, given, scores)
    return Joined(joined, given, unscored, strangers)


def _identifier(table: Table, key: str | None) -> str:
    named = [column.name for column in table.columns if column.role == "id"]
    if len(named) == 1:
        return named[0]
    if key in {column.name for column in table.columns}:
        return str(key)
    several = f"has several columns of the role id ({listed(named)})"
    many = several if named else "has no column of the role id"
    raise input_error("identifier_absent", file=table.path, many=many)


def _key(scores: Table, identifier: str) -> str:
    names = [column.name for column in scores.columns]
    if identifier in names:
        return identifier
    raise input_error(
        "score_id_absent", file=scores.path, identifier=identifier, names=listed(names)
    )


def _joined(table: Table, given: ScoreFile, scores: Table) -> tuple[Table, int, int]:
    """Return the table with the scores, and how many rows of either have no fellow."""
    column = scores.column(given.column)
    if column.kind != "number":
        raise input_error("score_of_text", file=scores.path, column=given.column)
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
        raise input_error(
            "scores_match_no_row",
            file=scores.path,
            column=given.key,
            table=table.path,
            given=_examples(scores, given.key),
            identifier=given.identifier,
            known=_examples(table, given.identifier),
        )
    made = Column.of_cells(given.name, values, missing, len(np.unique(values[~np.isnan(values)])))
    made = dataclasses.replace(made, role="ignore")
    strangers = len(found) - len(np.unique(places[matched]))
    return dataclasses.replace(table, columns=(*table.columns, made)), missing, strangers


def _names(table: Table, name: str) -> list[str | None]:
    """Spell what names the rows; refuse what names two of them.

    Raises
    ------
    InputError
    """
    texts = [text or None for text in spelled(table.column(name)).tolist()]
    rows: dict[str | None, list[int]] = {}
    for text, row in zip(texts, table.file_rows.tolist(), strict=True):
        rows.setdefault(text, []).append(row)
    twice = [(text, at) for text, at in rows.items() if text is not None and len(at) > 1]
    if twice:
        shown = [f"{text!r} in rows {at[0]:,} and {at[1]:,}" for text, at in twice]
        more = f" and {len(shown) - _NAMED:,} more" if len(shown) > _NAMED else ""
        pairs = "; ".join(shown[:_NAMED]) + more
        raise input_error("rows_not_identified", file=table.path, column=name, rows=pairs)
    return texts


def _require_one_meaning(mine: Column, table: Table, theirs: Column, scores: Table) -> None:
    """Refuse numbers of days beside plain numbers: a date is no row's number."""
    if mine.kind != "number" or theirs.kind != "number" or mine.is_date == theirs.is_date:
        return
    dated, plain = (table, scores) if mine.is_date else (scores, table)
    names = (mine.name, theirs.name) if mine.is_date else (theirs.name, mine.name)
    raise input_error(
        "dates_beside_numbers",
        file=scores.path,
        column=theirs.name,
        dates=names[0],
        dated=dated.path,
        numbers=names[1],
        plain=plain.path,
    )


def _examples(table: Table, name: str) -> str:
    column = table.column(name)
    cells = column.values[column.known()][:_NAMED].tolist()
    numbers = column.kind == "number"
    return listed([spell_cell(column, c) if numbers else str(c) for c in cells]) or "missing"
