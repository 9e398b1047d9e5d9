"""Rows outside the table: totals, headings, remarks, further tables."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import re
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from aucstudio.project.data.text.dialect import DELIMITERS, Dialect, Row
from aucstudio.project.data.text.numerals import BLANKS
from aucstudio.project.data.text.separators import Record, cut, is_value

_TOTAL = re.compile(
    r"(grand |sub)?-?totals?( general| g\u00e9n\u00e9ral)?|sums?|summe|gesamt|insgesamt|somme|suma|"
    r"totale|averages?|means?|avg\.?|mittelwert|\u03a3|\u2211|median|"
    r"st(andar)?d\.? ?dev(iation)?\.?|(grand )?total ?[:\u2013-] .+",
)
_MEAN = re.compile(r"averages?|means?|avg\.?|mittelwert|median")
# Such are names and codes too, unless a mean stands beside.
_BESIDE = re.compile(r"min(imum)?|max(imum)?|sd|std\.?|count|anzahl|n")
_SUBTOTAL = re.compile(
    r"(?P<thing>.+) (sub-?)?(totals?|result|ergebnis)|(sub-?|zwischen)(total|summe)|"
    r"(sub-?)?total ?[:\u2013-] .+"
)
# The same behind what it is of.
_RESULT = re.compile(r"(sub-?)?totals?|result|ergebnis|r\u00e9sultat|summe|somme|suma|sum")
# Such may be levels too, unless a gap stands beside.
_ALL = re.compile(r"overall|all|(all|alle|toutes|tous les|todos los|todas las)( [^\W\d_]+){1,2}")
_MOST_WORDS = 8
# Above what may be a summary there are so many rows.
_FEWEST_ABOVE = 3
# Of the rows below headings, so many have no gaps.
_FULL = 0.9
# What programs say below a table that they print.
_COUNTED = re.compile(
    r"[(\[]?[0-9][0-9.,' ]*((row|record|result)(s|\(s\))?|zeilen|datens\u00e4tze|"
    r"lignes|filas|registros)"
    r"( (selected|affected|returned|fetched|retrieved|found|in set|x [0-9]+ columns))?"
    r"( ?\([0-9.,]+ ?(s|sec)\.?\))?[)\]]?[.:]?|"
    r"\W*end of (report|file|list|data|table|extract)\W*"
)
_NOTE = re.compile(
    r"n ?= ?[0-9]+|"
    r"(notes?|sources?|remarks?|footnotes?|legend|disclaimer|copyright|quelle|anmerkung(en)?|"
    r"hinweise?|stand|fuentes?|notas?|fonte|bron|k\u00e4lla|remarques?) ?:.*|"
    r"[*\u2020\u00a9\u203b] ?\w.*|"
    r"(\u6ce8|\u6ce8\u8a18|\u5099\u8003|\u51fa\u5178|\u8cc7\u6599|\u6765\u6e90|"
    r"\u6570\u636e\u6765\u6e90|\uc8fc|\uc790\ub8cc) ?[)\uff09:\uff1a].*"
)
_PROMPT = re.compile(r"(?:sql|mysql|mariadb|sqlite|hive|beeline|[\w-]+=[#>])> ?|>>> |\. [a-z]")
# Days with a time have blanks too, but no letters.
_PROSE = re.compile(r"(?=.*[^\W\d_]).*\w\W*[\s=:]\W*\w.*|end|eof|confidential")
_HEAD = frozenset({"hdr", "header", "h", "fhdr"})
_TRAILER = frozenset({"trl", "tlr", "trailer", "ftr", "eof"})
# What is a trailer below such records only.
_SHORT_TRAILER, _SHORT_DETAIL = frozenset({"t", "z"}), frozenset({"d"})


TOTALS = "a row of totals"
NOTE = "a comment below the table"
HEADING = "a heading of the rows below it"

# Rows at the end among which totals are looked for, and remarks; things that may have sums.
_LAST_TOTALS, LAST, _MOST_THINGS = 8, 10, 10_000


@dataclasses.dataclass(frozen=True)
class Judged:
    """A row below the names: its first line, its cells, and why it is left out, if it is.

    ``is_astray`` where quotation marks in it are not used as they should be, ``is_apart`` where a
    blank line parts it from the rows above.
    """

    line: int
    cells: Row
    reason: str = ""
    is_astray: bool = False
    is_apart: bool = False


def without_footer(rows: Iterator[Judged]) -> Iterator[Judged]:
    """Leave out totals and remarks at the end, subtotals, the record that ends it, empty rows."""
    last: collections.deque[Judged] = collections.deque()
    # What begins with such a word further above is no total, but a level.
    levels, things = set[str](), set[str]()
    for row in _filled(rows):
        if not row.reason and is_subtotal(row.cells, things):
            row = dataclasses.replace(row, reason=TOTALS)
        elif len(things) < _MOST_THINGS:
            things.add(word_of(row.cells))
        last.append(row)
        if len(last) > LAST:
            yield last.popleft()
        if len(last) > _LAST_TOTALS:
            row = last[-1 - _LAST_TOTALS]
            levels |= {word_of(row.cells)} if is_total(row.cells) and not row.reason else set()
    said = collections.Counter(word_of(row.cells) for row in last if is_total(row.cells))
    levels |= {word for word, count in said.items() if count > 1}
    beside = any(is_mean(row.cells) for row in last)
    below = {row.line for row in _summary_below([*last])}
    ended = True
    judged: list[Judged] = []
    while last:
        row = last.pop()
        is_sum = is_total(row.cells, beside=beside) and word_of(row.cells) not in levels
        if is_sum or (last and not judged and is_trailer(row.cells, last[-1].cells)):
            why = TOTALS
        else:
            why = NOTE if row.line in below or is_note(row.cells, is_apart=row.is_apart) else ""
        ended = ended and bool(row.reason or why)
        judged.append(dataclasses.replace(row, reason=row.reason or why) if ended else row)
    yield from reversed(judged)


def _filled(rows: Iterator[Judged]) -> Iterator[Judged]:
    """Pass over rows of nothing; mark those that a blank line or such a row parts from the rows."""
    end, is_apart = 0, False
    for row in rows:
        if any(cell.strip(BLANKS) for cell in row.cells):
            is_apart = (is_apart and len(list(filter(None, row.cells))) == 1) or 0 < end < row.line
            end = row.line + 1 + sum(cell.count("\n") for cell in row.cells)
            yield dataclasses.replace(row, is_apart=is_apart)


def is_total(cells: Sequence[str], *, beside: bool = False) -> bool:
    """Return whether a row says that it sums up others, and has gaps or numbers beside that.

    ``beside`` where a mean stands beside.
    """
    first, others = _told(cells)
    if _TOTAL.fullmatch(first) or (beside and _BESIDE.fullmatch(first)):
        return len(others) + 1 < len(cells) or all(map(is_value, others))
    if _ALL.fullmatch(first):
        return 0 < len(others) < len(cells) - 1 and all(map(is_value, others))
    # Where cells are cut by their places, a word may be cut too.
    said = [between.join([first, *others]).lower() for between in (" ", "")]
    is_counted = len(others) < _MOST_WORDS and any(map(_COUNTED.fullmatch, said))
    return is_subtotal(cells) or is_counted


def is_mean(cells: Sequence[str]) -> bool:
    """Return whether a row says that it is the mean of others."""
    return _MEAN.fullmatch(_told(cells)[0]) is not None and is_total(cells)


def is_subtotal(cells: Sequence[str], above: Container[str] = ()) -> bool:
    """Return whether a row sums up those of one thing.

    It has gaps where these have cells; or else numbers, if the thing is what rows ``above`` begin
    with.
    """
    first, others = _told(cells)
    if (found := _SUBTOTAL.fullmatch(first)) is None:
        return _is_result(cells)
    return 0 < len(others) < len(cells) - 1 or (
        (found["thing"] or "") in above and all(map(is_value, others))
    )


def _is_result(cells: Sequence[str]) -> bool:
    """Return whether a row says before its first gap that it sums up, and has numbers after it."""
    gap = next((k for k, cell in enumerate(cells) if not cell.strip(BLANKS)), 0)
    if gap < 2 or not _RESULT.fullmatch(cells[gap - 1].strip(BLANKS).lower()):
        return False
    filled = [stripped for cell in cells[gap:] if (stripped := cell.strip(BLANKS))]
    return bool(filled) and all(map(is_value, filled))


def is_note(cells: Sequence[str], *, is_apart: bool) -> bool:
    """Return whether a row is a remark below a table: words in the first cell, and nothing else.

    Of those that a blank line parts from the rows any sentence is one; so is what was typed at the
    prompt of a program.
    """
    first, others = _told(cells)
    if is_apart and _PROMPT.match(" ".join([first, *others])):
        return True
    if len(cells) < 3 or others:
        return False
    return bool(_NOTE.fullmatch(first) or (is_apart and _PROSE.fullmatch(first)))


def _summary_below(rows: Sequence[Judged]) -> Sequence[Judged]:
    """Return the last rows that a blank line parts from the others, if they fill half their cells.

    A summary stands so below a table; the rows above have to be fuller.
    """
    ends = [row.line + sum(cell.count("\n") for cell in row.cells) for row in rows]
    gap = next((k for k, row in enumerate(rows[1:], 1) if row.line > ends[k - 1] + 1), 0)
    is_half = [_is_half(row.cells) for row in rows]
    is_summary = gap >= _FEWEST_ABOVE and all(is_half[gap:]) and not any(is_half[:gap])
    return rows[gap:] if is_summary else ()


def _is_half(cells: Sequence[str]) -> bool:
    """Return whether at most half of three cells and more are filled, the first with words."""
    filled = sum(bool(cell.strip(BLANKS)) for cell in cells)
    return len(cells) > 2 and 2 * filled <= len(cells) and not is_value(cells[0])


def is_heading(cells: Sequence[str]) -> bool:
    """Return whether a row has words in its first cell, and nothing else."""
    first, others = _told(cells)
    return not others and bool(first) and bool(cells[0].strip(BLANKS)) and not is_value(first)


def have_headings(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows with a first cell alone are headings: the first one, and others.

    They differ in form from the first cells of all other rows, of which hardly any has gaps.
    """
    heads = [row[0] for row in rows if is_heading(row)]
    if len(heads) < 2 or len(rows[0]) < 3 or not is_heading(rows[0]):
        return False
    others = [row for row in rows if not is_heading(row)]
    follows = [is_heading(a) and is_heading(b) for a, b in itertools.pairwise(rows)]
    if len(others) < 2 * len(heads) or any(follows) or len(set(heads)) < len(heads):
        return False
    full = sum(all(row[1:]) for row in others)
    forms = {_form(row[0]) for row in others}
    return full >= _FULL * len(others) and not any(_form(head) in forms for head in heads)


