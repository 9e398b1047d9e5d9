"""Verify the selected run."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import (
    QProgressBar,
    QPushButton,
    QWidget,
)

from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.table import Row, SheetTable
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import across, down, label, named, show_note
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.session import Session
from aucstudio.project.results.verified import HEADINGS, place_words, verdict, verified_table
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.verification import Verification, verify_in_background

_LINE = 22
_MOST_LINES, _LEAST_LINES = 10, 3
_SHARE = 0.3  # of the page, for the table: the plots come first
_TIP = (
    "Solve this run's problem again with other solvers, recompute its objective and areas "
    "pair by pair, and report whether they agree. The table must be unchanged and in its "
    "original place"
)
_BUSY = "Stop verifying; its results are discarded"

Verified = tuple[Verification, str]


class VerifyPanel(QWidget):
    """Verifies the selected run, and shows the stored result.

    Attributes
    ----------
    button : QPushButton
        Starts or cancels the verification.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        named(self, "verify_panel", "Verification")
        self._session = session
        self._shown: tuple[RunRecord, int] | None = None
        self._trouble: dict[str, str] = {}
        self._most = _MOST_LINES
        self._asked = ""  # the run that is verified
        self._answer = Answer[Verified](self, self._on_verified, self._on_failed, self._on_told)
        self.destroyed.connect(self._answer.stop)
        self._make_button()
        self.table = SheetTable("verify_table", "Result of the verification", HEADINGS, _LINE)
        self.verdict = label("", wrap=True, name="verify_verdict")
        row = across(self.bar, (self.stage, 1))
        self.setLayout(down(self.table, self.verdict, row, gap=4))

    def _make_button(self) -> None:
        """Make the extra controls of the page and the progress display."""
        self.button = named(QPushButton("Verif&y…"), "verify_button", "Verify the chosen run")
        self.button.clicked.connect(self._on_click)
        self.bar = named(QProgressBar(), "verify_progress", "Progress of the verification")
        self.bar.setRange(0, 100)
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(scaled(80))
        self.stage = label("", "muted", name="verify_stage")

    def busy(self) -> bool:
        """Return whether a run is being verified."""
        return self._answer.busy

    def show_run(self, record: RunRecord | None, split: int) -> None:
        """Show the verification of a run, if any."""
        known = record is not None and bool(record.splits)
        self._shown = (record, split) if record is not None and known else None
        self._refresh()

    def _refresh(self) -> None:
        busy = self.busy()
        self.button.setVisible(busy or self._shown is not None)
        self.button.setText("&Cancel" if busy else "Verif&y…")
        plain_tooltip(self.button, _BUSY if busy else _TIP)
        self.bar.setVisible(busy)
        self.stage.setVisible(busy)
        found, trouble = None, ""
        if self._shown is not None:
            run = self._shown[0].id
            found = self._session.study.home.verified.get(run)
            trouble = self._trouble.get(run, "")
        lines = [] if found is None else verified_table(found)
        self.table.show_rows([Row(line) for line in lines])
        self.table.fit_rows(0, self._most)
        self.table.setVisible(found is not None)
        words = "" if found is None else f"{verdict(found)} {place_words(found)}"
        sound = found is None or found.agrees
        shown = "" if busy else trouble or words
        show_note(self.verdict, shown, "muted" if sound and not trouble else "error")
        self.setVisible(busy or found is not None or bool(trouble))

    def fit_page(self, height: int) -> None:
        """Limit the height of the table to a share of the page height."""
        room = int(_SHARE * height / scaled(_LINE))
        self._most = min(max(room, _LEAST_LINES), _MOST_LINES)
        self.table.fit_rows(0, self._most)

    # ------------------------------------------------------------- working

    def _on_click(self) -> None:
        if self.busy():
            self._answer.stop()
            self.stage.setText("stopping")
            return
        if self._shown is None:
            return
        record, split = self._shown
        study = self._session.study
        self._trouble.pop(record.id, None)
        self.bar.setValue(0)
        self.stage.setText("starting")
        self._asked = record.id

        def work(post: Any) -> Verified:
            found = verify_in_background(record, split, post)
            return found, study.home.keep_verification(found)

        self._answer.forget()
        self._answer.ask((record.id, split), work)
        self._refresh()

    def _on_told(self, text: tuple[str, float]) -> None:
        stage, share = text
        self.stage.setText(stage)
        self.bar.setValue(round(100 * share))

    def _on_verified(self, verified: Verified) -> None:
        if verified[1]:
            self._trouble[self._asked] = f"Verified, but not kept: {verified[1]}"
        self._refresh()

    def _on_failed(self, words: str) -> None:
        if words:
            self._trouble[self._asked] = f"Not verified: {words}"
        self._refresh()
