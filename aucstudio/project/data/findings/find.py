"""All findings about a table, most important first."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import fields_of, recast
from aucstudio.project.data.finding import Finding, grouped, open_findings, ranked
from aucstudio.project.data.findings.classes import labelling, left_out, spellings, weights
from aucstudio.project.data.findings.copies import copies
from aucstudio.project.data.findings.sentinels import sentinels
from aucstudio.project.data.findings.separation import codes, leaks
from aucstudio.project.data.findings.shape import (
    alone,
    flags,
    groups,
    identifiers,
    shape,
    time_order,
)
from aucstudio.project.data.roles import role_findings
from aucstudio.project.data.table import Table

CHECKS: tuple[Callable[[Table], Iterable[Finding]], ...] = (
    shape,
    weights,
    leaks,
    sentinels,
    spellings,
    codes,
    flags,
    groups,
    identifiers,
    time_order,
    copies,
    alone,
)
# What these find in a sample of rows holds of all rows: not whether numbers are unique, nor how
# often rows are repeated.
_IN_SAMPLE = (leaks, sentinels, spellings, codes)


def find(
    table: AnyTable, report: Callable[[float], object] | None = None, cells: Table | None = None
) -> tuple[Finding, ...]:
    """Return all findings, most important first; of a table on disk, in a sample of rows.

    Parameters
    ----------
    table : AnyTable
    report : callable, optional
        Receives the share done; may raise to stop.
    cells : Table, optional
        The table :func:`sampled_table`, if available.
    """
    found = [*table.findings, *role_findings(table), *labelling(table), *left_out(table)]
    cells = sampled_table(table) if cells is None else cells
    checks = CHECKS if isinstance(table, Table) else _IN_SAMPLE
    for n, search in enumerate(checks):
        if report is not None:
            report(n / len(checks))
        found += search(cells)
    return grouped(ranked(open_findings(found, table)))


def sampled_table(table: AnyTable) -> Table:
    """Return the table, or a sample of rows of a table on disk."""
    if isinstance(table, Table):
        columns = tuple(column.decoded() for column in table.columns)
        return dataclasses.replace(table, columns=columns) if table.absent else table
    from aucstudio.project.data.disk.stream import DiskTable, sample_of

    assert isinstance(table, DiskTable)
    seen = sample_of(table, table.columns)
    columns = tuple(
        recast(cells, role=column.role, why=column.why, absent=column.absent).decoded()
        for cells, column in zip(seen, table.columns, strict=True)
    )
    return Table(**fields_of(table, AnyTable) | {"columns": columns, "row_numbers": None})
