"""Distribute runs over workers: splits, candidates of searches, and parts of fits.

Only as many tasks are submitted as the workers have room for, those of earlier splits first. Splits
therefore end one after the other, each is reported as it ends, and few tasks are cancelled at a
stop.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from aucstudio.engine import METHODS
from aucstudio.engine.monitor import Check
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute_split, failure, training_rows
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.experiments.planning import PlannedRun
from aucstudio.project.runs.progress import Elsewhere, Listener, Progress
from aucstudio.project.runs.record import DONE, FAILED, STOPPED, RunRecord
from aucstudio.project.runs.search import Evaluator, SearchProgress, Task
from aucstudio.project.runs.tuning import Search
from aucstudio.project.work.submit import GivenUp, Place
from aucstudio.project.work.workers import Call, Workers, WorkersLostError, alone, completed

Tables = tuple[Table, Table | None]


class WorkersPlace(Place):
    """Workers, over which the splits of a run are distributed.

    Parameters
    ----------
    workers : Workers
        Closed with the place.
    """

    # The first splits of the next run fill the workers that the last splits of a run leave idle.
    at_once = 2

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._lock = threading.Lock()
        self._held: tuple[Tables, Any] | None = None

    def check(self, plans: Sequence[PlannedRun]) -> None:
        """Refuse tables that cannot be sent to workers."""
        for plan in plans:
            _in_memory(plan)

    def execute(self, plan: PlannedRun, listen: Listener, given_up: GivenUp) -> RunRecord:
        """Make a run; a stop cancels what has not begun there."""
        tables = _in_memory(plan)
        splits = _Splits(self._workers, plan.experiment, tables, self._hold(tables), listen)
        try:
            return splits.run()
        except WorkersLostError as lost:
            self.lost = str(lost)
            raise

    def heeds_stop(self, experiment: Experiment) -> bool:
        """Return True: nothing here delays a stop."""
        return True

    def close(self) -> None:
        """End the connection."""
        self._workers.close()

    def _hold(self, tables: Tables) -> Any:
        with self._lock:
            known = self._held is not None and all(
                one is other for one, other in zip(tables, self._held[0], strict=True)
            )
            if self._held is None or not known:
                self._held = tables, self._workers.hold(tables)
            return self._held[1]


def _in_memory(plan: PlannedRun) -> Tables:
    table, test_table = plan.table, plan.test_table
    if not isinstance(table, Table) or not isinstance(test_table, Table | None):
        raise InputError(
            "an out-of-memory table is not sent to a cluster: train on it here, or on a "
            "sample of its rows there",
            setting="cluster",
        )
    return table, test_table


class _Splits:
    """The splits of a run on workers.

    Attributes
    ----------
    open : list of _SplitTasks
        Splits that have not ended.
    parts : dict of int to RunRecord
        Those that have, by number.
    """

    def __init__(
        self,
        workers: Workers,
        experiment: Experiment,
        tables: Tables,
        held: Any,
        listen: Listener,
    ) -> None:
        self._workers, self._experiment, self._listen = workers, experiment, listen
        self._tables, self._held = tables, held
        self._count = experiment.validation.splits
        self.open = [_SplitTasks(experiment, k, tables[0]) for k in range(self._count)]
        self.parts: dict[int, RunRecord] = {}
        self._stopped = False

    def run(self) -> RunRecord:
        """Execute every split, and return the record of the run.

        Raises
        ------
        WorkersLostError
            If the workers are lost; what ended before was reported.
        """
        with contextlib.closing(completed(self._workers, self._next_call)) as rounds:
            for ended in rounds:
                for (split, receive), future in ended:
                    self._take(split, receive, future)
                if not self.open or self._stopped or self._report(self.open[0]):
                    break
        begun = next((split for split in self.open if split.made), None)
        if begun is not None and not self.parts:
            # A half-trained split is worth storing if it is the only one.
            self.parts[begun.k] = self._without_training(begun)
        searches = [split.search for split in self.open[:1] if split.k not in self.parts]
        return self._join([search for search in searches if search is not None])

    def _next_call(self) -> tuple[tuple[_SplitTasks, Receive], Call] | None:
        for split in self.open:
            if (found := split.next_task()) is not None:
                function, arguments, receive = found
                call = function, self._experiment, self._held, split.k, *arguments
                return (split, receive), call
        return None

    def _take(self, split: _SplitTasks, receive: Receive, future: Future[Any]) -> None:
        if split not in self.open:
            return  # another of its tasks failed, and the split with it
        try:
            found = self._workers.result(future)
        except WorkersLostError:
            raise
        except Exception as error:  # noqa: BLE001  (executors raise errors of all kinds)
            sentence = f"the cluster could not finish it ({type(error).__name__}: {error})"
            found = RunRecord(self._experiment, FAILED, (), RunRecord.now(), 0.0, sentence)
        split.take(receive, found)
        if split.record is not None:
            self.open.remove(split)
            self.parts[split.k] = split.record
            self._stopped |= self._report(split)

    def _report(self, split: _SplitTasks) -> bool:
        part = split.record
        left = sum(1.0 - other.fraction for other in self.open)
        doing = "" if part else split.doing
        where = Elsewhere(1.0 - left / self._count, len(self.parts), self._workers.where, doing)
        message = Progress(
            split.k,
            self._count,
            None,
            0.0,
            None,
            finished=next(iter(part.splits), None) if part else None,
            search=next(iter(part.searches), None) if part else split.search,
            elsewhere=where,
        )
        return bool(self._listen(message))

    def _without_training(self, split: _SplitTasks) -> RunRecord:
        """Make a stopped split of its finished parts, without further training."""

        def stop(progress: Progress) -> bool:
            if progress.finished is not None:
                where = Elsewhere(1.0, 1, self._workers.where)
                self._listen(dataclasses.replace(progress, elsewhere=where))
            return True

        searched, made = split.search, split.made
        return execute_split(self._experiment, *self._tables, split.k, searched, stop, made)

    def _join(self, unfinished: Sequence[Search]) -> RunRecord:
        """Join the records of the splits.

        The time of the run is the sum of the times of its splits and searches: that of one worker.
        """
        ordered = [self.parts[k] for k in sorted(self.parts)]
        searches = [search for part in ordered for search in part.searches] + list(unfinished)
        failed = next((part for part in ordered if part.status == FAILED), None)
        whole = len(ordered) == self._count
        whole &= all(part.status != STOPPED for part in ordered)
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


Receive = Callable[[Any], object]
_TaskCall = tuple[Callable[..., Any], tuple[Any, ...], Receive]
"""A function, its last arguments, and the receiver of its result."""


class _SplitTasks:
    """The tasks of one split: its search, then the parts of its fit if it has any, then the fit.

    Tasks of one stage run in any order.
    """

    def __init__(self, experiment: Experiment, k: int, table: Table) -> None:
        self._experiment, self.k = experiment, k
        self._stages = self._plan(table)
        self._waiting: deque[_TaskCall] = deque()
        self._running = 0
        self._search: SearchProgress | None = None
        self._parts: list[Any] = []
        self.made: dict[Any, Any] = {}
        self.record: RunRecord | None = None

    def next_task(self) -> _TaskCall | None:
        """Return a task that may begin now, if there is one."""
        if not self._waiting and not self._running and self.record is None:
            self._waiting.extend(next(self._stages, ()))
        if not self._waiting:
            return None
        self._running += 1
        return self._waiting.popleft()

    def _plan(self, table: Table) -> Iterator[list[_TaskCall]]:
        if self._experiment.tuning is not None:
            # What cannot be split or searched fails in the fit, with the usual sentence.
            with contextlib.suppress(ValueError):
                evaluator = evaluator_of(self._experiment, table, self.k)
                self._search = SearchProgress(evaluator)
                receive = functools.partial(self._take_outcomes, self._search)
                yield [
                    (evaluate, (task,), functools.partial(receive, task))
                    for task in evaluator.tasks()
                ]
        if METHODS[self._experiment.method].in_parts:
            yield [(list_parts, (self.search,), self._parts.extend)]
            yield [
                (make_part, (self.search, part), functools.partial(self.made.__setitem__, part))
                for part in self._parts
            ]
        yield [(fit, (self.search, self.made or None), lambda _: None)]

    @staticmethod
    def _take_outcomes(progress: SearchProgress, task: Task, found: Outcomes) -> None:
        outcomes, seconds = found
        progress.seconds += seconds
        for k, outcome in outcomes:
            progress.take(task.fold, k, outcome)

    @property
    def search(self) -> Search | None:
        """The current state of the search."""
        return None if self._search is None else self._search.so_far()

    @property
    def fraction(self) -> float:
        """Share that is done; the fit counts as one of ten parts if other tasks precede it."""
        if self.record is not None:
            return 1.0
        before = [] if self._search is None else [self._search.so_far().judged]
        if METHODS[self._experiment.method].in_parts:
            before.append(len(self.made) / max(1, len(self._parts)))
        return 0.9 * sum(before) / max(1, len(before))

    @property
    def doing(self) -> str:
        """How many of the members that the parts train are ready."""
        if not self._parts:
            return ""
        left = {part[0] for part in self._parts if part not in self.made}
        count = len({part[0] for part in self._parts})
        return f"{count - len(left)} of {count} members trained"

    def take(self, receive: Receive, found: Any) -> None:
        """Store the result of a task; a record ends the split."""
        self._running -= 1
        if isinstance(found, RunRecord):
            self.record = found
            self._waiting.clear()
            self.made = {}
        else:
            receive(found)


# ------------------------------------------------------------------ tasks, executed by workers

Outcomes = tuple[list[tuple[int, float | str]], float]


def evaluator_of(experiment: Experiment, table: Table, k: int) -> Evaluator:
    """Return what evaluates the candidates of the search of a split."""
    seen = experiment.data.seen(table)
    return Evaluator(experiment, seen, training_rows(experiment, seen, k))


def evaluate(experiment: Experiment, tables: Tables, k: int, task: Task) -> Outcomes | RunRecord:
    """Evaluate candidates of a search; return the outcomes and the seconds."""
    alone()
    began = time.perf_counter()
    try:
        found = list(evaluator_of(experiment, tables[0], k).outcomes(task))
    except Exception as error:  # noqa: BLE001  (a search that fails fails the run, as it does here)
        return failure(experiment, error)
    return found, time.perf_counter() - began


def list_parts(
    experiment: Experiment, tables: Tables, k: int, searched: Search | None
) -> list[Any] | RunRecord:
    """List the parts of a fit, or return the record of a fit that fails before."""
    return _parts(experiment, tables, k, searched, ())[0]


def make_part(
    experiment: Experiment, tables: Tables, k: int, searched: Search | None, part: Any
) -> Any:
    """Make one part of a fit; the results are passed to the fit as ``kept``."""
    parts, made = _parts(experiment, tables, k, searched, (part,))
    return parts if isinstance(parts, RunRecord) else made[part]


def fit(
    experiment: Experiment,
    tables: Tables,
    k: int,
    searched: Search | None,
    kept: Mapping[Any, Any] | None,
) -> RunRecord:
    """Fit a split to its record."""
    alone()
    return execute_split(experiment, *tables, k, searched, kept=kept)


def _parts(
    experiment: Experiment, tables: Tables, k: int, searched: Search | None, wanted: Sequence[Any]
) -> tuple[list[Any] | RunRecord, dict[Any, Any]]:
    alone()
    listed: list[Any] | None = None
    made: dict[Any, Any] = {}

    def spread(
        work: Callable[[Any, Check], Any], parts: Sequence[Any], _check: Check
    ) -> Iterator[Any]:
        # The fit receives no results and ends here.
        nonlocal listed
        listed = list(parts)
        made.update((part, work(part, lambda: False)) for part in wanted)
        return iter(())

    record = execute_split(experiment, *tables, k, searched, spread=spread)
    return (record if listed is None else listed), made
