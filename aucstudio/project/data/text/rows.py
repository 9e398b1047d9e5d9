"""Rows of a text table, and the reasons for leaving rows out."""

from __future__ import annotations

import codecs
import csv
import dataclasses
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, TextIO

import numpy as np

from aucstudio.project.data.text.contents import (
    MAX_REJECTED,
    Contents,
    LeftOut,
    NeedsTidyingError,
    Rejected,
    Source,
    Tidied,
    Unreadable,
    cells_instead,
)
from aucstudio.project.data.text.cutter import Cutter
from aucstudio.project.data.text.dialect import Dialect, Row
from aucstudio.project.data.text.footer import (
    HEADING,
    LAST,
    NOTE,
    TOTALS,
    TableRow,
    is_heading,
    is_total,
    mark_footer,
)
from aucstudio.project.data.text.numerals import BLANKS, is_missing_number
from aucstudio.project.data.text.scan import last_open_quote, lines_at

AGAIN = "the names of the columns again"
# Notices about rows that had to be repaired.
QUOTES, EXTRA_CELLS = "import_astray", "import_extra_cells"

_TAIL, CHUNK, _SHORTEST_HEADER = 1 << 16, 1 << 20, 3
_PROGRESS_EVERY = 1 << 12
# The most bytes of a file that is checked for rows with shifted cells.
_MOST_CHECKED = 1 << 24


def walk_rows(source: Source) -> Iterator[TableRow]:
    """Yield the rows below the names, with the reasons for leaving some out."""
    with source.path.open(encoding="utf-8-sig", newline="\n") as file:
        yield from _walk(source, file)


def _walk(source: Source, file: TextIO) -> Iterator[TableRow]:
    dialect, width = source.dialect, len(source.names)
    lines: Iterator[str] = itertools.islice(file, dialect.skip, None)
    skip, above = dialect.skip, 0
    if dialect.header:
        above = dialect.upper_rows + 1 + dialect.lower_rows
        if dialect.comment and (first := next(lines, "")):
            # The names may be in a line that begins as comments do.
            is_comment = first.lstrip().startswith(dialect.comment)
            lines = lines if is_comment else itertools.chain([first], lines)
            skip, above = skip + is_comment, above - is_comment
    cutter = Cutter(dialect, width)
    rows = itertools.islice(_with_repairs(cutter, lines, skip + 1), above, None)
    checked = (_check(source, row) for row in rows)
    for row in mark_footer(checked) if dialect.totals else checked:
        is_kept = not (row.reason or row.repair)
        yield row if is_kept else row._replace(line=source.line_of(row.line))


def _with_repairs(cutter: Cutter, lines: Iterator[str], first: int) -> Iterator[TableRow]:
    """Split lines into rows, and mark those with misplaced quotation marks."""
    seen = 0
    for line, cells in cutter.rows(lines, first):
        yield TableRow(line, cells, repair=QUOTES if cutter.irregular > seen else "")
        seen = cutter.irregular


def _check(source: Source, row: TableRow) -> TableRow:
    """Fit the cells of a row to the columns, or give the reason for leaving it out."""
    cells, width, repair = row.cells, len(source.names), row.repair
    if len(cells) > width and not any(cell.strip(BLANKS) for cell in cells[width:]):
        cells, repair = cells[:width], repair or EXTRA_CELLS
    if source.dialect.ragged:
        cells = [*cells, *[""] * (width - len(cells))]
    if source.header and _is_header(source, cells):
        reason = AGAIN
    elif source.dialect.headings and is_heading(cells):
        reason = HEADING
    else:
        reason = "" if len(cells) == width else cells_instead(len(cells), width)
    return TableRow(row.line, cells, reason, repair)


def _is_header(source: Source, cells: Row) -> bool:
    first = cells[0].removeprefix("\ufeff").strip(BLANKS)
    if first != source.header[0] or len(cells) not in (len(source.header), len(source.names)):
        return False
    return tuple(cell.strip(BLANKS) for cell in cells[1:]) == source.header[1 : len(cells)]


