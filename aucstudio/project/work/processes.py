"""Run experiments in child processes.

Threads of one process share Python's interpreter: painting delays training, some operations of
libraries delay painting, and a library call without steps cannot be ended. The processes here run
experiments as :func:`~aucstudio.project.runs.execute.execute` does, to the same numbers. Each keeps
its table from run to run, and can be killed. One that died, ran out of memory or was given up is
replaced.
"""

from __future__ import annotations

import atexit
import dataclasses
import functools
import threading
import time
from collections.abc import Sequence

from aucstudio.engine import inference
from aucstudio.project.child_process import CallReporter, ChildEndedError, ChildProcess
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.estimate import check_size_at_once
from aucstudio.project.runs.execute import NOT_ENOUGH_MEMORY, execute
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.planning import PlannedRun
from aucstudio.project.runs.progress import Listener, Progress
from aucstudio.project.runs.record import RunRecord, SplitResult
from aucstudio.project.runs.rows import limit_threads
from aucstudio.project.work.submit import GivenUp, Place

_LOOK_SECONDS = 1 / 30  # more often would cost time and show nothing new


class Processes(Place):
    """Processes for runs, as many as runs under way; kept for the next runs.

    Parameters
    ----------
    at_once : int
        If there are several, the libraries of each use a single thread.

    Attributes
    ----------
    idle, busy : list of ChildProcess
        Without a run, the next to be used last; and with one.
    """

    def __init__(self, at_once: int = 1) -> None:
        self.at_once = at_once
        self._changing = threading.Lock()
        self.idle: list[ChildProcess] = []
        self.busy: list[ChildProcess] = []
        self._keeps_spare = self._is_closed = False

    def start(self) -> bool:
        """Start a spare process, which is ready some seconds later; return False if none starts."""
        with self._changing:
            self._keeps_spare = True
            self.idle = [process for process in self.idle if process.alive]
            if not self.idle and (made := self._make()) is not None:
                self.idle.append(made)
            return bool(self.idle)

    def check(self, plans: Sequence[PlannedRun]) -> None:
        """Refuse runs that would not fit in memory beside each other."""
        if self.at_once > 1 and plans and isinstance(plans[0].table, Table):
            experiments = [plan.experiment for plan in plans]
            check_size_at_once(experiments, plans[0].table, self.at_once)

    def execute(self, plan: PlannedRun, listen: Listener, given_up: GivenUp) -> RunRecord:
        """Make a run; in this process if no other can be started or the table is out of memory."""
        in_memory = isinstance(plan.table, Table) and isinstance(plan.test_table, Table | None)
        process = self._acquire(plan) if in_memory else None
        if process is None:
            return execute(plan.experiment, plan.table, plan.test_table, listen)
        keep = False
        try:
            record = self._run(process, plan, listen, given_up)
            # A process that ran out of memory may not get all of it back.
            keep = record.error != NOT_ENOUGH_MEMORY
            return record
        finally:
            self._release(process, keep)

    def close(self) -> None:
        """End all processes, whatever they are doing."""
        with self._changing:
            self._is_closed = True
            ending = self.idle + self.busy
            self.idle = []
        for process in ending:
            process.close()

    def _run(
        self, process: ChildProcess, plan: PlannedRun, listen: Listener, given_up: GivenUp
    ) -> RunRecord:
        finished: list[SplitResult] = []
        preparation: Preparation | None = None

        def take(progress: Progress) -> object:
            nonlocal preparation
            preparation = progress.preparation or preparation
            if progress.finished is not None:
                finished.append(progress.finished)
            return listen(dataclasses.replace(progress, preparation=preparation))

        tables = plan.table, plan.test_table
        arguments = plan.experiment, 1 if self.at_once > 1 else None
        try:
            record: RunRecord = process.call(_train, arguments, take, kill=given_up, shared=tables)
        except ChildEndedError as end:
            if end.no_memory:
                raise InputError(NOT_ENOUGH_MEMORY) from end
            raise
        return dataclasses.replace(record, splits=tuple(finished))

    def _acquire(self, plan: PlannedRun) -> ChildProcess | None:
        with self._changing:
            # A process that has the table already is preferred.
            idle = [process for process in self.idle if process.alive]
            idle.sort(key=lambda process: process.has((plan.table, plan.test_table)))
            process = idle.pop() if idle else self._make()
            self.idle = idle
            if process is not None:
                self.busy.append(process)
            return process

    def _release(self, process: ChildProcess, keep: bool) -> None:
        with self._changing:
            self.busy.remove(process)
            keep = keep and not self._is_closed and len(self.idle) < self.at_once
            if keep:
                self.idle.append(process)
        if not keep:
            process.close()
            if self._keeps_spare:
                self.start()  # for the next run

    def _make(self) -> ChildProcess | None:
        if self._is_closed:
            return None
        try:
            return ChildProcess(__name__, _load_compiler)
        except (OSError, RuntimeError):
            return None


@functools.cache
def the_processes() -> Processes:
    """Start the processes that all windows of this program share."""
    processes = Processes()
    processes.start()
    atexit.register(processes.close)
    return processes


# ------------------------------------------------------------------ in the child process


def _load_compiler() -> None:
    """Load the compiled kernels, for which the first run would have to wait."""
    inference.pauc_interval([0, 0, 1, 1], [0.1, 0.3, 0.2, 0.4], 0.0, 0.5)


def _train(
    table: AnyTable,
    test_table: AnyTable | None,
    experiment: Experiment,
    threads: int | None,
    report: CallReporter,
) -> RunRecord:
    """Make a run; return its record without the splits, which were reported.

    A report holds the preparation only if it differs from that of the report before.
    """
    _limit_once(threads)
    preparation: Preparation | None = None
    next_look = 0.0

    def listen(progress: Progress) -> bool:
        nonlocal preparation, next_look
        known, preparation = progress.preparation is preparation, progress.preparation
        look = progress.look if time.monotonic() >= next_look else None
        if look is not None:
            next_look = time.monotonic() + _LOOK_SECONDS
        sent = dataclasses.replace(
            progress, look=look, preparation=None if known else progress.preparation
        )
        return report(sent)

    record = execute(experiment, table, test_table, listen)
    return dataclasses.replace(record, splits=())


@functools.lru_cache(maxsize=1)
def _limit_once(threads: int | None) -> None:
    # Setting it takes some milliseconds.
    limit_threads(threads)
