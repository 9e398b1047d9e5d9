"""Rows and cells that cannot be read: where they are in the file, and why."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.encoding import holds_blank_lines, lines_at
from aucstudio.project.data.text.numerals import (
    BLANKS,
    LOOKALIKES,
    NumberFormat,
    is_missing_number,
)
from aucstudio.project.errors import InputError

if TYPE_CHECKING:
    import duckdb

Numbers = NDArray[np.int64]

MAX_REJECTED = 100
# As long as the module csv allows on every system.
_LONGEST_CELL = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class Rejected:
    """A row that was left out.

    Attributes
    ----------
    line : int
        Line of the file in which the row begins, counted from 1.
    reason : str
    row : int
        Its place among the data rows of the file, counted from 1.
    """

    line: int
    reason: str
    row: int


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
    lines : int
        How many lines it has, or a few more.
    lookalikes : frozenset of str
        Spellings to beware of: see :data:`~aucstudio.project.data.text.numerals.LOOKALIKES`.
    """

    path: Path
    shown: Path
    dialect: Dialect
    names: list[str]
    lines: int
    lookalikes: frozenset[str] = LOOKALIKES


@dataclasses.dataclass(frozen=True, eq=False)
class LeftOut:
    """The rows that were left out.

    Attributes
    ----------
    listed : list of Rejected
        The first hundred.
    rows : ndarray of int64
        Places of all of them among the data rows, counted from 1, in rising order.
    """

    listed: list[Rejected]
    rows: Numbers

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.rows)

    def others(self, kept: int) -> Numbers | None:
        """Give the places of the rows that were kept; None if all were."""
        if not self.total:
            return None
        is_kept = np.ones(kept + self.total, dtype=bool)
        is_kept[self.rows - 1] = False
        return np.flatnonzero(is_kept) + 1


def rejected_rows(connection: duckdb.DuckDBPyConnection, source: Source) -> LeftOut:
    """Find the rows that DuckDB rejected.

    Raises
    ------
    InputError
        If a quotation mark is never closed: what follows it cannot be told apart.
    """
    # There is one error for each cell that a row lacks or has too many.
    rejects = (
        "SELECT line_byte_position - 1, min(error_type::VARCHAR), min(csv_line) "
        "FROM reject_errors GROUP BY 1 ORDER BY 1"
    )
    found = connection.execute(f"{rejects} LIMIT {MAX_REJECTED}").fetchall()
    if not found:
        return LeftOut([], np.empty(0, dtype=np.int64))
    # DuckDB counts rows; where cells hold line ends, only the place in the file tells the line.
    lines = lines_at(source.path, [int(row[0]) for row in found])
    reasons = [
        _reason(source, line, kind, text or "")
        for line, (_, kind, text) in zip(lines, found, strict=True)
    ]
    counted = connection.execute("SELECT DISTINCT line AS line FROM reject_errors").fetchnumpy()
    rows = _places(source, np.sort(np.asarray(counted["line"], dtype=np.int64)))
    listed = [
        Rejected(line, reason, int(row))
        for line, reason, row in zip(lines, reasons, rows, strict=False)
    ]
    return LeftOut(listed, rows)


def _places(source: Source, counted: Numbers) -> Numbers:
    """Turn what DuckDB counts into places among the data rows.

    It counts lines that were skipped, the header, and blank lines unless they are in a cell.
    """
    before = source.dialect.skip + source.dialect.header
    places = counted - before
    if holds_blank_lines(source.path):
        records = enumerate(_records(source), source.dialect.skip + 1)
        blank = np.array([n for n, (_, row) in records if not row], dtype=np.int64)
        places -= np.searchsorted(blank, counted)
    return places


def _reason(source: Source, line: int, kind: str, text: str) -> str:
    if kind in ("MISSING COLUMNS", "TOO MANY COLUMNS"):
        row = next(
            (row for _, row in _cut(source.dialect, io.StringIO(text, newline="")) if row), []
        )
        return cells_instead(len(row), len(source.names))
    if kind == "LINE SIZE OVER MAXIMUM":
        return "the row is too long"
    if kind != "UNQUOTED VALUE":
        return kind.lower()
    if text.count(source.dialect.quote) % 2:
        raise InputError(
            f"{source.shown}, line {line}: a quotation mark is opened and never closed; close or "
            "double it",
            file=str(source.shown),
            line=line,
            setting="quote",
        )
    return "text follows a closing quotation mark"


def cells_instead(cells: int, width: int) -> str:
    """Say how long a row is that should have ``width`` cells."""
    return f"{cells} cell{'' if cells == 1 else 's'} instead of {width}"


def infinite_value(source: Source, k: int, form: NumberFormat | None) -> InputError:
    """Make the sentence for a column with an infinite value, looking for its line."""
    rows = _complete_rows(source)
    line = next((line for line, row in rows if _is_infinite(row[k].strip(BLANKS), form)), None)
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
            form, cell = forms[k], row[k].strip(BLANKS)
            if form and not is_missing_number(cell) and not _is_finite(cell, form):
                found[k] = cell, line
        if len(found) == len(counts):
            break
    return {source.names[k]: Unreadable(n, *found.get(k, ("", None))) for k, n in counts.items()}


def _complete_rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Walk over the rows with the lines they begin in; slow, for messages only."""
    rows = (found for found in _records(source) if found[1])
    if source.dialect.header:
        next(rows, None)
    return (found for found in rows if len(found[1]) >= len(source.names))


def _records(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Walk over the rows, blank and rejected ones too, with the lines they begin in."""
    with source.path.open(encoding="utf-8-sig", newline="") as file:
        for _ in range(source.dialect.skip):
            file.readline()
        for line, row in _cut(source.dialect, file):
            yield source.dialect.skip + line, row


def _cut(dialect: Dialect, text: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Cut lines into cells; the number of the first line of each row comes with it."""
    quoting: Any = csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(
        text,
        delimiter=dialect.delimiter,
        quotechar=dialect.quote or None,
        quoting=quoting,
        skipinitialspace=dialect.delimiter not in " \t",
    )
    begins = 1
    for row in reader:
        yield begins, row
        begins = reader.line_num + 1


def _is_finite(cell: str, form: NumberFormat) -> bool:
    return form.matches(cell) and not _is_infinite(cell, form)


def _is_infinite(cell: str, form: NumberFormat | None) -> bool:
    return form is not None and form.matches(cell) and bool(np.isinf(form.read(cell)))
