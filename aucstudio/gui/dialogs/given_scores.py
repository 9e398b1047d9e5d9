"""A column of the table entered as the scores of a run: a marker, another program's model."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from aucstudio.engine import METHODS, declared_params
from aucstudio.gui.common.widgets import (
    dialog_buttons,
    field_label,
    fields_grid,
    label,
    make_combo,
    named,
    primary,
    tell,
)
from aucstudio.gui.state.session import Session
from aucstudio.project.errors import InputError
from aucstudio.project.runs.given_scores import MARKER, score_columns

_WIDTH = 420
_ABOUT = (
    "The column is a run as it is: nothing is trained, and its scores are compared with those of "
    "other runs on the rows that these hold out. Rows without a score are set aside."
)


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
        self.column = make_combo("score_column", "Column that holds the scores")
        self.direction = make_combo("score_direction", "Which values mean positive")
        self.learnt = named(
            QCheckBox("&Other methods may learn from it"),
            "score_learnt",
            "Other methods may learn from the column",
        )
        self.problem = label("", "error", wrap=True, name="given_scores_problem")
        self.ends = dialog_buttons(
            QDialogButtonBox.StandardButton.Ok,
            QDialogButtonBox.StandardButton.Cancel,
            name="given_scores",
        )
        self._fill()
        self._lay_out()
        self.ends.accepted.connect(self._on_add)
        self.ends.rejected.connect(self.reject)

    def _fill(self) -> None:
        table = self._session.table
        names: Sequence[str] = [] if table is None else score_columns(table)
        self.column.addItems(list(names))
        choices = declared_params(METHODS[MARKER])["direction"].choices
        for key, words in choices.items():
            self.direction.addItem(words[0].upper() + words[1:], key)
        none = "" if names else "The table has no column of numbers beside its label."
        tell(self.problem, none, "error")
        self.ends.button(QDialogButtonBox.StandardButton.Ok).setEnabled(bool(names))

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addWidget(label(_ABOUT, "muted", wrap=True, name="given_scores_about"))
        fields = fields_grid()
        for row, (words, field) in enumerate(
            (("Column", self.column), ("Positive is", self.direction))
        ):
            fields.addWidget(field_label(words), row, 0)
            fields.addWidget(field, row, 1)
        layout.addLayout(fields)
        layout.addWidget(self.learnt)
        layout.addWidget(self.problem)
        add = primary(self.ends.button(QDialogButtonBox.StandardButton.Ok))
        add.setText("&Add")
        layout.addWidget(self.ends)
        self.setMinimumWidth(_WIDTH)

    def _on_add(self) -> None:
        column = self.column.currentText()
        try:
            self._session.run_scores(column, self.direction.currentData())
            if not self.learnt.isChecked():
                self._session.keep_from_methods(column)
        except InputError as error:
            tell(self.problem, str(error), "error")
            return
        self.accept()
