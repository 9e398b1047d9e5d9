"""Further tables below the one that is read."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from aucstudio.notices.words import listed
from aucstudio.project.data.finding import Finding, noticed
from aucstudio.project.data.text.dialect import DELIMITERS, Dialect
from aucstudio.project.data.text.numerals import BLANKS
from aucstudio.project.data.text.separators import Record, cut, is_value

_FEWEST_ROWS, _MOST_TITLES, _SHOWN = 3, 2, 4


def find_extra_table(text: str, dialect: Dialect) -> tuple[int, Finding] | None:
    """Find the line where a second table begins, in the text of a whole file.

    It begins with names, below a blank line or where rows get another number of cells. The table
    above must be at least as long; a shorter one holds titles.
    """
    lines = text.split("\n")
    rows = cut(text, whole=True, dialect=dataclasses.replace(dialect, skip=0))
    if len({len(row) for _, row in rows}) == 1 and not any(map(_is_blank, lines[:-1])):
        return None
    blocks = [*_blocks([record for record in rows if any(record[1])], lines)]
    first = next((k for k, block in enumerate(blocks) if len(block) >= _FEWEST_ROWS), len(blocks))
    above = _table(blocks[first]) if first < len(blocks) else None
    for block in blocks[first + 1 :] if above else ():
        below = _table(block)
        if below and above and len(above) >= len(below) and _differ(above, below):
            (line, _), (_, names) = block[0], below[0]
            shown = listed(names, _SHOWN)
            return line, noticed("header", "import_extra_table", (), line=line, names=shown)
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
    """Split rows at blank lines, and where several rows of another width begin."""
    block: list[Record] = []
    for k, (line, row) in enumerate(rows):
        widths = {len(other) for _, other in rows[k : k + _FEWEST_ROWS]}
        is_other = len(block) >= _FEWEST_ROWS and {len(row)} == widths != {len(block[-1][1])}
        if block and (_is_blank(lines[line - 2]) or (is_other and len(row) > 1)):
            yield block
            block = []
        block.append((line, row))
    if block:
        yield block


def _table(block: Sequence[Record]) -> Sequence[Record] | None:
    """Return the names and rows of a block, without titles; None if it holds no table."""
    for place in range(min(_MOST_TITLES, len(block) - 1)):
        names, under = block[place][1], block[place + 1][1]
        is_named = len(names) > 1 and all(names) and len(set(names)) == len(names)
        if is_named and not any(map(is_value, names)):
            return block[place:] if len(under) == len(names) and any(map(is_value, under)) else None
    return None


def _differ(above: Sequence[Record], below: Sequence[Record]) -> bool:
    """Return whether names are those of another table, and not a row of words of the one above."""
    names = below[0][1]
    if len(names) != len(above[0][1]):
        return True
    rows = [row for _, row in above[1:] if len(row) == len(names)]
    is_level = any(name in {row[k] for row in rows} for k, name in enumerate(names))
    is_value_above = any(map(is_value, rows[0])) if rows else False
    return names != above[0][1] and not is_level and is_value_above
