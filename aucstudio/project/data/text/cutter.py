"""Cut the lines of a text file into rows and cells.

Where quotation marks are used correctly, DuckDB reads the same rows. A mark that is never closed,
or is inside a cell, is an ordinary character. Every line is read a bounded number of times.
"""

from __future__ import annotations

import collections
import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from aucstudio.project.data.text.dialect import BLANK, LONGEST_ROW, Dialect

# The longest cell that the module csv allows on every system.
_LONGEST_CELL = 2**31 - 1


class Cutter:
    """Cuts the lines of a file into cells.

    Parameters
    ----------
    dialect : Dialect
    width : int
        The usual number of cells, by which irregular rows are cut; 0 if unknown.

    Attributes
    ----------
    irregular : int
        The number of rows so far in which quotation marks are not used correctly.
    unfinished : int
        The line of the first row with a quoted cell that the end of the text leaves open; or 0.
    """

    def __init__(self, dialect: Dialect, width: int = 0) -> None:
        self._dialect, self._width = dialect, width
        self._is_blank_cut = bool(dialect.edges) or dialect.delimiter == BLANK
        self._escaping = _Escaping(dialect) if dialect.escape else None
        self._quoting = _Quoting(dialect, self._escaping) if dialect.quote else None
        self.irregular = self.unfinished = 0

    def rows(self, lines: Iterable[str], first: int = 1) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows that are not blank with their first lines, counted from ``first``."""
        below, number = _Lines(lines), first - 1
        comment = self._dialect.comment
        for whole in below:
            number += 1
            bare = whole.removesuffix("\n")
            line = bare.removesuffix("\r")
            if not (line.strip() if self._is_blank_cut else line):
                continue
            if comment and line.lstrip().startswith(comment):
                continue
            taken, cells = self._row(line, bare[len(line) :], below)
            self.unfinished = self.unfinished or (number if below.at_end else 0)
            yield number, cells
            number += taken

    def _row(self, line: str, end: str, below: _Lines) -> tuple[int, list[str]]:
        """Split a row; return first how many of the following lines belong to it."""
        joined, taken = [line], 0
        if self._escaping is not None and self._escaping.is_open(line):
            for more in below.of_row():
                joined.append(more.removesuffix("\n"))
                if not self._escaping.is_open(joined[-1]):
                    break
            taken, line = len(joined) - 1, "\n".join(joined)
        if self._quoting is None or self._dialect.quote not in line:
            return taken, self._plain(line)
        if (regular := self._quoting.regular(line)) is not None:
            self.irregular += self._quoting.has_split
            return taken, regular
        if not self._dialect.edges:
            more_taken, cells = self._quoting.over_lines(line, end, below)
            if cells is not None:
                return taken + more_taken, cells
        self.irregular += 1
        # An irregular row has the usual number of cells, if possible.
        forms = [self._quoting.lenient(line), self._plain(line)]
        return taken, next((cells for cells in forms if len(cells) == self._width), forms[0])

    def _plain(self, line: str) -> list[str]:
        """Cut a line without quoted cells."""
        if self._dialect.edges:
            edges = [*self._dialect.edges, len(line)]
            return [line[i:j].strip() for i, j in itertools.pairwise(edges)]
        if self._dialect.delimiter == BLANK:
            return line.split()
        if self._escaping is not None and self._dialect.escape in line:
            return self._escaping.cells(line)
        return line.split(self._dialect.delimiter)


class _Lines:
    """Lines that can be put back after they were looked at.

    Attributes
    ----------
    at_end : bool
        Whether the last look found no line.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._more, self._back = iter(lines), collections.deque[str]()
        self.at_end = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.at_end = True
        line = self._back.popleft() if self._back else next(self._more)
        self.at_end = False
        return line

    def of_row(self) -> Iterator[str]:
        """Take the next lines, up to the length of the longest row."""
        length = 0
        for line in self:
            length += len(line)
            if length > LONGEST_ROW:
                self.put_back([line])
                return
            yield line

    def put_back(self, lines: Sequence[str]) -> None:
        """Put back the last lines that were taken."""
        self._back.extendleft(reversed(lines))


class _Escaping:
    """Cells in which an escape character protects delimiters and line ends."""

    def __init__(self, dialect: Dialect) -> None:
        d, e, q = (re.escape(m) for m in (dialect.delimiter, dialect.escape, dialect.quote))
        self.pattern = rf"(?:[^{d}{e}]|{e}[\s\S]?)*+"
        self._cells = re.compile(rf"(?:\A|{d})({self.pattern})")
        self._mark = re.compile(rf"{e}([{d}{e}{q}\n])")
        self._escape = dialect.escape

    def cells(self, line: str) -> list[str]:
        """Cut a line without quoted cells."""
        return [self.bare(cell) for cell in self._cells.findall(line)]

    def is_open(self, line: str) -> bool:
        """Return whether the end of a line is escaped, and so part of a cell."""
        return (len(line) - len(line.rstrip(self._escape))) % 2 == 1

    def bare(self, cell: str) -> str:
        """Return a cell without its escape characters."""
        return self._mark.sub(r"\1", cell)


