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

# Looks at the scorer come 15 times a second at most: none waits for long.
POLL_MILLISECONDS = 33
_PATIENCE_SECONDS = 1.5


@dataclasses.dataclass(eq=False)
class Waiting:
    """A run in the queue; itself and no other, however alike their settings are.

    Attributes
    ----------
    experiment : Experiment
    look : RunLook
        Name and colour that it will have.
    table : Table
        As it was when the run was asked for.
    """

    experiment: Experiment
    look: RunLook
    table: Table


Begin = Callable[[PlannedRun, LiveRun], RunTask]
Fits = Callable[[Waiting, Sequence[Experiment]], bool]


class Runner(QObject):
    """The runs of a study in progress, and those that wait for them.

    A run begins with what has to be read and written for it, on a thread. What fails there has
    failed as a run, with a record that says why; and the queue goes on.

    Attributes
    ----------
    changed : Signal
        A run in progress moved, began or ended; another one waits, or no longer.
    failed : Signal(str, str)
        A sentence and a traceback.
    ended : Signal(Outcome, LiveRun)
    queue : deque of Waiting
    at_once : int
        How many may be in progress.
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
        self._flights: dict[LiveRun, Job[Any, Any]] = {}
        self._poll = ticking(self, POLL_MILLISECONDS, self._on_poll)

    def obey(self, home: ProjectHandle, begin: Begin, fits: Fits) -> None:
        """Set where runs are kept, how one is started, and which fit beside others."""
        self._home, self._begin, self._fits = home, begin, fits

    @property
    def busy(self) -> bool:
        """Whether a run is in progress or waits."""
        return bool(self._flights or self.queue)

    @property
    def flights(self) -> list[LiveRun]:
        """The runs in progress, the first one first."""
        return list(self._flights)

    @property
    def live(self) -> LiveRun | None:
        """The first run in progress."""
        return next(iter(self._flights), None)

    def taken_looks(self) -> list[RunLook]:
        """List the looks of runs which have not ended."""
        return [one.look for one in self.queue] + [live.look for live in self._flights]

    # ------------------------------------------------------------- the queue

    def add(self, waiting: Waiting) -> None:
        """Queue a run; ``start_next`` begins it."""
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
        """Start what waits longest, and more while there is room."""
        while self._has_room():
            self._prepare(self.queue.popleft())
        self.changed.emit()

    def _has_room(self) -> bool:
        if not self.queue or len(self._flights) >= self.at_once:
            return False
        beside = [live.experiment for live in self._flights]
        return not beside or self._fits(self.queue[0], beside)

    # ------------------------------------------------------------- the runs

    def _prepare(self, waiting: Waiting) -> None:
        live = LiveRun(waiting.experiment, waiting.look, self._home)
        job: Job[None, PlannedRun | Outcome] = Job(_preparation(waiting, self._home))
        self._flights[live] = job
        job.start()
        self._poll.start()

    def stop(self, live: LiveRun | None = None) -> None:
        """Ask a run in progress, or all of them, to end; what is finished is kept."""
        for one, job in self._flights.items():
            if live is None or one is live:
                job.stop()
                one.stopping = True
        self.changed.emit()

    def finish(self) -> None:
        """Wait a little for runs that were stopped, and take in what they have."""
        until = time.monotonic() + _PATIENCE_SECONDS
        for job in self._flights.values():
            job.wait(max(0.0, until - time.monotonic()))
        self._on_poll()

    def _on_poll(self) -> None:
        moved, landed = False, []
        for live, job in self._flights.items():
            if job.ended:  # asked first: what it says last is then still heard
                landed.append(live)
            for message in job.drain():
                if message is not None:  # what prepares a run only asks whether it is wanted
                    live.hear(message)
                    moved = True
        for live in landed:
            self._land(live, self._flights[live])
        if not self._flights:
            self._poll.stop()
        if landed:
            self.start_next()
        elif moved:
            self.changed.emit()

    def _land(self, live: LiveRun, job: Job[Any, Any]) -> None:
        if isinstance(job.result, PlannedRun) and not live.stopping and self._begin is not None:
            live.experiment = job.result.experiment
            self._flights[live] = self._begin(job.result, live)
            return
        del self._flights[live]
        if isinstance(job.result, Outcome):
            self.ended.emit(job.result, live)
        elif job.error is not None and not isinstance(job.error, Stopped):
            self.failed.emit(*describe_failure(job.error))


def _preparation(
    waiting: Waiting, home: ProjectHandle
) -> Callable[[Callable[[None], bool]], PlannedRun | Outcome]:
    """Return what sees to the project file and reads the test table, on a thread."""

    def work(post: Callable[[None], bool]) -> PlannedRun | Outcome:
        experiment = waiting.experiment
        try:
            home.make_file(waiting.table.path)
            return planned_run(experiment, waiting.table)
        except Exception as error:
            if post(None):
                raise Stopped("preparing a run") from error
            trace = describe_failure(error)[1]
            told = RunRecord.now(), 0.0, failure_sentence(error), trace
            return Outcome(home.add_run(RunRecord(experiment, FAILED, (), *told)))

    return work
