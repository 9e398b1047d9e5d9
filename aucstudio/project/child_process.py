"""Call functions in child processes, with reports and cancellation.

A call in a child process blocks neither the window nor other threads of this process, and a library
call that cannot be interrupted ends with its process. In a packaged program ``sys.executable`` is
the program itself, which starts itself with :data:`CHILD_OPTION`.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import functools
import importlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from aucstudio.project.errors import InputError
from aucstudio.project.pickle_stream import portable, receive, send
from aucstudio.project.typed import Sendable

if TYPE_CHECKING:
    from concurrent.futures import Executor

CHILD_OPTION = "--run-child-process"
"""First argument of a packaged program that serves calls and does nothing else."""

_PACKAGE = __name__.split(".")[0]
_PR_SET_PDEATHSIG = 1
_OUT_OF_MEMORY = 75  # exit status
_POLL_SECONDS = 0.05
_ENDING_SECONDS = 2.0
_BATCH_SECONDS = 0.01  # thousands of reports a second are sent in batches


class ChildEndedError(InputError):
    """A child process ended before its call returned.

    Attributes
    ----------
    status : int or None
        Its exit status, negative for a signal; None if it neither answers nor ends.
    no_memory : bool
        Whether this process or the child ran out of memory while sending or receiving.
    """

    def __init__(self, message: str, status: int | None, *, no_memory: bool) -> None:
        super().__init__(message)
        self.status, self.no_memory = status, no_memory


@dataclasses.dataclass(frozen=True, eq=False)
class _Call:
    """A function to call; ``shared`` is None if the process already has the shared arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    shared: tuple[Any, ...] | None


@dataclasses.dataclass(frozen=True, eq=False)
class _Answer(Sendable):
    """Reports of a call in order, or how it ended."""

    reports: Sequence[tuple[Any, ...]] = ()
    ended: bool = False
    value: Any = None
    error: Exception | None = None


class CallReporter:
    """Sends reports of a call to the process that made it; the last argument of every function."""

    def __init__(self, outbox: queue.SimpleQueue[tuple[Any, ...] | _Answer]) -> None:
        self._outbox = outbox
        self.stop = threading.Event()

    def __call__(self, *message: Any) -> bool:
        """Send a report; return whether the function should stop."""
        self._outbox.put(message)
        return self.stop.is_set()


def call(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    report: Callable[..., object] = lambda *_: False,
    stop: Callable[[], bool] = lambda: False,
    kill: Callable[[], bool] = lambda: False,
    *,
    prepare: Callable[[], object] | None = None,
    quiet: bool = False,
    allowed: Collection[type] | None = None,
) -> Any:
    """Call a function in a child process of its own; see :class:`ChildProcess`."""
    with ChildProcess(function.__module__, prepare, quiet=quiet, allowed=allowed) as child:
        return child.call(function, arguments, report, stop, kill)


