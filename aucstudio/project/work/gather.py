"""Records of splits as they come in from workers, joined to records of runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.record import DONE, FAILED, STOPPED, RunRecord
from aucstudio.project.runs.tuning import Search
from aucstudio.project.runs.watch import Elsewhere, Listener, Progress
from aucstudio.project.work.parallel import Told, run_tasks
from aucstudio.project.work.workers import Workers, WorkersLostError

Keep = Callable[[RunRecord], RunRecord]


class Gathered:
    """What came in so far.

    Parameters
    ----------
    experiments : sequence of Experiment
    keep : callable, optional
        Puts the record of a whole run away and gives it back, by the id it has there.

    Attributes
    ----------
    records : dict of int to RunRecord
        Of runs, by the number of the experiment.
    """

    def __init__(self, experiments: Sequence[Experiment], keep: Keep | None = None) -> None:
        self._experiments, self._store = experiments, keep
        self._parts: list[dict[int, RunRecord]] = [{} for _ in experiments]
        self._searches: list[tuple[int, Search] | None] = [None for _ in experiments]
        self.records: dict[int, RunRecord] = {}

    @property
    def splits(self) -> int:
        """How many splits have ended."""
        return sum(map(len, self._parts))

    def add(self, told: Told) -> None:
        """Take in what was told."""
        number = told.number
        if told.search is not None:
            self._searches[number] = told.k, told.search
        if told.record is None:
            return
        self._parts[number][told.k] = told.record
        if len(self._parts[number]) == self._experiments[number].validation.splits:
            self._keep(number, self._joined(number))

    def keep_rest(self, error: str = "") -> None:
        """Keep what there is of runs that will not be whole; the first of them bears the error."""
        for number in range(len(self._experiments)):
            if number in self.records or not (self._parts[number] or error):
                continue
            record = self._joined(number)
            if error:
                record = dataclasses.replace(record, status=FAILED, error=error)
                error = ""
            self._keep(number, record)

    def _joined(self, number: int) -> RunRecord:
        parts, told = self._parts[number], self._searches[number]
        unfinished = () if told is None or told[0] in parts else (told[1],)
        return join(self._experiments[number], parts, unfinished)

    def _keep(self, number: int, record: RunRecord) -> None:
        self.records[number] = record if self._store is None else self._store(record)

    def stopped(self) -> RunRecord:
        """Give the record of the only run as it stands when it is stopped."""
        return self._joined(0)


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
    whole = DONE if len(ordered) == experiment.validation.splits else STOPPED
    return RunRecord.made(
        experiment,
        whole if failed is None else FAILED,
        [split for part in ordered for split in part.splits],
        min((part.created for part in ordered), default=RunRecord.now()),
        sum(part.seconds for part in ordered) + sum(search.seconds for search in searches),
        "" if failed is None else failed.error,
        "" if failed is None else failed.traceback,
        searches,
    )


def execute_on(
    workers: Workers,
    experiment: Experiment,
    table: AnyTable,
    test_table: AnyTable | None = None,
    listen: Listener | None = None,
) -> RunRecord:
    """Run an experiment on workers to the record that it would have here.

    The record of a run whose workers were lost has failed, and holds the splits that were
    finished before.
    """
    gathered, splits = Gathered((experiment,)), experiment.validation.splits

    def hear(told: Told) -> object:
        gathered.add(told)
        if listen is None:
            return False
        part = told.record
        finished = part.splits[0] if part is not None and part.splits else None
        place = Elsewhere(told.fraction, gathered.splits, workers.where)
        return listen(
            Progress(
                told.k,
                splits,
                None,
                0.0,
                None,
                finished=finished,
                search=told.search,
                elsewhere=place,
            )
        )

    try:
        run_tasks(workers, (experiment,), table, test_table, hear)
    except WorkersLostError as lost:
        gathered.keep_rest(str(lost))
    return gathered.records.get(0) or gathered.stopped()
