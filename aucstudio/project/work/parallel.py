"""A run spread over workers: splits, tasks of their searches, parts of their fits.

Only as many tasks are under way as the workers have room for, those of earlier splits first: so
splits end one after the other, each is told of as it ends, and a stop has little to call back.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from aucstudio.engine import METHODS
from aucstudio.engine.monitor import Check
from aucstudio.project.data.table import Table
from aucstudio.project.runs.execute import execute_split, failure, training_rows
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.record import FAILED, RunRecord
from aucstudio.project.runs.search import Judge, SearchProgress, Task
from aucstudio.project.runs.tuning import Search
from aucstudio.project.work.workers import AHEAD, LISTEN_SECONDS, Workers, WorkersLostError, alone


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
    doing : str
        What that one is at, where it is trained in parts.
    """

    fraction: float
    k: int
    record: RunRecord | None = None
    search: Search | None = None
    doing: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Begun:
    """A split that a stop left off, and what was ready for its fit.

    Attributes
    ----------
    k : int
        Which split.
    search : Search or None
    made : dict
        What came of the parts of its fit.
    """

    k: int
    search: Search | None
    made: dict[Any, Any]


Hear = Callable[[Told], object]


def run_tasks(
    workers: Workers, experiment: Experiment, table: Table, held: Any, hear: Hear
) -> Begun | None:
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

    Returns
    -------
    Begun or None
        After a stop, the first split that had not ended, if some parts of its fit had.

    Raises
    ------
    WorkersLostError
        If the workers are lost; what has ended before was told.
    """
    courses = [_Course(experiment, k, table) for k in range(experiment.validation.splits)]
    return _Spread(workers, courses, held, hear).go()


@dataclasses.dataclass(frozen=True, eq=False)
class _Call:
    """A task: what is done, with which last arguments, and who hears what came of it."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    hear: Callable[[Any], object]


class _Course:
    """What is to be done for one split, in stages, each with tasks in any order.

    First its search, then the parts of its fit, where it has any, and last the fit.
    """

    def __init__(self, experiment: Experiment, k: int, table: Table) -> None:
        self.experiment, self.k = experiment, k
        self._stages = self._plan(table)
        self._waiting: deque[_Call] = deque()
        self._out = 0
        self._standing: SearchProgress | None = None
        self._parts: list[Any] = []
        self.made: dict[Any, Any] = {}
        self.record: RunRecord | None = None

    def next_call(self) -> _Call | None:
        """Return a task that may begin now, if there is one."""
        if not self._waiting and not self._out and self.record is None:
            self._waiting.extend(next(self._stages, ()))
        if not self._waiting:
            return None
        self._out += 1
        return self._waiting.popleft()

    def _plan(self, table: Table) -> Iterator[list[_Call]]:
        if self.experiment.tuning is not None:
            # What cannot be split or searched fails as a fit, in the words it has here.
            with contextlib.suppress(ValueError):
                yield self._search(judge_of(self.experiment, table, self.k))
        if METHODS[self.experiment.method].in_parts:
            yield [_Call(list_parts, (self.search,), self._parts.extend)]
            yield [
                _Call(make_part, (self.search, part), functools.partial(self._take_part, part))
                for part in self._parts
            ]
        yield [_Call(fit, (self.search, self.made or None), lambda _: None)]

    def _search(self, judging: Judge) -> list[_Call]:
        self._standing = SearchProgress(judging)
        return [
            _Call(judge, (task,), functools.partial(self._take_judged, self._standing, task))
            for task in judging.tasks()
        ]

    @staticmethod
    def _take_judged(standing: SearchProgress, task: Task, found: Judged) -> None:
        outcomes, seconds = found
        standing.seconds += seconds
        for k, outcome in outcomes:
            standing.take(task.fold, k, outcome)

    def _take_part(self, part: Any, found: Any) -> None:
        self.made[part] = found

    @property
    def search(self) -> Search | None:
        """The search as it stands."""
        return None if self._standing is None else self._standing.so_far()

    @property
    def fraction(self) -> float:
        """Share that is done; the fit counts as one of ten parts where other tasks precede it."""
        if self.record is not None:
            return 1.0
        before = [] if self._standing is None else [self._standing.so_far().judged]
        if METHODS[self.experiment.method].in_parts:
            before.append(len(self.made) / max(1, len(self._parts)))
        return 0.9 * sum(before) / max(1, len(before))

    @property
    def doing(self) -> str:
        """State how many of those that the parts train are ready."""
        if not self._parts:
            return ""
        left = {part[0] for part in self._parts if part not in self.made}
        count = len({part[0] for part in self._parts})
        return f"{count - len(left)} of {count} members trained"

    def take(self, call: _Call, found: Any) -> None:
        """Take in what came of a task; a record ends the split, whatever it is of."""
        self._out -= 1
        if isinstance(found, RunRecord):
            self.record = found
            self._waiting.clear()
            self.made = {}
        else:
            call.hear(found)


