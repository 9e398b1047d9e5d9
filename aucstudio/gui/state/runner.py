"""Runs queued experiments and handles their messages."""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.state.live_run import LiveRun
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.project_handle import ProjectHandle
from aucstudio.gui.state.timers import ticking
from aucstudio.project.data.table import Table
from aucstudio.project.runs.execute import failure_sentence
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.experiments.planning import PlannedRun, planned_run
from aucstudio.project.runs.record import FAILED, RunRecord
from aucstudio.project.work.job import Job, describe_failure
from aucstudio.project.work.submit import Outcome, RunTask

# Pictures of the scorer arrive at most 15 times a second.
POLL_MILLISECONDS = 33
_PATIENCE_SECONDS = 1.5


@dataclasses.dataclass(eq=False)
class Waiting:
    """A run in the queue; two with the same settings are different.

    Attributes
    ----------
    experiment : Experiment
    look : RunLook
        Its name and colour.
    table : Table
        The table at the time of the request.
    """

    experiment: Experiment
    look: RunLook
    table: Table


Begin = Callable[[PlannedRun, LiveRun], RunTask]
Fits = Callable[[Waiting, Sequence[Experiment]], bool]


class Runner(QObject):
    """The running and waiting runs of a study.

    A run starts with reading and writing its files on a thread. An error there makes it a failed
    run, with a record that states why, and the queue continues.

    Attributes
    ----------
    changed : Signal
        A run started, progressed or ended, or the queue changed.
    failed : Signal(str, str)
        A sentence and a traceback.
    ended : Signal(Outcome, LiveRun)
    queue : deque of Waiting
    at_once : int
        How many may run.
    """

    changed = Signal()
    failed = Signal(str, str)
    ended = Signal(object, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.queue: deque[Waiting] = deque()
        self.at_once = 1
        self._home = ProjectHandle()
        self._begin: Begin | None = None
        self._fits: Fits = lambda _waiting, _beside: True
        self._running: dict[LiveRun, Job[Any, Any]] = {}
        self._poll = ticking(self, POLL_MILLISECONDS, self._on_poll)

    def configure(self, home: ProjectHandle, begin: Begin, fits: Fits) -> None:
        """Set where runs are stored, how one is started, and which may run together."""
        self._home, self._begin, self._fits = home, begin, fits

    @property
    def busy(self) -> bool:
        """Whether a run is running or waiting."""
        return bool(self._running or self.queue)

    @property
    def running(self) -> list[LiveRun]:
        """The running runs in the order of their start."""
        return list(self._running)

    @property
    def live(self) -> LiveRun | None:
        """The first running run."""
        return next(iter(self._running), None)

    def taken_looks(self) -> list[RunLook]:
        """Return the looks of running and waiting runs."""
        return [one.look for one in self.queue] + [live.look for live in self._running]

    # ------------------------------------------------------------- the queue

    def add(self, waiting: Waiting) -> None:
        """Queue a run; ``start_next`` starts it."""
        self.queue.append(waiting)

    def cancel(self, waiting: Waiting) -> None:
        """Remove a run from the queue; a started one continues."""
        if waiting in self.queue:
            self.queue.remove(waiting)
            self.changed.emit()

    def move(self, waiting: Waiting, by: int) -> None:
        """Move a run up the queue (a negative number of places) or down."""
        if waiting in self.queue:
            place = max(0, self.queue.index(waiting) + by)
            self.queue.remove(waiting)
            self.queue.insert(place, waiting)
            self.changed.emit()

    def start_next(self) -> None:
        """Start waiting runs, the first one first, while there is room."""
        while self._has_room():
            self._prepare(self.queue.popleft())
        self.changed.emit()

    def _has_room(self) -> bool:
        if not self.queue or len(self._running) >= self.at_once:
            return False
        beside = [live.experiment for live in self._running]
        return not beside or self._fits(self.queue[0], beside)

    # ------------------------------------------------------------- the runs

    def _prepare(self, waiting: Waiting) -> None:
        live = LiveRun(waiting.experiment, waiting.look, self._home)
        job: Job[None, PlannedRun | Outcome] = Job(_preparation(waiting, self._home))
        self._running[live] = job
        job.start()
        self._poll.start()

    def stop(self, live: LiveRun | None = None) -> None:
        """Stop a running run, or all of them; finished splits are kept."""
        for one, job in self._running.items():
            if live is None or one is live:
                job.stop()
                one.stopping = True
        self.changed.emit()

    def finish(self) -> None:
        """Wait a little for stopped runs and handle their results."""
        until = time.monotonic() + _PATIENCE_SECONDS
        for job in self._running.values():
            job.wait(max(0.0, until - time.monotonic()))
        self._on_poll()

    def _on_poll(self) -> None:
        moved, ended = False, []
        for live, job in self._running.items():
            if job.ended:  # checked first, so that the last messages are still handled
                ended.append(live)
            for message in job.drain():
                if message is not None:  # the preparation posts None to check for a stop
                    live.update(message)
                    moved = True
        for live in ended:
            self._on_ended(live, self._running[live])
        if not self._running:
            self._poll.stop()
        if ended:
            self.start_next()
        elif moved:
            self.changed.emit()

    def _on_ended(self, live: LiveRun, job: Job[Any, Any]) -> None:
        if isinstance(job.result, PlannedRun) and not live.stopping and self._begin is not None:
            live.experiment = job.result.experiment
            self._running[live] = self._begin(job.result, live)
            return
        del self._running[live]
        if isinstance(job.result, Outcome):
            self.ended.emit(job.result, live)
        elif job.error is not None and not isinstance(job.error, Stopped):
            self.failed.emit(*describe_failure(job.error))


def _preparation(
    waiting: Waiting, home: ProjectHandle
) -> Callable[[Callable[[None], bool]], PlannedRun | Outcome]:
    """Return the work that makes the project file and reads the test table."""

    def work(post: Callable[[None], bool]) -> PlannedRun | Outcome:
        experiment = waiting.experiment
        try:
            home.make_file(waiting.table.path)
            return planned_run(experiment, waiting.table)
        except Exception as error:
            if post(None):
                raise Stopped("preparing a run") from error
            trace = describe_failure(error)[1]
            outcome = RunRecord.now(), 0.0, failure_sentence(error), trace
            return Outcome(home.add_run(RunRecord(experiment, FAILED, (), *outcome)))

    return work
