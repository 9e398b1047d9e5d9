"""Rows of a table for display: conditions, order, scores of a split, and export.

Conditions read like ``age >= 40; town = Bern; income missing``.
"""

from __future__ import annotations

import codecs
import dataclasses
import functools
import heapq
import io
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.notices.words import suggestion
from aucstudio.project.data.columns import Column, by_windows, read_spelled, spell_cell
from aucstudio.project.data.table import Table
from aucstudio.project.errors import input_error
from aucstudio.project.store.files import written_atomically
from aucstudio.project.store.scores_file import write_rows

if TYPE_CHECKING:
    from aucstudio.project.runs.record import RunRecord


Mask = NDArray[np.bool_]

MISSING, KNOWN, CONTAINS = "missing", "known", "contains"
_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_SPELLED = {"≠": "!=", "≤": "<=", "≥": ">=", "==": "="}
_PART = re.compile(
    r"""\s*(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[^"<>=!≠≤≥]*?))\s*
    (?:(?P<test><=|>=|!=|==|[<>=≠≤≥])\s*(?P<value>.*)
      |\b(?P<word>contains)\s+(?P<text>.+)|\b(?P<state>missing|known))\s*""",
    re.VERBOSE | re.DOTALL,
)
_SPECIAL = re.compile(r"""[";<>=!≠≤≥]|\b(contains|missing|known)\b|^\s|\s$|^$""")


@dataclasses.dataclass(frozen=True)
class Condition:
    """One condition on the cells of a column.

    Attributes
    ----------
    column : str
    test : str
        One of = != < > <= >=, "contains", "missing" or "known".
    value : str
        What cells are compared with; for = of numbers also a range, as 20..30, both ends included.
    """

    column: str
    test: str
    value: str = ""

    def __str__(self) -> str:
        name = _quoted(self.column) if _SPECIAL.search(self.column) else self.column
        if self.test in (MISSING, KNOWN):
            return f"{name} {self.test}"
        value = self.value
        value = _quoted(value) if re.search(r'^"|;|^\s|\s$|^$', value) else value
        return f"{name} {self.test} {value}"

    def holds(self, column: Column) -> Mask:
        """Mark the rows that meet it; a missing value meets no condition but ``missing``.

        Raises
        ------
        InputError
            If the column cannot be compared like this.
        """
        if self.test in (MISSING, KNOWN):
            return column.known() if self.test == KNOWN else ~column.known()
        if column.kind == "number":
            return self._of_numbers(column)
        if self.test not in ("=", "!=", CONTAINS):
            raise input_error("condition_of_text", column=self.column)
        if self.test == CONTAINS:
            wanted = self.value.casefold()
            return by_windows(
                column.values,
                lambda part: [cell is not None and wanted in cell.casefold() for cell in part],
            )
        equal = column.equals(self.value)
        return equal if self.test == "=" else ~equal & column.known()

    def _of_numbers(self, column: Column) -> Mask:
        if self.test == CONTAINS:
            raise input_error("condition_of_numbers", column=self.column)
        ends = self.value.split("..")
        values, bounds = column.values, [self._number(end, column) for end in ends]
        if len(ends) == 2 and self.test == "=":
            within: Mask = (values >= bounds[0]) & (values <= bounds[1])
            return within
        marked: Mask = _COMPARED[self.test](values, bounds[0])
        return marked & ~np.isnan(values) if self.test == "!=" else marked

    def _number(self, text: str, column: Column) -> float:
        value = read_spelled(column, text)
        if math.isnan(value):
            value = read_spelled(column, text.replace("−", "-").replace(",", ""))
        if math.isnan(value) or len(self.value.split("..")) > 2:
            code = "condition_without_date" if column.is_date else "condition_without_number"
            raise input_error(code, column=self.column, value=self.value)
        return value


def read_conditions(text: str, columns: Mapping[str, Column]) -> tuple[Condition, ...]:
    """Read conditions separated by semicolons, all of which must hold.

    Raises
    ------
    InputError
        If a part is not a condition, names no column, or compares what cannot be compared.
    """
    # Semicolons in quotes separate nothing.
    parts = [part[1:] for part in re.findall(r';(?:[^";]|"[^"]*"?)*', f";{text}")]
    found = [_read(part, columns) for part in parts if part.strip()]
    for condition in found:
        condition.holds(columns[condition.column].part(slice(0)))
    return tuple(found)


def _read(part: str, columns: Mapping[str, Column]) -> Condition:
    found = _PART.fullmatch(part)
    if found is None:
        raise input_error("condition_invalid", text=part.strip())
    name = found["quoted"].replace('""', '"') if found["quoted"] else found["plain"].strip()
    if name not in columns:
        alike = [known for known in columns if known.casefold() == name.casefold()]
        if len(alike) != 1:
            hint = suggestion(name, columns)
            raise input_error("condition_column_unknown", column=name, hint=hint)
        name = alike[0]
    if found["state"]:
        return Condition(name, found["state"])
    if found["word"]:
        return Condition(name, CONTAINS, _plain(found["text"]))
    test, value = _SPELLED.get(found["test"], found["test"]), _plain(found["value"])
    if not value and not found["value"].strip():
        raise input_error("condition_without_value", column=name, text=part.strip())
    return Condition(name, test, value)


def _plain(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('""', '"')
    return text


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


Array = NDArray[np.float64]

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


Rows = NDArray[np.intp]

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


ROW = "row"
_EXPORTED_AT_ONCE = 2_000


def as_text(columns: Sequence[Column], rows: Rows, report: Callable[[float], object]) -> str:
    """Write cells with column names, separated by tabs; a single cell alone."""
    sheet = io.StringIO()
    if len(columns) > 1 or len(rows) > 1:
        write_rows(sheet, [[column.name for column in columns]], "\t")
    for part in _written_parts(columns, rows, report):
        write_rows(sheet, part, "\t")
    text = sheet.getvalue()
    return text if len(columns) > 1 or len(rows) > 1 else text.rstrip("\n")


def save_rows(
    path: Path,
    columns: Sequence[Column],
    rows: Rows,
    numbers: NDArray[np.int64],
    report: Callable[[float], object],
) -> None:
    """Write rows as CSV; the first column is the number of the data row in the file.

    Parameters
    ----------
    path : Path
    columns : sequence of Column
    rows : ndarray of int
    numbers : ndarray of int
        Of all rows of the table.
    report : callable
        Receives the fraction done; may raise, and the previous file stays.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    taken = {column.name for column in columns}
    name = next(name for k in range(len(taken) + 1) if (name := ROW + "_" * k) not in taken)
    with written_atomically(path) as file:
        sheet = codecs.getwriter("utf-8")(file)
        write_rows(sheet, [[name, *(column.name for column in columns)]])
        start = 0
        for part in _written_parts(columns, rows, report):
            lines = [[int(numbers[rows[start + k]]), *line] for k, line in enumerate(part)]
            write_rows(sheet, lines)
            start += len(lines)


def _written_parts(
    columns: Sequence[Column], rows: Rows, report: Callable[[float], object]
) -> Iterator[list[tuple[object, ...]]]:
    for start in range(0, len(rows), _EXPORTED_AT_ONCE):
        report(start / len(rows))
        part = rows[start : start + _EXPORTED_AT_ONCE]
        yield list(zip(*(_cells(column, part) for column in columns), strict=True))


def _cells(column: Column, rows: Rows) -> list[object]:
    cells: list[object] = column.values[rows].tolist()
    if not column.is_date:
        return cells
    return [spell_cell(column, c) if isinstance(c, float) and c == c else c for c in cells]
