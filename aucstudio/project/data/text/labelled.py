"""Lines whose cells say their own names, as logs have them, as comma-separated lines.

Not every line has all names: one that is absent is a missing value.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from aucstudio.project.data.text.markup import Rewrite, written

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
    return lambda rows: _rewritten(rows, mark), told


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


def _rewritten(lines: Iterable[str], mark: str) -> Iterator[str]:
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
