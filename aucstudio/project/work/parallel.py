"""Distribute a run over the workers of a cluster: candidates of its searches, then its splits.

Only as many tasks are submitted as the workers have room for, those of earlier splits first. Each
split is reported as it ends, and few tasks are cancelled at a stop.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from aucstudio.engine.monitor import Stopped
from aucstudio.project.data.table import Table
from aucstudio.project.errors import input_error
from aucstudio.project.runs.execute import execute, training_rows
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.planning import PlannedRun
from aucstudio.project.runs.progress import Listener, Progress, RemoteProgress
from aucstudio.project.runs.record import DONE, FAILED, STOPPED, RunRecord
from aucstudio.project.runs.rows import one_thread
from aucstudio.project.runs.search import Evaluator, SearchProgress, Task
from aucstudio.project.runs.tuning import Search
from aucstudio.project.work.cluster import Call, Cluster, WorkersLostError, completed
from aucstudio.project.work.submit import GivenUp, Place

Tables = tuple[Table, Table | None]
_SEARCHING = 0.9  # share of the time that searches take, as a guess


class ClusterPlace(Place):
    """A cluster, over whose workers the splits of a run are distributed.

    Parameters
    ----------
    cluster : Cluster
        Closed with the place.
    """

    # The first splits of the next run fill the workers that the last splits of a run leave idle.
    at_once = 2

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lock = threading.Lock()
        self._held: tuple[Tables, Any] | None = None

    def check(self, plans: Sequence[PlannedRun]) -> None:
        """Refuse tables that cannot be sent to workers."""
        for plan in plans:
            _in_memory(plan)

    def execute(self, plan: PlannedRun, listen: Listener, given_up: GivenUp) -> RunRecord:
        """Make a run; a stop cancels what has not begun there."""
        tables = _in_memory(plan)
        splits = _Splits(self._cluster, plan.experiment, tables[0], self._hold(tables), listen)
        try:
            return splits.run()
        except WorkersLostError as lost:
            self.lost = str(lost)
            raise

    def close(self) -> None:
        """End the connection."""
        self._cluster.close()

    def _hold(self, tables: Tables) -> Any:
        with self._lock:
            if self._held is None or any(
                one is not other for one, other in zip(tables, self._held[0], strict=True)
            ):
                self._held = tables, self._cluster.hold(tables)
            return self._held[1]


def _in_memory(plan: PlannedRun) -> Tables:
    table, test_table = plan.table, plan.test_table
    if not isinstance(table, Table) or not isinstance(test_table, Table | None):
        raise input_error("table_not_sent")
    return table, test_table


class _Splits:
    """The splits of a run on a cluster: their searches, and the records of those that ended."""

    def __init__(
        self, cluster: Cluster, experiment: Experiment, table: Table, held: Any, listen: Listener
    ) -> None:
        self._cluster, self._experiment, self._listen = cluster, experiment, listen
        self._table, self._held = table, held
        self._count = experiment.validation.splits
        self._searches: dict[int, SearchProgress] = {}
        self._records: dict[int, RunRecord] = {}

    def run(self) -> RunRecord:
        """Execute every split, and return the record of the run.

        Raises
        ------
        WorkersLostError
            If the workers are lost; what ended before was reported.
        """
        with contextlib.suppress(Stopped):
            if self._experiment.tuning is not None:
                self._search()
            self._fit()
        return self._join()

    def _search(self) -> None:
        """Evaluate all candidates; what cannot be searched fails in the fit, and is named there."""
        tasks: list[tuple[int, Task]] = []
        for k in range(self._count):
            with contextlib.suppress(ValueError):
                evaluator = evaluator_of(self._experiment, self._table, k)
                self._searches[k] = SearchProgress(evaluator)
                tasks += [(k, task) for task in evaluator.tasks()]
        done = 0
        calls = [(evaluate, self._experiment, self._held, k, task) for k, task in tasks]
        for ended in self._rounds(calls):
            for number, found in ended:
                (k, task), done = tasks[number], done + 1
                if isinstance(found, Exception):
                    self._searches.pop(k, None)
                elif k in self._searches:
                    outcomes, seconds = found
                    self._searches[k].seconds += seconds
                    for candidate, outcome in outcomes:
                        self._searches[k].take(task.fold, candidate, outcome)
            self._report(_SEARCHING * done / len(tasks))

    def _fit(self) -> None:
        searches = [self._found(k) for k in range(self._count)]
        calls = [
            (fit_split, self._experiment, self._held, k, search)
            for k, search in enumerate(searches)
        ]
        before = _SEARCHING if self._searches else 0.0
        for ended in self._rounds(calls):
            for k, found in ended:
                self._records[k] = self._failed(found) if isinstance(found, Exception) else found
            fraction = before + (1.0 - before) * len(self._records) / self._count
            for k, _ in ended:
                self._report(fraction, self._records[k], k)
            self._report(fraction)

    def _rounds(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Any]]]:
        """Make calls; yield the results that came, or the exceptions, ten times a second."""
        with contextlib.closing(completed(self._cluster, calls)) as rounds:
            for ended in rounds:
                found: list[tuple[int, Any]] = []
                for number, future in ended:
                    try:
                        found.append((number, self._cluster.result(future)))
                    except WorkersLostError:
                        raise
                    except Exception as error:  # noqa: BLE001  (executors raise all kinds)
                        found.append((number, error))
                yield found

    def _found(self, k: int) -> Search | None:
        return self._searches[k].so_far() if k in self._searches else None

    def _failed(self, error: Exception) -> RunRecord:
        sentence = f"the cluster could not finish it ({type(error).__name__}: {error})"
        return RunRecord(self._experiment, FAILED, (), RunRecord.now(), 0.0, sentence)

    def _report(self, fraction: float, record: RunRecord | None = None, k: int = 0) -> None:
        """Report an ended split, or the state of the first open one; Stopped if asked to stop."""
        if record is None:
            k = min(set(range(self._count)) - self._records.keys(), default=k)
        message = Progress(
            k,
            self._count,
            None,
            0.0,
            None,
            finished=next(iter(record.splits), None) if record else None,
            search=next(iter(record.searches), None) if record else self._found(k),
            remote=RemoteProgress(fraction, len(self._records), self._cluster.where),
        )
        if self._listen(message) and len(self._records) < self._count:
            raise Stopped("splits")

    def _join(self) -> RunRecord:
        """Join the records of the splits.

        The time of the run is the sum of the times of its splits and searches: that of one worker.
        """
        ordered = [self._records[k] for k in sorted(self._records)]
        searches = [search for part in ordered for search in part.searches]
        left = min(set(range(self._count)) - self._records.keys(), default=None)
        if left is not None and (unfinished := self._found(left)) is not None:
            searches.append(unfinished)
        failed = next((part for part in ordered if part.status == FAILED), None)
        whole = left is None and all(part.status != STOPPED for part in ordered)
        return RunRecord(
            self._experiment,
            FAILED if failed is not None else DONE if whole else STOPPED,
            tuple(split for part in ordered for split in part.splits),
            min((part.created for part in ordered), default=RunRecord.now()),
            sum(part.seconds for part in ordered) + sum(search.seconds for search in searches),
            "" if failed is None else failed.error,
            "" if failed is None else failed.traceback,
            tuple(searches),
        )


# ------------------------------------------------------------------ tasks, executed by workers


def evaluator_of(experiment: Experiment, table: Table, k: int) -> Evaluator:
    """Return what evaluates the candidates of the search of a split."""
    seen = experiment.data.seen(table)
    return Evaluator(experiment, seen, training_rows(experiment, seen, k))


def evaluate(
    experiment: Experiment, tables: Tables, k: int, task: Task
) -> tuple[list[tuple[int, float | str]], float]:
    """Evaluate candidates of a search; return the outcomes and the seconds."""
    one_thread()
    began = time.perf_counter()
    found = list(evaluator_of(experiment, tables[0], k).outcomes(task))
    return found, time.perf_counter() - began


def fit_split(experiment: Experiment, tables: Tables, k: int, searched: Search | None) -> RunRecord:
    """Fit a split to its record."""
    one_thread()
    return execute(experiment, *tables, only=k, searched=searched)
