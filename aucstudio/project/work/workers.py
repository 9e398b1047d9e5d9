"""Executors and their properties.

What it is made of, processes here or a cluster, is known to :class:`Workers` alone.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from typing import Any

from aucstudio.engine.monitor import Stopped
from aucstudio.project.errors import InputError
from aucstudio.project.runs.parallel_parts import limit_threads

LISTEN_SECONDS = 0.1
AHEAD = 2
"""Tasks for each place: a worker that ends one has the next at hand."""

Call = tuple[Any, ...]
"""A function and its arguments."""


class WorkersLostError(InputError):
    """Those who did the work are gone, and some of it with them."""


class Workers:
    """Where tasks go: an executor, and what is to be known of it.

    Attributes
    ----------
    executor : Executor
        A task that dies with its worker is its business; tasks give the same wherever they run.
    lost : str
        The sentence for when it is gone.
    """

    lost = "the worker processes ended: finished work is kept"

    def __init__(self, executor: Executor, places: int) -> None:
        self.executor, self._places = executor, places

    @property
    def places(self) -> int:
        """How many tasks are worked on at once, as far as is known."""
        return self._places

    @property
    def where(self) -> str:
        """Where the work is done, in a few words."""
        return f"in {self._places} processes"

    def hold(self, thing: Any) -> Any:
        """Return the placeholder of a large argument of tasks."""
        return thing

    def keep(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the placeholder of a task's result among the arguments of others.

        Where workers have memories of their own, it stays there.
        """
        return function(*arguments)

    def close(self) -> None:
        """End the connection to them, where there is one."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Hand a task over.

        Raises
        ------
        WorkersLostError
            If nobody takes it.
        """
        try:
            return self.executor.submit(function, *arguments)
        except (RuntimeError, OSError) as error:
            raise WorkersLostError(self.lost) from error

    def result(self, future: Future[Any]) -> Any:
        """Return what a task gave, or raise what it raised.

        Raises
        ------
        WorkersLostError
            If it is lost.
        """
        try:
            return future.result()
        except (CancelledError, BrokenExecutor) as error:
            raise WorkersLostError(self.lost) from error


def answers(
    workers: Workers | None, calls: Sequence[Call], hear: Callable[[float], object] | None = None
) -> list[Any]:
    """Make calls that know nothing of each other, on workers or here in turn.

    Parameters
    ----------
    workers : Workers, optional
    calls : sequence of (function, argument, ...)
        Large arguments may stand for themselves by :meth:`Workers.hold`.
    hear : callable, optional
        Hears the fraction done, at least after every call; a true answer stops.

    Returns
    -------
    list
        What each gave, in the order of ``calls``.

    Raises
    ------
    Stopped
        If ``hear`` asked for it.
    WorkersLostError
    """
    hear = hear or (lambda _fraction: False)
    if workers is not None:
        return _answers_of(workers, calls, hear)
    found = []
    for done, (function, *arguments) in enumerate(calls, start=1):
        found.append(function(*arguments))
        if hear(done / len(calls)):
            raise Stopped("calls")
    return found


def _answers_of(
    workers: Workers, calls: Sequence[Call], hear: Callable[[float], object]
) -> list[Any]:
    found: dict[int, Any] = {}
    under_way: dict[Future[Any], int] = {}
    waiting = deque(enumerate(calls))
    try:
        while waiting or under_way:
            while waiting and len(under_way) < AHEAD * max(1, workers.places):
                number, call = waiting.popleft()
                under_way[workers.submit(*call)] = number
            ended, _ = wait(under_way, LISTEN_SECONDS, FIRST_COMPLETED)
            found |= {under_way.pop(future): workers.result(future) for future in ended}
            if hear(len(found) / len(calls)):
                raise Stopped("calls")
    finally:
        for future in under_way:
            future.cancel()
    return [found[number] for number in range(len(calls))]


@functools.cache
def alone() -> None:
    """Keep libraries to one thread for each task, for good; called where tasks are done."""
    # Tasks side by side in one process would undo each other's limits.
    limit_threads(1)
