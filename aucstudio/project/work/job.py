"""A run in progress: a worker thread, a bounded mailbox, a stop flag, one outcome.

The worker posts small messages and never waits; whoever watches polls. A stop is seen by the
fit at its next step. A library call that takes no steps cannot be interrupted: after a short
grace the job ends without it, with what was finished before, and what the call later returns
is dropped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from threadpoolctl import threadpool_limits

from aucstudio.engine import METHODS
from aucstudio.engine.monitor import Stopped
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.record import STOPPED, RunRecord, SplitResult
from aucstudio.project.runs.tuning import Search
from aucstudio.project.runs.watch import Progress
from aucstudio.project.work.gather import execute_on
from aucstudio.project.work.training_process import TrainingProcess
from aucstudio.project.work.workers import Workers

Result = TypeVar("Result")
Message = TypeVar("Message")

MAILBOX = 256
GRACE = 0.7
NO_GRACE = 0.1  # for one library call, which no waiting makes answer


class Job(Generic[Message, Result]):
    """Work on a background thread that can be watched and stopped.

    Parameters
    ----------
    work : callable
        ``work(post)`` does the work; ``post(message)`` answers True once a stop is wished.
    leftover : callable, optional
        Gives the result to settle for when the work does not answer a stop within the grace.
    grace : float
        Seconds.

    Attributes
    ----------
    result : Result or None
    error : BaseException or None
        What the work raised, :class:`~aucstudio.engine.monitor.Stopped` included.
    """

    def __init__(
        self,
        work: Callable[[Callable[[Message], bool]], Result],
        leftover: Callable[[], Result] | None = None,
        grace: float = GRACE,
    ) -> None:
        self._work, self._leftover, self._grace = work, leftover, grace
        self._mail: deque[Message] = deque(maxlen=MAILBOX)
        self._stop = threading.Event()
        self._ended = threading.Event()
        self._settling = threading.Lock()
        self.result: Result | None = None
        self.error: BaseException | None = None
        # A daemon: a call that cannot be interrupted must not keep the program from closing.
        self._thread = threading.Thread(target=self._run, name="aucstudio-job", daemon=True)

    def start(self) -> None:
        """Begin; at most once."""
        self._thread.start()

    def stop(self) -> None:
        """Ask the work to stop; the job ends within a second, come what may."""
        if self._stop.is_set() or self._ended.is_set():
            return
        self._stop.set()
        timer = threading.Timer(self._grace, self._give_up)
        timer.daemon = True
        timer.start()

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; True if it came."""
        return self._ended.wait(seconds)

    def drain(self) -> list[Message]:
        """Take the messages that came since last time, oldest first."""
        taken = []
        while self._mail:
            taken.append(self._mail.popleft())
        return taken

    def _post(self, message: Message) -> bool:
        if self._ended.is_set():
            raise Stopped("given up: nobody waits for this any more")
        self._mail.append(message)
        return self._stop.is_set()

    def _run(self) -> None:
        try:
            # One processor stays with the window; more threads than processors only get in
            # each other's way.
            with threadpool_limits(max(1, (os.cpu_count() or 1) - 1)):
                result = self._work(self._post)
        except Exception as error:  # noqa: BLE001  (whatever it was, the watcher must hear of it)
            self._settle(None, error)
        else:
            self._settle(result, None)

    def _give_up(self) -> None:
        if self._ended.is_set():
            return
        result = None if self._leftover is None else self._leftover()
        self._settle(result, Stopped("abandoned") if result is None else None)

    def _settle(self, result: Result | None, error: BaseException | None) -> None:
        with self._settling:
            if not self._ended.is_set():
                self.result, self.error = result, error
                self._ended.set()


class RunStore(Protocol):
    """Where runs are kept: a project file, or what stands for the present one of a window."""

    def take_off(self, experiment: Experiment) -> None:
        """Note that a run is under way."""

    def add_run(self, record: RunRecord) -> RunRecord:
        """Keep a run that ended; gives it with the id it has there."""


@dataclasses.dataclass(frozen=True, eq=False)
class Outcome:
    """How a run ended, and whether it is on disk.

    Attributes
    ----------
    record : RunRecord
    unsaved : str
        Why the record could not be stored; empty if it was, or if there was no project.
    """

    record: RunRecord
    unsaved: str = ""


RunJob = Job[Progress, Outcome]


def run_job(
    experiment: Experiment,
    table: AnyTable,
    test_table: AnyTable | None = None,
    project: RunStore | None = None,
    workers: Workers | None = None,
    process: TrainingProcess | None = None,
    afterwards: Callable[[RunRecord], object] = lambda _record: None,
) -> RunJob:
    """Make the job of one experiment, done by workers, in a process of its own, or here.

    The record is stored on the worker's side and before anyone hears of it, so that no disk
    holds up a window and nothing is shown that a crash could take back. ``afterwards`` is called
    with the record on that side too: what is to be shown can be worked out there.
    """
    finished: list[SplitResult] = []
    searches: dict[int, Search] = {}
    outcomes: list[Outcome] = []
    keeping = threading.Lock()
    ordered = experiment, table, test_table
    began = time.perf_counter()
    created = RunRecord.now()

    def keep_once(record: RunRecord) -> Outcome:
        # The work may come back after it was given up: the first record is the one that counts.
        with keeping:
            if not outcomes:
                outcomes.append(_store(record, project))
                afterwards(outcomes[0].record)
            return outcomes[0]

    def work(post: Callable[[Progress], bool]) -> Outcome:
        def listen(progress: Progress) -> bool:
            if progress.finished is not None:
                finished.append(progress.finished)
            if progress.search is not None:
                searches[progress.split] = progress.search
            return post(progress)

        if project is not None:
            # A project that cannot be written now may be writable when the run has ended.
            with contextlib.suppress(InputError):
                project.take_off(experiment)
        if workers is not None:
            return keep_once(execute_on(workers, *ordered, listen))
        if process is not None:
            return keep_once(process.execute(*ordered, listen, lambda: job.ended))
        return keep_once(execute(*ordered, listen))

    def leftover() -> Outcome:
        seconds = time.perf_counter() - began
        found = list(searches.values())
        record = RunRecord.made(experiment, STOPPED, finished, created, seconds, searches=found)
        return keep_once(record)

    interruptible = workers is not None or METHODS[experiment.method].interruptible
    job = RunJob(work, leftover, GRACE if interruptible else NO_GRACE)
    return job


def _store(record: RunRecord, project: RunStore | None) -> Outcome:
    if project is None:
        return Outcome(record)
    try:
        return Outcome(project.add_run(record))
    except InputError as error:
        return Outcome(record, str(error))


def describe_failure(error: BaseException) -> tuple[str, str]:
    """Give a job's error as one sentence and as a traceback for a bug report."""
    trace = "".join(traceback.format_exception(error))
    return str(error) or type(error).__name__, trace
