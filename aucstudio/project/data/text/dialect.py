"""Dialect of a delimited text file, its column names, and its text cut into rows and cells.

Where quotation marks are used correctly, DuckDB reads the same rows. A mark that is never closed,
or is inside a cell, is an ordinary character. Every line is read a bounded number of times.
"""

from __future__ import annotations

import collections
import csv
import dataclasses
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from aucstudio.project.data.finding import Finding, remark
from aucstudio.project.data.text.numerals import MISSING_NUMBER, MISSING_TEXT
from aucstudio.project.errors import input_error

Row = list[str]

DELIMITERS = "\t;,|"
_FIRST_PARTS = ("encoding", "delimiter", "quote", "decimal", "header", "skip", "short_header")
# As a delimiter, a blank means any run of blanks.
BLANK = " "
# The most characters of a row; a quoted cell that is longer was never closed.
LONGEST_ROW = 8_000_000
# The longest cell that the module csv allows on every system.
_LONGEST_CELL = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class Dialect:
    """Format of a delimited text file.

    Attributes
    ----------
    encoding : str
    delimiter : str
        The character between cells; a blank for runs of blanks.
    quote : str
        The character around cells that hold a delimiter, doubled within; empty if there is none.
    decimal : {".", ","}
        The decimal mark; the other one may group thousands.
    header : bool
        Whether the first row holds the names of the columns.
    skip : int
        Lines before the first row of the table.
    short_header : {"", "first", "last"}
        The name that the header lacks if rows have one cell more: R writes none for row names, and
        rows may end in a delimiter.
    sheet : str
        The sheet, table or member of a file that has several; otherwise empty.
    escape : str
        The character before a quotation mark or delimiter that is part of a cell; empty if such
        marks are doubled, or quoted.
    comment : str
        The beginning of comment lines; empty if there are none.
    edges : tuple of int
        The positions where cells begin in a line of fixed width; otherwise empty.
    upper_rows : int
        Rows above the names that name groups of columns.
    lower_rows : int
        Rows below the names that hold units or types.
    missing : tuple of str
        Further spellings of missing values, in lower case.
    totals : bool
        Whether totals and remarks at the end are left out.
    headings : bool
        Whether rows with a single cell are headings of the rows below.
    ragged : bool
        Whether rows lack the empty cells at their end.
    strict : bool
        Whether a row that cannot be read is an error.
    """

    encoding: str = "utf-8"
    delimiter: str = ","
    quote: str = '"'
    decimal: str = "."
    header: bool = True
    skip: int = 0
    short_header: Literal["", "first", "last"] = ""
    sheet: str = ""
    escape: str = ""
    comment: str = ""
    edges: tuple[int, ...] = ()
    upper_rows: int = 0
    lower_rows: int = 0
    missing: tuple[str, ...] = ()
    totals: bool = False
    headings: bool = False
    ragged: bool = False
    strict: bool = False

    def check(self) -> None:
        """Raise InputError for impossible settings."""
        for setting in ("delimiter", "quote", "escape"):
            mark = getattr(self, setting)
            if len(mark) > 1 or mark in ("\n", "\r") or (setting == "delimiter" and not mark):
                raise input_error("mark_of_dialect", setting=setting)
        if self.delimiter == self.quote:
            raise input_error("quote_is_delimiter")
        if self.decimal not in (".", ","):
            raise input_error("decimal_mark_unknown")
        for setting in ("skip", "upper_rows", "lower_rows"):
            if getattr(self, setting) < 0:
                code = "skip_negative" if setting == "skip" else "header_rows_negative"
                raise input_error(code, setting=setting)
        if list(self.edges) != sorted(set(self.edges)) or any(edge < 0 for edge in self.edges):
            raise input_error("edges_not_increasing")

    def as_json(self) -> dict[str, Any]:
        """Return the parts as plain data; parts that were added later only if they are set.

        The identity of experiments depends on it.
        """
        parts = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in parts.items()
            if name in _FIRST_PARTS or value
        }

    @property
    def is_plain(self) -> bool:
        """Whether DuckDB can read the file itself."""
        marks = self.escape or self.comment or self.edges or self.delimiter == BLANK
        return not (marks or self.upper_rows or self.lower_rows or self.ragged or self.headings)

    @functools.cached_property
    def number_words(self) -> frozenset[str]:
        """The spellings of missing numbers, in lower case."""
        return MISSING_NUMBER.union(self.missing)

    @functools.cached_property
    def text_words(self) -> frozenset[str]:
        """The spellings of missing texts, in lower case."""
        return MISSING_TEXT.union(self.missing)


@dataclasses.dataclass(frozen=True)
class TextSample:
    """The first rows of a file, parsed.

    Attributes
    ----------
    first : list of str
        The first row: the header if there is one.
    body : list of lists of str
        The rows after the header that have ``width`` cells.
    width : int
        The usual number of cells; 0 if there are no rows.
    """

    first: Row
    body: list[Row]
    width: int

    def column(self, index: int) -> list[str]:
        """Return the cells of a column, stripped."""
        return [row[index] for row in self.body]