def _form(cell: str) -> str:
    """Return what a cell looks like: a word for letters, a 0 for digits."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", cell))


def word_of(cells: Sequence[str]) -> str:
    """Return what a row would say if it summed up others."""
    return _told(cells)[0]


def is_trailer(cells: Sequence[str], before: Sequence[str]) -> bool:
    """Return whether a row is the record that ends a file, the one ``before`` it being of data."""
    first, above = _kind(cells), _kind(before)
    return first != above and (
        first in _TRAILER or (first in _SHORT_TRAILER and above in _SHORT_DETAIL)
    )


def is_head_record(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row is a header record: those below are of one kind."""
    kinds = [*map(_kind, rows)]
    below = kinds[1:-1] if len(kinds) > 3 else kinds[1:]
    return kinds[0] in _HEAD and len(below) > 1 and set(below) == {below[0]} != {kinds[0]}


def _kind(cells: Sequence[str]) -> str:
    return cells[0].strip(BLANKS).lower() if cells else ""


def _told(cells: Sequence[str]) -> tuple[str, list[str]]:
    filled = [stripped for cell in cells if (stripped := cell.strip(BLANKS))]
    return (filled[0].lower().rstrip(": "), filled[1:]) if filled else ("", [])


_LEAST_ROWS = 3
_MOST_TITLES = 2
_SHOWN = 4