class ChildProcess:
    """A process that calls functions, one at a time; a context manager that ends it.

    Parameters
    ----------
    module : str
        A module of this program, which the process imports first. It is part of the command line.
    prepare : callable, optional
        Called in the process before the first call.
    quiet : bool
        Whether to drop the output of the process.
    allowed : collection of type, optional
        The only classes of answers and errors. For a process that reads untrusted files: if a file
        takes it over, its answers run no code here.

    Raises
    ------
    OSError, RuntimeError
        If no process can be started.
    """

    def __init__(
        self,
        module: str,
        prepare: Callable[[], object] | None = None,
        *,
        quiet: bool = False,
        allowed: Collection[type] | None = None,
    ) -> None:
        self._allowed = None if allowed is None else (*allowed, _Answer)
        self._shared: tuple[Any, ...] = ()
        self._failure: Exception | None = None
        self._answers: queue.SimpleQueue[_Answer | None] = queue.SimpleQueue()
        self._orders: queue.SimpleQueue[_Call | Callable[[], object] | str | None] = (
            queue.SimpleQueue()
        )
        self._popen = _spawner().submit(_spawn, module, quiet).result()
        self._orders.put(prepare or _nothing)
        self._threads = [
            # Daemons, because they end when the process does.
            threading.Thread(target=work, args=(pipe,), name="aucstudio-pipe", daemon=True)
            for work, pipe in ((self._read, self._popen.stdout), (self._write, self._popen.stdin))
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._popen.pid

    @property
    def alive(self) -> bool:
        """Whether it can be given another call."""
        return self._failure is None and self._popen.poll() is None

    def has(self, shared: Sequence[Any]) -> bool:
        """Return whether it already holds these very objects as shared arguments."""
        return len(self._shared) == len(shared) and all(
            mine is its for mine, its in zip(self._shared, shared, strict=True)
        )

    def call(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        report: Callable[..., object] = lambda *_: False,
        stop: Callable[[], bool] = lambda: False,
        kill: Callable[[], bool] = lambda: False,
        shared: tuple[Any, ...] = (),
    ) -> Any:
        """Call ``function(*shared, *arguments, reporter)`` in the process.

        Exceptions of the callables below end the wait; the process must be closed then.

        Parameters
        ----------
        function : callable
            A function of a module; it calls the :class:`CallReporter` with any arguments, and stops
            when that returns True.
        arguments : tuple
        report : callable
            Called with the reports of the function; a true answer asks it to stop.
        stop, kill : callable
            Polled: whether to ask the function to stop, and whether to stop waiting.
        shared : tuple
            Large arguments that the process keeps until it receives others.

        Raises
        ------
        Stopped
            If ``kill`` asked for it.
        ChildEndedError
            If the process ended.
        Exception
            Of the function.
        """
        self._orders.put(_Call(function, arguments, None if self.has(shared) else shared))
        self._shared = shared
        stopping = False
        while not kill():
            is_requested = stop()
            with contextlib.suppress(queue.Empty):
                answer = self._answers.get(timeout=_POLL_SECONDS)
                if answer is None:
                    raise self._ended()
                for message in answer.reports:
                    is_requested |= bool(report(*message))
                if answer.error is not None:
                    raise answer.error
                if answer.ended:
                    return answer.value
            if is_requested and not stopping:
                stopping = True
                self._orders.put("stop")
        from aucstudio.engine.monitor import Stopped

        raise Stopped("cancelled: the result is no longer needed")

    def close(self) -> None:
        """Kill the process, whatever it is doing."""
        self._popen.kill()
        self._popen.wait()
        self._orders.put(None)
        for thread in self._threads:
            thread.join(_ENDING_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ended(self) -> ChildEndedError:
        try:
            code: int | None = self._popen.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        how = "it does not answer" if code is None else _how_it_ended(code)
        if self._failure is not None:
            how = f"{type(self._failure).__name__}: {self._failure}"
        return ChildEndedError(
            f"the worker process ended unexpectedly ({how}): there may not be enough memory "
            "for this method on this table",
            code,
            no_memory=code == _OUT_OF_MEMORY or isinstance(self._failure, MemoryError),
        )

    def _write(self, pipe: IO[bytes]) -> None:
        # In a thread: a process that does not read must not block its caller.
        try:
            while (order := self._orders.get()) is not None:
                send(pipe, order)
        except OSError:
            pass  # the process ended, which the reading thread notices
        except Exception as error:  # noqa: BLE001  (the process waits for a message that cannot be sent)
            self._failure = error
            self._popen.kill()
        with contextlib.suppress(OSError):
            pipe.close()

    def _read(self, pipe: IO[bytes]) -> None:
        try:
            with pipe:
                while True:
                    self._answers.put(receive(pipe, self._allowed))
        except (EOFError, OSError):
            pass
        except Exception as error:  # noqa: BLE001  (the caller must not wait for ever)
            self._failure = error
        finally:
            self._answers.put(None)
            self._orders.put(None)


def _nothing() -> None:
    """Prepare nothing."""


def _how_it_ended(code: int) -> str:
    try:
        return signal.Signals(-code).name if code < 0 else f"exit status {code}"
    except ValueError:
        return f"signal {-code}"


@functools.cache
def _spawner() -> Executor:
    from concurrent.futures import ThreadPoolExecutor

    # On Linux a child is killed when the thread that started it ends: one thread starts them all.
    return ThreadPoolExecutor(1, thread_name_prefix="aucstudio-spawner")


def _spawn(module: str, quiet: bool) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        child_command(module, os.getpid()),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A program without a console has no standard error.
        stderr=None if sys.stderr and not quiet else subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        # Ctrl+C in a terminal is for this program, which then ends the process.
        process_group=None if sys.platform == "win32" else 0,
    )


def child_command(module: str, parent: int = 0) -> list[str]:
    """Return the command that serves calls in a new process.

    Parameters
    ----------
    module : str
        The module of this program to import first.
    parent : int
        The process is killed when the thread of this process id that started it ends; 0 if not.
    """
    if getattr(sys, "frozen", False):
        return [_packaged_program(), CHILD_OPTION, module, str(parent)]
    arguments = [module, str(parent)]
    code = f"import sys; sys.path[:] = {sys.path!r}; import {__name__} as c; c.serve({arguments!r})"
    return [sys.executable, "-c", code]


def _packaged_program() -> str:
    # On Windows the program for the desktop has no standard streams; the one beside it does.
    program = Path(sys.executable)
    console = program.with_name(_PACKAGE + program.suffix)
    return str(console if console.is_file() else program)


# ------------------------------------------------------------------ in the child process


def serve(arguments: Sequence[str]) -> None:
    """Serve calls in this process, until the one that started it ends.

    Parameters
    ----------
    arguments : sequence of str
        Module and parent, as :func:`child_command` passes them.

    Raises
    ------
    ValueError
        If they do not name a module of this program.
    """
    module, parent = arguments
    if not module.startswith(f"{_PACKAGE}."):
        raise ValueError(f"{module!r} is not a module of this program")
    if int(parent):
        end_with(int(parent))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not mix with answers
    importlib.import_module(module)
    service = _Service(sys.stdin.buffer, answers)
    _or_exit(service.run)


def end_with(parent: int) -> None:
    """Kill this process when the thread that started it ends.

    Where the system cannot do that, the end of the standard input ends the process.
    """
    # Ctrl+C is for the program that started this process and then ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(0)  # the parent ended before the call above


def _or_exit(work: Callable[[], object]) -> None:
    """Call a function whose failure ends the process."""
    try:
        work()
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    except (EOFError, OSError):
        os._exit(0)  # nobody waits for an answer
    except Exception:  # noqa: BLE001  (the caller must not wait for ever)
        traceback.print_exc()
        os._exit(1)


class _Service:
    """Calls functions, and reads calls and sends answers in other threads."""

    def __init__(self, orders: IO[bytes], answers: IO[bytes]) -> None:
        self._in, self._out = orders, answers
        self._calls: queue.SimpleQueue[_Call | Callable[[], object]] = queue.SimpleQueue()
        self._outbox: queue.SimpleQueue[tuple[Any, ...] | _Answer] = queue.SimpleQueue()
        self._reporter = CallReporter(self._outbox)

    def run(self) -> None:
        for work in (self._read, self._send):
            threading.Thread(target=_or_exit, args=(work,), daemon=True).start()
        shared: tuple[Any, ...] = ()
        while True:
            order = self._calls.get()
            if not isinstance(order, _Call):
                order()
                continue
            shared = shared if order.shared is None else order.shared
            try:
                value = order.function(*shared, *order.arguments, self._reporter)
                self._outbox.put(_Answer(ended=True, value=value))
            except Exception as error:  # noqa: BLE001  (it is raised where the call was made)
                self._outbox.put(_Answer(error=portable(error)))

    def _read(self) -> None:
        while True:
            order = receive(self._in)
            if order == "stop":
                self._reporter.stop.set()
            else:
                self._reporter.stop.clear()  # a late request was for the call before
                self._calls.put(order)

    def _send(self) -> None:
        while True:
            taken = [self._outbox.get()]
            while not self._outbox.empty():
                taken.append(self._outbox.get())
            reports = [message for message in taken if not isinstance(message, _Answer)]
            if reports:
                send(self._out, _Answer(reports))
            # No report of the next call comes before the caller has this answer.
            if isinstance(taken[-1], _Answer):
                send(self._out, taken[-1])
            else:
                time.sleep(_BATCH_SECONDS)
