"""Import settings that the user chose, stored with the name of the file."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import ColumnInfo
from aucstudio.project.data.table import ReadingListener, Table, read_table
from aucstudio.project.data.table_info import TableInfo

Part = bool | int | str | tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class ImportChoices:
    """Import settings that are not detected.

    Attributes
    ----------
    dialect : dict of part to value
        Parts of the dialect, the sheet among them.
    roles : dict of column name to role
    absent : dict of column name to tuple of float
        Number codes of missing values.
    same : dict of column name to bool
        Columns whose levels that differ in spelling only are merged.
    parts : dict of column name to tuple of str
        Parts used of date columns.
    merge : bool
        Whether spellings of one class are merged.
    positive : str
        The positive class, if the label has it; empty to detect it.
    """

    dialect: dict[str, Part] = dataclasses.field(default_factory=dict)
    roles: dict[str, str] = dataclasses.field(default_factory=dict)
    absent: dict[str, tuple[float, ...]] = dataclasses.field(default_factory=dict)
    same: dict[str, bool] = dataclasses.field(default_factory=dict)
    parts: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    merge: bool = False
    positive: str = ""

    @classmethod
    def of(cls, table: AnyTable) -> Self:
        """Return the choices of an open table."""
        roles = {c.name: c.role for c in table.columns if not role_is_guess(table, c)}
        dialect: dict[str, Part] = {part: getattr(table.dialect, part) for part in table.chosen}
        absent = {column.name: column.absent for column in table.columns if column.absent}
        same = {column.name: True for column in table.columns if column.same}
        positive = "" if "positive" in table.guessed else table.positive or ""
        return cls(dialect, roles, absent, same, table.parts, positive=positive)

    def among(self, names: Iterable[str]) -> Self:
        """Return the choices that concern existing columns."""
        there = set(names)
        return dataclasses.replace(
            self,
            roles={name: role for name, role in self.roles.items() if name in there},
            absent={name: numbers for name, numbers in self.absent.items() if name in there},
            same={name: joined for name, joined in self.same.items() if name in there},
            parts={name: parts for name, parts in self.parts.items() if name in there},
        )

    def read(self, path: str | Path, progress: ReadingListener | None = None) -> Table:
        """Read a file with these choices; everything else is detected.

        Raises
        ------
        InputError
            If it cannot be read with these choices.
        """
        table = read_table(
            path,
            dialect=self.dialect or None,
            roles=self.roles,
            merge=self.merge or None,
            progress=progress,
        )
        return self.finish(table)

    def finish(self, table: Table) -> Table:
        """Apply the choices to a table that need its cells."""
        role = self.roles.get(table.label or "", "label")
        if role != "label":  # it was detected as the label, but has another role
            table = table.with_roles(label=False, roles={str(table.label): role})
        if self.positive in table.classes:
            table = table.with_roles(positive=self.positive)
        # Columns that are not dates with the present settings have no parts.
        dated = {column.name for column in table.columns if column.is_date}
        parts = {name: chosen for name, chosen in self.parts.items() if name in dated}
        if self.absent or self.same or parts:
            table = table.with_roles(absent=self.absent, same=self.same, parts=parts)
        return table


def role_is_guess(table: TableInfo, column: ColumnInfo) -> bool:
    """Return whether the role of a column was detected, not chosen."""
    return "label" in table.guessed if column.role == "label" else column.guessed
