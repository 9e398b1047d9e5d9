"""Select the sheet, table or member of a file."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from aucstudio.notices.words import listed, suggestion
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.readers.format import ROWS, ReadOptions, Written
from aucstudio.project.data.readers.rows import RowWriter, first_parts
from aucstudio.project.errors import input_error

# Tables of fewer columns are often settings or lists of codes.
WIDE = 3
# Most rows of a list of columns.
MOST_CODES = 5_000
_MOST_OF = 0.6


def pick_part(
    path: Path,
    what: str,
    names: Sequence[str],
    options: ReadOptions,
    holds_table: Callable[[str], bool],
    is_narrow: Callable[[str], bool] = lambda _name: False,
) -> str:
    """Choose a part of a file: the requested one, that of the training table, or the first table.

    A narrow table is chosen only if there is no other.

    Parameters
    ----------
    path : Path
    what : str
        "sheet", "table" or "member".
    names : sequence of str
        All parts.
    options : ReadOptions
    holds_table : callable
        Returns whether the part of a name is a table.
    is_narrow : callable
        Returns whether a table is unlikely to be the data.

    Raises
    ------
    InputError
        If there is no such part, or no part is a table.
    """
    if options.part:
        if options.part in names:
            return options.part
        raise input_error(
            "part_unknown",
            file=path,
            what=what,
            part=options.part,
            parts=listed([*map(repr, names)]) or "none",
            hint=suggestion(options.part, names),
        )
    if options.usual in names:
        return options.usual
    tables = filter(holds_table, names)
    chosen = next(tables, None)
    if chosen is not None and is_narrow(chosen):
        chosen = next(itertools.filterfalse(is_narrow, tables), chosen)
    if chosen is None:
        raise input_error("parts_without_table", file=path, what=what)
    return chosen


def holds_table(rows: Sequence[Sequence[Any]]) -> bool:
    """Return whether at least two rows have at least two cells."""
    return sum(sum(map(bool, row)) > 1 for row in rows) > 1


def write_table(
    path: Path,
    target: Path,
    what: str,
    tables: Mapping[str, Sequence[Sequence[Any]]],
    options: ReadOptions,
    offered: Callable[[str], bool] = lambda _name: True,
) -> Written:
    """Write the rows of one of several tables as text; report the other tables on offer."""
    name = pick_part(path, what, list(tables), options, lambda one: holds_table(tables[one]))
    with RowWriter(target) as out:
        for row in tables[name]:
            out.add(row)
    parts = tuple(one for one in tables if one == name or offered(one))
    return Written(
        known=dict(ROWS), remarks=tuple(about_parts(what, name, parts)), part=name, parts=parts
    )


def lists_columns(rows: Sequence[Sequence[Any]], names: Collection[Any]) -> bool:
    """Return whether a part lists the columns of another one, like a code book.

    Parameters
    ----------
    rows : sequence of sequences
    names : collection
        Names of the columns of the other part.
    """
    wanted = {name.strip().lower() for name in names if isinstance(name, str) and name.strip()}
    if len(wanted) < WIDE:
        return False
    listed = itertools.zip_longest(*rows[1:])
    return any(
        len(wanted & {cell.strip().lower() for cell in column if isinstance(cell, str)})
        >= max(WIDE, _MOST_OF * len(wanted))
        for column in listed
    )


def about_parts(what: str, part: str, parts: Sequence[str]) -> list[Finding]:
    """Return a remark on the part that was read, if there are several."""
    others = [name for name in parts if name != part]
    if not others:
        return []
    names = first_parts(others)
    return [found("format_part", what=what, part=part, count=len(others), others=names)]
