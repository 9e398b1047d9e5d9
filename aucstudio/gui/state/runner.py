"""Runs queued experiments and searches for the best model."""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from aucstudio.engine.monitor import Stopped
from aucstudio.gui.state.background import Background, ticking
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.project_handle import ProjectHandle
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.table import Table
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.progress import Look, Progress, StageLog, Thinned
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.tuning import Search, symbols
from aucstudio.project.tournament.standings import Standings
from aucstudio.project.work.job import Job, describe_failure
from aucstudio.project.work.submit import RunTask

if TYPE_CHECKING:
    from aucstudio.project.tournament.background import SearchMessage, SearchStop
    from aucstudio.project.tournament.search import SearchRequest

_MOST_LOOKS = 128


def _no_looks() -> Thinned[Look]:
    return Thinned(_MOST_LOOKS)


@dataclasses.dataclass(eq=False)
class LiveRun:
    """A running run, as reported so far.

    Attributes
    ----------
    experiment : Experiment
    look : RunLook
        Its name and colour.
    split, splits : int
    points : list of (iteration, seconds, objective, gap)
        Of the present fit.
    picture : Look or None
        Latest picture of the scorer.
    looks : Thinned of Look
        A bounded number of pictures of the present fit.
    stages : StageLog
        Of the present fit.
    preparation : Preparation or None
        Of the present fit.
    search : Search or None
        The present or the last search for settings.
    stopping : bool
    """

    experiment: Experiment
    look: RunLook
    split: int = 0
    splits: int = 1
    points: list[tuple[int, float, float, float]] = dataclasses.field(default_factory=list)
    picture: Look | None = None
    looks: Thinned[Look] = dataclasses.field(default_factory=_no_looks)
    stages: StageLog = dataclasses.field(default_factory=StageLog)
    preparation: Preparation | None = None
    search: Search | None = None
    stopping: bool = False
    began: float = dataclasses.field(default_factory=time.monotonic)
    _latest: Progress | None = None

    def update(self, progress: Progress) -> None:
        """Handle one message of the job."""
        if progress.split != self.split:
            self.split, self.points, self.picture = progress.split, [], None
            self.looks, self.stages = _no_looks(), StageLog()
        self.splits, self.preparation = progress.splits, progress.preparation
        self._latest = progress
        if progress.search is not None:
            self.search = progress.search
        step = progress.step
        if step is not None:
            self.stages.add(step, progress.seconds)
        if step is not None and step.iteration > 0 and step.objective is not None:
            gap = np.nan if step.gap is None else step.gap
            self.points.append((step.iteration, progress.seconds, step.objective, gap))
        if progress.look is not None:
            self.picture = progress.look
            self.looks.add(progress.look)

    @property
    def fraction(self) -> float | None:
        """Share of the run that is done."""
        return self._progress()[0]

    @property
    def words(self) -> str:
        """What the run is doing."""
        return self._progress()[1]

    def _progress(self) -> tuple[float | None, str]:
        # Only the last of thousands of messages a second is worded.
        if self._latest is None:
            return None, "starting"
        return self._latest.describe(symbols(self.experiment.method))

    def seconds_left(self) -> float | None:
        """Estimate the time to go, once a share of the run is done."""
        if self.fraction is None or self.fraction < 0.02:
            return None
        return (time.monotonic() - self.began) * (1.0 / self.fraction - 1.0)


# Pictures of the scorer arrive at most 15 times a second.
POLL_MILLISECONDS = 33
_PATIENCE_SECONDS = 1.5


@dataclasses.dataclass(eq=False)
class Waiting:
    """A run in the queue; two with the same settings are different.

    Attributes
    ----------
    experiment : Experiment
    look : RunLook
        Its name and colour.
    table : Table
        The table at the time of the request.
    """

    experiment: Experiment
    look: RunLook
    table: Table


Begin = Callable[[Waiting], RunTask]
Fits = Callable[[Waiting, Sequence[Experiment]], bool]


