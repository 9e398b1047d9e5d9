"""Preview of the outer columns of a very wide text file.

Cut out before anything is guessed, so that 100,000 columns cost no more than the few that are seen.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

# Files of more columns are cut; of these so many at the left and at the right stay.
MOST_COLUMNS = 3_000
LEFT, RIGHT = 1_000, 50
_ROWS, _BYTES, _LONGEST_LINE = 2_000, 1 << 26, 1 << 24
_MARKS = (b",", b"\t", b";", b"|")


class Narrow(NamedTuple):
    """What was taken of a file.

    Attributes
    ----------
    left, right, of : int
        How many columns from either end, and how many there are.
    whole : bool
        Whether all rows were taken.
    named : bool
        Whether each column that was taken is called like no other one, if the first row has names.
    """

    left: int
    right: int
    of: int
    whole: bool
    named: bool


def narrowed(path: Path, here: Path, delimiter: str = "", *, both: bool = True) -> Narrow | None:
    """Write the first rows of some columns of a file; None if it is not so wide, or not plain.

    Parameters
    ----------
    path, here : Path
        The file, and the one to write.
    delimiter : str, optional
        What separates cells, if that is known.
    both : bool
        Whether columns at the right are taken too, if the first row may have their names: one
        without a name is called by its place, which is another one here.
    """
    with path.open("rb") as file:
        first = file.readline(_LONGEST_LINE)
        if len(first) <= MOST_COLUMNS:
            return None
        second = file.readline(_LONGEST_LINE)
        mark = delimiter.encode() or max(_MARKS, key=second.count)
        marks = second.count(mark)
        # Names of rows have no name in R's files.
        lacking = marks - first.count(mark)
        if marks < MOST_COLUMNS or lacking not in (0, 1):
            return None
        file.seek(len(first))
        lines, whole = [*_lines(file)], not file.read(1)
    if any(line.count(mark) != marks or b"\0" in line for line in lines):
        return None
    left, counts = LEFT - lacking, collections.Counter(map(_bare, first.split(mark)))
    names = first.split(mark)
    right = RIGHT if both and _are_own(names[-RIGHT:], counts) else 0
    cut = [_ends(first, mark, left, right), *(_ends(line, mark, LEFT, right) for line in lines)]
    if any(piece.count(b'"') % 2 for piece in cut):
        return None  # a quoted cell is cut
    here.write_bytes(b"".join(cut))
    named = _are_own(names[:left], counts)
    return Narrow(LEFT, right, marks + 1, whole, named)


def _lines(file: Iterable[bytes]) -> Iterator[bytes]:
    taken = 0
    for rows, line in enumerate(file, 1):
        yield line
        taken += len(line)
        if rows == _ROWS or taken >= _BYTES:
            return


def _bare(cell: bytes) -> bytes:
    return cell.strip(b' "\t\r\n')


def _are_own(names: list[bytes], counts: Mapping[bytes, int]) -> bool:
    """Return whether all are names, and no other column has one of them."""
    bare = [*map(_bare, names)]
    return all(name and counts[name] == 1 for name in bare)


def _ends(line: bytes, mark: bytes, left: int, right: int) -> bytes:
    kept = line.rstrip(b"\r\n").split(mark, left)[:left]
    if right:
        kept += line.rstrip(b"\r\n").rsplit(mark, right)[-right:]
    return mark.join(kept) + b"\n"
