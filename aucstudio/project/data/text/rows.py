"""The rows of cells below the names of a text file, and why some are left out."""

from __future__ import annotations

import codecs
import collections
import csv
import dataclasses
import itertools
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, TextIO

import numpy as np

from aucstudio.project.data.text.dialect import Dialect, Row
from aucstudio.project.data.text.encoding import last_opened
from aucstudio.project.data.text.missing import BLANKS, is_missing_number
from aucstudio.project.data.text.numerals import NumberFormat
from aucstudio.project.data.text.records import Cutter
from aucstudio.project.data.text.rejects import (
    MAX_REJECTED,
    LeftOut,
    Rejected,
    Source,
    Tidied,
    Unreadable,
    cells_instead,
)
from aucstudio.project.data.text.totals import (
    is_heading,
    is_mean,
    is_note,
    is_subtotal,
    is_total,
    is_trailer,
    summary_below,
    word_of,
)

AGAIN = "the names of the columns again"
TOTALS = "a row of totals"
NOTE = "a remark below the table"
HEADING = "a heading of the rows below it"

# Rows at the end among which totals are looked for, and remarks; things that may have sums.
_LAST_TOTALS, _LAST, _MOST_THINGS = 8, 10, 10_000
_TAIL, _CHUNK, _SHORTEST_HEADER = 1 << 16, 1 << 20, 3
_TOLD_EVERY = 1 << 12


@dataclasses.dataclass(frozen=True)
class Judged:
    """A row below the names: its first line, its cells, and why it is left out, if it is.

    ``is_astray`` where quotation marks in it are not used as they should be, ``is_apart`` where a
    blank line parts it from the rows above.
    """

    line: int
    cells: Row
    reason: str = ""
    is_astray: bool = False
    is_apart: bool = False


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
    yield from _without_totals(judged) if dialect.totals else judged


def _counted(cutter: Cutter, lines: Iterator[str], first: int) -> Iterator[tuple[int, Row, bool]]:
    """Cut lines into rows, and tell in which quotation marks are astray."""
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


def _without_totals(rows: Iterator[Judged]) -> Iterator[Judged]:
    """Leave out totals and remarks at the end, subtotals, the record that ends it, empty rows."""
    last: collections.deque[Judged] = collections.deque()
    # What begins with such a word further above is no total, but a level.
    levels, things = set[str](), set[str]()
    for row in _filled(rows):
        if not row.reason and is_subtotal(row.cells, things):
            row = dataclasses.replace(row, reason=TOTALS)
        elif len(things) < _MOST_THINGS:
            things.add(word_of(row.cells))
        last.append(row)
        if len(last) > _LAST:
            yield last.popleft()
        if len(last) > _LAST_TOTALS:
            row = last[-1 - _LAST_TOTALS]
            levels |= {word_of(row.cells)} if is_total(row.cells) and not row.reason else set()
    said = collections.Counter(word_of(row.cells) for row in last if is_total(row.cells))
    levels |= {word for word, count in said.items() if count > 1}
    beside = any(is_mean(row.cells) for row in last)
    apart = summary_below([(row.line, row.cells) for row in last])
    below = {row.line for row in [*last][len(last) - apart :]}
    ended = True
    judged: list[Judged] = []
    while last:
        row = last.pop()
        why = _why_end(row, last, levels, is_last=not judged, beside=beside)
        why = why or (NOTE if row.line in below else "")
        ended = ended and bool(row.reason or why)
        judged.append(dataclasses.replace(row, reason=row.reason or why) if ended else row)
    yield from reversed(judged)


def _filled(rows: Iterator[Judged]) -> Iterator[Judged]:
    """Pass over rows of nothing; mark those that a blank line or such a row parts from the rows."""
    end, is_apart = 0, False
    for row in rows:
        if any(cell.strip(BLANKS) for cell in row.cells):
            is_apart = (is_apart and len(list(filter(None, row.cells))) == 1) or 0 < end < row.line
            end = row.line + 1 + sum(cell.count("\n") for cell in row.cells)
            yield dataclasses.replace(row, is_apart=is_apart)


def _why_end(
    row: Judged,
    above: Sequence[Judged],
    levels: Container[str],
    *,
    is_last: bool,
    beside: bool = False,
) -> str:
    """Return why a row at the end is none of the table; empty if it is one."""
    if is_total(row.cells, beside=beside) and word_of(row.cells) not in levels:
        return TOTALS
    if is_note(row.cells, is_apart=row.is_apart):
        return NOTE
    is_end = is_last and bool(above) and is_trailer(row.cells, above[-1].cells)
    return TOTALS if is_end else ""


def ends_in_totals(path: Path, dialect: Dialect) -> bool:
    """Return whether totals, remarks or rows of nothing are among the last lines of a file."""
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - _TAIL))
        tail = file.read().decode("utf-8", "replace").rstrip("\r\n \x1a").split("\n")[-_LAST - 1 :]
    rows = [Judged(line, cells) for line, cells in Cutter(dialect).rows(tail)]
    filled = [*_filled(iter(rows))]
    if len(filled) < len(rows):
        return True
    things = {word_of(row.cells) for row in filled}
    return summary_below([(row.line, row.cells) for row in filled[-_LAST:]]) > 0 or any(
        _why_end(row, filled[:k], (), is_last=k == len(filled) - 1)
        or is_subtotal(row.cells, things)
        for k, row in enumerate(filled[-_LAST:], max(0, len(filled) - _LAST))
    )


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
        """Count a row; tell whether it is kept."""
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
