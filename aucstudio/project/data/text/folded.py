"""Tables that a console folded: blocks of columns below each other, each with the rows' names.

R and pandas print so what is wider than the screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from aucstudio.project.data.text.markup import Rewrite, written

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
    return lambda all_lines: _unfolded(all_lines, height), "the columns stood below each other"


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
