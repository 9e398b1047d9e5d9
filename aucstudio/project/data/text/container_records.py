"""Tables written as lines or cells of names and values, as blocks of columns, or in pages."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from aucstudio.project.data.text.container_markup import Row, write_row

# A line with a name and a value, and the lines between records.
_KEY_LINE = re.compile(
    r"(?:- +)?([^\W\d][^:=,;|\t{}\[\]\"]{0,60}?) *(:(?=\s|$)|=(?!=)|\|(?= |$)) *(.*)"
)
_BETWEEN_RECORDS = re.compile(r"\*{3,}.*\*{3,}|-{3,}.*|-\[ RECORD [0-9]+ \]-*")
_FEWEST_RECORDS = 3


def find_keys(lines: Sequence[str]) -> Row:
    """Return the names of lines of names and values that recur in the same order."""
    found = [_KEY_LINE.fullmatch(line) for line in lines if not _BETWEEN_RECORDS.fullmatch(line)]
    names = [one[1] for one in found if one is not None]
    # Bars separate cells too, unless lines separate the records.
    if len(found) == len(lines) and any(one and one[2] == "|" for one in found):
        return []
    cycle = names[: names.index(names[0], 1)] if names[:1] and names[0] in names[1:] else []
    if len(set(cycle)) < len(cycle) or len(cycle) < 2:
        return []
    is_long = len(names) == len(found) >= _FEWEST_RECORDS * len(cycle)
    is_cyclic = all(name == cycle[k % len(cycle)] for k, name in enumerate(names))
    return cycle if is_long and is_cyclic else []


def join_key_lines(lines: Iterable[str], names: Sequence[str]) -> Iterator[str]:
    """Write each record in the line where it begins, and the names in the first line."""
    values: dict[str, str] = {}
    height, is_first = 0, True

    def record() -> Iterator[str]:
        if values:
            header = write_row(names, 1) if is_first else iter(())
            yield from header
            yield from write_row([values.get(name, "") for name in names], height - is_first)

    for line in lines:
        bare = line.strip()
        found = _KEY_LINE.fullmatch(bare)
        name = found[1] if found else ""
        is_between = _BETWEEN_RECORDS.fullmatch(bare)
        if values and (name in values or not bare or is_between):
            yield from record()
            values, height, is_first = {}, 0, False
        if found and name in names:
            values[name] = found[3]
            height += 1
        else:  # one cell, which is reported as a row that cannot be read
            yield from write_row([] if is_between else [bare], 1)
    yield from record()


_NAME = r"([^\W\d][\w.@/\[\]-]{0,60})"
# Names and values between blanks, or between delimiters; LTSV has colons.
_PAIR_AND_BLANKS = re.compile(rf'{_NAME}=("(?:[^"\\]|\\.)*+"|[^\s"]*)(?:\s+|$)')
_PAIRS = {
    "\t": re.compile(rf"{_NAME}[:=](.*)"),
    **{mark: re.compile(rf"\s*{_NAME}\s*=(.*)") for mark in ",;|"},
}
# Cells without a name that may come first, such as the time and the source of a log entry.
_NAMELESS, _MOST_NAMELESS = re.compile(r'[^\s="]+'), 4
_DICT, _BLANK = "{", " "
_FEWEST_LINES, _FEWEST_PAIRS = 3, 2
# The least mean share of lines in which a name occurs.
_LEAST_FILLED = 0.3

Pairs = dict[str, str]


def find_key_cells(lines: Sequence[str]) -> str | None:
    """Return the delimiter of cells such as ``host:a`` or ``status=200`` in all lines."""
    marks = (_DICT, "\t", "|", ";", ",", _BLANK) if len(lines) >= _FEWEST_LINES else ()
    return next((mark for mark in marks if _are_pairs([_pairs(s, mark) for s in lines])), None)


def _are_pairs(found: Sequence[Pairs | None]) -> bool:
    pairs = [*filter(None, found)]
    nameless = {sum(name[0] == " " for name in one) for one in pairs}
    if len(pairs) < len(found) or len(nameless) != 1:
        return False
    if min(map(len, pairs)) - max(nameless) < _FEWEST_PAIRS:
        return False
    names = {name for one in pairs for name in one}
    return sum(map(len, pairs)) >= _LEAST_FILLED * len(names) * len(pairs)


def _pairs(line: str, mark: str) -> Pairs | None:
    """Return the values of a line by name; None if it holds anything else."""
    if mark == _DICT:
        return _from_dict(line.strip())
    found = _between_blanks(line) if mark == _BLANK else _between_marks(line, mark)
    return None if found is None or len(dict(found)) < len(found) else dict(found)


def _from_dict(line: str) -> Pairs | None:
    """Read a dictionary as Python prints it."""
    if line[:1] != "{" or line[-1:] != "}":
        return None
    try:
        record = ast.literal_eval(line)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if not isinstance(record, dict) or not all(isinstance(name, str) for name in record):
        return None
    return {name: "" if value is None else str(value) for name, value in record.items()}


def _between_blanks(line: str) -> list[tuple[str, str]] | None:
    words = line.strip().split()[:_MOST_NAMELESS]
    before = [*itertools.takewhile(_NAMELESS.fullmatch, words)]
    found = [(f" {k}", word) for k, word in enumerate(before, 1)]
    rest = line.strip()
    for word in before:
        rest = rest[len(word) :].lstrip()
    place = 0
    while place < len(rest):
        pair = _PAIR_AND_BLANKS.match(rest, place)
        if pair is None:
            return None
        found.append((pair[1], _unquoted(pair[2])))
        place = pair.end()
    return found if place else None


def _between_marks(line: str, mark: str) -> list[tuple[str, str]] | None:
    cells = [_PAIRS[mark].fullmatch(cell) for cell in line.strip("\r\n").split(mark) if cell]
    if None in cells:
        return None
    return [(cell[1], _unquoted(cell[2].strip())) for cell in cells if cell]


def _unquoted(value: str) -> str:
    if len(value) < 2 or not value[0] == value[-1] == '"':
        return value
    return re.sub(r"\\(.)", r"\1", value[1:-1])


def name_key_cells(lines: Iterable[str], mark: str) -> Iterator[str]:
    """Write the names of all lines, then the values of each; iterates over the lines twice."""
    names: dict[str, None] = {}
    for line in lines:
        names |= dict.fromkeys(_pairs(line, mark) or ())
    yield from write_row([name.replace(" ", "c") for name in names], 1)
    for line in lines:
        pairs = _pairs(line, mark)
        # Any other line becomes one cell, which is reported as a row that cannot be read.
        yield from write_row(
            [pairs.get(name, "") for name in names] if pairs else [line.strip()], 1
        )


_SHORTEST_BLOCK = 3
_BELOW_BLOCKS = re.compile(r"\[[0-9]+ rows x [0-9]+ columns\]|\[ reached .*\]")


def find_blocks(lines: Sequence[str]) -> int:
    """Return the height of blocks of columns, as pandas and R print wide tables; else 0."""
    rows = [_words(line) for line in lines if not _BELOW_BLOCKS.fullmatch(line.strip())]
    height = _height(rows)
    is_whole = height >= _SHORTEST_BLOCK and len(rows) >= 2 * height
    return height if is_whole and _are_blocks(rows[: len(rows) // height * height], height) else 0


def _words(line: str) -> Row:
    return line.strip().removesuffix("\\").split()


def _height(rows: Sequence[Row]) -> int:
    """Count the lines of a block: the second line of the next one begins as its second line."""
    if len(rows) < 2 or not rows[1]:
        return 0
    again = (k for k in range(2, len(rows)) if rows[k][:1] == rows[1][:1])
    return max(0, next(again, 0) - 1)


def _are_blocks(rows: Sequence[Row], height: int) -> bool:
    """Return whether rows begin with the same names in all blocks, and have a cell for each column.

    No column name may recur: otherwise the blocks are separate tables.
    """
    labels = [row[0] for row in rows[1:height]]
    names: Row = []
    for start in range(0, len(rows), height):
        header, *below = rows[start : start + height]
        if any(len(row) != len(header) + 1 for row in below) or [row[0] for row in below] != labels:
            return False
        names += header
    return len(set(labels)) == len(labels) and len(set(names)) == len(names)


def join_blocks(lines: Iterable[str], height: int) -> Iterator[str]:
    """Write all columns in the lines of the first block, if blocks follow to the end."""
    kept = [*lines]
    filled = [k for k, line in enumerate(kept) if line.strip()]
    filled = [k for k in filled if not _BELOW_BLOCKS.fullmatch(kept[k].strip())]
    rows = [_words(kept[k]) for k in filled]
    if len(rows) % height or not _are_blocks(rows, height):
        yield from kept
        return
    places = {line: k for k, line in enumerate(filled[:height])}
    for line in range(len(kept)):
        k = places.get(line)
        if k is None:
            yield "\n"
        else:
            label = rows[k][:1] if k else [""]
            blocks = (rows[start + k][k > 0 :] for start in range(0, len(rows), height))
            yield from write_row([*label, *itertools.chain(*blocks)], 1)


_FORM_FEED = "\f"
_NUMBER = re.compile("[0-9]+")
# Lines of a page head in which page numbers and times may differ.
_TITLES = 3


def find_page_head(lines: Sequence[str]) -> Row:
    """Return the lines that each page after a form feed repeats."""
    starts = [k for k, line in enumerate(lines) if k and line.startswith(_FORM_FEED)]
    lengths = [
        sum(
            1
            for _ in itertools.takewhile(_is_alike, enumerate(zip(lines, lines[k:], strict=False)))
        )
        for k in starts
    ]
    return [*lines[: max(lengths)]] if lengths and all(lengths) else []


def _is_alike(numbered: tuple[int, tuple[str, str]]) -> bool:
    """Return whether a line of a page head recurs."""
    place, (line, other) = numbered
    one, two = line.strip(), other.strip()
    return one == two or (place < _TITLES and _NUMBER.sub("0", one) == _NUMBER.sub("0", two))


def without_page_heads(lines: Iterable[str], head: Sequence[str]) -> Iterator[str]:
    """Write blank lines for the heads of all pages but the first."""
    place = len(head)
    for k, line in enumerate(lines):
        if k and line.startswith(_FORM_FEED):
            place = 0
        if not line.strip():
            yield line
            continue
        is_head = place < len(head) and _is_alike((place, (line, head[place])))
        place = place + 1 if is_head else len(head)
        yield "\n" if is_head else line
