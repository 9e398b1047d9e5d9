"""Tables written as lines of names and values, folded blocks or pages."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from aucstudio.project.data.text.container_markup import Rewrite, written

_KEYED = re.compile(
    r"(?:- +)?([^\W\d][^:=,;|\t{}\[\]\"]{0,60}?) *(:(?=\s|$)|=(?!=)|\|(?= |$)) *(.*)"
)
_STARRED = re.compile(r"\*{3,}.*\*{3,}|-{3,}.*|-\[ RECORD [0-9]+ \]-*")
_LEAST_RECORDS = 3


def find_keyed(lines: Sequence[str]) -> tuple[Rewrite, str] | None:
    """Find lines of names and values whose names come again in the same order."""
    found = [_KEYED.fullmatch(line) for line in lines if not _STARRED.fullmatch(line)]
    names = [one[1] for one in found if one is not None]
    # Bars part cells too, where no line stands between the rows.
    if len(found) == len(lines) and any(one and one[2] == "|" for one in found):
        return None
    if len(names) < len(found) or len(names) < 2 * _LEAST_RECORDS:
        return None
    cycle = names[: names.index(names[0], 1)] if names[0] in names[1:] else []
    if len(cycle) < 2 or len(set(cycle)) < len(cycle) or len(names) < _LEAST_RECORDS * len(cycle):
        return None
    if any(name != cycle[k % len(cycle)] for k, name in enumerate(names)):
        return None
    return lambda rows: _rewritten(rows, cycle), (
        "each row was written as lines of names and values"
    )


def _rewritten(lines: Iterable[str], names: Sequence[str]) -> Iterator[str]:
    """Write a row in the line that it begins in; the names in the first of all."""
    values: dict[str, str] = {}
    taken, is_first = 0, True
    for line in lines:
        bare = line.strip()
        found = _KEYED.fullmatch(bare)
        name = found[1] if found else ""
        if values and (name in values or not bare or _STARRED.fullmatch(bare)):
            yield from _record(names, values, taken, is_first=is_first)
            values, taken, is_first = {}, 0, False
        if found and name in names:
            values[name] = found[3]
            taken += 1
        else:
            # What is no such line is no row; it may end one or stand in it. One cell is told.
            yield from written([] if _STARRED.fullmatch(bare) else [bare], 1)
    if values:
        yield from _record(names, values, taken, is_first=is_first)


def _record(
    names: Sequence[str], values: dict[str, str], lines: int, *, is_first: bool
) -> Iterator[str]:
    if is_first:
        yield from written(names, 1)
        lines -= 1
    yield from written([values.get(name, "") for name in names], max(lines, 1))


_NAME = r"([^\W\d][\w.@/\[\]-]{0,60})"
# By what stands between the cells: a run of blanks, or a mark; LTSV has colons.
_BY_BLANKS = re.compile(rf'{_NAME}=("(?:[^"\\]|\\.)*+"|[^\s"]*)(?:\s+|$)')
_CELLS = {
    "\t": re.compile(rf"{_NAME}[:=](.*)"),
    **{mark: re.compile(rf"\s*{_NAME}\s*=(.*)") for mark in ",;|"},
}
# Before the cells with names there may be a few without: when something was logged, and by whom.
_BEFORE, _MOST_BEFORE = re.compile(r'[^\s="]+'), 4
_BRACE = "{"
_MARKS = (_BRACE, "\t", "|", ";", ",", "")
_LEAST_LINES, _LEAST_CELLS = 3, 2
# A name is in so many of the lines at least, on average; else these are no cells of a table.
_LEAST_FILLED = 0.3

Pairs = dict[str, str]


def find_labelled(lines: Sequence[str]) -> tuple[Rewrite, str] | None:
    """Find lines of cells such as ``host:a`` between tabs, or ``status=200`` between blanks."""
    if len(lines) < _LEAST_LINES:
        return None
    mark = next((mark for mark in _MARKS if _are_labelled(lines, mark)), None)
    if mark is None:
        return None
    told = "each cell contains its column name: names are taken from the cells"
    return lambda rows: _with_names(rows, mark), told


def _are_labelled(lines: Sequence[str], mark: str) -> bool:
    names, cells, nameless = dict[str, None](), 0, set[int]()
    for line in lines:
        pairs = _pairs(line, mark)
        if pairs is None or len(pairs) - len(_nameless(pairs)) < _LEAST_CELLS:
            return False
        names |= dict.fromkeys(pairs)
        cells += len(pairs)
        nameless.add(len(_nameless(pairs)))
    return len(nameless) == 1 and cells >= _LEAST_FILLED * len(names) * len(lines)


def _pairs(line: str, mark: str) -> Pairs | None:
    """Return the values of a line by their names; None where something else is in it."""
    if mark == _BRACE:
        return _of_dict(line.strip())
    found = _between_blanks(line) if mark == "" else _between_marks(line, mark)
    return None if found is None or len(dict(found)) < len(found) else dict(found)


def _of_dict(line: str) -> Pairs | None:
    """Read what Python prints for a record."""
    if line[:1] != "{" or line[-1:] != "}":
        return None
    try:
        record = ast.literal_eval(line)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if not isinstance(record, dict) or not all(isinstance(name, str) for name in record):
        return None
    return {name: "" if value is None else str(value) for name, value in record.items()}


def _nameless(pairs: Pairs) -> list[str]:
    return [name for name in pairs if name[0] == " "]


def _between_blanks(line: str) -> list[tuple[str, str]] | None:
    found, place, bare = list[tuple[str, str]](), 0, line.strip()
    for word in bare.split()[:_MOST_BEFORE]:
        if not _BEFORE.fullmatch(word):
            break
        found.append((f" {len(found) + 1}", word))
        place = bare.index(word, place) + len(word)
    place += len(bare[place:]) - len(bare[place:].lstrip())
    while place < len(bare):
        pair = _BY_BLANKS.match(bare, place)
        if pair is None:
            return None
        found.append((pair[1], _unquoted(pair[2])))
        place = pair.end()
    return None if found and found[-1][0][0] == " " else found


def _between_marks(line: str, mark: str) -> list[tuple[str, str]] | None:
    cells = [_CELLS[mark].fullmatch(cell) for cell in line.strip("\r\n").split(mark) if cell]
    if None in cells:
        return None
    return [(cell[1], _unquoted(cell[2].strip())) for cell in cells if cell]


def _unquoted(value: str) -> str:
    if len(value) < 2 or not value[0] == value[-1] == '"':
        return value
    return re.sub(r"\\(.)", r"\1", value[1:-1])


def _with_names(lines: Iterable[str], mark: str) -> Iterator[str]:
    """Write the names of all lines, which are walked over twice, and then their values."""
    names: dict[str, None] = {}
    for line in lines:
        names |= dict.fromkeys(_pairs(line, mark) or ())
    yield from written([name.replace(" ", "c") for name in names], 1)
    for line in lines:
        pairs = _pairs(line, mark)
        # What is no such line becomes one cell, and is told as a row that cannot be read.
        cells = [pairs.get(name, "") for name in names] if pairs else [line.strip()]
        yield from written(cells, 1)


Row = list[str]

_LEAST_ROWS = 2
_FOOTER = re.compile(r"\[[0-9]+ rows x [0-9]+ columns\]|\[ reached .*\]")


def find_folded(lines: Sequence[str]) -> tuple[Rewrite, str] | None:
    """Find blocks below each other whose rows begin with the same names, in the same order."""
    rows = [_cells(line) for line in lines if not _FOOTER.fullmatch(line.strip())]
    height = _height(rows)
    if not height or len(rows) < 2 * height:
        return None
    whole = len(rows) // height * height
    if not _are_blocks(rows[:whole], height):
        return None
    return lambda all_lines: _unfolded(all_lines, height), (
        "the columns were printed in several blocks below each other"
    )


def _cells(line: str) -> Row:
    return line.strip().removesuffix("\\").split()


def _height(rows: Sequence[Row]) -> int:
    """Count the lines of a block: its second one begins as the second of the next block does.

    0 where nothing comes again.
    """
    if len(rows) < 2 or not rows[1]:
        return 0
    again = (k for k in range(2, len(rows)) if rows[k][:1] == rows[1][:1])
    return max(0, next(again, 0) - 1)


def _are_blocks(rows: Sequence[Row], height: int) -> bool:
    """Return whether rows have a cell more than the names above, and are called as in each block.

    No name may come again: else the blocks are tables of their own.
    """
    if height <= _LEAST_ROWS:
        return False
    called = [row[0] for row in rows[1:height]]
    for start in range(0, len(rows), height):
        names, *below = rows[start : start + height]
        if any(len(row) != len(names) + 1 for row in below) or [row[0] for row in below] != called:
            return False
    names = [name for start in range(0, len(rows), height) for name in rows[start]]
    return len(set(called)) == len(called) and len(set(names)) == len(names)


def _unfolded(lines: Iterable[str], height: int) -> Iterator[str]:
    """Write all columns in the lines of the first block, if blocks follow to the end."""
    kept = [*lines]
    filled = [k for k, line in enumerate(kept) if line.strip()]
    filled = [k for k in filled if not _FOOTER.fullmatch(kept[k].strip())]
    rows = [_cells(kept[k]) for k in filled]
    if len(rows) % height or not _are_blocks(rows, height):
        yield from kept
        return
    block = {line: k for k, line in enumerate(filled[:height])}
    for line in range(len(kept)):
        if line in block:
            place = block[line]
            starts = range(0, len(rows), height)
            cells = [cell for start in starts for cell in rows[start + place][place > 0 :]]
            yield from written([rows[place][0] if place else "", *cells], 1)
        else:
            yield "\n"


_FEED = "\f"
_DIGITS = re.compile("[0-9]+")
# Lines of a head that may hold the number of the page, or a time.
_TITLES = 3


def find_pages(text: str) -> tuple[Rewrite, str] | None:
    """Find form feeds before lines that are, but for their numbers, the first ones of the file."""
    first, *later = [page.split("\n") for page in text.lstrip(_FEED).split(_FEED)]
    if not later or not all(_common(first, page) for page in later):
        return None
    head = first[: max(_common(first, page) for page in later)]
    return lambda lines: _without_heads(lines, head), "the headers of later pages are left out"


def _common(first: Sequence[str], page: Sequence[str]) -> int:
    """Count the lines that two pages begin with."""
    pairs = enumerate(zip(first, page, strict=False))
    return sum(1 for _ in itertools.takewhile(lambda one: _is_same(one[0], *one[1]), pairs))


def _is_same(place: int, line: str, other: str) -> bool:
    """Return whether a line of a head comes again; in its titles numbers may differ."""
    one, two = line.strip(), other.strip()
    return one == two or (place < _TITLES and _DIGITS.sub("0", one) == _DIGITS.sub("0", two))


def _without_heads(lines: Iterable[str], head: Sequence[str]) -> Iterator[str]:
    """Make the heads of pages but the first blank lines."""
    place = len(head)
    for k, line in enumerate(lines):
        if k and line.startswith(_FEED):
            place = 0
        is_head = place < len(head) and _is_same(place, line, head[place])
        place = place + 1 if is_head else len(head)
        yield "\n" if is_head else line
