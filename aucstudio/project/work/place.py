"""Where runs are made: what this process, several of its own and a cluster have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

from aucstudio.engine import METHODS
from aucstudio.project.runs.execute import NOT_ENOUGH_MEMORY, execute
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.experiments.planning import PlannedRun
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.watch import Listener

if TYPE_CHECKING:
    from aucstudio.project.work.processes import Processes

GivenUp = Callable[[], bool]


class Place:
    """Somewhere to make runs; a context manager.

    Attributes
    ----------
    at_once : int
        How many runs are worth having under way.
    lost : str
        Why no more can be made here; empty while they can.
    """

    at_once = 1
    lost = ""

    def check(self, plans: Sequence[PlannedRun]) -> None:
        """Refuse runs that cannot be made here.

        Raises
        ------
        InputError
        """

    def execute(self, plan: PlannedRun, listen: Listener, given_up: GivenUp) -> RunRecord:
        """Make a run; it gives the same record, whatever the place.

        Parameters
        ----------
        plan : PlannedRun
        listen : callable
            Called with :class:`~aucstudio.project.runs.watch.Progress`, of each finished split
            too; a true answer stops the run.
        given_up : callable
            Tells that nobody waits for the run any more.

        Raises
        ------
        WorkersLostError
            If what did the work is gone; what was finished has been told.
        Stopped
            If the run was given up.
        """
        raise TypeError("a place has to say how runs are made there")

    def heeds_stop(self, experiment: Experiment) -> bool:
        """Return whether a run here soon answers the wish to stop."""
        return METHODS[experiment.method](**experiment.params).heeds_stop()

    def close(self) -> None:
        """End what works here, whatever it is doing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Here(Place):
    """The present process; after it has run out of memory, another one."""

    def __init__(self) -> None:
        self._instead: Processes | None = None

    def execute(self, plan: PlannedRun, listen: Listener, given_up: GivenUp) -> RunRecord:
        """Make a run; one that was given up continues without a listener."""
        if self._instead is not None:
            return self._instead.execute(plan, listen, given_up)
        record = execute(plan.experiment, plan.table, plan.test_table, listen)
        if record.error == NOT_ENOUGH_MEMORY:
            from aucstudio.project.work.processes import Processes

            self._instead = Processes()
        return record

    def close(self) -> None:
        """End the other process, if there is one."""
        if self._instead is not None:
            self._instead.close()
