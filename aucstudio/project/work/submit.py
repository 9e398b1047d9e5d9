"""Submit experiments to a place, poll and stop them, store their records.

The window submits one run after the other and polls its task; the command line does the same in
:func:`run_experiments`. In every place a run fails with a sentence if its process dies, runs out of
memory or does not answer. It keeps its finished splits, and the next run starts in a new process.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, Self

from aucstudio.engine.monitor import Stopped
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute, failure_sentence
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.planning import PlannedRun, with_test_file
from aucstudio.project.runs.progress import Listener, Progress
from aucstudio.project.runs.record import FAILED, STOPPED, RunRecord, SplitResult
from aucstudio.project.runs.tuning import Search
from aucstudio.project.work import signals
from aucstudio.project.work.job import Job

Bar = Callable[[float | None, str], None]

_POLL_SECONDS = 0.05
_PATIENCE_SECONDS = 30.0  # a task ends within a second unless the disk is slow


class RunStore(Protocol):
    """Storage of runs: a project file or the current file of a window."""

    def begin_run(self, experiment: Experiment) -> None:
        """Note that a run has started."""

    def add_run(self, record: RunRecord) -> RunRecord:
        """Store a finished run; return it with its id."""


@dataclasses.dataclass(frozen=True, eq=False)
class Outcome:
    """The record of a run, and whether it is stored.

    Attributes
    ----------
    record : RunRecord
    unsaved : str
        Why the record could not be stored; empty if it was stored or there is no project.
    """

    record: RunRecord
    unsaved: str = ""


RunTask = Job[Progress, Outcome]
"""The job of a run."""


GivenUp = Callable[[], bool]


class Place:
    """A place that executes runs; a context manager.

    Attributes
    ----------
    at_once : int
        How many runs to execute at once.
    lost : str
        Why the place can execute no more runs; empty while it can.
    """

    at_once = 1
    lost = ""

    def check(self, plans: Sequence[PlannedRun]) -> None:
        """Raise InputError if runs cannot be executed here."""

    def execute(self, plan: PlannedRun, listen: Listener, given_up: GivenUp) -> RunRecord:
        """Execute a run; the record is the same in every place.

        Parameters
        ----------
        plan : PlannedRun
        listen : callable
            Called with :class:`~aucstudio.project.runs.progress.Progress`, including each finished
            split; a true answer stops the run.
        given_up : callable
            Returns whether nobody waits for the run any more.

        Raises
        ------
        WorkersLostError
            If the workers are gone; finished splits were reported.
        Stopped
            If the run was given up.
        """
        raise NotImplementedError

    def close(self) -> None:
        """End the processes or the connection of the place."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Here(Place):
    """The current process."""

    def execute(self, plan: PlannedRun, listen: Listener, given_up: GivenUp) -> RunRecord:
        """Execute a run; one that was given up continues without a listener."""
        return execute(plan.experiment, plan.table, plan.test_table, listen)


def open_place(jobs: int = 1, cluster: str | None = None) -> Place:
    """Open a place to run experiments in: this process, several, or a cluster's workers.

    Raises
    ------
    InputError
        If the cluster cannot be used.
    """
    if cluster is not None:
        from aucstudio.project.work.cluster import open_cluster
        from aucstudio.project.work.parallel import ClusterPlace

        return ClusterPlace(open_cluster(cluster))
    if jobs > 1:
        from aucstudio.project.work.processes import Processes

        return Processes(jobs)
    return Here()


def submit(
    plan: PlannedRun,
    place: Place,
    project: RunStore | None = None,
    afterwards: Callable[[RunRecord], object] | None = None,
) -> RunTask:
    """Start a run and return its task.

    The record is stored on the thread of the task, before the outcome is available: a slow disk
    does not block the window, and nothing is shown that a crash could lose. ``afterwards`` is
    called with the record on that thread too.
    """
    run = _Run(plan, place, project, afterwards)
    run.task = RunTask(run.work, run.leftover)
    run.task.start()
    return run.task


class _Run:
    """A running run: its messages so far, and its record."""

    task: RunTask

    def __init__(
        self,
        plan: PlannedRun,
        place: Place,
        project: RunStore | None,
        afterwards: Callable[[RunRecord], object] | None,
    ) -> None:
        self._plan, self._place, self._project = plan, place, project
        self._afterwards = afterwards
        self._finished: list[SplitResult] = []
        self._searches: dict[int, Search] = {}
        self._began, self._created = time.perf_counter(), RunRecord.now()
        self._storing = threading.Lock()
        self._outcome: Outcome | None = None
        self._has_begun = False

    def work(self, post: Callable[[Progress], bool]) -> Outcome:
        def listen(progress: Progress) -> bool:
            if progress.finished is not None:
                self._finished.append(progress.finished)
            if progress.search is not None:
                self._searches[progress.split] = progress.search
            return post(progress)

        try:
            self._plan = with_test_file(self._plan)
            if self.task.stopping:
                raise Stopped("preparing a run")
            self._has_begun = True
            if self._project is not None:
                # A project that cannot be written now may be writable when the run has ended.
                with contextlib.suppress(Exception):
                    self._project.begin_run(self._plan.experiment)
            record = self._place.execute(self._plan, listen, lambda: self.task.ended)
        except Stopped:
            raise
        except InputError as error:
            record = self._so_far(FAILED, str(error))
        except Exception as error:  # noqa: BLE001  (a failed run is recorded like any other)
            record = self._so_far(FAILED, failure_sentence(error), traceback.format_exc())
        return self._store(record)

    def leftover(self) -> Outcome | None:
        return self._store(self._so_far(STOPPED)) if self._has_begun else None

    def _so_far(self, status: str, error: str = "", trace: str = "") -> RunRecord:
        seconds = time.perf_counter() - self._began
        searches, finished = tuple(self._searches.values()), tuple(self._finished)
        known = finished, self._created, seconds, error, trace, searches
        return RunRecord(self._plan.experiment, status, *known)

    def _store(self, record: RunRecord) -> Outcome:
        # The work may end after it was given up: only the first record counts.
        with self._storing:
            if self._outcome is None:
                self._outcome = _stored(record, self._project)
                if self._afterwards is not None:
                    # An error here occurs again, and is reported, when the result is shown.
                    with contextlib.suppress(Exception):
                        self._afterwards(self._outcome.record)
            return self._outcome


