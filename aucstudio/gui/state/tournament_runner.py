"""The search for the best model, in a process of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from aucstudio.gui.state.project_handle import ProjectHandle
from aucstudio.gui.state.timers import ticking
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.tournament.standings import Standings
from aucstudio.project.work.job import Job, describe_failure

if TYPE_CHECKING:
    from aucstudio.project.tournament.background import News, TournamentOrder, TournamentStop

POLL_MILLISECONDS = 100
_PATIENCE_SECONDS = 1.5


class TournamentRunner(QObject):
    """One tournament at a time.

    Attributes
    ----------
    changed : Signal
        It began, moved or ended.
    judged : Signal(RunRecord)
        A run of it was kept.
    ended : Signal(Standings)
    failed : Signal(str, str)
        It could not begin: a sentence and a traceback.
    live : Standings or None
        How it stands; None while there is none.
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
        self._job: Job[News, Standings] | None = None
        self._stop: TournamentStop | None = None
        self._poll = ticking(self, POLL_MILLISECONDS, self._on_poll)

    @property
    def busy(self) -> bool:
        """Whether one is held."""
        return self._job is not None

    def begin(self, order: TournamentOrder) -> None:
        """Begin one, unless there is one already."""
        # It brings the methods with it, which a window that only starts does without.
        from aucstudio.project.tournament.background import TournamentStop, hold_in_background

        if self.busy:
            return
        stop, home = TournamentStop(), self._home

        def work(post: Callable[[News], bool]) -> Standings:
            home.make_file(order.table.path)
            return hold_in_background(order, home, stop, post)

        self.stopping, self._stop, self._job = False, stop, Job(work)
        self.live = Standings.begun(order.fpr_range, budget=order.seconds)
        self._job.start()
        self._poll.start()
        self.changed.emit()

    def stop(self) -> None:
        """End with what is ready; at once if asked again."""
        if self._stop is None:
            return
        (self._stop.at_once if self.stopping else self._stop.gently).set()
        self.stopping = True
        self.changed.emit()

    def finish(self) -> None:
        """Wait a little for one that was stopped, and take in what it has."""
        if self._job is None or self._stop is None:
            return
        until = time.monotonic() + _PATIENCE_SECONDS
        self._job.wait(_PATIENCE_SECONDS)
        self._stop.at_once.set()
        self._job.wait(max(_PATIENCE_SECONDS, until - time.monotonic()))
        self._on_poll()

    def _on_poll(self) -> None:
        job = self._job
        if job is None:
            return
        ended = job.ended  # asked first: what it says last is then still heard
        news = job.drain()
        for message in news:
            if isinstance(message, RunRecord):
                self.judged.emit(message)
            elif isinstance(message, Standings):
                self.live = message
            else:
                self._home.refits[message.run] = message.model
        if ended:
            self._poll.stop()
            self._job = self._stop = self.live = None
            self.stopping = False
            if job.result is not None:
                self.ended.emit(job.result)
            elif job.error is not None:
                self.failed.emit(*describe_failure(job.error))
        if news or ended:
            self.changed.emit()
