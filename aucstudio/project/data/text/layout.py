"""Where the table begins in a text file: titles, names, units and the first row of cells.

A row of names is told from the rows below it by a change of kind: it has words where they have
numbers or dates. Titles are shorter than rows; units are short words below the names.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from aucstudio.project.data.text.dialect import BLANK, Dialect, Row, TextSample, short_header
from aucstudio.project.data.text.marks import (
    Record,
    counts_up,
    cut,
    find_comments,
    find_marks,
    is_number,
    is_value,
    modal_width,
    uncommented,
)
from aucstudio.project.data.text.numerals import guess_decimal, is_missing_number
from aucstudio.project.data.text.settle import is_remark, plain_remarks
from aucstudio.project.data.text.totals import is_head_record, is_mean, is_note, is_total

# Rows among which the names are looked for.
_TITLES = 40
_VALUED = 0.8
# Rows at the end among which sums are looked for.
_LAST = 10
_DAY = re.compile(r"\d{4}[-/.]\d\d?(?:[-/.]\d\d?)?|\d\d?[-/.]\d\d?[-/.]\d{2}(?:\d\d)?")
_EXCEL_HINT = re.compile(r"sep=(.)\n?", re.IGNORECASE)
_UNITS = re.compile(
    r"[(\[{].{1,30}[)\]}]|%|\u2030|\u00b0 ?[CFK]?|[$\u20ac\u00a3\u00a5]|"
    r"[kKMGmc\u00b5\u03bcunpdh]?(?:g|m|l|L|s|t|V|A|W|Wh|Hz|Pa|J|N|K|bar|mol|M|eq|U|IU|cal|bp|Bq|Gy|Sv|T)"
    r"(?:[\u00b2\u00b3]|\^?-?[0-9])?(?:[/*\u00b7. ][\w\u00b2\u00b3^-]+)*|"
    r"[A-Za-z\u00b5\u03bc%\u00b0]{1,8}/[\w\u00b2\u00b3.^-]{1,12}|"
    r"(?:years?|yrs?|y|months?|weeks?|days?|d|hours?|hrs?|h|min|minutes?|sec|seconds?|ms|count|"
    r"number|ratio|score|USD|EUR|GBP|mmHg|bpm|ppm|ppb|dB|inch(?:es)?|in|ft|lbs?|oz|mi|deg|rad|"
    r"deg ?[CFK]|celsius|fahrenheit|kelvin|percent|pct|persons?|people|pieces?|pcs|"
    r"units?|a\.u\.|n/a)",
)
_TYPES = re.compile(
    r"(?:<[a-z0-9+]{3,6}>|[iuf](?:8|16|32|64)|str|bigint|hugeint|continuous|discrete|string|numeric|nominal|ordinal|categorical|category|factor|integer|int"
    r"(?:8|16|32|64)?|float(?:32|64)?|double|real|number|text|char|varchar(?:\(\d+\))?|bool(?:ean)?|"
    r"date(?:time)?|time(?:stamp)?|object|class|meta|c|d|s|n|i)"
)


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
    found = _place(rows, width, given)
    dialect = _comments_between(dialect, comments, found.first, given)
    return _settled(text, rows, width, dialect, found, given)


def _is_ragged(rows: Sequence[Record], dialect: Dialect) -> bool:
    """Tell whether most rows were cut off after their last value; the longest have all cells."""
    if dialect.delimiter == BLANK or not rows:
        return False
    names, *others = [row for _, row in rows]
    cells = [*map(len, others)]
    short, full = sum(n < len(names) for n in cells), cells.count(len(names))
    return (
        2 * short >= len(cells)
        and full > 1
        and short + full == len(cells)
        and _is_names(names)
        and all(row[-1] for row in others)
    )


@dataclasses.dataclass(frozen=True)
class _Place:
    """Where names and cells are: indices among the rows; ``names`` is None without a header."""

    names: int | None
    body: int
    upper: int = 0
    first: int = 1


def _settled(
    text: str,
    rows: list[Record],
    width: int,
    dialect: Dialect,
    found: _Place,
    given: Mapping[str, Any],
) -> Layout:
    again = None if found.names is None else rows[found.names][1]
    table = [(line, row) for line, row in rows[found.body :] if len(row) == width and row != again]
    body = [row for _, row in _without_end(table)]
    first, notes = _names(rows, found)
    sample = TextSample(first or (rows[0][1] if rows else []), body, width)
    if found.names is None:
        sample = dataclasses.replace(sample, first=body[0] if body else [])
    sample = _without_blank_end(sample, found.names is not None)
    width = sample.width
    columns = [sample.column(k) for k in range(width)]
    decimal = given.get("decimal") or guess_decimal(columns, dialect.delimiter)
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
        strict=given.get("strict", False),
    )
    dialect.check()
    if lower and found.names is not None:
        notes += _lower_notes(rows[found.names + 1 : found.body], first)
    if dialect.header:
        dialect = dataclasses.replace(dialect, short_header=short_header(sample))
    if dialect.ragged:
        notes = [*notes, "rows end at their last value; the cells beyond it are missing"]
    header = [] if found.names is None else rows[found.names][1]
    return Layout(dialect, sample, tuple(notes), header)


def _without_end(rows: list[Record]) -> list[Record]:
    """Leave out the totals and the remarks below a table."""
    alone = [*itertools.takewhile(lambda row: not any(row[1][1:]), reversed(rows))]
    above = rows[: len(rows) - len(alone)]
    has_gap = bool(alone and above) and alone[-1][0] > above[-1][0] + 1
    is_apart = has_gap or not all(any(row) for _, row in alone)
    beside = any(is_mean(row) for _, row in rows[-_LAST:])
    end = len(rows)
    while end > 2:
        row = rows[end - 1][1]
        is_sum = is_total(row, beside=beside)
        if any(row) and not is_sum and not is_note(row, is_apart=is_apart):
            break
        end -= 1
    return rows[:end]


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
    """Give the spellings of missing values: what was told, and what the cells show."""
    found = () if "header" in given else plain_remarks(columns)
    return tuple(dict.fromkeys([*map(str.lower, given.get("missing", ())), *found]))


def _names(rows: Sequence[Record], found: _Place) -> tuple[Row, list[str]]:
    if found.names is None:
        return [], []
    names = list(rows[found.names][1])
    if not found.upper:
        return names, []
    for _, upper in reversed(rows[found.names - found.upper : found.names]):
        names = joined_names(upper, names)
    return names, [f"the names are put together from {found.upper + 1} rows"]


def joined_names(upper: Row, names: Row) -> Row:
    """Put what several columns have in common before their names."""
    joined, common = [], ""
    end = _end_of_groups(upper, names)
    for k, name in enumerate(names):
        common = "" if k >= end else (upper[k] if k < len(upper) else "") or common
        joined.append(" ".join(filter(None, [common, name])) if common != name else name)
    return joined


def _end_of_groups(upper: Row, names: Row) -> int:
    """Give where what several columns have in common ends.

    Where all groups begin with the same names, what the last one has beyond these is none of it.
    """
    starts = [k for k, cell in enumerate(upper) if cell and k < len(names)]
    groups = [names[i:j] for i, j in itertools.pairwise([*starts, len(names)])]
    if len(groups) > 1 and all(group == groups[0] for group in groups[:-1]):
        *_, last = groups
        if last[: len(groups[0])] == groups[0]:
            return starts[-1] + len(groups[0])
    return len(names)


def _lower_notes(rows: Sequence[Record], names: Row) -> list[str]:
    notes = []
    for line, row in rows:
        told = [f"{n} {unit[:40]}" for n, unit in zip(names, row, strict=False) if unit]
        shown = ", ".join(told[:5]) + (f" and {len(told) - 5} more" if len(told) > 5 else "")
        what = "units or types" if _is_lower(row) else "words on the names"
        notes.append(f"line {line} holds {what} and no row: {shown}")
    return notes


def _place(rows: Sequence[Record], width: int, given: Mapping[str, Any]) -> _Place:
    """Find the row of names and the first row of cells."""
    if not rows:
        return _Place(None, 0)
    if "skip" in given and "header" in given:
        names = 0 if given["header"] else None
        upper, lower = given.get("upper_rows", 0), given.get("lower_rows", 0)
        if names is None:
            return _Place(None, 0, 0, rows[0][0])
        return _Place(upper, min(upper + 1 + lower, len(rows)), upper, rows[0][0])
    start = 0 if "skip" in given else _titles(rows, width)
    header = given.get("header")
    body = _first_of_body(rows, start, width)
    if header is False:
        return _Place(None, start, 0, rows[start][0])
    if body is None:
        return _words_only(rows, start, width, header)
    if body == start:
        below = [row for _, row in rows[start + 1 :] if len(row) == width]
        first = rows[start][1]
        named = (
            header is None and below and (counts_up(first, below) or _named_by_days(first, below))
        )
        if header or named:
            return _Place(start, start + 1, 0, rows[start][0])
        return _Place(None, start, 0, rows[start][0])
    (line, above), (last_line, last) = rows[body - 2], rows[body - 1]
    is_apart = body - 2 >= start and last_line > line + 1
    if is_apart and len(last) == width and not (len(above) == width and _is_lower(last)):
        # What a blank line parts from the names is no part of the table.
        start = body - 1
    upper = _upper(rows, start, body, width)
    names = start + upper
    lower = rows[names + 1 : body]
    if header is None and not all(_is_lower(row) or _explains(rows, row, body) for _, row in lower):
        body = names + 1
    return _Place(names, body, upper, rows[start][0])


def _named_by_days(first: Row, below: Sequence[Row]) -> bool:
    """Tell whether days are the names of columns that hold none."""
    places = [k for k, cell in enumerate(first) if is_value(cell)]
    return len(places) > 1 and all(
        _DAY.fullmatch(first[k]) and not any(_DAY.fullmatch(row[k]) for row in below)
        for k in places
    )


def _titles(rows: Sequence[Record], width: int) -> int:
    """Count the rows before the table: those that are far shorter than most."""
    place = 0
    while place < min(len(rows) - 1, _TITLES) and _is_title(rows, place, width):
        place += 1
    # A title may have as few cells as the names would have if they were all titles.
    return place if any(len(row) == width for _, row in rows[place:]) else 0


def _is_title(rows: Sequence[Record], place: int, width: int) -> bool:
    row = rows[place][1]
    filled = [cell for cell in row if cell]
    if not filled:
        return True
    below = rows[place + 1][1]
    if is_head_record([cells for _, cells in rows[place:]]):
        return True
    if len(row) > width == len(below) and _is_names(below):
        return True  # what an instrument says of itself
    if len(row) == width and len(filled) == width:
        return False
    if len(filled) == 1 and width > 2:
        return not is_number(filled[0])
    if len(row) < width and row[-1] == "=":
        return True  # what a program shows a matrix with
    if len(row) == width - 1 and all(row):
        # Names with one too few, if cells come next; a title of as many cells comes before names.
        if len(below) == len(row) and _is_lower(below):
            return False
        return len(below) < width or _is_names(below)
    if len(row) < width - 1 or len(row) > width + 1:
        return width > 2 and not _fills(filled, width) and len(row) != width
    return False


def _fills(filled: Row, width: int) -> bool:
    return len(filled) >= width


def _is_names(row: Row) -> bool:
    return all(row) and not any(map(is_value, row)) and len(set(row)) == len(row)


def _valued(rows: Sequence[Record], start: int, width: int) -> list[int]:
    """List the columns that hold numbers or dates below the first rows."""
    regular = [row for _, row in rows[start:] if len(row) == width]
    # Rows without any value are names, units, remarks: unless most are so.
    valuable = [row for row in regular if any(map(is_value, row))]
    if 2 * len(valuable) >= len(regular) - 2:
        regular = valuable
    tail = regular[min(len(regular) // 3, 8) :] if len(regular) > 3 else regular[-2:]
    valued = []
    for k in range(width):
        others = [row[k] for row in tail if not is_value(row[k])]
        values, words = len(tail) - len(others), sum(not _says_nothing(cell) for cell in others)
        if values and values >= _VALUED * (values + words):
            valued.append(k)
    return valued


def _says_nothing(cell: str) -> bool:
    return is_missing_number(cell) or is_remark(cell)


def _first_of_body(rows: Sequence[Record], start: int, width: int) -> int | None:
    """Give the first row of cells; None if no column holds values, so that kinds do not tell."""
    valued = _valued(rows, start, width)
    if not valued:
        return None
    for place in range(start, len(rows)):
        row = rows[place][1]
        if len(row) != width:
            if place > start and len(row) < width:
                continue
            if place > start:
                return place
            continue
        words = [row[k] for k in valued if not _says_nothing(row[k]) and not is_value(row[k])]
        if place == start:
            # Names may be such words too, but come once.
            said = [k for k in valued if is_remark(row[k]) and not is_missing_number(row[k])]
            words += [row[k] for k in said if _comes_once(rows, place, k)]
        values = [row[k] for k in valued if is_value(row[k])]
        if place == start and words and not (len(valued) > 3 and len(values) > 2 * len(words)):
            continue
        if place > start and (len(words) >= len(values) if words else _says_units(row, values)):
            continue
        return place
    return len(rows)


def _comes_once(rows: Sequence[Record], place: int, k: int) -> bool:
    cell = rows[place][1][k]
    return not any(len(row) > k and row[k] == cell for _, row in rows[place + 1 :])


def _says_units(row: Row, values: Row) -> bool:
    return not values and _is_lower(row)


def _words_only(rows: Sequence[Record], start: int, width: int, header: bool | None) -> _Place:
    """Judge a table without numbers: names do not come again as cells."""
    line, first = rows[start]
    below = [row for _, row in rows[start + 1 :] if len(row) == width]
    if header is None and len(first) == width and below:
        if counts_up(first):
            header = True
        elif any(map(is_number, first)):
            header = False
        else:
            # Columns that are empty throughout say nothing.
            told = [k for k, cell in enumerate(first) if cell or all(row[k] for row in below)]
            again = sum(first[k] in {row[k] for row in below} for k in told)
            header = 2 * again < len(told)
    elif header is None:
        header = not any(map(is_number, first))
    return _Place(start, start + 1, 0, line) if header else _Place(None, start, 0, line)


def _upper(rows: Sequence[Record], start: int, body: int, width: int) -> int:
    """Count the rows above the names: they have gaps, where several columns have one in common."""
    upper = 0
    while start + upper + 1 < body and len(rows[start + upper][1]) in (width, width - 1):
        row, below = rows[start + upper][1], rows[start + upper + 1][1]
        has_gaps = not all(row) and len(below) == width and all(below)
        repeats = len(set(filter(None, row))) < len([c for c in row if c])
        if not (has_gaps or (repeats and _is_header_like(below))):
            break
        upper += 1
    return upper


def _is_header_like(row: Row) -> bool:
    filled = [cell for cell in row if cell]
    return len(filled) > len(row) / 2 and not _is_lower(row)


def _explains(rows: Sequence[Record], row: Row, body: int) -> bool:
    """Tell whether a row below the names says what these are: words where several have values."""
    valued = _valued(rows, body, len(row))
    return (
        len(valued) > 1
        and not any(is_value(row[k]) for k in valued)
        and any(not _says_nothing(row[k]) and len(row[k]) > 1 for k in valued)
    )


def _is_lower(row: Row) -> bool:
    """Tell whether a row holds units or types."""
    filled = [cell for cell in row if cell and not is_missing_number(cell)]
    if not filled:
        return False
    short = sum(bool(_UNITS.fullmatch(c) or _TYPES.fullmatch(c.lower())) for c in filled)
    return 2 * short > len(filled)


def _with_commented_names(
    text: str, rows: list[Record], comments: Sequence[int], dialect: Dialect, width: int
) -> list[Record]:
    """Put the last of the leading remarks before the rows, if it holds their names."""
    mark, before = dialect.comment, [line for line in comments if rows and line < rows[0][0]]
    if not before:
        return rows
    bare = dataclasses.replace(dialect, comment="", skip=0)
    kept = [row for _, row in rows if len(row) == width]
    if not kept or not any(map(is_value, kept[0])) or _first_of_body(rows, 0, width):
        return rows
    lines = text.split("\n")
    names = [
        [(line, row) for _, row in cut(uncommented(lines[line - 1], mark), True, bare)]
        for line in before[-2:]
    ]
    # The last one may hold the units.
    if len(names) > 1 and names[0] and names[1] and _is_lower(names[1][0][1]):
        names.pop()
    found = names[-1]
    if not found or len(found[0][1]) not in (width, width - 1):
        return rows
    if any(is_value(cell) or "=" in cell for cell in found[0][1]):
        return rows
    return [*found, *rows]


def _comments_between(
    dialect: Dialect, comments: Sequence[int], first: int, given: Mapping[str, Any]
) -> Dialect:
    """Forget what remarks begin with if all of them are before the table."""
    if "comment" in given or any(line > first for line in comments):
        return dialect
    return dataclasses.replace(dialect, comment="")
