"""Lines of text cut into rows of cells: the one place that says what a row and a quoted cell is.

Where quotation marks are used as they should be, that is what DuckDB takes for a row too. Where
they are not, a mark that is never closed, or stands inside a cell, is a character like others.
"""

from __future__ import annotations

import collections
import csv
import itertools
import re
from collections.abc import Iterable, Iterator

from aucstudio.project.data.text.dialect import BLANK, Dialect

# A quoted cell may hold line ends: so many lines, and so many characters, and no more.
_MOST_LINES, _MOST_LENGTH = 2_000, 1 << 20
# As long as the module csv allows on every system.
_LONGEST_CELL = 2**31 - 1


class Cutter:
    """Cuts the lines of a file into cells.

    Parameters
    ----------
    dialect : Dialect
    width : int
        Cells that rows should have, to judge by where quotation marks are astray; 0 if not known.
    """

    def __init__(self, dialect: Dialect, width: int = 0) -> None:
        self._dialect, self._width = dialect, width
        self._quoting = _Quoting(dialect) if dialect.quote else None
        self._by_place = bool(dialect.edges) or dialect.delimiter == BLANK
        self._protected = _Protected(dialect) if dialect.escape else None
        # Rows in which quotation marks are not used as they should be.
        self.irregular = 0

    def rows(self, lines: Iterable[str], first: int = 1) -> Iterator[tuple[int, list[str]]]:
        """Give the rows with the lines they begin in, counted from ``first``; no blank ones."""
        ahead: collections.deque[str] = collections.deque()
        more = iter(lines)
        number = first - 1
        comment = self._dialect.comment
        while True:
            line = ahead.popleft() if ahead else next(more, None)
            if line is None:
                return
            number += 1
            bare = line.removesuffix("\n")
            line = bare.removesuffix("\r")
            if not (line.strip() if self._by_place else line):
                continue
            if comment and line.lstrip().startswith(comment):
                continue
            taken, cells = self._row(line, bare[len(line) :], ahead, more)
            yield number, cells
            number += taken

    def _row(
        self, line: str, end: str, ahead: collections.deque[str], more: Iterator[str]
    ) -> tuple[int, list[str]]:
        """Cut a line, with those after it where a cell goes on; how many comes first."""
        joined = 0
        while self._protected is not None and self._protected.is_open(line):
            next_line = ahead.popleft() if ahead else next(more, None)
            if next_line is None or joined == _MOST_LINES:
                break
            line, joined = f"{line}\n{next_line.removesuffix(chr(10))}", joined + 1
        taken, cells = self._cut(line, end, ahead, more)
        return joined + taken, cells

    def _cut(
        self, line: str, end: str, ahead: collections.deque[str], more: Iterator[str]
    ) -> tuple[int, list[str]]:
        if self._quoting is None or self._dialect.quote not in line:
            return 0, self._plain(line)
        if (cells := self._quoting.regular(line)) is not None:
            return 0, cells
        if not self._dialect.edges and self._quoting.is_open(line):
            length = len(line)
            for taken in range(1, _MOST_LINES):
                if len(ahead) < taken:
                    ahead.extend(itertools.islice(more, 1))
                if len(ahead) < taken or length > _MOST_LENGTH:
                    break
                length += len(ahead[taken - 1])
                if self._dialect.quote not in ahead[taken - 1]:
                    continue
                line_so_far = "\n".join([line + end, *_bare(ahead, taken)]).removesuffix("\r")
                if self._quoting.is_open(line_so_far):
                    continue
                if (cells := self._quoting.regular(line_so_far)) is not None:
                    for _ in range(taken):
                        ahead.popleft()
                    return taken, cells
                break
        self.irregular += 1
        return 0, self._astray(line)

    def _astray(self, line: str) -> list[str]:
        """Cut a line whose quotation marks are astray: as most cells as there should be."""
        assert self._quoting is not None
        forms = [self._quoting.lenient(line), self._plain(line)]
        fitting = [cells for cells in forms if len(cells) == self._width]
        return (fitting or forms)[0]

    def _plain(self, line: str) -> list[str]:
        if self._dialect.edges:
            edges = [*self._dialect.edges, len(line)]
            return [line[i:j].strip() for i, j in itertools.pairwise(edges)]
        if self._dialect.delimiter == BLANK:
            return line.split()
        if self._protected is not None and self._dialect.escape in line:
            return self._protected.cells(line)
        return line.split(self._dialect.delimiter)


def _bare(lines: Iterable[str], count: int) -> Iterator[str]:
    return (line.removesuffix("\n") for line in itertools.islice(lines, count))