class _Quoting:
    """Quoted cells of a dialect.

    Attributes
    ----------
    has_split : bool
        Whether a quotation in the last row begins inside one cell and ends with a later one: a
        delimiter before it is missing, and delimiters in it were taken for ends of cells.
    """

    def __init__(self, dialect: Dialect, escaping: _Escaping | None) -> None:
        self._quote, self._escape = dialect.quote, dialect.escape
        self._delimiter, self._by_blanks = dialect.delimiter, dialect.delimiter == BLANK
        self._escaping = None if self._by_blanks else escaping
        q, d, e = re.escape(dialect.quote), re.escape(dialect.delimiter), re.escape(dialect.escape)
        inside = rf"(?:[^{q}{e}]|{e}[\s\S]|{q}{q})" if e else f"(?:[^{q}]|{q}{q})"
        if self._by_blanks:
            blank, end, between, bare = "", r"(?=\s|$)", r"\s+", rf"[^\s{q}]\S*+"
        else:
            blank = "[ \t]*+" if dialect.delimiter != "\t" else "[ ]*+"
            cell = self._escaping.pattern if self._escaping else f"[^{d}]*+"
            end, between, bare = f"(?={d}|$)", d, f"(?!{blank}{q}){cell}"
        # Blanks may be around a quoted cell, and marks inside a cell that does not begin with one.
        self._cell = re.compile(rf"{blank}{q}({inside}*+){q}{blank}{end}")
        self._bare, self._between = re.compile(bare), re.compile(between)
        self._inside = re.compile(rf"{inside}*+")
        self._opened = re.compile(rf"{blank}{q}{inside}*+{f'{e}?' if e else ''}\Z")
        self._begun = re.compile(rf"{blank}{q}")
        self._closing = re.compile(rf"{q}{blank}{end}")
        # Rows that the module csv cuts in the same way, and faster.
        strict = rf"(?:{q}(?:[^{q}]|{q}{q})*+{q}|[^{d}{q}]*+)"
        self._csv = None if self._by_blanks or e else re.compile(rf"{strict}(?:{d}{strict})*+")
        self.has_split = False

    def regular(self, text: str) -> list[str] | None:
        """Cut a row whose quotation marks are used correctly; None for any other row."""
        if self._csv is not None and "\n" not in text and self._csv.fullmatch(text):
            csv.field_size_limit(_LONGEST_CELL)
            self.has_split = False
            return next(csv.reader([text], delimiter=self._delimiter, quotechar=self._quote))
        cells, place = self._walk(text)
        return cells if place == len(text) else None

    def over_lines(self, line: str, end: str, below: _Lines) -> tuple[int, list[str] | None]:
        """Cut a row whose quoted cells hold line ends.

        Parameters
        ----------
        line, end : str
            The first line, and the characters before its line end.
        below : _Lines
            The lines below it; those of the row are taken.

        Returns
        -------
        int
            How many of the lines below belong to the row.
        list of str or None
            None if the quotation marks are misplaced.
        """
        cells, place = self._walk(line)
        parts = [line[place:] + end]
        if self._opened.match(line, place) is None:
            return 0, None
        taken: list[str] = []
        for more_text in below.of_row():
            taken.append(more_text)
            bare = more_text.removesuffix("\n")
            parts.append(bare)
            if self._quote not in bare or self._is_inside(bare):
                continue
            text = "\n".join(parts).removesuffix("\r")
            more, place = self._walk(text)
            cells += more
            if place == len(text):
                return len(taken), cells
            if self._opened.match(text, place) is None:
                break
            parts = [text[place:] + ("\r" if bare.endswith("\r") else "")]
        below.put_back(taken)
        return 0, None

    def _is_inside(self, line: str) -> bool:
        """Return whether a quoted cell that is open before a line is open after it."""
        found = self._inside.match(line)
        rest = line[found.end() :] if found else line
        return rest in ("", self._escape)

    def _walk(self, text: str) -> tuple[list[str], int]:
        """Cut a row up to the first misplaced mark, and return its position."""
        cells: list[str] = []
        place = len(text) - len(text.lstrip()) if self._by_blanks else 0
        is_open = self.has_split = False
        while True:
            if found := self._cell.match(text, place):
                cells.append(self._unquoted(found[1]))
            elif found := self._bare.match(text, place):
                cells.append(self._escaping.bare(found[0]) if self._escaping else found[0])
                if found[0].count(self._quote) % 2:
                    is_end = found[0].rstrip().endswith(self._quote)
                    self.has_split = self.has_split or (is_open and is_end)
                    is_open = not is_end
            else:
                return cells, place
            between = self._between.match(text, found.end())
            if between is None:
                return cells, found.end() if found.end() == len(text) else place
            place = between.end()
            if self._by_blanks and place == len(text):
                return cells, place

    def _unquoted(self, cell: str) -> str:
        if self._escape and self._escape in cell:
            cell = re.sub(re.escape(self._escape) + r"([\s\S])", r"\1", cell)
        return cell.replace(self._quote * 2, self._quote)

    def lenient(self, text: str) -> list[str]:
        """Cut an irregular row, in which a mark before a delimiter closes a quoted cell."""
        cells: list[str] = []
        place, closing = 0, self._closing.search(text)
        while True:
            begun = self._begun.match(text, place)
            while begun and closing and closing.start() < begun.end():
                closing = self._closing.search(text, closing.start() + 1)
            if begun and closing:
                cells.append(text[begun.end() : closing.start()])
                place = closing.end()
            else:
                between = self._between.search(text, place)
                end = between.start() if between else len(text)
                cells.append(text[place:end])
                place = end
            between = self._between.match(text, place)
            if between is None:
                return cells
            place = between.end()
