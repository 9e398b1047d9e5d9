"""Run experiments on a cluster, split by split."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.experiments.planning import PlannedRun
from aucstudio.project.runs.progress import Listener
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.work.parallel import Tables, run_on_workers
from aucstudio.project.work.submit import GivenUp, Place
from aucstudio.project.work.workers import Workers, WorkersLostError


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
            return run_on_workers(
                self._workers, plan.experiment, tables, self._hold(tables), listen
            )
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
