"""Columns and rejected rows of a delimited file."""

from __future__ import annotations

import csv
import dataclasses
import functools
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.column_builder import Cells
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.encoding import holds_blank_lines, lines_at
from aucstudio.project.data.text.numerals import NumberFormat
from aucstudio.project.data.text.records import Cutter
from aucstudio.project.errors import InputError

if TYPE_CHECKING:
    import duckdb

Numbers = NDArray[np.int64]

MAX_REJECTED = 100
# Bytes of a file that are held at a time where it is read by rows; from so many columns on DuckDB
# would have to read a file too often.
MOST_BYTES, WIDE = 1 << 26, 2_500
# As long as the module csv allows on every system.
_LONGEST_CELL = 2**31 - 1
# What DuckDB calls rows of another length.
_LENGTHS = "('MISSING COLUMNS', 'TOO MANY COLUMNS')"


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
    spellings : tuple of pairs of str and int
        How they are spelled, and how often: the most frequent first, twenty at most.
    """

    count: int
    text: str
    line: int | None
    spellings: tuple[tuple[str, int], ...] = ()


class AstrayError(Exception):
    """Quotation marks in a file are not used as they should be."""


@dataclasses.dataclass(frozen=True, eq=False)
class LeftOut:
    """The rows that were left out.

    Attributes
    ----------
    listed : list of Rejected
        The first hundred.
    rows : ndarray of int64
        Places of all of them among the data rows, counted from 1, in rising order.
    repairs : dict of str to pair of int
        By the code of a notice, how many rows had to be repaired, and the line of the first.
    """

    listed: list[Rejected]
    rows: Numbers
    repairs: dict[str, tuple[int, int]] = dataclasses.field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.rows)

    def others(self, kept: int) -> Numbers | None:
        """Return the places of the rows that were kept; None if all were."""
        if not self.total:
            return None
        is_kept = np.ones(kept + self.total, dtype=bool)
        is_kept[self.rows - 1] = False
        return np.flatnonzero(is_kept) + 1


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
    lookalikes : bool
        Whether it may hold :data:`~aucstudio.project.data.text.cell_sql.LOOKALIKES`.
    header : tuple of str
        The row of names as it stands in the file; where it comes again, it is left out.
    tidied : Tidied or None
        The rows once more, as DuckDB reads them, where the file itself is not so.
    """

    path: Path
    shown: Path
    dialect: Dialect
    names: list[str]
    lines: int
    lookalikes: bool = True
    header: tuple[str, ...] = ()
    tidied: Tidied | None = None


@dataclasses.dataclass(frozen=True)
class Tidied:
    """The rows of a file that could be read, in a file of their own; and those that could not."""

    path: Path
    left_out: LeftOut


def rejected_rows(connection: duckdb.DuckDBPyConnection, source: Source) -> LeftOut:
    """Find the rows that DuckDB rejected.

    Raises
    ------
    AstrayError
        If quotation marks are not used as they should be: DuckDB cannot tell rows apart then.
    """
    # There is one error for each cell that a row lacks or has too many.
    rejects = (
        "SELECT line_byte_position - 1, min(error_type::VARCHAR), min(csv_line) "
        "FROM reject_errors GROUP BY 1 ORDER BY 1"
    )
    if source.tidied is not None:
        return source.tidied.left_out
    astray = f"SELECT count(*) FROM reject_errors WHERE error_type::VARCHAR NOT IN {_LENGTHS}"
    if connection.execute(astray).fetchall()[0][0]:
        raise AstrayError
    found = connection.execute(f"{rejects} LIMIT {MAX_REJECTED}").fetchall()
    if not found:
        return LeftOut([], np.empty(0, dtype=np.int64))
    # DuckDB counts rows; where cells hold line ends, only the place in the file tells the line.
    lines = lines_at(source.path, [int(row[0]) for row in found])
    reasons = [_reason(source, text or "") for _, _, text in found]
    counted = connection.execute("SELECT DISTINCT line AS line FROM reject_errors").fetchnumpy()
    rows = _places(source, np.sort(np.asarray(counted["line"], dtype=np.int64)))
    listed = [
        Rejected(line, reason, int(row))
        for line, reason, row in zip(lines, reasons, rows, strict=False)
    ]
    return LeftOut(listed, rows)


def check_rejected(source: Source, left_out: LeftOut, rows: int) -> None:
    """Raise InputError if most rows of a file cannot be read, or one, where that is not wanted."""
    strict = source.dialect.strict and left_out.total
    if not (strict or left_out.total > rows):
        return
    shown, first, total = source.shown, left_out.listed[0], left_out.total
    what = (
        "which must not be left out" if strict else f"{total} of {rows + total} rows cannot be read"
    )
    raise InputError(
        f"{shown}, line {first.line}: {first.reason}; {what}: "
        + ("correct the row, or read without strict" if strict else "choose another delimiter"),
        file=str(shown),
        line=first.line,
        setting="strict" if strict else "delimiter",
    )


def _places(source: Source, counted: Numbers) -> Numbers:
    """Turn what DuckDB counts into places among the data rows.

    It counts lines that were skipped, the header, and blank lines unless they are in a cell.
    """
    before = source.dialect.skip + source.dialect.header
    places = counted - before
    if holds_blank_lines(source.path):
        places -= np.searchsorted(_blank_places(source), counted)
    return places


def _blank_places(source: Source) -> Numbers:
    """Return the places of blank lines as DuckDB counts rows; slow."""
    dialect = source.dialect
    quoting: Any = csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE
    csv.field_size_limit(_LONGEST_CELL)
    with source.path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(
            itertools.islice(file, dialect.skip, None),
            delimiter=dialect.delimiter,
            quotechar=dialect.quote or None,
            quoting=quoting,
            skipinitialspace=dialect.delimiter not in " \t",
        )
        blank = [place for place, row in enumerate(rows, dialect.skip + 1) if not row]
    return np.array(blank, dtype=np.int64)


def _reason(source: Source, text: str) -> str:
    width = len(source.names)
    rows = Cutter(source.dialect, width).rows(text.split("\n"))
    return cells_instead(max((len(row) for _, row in rows), default=0), width)


def cells_instead(cells: int, width: int) -> str:
    """Return the sentence on how long a row is that should have ``width`` cells."""
    return f"{cells} cell{'' if cells == 1 else 's'} instead of {width}"


# How the numbers of each column are written; None for text.
Formats = dict[int, NumberFormat | None]
Others = dict[int, tuple[tuple[str, int], ...]]


@dataclasses.dataclass(frozen=True, eq=False)
class Contents:
    """What a delimited file holds.

    Attributes
    ----------
    rows : int
        Rows that were kept.
    forms : dict of int to NumberFormat or None
        How the numbers of each column are written; None for text.
    strays : dict of int to str
        For text columns that the sample showed as numbers, a cell that is none.
    left_out : LeftOut
        The rows that were not kept.
    others : dict of int to pairs of text and int
        How cells of columns of numbers are spelled that are none.
    cells : list of Cells
        In the order of the columns; empty where they stay in DuckDB.
    """

    rows: int
    forms: Formats
    strays: dict[int, str]
    left_out: LeftOut
    others: Others = dataclasses.field(default_factory=dict)
    cells: list[Cells] = dataclasses.field(default_factory=list)

    @functools.cached_property
    def row_numbers(self) -> Numbers | None:
        """The places of the rows among all data rows, counted from 1; None if all were kept."""
        return self.left_out.others(self.rows)
