"""Add a column of scores, from the table or a file, as a run."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QDialogButtonBox, QWidget

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
    show_note,
)
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.session import Session
from aucstudio.project.data.readers.registry import dialog_filter
from aucstudio.project.data.score_file import Joined, join_scores, read_score_file
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.planning import MARKER, score_columns
from aucstudio.project.work.job import Job

_WIDTH = 420
_ABOUT = (
    "The column becomes a run: nothing is trained, and its scores are compared with those of "
    "other runs on the same held-out rows. Rows without a score are left out."
)
_TABLE, _FILE = "table", "file"
_SOURCES = {_TABLE: "A column of the table", _FILE: "A separate file"}
_NO_COLUMN = "The table has no number column besides the label."


class GivenScoresDialog(prompts.Dialog):
    """Asks for the column of scores, its direction, and whether it stays a feature.

    A file of scores is read and joined to the table in the background.

    Parameters
    ----------
    session : Session
        With a table that has two classes.

    Attributes
    ----------
    joined : Joined or None
        The scores of a file, joined to the rows of the table.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("given_scores_dialog", "Add scores", parent)
        assert session.table is not None
        self._session, self._table = session, session.table
        self._scores: Table | None = None
        self.joined: Joined | None = None
        self._problem = ""
        self._work = Background(self, self._on_finished)
        self.source = choice_box("score_source", "Where the scores are", _SOURCES)
        self.choose = push_button(
            *("score_file_button", "C&hoose…", "", self._on_choose),
            accessible="Choose the score file",
        )
        self.file_name = label("none chosen", "muted", wrap=True, name="score_file_name")
        self.column = make_combo("score_column", "Column that holds the scores")
        self.key = make_combo("score_key", "Row identifier in the file")
        self.identifier = make_combo("score_identifier", "Row identifier in the table")
        self.identifier.addItems(self._row_columns())
        choices = declared_params(METHODS[MARKER])["direction"].choices
        directions = {key: words[0].upper() + words[1:] for key, words in choices.items()}
        self.direction = choice_box("score_direction", "Direction of the scores", directions)
        self.learnt = check_box("score_learnt", "&Also use it as a feature of other methods")
        self.matched = label("", "muted", wrap=True, name="given_scores_matched")
        self.problem = label("", "error", wrap=True, name="given_scores_problem")
        self.ends = answers(self, "given_scores", self._on_add, "&Add")
        self._lay_out()
        for combo in (self.column, self.key, self.identifier):
            combo.activated.connect(lambda _place: self.join())
        self.source.currentIndexChanged.connect(self._on_source)
        self._on_source()

    def _lay_out(self) -> None:
        self._file_row = holding(across((self.file_name, 1), self.choose))
        self._form = Form(
            ("Scores are in", self.source),
            ("File", self._file_row),
            ("Column", self.column),
            ("Row names", self.key),
            ("In the table", self.identifier),
            ("Positive is", self.direction),
        )
        about = label(_ABOUT, "muted", wrap=True, name="given_scores_about")
        notes = (self.learnt, self.matched, self.problem)
        self.setLayout(down(about, self._form, *notes, self.ends, gap=12, around=16))
        self.setMinimumWidth(_WIDTH)
        self.source.setFocus()

    @property
    def _of_file(self) -> bool:
        return bool(self.source.currentData() == _FILE)

    def _row_columns(self) -> list[str]:
        return [column.name for column in self._table.columns if column.role != "label"]

    def _on_source(self) -> None:
        source = self._scores if self._of_file else self._table
        self.column.clear()
        self.column.addItems([] if source is None else list(score_columns(source)))
        if self._of_file:
            self.join()
        self.learnt.setVisible(not self._of_file)
        for field in (self._file_row, self.key, self.identifier):
            self._form.setRowVisible(field, self._of_file)
        self._refresh()
        self.adjustSize()

    def _refresh(self) -> None:
        """Show the matched rows, or why there is nothing to add."""
        joined, problem = self.joined, self._problem
        if not self._of_file:
            joined, problem = None, "" if self.column.count() else _NO_COLUMN
        show_note(self.matched, "" if joined is None else joined.sentence(), "muted")
        show_note(self.problem, problem, "error")
        ready = joined is not None if self._of_file else not problem
        self.ends.button(QDialogButtonBox.StandardButton.Ok).setEnabled(ready)

    # ------------------------------------------------------------- a file

    def _on_choose(self) -> None:
        path = prompts.ask_open_path(self, "Scores to add", dialog_filter())
        if path:
            self.read(path)

    def read(self, path: str) -> None:
        """Start to read a file."""
        self._scores, self.joined, self._problem = None, None, ""
        self.file_name.setText(path.rpartition("/")[2])
        plain_tooltip(self.file_name, path)
        self._work.start(path, lambda _post: read_score_file(path))
        self._refresh()

    def join(self) -> None:
        """Start to join the scores by the chosen columns."""
        scores, table = self._scores, self._table
        if scores is None:
            return
        self.joined, self._problem = None, ""
        chosen = [combo.currentText() for combo in (self.column, self.key, self.identifier)]
        if chosen[0]:
            self._work.start(chosen, lambda _post: join_scores(table, scores, *chosen))
        else:
            self._problem = f"{scores.path} has no column of numbers."
        self._refresh()

    def _on_finished(self, _key: object, job: Job[Any, Table | Joined]) -> None:
        if job.error is not None:
            self._problem = str(job.error)
        elif isinstance(job.result, Joined):
            self.joined = job.result
        elif isinstance(job.result, Table):
            self._scores = job.result
            self._match()
            self._on_source()
        self._refresh()

    def _match(self) -> None:
        """Choose the columns that identify rows: the identifier, or a name in both tables."""
        assert self._scores is not None
        names = [column.name for column in self._scores.columns]
        self.key.clear()
        self.key.addItems(names)
        known = [column.name for column in self._table.columns if column.role == "id"]
        both = [name for name in self._row_columns() if name in names]
        found = [name for name in known if name in names] or known or both or [""]
        self.identifier.setCurrentIndex(max(0, self.identifier.findText(found[0])))
        self.key.setCurrentIndex(max(0, self.key.findText(found[0])))

    # ------------------------------------------------------------- ending

    def _on_add(self) -> None:
        column, joined = self.column.currentText(), self.joined if self._of_file else None
        try:
            self._session.runs.run_scores(self.direction.currentData(), column, joined)
            if not self._of_file and not self.learnt.isChecked():
                self._session.keep_from_methods(column)
        except InputError as error:
            show_note(self.problem, str(error), "error")
            return
        self.accept()

    def done(self, result: int) -> None:
        """Cancel and close."""
        self._work.drop()
        super().done(result)
