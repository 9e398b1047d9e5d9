"""Import settings that the user chose, and findings of the first import.

Reading by a schema detects nothing, so it cannot report what was detected.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import msgspec

from aucstudio.project import typed
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import ColumnInfo, recast
from aucstudio.project.data.finding import KINDS, Finding
from aucstudio.project.data.labels import AS_THEY_ARE, LabelRule
from aucstudio.project.data.table import ReadingListener, Table, read_table

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
    rule : LabelRule
        How the values of the label become classes, if that was chosen.
    """

    dialect: dict[str, Part] = dataclasses.field(default_factory=dict)
    roles: dict[str, str] = dataclasses.field(default_factory=dict)
    absent: dict[str, tuple[float, ...]] = dataclasses.field(default_factory=dict)
    same: dict[str, bool] = dataclasses.field(default_factory=dict)
    parts: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    merge: bool = False
    positive: str = ""
    rule: LabelRule = AS_THEY_ARE

    @classmethod
    def of(cls, table: AnyTable) -> Self:
        """Return the choices of an open table."""
        roles = {c.name: c.role for c in table.columns if not role_is_guess(table, c)}
        dialect: dict[str, Part] = {part: getattr(table.dialect, part) for part in table.chosen}
        same = dict.fromkeys(table.same, True)
        positive = "" if "positive" in table.guessed else table.positive or ""
        return cls(dialect, roles, table.absent, same, table.parts, False, positive, table.rule)

    def among(self, names: Iterable[str]) -> Self:
        """Return the choices that concern existing columns."""
        there = set(names)
        kept: dict[str, Any] = {
            setting: {n: value for n, value in getattr(self, setting).items() if n in there}
            for setting in ("roles", "absent", "same", "parts")
        }
        return dataclasses.replace(self, **kept)

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
        if self.rule:
            table = table.with_roles(rule=self.rule)
        if self.positive in table.classes:
            table = table.with_roles(positive=self.positive)
        # Columns that are not dates with the present settings have no parts.
        dated = {column.name for column in table.columns if column.is_date}
        parts = {name: chosen for name, chosen in self.parts.items() if name in dated}
        if self.absent or self.same or parts:
            table = table.with_roles(absent=self.absent, same=self.same, parts=parts)
        return table


def role_is_guess(table: AnyTable, column: ColumnInfo) -> bool:
    """Return whether the role of a column was detected, not chosen."""
    return "label" in table.guessed if column.role == "label" else column.guessed


_GUESSES = ("label", "positive")


@dataclasses.dataclass(frozen=True)
class FirstReading:
    """Findings and detected roles of the first import.

    Attributes
    ----------
    findings : tuple of Finding
    guessed : tuple of str
        Which of "label" and "positive" were detected.
    whys : dict of str to str
        By column, the code of the notice that explains a detected role.
    """

    findings: tuple[Finding, ...] = ()
    guessed: tuple[str, ...] = ()
    whys: dict[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, table: AnyTable) -> FirstReading:
        """Return the record of a table."""
        whys = {column.name: column.why for column in table.columns if column.why}
        return cls(table.findings, table.guessed, whys)

    @classmethod
    def from_json(cls, document: Any) -> FirstReading:
        """Read a document; an invalid one gives an empty record."""
        try:
            return typed.convert(document, cls)
        except msgspec.ValidationError:
            return cls()

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def applied_to(self, table: Table) -> Table:
        """Return the table with findings and guesses of its first reading."""
        places = {_about(finding): place for place, finding in enumerate(self.findings)}
        now = set(map(_about, table.remarks))
        names = {column.name for column in table.columns}
        kept = [
            finding
            for finding in self.findings
            if _about(finding) not in now
            and finding.kind in KINDS
            and names.issuperset(finding.columns)
        ]
        # Findings of equal weight stay in their first order.
        remarks = sorted([*table.remarks, *kept], key=lambda f: places.get(_about(f), len(places)))
        columns = (recast(c, why=self.whys.get(c.name, c.why)) for c in table.columns)
        return dataclasses.replace(
            table,
            columns=tuple(columns),
            guessed=tuple(what for what in _GUESSES if what in self.guessed),
            remarks=tuple(remarks),
        )


def _about(finding: Finding) -> tuple[str, tuple[str, ...]]:
    return finding.kind, finding.columns
