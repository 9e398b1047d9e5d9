"""Find the best: FPR range and time limit."""

from __future__ import annotations

import contextlib

from PySide6.QtCore import QLocale
from PySide6.QtWidgets import (
    QWidget,
)

from aucstudio.engine.params import InvalidSetting
from aucstudio.gui.common.form import Form, RangeBox, number_box
from aucstudio.gui.common.layouts import STRETCH, down
from aucstudio.gui.common.prompts import Dialog
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import (
    answers,
    label,
    show_note,
)
from aucstudio.gui.state.preferences import preferences
from aucstudio.gui.state.session import Session
from aucstudio.notices.words import as_sentence
from aucstudio.project.data.splitting.validation import FORWARD
from aucstudio.project.errors import InputError

_WIDTH = 440
_LEAST_MINUTES, _MOST_MINUTES = 0.1, 10_080.0
_ABOUT = (
    "Methods are compared by how well they rank in this range of false-positive rates; 0 … 1 "
    "is the whole AUC. The best one is tested on held-out rows that no choice has used, then "
    "refit on all rows."
)
_NOT_IN_TIME = (
    "Validation is forward in time, but this search holds out rows and draws folds at random. "
    "For figures forward in time, run the best method afterwards or test it on a later file."
)


class FindBestDialog(Dialog):
    """Asks for the FPR range and the time limit.

    Parameters
    ----------
    session : Session
        With a table.
    """

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("find_best_dialog", "Find the best", parent)
        self._session = session
        ends = "Lowest false-positive rate", "Highest false-positive rate"
        self.band = RangeBox("best", *ends)
        self.band.setValue(session.plan.band)
        minutes, most = preferences().now.best_minutes, _MOST_MINUTES
        self.minutes = number_box(
            "best_minutes", "Time limit in minutes", _LEAST_MINUTES, most, value=minutes
        )
        self.minutes.setLocale(QLocale.c())
        self.minutes.setFixedWidth(scaled(96))
        self.rows = label("", "muted", wrap=True, name="best_rows")
        self.caution = label("", "warning", wrap=True, name="best_caution")
        self.problem = label("", "error", wrap=True, name="best_problem")
        self.ends = answers(self, "find_best", self._on_start, "&Begin")
        self._lay_out()
        self._warn()

    def _lay_out(self) -> None:
        about = label(_ABOUT, "muted", wrap=True, name="best_about")
        form = Form(
            ("FPR &range", self.band),
            ("&Minutes", self.minutes, "Time limit; Stop ends the search at any time"),
        )
        notes = (self.rows, self.caution, self.problem)
        self.setLayout(down(about, form, *notes, STRETCH, self.ends, gap=12, around=16))
        self.setMinimumWidth(scaled(_WIDTH))

    def _warn(self) -> None:
        """Show which rows are held out, and warn where they are few."""
        # Imports libraries that the start page does without.
        from aucstudio.project.tournament.search import few_rows_words, plan_words

        table = self._session.table
        words = ""
        self.rows.setText(plan_words(self._session.plan.validation))
        if table is not None and table.positive is not None:
            validation = self._session.plan.validation
            with contextlib.suppress(InputError):  # shown when the search starts
                words = few_rows_words(table, validation)
            if validation.scheme == FORWARD:
                words = f"{words} {_NOT_IN_TIME}".strip()
        show_note(self.caution, words, "warning")
        show_note(self.problem, "", "error")

    def _on_start(self) -> None:
        minutes = self.minutes.value()
        try:
            self._session.best.begin(self.band.value(), minutes)
        except (InputError, InvalidSetting) as error:
            show_note(self.problem, as_sentence(str(error)), "error")
            return
        preferences().put(best_minutes=minutes)
        self.accept()
