"""Progress reports of a fit, and requests to stop it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aucstudio.engine.scorers import Scorer

INTERVAL = 0.1


class Stopped(Exception):  # noqa: N818  (an outcome, not an error)
    """The callback requested a stop before the fit had anything usable to return."""


@dataclasses.dataclass(frozen=True)
class Step:
    """A progress report of a running fit.

    Attributes
    ----------
    iteration : int
        Iterations done; 0 while a stage before the first iteration is under way.
    total : int or None
        Iterations there will be, where that is known.
    objective : float or None
        Training objective as the method's docstring defines it, for the present scorer.
    gap : float or None
        Stopping certificate: an upper bound on ``objective`` minus the optimum.
    stage : str
        What is being done, in a word or two ("iterating", "kernel matrix", ...).
    fraction : float or None
        How much of the stage is done, within [0, 1].
    scorer : callable or None
        Call it for the :class:`~aucstudio.engine.scorers.Scorer` as it stands; None while
        there is none. Only valid during the callback.
    is_partial : bool
        Whether the iteration is still under way and is reported only because time has passed. All
        other steps are the same in every run of the same fit.
    """

    iteration: int
    total: int | None = None
    objective: float | None = None
    gap: float | None = None
    stage: str = "iterating"
    fraction: float | None = None
    scorer: Callable[[], Scorer] | None = None
    is_partial: bool = False


Callback = Callable[[Step], object]

Check = Callable[[], bool]
"""Return whether to stop; called often by every part of the work."""

Spread = Callable[[Callable[[Any, Check], Any], Sequence[Any], Callable[[], bool]], Iterator[Any]]
"""Runs independent tasks: ``spread(work, tasks, check)`` yields ``(task, work(task, check))`` of
each as it finishes, in any order. ``check`` is called on the caller's thread meanwhile, several
times a second if possible; once it returns True, ``work`` is notified and no other task is
started."""


def one_by_one(
    work: Callable[[Any, Check], Any], tasks: Sequence[Any], check: Callable[[], bool]
) -> Iterator[Any]:
    """Do tasks one after the other; see :data:`Spread`."""
    for task in tasks:
        if check():
            return
        yield task, work(task, check)


STAGE_INTERVAL = 0.05  # least seconds between two reports of a stage


class Monitor:
    """The link from a solver to the caller's callback; solvers know nothing else of the outside.

    Parameters
    ----------
    callback : callable or None
        Called with a :class:`Step`; a true answer stops the fit.

    Attributes
    ----------
    stopped : bool
        Whether the callback has requested a stop.
    is_partial : bool
        Whether steps are reported from within an iteration; see :class:`Step`.
    """

    def __init__(self, callback: Callback | None = None) -> None:
        self._callback = callback
        self._last_stage = time.perf_counter()
        self.stopped = False
        self.is_partial = False

    @property
    def has_callback(self) -> bool:
        """Whether a callback listens; what only a callback would see is not computed otherwise."""
        return self._callback is not None

    def step(
        self,
        iteration: int,
        objective: float,
        *,
        gap: float | None = None,
        total: int | None = None,
        scorer: Callable[[], Scorer] | None = None,
    ) -> bool:
        """Report an iteration; True means stop now and return the present iterate."""
        fraction = iteration / total if total else None
        known = iteration, total, objective, gap, "iterating", fraction, scorer, self.is_partial
        return self._notify(Step(*known))

    def stage(self, name: str, fraction: float | None = None) -> None:
        """Report preparatory work, at most some 20 times a second.

        Raises
        ------
        Stopped
            If the callback requests a stop: there is no scorer to return yet.
        """
        if self._is_due() and self._notify(Step(0, stage=name, fraction=fraction)):
            raise Stopped(name)

    def pulse(self, name: str, fraction: float) -> None:
        """Report work that comes after training, unless a stop was requested already.

        The answer is ignored: a trained scorer is not discarded.
        """
        if not self.stopped and self._is_due() and self._callback is not None:
            self._callback(Step(0, stage=name, fraction=fraction))

    def _is_due(self) -> bool:
        now = time.perf_counter()
        if self._callback is None or now - self._last_stage < STAGE_INTERVAL:
            return False
        self._last_stage = now
        return True

    def _notify(self, step: Step) -> bool:
        if self._callback is not None and bool(self._callback(step)):
            self.stopped = True
        return self.stopped


class Reporter:
    """Schedule of reports to the monitor, and its request to stop.

    Parameters
    ----------
    monitor : Monitor
    report : callable
        Reports the best point; returns whether to stop.
    """

    def __init__(self, monitor: Monitor, report: Callable[[], bool]) -> None:
        self._monitor, self._report = monitor, report
        self._last = time.perf_counter()

    def report(self) -> bool:
        """Report to the monitor; return whether it requests a stop."""
        if self._monitor.stopped:
            return True
        self._last = time.perf_counter()
        return self._report()

    def stop(self) -> bool:
        """Report within an iteration if nothing was reported lately; return whether to stop."""
        if time.perf_counter() - self._last < INTERVAL:
            return self._monitor.stopped
        self._monitor.is_partial = True
        try:
            return self.report()
        finally:
            self._monitor.is_partial = False

    def pause(self) -> None:
        """Report within an iteration as :meth:`stop` does; raise Stopped on a request to stop."""
        if self.stop():
            raise Stopped("iterating")
