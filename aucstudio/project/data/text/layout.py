"""Detect the layout of a text table: delimiter, header, body and footer."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aucstudio.project.data.choices import listed
from aucstudio.project.data.text.dialect import BLANK, Dialect, Row, TextSample, short_header
from aucstudio.project.data.text.footer import Judged, have_headings, is_heading, without_footer
from aucstudio.project.data.text.header import (
    NameRows,
    find_name_rows,
    is_lower,
    is_names,
    joined_names,
)
from aucstudio.project.data.text.numerals import guess_decimal, is_remark, plain_remarks
from aucstudio.project.data.text.separators import (
    Record,
    cut,
    find_comments,
    find_marks,
    is_number,
    is_value,
    modal_width,
    uncommented,
)

_SHOWN = 5
# Remarks before the rows among which names are looked for.
_LAST_REMARKS = 4
# So many columns of a very wide table tell what the decimal mark is.
_MOST_VOTING = 2_000
_EXCEL_HINT = re.compile(r"sep=(.)\n?", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Layout:
    """What the first lines of a file show.

    Attributes
    ----------
    dialect : Dialect
    sample : TextSample
    notes : tuple of str
        What was found above and below the names.
    header : list of str
        The row of names as it stands in the file.
    """

    dialect: Dialect
    sample: TextSample
    notes: tuple[str, ...] = ()
    header: Row = dataclasses.field(default_factory=list)


def detect_layout(text: str, whole: bool, encoding: str, given: Mapping[str, Any]) -> Layout:
    """Find how a file is written from its first lines; ``whole`` if there are no more.

    ``given`` holds the parts of the dialect that a person set.
    """
    hint = _EXCEL_HINT.match(text)
    marks = {part: given[part] for part in ("delimiter", "quote") if part in given}
    if hint and "delimiter" not in marks:
        marks["delimiter"] = hint[1]
    # The hint is no row, and what is skipped by wish is none either.
    skip = given.get("skip", 1 if hint else 0)
    dialect = dataclasses.replace(find_marks(text, whole, marks, skip), encoding=encoding)
    parts = {part: given[part] for part in ("escape", "edges", "comment") if part in given}
    dialect = dataclasses.replace(dialect, **parts)
    comments: list[int] = []
    if "comment" not in given:
        mark, comments = find_comments(text, dialect)
        dialect = dataclasses.replace(dialect, comment=mark)
    rows = cut(text, whole, dialect)
    width = modal_width(rows)
    if any(len(row) != width for _, row in rows):
        # Now that the width is known, quotation marks that are astray are better understood.
        rows = cut(text, whole, dialect, width)
        width = modal_width(rows)
    if given.get("ragged", _is_ragged(rows, dialect)):
        dialect = dataclasses.replace(dialect, ragged=True)
        width = max(map(len, (row for _, row in rows)))
        rows = [(line, [*row, *[""] * (width - len(row))]) for line, row in rows]
    rows = _with_commented_names(text, rows, comments, dialect, width)
    found = find_name_rows(rows, width, given)
    dialect = _comments_between(dialect, comments, found.first, given)
    return _settled(text, rows, width, dialect, found, given)


def _is_ragged(rows: Sequence[Record], dialect: Dialect) -> bool:
    """Return whether most rows were cut off after their last value; the longest have all cells."""
    if dialect.delimiter == BLANK or not rows:
        return False
    names, *others = [row for _, row in rows]
    cells = [*map(len, others)]
    short, full = [n for n in cells if n < len(names)], cells.count(len(names))
    return (
        2 * len(short) >= len(cells)
        and full > 1
        and len(short) + full == len(cells)
        # Of most a good part is there, else they are something else than rows.
        and 2 * sum(2 * n >= len(names) for n in short) > len(short)
        and is_names(names)
        and all(row[-1] for row in others)
    )


def _settled(
    text: str,
    rows: list[Record],
    width: int,
    dialect: Dialect,
    found: NameRows,
    given: Mapping[str, Any],
) -> Layout:
    again = None if found.names is None else rows[found.names][1]
    table = [(line, row) for line, row in rows[found.body :] if len(row) == width and row != again]
    judged = without_footer(Judged(line, row) for line, row in table)
    body = [row.cells for row in judged if not row.reason]
    headings = given.get("headings", "skip" not in given and have_headings(body))
    if headings:
        body = [row for row in body if not is_heading(row)]
    first, notes = _names(rows, found)
    sample = TextSample(first or (rows[0][1] if rows else []), body, width)
    if found.names is None:
        sample = dataclasses.replace(sample, first=body[0] if body else [])
    sample = _without_blank_end(sample, found.names is not None)
    width = sample.width
    columns = [sample.column(k) for k in range(width)]
    voting = columns[:: max(1, width // _MOST_VOTING)]
    values = [[cell for cell in cells if not is_remark(cell)] for cells in voting]
    decimal = given.get("decimal") or guess_decimal(values, dialect.delimiter)
    lower = 0 if found.names is None else found.body - found.names - 1
    dialect = dataclasses.replace(
        dialect,
        decimal=decimal,
        header=found.names is not None,
        skip=given.get("skip", found.first - 1),
        upper_rows=found.upper,
        lower_rows=lower,
        missing=_words(columns, given),
        totals=given.get("totals", False),
        headings=headings,
        strict=given.get("strict", False),
    )
    dialect.check()
    if sum(map(is_number, again or ())) > 1:
        notes = [*notes, "numbers are among the names of the columns"]
    if lower and found.names is not None:
        notes += _lower_notes(rows[found.names + 1 : found.body], first)
    if dialect.header:
        dialect = dataclasses.replace(dialect, short_header=short_header(sample))
    elif above := [(line, row) for line, row in rows if line < found.first][-1:]:
        notes = [*notes, *_unfit_names(*above[0], width)]
    if dialect.ragged:
        notes = [*notes, "rows end at their last value; the cells after it are missing"]
    header = [] if found.names is None else rows[found.names][1]
    return Layout(dialect, sample, tuple(notes), header)


def _without_blank_end(sample: TextSample, header: bool) -> TextSample:
    """Leave out the columns that delimiters at the end of all rows would make: one, or many."""
    least = max(2, sample.width - (sample.width if header else 1))
    width = sample.width
    while width > least and not any(sample.first[width - 1 :] if header else []):
        if not sample.body or any(sample.column(width - 1)):
            break
        width -= 1
    if width == sample.width:  # names beyond the cells are for others to judge
        return sample
    return TextSample(sample.first[:width], [row[:width] for row in sample.body], width)


def _words(columns: list[list[str]], given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the spellings of missing values, given or detected."""
    found = () if "header" in given else plain_remarks(columns)
    return tuple(dict.fromkeys([*map(str.lower, given.get("missing", ())), *found]))


