"""Select and sort rows."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.columns import Column, read_spelled, spell_cell
from aucstudio.project.data.table import Table
from aucstudio.project.survey.conditions import KNOWN, MISSING, Condition
from aucstudio.project.survey.row_scores import ALL, CHOSEN, ScoredRows

Rows = NDArray[np.intp]

_WINDOW = 20_000


@dataclasses.dataclass(frozen=True)
class Query:
    """Conditions on rows, all of which must hold.

    Attributes
    ----------
    conditions : tuple of Condition
    of_class : str or None
        A value of the label; empty for rows without one, None for any.
    part : str
        What a split has them for; see :mod:`~aucstudio.project.survey.row_scores`.
    chosen : tuple of int
        The rows themselves, where that is the part.
    threshold : float
        What is above it was taken for positive.
    order : str or None
        The column that they are sorted by; None for the order of the file.
    descending : bool
    """

    conditions: tuple[Condition, ...] = ()
    of_class: str | None = None
    part: str = ALL
    chosen: tuple[int, ...] = ()
    threshold: float = 0.0
    order: str | None = None
    descending: bool = False


def find_rows(
    table: Table,
    query: Query,
    columns: Mapping[str, Column],
    scored: ScoredRows | None = None,
    stop: Callable[[], object] = lambda: None,
) -> Rows:
    """Find rows, in order.

    Parameters
    ----------
    table : Table
    query : Query
    columns : mapping of str to Column
        The columns that it may name: those of the table, and what runs add to them.
    scored : ScoredRows, optional
        The split that its part is about.
    stop : callable
        Called now and then; may raise.

    Returns
    -------
    rows : ndarray of int
        Numbers of rows of the table. Equal rows keep their order; missing cells come last.
    """
    mask = np.ones(table.rows, dtype=bool)
    for condition in query.conditions:
        stop()
        mask &= condition.holds(columns[condition.column])
    if query.of_class is not None and table.label is not None:
        label = table.column(table.label)
        wanted = Condition(label.name, "=" if query.of_class else MISSING, query.of_class)
        mask &= wanted.holds(label)
    if query.part == CHOSEN:
        mask &= np.isin(np.arange(table.rows), query.chosen)
    elif query.part != ALL:
        mask &= (
            scored.marked(query.part, query.threshold)
            if scored is not None
            else np.zeros(table.rows, dtype=bool)
        )
    rows = np.flatnonzero(mask)
    stop()
    if query.order is None:
        return rows[::-1] if query.descending else rows
    return rows[_sorted(columns[query.order], rows, query.descending, stop)]


def _sorted(column: Column, rows: Rows, descending: bool, stop: Callable[[], object]) -> Rows:
    """Sort the cells of rows; give their places."""
    values = column.values[rows]
    if column.kind == "text":
        values = text_codes(values, stop)
    return np.argsort(-values if descending else values, kind="stable")


def text_codes(
    values: NDArray[np.object_], stop: Callable[[], object] = lambda: None
) -> NDArray[np.float64]:
    """Return texts as the places of their values in order; NaN for a missing one.

    Nothing here holds the GIL for long, however many texts there are.
    """
    levels: dict[str, float] = {}
    for start in range(0, len(values), _WINDOW):
        stop()
        levels.update(dict.fromkeys(v for v in values[start : start + _WINDOW] if v is not None))
    listed = list(levels)
    parts = [sorted(listed[k : k + _WINDOW]) for k in range(0, len(listed), _WINDOW)]
    for place, level in enumerate(heapq.merge(*parts)):
        levels[level] = float(place)
    codes = np.empty(len(values))
    for start in range(0, len(values), _WINDOW):
        stop()
        codes[start : start + _WINDOW] = [
            levels.get(v, np.nan) for v in values[start : start + _WINDOW]
        ]
    return codes


def like_cell(column: Column, row: int, test: str = "=") -> Condition:
    """Make the condition that a row's cell fulfils, or another test against that cell."""
    value = column.values[row]
    if value is None or value != value:
        return Condition(column.name, MISSING if test == "=" else KNOWN)
    if column.kind == "text":
        return Condition(column.name, test, str(value))
    spelled = spell_cell(column, value)
    exact = read_spelled(column, spelled) == value
    return Condition(column.name, test, spelled if exact and column.is_date else repr(float(value)))
