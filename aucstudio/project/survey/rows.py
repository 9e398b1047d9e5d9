"""Rows of a table for display: found and ordered, with the scores of a split, and exported."""

from __future__ import annotations

import dataclasses
import functools
import heapq
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.project.data.columns import Column, free_name, spell_cell
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.numerals import PER_CENT, spelled
from aucstudio.project.store.scores_file import TABS, CsvForm, scores_file, write_csv
from aucstudio.project.survey.conditions import MISSING, Condition

if TYPE_CHECKING:
    from aucstudio.project.runs.record import RunRecord


NEITHER, TRAINING, HELD_OUT = 0, 1, 2

ALL, CHOSEN, TRAINED_ON, HELD = "all", "chosen", "training", "held out"
MISRANKED, FALSE_ALARM, MISSED = "misranked", "false positive", "missed positive"


@dataclasses.dataclass(frozen=True, eq=False)
class ScoredRows:
    """The rows of a table as one split of a run saw them; arrays have one entry a row.

    Attributes
    ----------
    scores : ndarray
        NaN where the split has none.
    part : ndarray of int8
        :data:`NEITHER`, :data:`TRAINING` or :data:`HELD_OUT`.
    positive : ndarray of bool
        Whether the run took a held-out row for a positive one.
    """

    scores: Array
    part: NDArray[np.int8]
    positive: Mask

    @classmethod
    def of(cls, record: RunRecord, split: int, rows: int) -> ScoredRows:
        """Gather them; rows that were held out in a test file are none of the table's."""
        found = record.splits[split]
        scores = np.full(rows, np.nan)
        part, positive = np.zeros(rows, dtype=np.int8), np.zeros(rows, dtype=bool)
        scores[found.train_rows], part[found.train_rows] = found.train_scores, TRAINING
        if record.experiment.validation.scheme != "file":
            held = found.test_rows
            scores[held], part[held] = found.test_scores, HELD_OUT
            positive[held] = found.test_positive
        return cls(scores, part, positive)

    @functools.cached_property
    def wrong_pairs(self) -> Array:
        """Held-out rows of the other class that each held-out row is ranked wrongly against.

        Ties are not counted; NaN for other rows.
        """
        held, pairs = self.part == HELD_OUT, np.full(len(self.part), np.nan)
        pairs[held] = wrong_pairs(self.positive[held], self.scores[held])
        return pairs

    def marked(self, part: str, threshold: float) -> Mask:
        """Mark the rows of a part of the table, or those that went wrong."""
        if part == TRAINED_ON:
            return np.asarray(self.part == TRAINING)
        if part == MISRANKED:
            return np.asarray(self.wrong_pairs > 0)
        held: Mask = self.part == HELD_OUT
        called: Mask = self.scores > threshold
        wrong = {FALSE_ALARM: ~self.positive & called, MISSED: self.positive & ~called}
        return held & wrong.get(part, held)


def wrong_pairs(positive: Mask, scores: Array) -> Array:
    """Count for every row the rows of the other class that it is ranked wrongly against."""
    above, below = np.sort(scores[positive]), np.sort(scores[~positive])
    found = np.empty(len(scores))
    found[positive] = len(below) - np.searchsorted(below, scores[positive], "right")
    found[~positive] = np.searchsorted(above, scores[~positive], "left")
    return found


_LEVELS_AT_ONCE = 20_000


