"""What a person writes down about a run: kept as it is typed, and never rewritten meanwhile."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit

from aucstudio.gui.common.widgets import named
from aucstudio.gui.state.session import Session
from aucstudio.gui.state.timers import delayed

_PAUSE = 700  # milliseconds after the last letter
_LINES = 3


class NotesEdit(QPlainTextEdit):
    """The notes of one run; kept after a pause, and when the editor or the run is left."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        named(self, "run_notes_edit", "Notes about the chosen run")
        self.setPlaceholderText("Notes: why this run, what it showed…")
        self.setTabChangesFocus(True)
        self._session = session
        self._run: str | None = None
        self._study = session.study
        self._known = ""
        self._later = delayed(self, _PAUSE, self.keep)
        self.textChanged.connect(self._later.start)
        self.setFixedHeight(_LINES * self.fontMetrics().lineSpacing() + 18)

    def show_run(self, run: str | None) -> None:
        """Show the notes of a run; what was typed about the one before is kept."""
        if run != self._run or self._session.study is not self._study:
            self.keep()
            self._run, self._study = run, self._session.study
            self._known = ""
            self._put("")
        look = self._session.plan.looks.get(run or "")
        notes = look.notes if look is not None else ""
        # Only what came from elsewhere (undo, the list) takes the place of what is typed.
        if notes != self._known:
            self._known = notes
            if notes != self.toPlainText().strip():
                self._put(notes)

    def keep(self) -> None:
        """Put what was typed into the plan."""
        self._later.stop()
        text = self.toPlainText().strip()
        run, known = self._run, self._session.plan.looks
        # What was typed about a run of another study must not become a note of this one's.
        same = self._session.study is self._study
        if same and run is not None and run in known and text != self._known:
            self._known = text
            self._session.set_looks((run,), "Edit notes", f"notes {run}", notes=text)

    def _put(self, text: str) -> None:
        self.setPlainText(text)
        self._later.stop()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.keep()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.keep()
            self.clearFocus()
        else:
            super().keyPressEvent(event)
