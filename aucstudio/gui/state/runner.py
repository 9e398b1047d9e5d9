"""Runs what is queued, some experiments at a time, and hears what each says."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.state.live import LiveRun
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.timers import ticking
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.work.job import describe_failure
from aucstudio.project.work.submit import RunTask

# Looks at the scorer come 15 times a second at most: none waits for long.
POLL_MILLISECONDS = 33
_PATIENCE_SECONDS = 1.5


class Runner(QObject):
    """The runs in flight and those that wait for them.

    Parameters
    ----------
    parent : QObject
    begin : callable
        Begins the run of an experiment. An InputError it raises is told, and the next experiment
        is tried.
    fits : callable
        Tells whether an experiment can be run beside others that are in flight.

    Attributes
    ----------
    changed : Signal
        A run in flight moved, began or ended.
    failed : Signal(str, str)
        A sentence and a traceback.
    ended : Signal(Outcome, LiveRun)
    live : LiveRun or None
        The first one in flight.
    queue : deque of (Experiment, RunLook)
    at_once : int
        How many may be in flight.
    """

    changed = Signal()
    failed = Signal(str, str)
    ended = Signal(object, object)

    def __init__(
        self,
        parent: QObject,
        begin: Callable[[Experiment, RunLook], tuple[RunTask, LiveRun]],
        fits: Callable[[Experiment, Sequence[Experiment]], bool],
    ) -> None:
        super().__init__(parent)
        self.live: LiveRun | None = None
        self.queue: deque[tuple[Experiment, RunLook]] = deque()
        self.at_once = 1
        self._begin, self._fits = begin, fits
        self._flights: dict[RunTask, LiveRun] = {}
        self._beginning = False
        self._poll = ticking(self, POLL_MILLISECONDS, self._on_poll)

    @property
    def busy(self) -> bool:
        """Whether a run is in flight."""
        return bool(self._flights)

    @property
    def flights(self) -> list[LiveRun]:
        """The runs in flight, the first one first."""
        return list(self._flights.values()) or ([self.live] if self.live else [])

    def waiting(self) -> list[RunLook]:
        """List the looks that are taken by runs which have not ended."""
        return [look for _, look in self.queue] + [live.look for live in self.flights]

    def start_next(self) -> None:
        """Start what waits longest, and more while there is room."""
        # To begin a run, files are read while the event loop goes on: it may come back here.
        if not self._beginning:
            self._beginning = True
            try:
                while self._has_room():
                    self._start(*self.queue.popleft())
            finally:
                self._beginning = False
        self.changed.emit()

    def _has_room(self) -> bool:
        if not self.queue or len(self._flights) >= self.at_once:
            return False
        beside = [live.experiment for live in self._flights.values()]
        return not beside or self._fits(self.queue[0][0], beside)

    def _start(self, experiment: Experiment, look: RunLook) -> None:
        try:
            task, live = self._begin(experiment, look)
        except (InputError, Stopped) as error:
            self.failed.emit(str(error), "")
            return
        self._flights[task] = live
        self.live = self.flights[0]
        self._poll.start()
        self.changed.emit()

    def stop(self) -> None:
        """Ask the runs in flight to end; what is finished is kept."""
        for task, live in self._flights.items():
            task.stop()
            live.stopping = True

    def finish(self) -> None:
        """Wait a little for runs that were stopped, and take in what they have."""
        until = time.monotonic() + _PATIENCE_SECONDS
        for task in self._flights:
            task.wait(max(0.0, until - time.monotonic()))
        self._on_poll()

    def _on_poll(self) -> None:
        moved, landed = False, []
        for task, live in self._flights.items():
            if task.ended:  # asked first: what it says last is then still heard
                landed.append(task)
            for message in task.drain():
                live.hear(message)
                moved = True
        for task in landed:
            self._land(task, self._flights.pop(task))
        if landed:
            self.start_next()
        elif moved:
            self.changed.emit()

    def _land(self, task: RunTask, live: LiveRun) -> None:
        self.live = next(iter(self._flights.values()), None)
        if not self._flights:
            self._poll.stop()
        if task.error is not None:
            self.failed.emit(*describe_failure(task.error))
        elif task.result is not None:
            self.ended.emit(task.result, live)