def ends_in_totals(path: Path, dialect: Dialect, width: int) -> bool:
    """Return whether totals, remarks or blank rows are among the last lines of a file."""
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - _TAIL))
        tail = file.read().decode("utf-8", "replace").rstrip("\r\n \x1a").split("\n")
    rows = [
        TableRow(line, cells, "" if len(cells) >= width else cells_instead(len(cells), width))
        for line, cells in Cutter(dialect).rows(tail[-LAST - 1 :])
    ]
    marked = [*mark_footer(iter(rows))]
    return len(marked) < len(rows) or have_totals(marked)


def have_totals(marked: Iterable[TableRow]) -> bool:
    """Return whether totals or remarks are among the marked last rows of a table."""
    return any(row.reason in (TOTALS, NOTE) or is_total(row.cells) for row in marked)


def needs_tidying(source: Source) -> bool:
    """Return whether DuckDB would misread rows, as the dialect and the first rows show.

    It also counts skipped lines in quotation marks as one line.
    """
    dialect = source.dialect
    width, names = len(source.names), source.header
    has_more_names = len(names) > width + 1 or any(names[width:])
    if not dialect.is_plain or dialect.totals or has_more_names or _has_irregular_names(source):
        return True
    return source.path.stat().st_size <= _MOST_CHECKED and _may_shift_cells(source)


def may_be_misread(source: Source) -> bool:
    """Return whether DuckDB would misread open quoted cells and repeated names; reads the file."""
    if source.dialect.quote == '"' and last_open_quote(source.path) is not None:
        return True
    return _repeats_names(source)


def _may_shift_cells(source: Source) -> bool:
    """Return whether rows may have extra cells, or quotation marks inside cells.

    DuckDB reads them without an error, and cells come into other columns.
    """
    dialect, width = source.dialect, len(source.names)
    mark, quote = dialect.delimiter.encode(), dialect.quote.encode()
    content = b"\n" + source.path.read_bytes().removeprefix(codecs.BOM_UTF8)
    if quote and quote in content:
        m, q = re.escape(mark), re.escape(quote)
        inside_cell = rb"%b(?<![%b\n%b]%b)(?![%b\r\n%b])" % (q, m, q, q, m, q)
        return re.search(inside_cell, content) is not None
    lines = content.split(b"\n")[1 + dialect.skip :]
    counts = {line.count(mark) for line in lines if line.strip(b"\r")}
    return len(counts) > 1 or not counts <= {width - 1, width}


def _has_irregular_names(source: Source) -> bool:
    with source.path.open(encoding="utf-8-sig", newline="\n") as file:
        cutter, quote = Cutter(source.dialect, len(source.names)), source.dialect.quote
        if quote and any(quote in line for line in itertools.islice(file, source.dialect.skip)):
            return True
        next(cutter.rows(file), None)
    return cutter.irregular > 0


def _repeats_names(source: Source) -> bool:
    """Return whether a line below the names begins as they do: DuckDB would take it for a row."""
    with source.path.open("rb") as file:
        for _ in range(source.dialect.skip):
            file.readline()
        first = file.readline().rstrip(b"\r\n")
        header = first.removeprefix(codecs.BOM_UTF8)
        if not source.header or len(header) < _SHORTEST_HEADER:
            return False
        # Each of several joined files may have a byte-order mark.
        return holds_line(file, {header, codecs.BOM_UTF8 + header})


def holds_line(file: BinaryIO, beginnings: set[bytes]) -> bool:
    """Return whether a line begins with one of some bytes; reads pieces, to save memory."""
    wanted, last = [b"\n" + beginning for beginning in beginnings], b"\n"
    longest = max(map(len, beginnings))
    while chunk := file.read(CHUNK):
        piece = last + chunk
        if any(line in piece for line in wanted):
            return True
        last = piece[-longest:]
    return False


