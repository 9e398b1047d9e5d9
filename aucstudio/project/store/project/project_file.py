"""The project file: a SQLite database with the plan and all finished runs.

A run is committed whole before it is reported, so killing the program loses at most the run in
progress. Each call that writes opens and closes its own connection, and takes the lock before it
reads: calls may come from any thread, and from several programs at once.

The tables are described in :mod:`aucstudio.project.store.project.database`. Arrays may be added
without another format number: a program reads those it knows. So may documents: what verifying a
run found is stored separately from its record, which never changes.
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

from aucstudio.notices import text
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.store.files import cannot_write, create_file, replacing
from aucstudio.project.store.project.contents import (
    STANDINGS,
    VERIFICATION,
    Listing,
    insert_document,
    insert_plan,
    insert_run,
    read_contents,
    read_stored_plan,
    update_contents,
)
from aucstudio.project.store.project.database import (
    FAILURES,
    DamagedError,
    ProjectSource,
    as_stored,
    check_tables,
    connect,
    empty_project,
    explained_errors,
    has_stale_journal,
)
from aucstudio.project.store.project.unfinished_runs import (
    Owner,
    UnfinishedRuns,
    forget_running,
    note_running,
    read_unfinished,
)

if TYPE_CHECKING:
    from aucstudio.project.runs.verification import Verification

_ABSENT = object()


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
            raise input_error("journal_remains", file=path)
        try:
            create_file(project.path, empty_project())
        except FileExistsError as error:
            raise input_error("file_exists", file=path) from error
        except OSError as error:
            raise cannot_write(path, error) from error
        project._version = 0
        return project

    @classmethod
    def open(cls, path: str | Path) -> ProjectFile:
        """Open an existing project, after checking that it is one."""
        project = cls(path)
        with project._reading():
            return project

    def _source(self) -> ProjectSource:
        if not self.path.is_file():
            raise input_error("project_absent", file=self.path)
        return ProjectSource(self.path)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        source = self._source()
        with contextlib.closing(source), source.reading() as database:
            yield database

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
        key = Owner.this().key(record.id)
        with self._writing() as database:
            taken = {run for (run,) in database.execute("SELECT id FROM records")}
            run = free_id(taken, record.id)
            record = dataclasses.replace(record, id=run) if run != record.id else record
            insert_run(database, record)
            forget_running(database, [key])
            update_contents(database)
        return record

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

    def forget_run(self, experiment: Experiment) -> None:
        """Forget that this program has a run under way: it ends in another file."""
        with self._writing() as database:
            forget_running(database, [Owner.this().key(experiment.id)])

    def unfinished_runs(self) -> UnfinishedRuns:
        """Return the runs that never ended, and forget those whose program is gone."""
        with self._reading() as database:
            found, gone = read_unfinished(database)
        if gone:
            # A project that cannot be written reports them again the next time.
            with contextlib.suppress(InputError), self._writing() as database:
                forget_running(database, gone)
        return found

    # ------------------------------------------------------------- the plan

    def plan(self) -> dict[str, Any]:
        """Read the plan; empty in a new project, and where it is damaged."""
        with self._reading() as database:
            found = read_stored_plan(database)
        self.known_plan, self._version = found.plan, found.version
        return self.known_plan

    def set_plan(self, document: Mapping[str, Any]) -> None:
        """Replace the plan.

        Raises
        ------
        StalePlanError
            If another program has written it since it was last read or written here.
        """
        with self._writing() as database:
            version = read_stored_plan(database).version
            if self._version not in (None, version):
                sentence = text("plan_changed_elsewhere", file=self.path)
                raise StalePlanError(sentence, file=str(self.path))
            version += 1
            insert_plan(database, version, document)
        self._version, self.known_plan = version, as_stored(document)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Open a connection that holds the lock, and commit at the end."""
        with (
            explained_errors(self.path, FAILURES),
            contextlib.closing(connect(self.path, write=True)) as database,
        ):
            database.execute("BEGIN IMMEDIATE")
            check_tables(database, self.path)
            if database.execute("PRAGMA auto_vacuum").fetchone()[0]:
                # Never of our making: to write by a damaged header would spread the damage.
                raise DamagedError(text("project_damaged", file=self.path), file=str(self.path))
            yield database
            database.execute("COMMIT")


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
                    insert_run(database, record)
                for found in verifications:
                    insert_document(database, VERIFICATION, found.run, found.as_json())
                for name, document in standings.items():
                    insert_document(database, STANDINGS, name, document)
                insert_plan(database, 1, plan)
    except DamagedError:
        raise
    except (OSError, InputError) as error:
        cause = error.__cause__ or error
        reason = getattr(cause, "strerror", None) or str(cause)
        raise input_error("project_not_saved", file=target, reason=reason) from error
    project.path, project._version, project.known_plan = target, 1, as_stored(plan)
    return project


def free_id(taken: Container[str], wanted: str) -> str:
    """Return an id that no run has yet: the wanted one, or that with a number."""
    candidate, count = wanted, 1
    while candidate in taken:
        count += 1
        candidate = f"{wanted}-{count}"
    return candidate


def merged_plans(base: Any, ours: Any, theirs: Any) -> Any:
    """Join two plans that both came from ``base``; where both changed the same thing, ours stays.

    Plain data: what one side changed, added or took away is as that side has it.
    """
    if ours == base:
        return theirs
    if theirs == base or not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return ours
    known = base if isinstance(base, dict) else {}
    joined = {}
    for key in {**theirs, **ours}:
        sides = (known.get(key, _ABSENT), ours.get(key, _ABSENT), theirs.get(key, _ABSENT))
        value = merged_plans(*sides)
        if value is not _ABSENT:
            joined[key] = value
    return joined
