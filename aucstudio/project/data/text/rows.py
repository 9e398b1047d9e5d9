"""Rows of a text table, and reasons for leaving rows out."""

from __future__ import annotations

import codecs
import csv
import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, TextIO

import numpy as np

from aucstudio.project.data.text.contents import (
    MAX_REJECTED,
    LeftOut,
    Rejected,
    Source,
    Tidied,
    Unreadable,
    cells_instead,
)
from aucstudio.project.data.text.dialect import Dialect, Row
from aucstudio.project.data.text.encoding import last_opened
from aucstudio.project.data.text.footer import (
    HEADING,
    LAST,
    NOTE,
    TOTALS,
    Judged,
    is_heading,
    is_total,
    without_footer,
)
from aucstudio.project.data.text.numerals import BLANKS, NumberFormat, is_missing_number
from aucstudio.project.data.text.records import Cutter

AGAIN = "the names of the columns again"

_TAIL, _CHUNK, _SHORTEST_HEADER = 1 << 16, 1 << 20, 3
_TOLD_EVERY = 1 << 12


def judged_rows(source: Source) -> Iterator[Judged]:
    """Walk over the rows below the names."""
    with source.path.open(encoding="utf-8-sig", newline="\n") as file:
        yield from _judged(source, file)


def _judged(source: Source, file: TextIO) -> Iterator[Judged]:
    dialect, width = source.dialect, len(source.names)
    rest: Iterator[str] = itertools.islice(file, dialect.skip, None)
    skip, above = dialect.skip, 0
    if dialect.header:
        above = dialect.upper_rows + 1 + dialect.lower_rows
        if dialect.comment and (first := next(rest, "")):
            # The names may stand in a line that begins as remarks do.
            is_remark = first.lstrip().startswith(dialect.comment)
            rest = rest if is_remark else itertools.chain([first], rest)
            skip, above = skip + is_remark, above - is_remark
    cutter = Cutter(dialect, width)
    rows = itertools.islice(_counted(cutter, rest, skip + 1), above, None)
    judged = (_judge(source, line, cells, astray) for line, cells, astray in rows)
    yield from without_footer(judged) if dialect.totals else judged


def _counted(cutter: Cutter, lines: Iterator[str], first: int) -> Iterator[tuple[int, Row, bool]]:
    """Split lines into rows, and return which have misplaced quotation marks."""
    seen = 0
    for line, cells in cutter.rows(lines, first):
        yield line, cells, cutter.irregular > seen
        seen = cutter.irregular


def _judge(source: Source, line: int, cells: Row, astray: bool) -> Judged:
    width = len(source.names)
    if len(cells) > width and not any(cells[width:]):
        cells = cells[:width]
    if source.dialect.ragged:
        cells = [*cells, *[""] * (width - len(cells))]
    if source.header and _is_again(source, cells):
        return Judged(line, cells, AGAIN)
    if source.dialect.headings and is_heading(cells):
        return Judged(line, cells, HEADING)
    reason = "" if len(cells) == width else cells_instead(len(cells), width)
    return Judged(line, cells, reason, astray)


def _is_again(source: Source, cells: Row) -> bool:
    first = cells[0].removeprefix("\ufeff").strip(BLANKS)
    if first != source.header[0] or len(cells) not in (len(source.header), len(source.names)):
        return False
    return tuple(cell.strip(BLANKS) for cell in cells[1:]) == source.header[1 : len(cells)]


def ends_in_totals(path: Path, dialect: Dialect, width: int) -> bool:
    """Return whether totals, remarks or rows of nothing are among the last lines of a file."""
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - _TAIL))
        tail = file.read().decode("utf-8", "replace").rstrip("\r\n \x1a").split("\n")
    rows = [
        Judged(line, cells, "" if len(cells) >= width else cells_instead(len(cells), width))
        for line, cells in Cutter(dialect).rows(tail[-LAST - 1 :])
    ]
    judged = [*without_footer(iter(rows))]
    ends = (row.reason in (TOTALS, NOTE) or is_total(row.cells) for row in judged)
    return len(judged) < len(rows) or any(ends)


def is_astray_later(source: Source) -> bool:
    """Return whether totals come last, delimiters end rows, or quotation marks are astray.

    DuckDB would take totals for rows, delimiters for cells, such names for more than names, and
    look for the end of a quoted cell that has none again and again.
    """
    has_blank_ends = len(source.header) > len(source.names) + 1
    if source.dialect.totals or has_blank_ends or _has_names_astray(source):
        return True
    return source.dialect.quote == '"' and last_opened(source.path) is not None


