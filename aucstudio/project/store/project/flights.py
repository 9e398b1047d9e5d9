"""Runs under way, noted so that the next program can tell which never ended."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Iterable
from typing import Any

import msgspec

from aucstudio.project import typed
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.store.project.owner import Owner
from aucstudio.project.store.project.run_documents import read_experiment
from aucstudio.project.store.project.sealed import seal, unseal


class FlightDocument(msgspec.Struct):
    """A run under way, and the program that makes it."""

    experiment: dict[str, Any]
    owner: Owner


@dataclasses.dataclass(frozen=True)
class Flights:
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


def note_flight(database: sqlite3.Connection, experiment: Experiment) -> None:
    """Note that this program begins a run."""
    owner = Owner.this()
    key = owner.key(experiment.id)
    document = msgspec.to_builtins(FlightDocument(experiment.as_json(), owner))
    sealed = seal(document, "flight", key)
    database.execute("INSERT OR REPLACE INTO flights VALUES (?, ?, ?)", (key, *sealed))


def read_flights(database: sqlite3.Connection) -> tuple[Flights, list[str]]:
    """Read the runs under way; give them, and the keys of those whose program is gone."""
    lost, elsewhere, gone = [], [], []
    for key, document, found in database.execute("SELECT * FROM flights").fetchall():
        try:
            flight = _flight(key, document, found)
            experiment = read_experiment(flight.experiment)
        except ValueError:
            gone.append(key)  # nobody can tell any more what it was
            continue
        if not flight.owner.lives():
            lost.append(experiment)
            gone.append(key)
        elif not flight.owner.is_this:
            elsewhere.append((experiment, flight.owner))
    return Flights(lost, elsewhere), gone


def forget_flights(database: sqlite3.Connection, keys: Iterable[str]) -> None:
    """Take notes of runs away."""
    for key in keys:
        database.execute("DELETE FROM flights WHERE owner = ?", (key,))


def _flight(key: str, document: Any, found: Any) -> FlightDocument:
    try:
        return typed.convert(unseal(document, found, "flight", key), FlightDocument)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error
