"""Detect delimiter, quotation mark, escape and comment mark.

Every way to separate cells is a candidate, scored by the share of rows that it cuts into equally
many cells which hold no other delimiter.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import re
from collections.abc import Callable, Sequence

from aucstudio.project.data.text.cutter import Cutter
from aucstudio.project.data.text.dialect import BLANK, DELIMITERS, Dialect, Row
from aucstudio.project.data.text.numerals import BLANKS, formats

Record = tuple[int, Row]

# Lines that are not cut by the delimiter: comments, rules, and counts of rows.
_RULE = r"[ \t|+:=,;_-]*(?:---|===|___)[ \t|+:=,;_-]*"
_OTHER_LINES = re.compile(
    rf"^[ \t]*(#|%|//).*$|^{_RULE}$|^[ \t]*[(\[][0-9]+ rows?\b.*[)\]][ \t]*$", re.MULTILINE
)
_RULED = re.compile(_RULE)
# A rule with a stroke above each column.
_STROKES = re.compile("^ *(?:-+|=+|_+)(?: +(?:-+|=+|_+))+ *$", re.MULTILINE)
# Delimiters of databases, and those that are tried where no usual one separates cells.
_CONTROLS, _RARE = "\x01\x1f", ":~^&\xa6\xa7\uff0c\uff1b"
_NAMES_FOLLOW = re.compile(r"(?:fields|columns|names|header)(?::\s*|\t)|types\t", re.IGNORECASE)
_COMMENTS = ("#", "%", "//", ";", "!")
_VALUE = re.compile(
    r"[\W_]*[0-9][\W_0-9]*(?:[eEdD][+-]?[0-9]+)?[\W_]*|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z?"
)
# Score from which cells are not looked for by their places; least score of a rare delimiter.
_LIKELY, _SURE = 0.75, 0.9
_MOST_CHARACTERS = 1 << 18
_FEWEST_LINES, _FEW, _LAYOUT_LINES, _MOST_TITLES = 3, 100, 500, 6
_MARKS = frozenset(DELIMITERS)
_INDIAN = re.compile(r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]*)?")


def is_value(cell: str) -> bool:
    """Return whether a cell may be a number, an amount or a date: digits, and no words."""
    return _VALUE.fullmatch(cell) is not None


def is_number(cell: str) -> bool:
    """Return whether a cell is a number in any format."""
    return any(form.matches(cell) for form in formats("."))


def cut_rows(text: str, whole: bool, dialect: Dialect, width: int = 0) -> list[Record]:
    """Cut the first lines of a file into rows of stripped cells, with their lines.

    Parameters
    ----------
    text : str
    whole : bool
        Whether there are no more lines. Otherwise the last row may be incomplete and is left out,
        with all its lines; unless these are rows by themselves, as below a quotation mark that is
        never closed.
    dialect : Dialect
    width : int
        See :class:`~aucstudio.project.data.text.cutter.Cutter`.
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
    """Return the most frequent number of cells; one cell counts only if all rows have one."""
    counts = collections.Counter(len(row) for _, row in rows)
    return max(counts, key=lambda width: (width > 1, counts[width], width), default=0)


class _Candidate:
    """A way to separate cells, and the rows that it gives."""

    def __init__(self, text: str, whole: bool, dialect: Dialect) -> None:
        self.dialect, self.rows = dialect, cut_rows(text, whole, dialect)
        self.width = modal_width(self.rows)
        self.regular = [row for _, row in self.rows if len(row) == self.width > 1]

    @functools.cached_property
    def score(self) -> float:
        """The share of rows of the usual width, times the share of their cells that are whole."""
        if not self.regular:
            return 0.0
        clean = sum(_is_whole(cell) for row in self.regular for cell in row)
        return len(self.regular) / len(self.rows) * clean / (self.width * len(self.regular))

    @property
    def cuts_all(self) -> bool:
        """Whether all rows have equally many cells, and not all rows halves of quotations."""
        is_uniform = 0 < len(self.rows) == len(self.regular)
        return is_uniform and not all(any(map(_is_half_quoted, row)) for row in self.regular)

    @property
    def numbers(self) -> int:
        """How many of the first cells are numbers."""
        return sum(is_number(cell) for _, row in self.rows[:_FEW] for cell in row[:_FEW])

    @property
    def has_values(self) -> bool:
        """Whether there are several rows, and a column is mostly values: prose has none."""
        columns = zip(*self.regular, strict=True)
        half = len(self.regular) / 2
        return len(self.rows) >= _FEWEST_LINES and any(
            sum(map(is_value, column)) > half for column in columns
        )


