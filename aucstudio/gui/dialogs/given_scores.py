"""A column, of the table or of a file, as the scores of a run: a marker, another's model."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QWidget

from aucstudio.engine import METHODS, declared_params
from aucstudio.gui.common.boxes import down
from aucstudio.gui.common.form import Form, choice_box
from aucstudio.gui.common.widgets import (
    answers,
    label,
    make_combo,
    named,
    tell,
)
from aucstudio.gui.dialogs.score_file_fields import ScoreFileFields
from aucstudio.gui.state.session import Session
from aucstudio.project.errors import InputError
from aucstudio.project.runs.given_scores import MARKER, score_columns

_WIDTH = 420
_ABOUT = (
    "The column becomes a run: nothing is trained, and its scores are compared with those of "
    "other runs on the rows that these hold out. Rows without a score are left out."
)
_TABLE, _FILE = "table", "file"
_SOURCES = {_TABLE: "A column of the table", _FILE: "A file of their own"}


class GivenScoresDialog(QDialog):
    """Asks which column holds the scores, which values mean positive, and who may learn from it.

    Parameters
    ----------
    session : Session
        With a table that has two classes.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("given_scores_dialog")
        self.setWindowTitle("Add scores")
        self._session = session
        self.source = choice_box("score_source", "Where the scores are", _SOURCES)
        self.column = make_combo("score_column", "Column that holds the scores")
        assert session.table is not None
        self.file = ScoreFileFields(session.table, self.column, self)
        self.direction = make_combo("score_direction", "Which values mean positive")
        self.learnt = named(
            QCheckBox("&Use it as a feature of other methods"),
            "score_learnt",
            "Use the column as a feature of other methods",
        )
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
        """Show what was matched, or why there is nothing to add."""
        joined, problem = self.file.joined, self.file.problem
        if not self._of_file:
            joined, none = None, "The table has no number column besides the label."
            problem = "" if self.column.count() else none
        tell(self.matched, "" if joined is None else joined.sentence(), "muted")
        tell(self.problem, problem, "error")
        ready = joined is not None if self._of_file else not problem
        self.ends.button(QDialogButtonBox.StandardButton.Ok).setEnabled(ready)

    def _lay_out(self) -> None:
        self._file_row = self.file.file_row()
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
            if self._of_file:
                assert joined is not None
                self._session.run_joined_scores(joined, self.direction.currentData())
                self.accept()
                return
            self._session.run_scores(column, self.direction.currentData())
            if not self.learnt.isChecked():
                self._session.keep_from_methods(column)
        except InputError as error:
            tell(self.problem, str(error), "error")
            return
        self.accept()
