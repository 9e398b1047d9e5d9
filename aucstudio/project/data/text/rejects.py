"""Rows and cells that cannot be read: where they are in the file, and why."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.encoding import lines_at
from aucstudio.project.data.text.numerals import NumberFormat, is_missing_number
from aucstudio.project.errors import InputError

MAX_REJECTED = 100


@dataclasses.dataclass(frozen=True)
class Rejected:
    """A row that was left out.

    Attributes
    ----------
    line : int
        Line of the file in which the row begins, counted from 1.
    reason : str
    """

    line: int
    reason: str


@dataclasses.dataclass(frozen=True)
class Unreadable:
    """Cells of a column that should be numbers and are none; they count as missing.

    Attributes
    ----------
    count : int
    text : str
        The first of them.
    line : int or None
        Line of the file in which its row begins; None where the file has no lines.
    """

    count: int
    text: str
    line: int | None


@dataclasses.dataclass(frozen=True)
class Source:
    """A delimited file to be read.

    Attributes
    ----------
    path : Path
        The file as plain UTF-8.
    shown : Path
        The file to name in messages.
    dialect : Dialect
    names : list of str
        Names of its columns.
    """

    path: Path
    shown: Path
    dialect: Dialect
    names: list[str]


def rejected_rows(
    connection: duckdb.DuckDBPyConnection, source: Source
) -> tuple[list[Rejected], int]:
    """List the first hundred rows that DuckDB rejected, and count them all.

    Raises
    ------
    InputError
        If a quotation mark is never closed: what follows it cannot be told apart.
    """
    rejects = (
        "SELECT line_byte_position - 1, min(error_type::VARCHAR), min(csv_line), "
        "max(TRY_CAST(regexp_extract(error_message, 'Found: ([0-9]+)', 1) AS BIGINT)) "
        "FROM reject_errors GROUP BY 1 ORDER BY 1"
    )
    found = connection.execute(f"{rejects} LIMIT {MAX_REJECTED}").fetchall()
    # DuckDB counts rows; where cells hold line ends, only the place in the file tells the line.
    lines = lines_at(source.path, [int(row[0]) for row in found])
    listed = [
        Rejected(line, _reason(source, line, kind, text, cells))
        for line, (_, kind, text, cells) in zip(lines, found, strict=True)
    ]
    counted = connection.execute(f"SELECT count(*) FROM ({rejects})").fetchone()
    return listed, int(counted[0]) if counted else 0


def _reason(source: Source, line: int, kind: str, text: str | None, cells: int | None) -> str:
    if kind in ("MISSING COLUMNS", "TOO MANY COLUMNS") and cells is not None:
        return f"{cells} cell{'' if cells == 1 else 's'} instead of {len(source.names)}"
    if kind == "LINE SIZE OVER MAXIMUM":
        return "the row is too long"
    if kind != "UNQUOTED VALUE":
        return kind.lower()
    if (text or "").count(source.dialect.quote) % 2:
        raise InputError(
            f"{source.shown}, line {line}: a quotation mark is opened and never closed; close or "
            "double it",
            file=str(source.shown),
            line=line,
            setting="quote",
        )
    return "text follows a closing quotation mark"


def infinite_value(source: Source, k: int, form: NumberFormat) -> InputError:
    """Make the sentence for a column with an infinite value, looking for its line."""
    rows = _complete_rows(source)
    line = next((line for line, row in rows if _is_infinite(row[k].strip(), form)), None)
    where = "" if line is None else f", line {line}"
    return InputError(
        f"infinite value in column {source.names[k]!r}{where} of {source.shown}; leave the cell "
        "empty or take the row out",
        file=str(source.shown),
        line=line,
        column=source.names[k],
    )


def first_unreadable(
    source: Source, counts: Mapping[int, int], forms: Mapping[int, NumberFormat | None]
) -> dict[str, Unreadable]:
    """Look for the first cell that is no number in each of some columns.

    Parameters
    ----------
    source : Source
    counts : mapping of column to int
        How many such cells there are.
    forms : mapping of column to NumberFormat
    """
    found: dict[int, tuple[str, int]] = {}
    rows = _complete_rows(source) if counts else iter(())
    for line, row in rows:
        for k in [k for k in counts if k not in found]:
            form, cell = forms[k], row[k].strip()
            if form and not is_missing_number(cell) and not _is_finite(cell, form):
                found[k] = cell, line
        if len(found) == len(counts):
            break
    return {source.names[k]: Unreadable(n, *found.get(k, ("", None))) for k, n in counts.items()}


def _complete_rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Walk over the rows with the lines they begin in; slow, for messages only."""
    dialect = source.dialect
    quoting: Any = csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE
    with source.path.open(encoding="utf-8-sig", newline="") as file:
        for _ in range(dialect.skip):
            file.readline()
        reader = csv.reader(
            file, delimiter=dialect.delimiter, quotechar=dialect.quote or None, quoting=quoting
        )
        begins = dialect.skip + 1
        for number, row in enumerate(reader):
            if len(row) >= len(source.names) and not (number == 0 and dialect.header):
                yield begins, row
            begins = dialect.skip + reader.line_num + 1


def _is_finite(cell: str, form: NumberFormat) -> bool:
    return form.matches(cell) and not _is_infinite(cell, form)


def _is_infinite(cell: str, form: NumberFormat) -> bool:
    return form.matches(cell) and bool(np.isinf(form.read(cell)))
