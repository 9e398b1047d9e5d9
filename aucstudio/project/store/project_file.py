"""The project file: one SQLite database that holds the plan and every run that ended.

A run is committed whole before anyone is told of it, so killing the program loses at most the
run in flight. Each call opens and closes its own connection: calls may come from any thread.

Tables: ``meta`` (format number), ``plan`` (one JSON document: what the window shows and people
edit), ``runs`` (one row a run, in order), ``arrays`` (the runs' arrays in numpy's own format),
``flight`` (the run that is under way, if any).

Arrays may be added without another format number: a program reads those it knows, and does
without those that an earlier one did not write (the stages, and the looks on the way).
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sqlite3
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.tuning import Search
from aucstudio.project.store.files import replacing
from aucstudio.project.store.split_arrays import split_blobs, split_from, split_values

FORMAT = 1
_APPLICATION_ID = 0x41554353  # "AUCS", so that file(1) and we can tell our files from others
_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE plan (id INTEGER PRIMARY KEY CHECK (id = 1), document TEXT NOT NULL);
CREATE TABLE runs (
    position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, document TEXT NOT NULL
);
CREATE TABLE arrays (
    run TEXT NOT NULL REFERENCES runs (id), split INTEGER NOT NULL, name TEXT NOT NULL,
    data BLOB NOT NULL, PRIMARY KEY (run, split, name)
);
CREATE TABLE flight (id TEXT PRIMARY KEY, document TEXT NOT NULL);
"""