class Runner(QObject):
    """The running and waiting runs of a study.

    Attributes
    ----------
    changed : Signal
        A run started, progressed or ended, or the queue changed.
    failed : Signal(str, str)
        A sentence and a traceback.
    ended : Signal(Outcome, LiveRun)
    queue : deque of Waiting
    at_once : int
        How many may run.
    running : dict of LiveRun to RunTask
        In the order of their start.
    """

    changed = Signal()
    failed = Signal(str, str)
    ended = Signal(object, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.queue: deque[Waiting] = deque()
        self.at_once = 1
        self._fits: Fits = lambda _waiting, _beside: True
        self.running: dict[LiveRun, RunTask] = {}
        self._poll = ticking(self, POLL_MILLISECONDS, self._on_poll)

    def configure(self, begin: Begin, fits: Fits) -> None:
        """Set how a run is started, and which runs may run together."""
        self._begin, self._fits = begin, fits

    @property
    def busy(self) -> bool:
        """Whether a run is running or waiting."""
        return bool(self.running or self.queue)

    @property
    def live(self) -> LiveRun | None:
        """The first running run."""
        return next(iter(self.running), None)

    def taken_looks(self) -> list[RunLook]:
        """Return the looks of running and waiting runs."""
        return [one.look for one in self.queue] + [live.look for live in self.running]

    # ------------------------------------------------------------- the queue

    def add(self, waiting: Waiting) -> None:
        """Queue a run; ``start_next`` starts it."""
        self.queue.append(waiting)

    def cancel(self, waiting: Waiting) -> None:
        """Remove a run from the queue; a started one continues."""
        if waiting in self.queue:
            self.queue.remove(waiting)
            self.changed.emit()

    def move(self, waiting: Waiting, by: int) -> None:
        """Move a run up the queue (a negative number of places) or down."""
        if waiting in self.queue:
            place = max(0, self.queue.index(waiting) + by)
            self.queue.remove(waiting)
            self.queue.insert(place, waiting)
            self.changed.emit()

    def start_next(self) -> None:
        """Start waiting runs, the first one first, while there is room."""
        while self._has_room():
            waiting = self.queue.popleft()
            self.running[LiveRun(waiting.experiment, waiting.look)] = self._begin(waiting)
            self._poll.start()
        self.changed.emit()

    def _has_room(self) -> bool:
        if not self.queue or len(self.running) >= self.at_once:
            return False
        beside = [live.experiment for live in self.running]
        return not beside or self._fits(self.queue[0], beside)

    # ------------------------------------------------------------- the runs

    def stop(self, live: LiveRun | None = None) -> None:
        """Stop a running run, or all of them; finished splits are kept."""
        for one, job in self.running.items():
            if live is None or one is live:
                job.stop()
                one.stopping = True
        self.changed.emit()

    def finish(self) -> None:
        """Wait a little for stopped runs and handle their results."""
        until = time.monotonic() + _PATIENCE_SECONDS
        for job in self.running.values():
            job.wait(max(0.0, until - time.monotonic()))
        self._on_poll()

    def _on_poll(self) -> None:
        moved, ended = False, []
        for live, job in self.running.items():
            if job.ended:  # checked first, so that the last messages are still handled
                ended.append(live)
            for message in job.drain():
                live.update(message)
                moved = True
        for live in ended:
            self._on_ended(live, self.running.pop(live))
        if not self.running:
            self._poll.stop()
        if ended:
            self.start_next()
        elif moved:
            self.changed.emit()

    def _on_ended(self, live: LiveRun, job: RunTask) -> None:
        if job.result is not None:
            self.ended.emit(job.result, live)
        elif job.error is not None and not isinstance(job.error, Stopped):
            self.failed.emit(*describe_failure(job.error))


_TICK_MILLISECONDS = 1000


class TournamentRunner(QObject):
    """One tournament at a time.

    Attributes
    ----------
    changed : Signal
        It started, progressed or ended.
    judged : Signal(RunRecord)
        A run of it was stored.
    ended : Signal(Standings)
    failed : Signal(str, str)
        A sentence and a traceback.
    live : Standings or None
        Present standings; None while no tournament is running.
    stopping : bool
    """

    changed = Signal()
    judged = Signal(object)
    ended = Signal(object)
    failed = Signal(str, str)

    def __init__(self, parent: QObject, home: ProjectHandle) -> None:
        super().__init__(parent)
        self._home = home
        self.live: Standings | None = None
        self.stopping = False
        self._stop: SearchStop | None = None
        self._work = Background(self, self._on_finished, self._on_message, patience=0.0)
        self._clock = ticking(self, _TICK_MILLISECONDS, self._on_tick)

    @property
    def busy(self) -> bool:
        """Whether a tournament is running."""
        return self._work.busy

    def begin(self, order: SearchRequest) -> None:
        """Start a tournament, unless one is running."""
        # Imports the methods, which the start page does without.
        from aucstudio.project.tournament.background import SearchStop, search_in_background

        if self.busy:
            return
        stop, home = SearchStop(), self._home

        def work(post: Callable[[SearchMessage], bool]) -> Standings:
            home.make_file(order.table.path)
            return search_in_background(order, home, stop, post)

        self.stopping, self._stop = False, stop
        self.live = Standings.begun(order.fpr_range, budget=order.seconds)
        self._work.start(order, work)
        self._clock.start()
        self.changed.emit()

    def _on_tick(self) -> None:
        """Advance the time of the search while nothing is reported, once candidates are fitted."""
        if self.live is None:
            self._clock.stop()
            return
        if self.live.doing:
            spent = self.live.spent + _TICK_MILLISECONDS / 1000
            self.live = dataclasses.replace(self.live, spent=spent)
            self.changed.emit()

    def stop(self) -> None:
        """Stop and keep what is ready; a second call stops at once."""
        if self._stop is None:
            return
        (self._stop.at_once if self.stopping else self._stop.gently).set()
        self.stopping = True
        self.changed.emit()

    def finish(self) -> None:
        """Wait a little for a stopped tournament and take its result."""
        self._work.finish(_PATIENCE_SECONDS)
        if self._stop is not None:
            self._stop.at_once.set()
            self._work.finish(_PATIENCE_SECONDS)

    def _on_message(self, message: SearchMessage) -> None:
        if isinstance(message, RunRecord):
            self.judged.emit(message)
        elif isinstance(message, Standings):
            self.live = message
        else:
            self._home.refits[message.run] = message.model
        self.changed.emit()

    def _on_finished(self, _order: object, job: Job[SearchMessage, Standings]) -> None:
        self._stop = self.live = None
        self.stopping = False
        if job.result is not None:
            self.ended.emit(job.result)
        elif job.error is not None:
            self.failed.emit(*describe_failure(job.error))
        self.changed.emit()
