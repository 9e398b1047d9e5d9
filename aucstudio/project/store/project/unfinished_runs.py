"""Running runs and their processes, so that interrupted ones are detected."""

from __future__ import annotations

import dataclasses
import datetime
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec

from aucstudio.project import typed
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.scratch import CLOCK_SECONDS, process_start
from aucstudio.project.store.project.database import seal, unseal
from aucstudio.project.store.project.run_documents import read_experiment


class UnfinishedRunDocument(msgspec.Struct):
    """A run under way, and the program that makes it."""

    experiment: dict[str, Any]
    owner: Owner


@dataclasses.dataclass(frozen=True)
class UnfinishedRuns:
    """Runs that began and did not end.

    Attributes
    ----------
    lost : list of Experiment
        Those whose program has ended.
    elsewhere : list of (Experiment, Owner)
        Those that another program is training.
    """

    lost: list[Experiment]
    elsewhere: list[tuple[Experiment, Owner]]


def note_running(database: sqlite3.Connection, experiment: Experiment) -> None:
    """Note that this program begins a run."""
    owner = Owner.this()
    key = owner.key(experiment.id)
    document = msgspec.to_builtins(UnfinishedRunDocument(experiment.as_json(), owner))
    sealed = seal(document, "flight", key)
    database.execute("INSERT OR REPLACE INTO flights VALUES (?, ?, ?)", (key, *sealed))


def read_unfinished(database: sqlite3.Connection) -> tuple[UnfinishedRuns, list[str]]:
    """Read the runs under way, and the keys of those whose program is gone."""
    lost, elsewhere, gone = [], [], []
    for key, document, found in database.execute("SELECT * FROM flights").fetchall():
        try:
            flight = typed.convert(unseal(document, found, "flight", key), UnfinishedRunDocument)
            experiment = read_experiment(flight.experiment)
        except ValueError:
            gone.append(key)  # unreadable
            continue
        if not flight.owner.lives():
            lost.append(experiment)
            gone.append(key)
        elif not flight.owner.is_this:
            elsewhere.append((experiment, flight.owner))
    return UnfinishedRuns(lost, elsewhere), gone


def forget_running(database: sqlite3.Connection, keys: Iterable[str]) -> None:
    """Take notes of runs away."""
    for key in keys:
        database.execute("DELETE FROM flights WHERE owner = ?", (key,))


_TOKEN = secrets.token_hex(8)
_FOREIGN_SECONDS = 7 * 24 * 3600.0


class Owner(msgspec.Struct, frozen=True):
    """A process.

    Attributes
    ----------
    pid : int
    started : float
        When the process began; numbers of processes are used again.
    host, token : str
        Where it runs, and what it alone knows.
    since : float
        When it began the run.
    """

    pid: Annotated[int, msgspec.Meta(gt=0, lt=1 << 31)]
    started: float
    host: Annotated[str, msgspec.Meta(max_length=255)]
    token: Annotated[str, msgspec.Meta(max_length=64)]
    since: float

    @classmethod
    def this(cls) -> Owner:
        """Return the owner that is this process."""
        pid = os.getpid()
        started = process_start(pid) or 0.0
        return cls(pid, started, socket.gethostname(), f"{_TOKEN}-{pid}", time.time())

    def key(self, run: str) -> str:
        """Name its entry of a run."""
        return f"{self.token}:{run}"

    @property
    def is_this(self) -> bool:
        """Whether it is this very process."""
        return self.token == f"{_TOKEN}-{os.getpid()}"

    def lives(self) -> bool:
        """Return whether the process runs; one on another machine is assumed to for a week."""
        if self.is_this:
            return True
        if self.host != socket.gethostname():
            return 0 <= time.time() - self.since < _FOREIGN_SECONDS
        began = process_start(self.pid)
        return began is not None and (not began or abs(began - self.started) < CLOCK_SECONDS)

    def describe(self) -> str:
        """Return a description of the process and the start of the run."""
        try:
            began = datetime.datetime.fromtimestamp(self.since).strftime("%Y-%m-%d %H:%M")
        except (OverflowError, OSError, ValueError):
            began = "long ago"
        here = "" if self.host == socket.gethostname() else f" on {self.host}"
        return f"process {self.pid}{here}, since {began}"
