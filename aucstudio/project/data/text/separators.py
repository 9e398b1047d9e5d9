"""Detect delimiter, quote and comment characters."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Sequence

from aucstudio.project.data.text.dialect import BLANK, DELIMITERS, Dialect, Row
from aucstudio.project.data.text.numerals import BLANKS, formats
from aucstudio.project.data.text.records import Cutter

Record = tuple[int, Row]

# Whatever these lines are, they are cut in their own way.
_REMARKS = re.compile(
    "^[ \t]*(#|%|//).*$|^[ \t|+:=,;_-]*(?:---|===|___)[ \t|+:=,;_-]*$|"
    r"^[ \t]*[(\[][0-9]+ rows?\b.*[)\]][ \t]*$",
    re.MULTILINE,
)
_RULED = re.compile("[ \t|+:=,;_-]*(?:---|===|___)[ \t|+:=,;_-]*")
# A ruler with a stroke above each column.
_RULER = re.compile("^ *(?:-+|=+|_+)(?: +(?:-+|=+|_+))+ *$", re.MULTILINE)
# Marks that separate cells where nothing else does.
_RARE = ":~^&\x01\x1f\uff0c\uff1b"
_NAMES_COME = re.compile(r"(?:fields|columns|names|header)(?::\s*|\t)|types\t", re.IGNORECASE)
_COMMENTS = ("#", "%", "//", ";", "!")
_VALUE = re.compile(
    r"[\W_]*[0-9][\W_0-9]*(?:[eEdD][+-]?[0-9]+)?[\W_]*|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z?"
)
# So many rows have to be cut alike before other ways to cut them are not looked for.
_SURE, _LIKELY = 0.9, 0.75
_MOST_SAMPLED = 1 << 18
_LEAST_LINES, _FEW = 3, 100
_MARKS = frozenset(DELIMITERS)
_INDIAN = re.compile(r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]*)?")


def is_value(cell: str) -> bool:
    """Return whether a cell may be a number, an amount, a date: digits, and no words."""
    return _VALUE.fullmatch(cell) is not None


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, written in whatever way."""
    return any(form.matches(cell) for form in formats("."))


def cut(text: str, whole: bool, dialect: Dialect, width: int = 0) -> list[Record]:
    """Cut the first lines of a file into rows of stripped cells, with their lines.

    ``whole`` if there are no more lines; else the last row may be a part of one. Such a part may
    have many lines: it is left out unless the lines are rows by themselves, as they are below a
    quotation mark that is never closed.
    """
    lines = text.split("\n")
    cutter = Cutter(dialect, width)
    rows = [
        (line, [cell.strip(BLANKS) for cell in cells])
        for line, cells in cutter.rows(lines[dialect.skip :], dialect.skip + 1)
    ]
    if whole or len(rows) < 2:
        return rows
    above = [row for row in rows if row[0] < cutter.unfinished]
    if above:
        usual = modal_width(above)
        below = [row for row in rows if row[0] > cutter.unfinished]
        if 2 * sum(len(row) == usual for _, row in below) < len(below):
            return above
    return rows[:-1]


def modal_width(rows: Sequence[Record]) -> int:
    """Count the cells of most rows; rows of one cell decide only if there are no others."""
    counts = collections.Counter(len(row) for _, row in rows)
    return max(counts, key=lambda width: (width > 1, counts[width], width), default=0)


def find_marks(text: str, whole: bool, given: dict[str, str], skip: int) -> Dialect:
    """Find delimiter, quotation mark, escape and places of columns; some may be ``given``."""
    text, whole = (text, whole) if len(text) <= _MOST_SAMPLED else (text[:_MOST_SAMPLED], False)
    ruler = _RULER.search(text)
    text = _REMARKS.sub("", text)
    if "delimiter" in given:
        quote = given["quote"] if "quote" in given else _quote(text, given["delimiter"])
        found = Dialect(delimiter=given["delimiter"], quote=quote, skip=skip)
    else:
        candidates = [
            Dialect(delimiter=mark, quote=given.get("quote", _quote(text, mark)), skip=skip)
            for mark in DELIMITERS
        ]
        rows = {dialect: cut(text, whole, dialect) for dialect in candidates}
        fits = {dialect: fit(rows[dialect]) for dialect in candidates}
        best = max(fits.values())
        alike = [dialect for dialect in candidates if fits[dialect] == best]
        # The one that parts numbers from words, and of these the first.
        found = max(alike, key=lambda dialect: _numbers(rows[dialect])) if best[0] else alike[0]
        if fits[found][0] < 1:
            strokes = _strokes(ruler[0]) if ruler else ()
            found = _by_blanks(text, whole, found, fits[found][0], strokes)
        if not max(fits.values())[0] and found.delimiter != BLANK:
            found = _by_rare_marks(text, whole, found)
    found.check()
    return dataclasses.replace(found, escape=_escape(text, whole, found))


