"""Rows written as lines of names and values, below each other, as comma-separated lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from aucstudio.project.data.text.markup import Rewrite, written

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
    return lambda rows: _rewritten(rows, cycle), "each row stood as lines of names and values"


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
