"""Workers that execute tasks: an executor and what its users must know about it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from typing import Any, TypeVar

from aucstudio.engine.monitor import Stopped
from aucstudio.project.errors import InputError
from aucstudio.project.runs.parallel_parts import limit_threads

_POLL_SECONDS = 0.1
_AHEAD = 2  # tasks for each place, so that a worker that finishes one has the next at hand

Key = TypeVar("Key")
Call = tuple[Any, ...]
"""A function and its arguments."""


class WorkersLostError(InputError):
    """The workers are gone, with some of the work."""


class Workers:
    """An executor; tasks return the same wherever they run.

    Attributes
    ----------
    executor : Executor
        Repeats a task whose worker dies, if it can.
    lost : str
        The sentence for an executor that is gone.
    """

    lost = "the worker processes ended: finished work is kept"

    def __init__(self, executor: Executor, places: int) -> None:
        self.executor, self._places = executor, places

    @property
    def places(self) -> int:
        """How many tasks run at once, as far as known."""
        return self._places

    @property
    def where(self) -> str:
        """Where the work is done, in a few words."""
        return f"in {self._places} processes"

    def hold(self, thing: Any) -> Any:
        """Return a placeholder for a large argument of tasks."""
        return thing

    def close(self) -> None:
        """End the connection to the workers, if there is one."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Submit a task; WorkersLostError if the executor is gone."""
        try:
            return self.executor.submit(function, *arguments)
        except (RuntimeError, OSError) as error:
            raise WorkersLostError(self.lost) from error

    def result(self, future: Future[Any]) -> Any:
        """Return the result of a task, or raise its exception; WorkersLostError if it is lost."""
        try:
            return future.result()
        except (CancelledError, BrokenExecutor) as error:
            raise WorkersLostError(self.lost) from error


def completed(
    workers: Workers, next_call: Callable[[], tuple[Key, Call] | None]
) -> Generator[list[tuple[Key, Future[Any]]], None, None]:
    """Submit calls as workers have room; yield those that ended, at least ten times a second.

    Calls that have not begun are cancelled when the iterator is closed.

    Parameters
    ----------
    workers : Workers
    next_call : callable
        Returns a key and a call that may begin now, or None.
    """
    under_way: dict[Future[Any], Key] = {}
    try:
        while True:
            room = _AHEAD * max(1, workers.places) - len(under_way)
            while room > 0 and (found := next_call()) is not None:
                key, call = found
                under_way[workers.submit(*call)] = key
                room -= 1
            if not under_way:
                return
            ended, _ = wait(under_way, _POLL_SECONDS, FIRST_COMPLETED)
            yield [(under_way.pop(future), future) for future in ended]
    finally:
        for future in under_way:
            future.cancel()


def answers(
    workers: Workers | None,
    calls: Sequence[Call],
    progress: Callable[[float], object] | None = None,
) -> list[Any]:
    """Make independent calls, on workers or here one after the other.

    Parameters
    ----------
    workers : Workers, optional
    calls : sequence of (function, argument, ...)
        Large arguments may be placeholders of :meth:`Workers.hold`.
    progress : callable, optional
        Called with the fraction done, at least after every call; a true answer stops.

    Returns
    -------
    list
        The results, in the order of ``calls``.

    Raises
    ------
    Stopped
        If ``progress`` asked to stop.
    WorkersLostError
    """
    found: dict[int, Any] = {}

    def stop_or_continue() -> None:
        if progress is not None and progress(len(found) / len(calls)):
            raise Stopped("calls")

    if workers is None:
        for number, (function, *arguments) in enumerate(calls):
            found[number] = function(*arguments)
            stop_or_continue()
    else:
        waiting = iter(enumerate(calls))
        with contextlib.closing(completed(workers, lambda: next(waiting, None))) as rounds:
            for ended in rounds:
                found |= {number: workers.result(future) for number, future in ended}
                stop_or_continue()
    return [found[number] for number in range(len(calls))]


@functools.cache
def alone() -> None:
    """Limit libraries to one thread for each task, permanently; called where tasks run."""
    # Tasks that run at once in one process would undo each other's limits.
    limit_threads(1)
