"""Runs in a process of their own: so neither what trains nor the window waits for the other.

Threads of one process share Python's interpreter: who paints holds up who trains, some operations
of libraries hold up who paints, and a library call that takes no steps cannot be ended. The
process here runs experiments as :func:`~aucstudio.project.runs.execute.execute` does, to the same
numbers; it is started once, keeps the table, and can be killed.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import functools
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import IO

from aucstudio.engine.monitor import Stopped
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.prepare import Preparation
from aucstudio.project.data.table import Table
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.record import FAILED, RunRecord, SplitResult
from aucstudio.project.runs.watch import Listener
from aucstudio.project.work.fit_service import Answer, End, Order, Stop, Tables, serve
from aucstudio.project.work.parcels import receive, send

_LISTEN_SECONDS = 0.05
_SERVE = "import sys; sys.path[:] = {path!r}; from {module} import serve; serve()"

Told = queue.SimpleQueue[Answer | None]


class TrainingProcess:
    """A process in which experiments are run, one at a time."""

    def __init__(self) -> None:
        self._free = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._told: Told = queue.SimpleQueue()
        self._tables: Tables | None = None

    def start(self) -> bool:
        """Start it, unless it runs; it is ready some seconds later, for which nobody waits.

        Returns
        -------
        bool
            Whether it runs; False where no process can be had.
        """
        if self._process is not None and self._process.poll() is None:
            return True
        self.close()
        if getattr(sys, "frozen", False):
            return False  # a bundled program has no interpreter beside it
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVE.format(path=sys.path, module=serve.__module__)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # A program without a console has none to pass on.
                stderr=None if sys.stderr else subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError:
            return False
        self._told, self._tables = queue.SimpleQueue(), None
        # A daemon, for it ends when the process does.
        threading.Thread(
            target=_hear,
            args=(self._process.stdout, self._told),
            name="aucstudio-hear",
            daemon=True,
        ).start()
        return True

    def close(self) -> None:
        """End it, whatever it is doing."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.kill()
            process.wait()
            # What was not yet written has nobody to read it.
            with contextlib.suppress(OSError):
                process.stdin.close()

    def execute(
        self,
        experiment: Experiment,
        table: AnyTable,
        test_table: AnyTable | None,
        listen: Listener,
        given_up: Callable[[], bool] = lambda: False,
    ) -> RunRecord:
        """Run an experiment to its record, as :func:`~aucstudio.project.runs.execute.execute` does.

        A table that stays on disk is trained on in this process, and so is every one where no
        other process can be had.

        Parameters
        ----------
        experiment : Experiment
        table, test_table : AnyTable
        listen : callable
            Called with :class:`~aucstudio.project.runs.watch.Progress`; looks that were overtaken
            before they could be sent are left out. A true answer stops the run.
        given_up : callable
            Tells that nobody waits for the run any more: the process is then ended.

        Returns
        -------
        RunRecord
            If the process dies, one that has failed and holds the splits that were finished.

        Raises
        ------
        Stopped
            If the run was given up.
        """
        while not self._free.acquire(timeout=_LISTEN_SECONDS):
            if given_up():
                raise Stopped("given up before it began")
        try:
            if isinstance(table, Table) and isinstance(test_table, Table | None) and self.start():
                self._order(experiment, (table, test_table))
                return self._hear_out(experiment, listen, given_up)
            return execute(experiment, table, test_table, listen)
        except BaseException:
            # Nobody hears any more what it tells; the next run finds another one.
            self.close()
            self.start()
            raise
        finally:
            self._free.release()

    def _order(self, experiment: Experiment, tables: Tables) -> None:
        there = self._tables is not None and all(
            mine is its for mine, its in zip(tables, self._tables, strict=True)
        )
        self._tables = tables
        self._write(Order(experiment, None if there else tables))

    def _write(self, thing: Order | Stop) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        # If it is gone, the end of what it tells says so.
        with contextlib.suppress(OSError):
            send(self._process.stdin, thing)

    def _hear_out(
        self, experiment: Experiment, listen: Listener, given_up: Callable[[], bool]
    ) -> RunRecord:
        began, created = time.perf_counter(), RunRecord.now()
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
                    self._write(Stop())
        seconds = time.perf_counter() - began
        return RunRecord.made(experiment, FAILED, finished, created, seconds, self._how_it_ended())

    def _next(self, given_up: Callable[[], bool]) -> Answer | None:
        while not given_up():
            with contextlib.suppress(queue.Empty):
                return self._told.get(timeout=_LISTEN_SECONDS)
        raise Stopped("given up: nobody waits for this any more")

    def _how_it_ended(self) -> str:
        assert self._process is not None
        code = self._process.wait()
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        return (
            f"the process that trained ended unexpectedly ({how}): there may not be enough memory "
            "for this method on this table"
        )


@functools.cache
def the_process() -> TrainingProcess:
    """Start the process that the windows of this program have in common."""
    process = TrainingProcess()
    process.start()
    atexit.register(process.close)
    return process


def _hear(pipe: IO[bytes], told: Told) -> None:
    with pipe, contextlib.suppress(EOFError, OSError):
        while True:
            told.put(receive(pipe))
    told.put(None)
