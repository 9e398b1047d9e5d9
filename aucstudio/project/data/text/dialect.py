"""Dialect of a delimited text file, its first rows, and the names of its columns."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
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
    limits : {"", "limit", "half"}
        How values beyond a limit are read, as in
        :class:`~aucstudio.project.data.text.numerals.NumberFormat`.
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
    limits: Literal["", "limit", "half"] = ""

    def check(self) -> None:
        """Raise InputError for impossible settings."""
        for setting in ("delimiter", "quote", "escape"):
            mark = getattr(self, setting)
            if len(mark) > 1 or mark in ("\n", "\r") or (setting == "delimiter" and not mark):
                raise input_error("mark_of_dialect", setting=setting)
        if self.delimiter == self.quote:
            raise input_error("quote_is_delimiter")
        if self.limits not in ("", "limit", "half"):
            raise input_error("limits_unknown")
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

    @functools.cached_property
    def columns(self) -> list[list[str]]:
        """The stripped cells of each column."""
        return [[row[k] for row in self.body] for k in range(self.width)]


def short_header(sample: TextSample) -> Literal["", "first", "last"]:
    """Return which name the header lacks: the first if the first column may be R's row names."""
    if sample.width - len(sample.first) != 1:
        return ""
    names = sample.columns[0]
    is_last = not any(sample.columns[sample.width - 1]) or len(set(names)) < len(names)
    return "last" if is_last else "first"


def column_names(sample: TextSample, dialect: Dialect) -> tuple[list[str], list[Finding]]:
    """Return the names of the columns, and notices about invented names."""
    width = sample.width
    if not dialect.header:
        names = [f"c{k + 1}" for k in range(width)]
        return names, [remark("import_no_header", columns=width)]
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
            notices.append(remark(code, number=k + 1, given=name, name=unique))
        names.append(unique)
        used.add(unique)
    return names, notices


def _unused(name: str, given: set[str], used: set[str]) -> str:
    candidates = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
    return next(c for c in candidates if c not in given and c not in used)
