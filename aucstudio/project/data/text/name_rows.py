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
_TITLES = 40
# What parts the words of an instrument from its table.
_END_OF_HEADER = re.compile(r"\W*end[ _]?of[ _]?(?:the )?head(?:er)?\W*", re.IGNORECASE)
_VALUED, _FEWEST_BELOW = 0.8, 3
# In fewer rows a level may come once, and be no name.
_FEW = 7
_BROKEN = re.compile(r"-?\d{1,6}[.,]\d{1,6}")
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
    start = 0 if "skip" in given else _titles(rows, width)
    header = given.get("header")
    body = first_of_body(rows, start, width)
    if header is False:
        return NameRows(None, start, 0, rows[start][0])
    if body is None:
        return _words_only(rows, start, width, header)
    if body == start:
        if _heads_groups(rows[start:], width):
            return NameRows(start + 1, start + 2, 1, rows[start][0])
        below = [row for _, row in rows[start + 1 :] if len(row) == width]
        first = rows[start][1]
        named = (
            header is None
            and below
            and (counts_up(first, below) or _named_by_days(first, below) or _is_apart(first, below))
        )
        if header or named:
            return NameRows(start, start + 1, 0, rows[start][0])
        return NameRows(None, start, 0, rows[start][0])
    (line, above), (last_line, last) = rows[body - 2], rows[body - 1]
    is_apart = body - 2 >= start and last_line > line + 1
    if is_apart and len(last) == width and not (len(above) == width and is_lower(last)):
        # What a blank line parts from the names is no part of the table.
        start = body - 1
    upper = _upper(rows, start, body, width)
    names = start + upper
    lower = rows[names + 1 : body]
    if header is None and not all(is_lower(row) or _explains(rows, row, body) for _, row in lower):
        body = names + 1
    return NameRows(names, body, upper, rows[start][0])


def _named_by_days(first: Row, below: Sequence[Row]) -> bool:
    """Tell whether days are the names of columns that hold none."""
    places = [k for k, cell in enumerate(first) if is_value(cell)]
    return len(places) > 1 and all(
        _DAY.fullmatch(first[k]) and not any(_DAY.fullmatch(row[k]) for row in below)
        for k in places
    )