def fit(rows: Sequence[Record]) -> tuple[float, int]:
    """Judge a way to cut rows: the share that is cut alike into cells that hold no other mark."""
    width = modal_width(rows)
    if width < 2:
        return 0.0, 0
    regular = [row for _, row in rows if len(row) == width]
    clean = sum(_is_whole(cell) for row in regular for cell in row)
    return len(regular) / len(rows) * clean / (width * len(regular)), width


def _is_whole(cell: str) -> bool:
    """Return whether a cell holds no delimiter, and no half of a quotation."""
    if not _MARKS.isdisjoint(cell):
        return is_number(cell) or _INDIAN.fullmatch(cell) is not None
    return not _is_half_quoted(cell)


def _is_half_quoted(cell: str) -> bool:
    """Return whether a quotation begins or ends in a cell of several words, and not both."""
    return cell.count('"') % 2 == 1 and BLANK in cell


def _numbers(rows: Sequence[Record]) -> int:
    return sum(is_number(cell) for _, row in rows[:_FEW] for cell in row[:_FEW])


def _strokes(ruler: str) -> tuple[int, ...]:
    """Return where the strokes of a ruler begin; the first cell begins with the line."""
    _, *starts = (stroke.start() for stroke in re.finditer(r"\S+", ruler))
    return (0, *starts)


def _by_blanks(
    text: str, whole: bool, found: Dialect, best: float, strokes: tuple[int, ...] = ()
) -> Dialect:
    """Take runs of blanks for the delimiter, or the places of the cells, where that fits better."""
    blanks = dataclasses.replace(found, delimiter=BLANK, quote=_quote(text, BLANK))
    rows = cut(text, whole, blanks)
    by_blanks, width = fit(rows)
    if len(rows) < _LEAST_LINES or not _holds_values(rows, width):
        by_blanks = 0.0
    is_unlikely = max(best, by_blanks) < _LIKELY or _has_long_names(text, rows, width)
    for edges in filter(None, [strokes, _edges(text) if is_unlikely else ()]):
        placed = dataclasses.replace(found, delimiter=BLANK, quote="", edges=edges)
        rows = cut(text, whole, placed)
        by_place, width = fit(rows)
        # What a ruler shows need not be seen in the cells.
        if by_place > max(best, by_blanks) and (edges is strokes or _holds_values(rows, width)):
            return placed
    if by_blanks < 1.0 and _cuts_alike(cut(text, whole, found)):
        return found  # cells of words that hold delimiters, separated by one all the same
    return blanks if by_blanks > best else found


def _cuts_alike(rows: Sequence[Record]) -> bool:
    """Return whether a mark cuts all rows into as many cells, several, and not all quotations."""
    return (
        len({len(row) for _, row in rows}) == 1
        and modal_width(rows) > 1
        and not all(any(map(_is_half_quoted, row)) for _, row in rows)
    )


def _has_long_names(text: str, rows: Sequence[Record], width: int) -> bool:
    """Return whether names have several words and are separated by two or more blanks."""
    if len(rows[0][1]) <= width or any(len(row) != width for _, row in rows[1:]):
        return False
    return len(re.split(r"\s{2,}", text.split("\n")[rows[0][0] - 1].strip())) == width


def _by_rare_marks(text: str, whole: bool, found: Dialect) -> Dialect:
    """Take a mark that cuts nearly all rows alike, where no usual one cuts any."""
    for mark in _RARE:
        rare = dataclasses.replace(found, delimiter=mark)
        rows = cut(text, whole, rare)
        share, width = fit(rows)
        if share >= _SURE and len(rows) >= _LEAST_LINES and _holds_values(rows, width):
            return rare
    return found


def _holds_values(rows: Sequence[Record], width: int) -> bool:
    """Return whether at least one column is mostly of values: prose has none."""
    regular = [row for _, row in rows if len(row) == width]
    return any(
        sum(is_value(row[k]) for row in regular) > len(regular) / 2 for k in range(max(width, 0))
    )


