"""A tournament beside the window, in a process of its own; what is ready is kept as it comes."""

from __future__ import annotations

import contextlib
import dataclasses
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from typing import IO, Protocol

from aucstudio.project.runs.record import RunRecord
from aucstudio.project.tournament import service
from aucstudio.project.tournament.service import Answer, RefitModel, TournamentEnd, TournamentOrder
from aucstudio.project.tournament.standings import FAILED, RUNNING, STOPPED, Standings
from aucstudio.project.work.parcels import receive, send
from aucstudio.project.work.processes import start_service

_LISTEN_SECONDS = 0.05
_PATIENCE_SECONDS = 60.0  # for the fits under way and a look at the held-out rows, once stopped
_LET_GO = "it was stopped before anything was judged on the held-out rows"


News = Standings | RunRecord | RefitModel


class Keeper(Protocol):
    """Where the runs of a tournament and its standings are kept."""

    def add_run_once(self, record: RunRecord) -> RunRecord:
        """Keep a run, unless the same was made before; gives the one that is kept."""

    def keep_standings(self, standings: Standings) -> str:
        """Keep how it stands; gives why it could not be written, if so."""


@dataclasses.dataclass(eq=False)
class TournamentWish:
    """What a person wants of a tournament under way.

    Attributes
    ----------
    stop : Event
        That it ends with what is ready.
    now : Event
        That it ends at once, with what was told.
    """

    stop: threading.Event = dataclasses.field(default_factory=threading.Event)
    now: threading.Event = dataclasses.field(default_factory=threading.Event)


def hold_beside(
    order: TournamentOrder,
    keeper: Keeper,
    wish: TournamentWish,
    tell: Callable[[News], object],
) -> Standings:
    """Hold a tournament; called on a thread of the window's.

    However it ends, what it has come to is kept: its runs, and how it stands.

    Parameters
    ----------
    order : TournamentOrder
    keeper : Keeper
    wish : TournamentWish
    tell : callable
        Called with each run as it is kept, with the standings, and with the model that was
        trained on all rows.
    """
    held = _Held(order, keeper, tell)
    try:
        process = start_service(service)
    except (OSError, RuntimeError) as error:
        return held.end(FAILED, f"no process could be started: {error}")
    assert process.stdin is not None
    assert process.stdout is not None
    answers: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
    hearing = threading.Thread(target=_hear, args=(process.stdout, answers), daemon=True)
    try:
        hearing.start()
        with contextlib.suppress(OSError):  # it is gone, and the end of its answers says so
            send(process.stdin, order)
        return _follow(process, answers, held, wish)
    finally:
        process.kill()
        process.wait()
        hearing.join()
        with contextlib.suppress(OSError):
            process.stdin.close()


class _Held:
    """What a tournament has come to, as far as it has told."""

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
        """Handle a message of the process; a run is kept before it is passed on."""
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
            remarks = (*self.last.remarks, f"it could not be kept: {trouble}")
            self.last = dataclasses.replace(self.last, remarks=remarks)
        return self.last


def _follow(
    process: subprocess.Popen[bytes],
    answers: queue.SimpleQueue[Answer | None],
    held: _Held,
    wish: TournamentWish,
) -> Standings:
    until = float("inf")
    while not wish.now.is_set() and time.monotonic() < until:
        if wish.stop.is_set() and until == float("inf"):
            until = time.monotonic() + _PATIENCE_SECONDS
            _ask_to_stop(process)
        with contextlib.suppress(queue.Empty):
            answer = answers.get(timeout=_LISTEN_SECONDS)
            if isinstance(answer, TournamentEnd):
                return held.end(FAILED, answer.error)
            if answer is None:
                return held.end(FAILED, _how_it_ended(process))
            held.hear(answer)
    return held.end(STOPPED, _LET_GO)


def _ask_to_stop(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.write(b"s")
        process.stdin.flush()


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    code = process.wait()
    how = f"signal {-code}" if code < 0 else f"exit status {code}"
    return (
        f"the process that held it ended unexpectedly ({how}): there may not be enough memory for "
        "this table"
    )


def _hear(pipe: IO[bytes], answers: queue.SimpleQueue[Answer | None]) -> None:
    with contextlib.suppress(EOFError, OSError), pipe:
        while True:
            answers.put(receive(pipe))
    answers.put(None)
