"""Verifying the chosen run: a button, how far it is, and what was found."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import (
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.common.plain import plain_tooltip
from aucstudio.gui.common.table import Row, SheetModel, TableView
from aucstudio.gui.common.theme import scaled
from aucstudio.gui.common.widgets import label, named, tell
from aucstudio.gui.state.background import Background
from aucstudio.gui.state.session import Session
from aucstudio.gui.state.study import Study
from aucstudio.project.results.verified import HEADINGS, place_words, verdict, verified_table
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.verification import Verification
from aucstudio.project.work.background_verification import verify_in_background
from aucstudio.project.work.job import Job

_LINE = 22
_MOST_LINES, _LEAST_LINES = 10, 3
_SHARE = 0.3  # of the page, for the table: the plots come first
_TIP = (
    "Solve this run's problem again with other solvers, count its objective and areas pair by "
    "pair, and report whether they agree. The table must be where it was, unchanged"
)
_BUSY = "Stop verifying; nothing is kept of it"

Asked = tuple[Study, RunRecord, int]
Answer = tuple[Verification, str]


class VerifyPanel(QWidget):
    """What verifying found stands with the run, and is there again when it is opened again.

    Attributes
    ----------
    button : QPushButton
        Begins, or cancels what was begun.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        named(self, "verify_panel", "Verification")
        self._session = session
        self._shown: tuple[RunRecord, int] | None = None
        self._trouble: dict[str, str] = {}
        self._most = _MOST_LINES
        self._background = Background(self, self._on_landed, self._on_told)
        self.destroyed.connect(self._background.stop)
        self._make_button()
        self.model = SheetModel(HEADINGS, {}, (0,), self)
        self.table = TableView("verify_table", "What verifying found", self.model, _LINE, 0)
        self.verdict = label("", wrap=True, name="verify_verdict")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.table)
        layout.addWidget(self.verdict)
        layout.addLayout(self._row)

    def _make_button(self) -> None:
        """Make what stands among the controls of the page, and what tells how far it is."""
        self.button = named(QPushButton("Verif&y…"), "verify_button", "Verify the chosen run")
        self.button.clicked.connect(self._on_click)
        self.bar = named(QProgressBar(), "verify_progress", "How far verifying is")
        self.bar.setRange(0, 100)
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(scaled(80))
        self.stage = label("", "muted", name="verify_stage")
        self._row = QHBoxLayout()
        self._row.setSpacing(8)
        self._row.addWidget(self.bar)
        self._row.addWidget(self.stage, stretch=1)

    def busy(self) -> bool:
        """Return whether a run is being verified."""
        return self._background.busy

    def show_run(self, record: RunRecord | None, split: int) -> None:
        """Show what is known of a run, if there is one."""
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
        self.model.show_rows([Row(line) for line in lines])
        self._set_height()
        self.table.setVisible(found is not None)
        words = "" if found is None else f"{verdict(found)} {place_words(found)}"
        sound = found is None or found.agrees
        shown = "" if busy else trouble or words
        tell(self.verdict, shown, "muted" if sound and not trouble else "error")
        self.setVisible(busy or found is not None or bool(trouble))

    def fit_page(self, height: int) -> None:
        """Take no more than a part of a page of this height; the table scrolls."""
        room = int(_SHARE * height / scaled(_LINE))
        self._most = min(max(room, _LEAST_LINES), _MOST_LINES)
        self._set_height()

    def _set_height(self) -> None:
        lines = min(self.model.rowCount(), self._most)
        head = self.table.horizontalHeader().sizeHint().height() + scaled(4)
        self.table.setFixedHeight(head + lines * scaled(_LINE))

    # ------------------------------------------------------------- working

    def _on_click(self) -> None:
        if self.busy():
            self._background.stop()
            self.stage.setText("stopping")
            return
        if self._shown is None:
            return
        record, split = self._shown
        study = self._session.study
        self._trouble.pop(record.id, None)
        self.bar.setValue(0)
        self.stage.setText("starting")
        asked: Asked = study, record, split

        def work(post: Any) -> Answer:
            found = verify_in_background(record, split, post)
            return found, study.home.keep_verification(found)

        self._background.start(asked, work)
        self._refresh()

    def _on_told(self, told: tuple[str, float]) -> None:
        stage, share = told
        self.stage.setText(stage)
        self.bar.setValue(round(100 * share))

    def _on_landed(self, asked: Asked, job: Job[Any, Answer]) -> None:
        _, record, _ = asked
        if job.result is not None and job.result[1]:
            self._trouble[record.id] = f"Verified, but not kept: {job.result[1]}"
        elif job.error is not None and not isinstance(job.error, Stopped):
            self._trouble[record.id] = f"Not verified: {job.error}"
        self._refresh()
