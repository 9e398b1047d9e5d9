"""Contributions of columns to the score of one row."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np
from PySide6.QtCore import QSignalBlocker, Signal

from aucstudio.gui.common.form import whole_box
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.whiskers import Whisker, WhiskerChart
from aucstudio.gui.pages.model.model_picture import Columns, LongPicture, ModelSubject, Post
from aucstudio.gui.state.background import Work
from aucstudio.notices import text, texts
from aucstudio.project.explain.contributions import (
    CSV_HEAD,
    Contribution,
    RowDetail,
    about,
    as_lines,
    cell_words,
    explain_row,
    identifiers,
    score_headline,
    signed_cell,
    tip,
)
from aucstudio.project.runs.record import RunRecord

_SHOWN, _MOST_SHOWN = 15, 500  # lines, of all columns too
_REACH = 1.96  # standard errors to either end of a 95 % interval


class RowPart(LongPicture[RowDetail]):
    """Contributions of columns to the score of one row; they appear as they are computed."""

    key: ClassVar = "row"
    title: ClassVar = "One row"
    tip: ClassVar = "model_row_tip"
    table: ClassVar = "model_row_table"
    busy: ClassVar = "model_row_busy"
    unstarted: ClassVar = "model_row_unstarted"
    of_one_split: ClassVar = True
    keep: ClassVar = 16
    pointed = Signal(int)  # the number of a row was entered

    def __init__(self) -> None:
        super().__init__(WhiskerChart("model_row_plot", "", filled=True))
        self._make_controls()

    def _make_controls(self) -> None:
        self.row_box = self.row.put(whole_box("model_row_box", 0, 0))
        self.row_box.setKeyboardTracking(False)
        self.row_box.setPrefix("Row ")
        self.row_box.setGroupSeparatorShown(True)
        self.row_box.valueChanged.connect(self._on_number)
        self.all_check = self.row.check("model_row_all_check", self.redraw)
        self.make_progress("model_row")

    # ------------------------------------------------------------- computing

    def show_subject(self, subject: ModelSubject) -> None:
        if subject.row is None and subject.table is not None:
            subject = dataclasses.replace(subject, row=_worst_positive(subject))
        table, row = subject.table, subject.row
        with QSignalBlocker(self.row_box):
            # The minimum, 0, means that no row is selected.
            self.row_box.setRange(0, 0 if table is None else table.rows)
            self.row_box.setSpecialValueText("No row")
            self.row_box.setValue(0 if row is None else row + 1)
        self.row_box.setEnabled(table is not None)
        super().show_subject(subject)

    def _on_number(self, number: int) -> None:
        if number > 0:
            self.pointed.emit(number - 1)

    def request_key(self, subject: ModelSubject) -> tuple[object, ...]:
        assert subject.table is not None
        return *subject.key, subject.index, subject.table.sha256, subject.row

    def why_none(self, subject: ModelSubject) -> str:
        row, table = subject.row, subject.table
        is_missing = table is not None and (row is None or row >= table.rows)
        return text("model_row_none") if is_missing else super().why_none(subject)

    def work(self, subject: ModelSubject) -> Work[RowDetail]:
        split, row = subject.split, subject.row
        assert row is not None

        def work(post: Post) -> RowDetail:
            def listen(share: float, sofar: RowDetail | None) -> bool:
                return post(share if sofar is None else sofar)

            weights = split.train_weights
            return explain_row(
                subject.data, split.model, row, split.train_rows, weights=weights, listen=listen
            )

        return work

    # ------------------------------------------------------------- drawing

    def is_complete(self, found: RowDetail) -> bool:
        return found.found.complete

    def show_progress(self) -> None:
        super().show_progress()
        columns = 0 if self.found is None else len(self.found.parts)
        self.all_check.setVisible(columns > _SHOWN)

    def draw(self, subject: ModelSubject, found: RowDetail) -> None:
        self.plot.setLabel("bottom", text("model_row_axis"))
        model = subject.split.model
        most = _MOST_SHOWN if self.all_check.isChecked() else _SHOWN
        rows = [_whisker(part, exact=found.exact) for part in found.shown(most)]
        self.chart.show_rows(rows, subject.run.look)
        self.chart.name_sides(f"towards {model.positive}", f"towards {model.negative}")
        about_row = [*identifiers(subject.data, found.row), _outcome(subject, found)]
        label = ", ".join(filter(None, about_row))
        words = score_headline(found, found.row + 1, "the training rows", label)
        if self._answer.busy:
            details = [text("model_row_sampling")]
        else:
            place = _place(subject.record, subject.index, found.row)
            details = [_facts(subject, found.row), place, *texts(about(found))]
        self.message.emit(Statement.of(words, *details))

    def columns(self, found: RowDetail) -> Columns:
        return dict(zip(CSV_HEAD, map(list, zip(*as_lines(found), strict=True)), strict=True))


def _worst_positive(subject: ModelSubject) -> int | None:
    """Return the held-out positive with the lowest score; None where none is of the table."""
    if subject.run.record.experiment.validation.scheme == "file":
        return None
    split = subject.split
    rows, scores = split.test_rows[split.test_positive], split.test_scores[split.test_positive]
    return int(rows[np.argmin(scores)]) if len(rows) else None


def _whisker(part: Contribution, *, exact: bool) -> Whisker:
    reach = np.nan if exact or part.standard_error == 0 else _REACH * part.standard_error
    value = part.contribution
    name = f"{part.column} = {signed_cell(part.value)}" if part.usual else part.column
    return Whisker(name, value, value - reach, value + reach, tip(part, exact=exact))


def _outcome(subject: ModelSubject, found: RowDetail) -> str:
    """Return the class of a row as the table spells it, and whether it is predicted."""
    labels = (column for column in subject.data.columns if column.role == "label")
    label = next((cell_words(column, found.row) for column in labels), "")
    above, positive = found.score > subject.threshold, subject.split.class_of(found.row)
    if not label or positive is None:
        return label
    kind = f"{'true' if above == positive else 'false'} {'positive' if above else 'negative'}"
    trained = found.row in subject.split.train_rows
    about = {"positive": positive, "above": above, "trained": trained}
    return text("model_row_outcome", label=label, kind=kind, **about)


def _facts(subject: ModelSubject, row: int) -> str:
    """State the identifier and the label of a row."""
    columns = [column for column in subject.data.columns if column.role in ("id", "label")]
    return text(
        "model_row_facts", facts=[f"{c.name} = {signed_cell(cell_words(c, row))}" for c in columns]
    )


def _place(record: RunRecord, index: int, row: int) -> str:
    """State whether the model was trained on the row, and which split held it out."""
    split = record.splits[index]
    several = len(record.splits) > 1
    which = f"Split {index + 1}" if several else f"The {record.experiment.method} run"
    if record.experiment.validation.scheme == "file":
        return text("model_row_all_rows")
    if row in split.test_rows:
        return text("model_row_held", which=which)
    trained = row in split.train_rows
    others = (k + 1 for k, one in enumerate(record.splits) if k != index and row in one.test_rows)
    return text(
        "model_row_seen",
        unlabelled=not trained,
        which=which if trained else None,
        other=next(others, None),
    )