def names_come_again(source: Source) -> bool:
    """Return whether a line below the names begins as they do: DuckDB would take it for a row."""
    with source.path.open("rb") as file:
        for _ in range(source.dialect.skip):
            file.readline()
        first = file.readline().rstrip(b"\r\n")
        header = first.removeprefix(codecs.BOM_UTF8)
        if not source.header or len(header) < _SHORTEST_HEADER:
            return False
        # Of files that were put together each has its own mark.
        return _holds_line(file, {header, codecs.BOM_UTF8 + header})


def _holds_line(file: BinaryIO, beginnings: set[bytes]) -> bool:
    """Return whether a line below begins so; in pieces, as a map of the file would fill memory."""
    wanted, last = [b"\n" + beginning for beginning in beginnings], b"\n"
    longest = max(map(len, beginnings))
    while chunk := file.read(_CHUNK):
        piece = last + chunk
        if any(line in piece for line in wanted):
            return True
        last = piece[-longest:]
    return False


def _has_names_astray(source: Source) -> bool:
    with source.path.open(encoding="utf-8-sig", newline="\n") as file:
        cutter, quote = Cutter(source.dialect, len(source.names)), source.dialect.quote
        # Of lines to be skipped DuckDB counts those in quotation marks as one.
        if quote and any(quote in line for line in itertools.islice(file, source.dialect.skip)):
            return True
        next(cutter.rows(file), None)
    return cutter.irregular > 0


def kept_rows(source: Source) -> Iterator[tuple[int, Row]]:
    """Walk over the rows that are not left out; slow, for messages only."""
    return ((row.line, row.cells) for row in judged_rows(source) if not row.reason)


class Gathered:
    """Counts rows and those left out while they are walked over."""

    def __init__(self) -> None:
        self.total = 0
        self._astray: list[int] = []
        self._listed: list[Rejected] = []
        self._places: list[int] = []

    def keeps(self, row: Judged) -> bool:
        """Count a row; return whether it is listed."""
        self.total += 1
        if row.is_astray:
            self._astray.append(row.line)
        if not row.reason:
            return True
        self._places.append(self.total)
        if len(self._listed) < MAX_REJECTED:
            self._listed.append(Rejected(row.line, row.reason, self.total))
        return False

    def left_out(self) -> LeftOut:
        astray = (len(self._astray), self._astray[0]) if self._astray else (0, 0)
        return LeftOut(self._listed, np.array(self._places, dtype=np.int64), astray)


def tidied(source: Source, folder: Path, tell: Callable[[float], None]) -> Source:
    """Write the rows of a file as DuckDB reads them, into a file of their own."""
    path = folder / "tidy.csv"
    gathered = Gathered()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in judged_rows(source):
            if gathered.keeps(row):
                writer.writerow(row.cells)
            if gathered.total % _TOLD_EVERY == 0:
                tell(min(1.0, gathered.total / max(source.lines, 1)))
    return dataclasses.replace(source, tidied=Tidied(path, gathered.left_out()))


def first_unreadable(
    source: Source,
    counts: Mapping[int, int],
    forms: Mapping[int, NumberFormat | None],
    spelled: Mapping[int, tuple[tuple[str, int], ...]] | None = None,
) -> dict[str, Unreadable]:
    """Look for the first cell that is no number in each of some columns.

    Parameters
    ----------
    source : Source
    counts : mapping of column to int
        How many such cells there are.
    forms : mapping of column to NumberFormat
    spelled : mapping of column to pairs of text and int, optional
        How these cells are spelled, and how often.
    """
    found: dict[int, tuple[str, int]] = {}
    words = source.dialect.number_words
    rows = kept_rows(source) if counts else iter(())
    for line, row in rows:
        for k in [k for k in counts if k not in found]:
            form, cell = forms[k], row[k].strip(BLANKS)
            if form and not is_missing_number(cell, words) and not _is_finite(cell, form):
                found[k] = cell, line
        if len(found) == len(counts):
            break
    return {
        source.names[k]: Unreadable(n, text, line, (spelled or {}).get(k, ()))
        for k, n in counts.items()
        for text, line in [found.get(k, ("", None))]
    }


def _is_finite(cell: str, form: NumberFormat) -> bool:
    return form.matches(cell) and not np.isinf(form.read(cell))
