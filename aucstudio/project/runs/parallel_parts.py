"""Parallel parts of one fit, and threads of libraries."""

from __future__ import annotations

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

    What trains lets other threads run. As many threads are taken as the libraries of linear
    algebra may use here: a run that shares the machine with others has one.
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
    """Limit OpenMP to this thread alone, which is set thread by thread."""
    threadpool_limits(1, user_api="openmp")


def processors() -> int:
    """Return how many tasks are done at once."""
    limits: list[int] = [found["num_threads"] for found in threadpool_info()]
    return max(1, min([os.cpu_count() or 1, *limits]))


def limit_threads(count: int | None = None) -> threadpool_limits:
    """Limit them for good, or for as long as what this gives is entered.

    Without a count one processor stays with the window, and libraries have the others.
    """
    # A library that is loaded later would know nothing of the limit.
    import sklearn.base  # noqa: F401

    return threadpool_limits(count or max(1, (os.cpu_count() or 1) - 1))
