"""Where combinations of finished runs are made: here, beside what else is under way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aucstudio.engine.types import Index
from aucstudio.project.combination.combining import combine_runs
from aucstudio.project.combination.sharing import Named
from aucstudio.project.data.splitting.groups import Groups
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.experiments.planning import PlannedRun
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.watch import Listener
from aucstudio.project.work.place import GivenUp, Place


class Combining(Place):
    """Makes combinations of the runs that it is given.

    Parameters
    ----------
    runs : sequence of (name, record)
    """

    def __init__(self, runs: Sequence[Named]) -> None:
        self._runs = {record.experiment.id: (name, record) for name, record in runs}

    def execute(self, plan: PlannedRun, listen: Listener, given_up: GivenUp) -> RunRecord:
        """Combine the members of an experiment; see :meth:`Place.execute`."""
        experiment = plan.experiment
        members = [self._runs[member] for member in experiment.members]

        def groups_of(rows: Index) -> Groups | None:
            # Roles may have changed since the runs were made.
            if plan.test_table is None:
                table = experiment.data.seen(plan.table)
            else:
                table = experiment.as_test(plan.test_table)
            if table.groups is None:
                return None
            places = np.searchsorted(np.flatnonzero(table.labelled()), rows)
            return table.groups.part(places)

        return combine_runs(experiment, members, groups_of, listen)

    def heeds_stop(self, experiment: Experiment) -> bool:
        """Tell that a stop is answered after each bag of drawn rows."""
        return True