class _Protected:
    """What cells look like in which a mark before delimiters says that they go on."""

    def __init__(self, dialect: Dialect) -> None:
        d, e, q = (re.escape(m) for m in (dialect.delimiter, dialect.escape, dialect.quote))
        self.pattern = rf"(?:[^{d}{e}]|{e}[\s\S]?)*+"
        self._cell = re.compile(rf"({self.pattern})(?:{d}|$)")
        self._mark = re.compile(rf"{e}([{d}{e}{q}\n])")
        self._open = re.compile(rf"(?:^|[^{e}])(?:{e}{e})*{e}$")

    def cells(self, line: str) -> list[str]:
        """Cut a line without quoted cells."""
        found, place = [], 0
        while cell := self._cell.match(line, place):
            found.append(self.bare(cell[1]))
            if cell.end() == len(line):
                if cell.end() > cell.end(1):
                    found.append("")
                break
            place = cell.end()
        return found

    def is_open(self, line: str) -> bool:
        """Tell whether the mark stands before the end of a line, which is part of a cell then."""
        return self._open.search(line) is not None

    def bare(self, cell: str) -> str:
        """Take the mark away from before what it protects."""
        return self._mark.sub(r"\1", cell)


class _Quoting:
    """What quoted cells look like in a dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self._quote, self._escape = dialect.quote, dialect.escape
        self._by_blanks = dialect.delimiter == BLANK
        q, d, e = re.escape(dialect.quote), re.escape(dialect.delimiter), re.escape(dialect.escape)
        inside = rf"(?:[^{q}{e}]|{e}[\s\S]|{q}{q})" if e else f"(?:[^{q}]|{q}{q})"
        blank = "[ \t]*+" if dialect.delimiter not in " \t" else "[ ]*+"
        if self._by_blanks:
            blank, end, other = "", r"(?=\s|$)", rf"[^\s{q}]++"
        else:
            end, other = f"(?={d}|$)", f"[^{d}{q}]*+"
        # Blanks may stand around a quoted cell, marks inside one that does not begin with any.
        self._cell = re.compile(rf"{blank}{q}({inside}*+){q}{blank}{end}")
        bare = other if self._by_blanks else rf"(?!{blank}{q})[^{d}]*+"
        if self._by_blanks:
            bare = rf"[^\s{q}]\S*+"
        self._protected = _Protected(dialect) if e and not self._by_blanks else None
        if self._protected is not None:
            bare = rf"(?!{blank}{q}){self._protected.pattern}"
        self._bare = re.compile(bare)
        self._opened = re.compile(rf"{blank}{q}{inside}*+\Z")
        self._loose = re.compile(rf"{blank}{q}(.*?){q}{blank}{end}")
        self._gap = re.compile(r"\s+") if self._by_blanks else re.compile(d)
        strict = rf"(?:{q}(?:[^{q}]|{q}{q})*+{q}|[^{d}{q}]*+)"
        # What the module csv cuts likewise, and faster.
        self._csv = None
        if not (self._by_blanks or e):
            self._csv = re.compile(rf"{strict}(?:{d}{strict})*+")
        self._delimiter = dialect.delimiter

    def regular(self, text: str) -> list[str] | None:
        """Cut a row whose quotation marks are used as they should be; None if they are not."""
        if self._csv is not None and "\n" not in text and self._csv.fullmatch(text):
            csv.field_size_limit(_LONGEST_CELL)
            return next(csv.reader([text], delimiter=self._delimiter, quotechar=self._quote))
        cells, place = self._walk(text)
        return cells if place == len(text) else None

    def is_open(self, text: str) -> bool:
        """Tell whether a quoted cell goes on where the text ends."""
        _, place = self._walk(text)
        return place < len(text) and self._opened.match(text, place) is not None

    def _walk(self, text: str) -> tuple[list[str], int]:
        """Cut as far as the marks are used as they should be, and tell how far that is."""
        cells: list[str] = []
        place = len(text) - len(text.lstrip()) if self._by_blanks else 0
        while True:
            if found := self._cell.match(text, place):
                cells.append(self._unquoted(found[1]))
            elif found := self._bare.match(text, place):
                cells.append(self._protected.bare(found[0]) if self._protected else found[0])
            else:
                return cells, place
            if found.end() == len(text):
                return cells, found.end()
            gap = self._gap.match(text, found.end())
            if gap is None:
                return cells, place
            place = gap.end()
            if self._by_blanks and place == len(text):
                return cells, place

    def _unquoted(self, cell: str) -> str:
        if self._escape and self._escape in cell:
            cell = re.sub(re.escape(self._escape) + r"([\s\S])", r"\1", cell)
        return cell.replace(self._quote * 2, self._quote)

    def lenient(self, text: str) -> list[str]:
        """Cut a row all the same: a quoted cell ends in a mark before a delimiter."""
        cells: list[str] = []
        place = 0
        while True:
            if found := self._loose.match(text, place):
                cells.append(found[1])
                place = found.end()
            else:
                gap = self._gap.search(text, place)
                end = gap.start() if gap else len(text)
                cells.append(text[place:end])
                place = end
            gap = self._gap.match(text, place)
            if gap is None:
                return cells
            place = gap.end()
