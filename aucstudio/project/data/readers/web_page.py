"""Tables of HTML pages."""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from aucstudio.project.data.readers.conversion import holds_table, pick_part, written_part
from aucstudio.project.data.readers.formats import Advance, ReadOptions, Written
from aucstudio.project.data.text.scan import encoding_of

_PIECE = 1 << 16
# Largest span of a cell that is accepted.
_WIDEST = 10_000
# Elements that separate words.
_BREAKS = {"br", "p", "div", "li"}
_UNSEEN = {"script", "style"}
_CHARSET = re.compile(rb"""charset\s*=\s*["']?([\w-]+)""", re.I)


class _Table:
    """A table that is being read."""

    def __init__(self, number: int) -> None:
        self.name = f"table {number}"
        self.rows: list[list[str]] = []
        self.words: list[str] | None = None  # of the cell that is open
        self._span = (1, 1)
        self._below: dict[int, tuple[int, str]] = {}  # by column: rows left to fill, and the text

    @property
    def size(self) -> int:
        return sum(map(len, self.rows))

    def open_row(self) -> None:
        self.close_row()
        self.rows.append([])

    def open_cell(self, span: tuple[int, int]) -> None:
        self.close_cell()
        if not self.rows:
            self.rows.append([])
        self.words, self._span = [], span

    def close_cell(self) -> None:
        if self.words is None:
            return
        text, self.words = " ".join("".join(self.words).split()), None
        self._fill()
        across, down = self._span
        for _ in range(across):
            if down > 1:
                self._below[len(self.rows[-1])] = (down - 1, text)
            self.rows[-1].append(text)

    def close_row(self) -> None:
        self.close_cell()
        if not self.rows:
            return
        if self._span[0] == len(self.rows[-1]):  # a title over the whole table
            self.rows[-1][1:] = [""] * (len(self.rows[-1]) - 1)
        self._fill()

    def _fill(self) -> None:
        """Repeat cells that span rows from above."""
        row = self.rows[-1]
        while len(row) in self._below:
            left, text = self._below.pop(len(row))
            if left > 1:
                self._below[len(row)] = (left - 1, text)
            row.append(text)


class _Page(HTMLParser):
    """Collects the tables of a page, including nested ones."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[_Table] = []
        self._open: list[_Table] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in _UNSEEN
        if tag == "table":
            table = _Table(len(self.tables) + 1)
            self.tables.append(table)
            self._open.append(table)
        elif self._open and tag == "tr":
            self._open[-1].open_row()
        elif self._open and tag in ("td", "th"):
            given = dict(attrs)
            self._open[-1].open_cell((_span(given.get("colspan")), _span(given.get("rowspan"))))
        elif tag in _BREAKS:
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in _UNSEEN and self._unseen > 0
        if not self._open:
            return
        if tag == "table":
            self._open.pop().close_row()
        elif tag == "tr":
            self._open[-1].close_row()
        elif tag in ("td", "th"):
            self._open[-1].close_cell()
        elif tag in _BREAKS:
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        if self._open and not self._unseen and self._open[-1].words is not None:
            self._open[-1].words.append(data)

    def close(self) -> None:
        super().close()
        while self._open:
            self._open.pop().close_row()


def _span(given: str | None) -> int:
    number = (given or "").strip()
    return min(max(int(number), 1), _WIDEST) if number.isascii() and number.isdigit() else 1


def write(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    page = _Page()
    for done, text in _pieces(path, options.encoding):
        page.feed(text)
        report(0.4 * done)
    page.close()
    # Small tables around the largest one only lay the page out.
    largest = sorted(page.tables, key=lambda table: -table.size)
    tables = {table.name: table.rows for table in largest}
    names = [name for name, rows in tables.items() if holds_table(rows)] or [*tables]
    name = pick_part(path, "table", names, options, lambda one: holds_table(tables[one]))
    return written_part(target, "table", names, name, tables[name], report)


def _pieces(path: Path, encoding: str) -> Iterator[tuple[float, str]]:
    size = max(path.stat().st_size, 1)
    with path.open("rb") as raw:
        encoding = encoding or _encoding_of_page(raw.read(_PIECE))
        raw.seek(0)
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        for piece in iter(lambda: raw.read(_PIECE), b""):
            yield raw.tell() / size, decoder.decode(piece)
        yield 1.0, decoder.decode(b"", True)


def _encoding_of_page(head: bytes) -> str:
    if (marked := encoding_of(head)) is not None:
        return marked
    declared = _CHARSET.search(head)
    if declared is not None:
        with contextlib.suppress(LookupError):
            return codecs.lookup(declared[1].decode()).name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
