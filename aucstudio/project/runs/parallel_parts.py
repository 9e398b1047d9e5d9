"""Parallel parts of one fit, and threads of libraries."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from threadpoolctl import threadpool_info, threadpool_limits

from aucstudio.engine.monitor import Check

_LOOK_SECONDS = 0.1


def side_by_side(
    work: Callable[[Any, Check], Any], tasks: Sequence[Any], check: Callable[[], bool]
) -> Iterator[Any]:
    """Do tasks in threads; see :data:`aucstudio.engine.monitor.Spread`.

    Fits release the interpreter. The number of threads is that of the libraries of linear algebra:
    one for a run that shares the machine with others.
    """
    stopping = False

    def is_stopping() -> bool:
        return stopping

    waiting, under_way = list(reversed(tasks)), dict[Future[Any], Any]()
    at_once = processors()
    with threadpool_limits(1), ThreadPoolExecutor(at_once, initializer=_alone) as pool:
        try:
            while waiting or under_way:
                while waiting and len(under_way) < at_once:
                    task = waiting.pop()
                    under_way[pool.submit(work, task, is_stopping)] = task
                done, _ = wait(under_way, _LOOK_SECONDS, FIRST_COMPLETED)
                for future in done:
                    yield under_way.pop(future), future.result()
                if check():
                    return
        finally:
            stopping = True


def _alone() -> None:
    """Limit OpenMP to one thread, which is set for each thread."""
    threadpool_limits(1, user_api="openmp")


def processors() -> int:
    """Return how many tasks are done at once."""
    limits: list[int] = [found["num_threads"] for found in threadpool_info()]
    return max(1, min([os.cpu_count() or 1, *limits]))


def limit_threads(count: int | None = None) -> threadpool_limits:
    """Limit the threads of libraries, permanently or within a ``with`` statement.

    By default libraries use all processors but one, which stays free for the window.
    """
    # A library that is loaded later would not be limited.
    import sklearn.base  # noqa: F401

    return threadpool_limits(count or max(1, (os.cpu_count() or 1) - 1))


@functools.cache
def one_thread() -> None:
    """Limit libraries to one thread, permanently; called by tasks that share a machine."""
    # Tasks that run at once in one process would undo each other's limits.
    limit_threads(1)