def _is_whole(cell: str) -> bool:
    """Return whether a cell holds no delimiter and no half of a quotation."""
    if not _MARKS.isdisjoint(cell):
        return is_number(cell) or _INDIAN.fullmatch(cell) is not None
    return not _is_half_quoted(cell)


def _is_half_quoted(cell: str) -> bool:
    return cell.count('"') % 2 == 1 and BLANK in cell


def detect_separators(text: str, whole: bool, given: dict[str, str], skip: int) -> Dialect:
    """Detect delimiter, quotation mark, escape and places of columns; some may be ``given``."""
    text, whole = (
        (text, whole) if len(text) <= _MOST_CHARACTERS else (text[:_MOST_CHARACTERS], False)
    )
    strokes = _STROKES.search(text)
    text = _OTHER_LINES.sub("", text)

    def dialect(mark: str, edges: tuple[int, ...] = ()) -> Dialect:
        quote = "" if edges else given.get("quote", _quote(text, mark))
        return Dialect(delimiter=mark, quote=quote, skip=skip, edges=edges)

    def candidate(mark: str, edges: tuple[int, ...] = ()) -> _Candidate:
        return _Candidate(text, whole, dialect(mark, edges))

    if "delimiter" in given:
        found = dialect(given["delimiter"])
    else:
        usual = [candidate(mark) for mark in DELIMITERS + _CONTROLS if mark in text]
        top = max(((one.score, one.width) for one in usual), default=(0.0, 0))
        alike = [one for one in usual if (one.score, one.width) == top]
        # Of equals, the one that separates numbers from words, then the first.
        best = max(alike, key=lambda one: one.numbers) if top[0] else candidate(DELIMITERS[0])
        if best.score < 1:
            best = _best_of(best, candidate, text, strokes[0] if strokes else "")
        found = best.dialect
    found.check()
    return dataclasses.replace(found, escape=_escape(text, whole, found))


def _best_of(
    usual: _Candidate, candidate: Callable[..., _Candidate], text: str, strokes: str
) -> _Candidate:
    """Return the best of the usual delimiter, runs of blanks, places, and rare delimiters."""
    blanks = candidate(BLANK)
    # A delimiter that cuts all rows alike may be next to others in cells of words.
    is_outvoted = usual.cuts_all and blanks.score < 1
    # Tabs are blanks, too: lines below the table may have as many words as it has columns.
    is_tabbed = usual.dialect.delimiter == "\t" and len(usual.regular) >= _LIKELY * len(usual.rows)
    others = [blanks] if blanks.has_values and not (is_outvoted or is_tabbed) else []
    if strokes:
        # The first cell begins with the line.
        _, *starts = (stroke.start() for stroke in re.finditer(r"\S+", strokes))
        others.append(candidate(BLANK, (0, *starts)))
    is_likely = max(one.score for one in [usual, *others]) >= _LIKELY
    if (not is_likely or _has_long_names(text, blanks)) and (edges := _edges(text)):
        placed = candidate(BLANK, edges)
        others += [placed] if placed.has_values else []
    best = max([usual, *others], key=lambda one: one.score)
    if not usual.score and best.dialect.delimiter != BLANK:
        rare = (candidate(mark) for mark in _RARE)
        best = next((one for one in rare if one.score >= _SURE and one.has_values), best)
    return best


def _has_long_names(text: str, blanks: _Candidate) -> bool:
    """Return whether only names have several words, and wide gaps between them."""
    (line, names), *others = blanks.rows
    if len(names) <= blanks.width or any(len(row) != blanks.width for _, row in others):
        return False
    return len(re.split(r"\s{2,}", text.split("\n")[line - 1].strip())) == blanks.width


def _edges(text: str) -> tuple[int, ...]:
    """Return where columns begin that have blanks in front in all rows; empty if there are none."""
    lines = [line.rstrip() for line in text.split("\n") if line.strip()][:_LAYOUT_LINES]
    for titles in range(min(_MOST_TITLES, max(0, len(lines) - _FEWEST_LINES))):
        body = lines[titles:]
        if any("\t" in line for line in body):
            return ()
        edges = _starts(body)
        if len(edges) > 1:
            return () if titles and _cuts_words(lines[titles - 1], edges) else edges
    return ()


