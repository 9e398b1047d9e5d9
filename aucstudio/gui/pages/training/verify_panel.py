"""Verify the selected run."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QProgressBar, QPushButton, QWidget

from aucstudio.gui.common.layouts import across, down
from aucstudio.gui.common.plain_text import plain_tooltip
from aucstudio.gui.common.table import Row, SheetTable
from aucstudio.gui.common.theme import fix_width, scaled
from aucstudio.gui.common.widgets import label, named, show_note
from aucstudio.gui.state.background import Answer
from aucstudio.gui.state.session import Session
from aucstudio.notices import text
from aucstudio.project.results.verified import (
    HEADINGS,
    place_words,
    verification_sentence,
    verified_table,
)
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.verification import Verification, verify_in_background

_LINE = 22
_MOST_LINES, _LEAST_LINES = 10, 3
_SHARE = 0.3  # of the page, for the table: the plots come first


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
        self._answer = Answer[tuple[Verification, str]](
            self,
            lambda verified: self._end("verify_not_kept", verified[1]),
            lambda words: self._end("verify_failed", words),
            self._on_progress,
        )
        self.destroyed.connect(self._answer.stop)
        self.button = named(QPushButton(), "verify_button", "Verify the chosen run")
        self.button.clicked.connect(self._on_click)
        self.bar = named(QProgressBar(), "verify_progress", "Progress of the verification")
        self.bar.setTextVisible(False)
        fix_width(self.bar, 80)
        self.stage = label("", "muted", name="verify_stage")
        self.table = SheetTable("verify_table", "Result of the verification", HEADINGS, _LINE)
        self.verdict = label("", wrap=True, name="verify_verdict")
        row = across(self.bar, (self.stage, 1))
        self.setLayout(down(self.table, self.verdict, row, gap=4))

    def busy(self) -> bool:
        """Return whether a run is being verified."""
        return self._answer.busy

    def show_run(self, record: RunRecord | None, split: int) -> None:
        """Show the verification of a run, if any."""
        self._shown = (record, split) if record is not None and record.splits else None
        self._refresh()

    def _refresh(self) -> None:
        busy, run = self.busy(), "" if self._shown is None else self._shown[0].id
        self.button.setVisible(busy or self._shown is not None)
        self.button.setText("&Cancel" if busy else "Verif&y…")
        plain_tooltip(self.button, text("verify_busy_tip" if busy else "verify_tip"))
        self.bar.setVisible(busy)
        self.stage.setVisible(busy)
        found, trouble = self._session.study.home.verified.get(run), self._trouble.get(run, "")
        if found is not None:
            self.table.show_rows([Row(line) for line in verified_table(found)])
            self.table.fit_rows(0, self._most)
        self.table.setVisible(found is not None)
        words = "" if found is None else f"{verification_sentence(found)} {place_words(found)}"
        sound = not trouble and (found is None or found.agrees)
        show_note(self.verdict, "" if busy else trouble or words, "muted" if sound else "error")
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
        elif self._shown is not None:
            record, split = self._shown
            home = self._session.study.home
            self._trouble.pop(record.id, None)
            self._on_progress(("starting", 0.0))
            self._asked = record.id

            def work(post: Any) -> tuple[Verification, str]:
                found = verify_in_background(record, split, post)
                return found, home.keep_verification(found)

            self._answer.forget()
            self._answer.ask((record.id, split), work)
            self._refresh()

    def _on_progress(self, message: tuple[str, float]) -> None:
        stage, share = message
        self.stage.setText(stage)
        self.bar.setValue(round(100 * share))

    def _end(self, code: str, why: str) -> None:
        if why:
            self._trouble[self._asked] = text(code, why=why)
        self._refresh()
