"""Runs what is queued, one experiment after the other, and hears what each says."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.live import LiveRun
from aucstudio.gui.plan import RunLook
from aucstudio.gui.widgets import ticking
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.work.job import RunJob, describe_failure

# Looks at the scorer come 15 times a second at most: none waits for long.
POLL_MILLISECONDS = 33
_PATIENCE_SECONDS = 1.5


class Runner(QObject):
    """The run in flight and those that wait for it.

    Parameters
    ----------
    parent : QObject
    make_job : callable
        Gives the job of an experiment, not yet started. An InputError it raises is told, and the
        next experiment is tried.

    Attributes
    ----------
    changed : Signal
        The run in flight moved, began or ended.
    failed : Signal(str, str)
        A sentence and a traceback.
    ended : Signal(Outcome, LiveRun)
    live : LiveRun or None
    queue : deque of (Experiment, RunLook)
    """

    changed = Signal()
    failed = Signal(str, str)
    ended = Signal(object, object)

    def __init__(self, parent: QObject, make_job: Callable[[Experiment], RunJob]) -> None:
        super().__init__(parent)
        self.live: LiveRun | None = None
        self.queue: deque[tuple[Experiment, RunLook]] = deque()
        self._make_job = make_job
        self._job: RunJob | None = None
        self._poll = ticking(self, POLL_MILLISECONDS, self._on_poll)

    @property
    def busy(self) -> bool:
        """Whether a run is in flight."""
        return self._job is not None

    def waiting(self) -> list[RunLook]:
        """List the looks that are taken by runs which have not ended."""
        return [look for _, look in self.queue] + ([self.live.look] if self.live else [])

    def start_next(self) -> None:
        """Start what waits longest, unless a run is in flight."""
        if self._job is not None or not self.queue:
            self.changed.emit()
            return
        experiment, look = self.queue.popleft()
        try:
            job = self._make_job(experiment)
        except (InputError, Stopped) as error:
            self.failed.emit(str(error), "")
            self.start_next()
            return
        self._job, self.live = job, LiveRun(experiment, look)
        job.start()
        self._poll.start()
        self.changed.emit()

    def stop(self) -> None:
        """Ask the run in flight to end; what is finished is kept."""
        if self._job is not None:
            self._job.stop()
            if self.live is not None:
                self.live.stopping = True

    def finish(self) -> None:
        """Wait a little for a run that was stopped, and take in what it has."""
        if self._job is not None:
            self._job.wait(_PATIENCE_SECONDS)
            self._on_poll()

    def _on_poll(self) -> None:
        job, live = self._job, self.live
        if job is None or live is None:
            self._poll.stop()
            return
        ended = job.ended
        messages = job.drain()
        for message in messages:
            live.hear(message)
        if ended:
            self._land(job, live)
        elif messages:
            self.changed.emit()

    def _land(self, job: RunJob, live: LiveRun) -> None:
        self._job, self.live = None, None
        self._poll.stop()
        if job.error is not None:
            self.failed.emit(*describe_failure(job.error))
        elif job.result is not None:
            self.ended.emit(job.result, live)
        self.start_next()
