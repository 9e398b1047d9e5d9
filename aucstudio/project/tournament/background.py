"""A search in a child process; runs and standings are stored as they come."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable
from typing import Protocol

from aucstudio.engine.crossfit.members import Member
from aucstudio.engine.monitor import Stopped
from aucstudio.project.child_process import CallReporter, ChildProcess
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.data.table import Table
from aucstudio.project.runs.execute import failure_sentence
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.parallel_parts import limit_threads
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.tournament.candidate_comparison import Budget
from aucstudio.project.tournament.hold_out import FOLDS
from aucstudio.project.tournament.search import find_best
from aucstudio.project.tournament.standings import FAILED, RUNNING, STOPPED, Standings

_PATIENCE_SECONDS = 60.0  # for the running fits and the held-out rows, after a stop
_LET_GO = "it was stopped before any model was tested on the held-out rows"


@dataclasses.dataclass(frozen=True, eq=False)
class TournamentOrder:
    """A tournament to hold.

    Attributes
    ----------
    table : Table
    validation : Validation
    fpr_range : (float, float) or None
    seconds : float
    preparation : PreparationChoice
    entrants : tuple of Member or None
        The members to train; None for those of the library that suit the rows.
    folds : int
        Of the training rows.
    ordered : float
        When it was ordered, in seconds since the epoch: the start of the process counts too.
    """

    table: Table
    validation: Validation
    fpr_range: tuple[float, float] | None
    seconds: float
    preparation: PreparationChoice = USUAL
    entrants: tuple[Member, ...] | None = None
    folds: int = FOLDS
    ordered: float = dataclasses.field(default_factory=time.time)


@dataclasses.dataclass(frozen=True, eq=False)
class RefitModel:
    """The model that is handed over, trained on all labelled rows.

    Attributes
    ----------
    run : str
        The id of the run that was judged.
    model : Model
    """

    run: str
    model: Model


News = Standings | RunRecord | RefitModel


class Keeper(Protocol):
    """Where the runs of a tournament and its standings are kept."""

    def add_run_once(self, record: RunRecord) -> RunRecord:
        """Keep a run, unless the same was made before; return the one that is kept."""

    def keep_standings(self, standings: Standings) -> str:
        """Keep the standings; return why they could not be written, if so."""


@dataclasses.dataclass(eq=False)
class TournamentStop:
    """How a running tournament is stopped.

    Attributes
    ----------
    gently : Event
        End with what is ready.
    at_once : Event
        End with what was reported.
    """

    gently: threading.Event = dataclasses.field(default_factory=threading.Event)
    at_once: threading.Event = dataclasses.field(default_factory=threading.Event)


def hold_in_background(
    order: TournamentOrder,
    keeper: Keeper,
    stop: TournamentStop,
    tell: Callable[[News], object],
) -> Standings:
    """Run a tournament in a child process; called on a thread of the window.

    However it ends, its runs and its standings are kept.

    Parameters
    ----------
    order : TournamentOrder
    keeper : Keeper
    stop : TournamentStop
    tell : callable
        Called with each run as it is kept, with the standings, and with the model that was
        trained on all rows.
    """
    held = _Held(order, keeper, tell)
    until = math.inf

    def kill() -> bool:
        nonlocal until
        if stop.gently.is_set():
            until = min(until, time.monotonic() + _PATIENCE_SECONDS)
        return stop.at_once.is_set() or time.monotonic() > until

    try:
        child = ChildProcess(__name__)
    except (OSError, RuntimeError) as error:
        return held.end(FAILED, f"no process could be started: {error}")
    with child:
        try:
            child.call(_hold, (order,), held.hear, stop.gently.is_set, kill)
        except Stopped:
            return held.end(STOPPED, _LET_GO)
        except Exception as error:  # noqa: BLE001  (the standings are kept, whatever it was)
            return held.end(FAILED, failure_sentence(error))
    return held.end(FAILED)


class _Held:
    """The standings that a tournament reported last, kept."""

    def __init__(
        self,
        order: TournamentOrder,
        keeper: Keeper,
        tell: Callable[[News], object],
    ) -> None:
        self._keeper, self._tell = keeper, tell
        self._ids: dict[str, str] = {}
        self._kept = ""
        self.last = Standings.begun(order.fpr_range, budget=order.seconds)
        self._tell(self.last)

    def hear(self, answer: News) -> None:
        """Handle a report; store a run before passing it on."""
        if isinstance(answer, RefitModel):
            self._tell(dataclasses.replace(answer, run=self._ids.get(answer.run, answer.run)))
            return
        if isinstance(answer, RunRecord):
            kept = self._keeper.add_run_once(answer)
            self._ids[answer.id] = kept.id
            self._tell(kept)
            return
        begun = self.last
        named = answer.renamed(self._ids)
        self.last = dataclasses.replace(named, created=begun.created, id=begun.id)
        # What only moved on is not worth a place on the disk.
        state = str([(one.state, one.run) for one in self.last.entries])
        if state != self._kept:
            self._kept = state
            self._keeper.keep_standings(self.last)
        self._tell(self.last)

    def end(self, ended: str = "", error: str = "") -> Standings:
        """Keep how it ended."""
        if self.last.ended == RUNNING:
            self.last = self.last.broken_off(ended or FAILED, error)
        trouble = self._keeper.keep_standings(self.last)
        if trouble:
            remarks = (*self.last.remarks, f"it could not be saved: {trouble}")
            self.last = dataclasses.replace(self.last, remarks=remarks)
        return self.last


# ------------------------------------------------------------------ in the child process


@dataclasses.dataclass(frozen=True, eq=False)
class _Sender:
    """Keeps runs by reporting them."""

    report: CallReporter

    def begin_run(self, experiment: Experiment) -> None:
        """Do nothing: a run is reported when it has ended."""

    def add_run(self, record: RunRecord) -> RunRecord:
        """Report a run; it gets its id where it is kept."""
        self.report(record)
        return record


def _hold(order: TournamentOrder, report: CallReporter) -> None:
    """Run a tournament: report standings, runs, and last the model trained on all rows."""
    limit_threads()
    late = max(0.0, time.time() - order.ordered)
    board = find_best(
        order.table,
        order.validation,
        order.fpr_range,
        folds=order.folds,
        budget=Budget(order.seconds, report.stop.is_set, head_start=late),
        entrants=order.entrants,
        store=_Sender(report),
        preparation=order.preparation,
        watch=report,
    )
    if board.best is not None and board.best.record is not None and board.model is not None:
        report(RefitModel(board.best.record.id, board.model))
