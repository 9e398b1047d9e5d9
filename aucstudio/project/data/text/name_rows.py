"""Which rows of a text table hold names, titles and units, and where its body begins.

A row of names is told from the rows below it by a change of kind: it has words where they have
numbers or dates. Titles are shorter than rows; units are short words below the names.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

from aucstudio.project.data.text.dialect import Row
from aucstudio.project.data.text.missing import is_missing_number, is_remark
from aucstudio.project.data.text.separators import (
    Record,
    counts_up,
    is_number,
    is_value,
)
from aucstudio.project.data.text.totals import is_head_record

# Rows among which the names are looked for.
_TITLES, _LOOKED_AT = 40, 200
# What parts the words of an instrument from its table.
_END_OF_HEADER = re.compile(r"\W*end[ _]?of[ _]?(?:the )?head(?:er)?\W*", re.IGNORECASE)
_VALUED = 0.8
# In fewer rows a level may come once, and be no name.
_FEW = 7
_DAY = re.compile(r"\d{4}[-/.]\d\d?(?:[-/.]\d\d?)?|\d\d?[-/.]\d\d?[-/.]\d{2}(?:\d\d)?")
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
    r"(?:<[a-z0-9+]{3,6}>|[iuf](?:8|16|32|64)|str|bigint|hugeint|continuous|discrete|string|"
    r"numeric|nominal|ordinal|categorical|category|factor|integer|int"
    r"(?:8|16|32|64)?|float(?:32|64)?|double|real|number|text|char|varchar(?:\(\d+\))?|bool(?:ean)?|"
    r"date(?:time)?|time(?:stamp)?|object|class|meta|enum|addr|port|count|interval|c|d|s|n|i)\??"
)


@dataclasses.dataclass(frozen=True)
class NameRows:
    """Where names and cells are: indices among the rows; ``names`` is None without a header."""

    names: int | None
    body: int
    upper: int = 0
    first: int = 1


def find_name_rows(rows: Sequence[Record], width: int, given: Mapping[str, Any]) -> NameRows:
    """Find the row of names and the first row of cells."""
    if not rows:
        return NameRows(None, 0)
    if "skip" in given and "header" in given:
        names = 0 if given["header"] else None
        upper, lower = given.get("upper_rows", 0), given.get("lower_rows", 0)
        if names is None:
            return NameRows(None, 0, 0, rows[0][0])
        return NameRows(upper, min(upper + 1 + lower, len(rows)), upper, rows[0][0])
    start = 0 if "skip" in given else _first_full(rows, width)
    header = given.get("header")
    body = first_of_body(rows, start, width)
    if body is None:
        return _words_only(rows, start, width, header)
    if header is False:
        return NameRows(None, start, 0, rows[start][0])
    names = _row_of_names(rows, start, body, width)
    if names is None:
        return _without_words(rows, start, body, width, header)
    if not all(is_lower(row) or _explains(rows, row, body) for _, row in rows[names + 1 : body]):
        body = names + 1
    upper = 0
    while names - upper > start and _is_upper(rows, names - upper - 1, width):
        upper += 1
    return NameRows(names, body, upper, rows[names - upper][0])


def _row_of_names(rows: Sequence[Record], start: int, body: int, width: int) -> int | None:
    """Return the row of names above the cells; None if no words stand there.

    It is the first of those that name all columns, if rows between it and the cells hold words
    alone, and no blank line parts them; or else the last one, but for units below it.
    """
    found, place = None, body - 1
    while place >= start:
        line, row = rows[place]
        is_short = found is None and len(row) < width
        if not (_may_name(row, width) or is_lower(row) or is_short):
            break
        has_units = found is not None and is_lower(rows[found][1])
        if found is not None and not has_units and any(map(is_value, row)):
            break
        below = [cells for _, cells in rows[place + 1 :] if len(cells) == width]
        is_head = _is_head(row, below, width) or (has_units and len(row) == width and all(row))
        # Titles of a name and a value are as wide as the rows of a table of two columns.
        is_title = (
            found is not None and width == 2 and _is_said(row) and not _is_said(rows[found][1])
        )
        if is_head and not is_title:
            found = place
        if place > start and line > rows[place - 1][0] + 1 and not is_lower(row):
            break
        place -= 1
    if found is not None:
        return found
    place = body - 1
    while place > start and is_lower(rows[place][1]) and not _is_upper(rows, place - 1, width):
        place -= 1
    return place if place >= start and _may_name(rows[place][1], width) else None


def _is_said(row: Row) -> bool:
    """Return whether words of a row come with others, or with digits."""
    return any(re.search(r"[ \d]", cell) for cell in row)


def _is_head(row: Row, below: Sequence[Row], width: int) -> bool:
    """Return whether a row names all columns, with words most of which do not come again as cells.

    A title says when a table was made, as its names do not.
    """
    if len(row) != width or not is_names(row) or any(map(_DAY.match, row)):
        return False
    again = sum(any(cells[k] == cell for cells in below) for k, cell in enumerate(row))
    return 2 * again < width


def _without_words(
    rows: Sequence[Record], start: int, body: int, width: int, header: bool | None
) -> NameRows:
    """Judge a table whose first row of values may hold the names: numbers or days."""
    # Rows above with some values are cells, too.
    full = (k for k in range(start, body) if len(rows[k][1]) == width)
    body = next((k for k in full if any(map(is_value, rows[k][1]))), min(body, len(rows) - 1))
    line, first = rows[body]
    if _heads_groups(rows[body:], width):
        return NameRows(body + 1, body + 2, 1, line)
    below = [row for _, row in rows[body + 1 :] if len(row) == width]
    named = (
        header is None
        and below
        and len(first) <= width
        and (counts_up(first, below) or _named_by_days(first, below) or _is_apart(first, below))
    )
    return NameRows(body, body + 1, 0, line) if header or named else NameRows(None, body, 0, line)


def _first_full(rows: Sequence[Record], width: int) -> int:
    """Return the first row after what parts the words of an instrument from its table."""
    ends = [
        k for k, (_, row) in enumerate(rows[:_TITLES]) if _END_OF_HEADER.fullmatch("".join(row))
    ]
    place = ends[-1] + 1 if ends else 0
    while place < len(rows) - 1 and is_head_record([cells for _, cells in rows[place:]]):
        place += 1
    return place if any(len(row) == width for _, row in rows[place:]) else 0


def _may_name(row: Row, width: int) -> bool:
    """Return whether a row may hold names: several words, for all columns or but one."""
    filled = [cell for cell in row if cell]
    if len(filled) < 2 or len(row) < width - 1 or row[-1] == "=":
        return False
    return 2 * sum(map(is_value, filled)) <= len(filled)


def _is_upper(rows: Sequence[Record], place: int, width: int) -> bool:
    """Return whether a row says what several columns below it have in common."""
    row, below = rows[place][1], rows[place + 1][1]
    filled = [cell for cell in row if cell]
    if len(row) not in (width, width - 1) or len(filled) < 2 or any(map(is_value, filled)):
        return False
    has_gaps = not all(row) and len(below) == width and all(below)
    repeats = len(set(filled)) < len(filled)
    completes = _completes(below, row) and not is_lower(below)
    return has_gaps or completes or (repeats and not is_lower(below))


def _named_by_days(first: Row, below: Sequence[Row]) -> bool:
    """Return whether days are the names of columns that hold none."""
    places = [k for k, cell in enumerate(first) if is_value(cell)]
    return len(places) > 1 and all(
        _DAY.fullmatch(first[k]) and not any(_DAY.fullmatch(row[k]) for row in below)
        for k in places
    )


def _heads_groups(rows: Sequence[Record], width: int) -> bool:
    """Return whether years, say, that stand above several columns each come before the names."""
    if len(rows) < 3 or any(len(row) != width for _, row in rows[:3]):
        return False
    first, names, cells = (row for _, row in rows[:3])
    heads = [cell for cell in first if cell]
    return (
        1 < len(heads) <= len(names) / 2
        and len(set(heads)) == len(heads)
        and all(names)
        and not any(map(is_value, names))
        and sum(map(is_value, cells)) > len(heads)
    )


def _is_apart(first: Row, below: Sequence[Row]) -> bool:
    """Return whether numbers are names: rising ones, and no cell beside them comes again below.

    There has to be a column of words that come again and again, but for that above them.
    """
    filled = [k for k, cell in enumerate(first) if cell or any(row[k] for row in below)]
    first, below = [first[k] for k in filled], [[row[k] for k in filled] for row in below]
    numbers = [int(cell) for cell in first if re.fullmatch("[0-9]{1,6}", cell)]
    words = [k for k, cell in enumerate(first) if not is_value(cell)]
    if (
        not all(first)
        or len(first) < 4
        or len(numbers) < 2
        or len(numbers) + len(words) < len(first)
    ):
        return False
    if any(a >= b for a, b in itertools.pairwise(numbers)):
        return False
    cells = [collections.Counter(row[k] for row in below) for k in range(len(first))]
    levels = [[n for cell, n in cells[k].items() if cell and not is_value(cell)] for k in words]
    return not any(map(operator.contains, cells, first)) and any(
        counts and min(counts) > 1 and sum(counts) > _FEW for counts in levels
    )


def is_names(row: Row) -> bool:
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


def first_of_body(rows: Sequence[Record], start: int, width: int) -> int | None:
    """Return the first row of cells; None if no column holds values, so that kinds do not tell.

    Most rows above it have words where columns hold values, and most rows below it values.
    """
    valued = _valued(rows, start, width)
    if not valued:
        return None
    some = [row for _, row in rows[start : start + _LOOKED_AT]]
    # Names may be years and such, but only in the first row of several cells.
    first = next((k for k, row in enumerate(some) if _is_filled(row, width)), 0)
    looks = [
        _look(row, above, valued, width, may_name=k == first)
        for k, (above, row) in enumerate(itertools.pairwise([[], *some]))
    ]
    # What is gained if rows from here on are cells, and all above are none.
    gains = [*itertools.accumulate((-look for look in looks), initial=0.0)]
    return start + max(
        range(len(gains)),
        key=lambda k: (gains[k], k > 0 and is_names(rows[start + k - 1][1]), -k),
    )


def _is_filled(row: Row, width: int) -> bool:
    return len(row) == width and sum(map(bool, row)) > 1


def _look(row: Row, above: Row, valued: Sequence[int], width: int, *, may_name: bool) -> float:
    """Return 1 for a row of cells and -1 for one of names, and less where that is in doubt."""
    if len(row) != width:
        return 0.0 if any(map(is_value, row)) else -0.5
    values = sum(is_value(row[k]) for k in valued)
    words = sum(not (is_value(row[k]) or _says_nothing(row[k])) for k in valued)
    if may_name and words and not (len(valued) > 3 and values > 2 * words):
        return min(-0.1, values - words)
    if not values and not words:
        return -1.0 if is_lower(row) or _completes(row, above) else 0.5
    return (values - words) / (values + words)


def _completes(row: Row, above: Row) -> bool:
    """Return whether a row has names where the one above has none: most stand in one of them."""
    return (
        len(row) == len(above)
        and not all(row)
        and not all(above)
        and all(map(operator.or_, map(bool, row), map(bool, above)))
        and not any(map(is_value, (*row, *above)))
    )


def _words_only(rows: Sequence[Record], start: int, width: int, header: bool | None) -> NameRows:
    """Judge a table without numbers: names do not come again as cells."""
    # Titles fill a cell or two, names all but one.
    full = (k for k in range(start, len(rows)) if len(rows[k][1]) == width)
    if header is None:
        start = next((k for k in full if sum(map(bool, rows[k][1])) > max(1, width - 2)), start)
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
    return NameRows(start, start + 1, 0, line) if header else NameRows(None, start, 0, line)


def _explains(rows: Sequence[Record], row: Row, body: int) -> bool:
    """Return whether a row below the names says what these are: words where several have values."""
    valued = _valued(rows, body, len(row))
    return (
        len(valued) > 1
        and not any(is_value(row[k]) for k in valued)
        and any(not _says_nothing(row[k]) and len(row[k]) > 1 for k in valued)
    )


def is_lower(row: Row) -> bool:
    """Return whether a row holds units or types."""
    filled = [cell for cell in row if cell and not is_missing_number(cell)]
    if not filled:
        return False
    short = sum(bool(_UNITS.fullmatch(c) or _TYPES.fullmatch(c.lower())) for c in filled)
    return 2 * short > len(filled)
