"""One row: what each column did to its score, as bars."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QProgressBar, QPushButton, QSpinBox

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.statement import Statement
from aucstudio.gui.common.whiskers import Whisker, WhiskerChart
from aucstudio.gui.common.widgets import FIELD_MARGINS, named
from aucstudio.gui.pages.model.part import Columns, ModelPicture, ModelSubject
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.explain.one_row import Moved, RowDetail, explain_row
from aucstudio.project.explain.row_words import CSV_HEAD, about, as_lines, headline, tip
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.work.job import Job, describe_failure

_SHOWN, _MOST_SHOWN = 15, 500  # lines, of all columns too
_REMEMBERED = 16
_REACH = 1.96  # standard errors to either end of a 95 % interval
_NO_ROW = "Which row? Give its number, or point at one in Data, Scores, Differences or Features."

Key = tuple[Any, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Explained:
    """A row taken apart, and where the run had it.

    Attributes
    ----------
    detail : RowDetail
    place : str
        Whether the model has seen the row, in one sentence.
    """

    detail: RowDetail
    place: str


Message = float | RowDetail


class RowPart(ModelPicture):
    """Works in the background; bars come as soon as they can be told, and settle."""

    key: ClassVar = "row"
    title: ClassVar = "One row"
    tip: ClassVar = "What each column did to the score of the row that is pointed at"
    of_one_split: ClassVar = True
    pointed = Signal(int)  # the number of a row was given

    def __init__(self) -> None:
        super().__init__()
        self.chart = WhiskerChart("model_row_plot", "", filled=True)
        self.plot = self.chart.plot
        self.box.addWidget(self.chart)
        self.found: Explained | None = None
        self._known: dict[Key, Explained] = {}
        self._work = Background(self, self._land, self._hear)
        self._make_controls()

    def _make_controls(self) -> None:
        self.row_box = named(QSpinBox(), "model_row_box", "Row")
        self.row_box.setKeyboardTracking(False)
        self.row_box.setPrefix("Row ")
        self.row_box.setGroupSeparatorShown(True)
        self.row_box.lineEdit().setTextMargins(*FIELD_MARGINS)
        plain_tooltip(self.row_box, "Number of the row in the table, from 1")
        self.row_box.valueChanged.connect(self._on_number)
        self.all_check = named(QCheckBox("&All columns"), "model_row_all_check", "All columns")
        plain_tooltip(self.all_check, f"Off: those that moved the score most, {_SHOWN} lines")
        self.all_check.toggled.connect(lambda _on: self._draw())
        self.bar_done = named(QProgressBar(), "model_row_progress", "Progress")
        self.bar_done.setTextVisible(False)
        self.bar_done.setFixedWidth(64)
        self.stop_button = named(QPushButton("S&top"), "model_row_stop_button", "Stop drawing")
        plain_tooltip(self.stop_button, "Keep the contributions as they stand")
        self.stop_button.clicked.connect(self._work.stop)
        self.again_button = named(
            QPushButton("&Go on"), "model_row_again_button", "Draw to the end"
        )
        plain_tooltip(self.again_button, "Draw until the error is small")
        self.again_button.clicked.connect(self._on_again)
        for control in (
            self.row_box,
            self.all_check,
            self.bar_done,
            self.stop_button,
            self.again_button,
        ):
            self.add_control(control)
        self._show_state()

    def suits(self, run: ShownRun) -> bool:
        return True

    def busy(self) -> bool:
        return self._work.busy

    def leave(self) -> None:
        self._work.drop()
        self.subject = None

    # ------------------------------------------------------------- computing

    def show_subject(self, subject: ModelSubject) -> None:
        self.subject = subject
        table, row = subject.table, subject.row
        self._show_number(subject)
        if table is None:
            self._show_none("Open the table of this run to explain its rows.")
        elif row is None or row >= table.rows:
            self._show_none(_NO_ROW)
        else:
            self._ask(subject, row)

    def _show_number(self, subject: ModelSubject) -> None:
        table, row = subject.table, subject.row
        with QSignalBlocker(self.row_box):
            # The number below the first says that there is none.
            self.row_box.setRange(0, 0 if table is None else table.rows)
            self.row_box.setSpecialValueText("No row")
            self.row_box.setValue(0 if row is None else row + 1)
        self.row_box.setEnabled(table is not None)

    def _on_number(self, number: int) -> None:
        if number > 0:
            self.pointed.emit(number - 1)

    def _key(self, subject: ModelSubject) -> Key:
        record = subject.run.record
        assert subject.table is not None
        return record.id, record.created, subject.index, subject.table.sha256, subject.row

    def _ask(self, subject: ModelSubject, row: int) -> None:
        key = self._key(subject)
        if key in self._known:
            self._work.drop()
            self.found = self._known[key]
            self._draw()
        elif key != self._work.key:
            self._start(subject, row)
        else:
            self._draw()

    def _start(self, subject: ModelSubject, row: int) -> None:
        table, record, index = subject.table, subject.run.record, subject.index
        assert table is not None

        def work(post: Callable[[Message], bool]) -> Explained:
            split = record.splits[index]

            def listen(share: float, sofar: RowDetail | None) -> bool:
                return post(share if sofar is None else sofar)

            train = split.train_rows
            rows = record.experiment.data.with_scores(table)
            detail = explain_row(rows, split.model, row, train, listen=listen)
            return Explained(detail, _place(record, index, row))

        self.found = None
        self.bar_done.setValue(0)
        self._work.start(self._key(subject), work)
        if self._work.busy:
            self.chart.show_rows([], subject.run.look)
            self.told.emit(f"Taking the score of row {row + 1:,} apart…")
        self._show_state()

    def _on_again(self) -> None:
        subject = self.subject
        if subject is not None and subject.table is not None and subject.row is not None:
            self._known.pop(self._key(subject), None)
            self._start(subject, subject.row)

    def _hear(self, message: Message) -> None:
        if isinstance(message, float):
            self.bar_done.setValue(round(100 * message))
            return
        self.found = Explained(message, "")
        self._draw()

    def _land(self, key: Key, job: Job[Message, Explained]) -> None:
        if isinstance(job.error, Stopped):
            self._show_none("Stopped before anything could be told.")
            self.again_button.setVisible(True)
        elif job.error is not None:
            self._show_none(describe_failure(job.error)[0])
        elif job.result is not None:
            self.found = job.result
            if len(self._known) >= _REMEMBERED:
                del self._known[next(iter(self._known))]
            self._known[key] = job.result
            self._draw()

    # ------------------------------------------------------------- drawing

    def _show_none(self, sentence: str) -> None:
        self.found = None
        self._work.drop()
        if self.subject is not None:
            self.chart.show_rows([], self.subject.run.look)
        self._show_state()
        self.told.emit(sentence)

    def _show_state(self) -> None:
        busy = self._work.busy
        self.bar_done.setVisible(busy)
        self.stop_button.setVisible(busy)
        complete = self.found is None or self.found.detail.found.complete
        self.again_button.setVisible(not busy and not complete)
        columns = 0 if self.found is None else len(self.found.detail.parts)
        self.all_check.setVisible(columns > _SHOWN)

    def _draw(self) -> None:
        self._show_state()
        if self.found is None or self.subject is None:
            return
        detail, subject = self.found.detail, self.subject
        name = subject.split.model.positive
        self.plot.setLabel("bottom", f"Moves the score (to the right: towards {name})")
        most = _MOST_SHOWN if self.all_check.isChecked() else _SHOWN
        rows = [_whisker(part, exact=detail.exact) for part in detail.shown(most)]
        self.chart.show_rows(rows, subject.run.look)
        others = "the training rows"
        if self._work.busy:
            words = headline(detail, detail.row + 1, others)
            self.told.emit(Statement.of(words, "Still drawing: the error gets smaller."))
            return
        told = filter(None, [self.found.place, *about(detail)])
        self.told.emit(Statement.of(headline(detail, detail.row + 1, others), *told))

    def data(self) -> Columns:
        if self.found is None:
            return {}
        return dict(
            zip(CSV_HEAD, map(list, zip(*as_lines(self.found.detail), strict=True)), strict=True)
        )


def _whisker(part: Moved, *, exact: bool) -> Whisker:
    reach = np.nan if exact or part.error == 0 else _REACH * part.error
    value = part.contribution
    name = f"{part.column} = {part.cell}" if part.usual else part.column
    return Whisker(name, value, value - reach, value + reach, tip(part, exact=exact))


def _place(record: RunRecord, index: int, row: int) -> str:
    """Say whether the model has seen the row, and which one has not."""
    split = record.splits[index]
    several = len(record.splits) > 1
    which = f"Split {index + 1}" if several else f"The {record.experiment.method} run"
    if record.experiment.validation.scheme == "file":
        return "The row is one of the table's, which the model was trained on."
    if row in split.test_rows:
        return f"{which} held this row out."
    seen = f"{which} trained on this row" if row in split.train_rows else "The row has no label"
    others = (k + 1 for k, one in enumerate(record.splits) if k != index and row in one.test_rows)
    held = next(others, None) if several else None
    return f"{seen}." if held is None else f"{seen}; split {held} held it out."
