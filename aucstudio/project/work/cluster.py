"""Workers of a Dask cluster; the only module that uses Dask."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import logging
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from aucstudio.project.errors import InputError
from aucstudio.project.work.workers import Workers

# What must be the same on all sides for the same numbers, and to understand each other at all.
_SAME = ("python", "aucstudio", "numpy", "distributed")
_TIMEOUT_SECONDS = 10.0
_LOOK_SECONDS = 1.0
# Whose log would speak over our sentences: the library, and what carries its messages.
_TALKERS = ("distributed", "tornado")
_SILENT = logging.CRITICAL + 1


@dataclasses.dataclass(frozen=True)
class WorkerCount:
    """Who is there to work.

    Attributes
    ----------
    workers, threads : int
        Threads are those of all workers: so many tasks are worked on at once.
    """

    workers: int
    threads: int


class Cluster(Workers):
    """The workers of a Dask scheduler, behind an open connection.

    What a worker held that dies is done again by another; see :func:`open_cluster`.

    Attributes
    ----------
    address : str
    standing : WorkerCount
        As it was last looked at.
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
        """Make a task of it: sent once, fetched by each worker, remade if its holder dies.

        What is delayed is made there, and what is a task already stays that.
        """
        if self._dask.is_dask_collection(thing):
            return self._client.compute(thing)
        return self.keep(_same, thing)

    def keep(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Leave the answer of a task there; it is made again if its holder dies."""
        return self._client.submit(function, *arguments, pure=False)

    @property
    def places(self) -> int:
        """Threads of all workers, asked for now and then."""
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
        """Whether the scheduler is still there, as far as the connection knows."""
        return bool(self._client.status == "running")

    def look(self) -> None:
        """Query the workers; keep the last answer if there is none."""
        with contextlib.suppress(Exception):  # a library's own kinds, for a connection that broke
            threads = self._client.nthreads()
            self.standing = WorkerCount(len(threads), sum(threads.values()))
        self._looked = time.monotonic()

    def close(self) -> None:
        """End the connection; what was held there is let go."""
        with contextlib.suppress(Exception):  # one that broke cannot be ended in good order
            self._client.close(timeout=_TIMEOUT_SECONDS)


@contextlib.contextmanager
def connect(address: str) -> Iterator[Cluster]:
    """Open a cluster for as long as it is needed; see :func:`open_cluster`."""
    cluster = open_cluster(address)
    try:
        yield cluster
    finally:
        cluster.close()


def open_cluster(address: str) -> Cluster:
    """Connect to a scheduler that answers and fits this program.

    A cluster is trusted: it runs the code that it is sent, and so do we with what it answers.

    Raises
    ------
    InputError
        If nothing answers there, there are no workers, or versions differ.
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
                # Left half-open, it would close itself when it is collected: on the thread of a
                # later client that would be a deadlock.
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
    """Keep the library's own log and warnings off standard error: ours is one sentence.

    For good, and for its loggers alone: nothing else of this program logs by these names.
    """
    for name in _TALKERS:
        logging.getLogger(name)
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if name.partition(".")[0] in _TALKERS and isinstance(logger, logging.Logger):
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
