"""Workers of a Dask cluster; the only module that uses Dask."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import itertools
import logging
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
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
from aucstudio.notices import text
from aucstudio.project.errors import InputError, input_error

# Versions that must be equal on all sides, for the same numbers and a common protocol.
_SAME = ("python", "aucstudio", "numpy", "distributed")
TIMEOUT_SECONDS = 10.0  # for connecting and closing
_LOOK_SECONDS = 1.0
_POLL_SECONDS = 0.1
_AHEAD = 2  # tasks for each place, so that a worker that finishes one has the next at hand
# Packages whose logs would mix with our messages: the library and its transport.
_LOGGERS = ("distributed", "tornado")
_SILENT = logging.CRITICAL + 1

Call = tuple[Any, ...]
"""A function and its arguments."""


@dataclasses.dataclass(frozen=True)
class WorkerCount:
    """Numbers of workers and of their threads, each of which works on one task."""

    workers: int
    threads: int


class WorkersLostError(InputError):
    """The workers are gone, with some of the work."""


class Cluster:
    """The workers of a Dask scheduler, behind an open connection; see :func:`open_cluster`.

    Results of a worker that dies are computed again by another.

    Attributes
    ----------
    address : str
    standing : WorkerCount
        The last known numbers.
    """

    def __init__(self, client: Any, address: str, standing: WorkerCount) -> None:
        self._client, self.address, self.standing = client, address, standing
        self._executor: Executor = client.get_executor(pure=False)
        self._looked = time.monotonic()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Submit a task; WorkersLostError if the connection is gone."""
        try:
            return self._executor.submit(function, *arguments)
        except (RuntimeError, OSError) as error:
            raise self._lost() from error

    def result(self, future: Future[Any]) -> Any:
        """Return the result of a task, or raise its exception; WorkersLostError if it is lost."""
        try:
            return future.result()
        except (CancelledError, BrokenExecutor) as error:
            raise self._lost() from error

    def _lost(self) -> WorkersLostError:
        return WorkersLostError(text("scheduler_lost", address=self.address))

    def hold(self, thing: Any) -> Any:
        """Return a placeholder of a large argument: sent once, and fetched by each worker."""
        return self._client.submit(identity, thing, pure=False)

    @property
    def places(self) -> int:
        """Threads of all workers, updated once a second."""
        if time.monotonic() - self._looked > _LOOK_SECONDS:
            self.look()
        return self.standing.threads

    @property
    def where(self) -> str:
        """Where the work is done, in a few words."""
        count = self.standing.workers
        if not count:
            return f"waiting for a worker of {self.address}"
        return f"on {count} worker{'s' if count > 1 else ''} of {self.address}"

    @property
    def alive(self) -> bool:
        """Whether the connection to the scheduler is open."""
        return bool(self._client.status == "running")

    def look(self) -> None:
        """Query the workers; keep the last answer if the query fails."""
        with contextlib.suppress(Exception):  # a broken connection raises errors of the library
            threads = self._client.nthreads()
            self.standing = WorkerCount(len(threads), sum(threads.values()))
        self._looked = time.monotonic()

    def close(self) -> None:
        """End the connection; the scheduler drops what it holds for us."""
        with contextlib.suppress(Exception):  # a broken connection cannot be closed
            self._client.close(timeout=TIMEOUT_SECONDS)


def completed(
    cluster: Cluster, calls: Iterable[Call]
) -> Generator[list[tuple[int, Future[Any]]], None, None]:
    """Submit calls as workers have room; yield those that ended, at least ten times a second.

    Calls that have not begun are cancelled when the iterator is closed. Those that ended are
    yielded with their numbers.
    """
    waiting, under_way = enumerate(calls), dict[Future[Any], int]()
    try:
        while True:
            room = _AHEAD * max(1, cluster.places) - len(under_way)
            for number, call in itertools.islice(waiting, max(0, room)):
                under_way[cluster.submit(*call)] = number
            if not under_way:
                return
            ended, _ = wait(under_way, _POLL_SECONDS, FIRST_COMPLETED)
            yield [(under_way.pop(future), future) for future in ended]
    finally:
        for future in under_way:
            future.cancel()


def call_all(
    cluster: Cluster | None,
    calls: Sequence[Call],
    progress: Callable[[float], object] | None = None,
) -> list[Any]:
    """Make independent calls, on workers or here one after the other.

    Parameters
    ----------
    cluster : Cluster, optional
    calls : sequence of (function, argument, ...)
        Large arguments may be placeholders of :meth:`Cluster.hold`.
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

    if cluster is None:
        for number, (function, *arguments) in enumerate(calls):
            found[number] = function(*arguments)
            stop_or_continue()
    else:
        with contextlib.closing(completed(cluster, calls)) as rounds:
            for ended in rounds:
                found |= {number: cluster.result(future) for number, future in ended}
                stop_or_continue()
    return [found[number] for number in range(len(calls))]


def open_cluster(address: str) -> Cluster:
    """Connect to a scheduler.

    A cluster must be trusted: it runs our code, and its answers can run code here.

    Raises
    ------
    InputError
        If nothing answers, there are no workers, or versions differ.
    """
    distributed = _import_distributed()
    _quieten()
    client = _client(distributed, address)
    try:
        _check_versions(address, client.get_versions(packages=["aucstudio"]))
        threads = client.nthreads()
    except BaseException:
        client.close(timeout=TIMEOUT_SECONDS)
        raise
    return Cluster(client, address, WorkerCount(len(threads), sum(threads.values())))


def _client(distributed: Any, address: str) -> Any:
    class Client(distributed.Client):
        def start(self, **options: Any) -> None:
            try:
                super().start(**options)
            except BaseException:
                # A half-open client closes itself when it is garbage-collected, which is a
                # deadlock on the thread of a later client.
                self.close(timeout=TIMEOUT_SECONDS)
                raise

    try:
        return Client(address, timeout=TIMEOUT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise input_error("no_scheduler", address=address) from error


def _import_distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise input_error("no_distributed") from error


def identity(thing: Any) -> Any:
    """Return an argument, which a worker then holds."""
    return thing


def _quieten() -> None:
    """Silence the logs and warnings of the library, permanently: our message is one sentence."""
    for name in _LOGGERS:
        logging.getLogger(name)
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if name.partition(".")[0] in _LOGGERS and isinstance(logger, logging.Logger):
            logger.setLevel(_SILENT)
    warnings.filterwarnings("ignore", module=r"distributed(\.|$)")


def _check_versions(address: str, found: Mapping[str, Any]) -> None:
    if not found["workers"]:
        raise input_error("no_workers", address=address)
    ours = found["client"]["packages"]
    others = {f"the scheduler {address}": found["scheduler"]}
    others |= {f"the worker {name}": there for name, there in found["workers"].items()}
    for name, there in others.items():
        for package in _SAME:
            here, far = (_version(side, package) for side in (ours, there["packages"]))
            if here != far:
                raise input_error("versions_differ", package=package, here=here, far=far, name=name)


def _version(packages: Mapping[str, str | None], package: str) -> str:
    version = packages.get(package) or "not installed"
    return ".".join(version.split(".")[:2]) if package == "python" else version
