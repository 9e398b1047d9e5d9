"""Spread a run over workers: splits, searches and parts of fits.

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
from aucstudio.project.runs.progress import Elsewhere, Listener, Progress
from aucstudio.project.runs.record import DONE, FAILED, STOPPED, RunRecord
from aucstudio.project.runs.search import Judge, SearchProgress, Task
from aucstudio.project.runs.tuning import Search
from aucstudio.project.work.workers import AHEAD, LISTEN_SECONDS, Workers, WorkersLostError, alone

Tables = tuple[Table, Table | None]


def run_on_workers(
    workers: Workers, experiment: Experiment, tables: Tables, held: Any, listen: Listener
) -> RunRecord:
    """Execute every split of an experiment on workers, to the record of the run.

    Parameters
    ----------
    workers : Workers
    experiment : Experiment
    tables : (Table, Table or None)
    held : object
        What stands for the tables there; see :meth:`Workers.hold`.
    listen : callable
        Called with :class:`Progress` at least every tenth of a second; a true answer stops: what
        is not begun is called back, and what is under way goes unheard.

    Raises
    ------
    WorkersLostError
        If the workers are lost; what has ended before was told.
    """
    courses = [_Course(experiment, k, tables[0]) for k in range(experiment.validation.splits)]
    spread = _Spread(workers, list(courses), held, listen)
    spread.go()
    begun = next((one for one in spread.open if one.made), None)
    if begun is not None and not spread.parts:
        # As here, a half-trained split is worth keeping where it is alone.
        spread.parts[begun.k] = _settled(begun, tables, workers.where, listen)
    searches = [one.search for one in spread.open[:1] if one.k not in spread.parts]
    return join(experiment, spread.parts, [found for found in searches if found is not None])


def _settled(begun: _Course, tables: Tables, where: str, listen: Listener) -> RunRecord:
    """Make of a split that was stopped what its ready parts allow, without further training."""

    def stop(progress: Progress) -> bool:
        if progress.finished is not None:
            listen(dataclasses.replace(progress, elsewhere=Elsewhere(1.0, 1, where)))
        return True

    return execute_split(begun.experiment, *tables, begun.k, begun.search, stop, begun.made)


def join(
    experiment: Experiment, parts: Mapping[int, RunRecord], unfinished: Sequence[Search] = ()
) -> RunRecord:
    """Make the record of a run from those of its splits.

    Parameters
    ----------
    parts : mapping of int to RunRecord
        By number of the split; where some are missing and none failed, the run was stopped.
    unfinished : sequence of Search
        Of splits that are missing.

    Returns
    -------
    RunRecord
        Its seconds are those of its splits and searches added up: what one worker would have
        taken.
    """
    ordered = [parts[k] for k in sorted(parts)]
    searches = [search for part in ordered for search in part.searches] + list(unfinished)
    failed = next((part for part in ordered if part.status == FAILED), None)
    whole = len(ordered) == experiment.validation.splits
    whole &= all(part.status != STOPPED for part in ordered)
    return RunRecord(
        experiment,
        FAILED if failed is not None else DONE if whole else STOPPED,
        tuple(split for part in ordered for split in part.splits),
        min((part.created for part in ordered), default=RunRecord.now()),
        sum(part.seconds for part in ordered) + sum(search.seconds for search in searches),
        "" if failed is None else failed.error,
        "" if failed is None else failed.traceback,
        tuple(searches),
    )


@dataclasses.dataclass(frozen=True, eq=False)
class _Call:
    """A task: function, last arguments, and the receiver of its result."""

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
        """The current state of the search."""
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
        """Store the result of a task; a record ends the split, whatever it is of."""
        self._out -= 1
        if isinstance(found, RunRecord):
            self.record = found
            self._waiting.clear()
            self.made = {}
        else:
            call.hear(found)


class _Spread:
    """The tasks under way, and what waits for room.

    Attributes
    ----------
    open : list of _Course
        Of splits that have not ended.
    parts : dict of int to RunRecord
        Of those that have, by their number.
    """

    def __init__(
        self, workers: Workers, courses: list[_Course], tables: Any, listen: Listener
    ) -> None:
        self._workers, self._tables, self._listen = workers, tables, listen
        self.open, self._count = courses, len(courses)
        self.parts: dict[int, RunRecord] = {}
        self._under_way: dict[Future[Any], tuple[_Course, _Call]] = {}
        self._stopped = False

    def go(self) -> None:
        try:
            self._hand_out()
            while self.open:
                ended, _ = wait(self._under_way, LISTEN_SECONDS, FIRST_COMPLETED)
                for future in ended:
                    self._take(future)
                self._hand_out()
                if self._stopped or (self.open and self._tell(self.open[0])):
                    return
        finally:
            for future in self._under_way:
                future.cancel()

    def _hand_out(self) -> None:
        room = AHEAD * max(1, self._workers.places) - len(self._under_way)
        for course in self.open:
            while room > 0 and (call := course.next_call()) is not None:
                to = course.experiment, self._tables, course.k
                future = self._workers.submit(call.function, *to, *call.arguments)
                self._under_way[future] = course, call
                room -= 1

    def _take(self, future: Future[Any]) -> None:
        # Forgotten here, a result is also dropped there.
        course, call = self._under_way.pop(future)
        if course not in self.open:
            return  # another of its tasks failed, and the split with it
        course.take(call, self._outcome(future, course))
        if course.record is not None:
            self.open.remove(course)
            self.parts[course.k] = course.record
            self._stopped |= self._tell(course)

    def _outcome(self, future: Future[Any], course: _Course) -> Any:
        try:
            return self._workers.result(future)
        except WorkersLostError:
            raise
        except Exception as error:  # noqa: BLE001  (what an executor raises comes in all kinds)
            sentence = f"the cluster could not finish it ({type(error).__name__}: {error})"
            return RunRecord(course.experiment, FAILED, (), RunRecord.now(), 0.0, sentence)

    def _tell(self, course: _Course) -> bool:
        part = course.record
        where = Elsewhere(
            self._fraction, len(self.parts), self._workers.where, "" if part else course.doing
        )
        message = Progress(
            course.k,
            self._count,
            None,
            0.0,
            None,
            finished=next(iter(part.splits), None) if part else None,
            search=next(iter(part.searches), None) if part else course.search,
            elsewhere=where,
        )
        return bool(self._listen(message))

    @property
    def _fraction(self) -> float:
        left = sum(1.0 - course.fraction for course in self.open)
        return 1.0 - left / self._count


Judged = tuple[list[tuple[int, float | str]], float]


def judge_of(experiment: Experiment, table: Table, k: int) -> Judge:
    """Make what judges candidates of the search of a split."""
    seen = experiment.data.seen(table)
    return Judge(experiment, seen, training_rows(experiment, seen, k))


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
    """Do one part of a fit; the results are passed to the fit as ``kept``."""
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
