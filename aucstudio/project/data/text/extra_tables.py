"""Two tables in one file, one below the other: the first is read, the other one told."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from aucstudio.project.data.text.dialect import DELIMITERS, Dialect
from aucstudio.project.data.text.missing import BLANKS
from aucstudio.project.data.text.separators import Record, cut, is_value

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
            f"another table begins in line {self.line}, with the names {shown}: it is left out, "
            "as is all below it; save it in a file of its own to read it"
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
