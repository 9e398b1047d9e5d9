"""Tables that do not stand as they should: with another one beside them, or on their side."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.separators import is_number

# Another table has so many rows at most, and so many cells of these at least.
_SHORTER, _FILLED = 0.75, 0.8
_LEAST_ROWS, _MOST_ROWS = 8, 200
_SHOWN = 5


def shape(table: Table) -> Iterator[Finding]:
    """Say where columns may be of another table, and rows be columns."""
    yield from _beside(table)
    yield from _lying(table)


def _beside(table: Table) -> Iterator[Finding]:
    """Find the last columns that all end in the same row, far above the others."""
    apart: list[Column] = []
    end = 0
    for column in reversed(table.columns):
        last = _last_row(column)
        if not last or (apart and last != end) or last > _SHORTER * table.rows:
            break
        if column.height - column.missing < _FILLED * last:
            break
        end = last
        apart.insert(0, column)
    rest = table.columns[: len(table.columns) - len(apart)]
    if table.rows < _LEAST_ROWS or len(apart) < 2 or not any(c.missing == 0 for c in rest):
        return
    names = ", ".join(column.name for column in apart[:_SHOWN])
    more = f" and {len(apart) - _SHOWN} more" if len(apart) > _SHOWN else ""
    yield Finding(
        "header",
        f"columns {names}{more} end in row {end:,} of {table.rows:,}: they may be another "
        "table beside this one",
        tuple(column.name for column in apart),
    )


def _last_row(column: Column) -> int:
    """Give the last row with a value, counted from 1; 0 where the last row of all has one."""
    if not column.missing or not column.height:
        return 0
    known = np.flatnonzero(column.known())
    last = int(known[-1]) + 1 if len(known) else 0
    return 0 if last == column.height else last


def _lying(table: Table) -> Iterator[Finding]:
    """Tell a table whose rows are of one kind each, numbers or words, and no column is."""
    cells = [column.values for column in table.columns[1:] if column.kind == "text"]
    others = sum(column.height > column.missing for column in table.columns[1:]) - len(cells)
    if others or len(cells) < table.rows or not 1 < table.rows <= _MOST_ROWS:
        return
    kinds = set[bool]()
    for row in range(table.rows):
        of_row = {is_number(column[row]) for column in cells if column[row] is not None}
        if len(of_row) > 1:
            return
        kinds |= of_row
    if len(kinds) > 1:
        yield Finding(
            "header",
            "each row holds numbers alone or words alone, and no column does: the table may lie "
            "on its side; transpose it in a spreadsheet and open it again",
        )