class RowCounter:
    """Counts rows while they are read: those left out, and those repaired."""

    def __init__(self) -> None:
        self.total = 0
        self._repairs: dict[str, list[int]] = {QUOTES: [], EXTRA_CELLS: []}
        self._listed: list[Rejected] = []
        self._places: list[int] = []

    def kept(self, rows: Iterable[TableRow]) -> Iterator[Row]:
        """Count rows, and yield the cells of those that are kept."""
        for row in rows:
            self.total += 1
            if row.repair:
                self._repairs[row.repair].append(row.line)
            if not row.reason:
                yield row.cells
                continue
            self._places.append(self.total)
            if len(self._listed) < MAX_REJECTED:
                self._listed.append(Rejected(row.line, row.reason, self.total))

    def left_out(self) -> LeftOut:
        """Return the rows that were left out or repaired so far."""
        # If most rows end in a delimiter, that is no fault.
        repairs = {
            code: (len(lines), lines[0])
            for code, lines in self._repairs.items()
            if lines and (code == QUOTES or 2 * len(lines) <= self.total)
        }
        return LeftOut(self._listed, np.array(self._places, dtype=np.int64), repairs)


def tidy(source: Source, folder: Path, progress: Callable[[float], None]) -> Source:
    """Write the rows that are kept into a file of their own, as DuckDB reads them."""
    path = folder / "tidy.csv"
    counter = RowCounter()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for cells in counter.kept(walk_rows(source)):
            writer.writerow(cells)
            if counter.total % _PROGRESS_EVERY == 0:
                progress(min(1.0, counter.total / max(source.lines, 1)))
    return dataclasses.replace(source, tidied=Tidied(path, counter.left_out()))


def rejected_rows(source: Source, rejects: Sequence[tuple[int, int, str]]) -> LeftOut:
    """Return the rows that DuckDB rejected.

    Parameters
    ----------
    source : Source
    rejects : sequence of tuples
        The row among all rows of the file, the byte where it begins, and its text, in this order.

    Raises
    ------
    NeedsTidyingError
        If Python reads one of them, or blank lines change the numbers of rows.
    """
    if not rejects:
        return LeftOut()
    numbers, places, texts = zip(*rejects, strict=True)
    with source.path.open("rb") as file:
        if holds_line(file, {b"\n", b"\r\n"}):
            raise NeedsTidyingError
    cutter = Cutter(source.dialect, len(source.names))
    cut = cutter.rows("\n".join(texts).split("\n"))
    reasons = [_check(source, TableRow(*row)).reason for row in cut]
    if cutter.irregular or not all(reasons):
        raise NeedsTidyingError
    rows = np.array(numbers, dtype=np.int64) - source.dialect.skip - source.dialect.header
    # A text may begin with the end of the line above.
    starts = [place + text.startswith("\n") for place, text in zip(places, texts, strict=True)]
    lines = lines_at(source.path, starts[:MAX_REJECTED])
    return LeftOut([*map(Rejected, lines, reasons, rows.tolist())], rows)


def first_unreadable(
    source: Source, counts: Mapping[int, int], contents: Contents
) -> dict[str, Unreadable]:
    """Return the first cell that is not a number in each of some columns; slow.

    Parameters
    ----------
    source : Source
    counts : mapping of column to int
        The number of such cells.
    contents : Contents
    """
    found: dict[int, tuple[str, int]] = {}
    words = source.dialect.number_words
    for row in walk_rows(source) if counts else ():
        for k in [k for k in counts if k not in found and not row.reason]:
            form, cell = contents.forms[k], row.cells[k].strip(BLANKS)
            if form and not is_missing_number(cell, words) and not np.isfinite(form.read(cell)):
                found[k] = cell, source.line_of(row.line)
        if len(found) == len(counts):
            break
    return {
        source.names[k]: Unreadable(n, text, line, contents.others.get(k, ()))
        for k, n in counts.items()
        for text, line in [found.get(k, ("", None))]
    }
