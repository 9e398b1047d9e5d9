"""Numbers that identify rows, times or things."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.roles import is_named_identifier
from aucstudio.project.data.sparse_columns import SparseColumn
from aucstudio.project.data.table import Table

Array = NDArray[np.float64]

# Fewer rows may be in order by chance.
_FEWEST, _FEWEST_NAMED = 10, 20
# Fewer different names are hardly those of persons or things.
_FEWEST_THINGS = 10
# Probability that whole numbers of a range are all distinct by chance.
_BY_CHANCE = 1e-3
_HEAD = 1000
# Seconds since 1970 from 1990 to 2050, and the same in thousandths.
_SECONDS = (6.3e8, 2.53e9)
_DAYS = (19000101.0, 21001231.0)


def identifiers(table: Table) -> Iterator[Finding]:
    """Find number features that identify rows, follow their order, or are times."""
    for column in table.features:
        if column.role != "number" or column.height - column.missing < _FEWEST:
            continue
        if isinstance(column, SparseColumn) and column.zeros > 1:
            continue  # identifiers and times do not repeat zero
        if code := _what_it_is(column):
            yield found(code, column.name, rows=table.rows)


def groups(table: Table) -> Iterator[Finding]:
    """Find features named like identifiers whose values repeat."""
    for column in table.features:
        known = table.rows - column.missing
        if known < _FEWEST_NAMED or not is_named_identifier(column.name):
            continue
        names_things = column.kind == "text" or column.is_integer()
        if names_things and _FEWEST_THINGS <= column.distinct < known:
            yield found("names_things", column.name, rows=known, things=column.distinct)


def _what_it_is(column: Column) -> str:
    cells = column.values[~np.isnan(column.values)] if column.missing else column.values
    whole = column.is_integer()
    if whole and _are_moments(cells):
        return "moments_as_numbers"
    if _rises(cells):
        return "follows_rows"
    is_different = whole and column.distinct == len(cells) and _is_no_chance(cells)
    return "different_in_each_row" if is_different else ""


def _rises(cells: Array) -> bool:
    """Return whether cells rise or fall throughout; the first cells decide in most cases."""
    for part in (cells[:_HEAD], cells):
        steps = np.diff(part)
        if not (np.all(steps > 0) or np.all(steps < 0)):
            return False
    return True


def _is_no_chance(cells: Array) -> bool:
    """Return whether random draws from the range would hardly be all distinct."""
    n, reach = len(cells), float(cells.max() - cells.min()) + 1
    return n * (n - 1) / (2 * reach) > -math.log(_BY_CHANCE)


def _are_moments(cells: Array) -> bool:
    low, high = float(cells.min()), float(cells.max())
    if low == high:
        return False
    if any(_SECONDS[0] * unit <= low and high <= _SECONDS[1] * unit for unit in (1, 1000)):
        return True
    if not (_DAYS[0] <= low and high <= _DAYS[1]):
        return False
    months, days = cells // 100 % 100, cells % 100
    return bool(np.all((months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)))
