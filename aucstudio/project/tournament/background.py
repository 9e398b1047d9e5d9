"""Search in a child process; runs and standings are stored as they are reported."""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable
from typing import Protocol

from aucstudio.engine.monitor import Stopped
from aucstudio.notices import text
from aucstudio.project.child_process import CallReporter, call
from aucstudio.project.runs.execute import failure_sentence
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.rows import limit_threads
from aucstudio.project.tournament.candidate_comparison import Budget
from aucstudio.project.tournament.search import SearchRequest, find_best
from aucstudio.project.tournament.standings import FAILED, RUNNING, STOPPED, Standings

_PATIENCE_SECONDS = 60.0  # for the running fits and the held-out rows, after a stop


@dataclasses.dataclass(frozen=True, eq=False)
class RefitModel:
    """The selected model, refit on all labelled rows.

    Attributes
    ----------
    run : str
        The id of the run that was tested.
    model : Model
    """

    run: str
    model: Model


SearchMessage = Standings | RunRecord | RefitModel


class SearchStore(Protocol):
    """Storage of the runs and standings of a search."""

    def add_run_once(self, record: RunRecord) -> RunRecord:
        """Store a run unless it is stored already; return the stored one."""

    def keep_standings(self, standings: Standings) -> str:
        """Store the standings; return why they could not be written, or an empty string."""


@dataclasses.dataclass(eq=False)
class SearchStop:
    """Requests to stop a search.

    Attributes
    ----------
    gently : Event
        Test the finished models, then end.
    at_once : Event
        End with the last report.
    """

    gently: threading.Event = dataclasses.field(default_factory=threading.Event)
    at_once: threading.Event = dataclasses.field(default_factory=threading.Event)


def search_in_background(
    request: SearchRequest,
    store: SearchStore,
    stop: SearchStop,
    report: Callable[[SearchMessage], object],
) -> Standings:
    """Run a search in a child process; called on a thread of the window.

    However it ends, its runs and its standings are stored.

    Parameters
    ----------
    request : SearchRequest
    store : SearchStore
    stop : SearchStop
    report : callable
        Called with each stored run, with the standings, and with the refit model.
    """
    log = SearchLog(request, store, report)
    until = math.inf

    def kill() -> bool:
        nonlocal until
        if stop.gently.is_set():
            until = min(until, time.monotonic() + _PATIENCE_SECONDS)
        return stop.at_once.is_set() or time.monotonic() > until

    try:
        call(_hold, (request,), log.take, stop.gently.is_set, kill)
    except Stopped:
        return log.end(STOPPED, text("search_nothing_tested_yet"))
    except Exception as error:  # noqa: BLE001  (the standings are stored in any case)
        return log.end(FAILED, failure_sentence(error))
    return log.end()


class SearchLog:
    """Stores what a search reports, and passes it on."""

    def __init__(
        self, request: SearchRequest, store: SearchStore, report: Callable[[SearchMessage], object]
    ) -> None:
        self._store, self._report = store, report
        self._ids: dict[str, str] = {}
        self._stored_state = ""
        self.last = Standings.begun(request.fpr_range, budget=request.seconds)
        self._report(self.last)

    def take(self, message: SearchMessage) -> None:
        """Handle a report; a run is stored before it is passed on."""
        if isinstance(message, RefitModel):
            self._report(dataclasses.replace(message, run=self._ids.get(message.run, message.run)))
        elif isinstance(message, RunRecord):
            stored = self._store.add_run_once(message)
            self._ids[message.id] = stored.id
            self._report(stored)
        else:
            begun = self.last
            named = message.renamed(self._ids)
            self.last = dataclasses.replace(named, created=begun.created, id=begun.id)
            # Progress alone is not written to the disk.
            state = str([(one.state, one.run) for one in self.last.entries])
            if state != self._stored_state:
                self._stored_state = state
                self._store.keep_standings(self.last)
            self._report(self.last)

    def end(self, ended: str = FAILED, error: str = "") -> Standings:
        """Store how the search ended."""
        if self.last.ended == RUNNING:
            self.last = self.last.broken_off(ended, error)
        trouble = self._store.keep_standings(self.last)
        if trouble:
            remarks = (*self.last.remarks, f"it could not be saved: {trouble}")
            self.last = dataclasses.replace(self.last, remarks=remarks)
        return self.last


# ------------------------------------------------------------------ in the child process


def _hold(request: SearchRequest, report: CallReporter) -> None:
    """Run a search: report standings, runs, and last the refit model."""
    limit_threads()

    def store(record: RunRecord) -> RunRecord:
        report(record)  # the receiver stores it and gives it an id
        return record

    budget = Budget(request.seconds, report.stop.is_set)
    result = find_best(request, budget=budget, store=store, watch=report)
    if result.record is not None and result.model is not None:
        report(RefitModel(result.record.id, result.model))
