"""Findings of the first import, stored for reading a table again by its schema.

Reading by a schema detects nothing, so it cannot report what was detected.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec

from aucstudio.project import typed
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import recast
from aucstudio.project.data.finding import KINDS, Finding
from aucstudio.project.data.table import Table

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
