"""What runs in a process that holds a tournament: told of as it goes, ended with its owner."""

from __future__ import annotations

import dataclasses
import os
import sys
import threading
import time
from typing import IO

from aucstudio.engine.methods.combination._library import Member
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.data.table import Table
from aucstudio.project.runs.execute import failure_sentence
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.tournament.budget import Budget
from aucstudio.project.tournament.find import find_best
from aucstudio.project.tournament.hold_out import FOLDS
from aucstudio.project.tournament.standings import Standings
from aucstudio.project.work.parcels import receive, send
from aucstudio.project.work.threads import limit_threads


@dataclasses.dataclass(frozen=True, eq=False)
class TournamentOrder:
    """A tournament that is to be held.

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
        When it was ordered, in seconds since the epoch: the start of the process counts as well.
    """

    table: Table
    validation: Validation
    fpr_range: tuple[float, float] | None
    seconds: float
    preparation: PreparationChoice = USUAL
    entrants: tuple[Member, ...] | None = None
    folds: int = FOLDS
    ordered: float = dataclasses.field(default_factory=time.time)


@dataclasses.dataclass(frozen=True)
class TournamentEnd:
    """A tournament is over.

    Attributes
    ----------
    error : str
        Why it failed; empty where it did not.
    """

    error: str = ""


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


Answer = Standings | RunRecord | RefitModel | TournamentEnd


class _Sender:
    """Keeps runs by sending them."""

    def __init__(self, answers: IO[bytes]) -> None:
        self._answers = answers

    def take_off(self, experiment: Experiment) -> None:
        """Whoever receives the run hears of it when it has ended."""

    def add_run(self, record: RunRecord) -> RunRecord:
        """Send a run; it gets its id where it is kept."""
        send(self._answers, record)
        return record


def serve() -> None:
    """Hold the tournament that is ordered: send standings and runs, then the end of it."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    order: TournamentOrder = receive(sys.stdin.buffer)
    stop = threading.Event()
    threading.Thread(target=_hear, args=(sys.stdin.buffer, stop), daemon=True).start()
    limit_threads(max(1, (os.cpu_count() or 1) - 1))
    error = ""
    late = max(0.0, time.time() - order.ordered)
    try:
        board = find_best(
            order.table,
            order.validation,
            order.fpr_range,
            folds=order.folds,
            budget=Budget(order.seconds, stop.is_set, head_start=late),
            entrants=order.entrants,
            store=_Sender(answers),
            preparation=order.preparation,
            watch=lambda standings: send(answers, standings),
        )
        if board.best is not None and board.best.record is not None and board.model is not None:
            send(answers, RefitModel(board.best.record.id, board.model))
    except Exception as trouble:  # noqa: BLE001  (whatever it was, the window must hear of it)
        error = failure_sentence(trouble)
    send(answers, TournamentEnd(error))


def _hear(orders: IO[bytes], stop: threading.Event) -> None:
    """Stop when that is wished, and end where nobody waits any more."""
    if orders.read(1):
        stop.set()
        orders.read(1)
    os._exit(0)
