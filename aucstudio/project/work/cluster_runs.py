"""Runs on workers: records of splits as they come in, joined to the record of a run."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute_split
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.experiments.planning import PlannedRun
from aucstudio.project.runs.record import DONE, FAILED, STOPPED, RunRecord
from aucstudio.project.runs.tuning import Search
from aucstudio.project.runs.watch import Elsewhere, Listener, Progress
from aucstudio.project.work.parallel import Begun, Told, run_tasks
from aucstudio.project.work.place import GivenUp, Place
from aucstudio.project.work.workers import Workers, WorkersLostError

Tables = tuple[Table, Table | None]


class Spread(Place):
    """Workers, over which the splits of a run are spread.

    Parameters
    ----------
    workers : Workers
        Closed with the place.
    """

    # While the last splits of a run are worked on, the first of the next one are.
    at_once = 2

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._holding = threading.Lock()
        self._held: tuple[Tables, Any] | None = None

    def check(self, plans: Sequence[PlannedRun]) -> None:
        """Refuse tables that workers do not see."""
        for plan in plans:
            _in_memory(plan)

    def execute(self, plan: PlannedRun, listen: Listener, given_up: GivenUp) -> RunRecord:
        """Make a run; a stop calls back what has not begun there."""
        tables = _in_memory(plan)
        try:
            return _execute(self._workers, plan.experiment, tables, self._hold(tables), listen)
        except WorkersLostError as lost:
            self.lost = str(lost)
            raise

    def heeds_stop(self, experiment: Experiment) -> bool:
        """Return that a stop is always answered: nobody waits for what is under way there."""
        return True

    def close(self) -> None:
        """End the connection."""
        self._workers.close()

    def _hold(self, tables: Tables) -> Any:
        with self._holding:
            known = self._held is not None and all(
                mine is its for mine, its in zip(tables, self._held[0], strict=True)
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


def _execute(
    workers: Workers, experiment: Experiment, tables: Tables, held: Any, listen: Listener
) -> RunRecord:
    splits = experiment.validation.splits
    parts: dict[int, RunRecord] = {}
    unfinished: dict[int, Search] = {}

    def hear(told: Told) -> object:
        part = told.record
        if part is not None:
            parts[told.k] = part
        search = told.search if part is None else next(iter(part.searches), None)
        if search is not None:
            unfinished[told.k] = search
        place = Elsewhere(told.fraction, len(parts), workers.where, told.doing)
        finished = part.splits[0] if part is not None and part.splits else None
        return listen(
            Progress(
                told.k,
                splits,
                None,
                0.0,
                None,
                finished=finished,
                search=search,
                elsewhere=place,
            )
        )

    begun = run_tasks(workers, experiment, tables[0], held, hear)
    if begun is not None and not parts:
        # As here, a half-trained split is worth keeping where it is alone.
        parts[begun.k] = _settled(experiment, tables, begun, workers.where, listen)
    rest = [search for k, search in unfinished.items() if k not in parts]
    return join(experiment, parts, rest)


def _settled(
    experiment: Experiment, tables: Tables, begun: Begun, where: str, listen: Listener
) -> RunRecord:
    """Make of a split that was stopped what its ready parts allow, without further training."""

    def stop(progress: Progress) -> bool:
        if progress.finished is not None:
            listen(dataclasses.replace(progress, elsewhere=Elsewhere(1.0, 1, where)))
        return True

    return execute_split(experiment, *tables, begun.k, begun.search, stop, begun.made)


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
    return RunRecord.made(
        experiment,
        FAILED if failed is not None else DONE if whole else STOPPED,
        [split for part in ordered for split in part.splits],
        min((part.created for part in ordered), default=RunRecord.now()),
        sum(part.seconds for part in ordered) + sum(search.seconds for search in searches),
        "" if failed is None else failed.error,
        "" if failed is None else failed.traceback,
        searches,
    )
