"""Runs in processes of their own: so neither what trains nor the window waits for the other.

Threads of one process share Python's interpreter: who paints holds up who trains, some operations
of libraries hold up who paints, and a library call that takes no steps cannot be ended. The
processes here run experiments as :func:`~aucstudio.project.runs.execute.execute` does, to the same
numbers; each keeps its table from run to run, and can be killed. One that died, ran out of memory
or was given up is replaced by another.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import contextlib
import dataclasses
import functools
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from types import ModuleType
from typing import IO

from aucstudio.engine.monitor import Stopped
from aucstudio.project.child_process import child_command
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.table import Table
from aucstudio.project.runs.estimate import check_size_at_once
from aucstudio.project.runs.execute import NOT_ENOUGH_MEMORY, execute
from aucstudio.project.runs.experiments.planning import PlannedRun
from aucstudio.project.runs.record import RunRecord, SplitResult
from aucstudio.project.runs.watch import Listener
from aucstudio.project.work.fit_service import (
    OUT_OF_MEMORY,
    Answer,
    End,
    Order,
    Stop,
    Tables,
    serve,
)
from aucstudio.project.work.parcels import receive, send
from aucstudio.project.work.place import GivenUp, Place
from aucstudio.project.work.workers import WorkersLostError

_LISTEN_SECONDS = 0.05
_ENDING_SECONDS = 2.0


class TrainingProcess:
    """A process in which experiments are run, one at a time; never started again.

    Raises
    ------
    OSError
        If no process can be had.

    Attributes
    ----------
    tables : (Table, Table or None) or None
        What it was last sent.
    """

    def __init__(self) -> None:
        self.tables: Tables | None = None
        self._trouble = ""
        self._told: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        self._orders: queue.SimpleQueue[Order | Stop | None] = queue.SimpleQueue()
        self._popen = _spawner().submit(_spawn).result()
        for work, pipe in ((self._hear, self._popen.stdout), (self._write, self._popen.stdin)):
            # Daemons, for they end when the process does.
            threading.Thread(target=work, args=(pipe,), name="aucstudio-pipe", daemon=True).start()

    @property
    def alive(self) -> bool:
        """Whether it can be asked for another run."""
        return not self._trouble and self._popen.poll() is None

    def close(self) -> None:
        """End it, whatever it is doing."""
        self._popen.kill()
        self._popen.wait()
        self._orders.put(None)

    def execute(
        self, plan: PlannedRun, threads: int, listen: Listener, given_up: GivenUp
    ) -> RunRecord:
        """Make a run; see :meth:`Place.execute`."""
        self._order(plan, threads)
        finished: list[SplitResult] = []
        preparation: Preparation | None = None
        stopping = False
        while (answer := self._next(given_up)) is not None:
            if isinstance(answer, End):
                splits = tuple(finished[k] for k in answer.kept)
                return dataclasses.replace(answer.record, splits=splits)
            for progress in answer:
                preparation = progress.preparation or preparation
                finished += [progress.finished] if progress.finished is not None else []
                if listen(dataclasses.replace(progress, preparation=preparation)) and not stopping:
                    stopping = True
                    self._orders.put(Stop())
        raise WorkersLostError(self._how_it_ended())

    def holds(self, plan: PlannedRun) -> bool:
        """Tell whether it has the tables of a run."""
        return self.tables is not None and all(
            mine is its
            for mine, its in zip(self.tables, (plan.table, plan.test_table), strict=True)
        )

    def _order(self, plan: PlannedRun, threads: int) -> None:
        tables = None if self.holds(plan) else (plan.table, plan.test_table)
        self.tables = plan.table, plan.test_table
        self._orders.put(Order(plan.experiment, tables, threads))

    def _next(self, given_up: GivenUp) -> Answer | None:
        while not given_up():
            with contextlib.suppress(queue.Empty):
                return self._told.get(timeout=_LISTEN_SECONDS)
        raise Stopped("given up: nobody waits for this any more")

    def _how_it_ended(self) -> str:
        try:
            code = self._popen.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            return self._trouble or "the process that trained does not answer any more"
        if self._trouble:
            return self._trouble
        if code == OUT_OF_MEMORY:
            return NOT_ENOUGH_MEMORY
        return (
            f"the process that trained ended unexpectedly ({_ended_by(code)}): there may not be "
            "enough memory for this method on this table"
        )

    def _write(self, pipe: IO[bytes]) -> None:
        # On a thread of its own: a process that does not read must not hold up who gives it up.
        try:
            while (thing := self._orders.get()) is not None:
                send(pipe, thing)
        except OSError:
            pass  # it is gone, and the end of what it tells says so
        except Exception as error:  # noqa: BLE001  (it waits for an order that will not come)
            self._fail("the table could not be sent to the process that trains", error)
            self._popen.kill()
        with contextlib.suppress(OSError):
            pipe.close()

    def _hear(self, pipe: IO[bytes]) -> None:
        try:
            with pipe:
                while True:
                    self._told.put(receive(pipe))
        except (EOFError, OSError):
            pass
        except Exception as error:  # noqa: BLE001  (who waits must hear of an end, whatever it was)
            self._fail("what the process that trained told could not be read", error)
        finally:
            self._told.put(None)
            self._orders.put(None)  # the thread that writes ends too

    def _fail(self, what: str, error: Exception) -> None:
        memory = isinstance(error, MemoryError)
        self._trouble = NOT_ENOUGH_MEMORY if memory else f"{what} ({type(error).__name__}: {error})"


class Processes(Place):
    """Processes for runs, as many as are under way; kept for the next ones.

    Parameters
    ----------
    at_once : int
        More than one share the processors: each then has its libraries on a single thread.
    """

    def __init__(self, at_once: int = 1) -> None:
        self.at_once = at_once
        self._changing = threading.Lock()
        self._idle: list[TrainingProcess] = []
        self._busy: list[TrainingProcess] = []
        self._is_ready = self._is_closed = False

    def start(self) -> bool:
        """Have a process at hand, from now on; it is ready some seconds later.

        Returns
        -------
        bool
            Whether there is one; False where no process can be had.
        """
        self._is_ready = True
        with self._changing:
            self._idle = [process for process in self._idle if process.alive]
            if self._idle:
                return True
        return self._keep(self._make())

    def check(self, plans: Sequence[PlannedRun]) -> None:
        """Refuse runs that would not fit in memory beside each other."""
        if self.at_once > 1 and plans and isinstance(plans[0].table, Table):
            experiments = [plan.experiment for plan in plans]
            check_size_at_once(experiments, plans[0].table, self.at_once)

    def execute(self, plan: PlannedRun, listen: Listener, given_up: GivenUp) -> RunRecord:
        """Make a run; in this process where no other can be had, or sees the table.

        That is so of one that stays on disk: its copy, as large as the file, is this process's.
        """
        in_memory = isinstance(plan.table, Table) and isinstance(plan.test_table, Table | None)
        process = self._take(plan) if in_memory else None
        if process is None:
            return execute(plan.experiment, plan.table, plan.test_table, listen)
        keep = False
        try:
            record = process.execute(plan, self._threads, listen, given_up)
            # One that has run out of memory may have lost some of it for good.
            keep = record.error != NOT_ENOUGH_MEMORY
            return record
        finally:
            self._give_back(process, keep)

    def close(self) -> None:
        """End them all, whatever they are doing."""
        with self._changing:
            self._is_closed = True
            ending = self._idle + self._busy
            self._idle = []
        for process in ending:
            process.close()

    @property
    def _threads(self) -> int:
        # One processor stays with the window.
        return 1 if self.at_once > 1 else max(1, (os.cpu_count() or 1) - 1)

    def _take(self, plan: PlannedRun) -> TrainingProcess | None:
        with self._changing:
            self._idle = [process for process in self._idle if process.alive]
            # One that has the table already comes first.
            self._idle.sort(key=lambda process: process.holds(plan))
            if self._idle:
                self._busy.append(self._idle.pop())
                return self._busy[-1]
        made = self._make()
        if made is not None:
            with self._changing:
                self._busy.append(made)
        return made

    def _make(self) -> TrainingProcess | None:
        if self._is_closed:
            return None
        try:
            return TrainingProcess()
        except (OSError, RuntimeError):
            return None

    def _give_back(self, process: TrainingProcess, keep: bool) -> None:
        with self._changing:
            self._busy.remove(process)
        if not (keep and self._keep(process)):
            process.close()
            if self._is_ready and not self._is_closed:
                self.start()  # the next run finds another one

    def _keep(self, process: TrainingProcess | None) -> bool:
        with self._changing:
            room = process is not None and not self._is_closed and len(self._idle) < self.at_once
            if room and process is not None:
                self._idle.append(process)
        if process is not None and not room:
            process.close()
        return room


@functools.cache
def the_processes() -> Processes:
    """Start what the windows of this program have in common."""
    processes = Processes()
    processes.start()
    atexit.register(processes.close)
    return processes


@functools.cache
def _spawner() -> concurrent.futures.Executor:
    # On Linux a child is told of the end of the thread that started it: so one that lasts does.
    return concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="aucstudio-spawner")


def start_service(module: ModuleType) -> subprocess.Popen[bytes]:
    """Start a process that serves what a module's ``serve`` does, and ends with this one."""
    return _spawner().submit(_spawn, module.__name__).result()


def _spawn(service: str = serve.__module__) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        child_command(service, os.getpid()),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A program without a console has none to pass on.
        stderr=None if sys.stderr else subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        # What a terminal's keys send is for the program alone.
        process_group=None if sys.platform == "win32" else 0,
    )


def _ended_by(code: int) -> str:
    try:
        return signal.Signals(-code).name if code < 0 else f"exit status {code}"
    except ValueError:
        return f"signal {-code}"