def _stored(record: RunRecord, project: RunStore | None) -> Outcome:
    if project is None:
        return Outcome(record)
    try:
        return Outcome(project.add_run(record))
    except InputError as error:
        return Outcome(record, str(error))
    except Exception as error:  # noqa: BLE001  (whatever it was, the record must not be lost)
        reason = "there is not enough memory" if isinstance(error, MemoryError) else repr(error)
        return Outcome(record, f"cannot write it into the project: {reason}")


def run_experiments(
    plans: Sequence[PlannedRun],
    place: Place,
    project: str | Path | None = None,
    bar: Bar = lambda _fraction, _words: None,
) -> list[Outcome]:
    """Run experiments to their outcomes, as many at once as the place can execute.

    After an interrupt finished splits are kept, those of running runs too, and runs that have not
    begun are left out. The same happens if the place is lost.

    Parameters
    ----------
    plans : sequence of PlannedRun
    place : Place
    project : str or Path, optional
        Project file that stores each run as it ends; created if it does not exist.
    bar : callable, optional
        Called with the fraction done and a short text.

    Raises
    ------
    InputError
        Before anything is run, if the place cannot run this, or the project cannot be opened.
    """
    place.check(plans)
    file = None
    if project is not None:
        from aucstudio.project.store.project.project_file import open_or_create

        file = open_or_create(project)
    batch = _Batch(plans, place, file, bar)
    with signals.noted() as interrupted:
        try:
            batch.run(interrupted)
        except BaseException:
            batch.stop()
            raise
    return batch.outcomes()


class _Batch:
    """Runs that wait, run, or have ended."""

    def __init__(
        self, plans: Sequence[PlannedRun], place: Place, file: RunStore | None, bar: Bar
    ) -> None:
        self._plans, self._place, self._file, self._bar = plans, place, file, bar
        self._waiting = deque(range(len(plans)))
        self._under_way: dict[int, RunTask] = {}
        self._ended: dict[int, Outcome] = {}
        self._last: dict[int, Progress] = {}

    def run(self, interrupted: Callable[[], bool]) -> None:
        """Run all experiments, unless an interrupt comes."""
        while self._waiting or self._under_way:
            if interrupted() or self._place.lost:
                self._leave_off(interrupted())
            while self._waiting and len(self._under_way) < self._place.at_once:
                k = self._waiting.popleft()
                self._under_way[k] = submit(self._plans[k], self._place, self._file)
            for task in list(self._under_way.values())[:1]:
                task.wait(_POLL_SECONDS)
            self._take()
        self._bar(1.0, "")

    def stop(self) -> None:
        """Stop what is running, and wait until its results are stored."""
        self._leave_off(True)
        for task in self._under_way.values():
            task.wait(_PATIENCE_SECONDS)

    def outcomes(self) -> list[Outcome]:
        """List the outcomes of the experiments that were started, in order."""
        return [self._ended[k] for k in sorted(self._ended)]

    def _leave_off(self, stop: bool) -> None:
        self._waiting.clear()
        for task in self._under_way.values():
            if stop:
                task.stop()

    def _take(self) -> None:
        is_changed = False
        for k, task in list(self._under_way.items()):
            ended = task.ended  # read first, so that its last message is not missed
            if messages := task.drain():
                self._last[k] = messages[-1]
            is_changed |= ended or bool(messages)
            if ended:
                del self._under_way[k]
                if task.result is None:
                    raise task.error or RuntimeError("a run ended without a record")
                self._ended[k] = task.result
        if is_changed:
            self._bar(*self._words())

    def _words(self) -> tuple[float | None, str]:
        running = {k: self._last[k].describe() for k in self._under_way if k in self._last}
        if len(self._plans) == 1:
            return next(iter(running.values()), (None, ""))
        count = len(self._plans)
        done = len(self._ended) + sum(fraction or 0.0 for fraction, _ in running.values())
        words = f"{len(self._ended)} of {count} runs"
        if len(self._under_way) == 1 and running:
            ((k, (_, step)),) = running.items()
            words = f"{words}, {self._plans[k].experiment.method} {step}"
        return done / count, words
