"""Query of rows with scores, on a thread."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.monitor import Stopped
from aucstudio.engine.types import Array
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.project.data.columns import Column
from aucstudio.project.data.table import Table
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.survey.columns import Classes
from aucstudio.project.survey.rows import (
    ALL,
    FALSE_ALARM,
    MISSED,
    Query,
    ScoredRows,
    find_rows,
    read_conditions,
)

MOST_RUNS = 8


@dataclasses.dataclass(frozen=True)
class RowFilter:
    """The filter and order of the rows; the names are those of :class:`Query`."""

    text: str = ""
    of_class: str | None = None
    part: str = ALL
    chosen: tuple[int, ...] = ()
    order: str | None = None
    descending: bool = False


@dataclasses.dataclass(frozen=True)
class Asked:
    """A request and its subject; equal requests have equal answers.

    Attributes
    ----------
    table : Table
    runs : tuple of (RunRecord, str, int)
        Runs of this table whose scores are shown: the chosen one first, each with its name and
        the number of its split.
    has_chosen : bool
        Whether the first of them is the chosen run, which parts of the table are about.
    row_filter : RowFilter
    threshold : float
    """

    table: Table
    runs: tuple[tuple[RunRecord, str, int], ...]
    has_chosen: bool
    row_filter: RowFilter
    threshold: float

    @classmethod
    def of(cls, session: Session, table: Table, row_filter: RowFilter) -> Asked:
        """Make a request for the current state of the session."""
        chosen = session.run(session.selected)
        has_chosen = chosen is not None and is_of(table, chosen)
        listed = {run.record.id: run for run in session.checked_runs() if is_of(table, run)}
        if chosen is not None and has_chosen:
            listed = {chosen.record.id: chosen} | listed
        split = session.focus.split
        runs = tuple(
            (run.record, run.look.name, min(split, len(run.record.splits) - 1))
            for run in list(listed.values())[:MOST_RUNS]
        )
        threshold = session.focus.threshold if row_filter.part in (FALSE_ALARM, MISSED) else 0.0
        return cls(table, runs, has_chosen, row_filter, threshold)


def is_of(table: Table, run: ShownRun) -> bool:
    """Return whether a run has scores of a table's rows."""
    record = run.record
    return bool(record.splits) and record.experiment.data.sha256 == table.sha256


@dataclasses.dataclass(frozen=True, eq=False)
class RunColumn:
    """A column added by a run: its scores, or the number of misranked pairs of each row.

    Attributes
    ----------
    column : Column
    part : ndarray of int8 or None
        For scores, which part of the split each row was in.
    about : str
        What it is, in words.
    """

    column: Column
    part: NDArray[np.int8] | None
    about: str

    @functools.cached_property
    def decimals(self) -> int | None:
        """The decimals with which the largest score has five digits, if it can be a decimal."""
        values = self.column.values
        most = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
        fits = self.part is not None and 1e-3 <= most < 1e5
        return 4 - math.floor(math.log10(most)) if fits else None

    @property
    def facts(self) -> str:
        """The line below its name."""
        return "of the chosen run" if self.part is None else "score"


@dataclasses.dataclass(frozen=True, eq=False)
class FoundRows:
    """The rows, in order.

    Attributes
    ----------
    asked : Asked
    rows : ndarray of int
    extras : tuple of RunColumn
    counts : (int, int) or None
        Positives and negatives among them.
    classes : Classes or None
    """

    asked: Asked
    rows: NDArray[np.intp]
    extras: tuple[RunColumn, ...]
    counts: tuple[int, int] | None
    classes: Classes | None


class Finder:
    """Runs row queries and caches what the next one needs."""

    def __init__(self) -> None:
        self._scored: dict[tuple[RunRecord, int], ScoredRows] = {}
        self._classes: tuple[Table, Classes | None] | None = None

    def find(self, asked: Asked, post: Callable[[float], bool]) -> FoundRows:
        """Find the requested rows.

        Raises
        ------
        InputError
            If a condition cannot be read, or scores of a run are damaged.
        """
        table, row_filter = asked.table, asked.row_filter

        def stop() -> None:
            stop_if_asked(post)

        scored = [self._scored_rows(asked, k, stop) for k in range(len(asked.runs))]
        columns = {column.name: column for column in table.columns}
        extras = _extras(asked, scored, columns)
        columns |= {extra.column.name: extra.column for extra in extras}
        query = Query(
            read_conditions(row_filter.text, columns),
            row_filter.of_class,
            row_filter.part,
            row_filter.chosen,
            asked.threshold,
            row_filter.order if row_filter.order in columns else None,
            row_filter.descending,
        )
        rows = find_rows(table, query, columns, scored[0] if asked.has_chosen else None, stop)
        classes = self.classes_of(table)
        counts = None
        if classes is not None:
            counts = int(classes.positive[rows].sum()), int(classes.negative[rows].sum())
        return FoundRows(asked, rows, extras, counts, classes)

    def classes_of(self, table: Table) -> Classes | None:
        """Return the classes of a table, cached."""
        if self._classes is None or self._classes[0] is not table:
            self._classes = table, Classes.of(table)
        return self._classes[1]

    def _scored_rows(self, asked: Asked, k: int, stop: Callable[[], None]) -> ScoredRows:
        stop()
        record, _name, split = asked.runs[k]
        wanted = {(record, split) for record, _name, split in asked.runs}
        kept = {key: value for key, value in self._scored.items() if key in wanted}
        found = kept.get((record, split))
        if found is None:
            found = kept[record, split] = ScoredRows.of(record, split, asked.table.rows)
        self._scored = kept
        return found


def stop_if_asked(post: Callable[[float], bool], part: float = 0.0) -> None:
    """Report progress; raise Stopped if a stop was requested."""
    if post(part):
        raise Stopped("the request was cancelled")


def _extras(
    asked: Asked, scored: list[ScoredRows], taken: Mapping[str, Column]
) -> tuple[RunColumn, ...]:
    found: list[tuple[str, Array, NDArray[np.int8] | None, str]] = []
    for k, ((record, name, split), of_run) in enumerate(zip(asked.runs, scored, strict=True)):
        which = split + 1 if len(record.splits) > 1 else None
        about = text("data_score_about", name=name, split=which)
        found.append((name, of_run.scores, of_run.part, about))
        if k == 0 and asked.has_chosen:
            about = text("data_wrong_pairs_about", name=name, split=which)
            found.append(("wrong pairs", of_run.wrong_pairs, None, about))
    extras, names = [], set(taken)
    for name, values, part, about in found:
        while name in names:
            name += "_"
        names.add(name)
        # Counts of missing and distinct values are not used for these columns.
        extras.append(RunColumn(Column.of_cells(name, values, 0, 0), part, about))
    return tuple(extras)
