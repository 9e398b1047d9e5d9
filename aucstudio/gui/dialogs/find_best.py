"""Find the best…: the range of false positives and the minutes that one can afford."""

from __future__ import annotations

import contextlib

from PySide6.QtCore import QLocale
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from aucstudio.engine.params import InvalidSetting
from aucstudio.gui.common.edge_box import make_edge_box
from aucstudio.gui.common.plain import PlainLabel, plain_tooltip
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import (
    FIELD_MARGINS,
    dialog_buttons,
    field_label,
    fields_grid,
    label,
    named,
    primary,
    tell,
)
from aucstudio.gui.state.preferences import preferences
from aucstudio.gui.state.session import Session
from aucstudio.project.data.splitting.validation import FORWARD
from aucstudio.project.errors import InputError

_WIDTH = 440
_LEAST_MINUTES, _MOST_MINUTES = 0.1, 10_080.0
_ABOUT = (
    "Methods are compared by how well they rank in this range of false-positive rates; 0 … 1 is "
    "the whole AUC. The best one is tested on rows that no choice has seen, and then trained on "
    "all rows."
)
_NOT_IN_TIME = (
    "Validation goes forward in time, but here rows are held out at random. "
    "For figures forward in time, run the best one afterwards, or test on a later file."
)


class FindBestDialog(QDialog):
    """Asks for the range and the minutes.

    Parameters
    ----------
    session : Session
        With a table.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("find_best_dialog")
        self.setWindowTitle("Find the best")
        self._session = session
        self.low = make_edge_box("best_low", "Lowest false-positive rate", 0.0, 0.999)
        self.high = make_edge_box("best_high", "Highest false-positive rate", 0.001, 1.0)
        for box, edge in zip((self.low, self.high), session.plan.band, strict=True):
            box.setValue(edge)
        self.minutes = named(QDoubleSpinBox(), "best_minutes", "Minutes to spend")
        self.minutes.setLocale(QLocale.c())
        self.minutes.lineEdit().setTextMargins(*FIELD_MARGINS)
        self.minutes.setDecimals(1)
        self.minutes.setRange(_LEAST_MINUTES, _MOST_MINUTES)
        self.minutes.setValue(preferences().now.best_minutes)
        self.minutes.setFixedWidth(scaled(96))
        plain_tooltip(self.minutes, "Time limit; Stop ends the search at any moment")
        self.rows = label("", "muted", wrap=True, name="best_rows")
        self.caution = label("", "warning", wrap=True, name="best_caution")
        self.problem = label("", "error", wrap=True, name="best_problem")
        self.ends = dialog_buttons(
            QDialogButtonBox.StandardButton.Ok,
            QDialogButtonBox.StandardButton.Cancel,
            name="find_best",
        )
        self._lay_out()
        self._warn()
        self.ends.accepted.connect(self._on_begin)
        self.ends.rejected.connect(self.reject)

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addWidget(label(_ABOUT, "muted", wrap=True, name="best_about"))
        between = QHBoxLayout()
        between.setSpacing(8)
        for part in (self.low, PlainLabel("…"), self.high):
            between.addWidget(part)
        between.addStretch(1)
        fields = fields_grid()
        range_words, minutes_words = field_label("FPR &range"), field_label("&Minutes")
        range_words.setBuddy(self.low)
        minutes_words.setBuddy(self.minutes)
        fields.addWidget(range_words, 0, 0)
        fields.addLayout(between, 0, 1)
        fields.addWidget(minutes_words, 1, 0)
        fields.addWidget(self.minutes, 1, 1)
        layout.addLayout(fields)
        layout.addWidget(self.rows)
        layout.addWidget(self.caution)
        layout.addWidget(self.problem)
        layout.addStretch(1)
        begin = primary(self.ends.button(QDialogButtonBox.StandardButton.Ok))
        begin.setText("&Begin")
        layout.addWidget(self.ends)
        self.setMinimumWidth(scaled(_WIDTH))

    def _warn(self) -> None:
        """Show which rows are held out, and warn where they are few."""
        # Imported here: the tournament needs libraries that the start page does without.
        from aucstudio.project.tournament.hold_out import few_rows_words, plan_words

        table = self._session.table
        words = ""
        self.rows.setText(plan_words(self._session.plan.validation))
        if table is not None and table.positive is not None:
            validation = self._session.plan.validation
            with contextlib.suppress(InputError):  # beginning says what cannot be weights
                words = few_rows_words(table, validation)
            if validation.scheme == FORWARD:
                words = f"{words} {_NOT_IN_TIME}".strip()
        tell(self.caution, words, "warning")
        tell(self.problem, "", "error")

    def _on_begin(self) -> None:
        minutes = self.minutes.value()
        try:
            self._session.find_best((self.low.value(), self.high.value()), minutes)
        except (InputError, InvalidSetting) as error:
            words = str(error)
            tell(self.problem, f"{words[0].upper()}{words[1:]}.", "error")
            return
        preferences().put(best_minutes=minutes)
        self.accept()
