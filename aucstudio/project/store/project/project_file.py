"""The project file: a SQLite database with the plan and all finished runs.

A run is committed whole before it is reported, so killing the program loses at most the run in
progress. Each call that writes opens and closes its own connection, and takes the lock before it
reads: calls may come from any thread, and from several programs at once.

The tables are described in :mod:`aucstudio.project.store.project.layout`. Arrays may be added
without another format number: a program reads those it knows, and does without those that an
earlier one did not write (the stages, and the looks on the way). So may documents: what verifying
a run found is stored separately from its record, which never changes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sqlite3
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.store.files import cannot_write, create_file, replacing
from aucstudio.project.store.project.checksums import DamagedError, plain, seal
from aucstudio.project.store.project.contents import (
    STANDINGS,
    VERIFICATION,
    Listing,
    count_anew,
    insert_document,
    insert_run,
    plan_of,
    read_contents,
    run_ids,
)
from aucstudio.project.store.project.database import FAILURES, connect, explained, has_stale_journal
from aucstudio.project.store.project.layout import check_format, empty_project
from aucstudio.project.store.project.run_documents import run_document
from aucstudio.project.store.project.source import ProjectSource
from aucstudio.project.store.project.unfinished_runs import (
    Owner,
    UnfinishedRuns,
    forget_running,
    note_running,
    read_unfinished,
)

if TYPE_CHECKING:
    from aucstudio.project.runs.verification import Verification


class StalePlanError(InputError):
    """Another program has written the plan since it was last read here."""


class ProjectFile:
    """One ``*.aucproj`` file.

    It knows the plan that it last read or wrote: :meth:`set_plan` refuses to overwrite another's.

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
        self.known_plan: dict[str, Any] = {}
        self._version: int | None = None

    @classmethod
    def create(cls, path: str | Path) -> ProjectFile:
        """Make a new, empty project; the file must not exist."""
        project = cls(path)
        if has_stale_journal(project.path) and not project.path.exists():
            raise InputError(
                f"{path}-journal remains from a deleted project of this name and would change "
                "the new one: delete it, or choose another name",
                file=str(path),
            )
        try:
            create_file(project.path, empty_project())
        except FileExistsError as error:
            raise InputError(f"{path} exists already", file=str(path)) from error
        except OSError as error:
            raise cannot_write(path, error) from error
        project._version = 0
        return project

    @classmethod
    def open(cls, path: str | Path) -> ProjectFile:
        """Open an existing project, after checking that it is one."""
        project = cls(path)
        source = project._source()
        with source.reading():
            pass
        source.close()
        return project

    def _source(self) -> ProjectSource:
        if not self.path.is_file():
            raise InputError(f"there is no project {self.path}", file=str(self.path))
        if os.path.exists(f"{self.path}-journal"):
            self._tidy()
        return ProjectSource(self.path)

    def _tidy(self) -> None:
        """Remove the journal that a killed program left empty; one that counts SQLite plays back.

        A program that writes just now has its journal there too, and is left alone.
        """
        with (
            contextlib.suppress(*FAILURES, InputError),
            contextlib.closing(connect(self.path, write=True)) as database,
        ):
            database.execute("PRAGMA busy_timeout = 0")
            database.execute("BEGIN IMMEDIATE")
            check_format(database, self.path)
            # Of no use to anyone, but it is written: a transaction takes its journal away.
            database.execute("PRAGMA user_version = 0")
            database.execute("COMMIT")

    # ------------------------------------------------------------- runs

    def read(self) -> Listing:
        """Read everything; runs read their arrays when these are asked for."""
        contents = read_contents(self._source())
        self._version, self.known_plan = contents.plan_version, contents.plan
        return contents

    def runs(self) -> list[RunRecord]:
        """Read every run that is not damaged, in the order in which they ended."""
        return read_contents(self._source()).records

    def add_run(self, record: RunRecord) -> RunRecord:
        """Commit a run; it is on disk when this returns.

        Returns
        -------
        record
            The same, with a free id if the project held that experiment already.
        """
        document, blobs = run_document(record)
        with self._writing() as database:
            run = free_id(run_ids(database), record.id)
            insert_run(database, run, document, blobs)
            forget_running(database, [Owner.this().key(record.id)])
            count_anew(database)
        return dataclasses.replace(record, id=run) if run != record.id else record

    def keep_verification(self, verification: Verification) -> None:
        """Keep what verifying a run found, in place of what was found before."""
        with self._writing() as database:
            insert_document(database, VERIFICATION, verification.run, verification.as_json())

    def keep_standings(self, name: str, document: Mapping[str, Any]) -> None:
        """Store the standings of a search, replacing earlier ones of that name."""
        with self._writing() as database:
            insert_document(database, STANDINGS, name, document)

    # ------------------------------------------------------------- runs under way

    def begin_run(self, experiment: Experiment) -> None:
        """Record that this program starts a run, so that an interruption is detected later."""
        with self._writing() as database:
            note_running(database, experiment)
            count_anew(database)

    def forget_run(self, experiment: Experiment) -> None:
        """Forget that this program has a run under way: it ends in another file."""
        self._forget([Owner.this().key(experiment.id)])

    def unfinished_runs(self) -> UnfinishedRuns:
        """Return the runs that never ended, and forget those whose program is gone."""
        source = self._source()
        with source.reading() as database:
            found, gone = read_unfinished(database)
        source.close()
        if gone:
            # A project that cannot be written reports them again the next time.
            with contextlib.suppress(InputError):
                self._forget(gone)
        return found

    def _forget(self, keys: Iterable[str]) -> None:
        with self._writing() as database:
            forget_running(database, keys)
            count_anew(database)

    # ------------------------------------------------------------- the plan

    def plan(self) -> dict[str, Any]:
        """Read the plan; empty in a new project, and where it is damaged."""
        source = self._source()
        with source.reading() as database:
            self.known_plan, self._version = plan_of(database)
        source.close()
        return self.known_plan

    def set_plan(self, document: Mapping[str, Any]) -> None:
        """Replace the plan.

        Raises
        ------
        StalePlanError
            If another program has written it since it was last read or written here.
        """
        with self._writing() as database:
            _, version = plan_of(database)
            if self._version not in (None, version):
                raise StalePlanError(
                    f"another window has changed the plan of {self.path}", file=str(self.path)
                )
            version += 1
            sealed = seal({"version": version, "plan": dict(document)}, "plan")
            database.execute("INSERT OR REPLACE INTO documents VALUES ('plan', ?, ?)", sealed)
            count_anew(database, plan=version)
        self._version, self.known_plan = version, plain(document)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Open a connection that holds the lock, and commit at the end."""
        try:
            with contextlib.closing(connect(self.path, write=True)) as database:
                database.execute("BEGIN IMMEDIATE")
                check_format(database, self.path)
                if database.execute("PRAGMA auto_vacuum").fetchone()[0]:
                    # Never of our making: to write by a damaged header would spread the damage.
                    raise DamagedError(
                        f"{self.path} is damaged: save it under another name", file=str(self.path)
                    )
                yield database
                database.execute("COMMIT")
        except FAILURES as error:
            raise explained(self.path, error) from error


def open_or_create(project: str | Path) -> ProjectFile:
    """Open a project file, or make it if it is not there, at the end of links."""
    path = Path(os.path.realpath(project) if os.path.islink(project) else project)
    if not path.exists():
        try:
            return ProjectFile.create(path)
        except InputError:
            # Another program may have made it just now.
            if not path.exists():
                raise
    return ProjectFile.open(path)


def keep_first_reading(project: str | Path, table: AnyTable) -> None:
    """Keep the notes of a table read by a script, for the window.

    Failures are ignored: a project that cannot be written is reported when a run cannot be saved.
    """
    from aucstudio.project.data.import_choices import FirstReading

    with contextlib.suppress(InputError):
        file = open_or_create(project)
        plan = file.plan()
        if "window" not in plan:
            file.set_plan(plan | {"first_reading": FirstReading.of(table).as_json()})


def write_project(
    path: str | Path,
    records: Iterable[RunRecord],
    plan: Mapping[str, Any],
    verifications: Iterable[Verification] = (),
    standings: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> ProjectFile:
    """Write a project of these runs and this plan; it takes the place of ``path`` once it is whole.

    Raises
    ------
    DamagedError
        If a run cannot be read, which its ``run`` names.
    InputError
        If it cannot be written; what was there stays.
    """
    target = Path(path)
    try:
        with replacing(target) as partial:
            project = ProjectFile.create(partial)
            with project._writing() as database:
                for record in records:
                    insert_run(database, record.id, *run_document(record))
                for found in verifications:
                    insert_document(database, VERIFICATION, found.run, found.as_json())
                for name, document in standings.items():
                    insert_document(database, STANDINGS, name, document)
                count_anew(database)
            project.set_plan(plan)
    except DamagedError:
        raise
    except (OSError, InputError) as error:
        raise InputError(
            f"cannot save the project as {target}: {_reason(error)}; choose another folder, or "
            "free some space",
            file=str(target),
        ) from error
    project.path = target
    return project


def _reason(error: BaseException) -> str:
    cause = error.__cause__ or error
    return getattr(cause, "strerror", None) or str(cause)


def free_id(taken: Container[str], wanted: str) -> str:
    """Return an id that no run has yet: the wanted one, or that with a number."""
    candidate, count = wanted, 1
    while candidate in taken:
        count += 1
        candidate = f"{wanted}-{count}"
    return candidate
