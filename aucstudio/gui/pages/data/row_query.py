"""Rows that are shown: their filters, the query on a thread, and what they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from aucstudio.engine.arrays import Array
from aucstudio.gui.common.controls import declared_items, fill_combo
from aucstudio.gui.common.layouts import across, down
from aucstudio.gui.common.rows_model import RunColumn
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.widgets import (
    ElidedCombo,
    enable_item,
    label,
    named,
    quietly,
    search_field,
    set_style,
    show_note,
)
from aucstudio.gui.state.background import delayed, stopping
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.project.data.columns import Column
from aucstudio.project.data.table import Table
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.survey.columns import Classes
from aucstudio.project.survey.conditions import Condition, read_conditions
from aucstudio.project.survey.rows import (
    ALL,
    CHOSEN,
    FALSE_ALARM,
    HELD,
    MISRANKED,
    MISSED,
    TRAINED_ON,
    Query,
    ScoredRows,
    find_rows,
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
        has_chosen = chosen is not None and chosen.is_of(table)
        listed = {run.record.id: run for run in session.checked_runs() if run.is_of(table)}
        if chosen is not None and has_chosen:
            listed = {chosen.record.id: chosen} | listed
        split = session.focus.split
        runs = tuple(
            (run.record, run.look.name, min(split, len(run.record.splits) - 1))
            for run in list(listed.values())[:MOST_RUNS]
        )
        threshold = session.focus.threshold if row_filter.part in (FALSE_ALARM, MISSED) else 0.0
        return cls(table, runs, has_chosen, row_filter, threshold)


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

        stop = stopping(post)
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
    for shown, values, part, about in found:
        name = shown.replace("\N{NO-BREAK SPACE}", " ")  # it may be the head of a file
        while name in names:
            name += "_"
        names.add(name)
        # Counts of missing and distinct values are not used for these columns.
        extras.append(RunColumn(Column.of_cells(name, values, 0, 0), part, about))
    return tuple(extras)


_PART_TEXTS = {
    HELD: "data_rows_held_out",
    TRAINED_ON: "data_rows_training",
    MISRANKED: "data_rows_misranked",
    FALSE_ALARM: "data_rows_false_positive",
    MISSED: "data_rows_missed_positive",
    CHOSEN: "data_rows_chosen",
}


def rows_sentence(found: FoundRows) -> Statement:
    """State which rows are shown."""
    asked, row_filter = found.asked, found.asked.row_filter
    shown, total, counts, classes = len(found.rows), asked.table.rows, found.counts, found.classes
    has_classes = counts is not None and classes is not None and shown > 0
    record, name, split = asked.runs[0] if asked.has_chosen else (None, "", 0)
    head = text(
        "data_rows",
        part="all" if shown == total else "some" if shown else "none",
        some=shown if 0 < shown < total else None,
        total=total,
        positives=counts[0] if counts is not None and has_classes else None,
        negatives=counts[1] if counts is not None else 0,
        positive="" if classes is None else classes.names[0],
        negative="" if classes is None else classes.names[1],
    )
    of_run = f"split {split + 1} of {name}" if record and len(record.splits) > 1 else name
    part, order = row_filter.part, row_filter.order
    way = "downwards" if row_filter.descending else "upwards"
    return Statement.of(
        head,
        "" if part == ALL else text(_PART_TEXTS[part], run=of_run),
        "" if order is None else text("data_rows_sorted", order=order, way=way),
        text("data_rows_scored") if asked.runs else "",
    )


_TYPING_MILLISECONDS = 300


class Filters(QWidget):
    """Controls of a row query; ``changed`` is emitted when the query changes."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        named(self, "data_filters", "Which rows are shown")
        self.row_filter = RowFilter()
        self.field = search_field("data_filter_edit")
        self.class_combo = named(ElidedCombo(), "data_class_combo")
        self.part_combo = named(ElidedCombo(), "data_part_combo")
        fill_combo(self.part_combo, declared_items("data_part_combo"))
        self.count = label("", "muted", name="data_count")
        self.problem = label("", "error", wrap=True, name="data_problem")
        self.problem.hide()
        self.setLayout(down(across((self.field, 1), self.count), self.problem, gap=4))
        self._typing = delayed(self, _TYPING_MILLISECONDS, self._take)
        self.field.textChanged.connect(lambda _text: self._typing.start())
        self.field.returnPressed.connect(self._take)
        for combo in (self.class_combo, self.part_combo):
            combo.activated.connect(lambda _index: self._take())

    def offer(self, table: Table, has_run: bool) -> None:
        """Offer the classes of a table, and the parts of a run where there is one."""
        wanted: list[tuple[str, object]] = [("All classes", None)]
        wanted += [(name, name) for name in table.classes]
        wanted += [("Without a label", "")] if table.unlabelled else []
        fill_combo(self.class_combo, wanted)
        for part in (ALL, *_PART_TEXTS):
            here = part == ALL or (bool(self.row_filter.chosen) if part == CHOSEN else has_run)
            enable_item(self.part_combo, part, here)
        row_filter = self.row_filter
        if row_filter.of_class not in {data for _words, data in wanted}:
            row_filter = dataclasses.replace(row_filter, of_class=None)
        if not has_run and row_filter.part not in (ALL, CHOSEN):
            row_filter = dataclasses.replace(row_filter, part=ALL)
        self.put(row_filter)

    def put(self, row_filter: RowFilter) -> None:
        """Show another query without emitting a signal."""
        self.row_filter = row_filter
        self._typing.stop()
        if self._typed() != row_filter.text:
            quietly(self.field.setText, row_filter.text)
        _choose(self.class_combo, row_filter.of_class)
        enable_item(self.part_combo, CHOSEN, bool(row_filter.chosen))
        _choose(self.part_combo, row_filter.part)

    def ask(self, **changes: object) -> None:
        """Change the query, and notify."""
        row_filter = dataclasses.replace(self.row_filter, **changes)  # type: ignore[arg-type]
        if row_filter != self.row_filter:
            self.put(row_filter)
            self.changed.emit()

    def narrow(self, condition: Condition) -> None:
        """Add a condition."""
        parts = [part for part in (self._typed(), str(condition)) if part]
        self.ask(text="; ".join(dict.fromkeys(parts)))

    def show_count(self, shown: int, rows: int) -> None:
        """Show how many rows there are."""
        self.count.setText(f"{shown:,} of {rows:,} rows")

    def show_problem(self, words: str) -> None:
        """Show the error in the conditions, if any."""
        show_note(self.problem, words, "error")
        set_style(self.field, "invalid", bool(words))

    def _typed(self) -> str:
        return self.field.text().strip().rstrip(";").strip()

    def _take(self) -> None:
        self._typing.stop()
        self.ask(
            text=self._typed(),
            of_class=self.class_combo.currentData(),
            part=self.part_combo.currentData() or ALL,
        )


def _choose(combo: QComboBox, data: object) -> None:
    for k in range(combo.count()):
        # Not by findData, which takes None and an empty text for the same.
        if combo.itemData(k) == data and (combo.itemData(k) is None) == (data is None):
            combo.setCurrentIndex(k)
            return
