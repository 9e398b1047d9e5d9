"""A run spread over workers: its splits, and the tasks of their searches, through an executor.

Only as many tasks are under way as the workers have room for, those of earlier splits first: so
splits end one after the other, each is told of as it ends, and a stop has little to call back.
"""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from aucstudio.project.data.table import Table
from aucstudio.project.runs.execute import execute_split, failure, training_rows
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.record import FAILED, RunRecord
from aucstudio.project.runs.search import Judge, SearchProgress, Task
from aucstudio.project.runs.tuning import Search
from aucstudio.project.work.workers import AHEAD, LISTEN_SECONDS, Workers, WorkersLostError, alone

Tables = tuple[Table, Table | None]
Judged = tuple[list[tuple[int, float | str]], float]


@dataclasses.dataclass(frozen=True, eq=False)
class Told:
    """What is told while tasks are under way; at least every tenth of a second.

    Attributes
    ----------
    fraction : float
        Share of all that is to be done.
    k : int
        Which split.
    record : RunRecord or None
        Of that split alone, once, when it has ended.
    search : Search or None
        Of that split, as it stands; always of the first one that is not finished.
    """

    fraction: float
    k: int
    record: RunRecord | None = None
    search: Search | None = None


Hear = Callable[[Told], object]


def run_tasks(
    workers: Workers, experiment: Experiment, table: Table, held: Any, hear: Hear
) -> None:
    """Execute every split of an experiment on workers.

    Parameters
    ----------
    workers : Workers
    experiment : Experiment
    table : Table
    held : object
        What stands for the table and the test table there; see :meth:`Workers.hold`.
    hear : callable
        Called with :class:`Told`; a true answer stops: what is not begun is called back, and
        what is under way goes unheard.

    Raises
    ------
    WorkersLostError
        If the workers are lost; what has ended before was told.
    """
    courses = [_Course(experiment, k, table) for k in range(experiment.validation.splits)]
    _Spread(workers, courses, held, hear).go()


class _Course:
    """What is to be done for one split: the tasks of its search in any order, then its fit."""

    def __init__(self, experiment: Experiment, k: int, table: Table) -> None:
        self.experiment, self.k = experiment, k
        self._table: Table | None = table
        self._waiting: deque[Task] = deque()
        self._out = 0
        self._fitting = False
        self._standing: SearchProgress | None = None
        self.record: RunRecord | None = None

    def next_call(self) -> tuple[Callable[..., Any], Task | Search | None] | None:
        """Give a task that may begin now, if there is one, with its last argument."""
        if self._table is not None:
            self._plan(self._table)
            self._table = None
        if self.record is not None or self._fitting:
            return None
        if self._waiting:
            self._out += 1
            return _judge, self._waiting.popleft()
        if self._out:
            return None
        self._fitting = True
        return _fit, self.search

    def _plan(self, table: Table) -> None:
        if self.experiment.tuning is None:
            return
        try:
            judge = _judge_of(self.experiment, table, self.k)
        except ValueError:
            return  # what cannot be split or searched fails as a fit, in the words it has here
        self._standing = SearchProgress(judge)
        self._waiting.extend(judge.tasks())

    @property
    def search(self) -> Search | None:
        """The search as it stands."""
        return None if self._standing is None else self._standing.so_far()

    @property
    def fraction(self) -> float:
        """Share that is done; the fit counts as one of ten parts where there is a search."""
        if self.record is not None:
            return 1.0
        return 0.0 if self._standing is None else 0.9 * self._standing.so_far().judged

    def take(self, task: object, found: RunRecord | Judged) -> None:
        """Take in what came of a task."""
        if isinstance(found, RunRecord):
            self.record = found
            self._waiting.clear()
        elif isinstance(task, Task) and self._standing is not None:
            outcomes, seconds = found
            self._out -= 1
            self._standing.seconds += seconds
            for k, outcome in outcomes:
                self._standing.take(task.fold, k, outcome)


class _Spread:
    """The tasks under way, and what waits for room."""

    def __init__(self, workers: Workers, courses: list[_Course], tables: Any, hear: Hear) -> None:
        self._workers, self._tables, self._hear = workers, tables, hear
        self._open, self._count = courses, len(courses)
        self._under_way: dict[Future[Any], tuple[_Course, object]] = {}
        self._stopped = False

    def go(self) -> None:
        try:
            self._hand_out()
            while self._open:
                ended, _ = wait(self._under_way, LISTEN_SECONDS, FIRST_COMPLETED)
                for future in ended:
                    self._take(future)
                self._hand_out()
                if self._stopped or self._tell():
                    return
        finally:
            for future in self._under_way:
                future.cancel()

    def _hand_out(self) -> None:
        room = AHEAD * max(1, self._workers.places) - len(self._under_way)
        for course in self._open:
            while room > 0 and (call := course.next_call()) is not None:
                function, argument = call
                future = self._workers.submit(
                    function, course.experiment, self._tables, course.k, argument
                )
                self._under_way[future] = course, argument
                room -= 1

    def _take(self, future: Future[Any]) -> None:
        # Forgotten here, a result is also dropped there.
        course, task = self._under_way.pop(future)
        if course not in self._open:
            return  # another task of its search failed, and the split with it
        course.take(task, self._outcome(future, course))
        if course.record is not None:
            self._open.remove(course)
            self._stopped |= bool(self._hear(Told(self._fraction, course.k, course.record)))

    def _outcome(self, future: Future[Any], course: _Course) -> Any:
        try:
            return self._workers.result(future)
        except WorkersLostError:
            raise
        except Exception as error:  # noqa: BLE001  (what an executor raises comes in all kinds)
            sentence = f"the cluster gave up on it ({type(error).__name__}: {error})"
            return RunRecord.made(course.experiment, FAILED, (), RunRecord.now(), 0.0, sentence)

    def _tell(self) -> bool:
        if not self._open:
            return False
        first = self._open[0]
        return bool(self._hear(Told(self._fraction, first.k, search=first.search)))

    @property
    def _fraction(self) -> float:
        left = sum(1.0 - course.fraction for course in self._open)
        return 1.0 - left / self._count


# ----------------------------------------------------------------- on the workers


def _fit(experiment: Experiment, tables: Tables, k: int, searched: Search | None) -> RunRecord:
    alone()
    return execute_split(experiment, *tables, k, searched)


def _judge(experiment: Experiment, tables: Tables, k: int, task: Task) -> Judged | RunRecord:
    alone()
    began = time.perf_counter()
    try:
        found = list(_judge_of(experiment, tables[0], k).outcomes(task))
    except Exception as error:  # noqa: BLE001  (a search that fails fails the run, as it does here)
        return failure(experiment, error)
    return found, time.perf_counter() - began


def _judge_of(experiment: Experiment, table: Table, k: int) -> Judge:
    if experiment.tuning is None:
        raise ValueError("nothing is to be tuned")
    seen = experiment.data.seen(table)
    rows = training_rows(experiment, seen, k)
    params, tuning = experiment.params, experiment.tuning
    how = experiment.preparation, experiment.validation
    return Judge(experiment.method, params, tuning, seen, rows, experiment.band, *how)