@dataclasses.dataclass(frozen=True)
class Query:
    """Conditions on rows, all of which must hold.

    Attributes
    ----------
    conditions : tuple of Condition
    of_class : str or None
        A value of the label; empty for rows without one, None for any.
    part : str
        What a split has them for; see :mod:`~aucstudio.project.survey.rows`.
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
) -> Index:
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
    conditions = [(condition, columns[condition.column]) for condition in query.conditions]
    if query.of_class is not None and table.label is not None:
        wanted = Condition(table.label, "=" if query.of_class else MISSING, query.of_class)
        conditions.append((wanted, table.column(table.label)))
    mask = np.ones(table.rows, dtype=bool)
    for condition, column in conditions:
        stop()
        mask &= condition.holds(column)
    if query.part == CHOSEN:
        mask &= np.isin(np.arange(table.rows), query.chosen)
    elif query.part != ALL:
        mask &= False if scored is None else scored.marked(query.part, query.threshold)
    rows = np.flatnonzero(mask)
    stop()
    if query.order is None:
        return rows[::-1] if query.descending else rows
    values = columns[query.order].values[rows]
    if columns[query.order].kind == "text":
        values = text_codes(values, stop)
    return rows[np.argsort(-values if query.descending else values, kind="stable")]


def text_codes(
    values: NDArray[np.object_], stop: Callable[[], object] = lambda: None
) -> NDArray[np.float64]:
    """Return texts as the places of their values in order; NaN for a missing one.

    Nothing here holds the GIL for long, however many texts there are.
    """
    levels: set[str | None] = set()
    windows = [values[k : k + _LEVELS_AT_ONCE] for k in range(0, len(values), _LEVELS_AT_ONCE)]
    for window in windows:
        stop()
        levels.update(window)
    listed, size = [level for level in levels if level is not None], _LEVELS_AT_ONCE
    parts = (sorted(listed[k : k + size]) for k in range(0, len(listed), size))
    places = {level: float(place) for place, level in enumerate(heapq.merge(*parts))}
    codes = [np.empty(0)]
    for window in windows:
        stop()
        codes.append(np.array([places.get(cell, np.nan) for cell in window]))
    return np.concatenate(codes)


ROW, PART = "row", "part"
_PARTS = {NEITHER: "", TRAINING: "training", HELD_OUT: "held out"}
_EXPORTED_AT_ONCE = 2_000
_FARTHEST_WHOLE = 1e15  # whole numbers below it are written without a decimal mark


def tab_separated(columns: Sequence[Column], rows: Index, report: Callable[[float], object]) -> str:
    """Write cells with column names, separated by tabs; a single cell alone."""
    sheet = io.StringIO()
    if len(columns) > 1 or len(rows) > 1:
        write_csv(sheet, [[column.name for column in columns]], TABS)
    for part in _written_parts(columns, rows, report):
        write_csv(sheet, part, TABS)
    text = sheet.getvalue()
    return text if len(columns) > 1 or len(rows) > 1 else text.rstrip("\n")


def save_rows(
    path: Path,
    columns: Sequence[Column],
    rows: Index,
    numbers: NDArray[np.int64],
    part: NDArray[np.int8] | None,
    form: CsvForm,
    report: Callable[[float], object],
) -> None:
    """Write rows as CSV; the first column is the number of the data row in the file.

    The second column states whether a row is training or held out, if that is known.

    Parameters
    ----------
    path : Path
    columns : sequence of Column
    rows : ndarray of int
    numbers : ndarray of int
        Of all rows of the table.
    part : ndarray of int8 or None
        Of all rows of the table, as in :class:`ScoredRows`.
    form : CsvForm
    report : callable
        Receives the fraction done; may raise, and the previous file stays.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    names = [column.name for column in columns]
    added = [free_name(name, set(names)) for name in (ROW, PART)[: 1 if part is None else 2]]
    with scores_file(path, marked=form.marked) as sheet:
        write_csv(sheet, [[*added, *names]], form)
        start = 0
        for cells in _written_parts(columns, rows, report):
            lines = []
            for row, line in zip(rows[start : start + len(cells)].tolist(), cells, strict=True):
                of_split = [] if part is None else [_PARTS[int(part[row])]]
                lines.append([int(numbers[row]), *of_split, *line])
            write_csv(sheet, lines, form)
            start += len(lines)


def _written_parts(
    columns: Sequence[Column], rows: Index, report: Callable[[float], object]
) -> Iterator[list[tuple[object, ...]]]:
    for start in range(0, len(rows), _EXPORTED_AT_ONCE):
        report(start / len(rows))
        part = rows[start : start + _EXPORTED_AT_ONCE]
        yield list(zip(*(_cells(column, part) for column in columns), strict=True))


def _cells(column: Column, rows: Index) -> list[object]:
    cells: list[object] = column.values[rows].tolist()
    return [_exported(column, c) if isinstance(c, float) and c == c else c for c in cells]


def _exported(column: Column, cell: float) -> object:
    if column.is_date:
        return spell_cell(column, cell)
    if column.number is not None and column.number.affix in PER_CENT:
        # Without the sign, the number may be a share.
        return spelled(column.number, cell)
    return int(cell) if cell.is_integer() and abs(cell) < _FARTHEST_WHOLE else cell
