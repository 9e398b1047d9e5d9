"""Run the search for the best model in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from aucstudio.gui.state.background import Background
from aucstudio.gui.state.project_handle import ProjectHandle
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.tournament.standings import Standings
from aucstudio.project.work.job import Job, describe_failure

if TYPE_CHECKING:
    from aucstudio.project.tournament.background import News, TournamentOrder, TournamentStop

_PATIENCE_SECONDS = 1.5


class TournamentRunner(QObject):
    """One tournament at a time.

    Attributes
    ----------
    changed : Signal
        It started, progressed or ended.
    judged : Signal(RunRecord)
        A run of it was stored.
    ended : Signal(Standings)
    failed : Signal(str, str)
        A sentence and a traceback.
    live : Standings or None
        Present standings; None while no tournament is running.
    stopping : bool
    """

    changed = Signal()
    judged = Signal(object)
    ended = Signal(object)
    failed = Signal(str, str)

    def __init__(self, parent: QObject, home: ProjectHandle) -> None:
        super().__init__(parent)
        self._home = home
        self.live: Standings | None = None
        self.stopping = False
        self._stop: TournamentStop | None = None
        self._work = Background(self, self._on_finished, self._on_message, patience=0.0)

    @property
    def busy(self) -> bool:
        """Whether a tournament is running."""
        return self._work.busy

    def begin(self, order: TournamentOrder) -> None:
        """Start a tournament, unless one is running."""
        # Imports the methods, which the start page does without.
        from aucstudio.project.tournament.background import TournamentStop, hold_in_background

        if self.busy:
            return
        stop, home = TournamentStop(), self._home

        def work(post: Callable[[News], bool]) -> Standings:
            home.make_file(order.table.path)
            return hold_in_background(order, home, stop, post)

        self.stopping, self._stop = False, stop
        self.live = Standings.begun(order.fpr_range, budget=order.seconds)
        self._work.start(order, work)
        self.changed.emit()

    def stop(self) -> None:
        """Stop and keep what is ready; a second call stops at once."""
        if self._stop is None:
            return
        (self._stop.at_once if self.stopping else self._stop.gently).set()
        self.stopping = True
        self.changed.emit()

    def finish(self) -> None:
        """Wait a little for a stopped tournament and take its result."""
        self._work.finish(_PATIENCE_SECONDS)
        if self._stop is not None:
            self._stop.at_once.set()
            self._work.finish(_PATIENCE_SECONDS)

    def _on_message(self, message: News) -> None:
        if isinstance(message, RunRecord):
            self.judged.emit(message)
        elif isinstance(message, Standings):
            self.live = message
        else:
            self._home.refits[message.run] = message.model
        self.changed.emit()

    def _on_finished(self, _order: object, job: Job[News, Standings]) -> None:
        self._stop = self.live = None
        self.stopping = False
        if job.result is not None:
            self.ended.emit(job.result)
        elif job.error is not None:
            self.failed.emit(*describe_failure(job.error))
        self.changed.emit()
