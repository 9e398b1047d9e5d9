"""Add a column of scores, from the table or a file, as a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QComboBox, QDialogButtonBox, QWidget

from aucstudio.engine import METHODS, declared_params
from aucstudio.gui.common import prompts
from aucstudio.gui.common.form import Form, choice_box
from aucstudio.gui.common.layouts import across, down, holding
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.widgets import (
    answers,
    check_box,
    label,
    make_combo,
    push_button,
    tell,
)
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.session import Session
from aucstudio.project.data.readers.registry import dialog_filter
from aucstudio.project.data.score_file import Joined, join_scores, read_score_file
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.given_scores import MARKER, score_columns
from aucstudio.project.work.job import Job


@dataclasses.dataclass(frozen=True)
class _Request:
    """A file to read, and the columns to join it by."""

    path: str
    column: str = ""
    key: str = ""
    identifier: str = ""


class ScoreFileFields(QObject):
    """Fields of a score file; it is read and joined in the background.

    Parameters
    ----------
    table : Table
        The table that gets the scores.
    columns : QComboBox
        List of the columns of the file that may hold the scores.
    parent : QWidget

    Attributes
    ----------
    changed : Signal
        Reading or joining has ended.
    joined : Joined or None
    problem : str
        Why nothing was joined, if known.
    """

    changed = Signal()

    def __init__(self, table: Table, columns: QComboBox, parent: QWidget) -> None:
        super().__init__(parent)
        self._table, self._columns, self._parent = table, columns, parent
        self._scores: Table | None = None
        self.joined: Joined | None = None
        self.problem = ""
        self.choose = push_button(
            *("score_file_button", "C&hoose…", "", self._on_choose),
            accessible="Choose the score file",
        )
        self.file_name = label("none chosen", "muted", wrap=True, name="score_file_name")
        self.key = make_combo("score_key", "Row identifier in the file")
        self.identifier = make_combo("score_identifier", "Row identifier in the table")
        self.identifier.addItems(
            [column.name for column in table.columns if column.role != "label"]
        )
        for combo in (columns, self.key, self.identifier):
            combo.activated.connect(lambda _at: self.join())
        self._background = Background(self, self._on_finished)
        self.destroyed.connect(self._background.stop)

    def fill(self) -> None:
        """List the columns of the file that can be scores."""
        self._columns.clear()
        if self._scores is not None:
            self._columns.addItems(score_columns(self._scores))

    def read(self, path: str) -> None:
        """Start to read a file."""
        self._scores, self.joined, self.problem = None, None, ""
        self.changed.emit()
        self.file_name.setText(path.rpartition("/")[2])
        plain_tooltip(self.file_name, path)
        self._background.start(_Request(path), lambda _post: read_score_file(path))

    def join(self) -> None:
        """Start to join the scores by the chosen columns."""
        scores, table = self._scores, self._table
        if scores is None:
            return
        request = _Request(
            str(scores.path),
            self._columns.currentText(),
            self.key.currentText(),
            self.identifier.currentText(),
        )
        self.joined, self.problem = None, ""
        if not request.column:
            self.problem = f"{request.path} has no column of numbers."
            self.changed.emit()
            return
        self._background.start(
            request,
            lambda _post: join_scores(
                table, scores, request.column, request.key, request.identifier
            ),
        )

    def _on_choose(self) -> None:
        path = prompts.ask_open_path(self._parent, "Scores to add", dialog_filter())
        if path:
            self.read(path)

    def _on_finished(self, request: _Request, job: Job[Any, Table | Joined]) -> None:
        if job.error is not None:
            self.problem = str(job.error)
        elif isinstance(job.result, Joined):
            self.joined = job.result
        elif isinstance(job.result, Table):
            self._scores = job.result
            self._match()
            self.fill()
            self.join()
        self.changed.emit()

    def _match(self) -> None:
        """Choose the columns that identify rows: the identifier, or a name in both tables."""
        assert self._scores is not None
        names = [column.name for column in self._scores.columns]
        self.key.clear()
        self.key.addItems(names)
        own = [column for column in self._table.columns if column.role != "label"]
        known = [column.name for column in own if column.role == "id"]
        both = [column.name for column in own if column.name in names]
        identifier = next(iter([n for n in known if n in names] or known or both), "")
        self.identifier.setCurrentIndex(max(0, self.identifier.findText(identifier)))
        self.key.setCurrentIndex(max(0, self.key.findText(identifier)))


_WIDTH = 420
_ABOUT = (
    "The column becomes a run: nothing is trained, and its scores are compared with those of "
    "other runs on the same held-out rows. Rows without a score are left out."
)
_TABLE, _FILE = "table", "file"
_SOURCES = {_TABLE: "A column of the table", _FILE: "A separate file"}


class GivenScoresDialog(prompts.Dialog):
    """Asks for the column of scores, its direction, and whether it stays a feature.

    Parameters
    ----------
    session : Session
        With a table that has two classes.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("given_scores_dialog", "Add scores", parent)
        self._session = session
        self.source = choice_box("score_source", "Where the scores are", _SOURCES)
        self.column = make_combo("score_column", "Column that holds the scores")
        assert session.table is not None
        self.file = ScoreFileFields(session.table, self.column, self)
        self.direction = make_combo("score_direction", "Direction of the scores")
        self.learnt = check_box("score_learnt", "&Also use it as a feature of other methods")
        self.matched = label("", "muted", wrap=True, name="given_scores_matched")
        self.problem = label("", "error", wrap=True, name="given_scores_problem")
        self.ends = answers(self, "given_scores", self._on_add, "&Add")
        choices = declared_params(METHODS[MARKER])["direction"].choices
        for key, words in choices.items():
            self.direction.addItem(words[0].upper() + words[1:], key)
        self._lay_out()
        self.source.currentIndexChanged.connect(self._on_source)
        self.file.changed.connect(self._refresh)
        self._on_source()

    @property
    def _of_file(self) -> bool:
        return bool(self.source.currentData() == _FILE)

    def _on_source(self) -> None:
        table = self._session.table
        if self._of_file:
            self.file.fill()
            self.file.join()
        else:
            names: Sequence[str] = [] if table is None else score_columns(table)
            self.column.clear()
            self.column.addItems(list(names))
        self.learnt.setVisible(not self._of_file)
        for field in (self._file_row, self.file.key, self.file.identifier):
            self._form.setRowVisible(field, self._of_file)
        self._refresh()
        self.adjustSize()

    def _refresh(self) -> None:
        """Show the matched rows, or why there is nothing to add."""
        joined, problem = self.file.joined, self.file.problem
        if not self._of_file:
            joined, none = None, "The table has no number column besides the label."
            problem = "" if self.column.count() else none
        tell(self.matched, "" if joined is None else joined.sentence(), "muted")
        tell(self.problem, problem, "error")
        ready = joined is not None if self._of_file else not problem
        self.ends.button(QDialogButtonBox.StandardButton.Ok).setEnabled(ready)

    def _lay_out(self) -> None:
        self._file_row = holding(across((self.file.file_name, 1), self.file.choose))
        self._form = Form(
            ("Scores are in", self.source),
            ("File", self._file_row),
            ("Column", self.column),
            ("Row names", self.file.key),
            ("In the table", self.file.identifier),
            ("Positive is", self.direction),
        )
        about = label(_ABOUT, "muted", wrap=True, name="given_scores_about")
        told = (self.learnt, self.matched, self.problem)
        self.setLayout(down(about, self._form, *told, self.ends, gap=12, around=16))
        self.setMinimumWidth(_WIDTH)
        self.source.setFocus()

    def _on_add(self) -> None:
        column, joined = self.column.currentText(), self.file.joined
        try:
            joined = joined if self._of_file else None
            self._session.runs.run_scores(self.direction.currentData(), column, joined)
            if not self._of_file and not self.learnt.isChecked():
                self._session.keep_from_methods(column)
        except InputError as error:
            tell(self.problem, str(error), "error")
            return
        self.accept()
