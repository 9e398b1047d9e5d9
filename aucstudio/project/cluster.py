"""The workers of a Dask cluster: runs go there split by split, and come back as records."""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, as_completed
from typing import Any

from threadpoolctl import threadpool_limits

from aucstudio.project.errors import InputError
from aucstudio.project.execute import execute_split
from aucstudio.project.experiment import Experiment
from aucstudio.project.record import FAILED, RunRecord
from aucstudio.project.table import Table

# What must be the same on all sides for the same numbers, and to understand each other at all.
_SAME = ("python", "aucstudio", "numpy", "distributed")
_TIMEOUT_SECONDS = 10.0

SplitDone = Callable[[int, int, RunRecord], None]


class ClusterLostError(InputError):
    """The connection to the scheduler broke while it held work of ours."""


@contextlib.contextmanager
def connect(address: str) -> Iterator[Any]:
    """Open a ``distributed.Client`` on a scheduler that answers and fits this program.

    A cluster is trusted: it runs the code that it is sent, and so do we with what it answers.

    Raises
    ------
    InputError
        If nothing answers there, there are no workers, or versions differ.
    """
    distributed = _import_distributed()
    with _quiet():
        client = _open(distributed, address)
        if client is None:
            # A client that failed half-way closes itself when collected; on the thread of a
            # later one that would be a deadlock.
            gc.collect()
            raise _refusal(
                f"no Dask scheduler answers at {address}: check the address (such as "
                "tcp://host:8786) and that it is running"
            )
        try:
            _check_versions(address, client.get_versions(packages=["aucstudio"]))
            yield client
        finally:
            client.close(timeout=_TIMEOUT_SECONDS)


def _open(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=_TIMEOUT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError):
        return None


def _import_distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise _refusal(
            "--cluster needs the package distributed, which is not installed: "
            "pip install 'aucstudio[dask]'"
        ) from error


def _refusal(sentence: str) -> InputError:
    return InputError(sentence, setting="cluster")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the library's own warnings and log off standard error: ours is one sentence."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="distributed")
            yield
    finally:
        logging.disable(before)


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
                    f"{package} is {here} here and {far} on {name}: install the same on both"
                )


def _version(packages: Mapping[str, str | None], package: str) -> str:
    version = packages.get(package) or "not installed"
    return ".".join(version.split(".")[:2]) if package == "python" else version


def run_splits(
    experiments: Sequence[Experiment],
    table: Table,
    test_table: Table | None,
    client: Any,
    done: SplitDone,
) -> None:
    """Execute every split of every experiment on a cluster; a lost worker's work is done again.

    As each ends, in any order, ``done`` is called with the numbers of experiment and split and
    the split's record.

    Raises
    ------
    ClusterLostError
        If the scheduler is lost; what has ended before was told.
    """
    executor: Executor = client.get_executor(pure=False)
    address = client.scheduler.address
    # One task holds both tables: sent once, fetched by each worker, remade if its holder dies.
    tables = client.submit(tuple, (table, test_table), pure=False)
    futures: dict[Future[RunRecord], tuple[int, int]] = {
        executor.submit(_split_alone, experiment, tables, k): (number, k)
        for number, experiment in enumerate(experiments)
        for k in range(experiment.validation.splits)
    }
    try:
        for future in as_completed(list(futures)):
            # Forgotten here, a result is also dropped there.
            number, k = futures.pop(future)
            done(number, k, _outcome(future, experiments[number], address))
    finally:
        for future in futures:
            future.cancel()


def _split_alone(experiment: Experiment, tables: tuple[Table, Table | None], k: int) -> RunRecord:
    # For good: tasks side by side in one process would undo each other's limits.
    threadpool_limits(1)
    return execute_split(experiment, *tables, k)


def _outcome(future: Future[RunRecord], experiment: Experiment, address: str) -> RunRecord:
    try:
        return future.result()
    except CancelledError as error:
        raise ClusterLostError(
            f"the connection to the Dask scheduler at {address} was lost: what "
            "was finished is kept; see to the scheduler and run the rest again"
        ) from error
    except Exception as error:  # noqa: BLE001  (what a cluster raises comes in all kinds)
        sentence = f"the cluster gave up on it ({type(error).__name__}: {error})"
        return RunRecord.made(experiment, FAILED, (), RunRecord.now(), 0.0, sentence)