class ProjectFile:
    """One ``*.aucproj`` file.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    InputError
        By every method: if the file cannot be read or written, or is no project of ours.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @classmethod
    def create(cls, path: str | Path) -> ProjectFile:
        """Make a new, empty project; the file must not exist."""
        project = cls(path)
        if project.path.exists():
            raise InputError(f"{path} exists already", file=str(path))
        with project._connected() as database:
            database.executescript(
                f"BEGIN; PRAGMA application_id = {_APPLICATION_ID}; {_SCHEMA} COMMIT;"
            )
            with database:
                database.execute("INSERT INTO meta VALUES ('format', ?)", (str(FORMAT),))
        return project

    @classmethod
    def open(cls, path: str | Path) -> ProjectFile:
        """Open an existing project, after checking that it is one."""
        project = cls(path)
        if not project.path.is_file():
            raise InputError(f"there is no project {path}", file=str(path))
        with project._connected() as database:
            found = database.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
        if found is None or not str(found[0]).isdigit():
            raise InputError(f"{path} is not an AUC Studio project", file=str(path))
        if int(found[0]) > FORMAT:
            raise InputError(
                f"{path} was saved by a newer AUC Studio (project format {found[0]}; this program "
                f"reads up to {FORMAT}): update the program",
                file=str(path),
            )
        return project

    def add_run(self, record: RunRecord) -> RunRecord:
        """Commit a run; it is on disk when this returns.

        Returns
        -------
        record
            The same, with a free id if the project held that experiment already.
        """
        with self._connected() as database, database:
            taken = {row[0] for row in database.execute("SELECT id FROM runs")}
            kept = dataclasses.replace(record, id=free_id(taken, record.id))
            _insert_run(database, kept)
            database.execute("DELETE FROM flight WHERE id = ?", (record.id,))
        return kept

    def runs(self) -> list[RunRecord]:
        """Read every run, in the order in which they ended."""
        with self._connected() as database:
            rows = database.execute("SELECT document FROM runs ORDER BY position").fetchall()
            return [self._read_run(database, json.loads(row[0])) for row in rows]

    def _read_run(self, database: sqlite3.Connection, header: dict[str, Any]) -> RunRecord:
        splits = tuple(
            split_from(
                values,
                dict(
                    database.execute(
                        "SELECT name, data FROM arrays WHERE run = ? AND split = ?",
                        (header["id"], k),
                    )
                ),
            )
            for k, values in enumerate(header.pop("splits"))
        )
        experiment = Experiment.from_json(header.pop("experiment"))
        searches = tuple(map(Search.from_json, header.pop("searches", ())))
        return RunRecord(experiment=experiment, splits=splits, searches=searches, **header)

    def take_off(self, experiment: Experiment) -> None:
        """Note that a run is under way, so that a crash can be told at the next start."""
        with self._connected() as database, database:
            database.execute(
                "INSERT OR REPLACE INTO flight VALUES (?, ?)",
                (experiment.id, json.dumps(experiment.as_json())),
            )

    def lost_in_flight(self) -> list[Experiment]:
        """Tell which runs never ended, and forget them."""
        with self._connected() as database, database:
            rows = database.execute("SELECT document FROM flight").fetchall()
            database.execute("DELETE FROM flight")
        return [Experiment.from_json(json.loads(row[0])) for row in rows]

    def plan(self) -> dict[str, Any]:
        """Read the plan; empty in a new project."""
        with self._connected() as database:
            row = database.execute("SELECT document FROM plan WHERE id = 1").fetchone()
        document: dict[str, Any] = {} if row is None else json.loads(row[0])
        return document

    def set_plan(self, document: Mapping[str, Any]) -> None:
        """Replace the plan."""
        with self._connected() as database, database:
            database.execute(
                "INSERT OR REPLACE INTO plan VALUES (1, ?)", (json.dumps(dict(document)),)
            )

    def land(self, experiment: Experiment) -> None:
        """Forget that a run is under way: it ends in another file."""
        with self._connected() as database, database:
            database.execute("DELETE FROM flight WHERE id = ?", (experiment.id,))

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(sqlite3.connect(self.path, timeout=10.0)) as database:
                database.execute("PRAGMA synchronous = FULL")
                yield database
        except sqlite3.DatabaseError as error:
            raise self._explained(error) from error

    def _explained(self, error: sqlite3.DatabaseError) -> InputError:
        text = str(error)
        name = str(self.path)
        if "not a database" in text or "no such table" in text or "malformed" in text:
            return InputError(f"{name} is not an AUC Studio project, or is damaged", file=name)
        return InputError(
            f"cannot read or write the project {name}: {text}; save it in another folder, or free "
            "some space",
            file=name,
        )


def open_or_create(project: str | Path) -> ProjectFile:
    """Open a project file, or make it if it is not there."""
    path = Path(project)
    return ProjectFile.open(path) if path.exists() else ProjectFile.create(path)


def write_project(
    path: str | Path, records: Iterable[RunRecord], plan: Mapping[str, Any]
) -> ProjectFile:
    """Write a project of these runs and this plan; it takes the place of ``path`` once it is whole.

    Raises
    ------
    InputError
        If it cannot be written; what was there stays.
    """
    target = Path(path)
    try:
        with replacing(target) as partial:
            file = ProjectFile.create(partial)
            with file._connected() as database, database:
                for record in records:
                    _insert_run(database, record)
            file.set_plan(plan)
    except (OSError, InputError) as error:
        raise InputError(
            f"cannot save the project as {target}: {_reason(error)}; choose another folder, or "
            "free some space",
            file=str(target),
        ) from error
    return ProjectFile(target)


def _insert_run(database: sqlite3.Connection, record: RunRecord) -> None:
    header = record.header() | {"splits": [split_values(s) for s in record.splits]}
    database.execute(
        "INSERT INTO runs (id, document) VALUES (?, ?)", (record.id, json.dumps(header))
    )
    for k, split in enumerate(record.splits):
        database.executemany(
            "INSERT INTO arrays VALUES (?, ?, ?, ?)",
            [(record.id, k, name, data) for name, data in split_blobs(split)],
        )


def _reason(error: BaseException) -> str:
    cause = error.__cause__ or error
    return getattr(cause, "strerror", None) or str(cause)


def free_id(taken: Container[str], wanted: str) -> str:
    """Give an id that no run has yet: the wanted one, or that with a number."""
    candidate, count = wanted, 1
    while candidate in taken:
        count += 1
        candidate = f"{wanted}-{count}"
    return candidate