def _names(rows: Sequence[Record], found: NameRows) -> tuple[Row, list[str]]:
    if found.names is None:
        return [], []
    names = list(rows[found.names][1])
    if not found.upper:
        return names, []
    for _, upper in reversed(rows[found.names - found.upper : found.names]):
        names = joined_names(upper, names)
    return names, [f"column names are combined from {found.upper + 1} rows"]


def _unfit_names(line: int, row: Row, width: int) -> Iterator[str]:
    """Report names above the rows that are too few or too many for the columns."""
    if 1 < len(row) != width and is_names(row):
        yield (
            f"line {line} may hold names, but it has {len(row)} and most rows have {width} "
            "cells: the columns are numbered"
        )


def _lower_notes(rows: Sequence[Record], names: Row) -> list[str]:
    notes = []
    for line, row in rows:
        told = [f"{n} {unit[:40]}" for n, unit in zip(names, row, strict=False) if unit]
        what = "units or types" if is_lower(row) else "words on the names"
        notes.append(f"line {line} holds {what} and no row: {listed(told, _SHOWN)}")
    return notes


def _with_commented_names(
    text: str, rows: list[Record], comments: Sequence[int], dialect: Dialect, width: int
) -> list[Record]:
    """Put the last leading remark that holds names before the rows."""
    mark, before = dialect.comment, [line for line in comments if rows and line < rows[0][0]]
    if not before:
        return rows
    plain = dataclasses.replace(dialect, comment="", skip=0)
    kept = [row for _, row in rows if len(row) == width]
    if not kept or not any(map(is_value, kept[0])) or find_name_rows(rows, width, {}).body:
        return rows
    lines = text.split("\n")
    units: list[Record] = []
    for line in reversed(before[-_LAST_REMARKS:]):
        marked = lines[line - 1].lstrip().startswith(mark + plain.delimiter)
        for cells in _ways_to_cut(uncommented(lines[line - 1], mark), plain):
            if len(cells) in (width, width - 1) and _may_be_names(cells):
                # The first name may look like what remarks begin with.
                named = [mark, *cells[1:]] if marked and not cells[0] else cells
                if not is_lower(cells):
                    return [(line, named), *rows]
                units = units or [(line, named)]
    # What looks like units below the names are these where no others are.
    return [*units, *rows]


def _ways_to_cut(line: str, dialect: Dialect) -> Iterator[Row]:
    """Cut a line of names as rows are cut; names of several words; and where commas part them."""
    yield from (row for _, row in cut(line, True, dialect))
    if dialect.delimiter == BLANK:
        yield re.split(r"\s{2,}", line.strip())
    yield [cell.strip() for cell in line.split(",")]


def _may_be_names(cells: Row) -> bool:
    """Return whether a remark may hold names: no rule, and hardly a number (260/280 is one)."""
    numbers = sum(map(is_value, cells))
    words = [any(map(str.isalpha, cell)) for cell in cells if cell and not is_value(cell)]
    return (
        any(words)
        and all(words)
        and 3 * numbers <= len(cells)
        and not any("=" in cell for cell in cells)
    )


def _comments_between(
    dialect: Dialect, comments: Sequence[int], first: int, given: Mapping[str, Any]
) -> Dialect:
    """Forget what remarks begin with if all of them are before the table."""
    if "comment" in given or any(line > first for line in comments):
        return dialect
    return dataclasses.replace(dialect, comment="")