@dataclasses.dataclass(frozen=True)
class Second:
    """Where another table begins below the one that is read: its line, and its names."""

    line: int
    names: tuple[str, ...]

    @property
    def told(self) -> str:
        shown = ", ".join(self.names[:_SHOWN]) + (" ..." if len(self.names) > _SHOWN else "")
        return (
            f"another table begins in line {self.line}, with the names {shown}: it and "
            "everything below it are left out; save it in a separate file to read it"
        )


def find_second(text: str, dialect: Dialect) -> Second | None:
    """Find a blank line with a row of names below it, in a file that is held as a whole.

    The table above has to be as long as the other one: else what is above are titles.
    """
    lines = text.split("\n")
    if not any(map(_is_blank, lines[:-1])):
        return None
    rows = cut(text, whole=True, dialect=dataclasses.replace(dialect, skip=0))
    blocks = [*_blocks(rows, lines)]
    long = (k for k, block in enumerate(blocks) if len(block) >= _LEAST_ROWS)
    first = next(long, len(blocks))
    above = _table(blocks[first]) if first < len(blocks) else None
    for block in blocks[first + 1 :] if above else ():
        below = _table(block)
        if below and above and len(above) >= len(below) and _differs(above, below):
            return Second(block[0][0], tuple(below[0][1]))
    return None


def cut_off(path: Path, line: int, folder: Path) -> Path:
    """Write a UTF-8 file again without a line and those below it."""
    target = folder / "first.csv"
    with path.open("rb") as file, target.open("wb") as copy:
        copy.writelines(itertools.islice(file, line - 1))
    return target


def _is_blank(line: str) -> bool:
    return not line.strip(BLANKS + DELIMITERS)


def _blocks(rows: Sequence[Record], lines: Sequence[str]) -> Iterator[list[Record]]:
    """Split rows at blank lines; what is no row of several cells opens no block."""
    block: list[Record] = []
    for line, row in rows:
        if not any(row):
            continue
        if block and _is_blank(lines[line - 2]):
            yield block
            block = []
        block.append((line, row))
    if block:
        yield block


def _table(block: Sequence[Record]) -> Sequence[Record] | None:
    """Return names and rows below each other, without titles; None where there are none."""
    for place in range(min(_MOST_TITLES, len(block) - 1)):
        names, under = block[place][1], block[place + 1][1]
        is_named = len(names) > 1 and all(names) and len(set(names)) == len(names)
        if is_named and not any(map(is_value, names)):
            return block[place:] if len(under) == len(names) and any(map(is_value, under)) else None
    return None


def _differs(above: Sequence[Record], below: Sequence[Record]) -> bool:
    """Return whether names are those of another table, and no row of words of the one above."""
    names = below[0][1]
    if len(names) != len(above[0][1]):
        return True
    rows = [row for _, row in above[1:] if len(row) == len(names)]
    known = any(name in {row[k] for row in rows} for k, name in enumerate(names))
    spoils = any(is_value(rows[0][k]) for k in range(len(names))) if rows else False
    return names != above[0][1] and not known and spoils