def _starts(body: Sequence[str]) -> tuple[int, ...]:
    """Return where cells begin, from the columns of characters that are blank in all lines."""
    length = max(map(len, body))
    padded = [line.ljust(length) for line in body]
    used = [any(c != BLANK for c in column) for column in zip(*padded, strict=True)]
    starts = [k for k in range(length) if used[k] and (k == 0 or not used[k - 1])]
    # Where words of a cell all end at one place, the next ones have no name above.
    places = [
        (i, j)
        for i, j in zip(starts, [*starts[1:], length], strict=True)
        if padded[0][i:j].strip() or i == starts[0]
    ]
    edges, is_one_name = list[int](), False
    for i, j in places:
        edges += [] if is_one_name else [i]
        # Below the first words of a name there may be nothing.
        ends_in_ink = padded[0][j - 2 : j - 1].strip() != ""
        is_one_name = ends_in_ink and not any(line[i:j].strip() for line in padded[1:])
    return (0, *edges[1:])


def _cuts_words(names: str, edges: Sequence[int]) -> bool:
    """Return whether most edges are within words of the names."""
    cuts = sum(names[edge - 1 : edge + 1].strip(BLANK)[1:] != "" for edge in edges[1:])
    return 2 * cuts > len(edges) - 1


def _quote(text: str, delimiter: str) -> str:
    d = r"\s" if delimiter == BLANK else re.escape(delimiter)
    text = text[:65536]

    def quoted(quote: str) -> int:
        cell = rf"(?:^|{d}) ?{quote}(?:[^{quote}\\]|\\.|{quote}{quote})*{quote}(?={d}|$)"
        return len(re.findall(cell, text, re.MULTILINE))

    return "'" if quoted("'") > quoted('"') and delimiter != "'" else '"'


def _escape(text: str, whole: bool, dialect: Dialect) -> str:
    """Return a backslash if fewer rows are irregular where it protects marks inside cells."""
    marks = (
        [dialect.quote] if dialect.delimiter == BLANK else [dialect.quote, dialect.delimiter, "\n"]
    )
    if dialect.edges or not any(f"\\{mark}" in text for mark in filter(None, marks)):
        return ""
    width, irregular = 0, list[tuple[int, int]]()
    for escape in ("\\", ""):
        way = dataclasses.replace(dialect, escape=escape)
        rows = cut_rows(text, whole, way)
        width = width or modal_width(rows)
        cutter = Cutter(way)
        collections.deque(cutter.rows(text.split("\n")), maxlen=0)
        irregular.append((sum(len(row) != width for _, row in rows), cutter.irregular))
    protected, plain = irregular
    return "\\" if width > 1 and protected < plain and protected[1] <= plain[1] else ""


def detect_comments(text: str, dialect: Dialect) -> tuple[str, list[int]]:
    """Detect what comments between the rows begin with, and their lines, counted from 1.

    No row of the table but the names may begin with it.
    """
    lines = text.split("\n")
    rules = [line.lstrip()[:3] for line in lines if _RULED.fullmatch(line)]
    plain = dataclasses.replace(dialect, skip=0)
    for mark in (*_COMMENTS, *rules[:1]):
        if mark == dialect.delimiter:
            continue
        marked = [k for k, line in enumerate(lines) if line.lstrip().startswith(mark)]
        marked = [k for k in marked if k >= dialect.skip]
        if not marked or (len(marked) > len(lines) / 2 and len(marked) > len(lines) - 3):
            continue
        rows = {k for k, line in enumerate(lines) if line.strip()}.difference(marked)
        first_row = min(rows, default=len(lines))
        width = modal_width(cut_rows(text, False, dialect))
        below = (lines[k] for k in marked if k > first_row)
        widths = (len(cells) for line in below for _, cells in Cutter(plain).rows([line]))
        if mark in rules or not any(count == width for count in widths):
            return mark, [k + 1 for k in marked]
    return "", []


def uncommented(line: str, mark: str) -> str:
    """Return a comment without its mark, and without words such as "Fields:" before names."""
    bare = line.lstrip().removeprefix(mark).lstrip(mark[:1] + " ")
    return _NAMES_FOLLOW.sub("", bare, count=1) if _NAMES_FOLLOW.match(bare) else bare
