"""Columns that hold one value or nothing, as boxes that are ticked."""

from __future__ import annotations

from collections.abc import Iterator

from aucstudio.project.data.columns import spell_cell
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.roles import is_flag
from aucstudio.project.data.table import Table


def flags(table: Table) -> Iterator[Finding]:
    """Say that nothing counts as a level beside the only one."""
    for column in table.features:
        if column.role == "category" and is_flag(column):
            value = column.at(int(column.known().argmax()))
            spelled = repr(value) if column.kind == "text" else spell_cell(column, value)
            yield Finding(
                "kind",
                f"column {column.name} holds {spelled} or nothing, which counts as a level, too",
                (column.name,),
                column.missing,
            )
