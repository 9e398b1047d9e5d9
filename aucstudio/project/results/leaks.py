"""Columns that runs used although they reveal the label."""

from __future__ import annotations

from aucstudio.notices import Notice, notice
from aucstudio.project.data.findings.find import sampled_table
from aucstudio.project.data.findings.separation import leaks
from aucstudio.project.data.table import Table
from aucstudio.project.runs.experiment import DataReference


def leaks_used(data: DataReference, table: Table | None) -> list[Notice]:
    """Return the findings about columns used that reveal the label; none of another table.

    They are those of the page Data while the table had these roles.
    """
    if table is None or table.sha256 != data.sha256:
        return []
    found = leaks(sampled_table(data.seen(table)))
    return [notice("trained_on_leak", finding=one.sentence) for one in found]
