"""How a delimited text file is written: what separates its cells, whether it has a header row."""

from __future__ import annotations

import collections
import csv
import dataclasses
import io
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from aucstudio.project.data.text.numerals import (
    BLANKS,
    formats,
    guess_decimal,
    guess_format,
    is_missing_number,
)
from aucstudio.project.errors import InputError

Row = list[str]

DELIMITERS = "\t;,|"
_EXCEL_HINT = re.compile(r"sep=(.)\n?", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Dialect:
    """How a delimited text file is written.

    Attributes
    ----------
    encoding : str
    delimiter : str
        The character between cells.
    quote : str
        The character around cells that hold a delimiter, doubled within; empty if there is none.
    decimal : {".", ","}
        The decimal mark; the other one may group thousands.
    header : bool
        Whether the first row holds the names of the columns.
    skip : int
        Lines before the first row that are no part of the table.
    short_header : {"", "first", "last"}
        Which name the header lacks, where rows have a cell more: R writes none for row names, and
        rows may end in a delimiter.
    sheet : str
        The sheet, table or member of a file that has several; empty where it has one.
    """

    encoding: str = "utf-8"
    delimiter: str = ","
    quote: str = '"'
    decimal: str = "."
    header: bool = True
    skip: int = 0
    short_header: Literal["", "first", "last"] = ""
    sheet: str = ""

    def check(self) -> None:
        """Raise InputError for marks that cannot be."""
        for setting in ("delimiter", "quote"):
            mark = getattr(self, setting)
            if len(mark) > 1 or mark in ("\n", "\r") or (setting == "delimiter" and not mark):
                raise InputError(f"the {setting} must be one character", setting=setting)
        if self.delimiter == self.quote:
            raise InputError("the delimiter and the quote must differ", setting="quote")
        if self.decimal not in (".", ","):
            raise InputError("the decimal mark must be . or ,", setting="decimal")
        if self.skip < 0:
            raise InputError("the number of lines to skip cannot be negative", setting="skip")


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
        Cells of most rows; 0 if there are no rows.
    """

    first: Row
    body: list[Row]
    width: int

    def column(self, index: int) -> list[str]:
        """Give the cells of a column, stripped."""
        return [row[index] for row in self.body]


def detect_dialect(text: str, whole: bool, encoding: str, given: Mapping[str, Any]) -> Dialect:
    """Find the dialect of a file from its first lines; ``whole`` if there are no more.

    ``given`` holds the parts that a person set.
    """
    hint = _EXCEL_HINT.match(text)
    delimiter = given.get("delimiter") or (hint[1] if hint else "")
    if delimiter:
        quote = given.get("quote", _quote(text, delimiter))
    else:
        delimiter, quote = _delimiter(text, whole)
        quote = given.get("quote", quote)
    skip = given["skip"] if "skip" in given else _skipped(text, whole, delimiter, quote)
    dialect = Dialect(encoding, delimiter, quote, skip=skip)
    dialect.check()
    sample = parse_sample(text, whole, dialect)
    columns = [sample.column(k) for k in range(sample.width)]
    decimal = given.get("decimal") or guess_decimal(columns, delimiter)
    header = given.get("header")
    found = dataclasses.replace(
        dialect,
        decimal=decimal,
        header=_has_header(sample, decimal) if header is None else header,
    )
    found.check()
    return found


def short_header(sample: TextSample) -> Literal["", "first", "last"]:
    """Tell which name the header lacks."""
    if sample.width - len(sample.first) != 1:
        return ""
    return "first" if any(sample.column(sample.width - 1)) else "last"


def parse_sample(text: str, whole: bool, dialect: Dialect) -> TextSample:
    """Parse the first lines of a file in a given dialect."""
    rest = text.split("\n", dialect.skip)[dialect.skip :]
    rows = _rows("".join(rest), whole, dialect.delimiter, dialect.quote)
    if not rows:
        return TextSample([], [], 0)
    width = _modal_width(rows)
    body = rows[1:] if dialect.header else rows
    return TextSample(rows[0], [row for row in body if len(row) == width], width)


def _rows(text: str, whole: bool, delimiter: str, quote: str) -> list[Row]:
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        skipinitialspace=delimiter not in " \t",
    )
    rows: list[Row] = []
    try:
        rows.extend([cell.strip(BLANKS) for cell in row] for row in reader if row)
    except csv.Error:
        # A quotation mark that is never closed; what was read before it still tells enough.
        return rows
    return rows if whole or len(rows) < 2 else rows[:-1]


def _modal_width(rows: Sequence[Row]) -> int:
    """Count the cells of most rows; rows of one cell decide only if there are no others."""
    counts = collections.Counter(map(len, rows))
    return max(counts, key=lambda width: (width > 1, counts[width], width))


def _delimiter(text: str, whole: bool) -> tuple[str, str]:
    """Take the delimiter that cuts most rows into equally many cells that hold no other."""
    candidates = [(delimiter, _quote(text, delimiter)) for delimiter in DELIMITERS]
    return max(candidates, key=lambda pair: _fit(_rows(text, whole, *pair), pair[0]))


def _fit(rows: list[Row], delimiter: str) -> tuple[float, int]:
    width = _modal_width(rows) if rows else 0
    if width < 2:
        return 0.0, 0
    regular = [row for row in rows if len(row) == width]
    rivals = set(DELIMITERS) - {delimiter}
    clean = sum(rivals.isdisjoint(cell) or _is_number(cell) for row in regular for cell in row) / (
        width * len(regular)
    )
    return len(regular) / len(rows) * clean, width


def _quote(text: str, delimiter: str) -> str:
    d, text = re.escape(delimiter), text[:65536]

    def wrapped(quote: str) -> int:
        cell = rf"(?:^|{d}) ?{quote}(?:[^{quote}]|{quote}{quote})*{quote}(?={d}|$)"
        return len(re.findall(cell, text, re.MULTILINE))

    return "'" if wrapped("'") > wrapped('"') else '"'


def _skipped(text: str, whole: bool, delimiter: str, quote: str) -> int:
    """Count the lines before the table: blank ones, a title, Excel's ``sep=;``."""
    lines = text.split("\n")
    width = _modal_width(_rows(text, whole, delimiter, quote) or [[]])
    skip = 1 if _EXCEL_HINT.match(text) else 0
    while skip < len(lines) - 1 and _is_title(lines[skip], width, delimiter):
        skip += 1
    return skip


def _is_title(line: str, width: int, delimiter: str) -> bool:
    cells = [cell.strip() for cell in line.split(delimiter) if cell.strip()]
    alone = width > 2 and len(cells) == 1 and line.count('"') % 2 == 0
    comment = line.startswith("#") and line.count(delimiter) + 1 != width
    return not cells or comment or (alone and not _is_number(cells[0]))


def _has_header(sample: TextSample, decimal: str) -> bool:
    if len(sample.first) != sample.width or not sample.body:
        return not any(map(_is_number, sample.first))
    if _counts_up(sample.first):
        return True
    numbers = [k for k in range(sample.width) if _holds_numbers(sample.column(k), decimal)]
    firsts = [sample.first[k] for k in numbers]
    if any(not is_missing_number(cell) and not _is_number(cell) for cell in firsts):
        return True
    if any(map(_is_number, firsts)):
        return False
    return not all(sample.first[k] in sample.column(k) for k in range(sample.width))


def _holds_numbers(cells: Row, decimal: str) -> bool:
    return guess_format(cells, decimal) is not None and not all(map(is_missing_number, cells))


def _counts_up(cells: Row) -> bool:
    """Tell whether the numbers of a row are 0, 1, 2, ...: names that a program gave."""
    numbers = [(k, int(cell)) for k, cell in enumerate(cells) if re.fullmatch("[0-9]{1,6}", cell)]
    offsets = {number - k for k, number in numbers}
    others = [cell for cell in cells if _is_number(cell)]
    return len(numbers) == len(others) >= 3 and len(offsets) == 1 and offsets <= {-1, 0, 1}


def _is_number(cell: str) -> bool:
    return any(form.matches(cell) for form in formats("."))


def column_names(sample: TextSample, header: bool) -> tuple[list[str], list[str]]:
    """Name the columns; also sentences about names that had to be made up."""
    width = sample.width
    if not header:
        return [f"c{k + 1}" for k in range(width)], [
            f"no header row: the columns are named c1 to c{width}"
        ]
    return unique_names(_fitted(sample))


def unique_names(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """Give each column a name of its own; also sentences about names that had to be made up."""
    names: list[str] = []
    notes: list[str] = []
    taken, used = set(given), set[str]()
    for k, name in enumerate(given):
        wanted = name or ("row" if k == 0 else f"c{k + 1}")
        unique = wanted if name and name not in used else _unused(wanted, taken, used)
        if not name:
            notes.append(f"column {k + 1} has no name and is called {unique!r}")
        elif unique != name:
            notes.append(f"column {k + 1} has the name {name!r} again and is called {unique!r}")
        names.append(unique)
        used.add(unique)
    return names, notes


def _fitted(sample: TextSample) -> Row:
    """Bring the header to as many names as the rows have cells.

    One name too few is R's way to write row names, or rows that end in a delimiter.
    """
    if short_header(sample) == "first":
        return ["", *sample.first]
    return sample.first[: sample.width] + [""] * (sample.width - len(sample.first))


def _unused(name: str, given: set[str], used: set[str]) -> str:
    candidates = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
    return next(c for c in candidates if c not in given and c not in used)
