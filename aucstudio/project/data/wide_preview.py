"""Preview of the outer columns of a very wide text file.

Columns are cut out before detection, so that 100,000 columns cost no more than the few shown.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

# Files with more columns are cut; the number of columns kept at either end.
MOST_COLUMNS = 3_000
LEFT, RIGHT = 1_000, 50
_ROWS, _BYTES, _LONGEST_LINE = 2_000, 1 << 26, 1 << 24
_MARKS = (b",", b"\t", b";", b"|")


class Narrow(NamedTuple):
    """The part of a wide file that was kept.

    Attributes
    ----------
    left, right, of : int
        Number of columns kept at either end, and of all columns.
    whole : bool
        Whether all rows were kept.
    named : bool
        Whether the names of the kept columns are unique, if the first row has names.
    """

    left: int
    right: int
    of: int
    whole: bool
    named: bool


def narrowed(path: Path, here: Path, delimiter: str = "", *, both: bool = True) -> Narrow | None:
    """Write the first rows and outer columns of a file; None if it is not wide, or not plain.

    Parameters
    ----------
    path, here : Path
        The file, and the copy to write.
    delimiter : str, optional
        The delimiter, if known.
    both : bool
        Whether columns at the right are kept too. Their names must be in the first row, because
        unnamed columns are named by their position, which differs in the copy.
    """
    with path.open("rb") as file:
        first = file.readline(_LONGEST_LINE)
        if len(first) <= MOST_COLUMNS:
            return None
        second = file.readline(_LONGEST_LINE)
        mark = delimiter.encode() or max(_MARKS, key=second.count)
        marks = second.count(mark)
        # In files of R the column of row names has no name.
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
    """Return whether all are non-empty and unique."""
    bare = [*map(_bare, names)]
    return all(name and counts[name] == 1 for name in bare)


def _ends(line: bytes, mark: bytes, left: int, right: int) -> bytes:
    kept = line.rstrip(b"\r\n").split(mark, left)[:left]
    if right:
        kept += line.rstrip(b"\r\n").rsplit(mark, right)[-right:]
    return mark.join(kept) + b"\n"