def _edges(text: str) -> tuple[int, ...]:
    """Find where columns begin that are blank above and below each other; none if that is few."""
    lines = [line.rstrip() for line in text.split("\n") if line.strip()][:500]
    for titles in range(min(6, max(0, len(lines) - _LEAST_LINES))):
        body = lines[titles:]
        if any("\t" in line for line in body):
            return ()
        length = max(map(len, body))
        padded = [line.ljust(length) for line in body]
        used = [
            any(column) for column in zip(*(map(_is_ink, line) for line in padded), strict=True)
        ]
        starts = [k for k in range(length) if used[k] and (k == 0 or not used[k - 1])]
        # Words of a cell may all end at one place: there is no name above the next ones.
        ends = [*starts[1:], length]
        places = [
            (i, j)
            for i, j in zip(starts, ends, strict=True)
            if padded[0][i:j].strip() or i == starts[0]
        ]
        edges, is_one_name = list[int](), False
        for i, j in places:
            edges += [] if is_one_name else [i]
            # Below the first words of a name there may be nothing.
            is_one_name = padded[0][j - 2 : j - 1].strip() != "" and not any(
                line[i:j].strip() for line in padded[1:]
            )
        if len(edges) > 1:
            return (0, *edges[1:])
    return ()


def _is_ink(character: str) -> bool:
    return character != " "


def _quote(text: str, delimiter: str) -> str:
    d = r"\s" if delimiter == BLANK else re.escape(delimiter)
    text = text[:65536]

    def wrapped(quote: str) -> int:
        cell = rf"(?:^|{d}) ?{quote}(?:[^{quote}]|{quote}{quote})*{quote}(?={d}|$)"
        return len(re.findall(cell, text, re.MULTILINE))

    return "'" if wrapped("'") > wrapped('"') and delimiter != "'" else '"'


def _escape(text: str, whole: bool, dialect: Dialect) -> str:
    """Return a backslash if fewer rows are astray where it protects marks inside cells."""
    marks = (
        [dialect.quote] if dialect.delimiter == BLANK else [dialect.quote, dialect.delimiter, "\n"]
    )
    if dialect.edges or not any(f"\\{mark}" in text for mark in filter(None, marks)):
        return ""
    ways = [dataclasses.replace(dialect, escape=escape) for escape in ("\\", "")]
    rows = [cut(text, whole, way) for way in ways]
    width = modal_width(rows[0])
    astray = []
    for way, some in zip(ways, rows, strict=True):
        cutter = Cutter(way)
        collections.deque(cutter.rows(text.split("\n")), maxlen=0)
        astray.append((sum(len(row) != width for _, row in some), cutter.irregular))
    protected, plain = astray
    return "\\" if width > 1 and (protected < plain and protected[1] <= plain[1]) else ""


def find_comments(text: str, dialect: Dialect) -> tuple[str, list[int]]:
    """Find what remarks between the rows begin with, and their lines, counted from 1.

    No row of the table may begin so, but the one with the names.
    """
    lines = text.split("\n")
    width = modal_width(cut(text, False, dialect))
    ruled = [line.lstrip()[:3] for line in lines if _RULED.fullmatch(line)]
    for mark in (*_COMMENTS, *ruled[:1]):
        if mark == dialect.delimiter:
            continue
        marked = [k for k, line in enumerate(lines) if line.lstrip().startswith(mark)]
        marked = [k for k in marked if k >= dialect.skip]
        if not marked or (len(marked) > len(lines) / 2 and len(marked) > len(lines) - 3):
            continue
        plain = dataclasses.replace(dialect, skip=0)
        rest = [k for k in marked if not _is_leading(k, marked, lines)]
        regular = [k for k in rest if len(_only(lines[k], plain)) == width]
        if not regular or mark in ruled:
            return mark, [k + 1 for k in marked]
    return "", []


def _is_leading(k: int, marked: Sequence[int], lines: Sequence[str]) -> bool:
    known = set(marked)
    return all(j in known or not lines[j].strip() for j in range(k))


def _only(line: str, dialect: Dialect) -> Row:
    return next((cells for _, cells in Cutter(dialect).rows([line])), [])


def uncommented(line: str, mark: str) -> str:
    """Return a line of remarks without what it begins with."""
    bare = line.lstrip().removeprefix(mark).lstrip(mark[:1] + " ")
    return _NAMES_COME.sub("", bare, count=1) if _NAMES_COME.match(bare) else bare