class _Spread:
    """The tasks under way, and what waits for room."""

    def __init__(self, workers: Workers, courses: list[_Course], tables: Any, hear: Hear) -> None:
        self._workers, self._tables, self._hear = workers, tables, hear
        self._open, self._count = courses, len(courses)
        self._under_way: dict[Future[Any], tuple[_Course, _Call]] = {}
        self._stopped = False

    def go(self) -> Begun | None:
        try:
            self._hand_out()
            while self._open:
                ended, _ = wait(self._under_way, LISTEN_SECONDS, FIRST_COMPLETED)
                for future in ended:
                    self._take(future)
                self._hand_out()
                if self._stopped or self._tell():
                    return self._begun()
            return None
        finally:
            for future in self._under_way:
                future.cancel()

    def _begun(self) -> Begun | None:
        found = (Begun(one.k, one.search, one.made) for one in self._open if one.made)
        return next(found, None)

    def _hand_out(self) -> None:
        room = AHEAD * max(1, self._workers.places) - len(self._under_way)
        for course in self._open:
            while room > 0 and (call := course.next_call()) is not None:
                to = course.experiment, self._tables, course.k
                future = self._workers.submit(call.function, *to, *call.arguments)
                self._under_way[future] = course, call
                room -= 1

    def _take(self, future: Future[Any]) -> None:
        # Forgotten here, a result is also dropped there.
        course, call = self._under_way.pop(future)
        if course not in self._open:
            return  # another of its tasks failed, and the split with it
        course.take(call, self._outcome(future, course))
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
        told = Told(self._fraction, first.k, search=first.search, doing=first.doing)
        return bool(self._hear(told))

    @property
    def _fraction(self) -> float:
        left = sum(1.0 - course.fraction for course in self._open)
        return 1.0 - left / self._count


Tables = tuple[Table, Table | None]
Judged = tuple[list[tuple[int, float | str]], float]


def judge_of(experiment: Experiment, table: Table, k: int) -> Judge:
    """Make what judges candidates of the search of a split."""
    if experiment.tuning is None:
        raise ValueError("nothing is to be tuned")
    seen = experiment.data.seen(table)
    rows = training_rows(experiment, seen, k)
    params, tuning = experiment.params, experiment.tuning
    how = experiment.preparation, experiment.validation
    return Judge(experiment.method, params, tuning, seen, rows, experiment.band, *how)


def judge(experiment: Experiment, tables: Tables, k: int, task: Task) -> Judged | RunRecord:
    """Judge candidates of a search, and say how long it took."""
    alone()
    began = time.perf_counter()
    try:
        found = list(judge_of(experiment, tables[0], k).outcomes(task))
    except Exception as error:  # noqa: BLE001  (a search that fails fails the run, as it does here)
        return failure(experiment, error)
    return found, time.perf_counter() - began


def list_parts(
    experiment: Experiment, tables: Tables, k: int, searched: Search | None
) -> list[Any] | RunRecord:
    """List the parts of a fit, or give the record of one that fails before it comes to them."""
    return _parts(experiment, tables, k, searched, ())[0]


def make_part(
    experiment: Experiment, tables: Tables, k: int, searched: Search | None, part: Any
) -> Any:
    """Do one part of a fit; a fit is given what came of them as ``kept``."""
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
        # None is handed to the fit, which ends here: it has nothing to go on with.
        nonlocal listed
        listed = list(parts)
        made.update((part, work(part, lambda: False)) for part in wanted)
        return iter(())

    record = execute_split(experiment, *tables, k, searched, spread=spread)
    return (record if listed is None else listed), made
