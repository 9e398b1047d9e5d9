"""Findings about row weights."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from aucstudio.engine.roc import effective_rows
from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.table import Table

_LITTLE = 0.5
_CALLED = re.compile(r"(?:^|[\W_]|final|fnl|per)p?(?:weights?|wgt|wt|gewicht(?:ung)?|poids|peso)$")
# Names that hardly denote a measured weight.
_SURELY = re.compile(
    r"(?:^|[\W_])(?:sample|sampling|case|survey|design|post|final|fnl|per(?:son)?)[\W_]?"
    r"(?:weight|wgt|wt)s?$"
)
# Distance from 1 of the mean of weights that are scaled to the number of rows.
_NEAR = 0.05


def weights(table: Table) -> Iterator[Finding]:
    """Report invalid, missing and zero weights, and the effective number of rows.

    Without a weight column, report columns that may be weights.
    """
    if table.weight is None:
        for column in table.columns:
            if column.kind == "number" and _CALLED.search(column.name.lower()):
                yield from _meant(column)
        return
    column = table.column(table.weight)
    cells, name = column.measured(), column.name
    bad = np.flatnonzero((cells < 0) | np.isinf(cells))
    if len(bad):
        first = int(table.file_rows[bad[0]])
        yield found("bad_weights", name, rows=len(bad), first=first)
        return
    for count, what in (
        (int(np.count_nonzero(np.isnan(cells))), "no weight"),
        (int(np.count_nonzero(cells == 0)), "the weight 0"),
    ):
        if count:
            yield found("weights_of_nothing", name, rows=count, what=what)
    used = cells[cells > 0]
    worth = effective_rows(used)
    if len(used) and worth < _LITTLE * len(used):
        yield found("uneven_weights", name, rows=len(used), worth=float(worth))


def _meant(column: Column) -> Iterator[Finding]:
    cells = column.measured()
    known = cells[~np.isnan(cells)]
    if not len(known) or known.min() <= 0 or not np.ptp(known):
        return
    is_near, is_called = abs(known.mean() - 1) < _NEAR, _SURELY.search(column.name.lower())
    if is_near or is_called:
        why = "because its mean is near 1" if is_near else "because of its name"
        yield found("may_be_weights", column.name, why=why)