def short_header(sample: TextSample) -> Literal["", "first", "last"]:
    """Return which name the header lacks: the first if the first column may be R's row names."""
    if sample.width - len(sample.first) != 1:
        return ""
    names = sample.column(0)
    is_last = not any(sample.column(sample.width - 1)) or len(set(names)) < len(names)
    return "last" if is_last else "first"


def column_names(sample: TextSample, dialect: Dialect) -> tuple[list[str], list[Finding]]:
    """Return the names of the columns, and notices about invented names."""
    width = sample.width
    if not dialect.header:
        names = [f"c{k + 1}" for k in range(width)]
        return names, [remark("header", "import_no_header", columns=width)]
    first = sample.first
    if dialect.short_header == "first":
        return unique_names(["", *first][:width] + [""] * (width - len(first) - 1))
    return unique_names(first[:width] + [""] * (width - len(first)))


def unique_names(given: Sequence[str]) -> tuple[list[str], list[Finding]]:
    """Return unique column names, and notices about invented names."""
    names: list[str] = []
    notices: list[Finding] = []
    taken, used = set(given), set[str]()
    for k, name in enumerate(given):
        wanted = name or ("row" if k == 0 else f"c{k + 1}")
        unique = wanted if name and name not in used else _unused(wanted, taken, used)
        if unique != name:
            code = "import_repeated_name" if name else "import_unnamed"
            notices.append(remark("header", code, number=k + 1, given=name, name=unique))
        names.append(unique)
        used.add(unique)
    return names, notices


def _unused(name: str, given: set[str], used: set[str]) -> str:
    candidates = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
    return next(c for c in candidates if c not in given and c not in used)


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
        buffer = _LineBuffer(lines)
        number = first - 1
        comment = self._dialect.comment
        while (line := buffer.next()) is not None:
            number, buffer.at_end = number + 1, False
            bare = line.removesuffix("\n")
            line = bare.removesuffix("\r")
            if not (line.strip() if self._is_blank_cut else line):
                continue
            if comment and line.lstrip().startswith(comment):
                continue
            taken, cells = self._row(line, bare[len(line) :], buffer)
            self.unfinished = self.unfinished or (number if buffer.at_end else 0)
            yield number, cells
            number += taken

    def _row(self, line: str, end: str, buffer: _LineBuffer) -> tuple[int, list[str]]:
        """Split a row; return first how many of the following lines belong to it."""
        joined, taken = [line], 0
        if self._escaping is not None and self._escaping.is_open(line):
            for below in buffer.peek():
                joined.append(below.removesuffix("\n"))
                if not self._escaping.is_open(joined[-1]):
                    break
            taken = len(joined) - 1
            buffer.drop(taken)
            line = "\n".join(joined)
        if self._quoting is None or self._dialect.quote not in line:
            return taken, self._plain(line)
        if (regular := self._quoting.regular(line)) is not None:
            self.irregular += self._quoting.has_split
            return taken, regular
        if not self._dialect.edges:
            more, cells = self._quoting.over_lines(line, end, buffer.peek())
            if cells is not None:
                buffer.drop(more)
                return taken + more, cells
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


class _LineBuffer:
    """Lines that can be looked at before they are taken."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._more = iter(lines)
        self._ahead: collections.deque[str] = collections.deque()
        # Whether the last look reached the end.
        self.at_end = False

    def next(self) -> str | None:
        """Return the next line; None at the end."""
        return self._ahead.popleft() if self._ahead else next(self._more, None)

    def peek(self) -> Iterator[str]:
        """Yield the next lines without taking them, up to the length of the longest row."""
        self.at_end, length = False, 0
        for line in itertools.chain(self._ahead, self._fetched()):
            length += len(line)
            if length > LONGEST_ROW:
                return
            yield line
        self.at_end = True

    def drop(self, count: int) -> None:
        """Take lines that were looked at."""
        for _ in range(count):
            self._ahead.popleft()

    def _fetched(self) -> Iterator[str]:
        for line in self._more:
            self._ahead.append(line)
            yield line


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

    def over_lines(
        self, line: str, end: str, following: Iterable[str]
    ) -> tuple[int, list[str] | None]:
        """Cut a row whose quoted cells hold line ends.

        Parameters
        ----------
        line, end : str
            The first line, and the characters before its line end.
        following : iterable of str
            The lines below it.

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
        for taken, below in enumerate(following, 1):
            bare = below.removesuffix("\n")
            parts.append(bare)
            if self._quote not in bare or self._is_inside(bare):
                continue
            text = "\n".join(parts).removesuffix("\r")
            more, place = self._walk(text)
            cells += more
            if place == len(text):
                return taken, cells
            if self._opened.match(text, place) is None:
                break
            parts = [text[place:] + ("\r" if bare.endswith("\r") else "")]
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
