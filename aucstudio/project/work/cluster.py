"""Workers of a Dask cluster; the only module that uses Dask."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import logging
import time
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from aucstudio.project.errors import InputError
from aucstudio.project.work.workers import Workers

# Versions that must be equal on all sides, for the same numbers and a common protocol.
_SAME = ("python", "aucstudio", "numpy", "distributed")
_TIMEOUT_SECONDS = 10.0
_LOOK_SECONDS = 1.0
# Packages whose logs would mix with our messages: the library and its transport.
_LOGGERS = ("distributed", "tornado")
_SILENT = logging.CRITICAL + 1


@dataclasses.dataclass(frozen=True)
class WorkerCount:
    """Numbers of workers and of their threads, each of which works on one task."""

    workers: int
    threads: int


class Cluster(Workers):
    """The workers of a Dask scheduler, behind an open connection; see :func:`open_cluster`.

    Results of a worker that dies are computed again by another.

    Attributes
    ----------
    address : str
    standing : WorkerCount
        The last known numbers.
    """

    def __init__(self, client: Any, address: str, standing: WorkerCount) -> None:
        super().__init__(client.get_executor(pure=False), standing.threads)
        self._client, self.address, self.standing = client, address, standing
        self._dask = importlib.import_module("dask")
        self._looked = time.monotonic()
        self.lost = (
            f"the connection to the Dask scheduler at {address} was lost: what was finished is "
            "kept; check the scheduler and run the rest again"
        )

    def hold(self, thing: Any) -> Any:
        """Make a task of a large argument: sent once, and fetched by each worker.

        A delayed object is computed there.
        """
        if self._dask.is_dask_collection(thing):
            return self._client.compute(thing)
        return self._client.submit(_same, thing, pure=False)

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
            self._client.close(timeout=_TIMEOUT_SECONDS)


@contextlib.contextmanager
def connect(address: str) -> Iterator[Cluster]:
    """Open a cluster within a ``with`` statement; see :func:`open_cluster`."""
    cluster = open_cluster(address)
    try:
        yield cluster
    finally:
        cluster.close()


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
        client.close(timeout=_TIMEOUT_SECONDS)
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
                self.close(timeout=_TIMEOUT_SECONDS)
                raise

    try:
        return Client(address, timeout=_TIMEOUT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise _refusal(
            f"no Dask scheduler answers at {address}: check the address (such as "
            "tcp://host:8786) and that it is running"
        ) from error


def _import_distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise _refusal(
            "a cluster needs the package distributed, which is not installed: "
            "pip install 'aucstudio[dask]'"
        ) from error


def _refusal(sentence: str) -> InputError:
    return InputError(sentence, setting="cluster")


def _same(thing: Any) -> Any:
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
        raise _refusal(
            f"the Dask scheduler at {address} has no workers: start one: `dask worker {address}`"
        )
    ours = found["client"]["packages"]
    others = {f"the scheduler {address}": found["scheduler"]}
    others |= {f"the worker {name}": there for name, there in found["workers"].items()}
    for name, there in others.items():
        for package in _SAME:
            here, far = (_version(side, package) for side in (ours, there["packages"]))
            if here != far:
                raise _refusal(
                    f"{package} is {here} here and {far} on {name}: install "
                    "the same version on both"
                )


def _version(packages: Mapping[str, str | None], package: str) -> str:
    version = packages.get(package) or "not installed"
    return ".".join(version.split(".")[:2]) if package == "python" else version
