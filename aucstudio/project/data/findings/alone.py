"""Rows with a value in the first column alone: headings of groups, sums, remarks among the rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aucstudio.project.data.columns import spell_cell
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.sparse_columns import SparseColumn
from aucstudio.project.data.table import Table

_FEWEST_COLUMNS, _SHOWN = 3, 3


def alone(table: Table) -> Iterator[Finding]:
    """Find rows that hold nothing but the first of their cells."""
    first, *others = table.columns
    # Most tables have a column without gaps, and are done here.
    if len(table.columns) < _FEWEST_COLUMNS or not all(column.missing for column in others):
        return
    if any(isinstance(column, SparseColumn) for column in table.columns):
        return
    are_alone = first.known()
    for column in others:
        are_alone &= ~column.known()
        if not are_alone.any():
            return
    rows = np.flatnonzero(are_alone)
    cells = [first.at(row) for row in rows[:_SHOWN].tolist()]
    shown = ", ".join(
        repr(cell) if first.kind == "text" else spell_cell(first, cell) for cell in cells
    )
    what = "row has" if len(rows) == 1 else "rows have"
    yield Finding(
        "missing",
        f"{len(rows):,} {what} a value in column {first.name} alone: {shown}"
        f"{' and others' if len(rows) > _SHOWN else ''}; headings or remarks may be among the rows",
        (first.name,),
        len(rows),
    )
