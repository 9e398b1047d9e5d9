"""What was found in the table of a session, looked for beside the window whenever it changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from aucstudio.gui.state.background import Background
from aucstudio.gui.state.session import Session
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.table import Table
from aucstudio.project.errors import Cancelled
from aucstudio.project.work.job import Job


class TableFindings(QObject):
    """Findings of the session's table.

    Signals
    -------
    changed
        Others were found, or those of another table are not known yet.

    Attributes
    ----------
    findings : tuple of Finding
        The weightiest first; of a table whose roles have just changed those of before.
    """

    changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._file = ""
        self.findings: tuple[Finding, ...] = ()
        self._work = Background(self, self._land)
        session.table_changed.connect(self.look)
        self.look()

    @property
    def busy(self) -> bool:
        """Whether something is being looked for."""
        return self._work.busy

    def finish(self) -> None:
        """Wait until everything is found."""
        self._work.finish()

    def look(self) -> None:
        """Look at the session's table; what is there of another one is forgotten."""
        table = self._session.table
        file = "" if table is None else table.sha256
        if file != self._file:
            self._file, self.findings = file, ()
            self.changed.emit()
        if table is None:
            self._work.drop()
            return
        self._work.start(table, lambda post: _look(table, post))

    def _land(self, table: Table, job: Job[Any, tuple[Finding, ...]]) -> None:
        if job.result is not None and table is self._session.table:
            self.findings = job.result
            self.changed.emit()


def _look(table: Table, post: Callable[[Any], bool]) -> tuple[Finding, ...]:
    from aucstudio.project.data.findings.find import find

    def tell(share: float) -> None:
        if post(share):
            raise Cancelled

    return find(table, tell)