def _heads_groups(rows: Sequence[Record], width: int) -> bool:
    """Tell whether years, say, that stand above several columns each come before the names."""
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
    """Tell whether numbers are names: rising ones, and no cell beside them comes again below.

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


def _titles(rows: Sequence[Record], width: int) -> int:
    """Count the rows before the table: those that are far shorter than most."""
    ends = [
        k for k, (_, row) in enumerate(rows[:_TITLES]) if _END_OF_HEADER.fullmatch("".join(row))
    ]
    place = ends[-1] + 1 if ends else 0
    while place < min(len(rows) - 1, _TITLES) and _is_title(rows, place, width):
        place += 1
    place = _named_anew(rows, place, width) or place
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
    if len(row) > width == len(below) and is_names(below):
        return True  # what an instrument says of itself
    if _is_short(row, width) and _comes_before_names(rows, place, width):
        return True
    if len(row) == width == len(below) and any(map(_BROKEN.fullmatch, row)):
        # A broken number is no name, where words for every column come next.
        others = [cells for _, cells in rows[place + 1 :] if len(cells) == width]
        used = [k for k in range(width) if any(cells[k] for cells in others)]
        return len(used) > 1 and is_names([below[k] for k in used])
    if len(row) == width and len(filled) == width:
        # When an export was made is said above the names.
        return width > 2 and is_names(below) and sum(map(_is_dated, row)) == 1 and is_names(row)
    if len(filled) == 1 and width > 2:
        return not is_number(filled[0])
    if len(row) < width and row[-1] == "=":
        return True  # what a program shows a matrix with
    if len(row) == width - 1 and all(row):
        # Names with one too few, if cells come next; a title of as many cells comes before names.
        if len(below) == len(row) and is_lower(below):
            return False
        return len(below) < width or is_names(below)
    if len(row) < width - 1 or len(row) > width + 1:
        return width > 2 and not _fills(filled, width) and len(row) != width
    return False


def _is_dated(cell: str) -> bool:
    return _DAY.match(cell) is not None and not is_value(cell)


def _named_anew(rows: Sequence[Record], start: int, width: int) -> int | None:
    """Find names below a few rows of values that have names of their own: what comes first."""
    valued = _valued(rows, start, width)
    for place in range(start + 2, min(start + 2 + _FEWEST_BELOW, len(rows) - _FEWEST_BELOW)):
        above, names = rows[place - 1][1], rows[place][1]
        if (
            len(valued) > 1
            and len(names) == width
            and is_names(names)
            and names != rows[start][1]
            and is_names(rows[start][1])
            and any(map(is_value, above))
        ):
            return place
    return None


def _is_short(row: Row, width: int) -> bool:
    """Tell whether at most half of the cells of a row are filled: the first ones."""
    filled = sum(map(bool, row))
    return len(row) == width > 2 and 2 * filled <= width and all(row[:filled])


def _comes_before_names(rows: Sequence[Record], place: int, width: int) -> bool:
    """Tell whether names come after short rows alone, two at least, and fuller rows after them."""
    ahead = [row for _, row in rows[place : place + _TITLES]]
    above = [*itertools.takewhile(lambda row: len(row) < width or _is_short(row, width), ahead)]
    names, *below = [row for _, row in rows[place + len(above) :]] or [[]]
    full = sum(2 * sum(map(bool, row)) > width for row in below)
    is_several = place + len(above) > 1
    return (
        is_several
        and len(names) == width
        and is_names(names)
        and full >= max(_FEWEST_BELOW, _VALUED * len(below))
    )


def _fills(filled: Row, width: int) -> bool:
    return len(filled) >= width


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
        if place > start and not values and _completes(row, rows[place - 1][1]):
            continue
        return place
    return len(rows)


def _comes_once(rows: Sequence[Record], place: int, k: int) -> bool:
    cell = rows[place][1][k]
    return not any(len(row) > k and row[k] == cell for _, row in rows[place + 1 :])


def _completes(row: Row, above: Row) -> bool:
    """Tell whether a row has names where the one above has none: most stand in one of them."""
    return (
        len(row) == len(above)
        and not all(row)
        and not all(above)
        and all(map(operator.or_, map(bool, row), map(bool, above)))
        and not any(map(is_value, (*row, *above)))
    )


def _says_units(row: Row, values: Row) -> bool:
    return not values and is_lower(row)


def _words_only(rows: Sequence[Record], start: int, width: int, header: bool | None) -> NameRows:
    """Judge a table without numbers: names do not come again as cells."""
    line, first = rows[start]
    below = [row for _, row in rows[start + 1 :] if len(row) == width]
    if header is None and len(first) == width and below:
        if counts_up(first):
            header = True
        elif any(map(is_number, first)) or _say_names(first, below):
            header = False
        else:
            # Columns that are empty throughout say nothing.
            told = [k for k, cell in enumerate(first) if cell or all(row[k] for row in below)]
            again = sum(first[k] in {row[k] for row in below} for k in told)
            header = 2 * again < len(told)
    elif header is None:
        header = not any(map(is_number, first))
    return NameRows(start, start + 1, 0, line) if header else NameRows(None, start, 0, line)


def _say_names(first: Row, below: Sequence[Row]) -> bool:
    """Tell whether each cell says its own name, as in a:1, in all rows alike."""
    said = [re.match(r"\w+[:=]", cell) for cell in first]
    names = [found[0] for found in said if found]
    return len(names) == len(first) and all(all(map(str.startswith, row, names)) for row in below)


def _upper(rows: Sequence[Record], start: int, body: int, width: int) -> int:
    """Count the rows above the names: they have gaps, where several columns have one in common."""
    upper = 0
    while start + upper + 1 < body and len(rows[start + upper][1]) in (width, width - 1):
        row, below = rows[start + upper][1], rows[start + upper + 1][1]
        has_gaps = not all(row) and len(below) == width and all(below)
        repeats = len(set(filter(None, row))) < len([c for c in row if c])
        completes = _completes(below, row) and not is_lower(below)
        if not (has_gaps or completes or (repeats and _is_header_like(below))):
            break
        upper += 1
    return upper


def _is_header_like(row: Row) -> bool:
    filled = [cell for cell in row if cell]
    return len(filled) > len(row) / 2 and not is_lower(row)


def _explains(rows: Sequence[Record], row: Row, body: int) -> bool:
    """Tell whether a row below the names says what these are: words where several have values."""
    valued = _valued(rows, body, len(row))
    return (
        len(valued) > 1
        and not any(is_value(row[k]) for k in valued)
        and any(not _says_nothing(row[k]) and len(row[k]) > 1 for k in valued)
    )


def is_lower(row: Row) -> bool:
    """Tell whether a row holds units or types."""
    filled = [cell for cell in row if cell and not is_missing_number(cell)]
    if not filled:
        return False
    short = sum(bool(_UNITS.fullmatch(c) or _TYPES.fullmatch(c.lower())) for c in filled)
    return 2 * short > len(filled)
