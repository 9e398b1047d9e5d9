"""The project file: a SQLite database with the plan and all finished runs.

A run is committed whole before it is reported, so killing the program loses at most the run in
progress. Each call that writes opens and closes its own connection, and takes the lock before it
reads: calls may come from any thread, and from several programs at once.

The tables are described in :mod:`aucstudio.project.store.project.database`. Arrays may be added
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
from aucstudio.project.store.project.database import (
    FAILURES,
    DamagedError,
    ProjectSource,
    check_format,
    connect,
    empty_project,
    explained,
    has_stale_journal,
    plain,
    seal,
)
from aucstudio.project.store.project.run_documents import run_document
from aucstudio.project.store.project.unfinished_runs import (
    Owner,
    UnfinishedRuns,
    forget_running,
    note_running,
    read_unfinished,
)

if TYPE_CHECKING:
    from aucstudio.project.runs.verification import Verification
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import msgspec

from aucstudio.engine import DECLARED
from aucstudio.project import typed
from aucstudio.project.store.project.database import parse, unseal, write_contents
from aucstudio.project.store.project.run_documents import read_run


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


VERIFICATION, STANDINGS = "verification", "standings"
"""Kinds of documents: what verifying a run found, and the state of a tournament.

Their names begin with the kind and a blank."""

_WHEN_DAMAGED = {
    VERIFICATION: (
        "The results of verifying runs cannot be read: verify them again.",
        "The result of verifying {} is damaged ({}): verify it again.",
    ),
    STANDINGS: (
        "The results of searches for the best model cannot be read; their runs are here.",
        "The result of the search of {} is damaged ({}); its runs are here.",
    ),
}
_MOST_LISTED = 10
# Each is read with what belongs to it.
_ONE_OF_EACH = ("train_rows", "test_rows", "support_pairs", "curve", "trajectory", "model")


class Amounts(msgspec.Struct):
    """Numbers of runs, of the plan's version and of runs in progress."""

    runs: Annotated[int, msgspec.Meta(ge=0, lt=1 << 20)]
    plan: Annotated[int, msgspec.Meta(ge=0)]
    flights: Annotated[int, msgspec.Meta(ge=0)]


class PlanDocument(msgspec.Struct):
    """The plan and how often it was written."""

    version: Annotated[int, msgspec.Meta(ge=0)]
    plan: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class DamagedRun:
    """A run that cannot be shown.

    Attributes
    ----------
    position : int
        Its place among the runs, from 1.
    id, name : str
        Empty where they cannot be read.
    what : str
        What is wrong with it.
    """

    position: int
    id: str
    name: str
    what: str

    @property
    def title(self) -> str:
        """What the run is called in a sentence."""
        known = f"{self.name} ({self.id})" if self.id and self.name else self.id
        return known or f"run {self.position}"


@dataclasses.dataclass(frozen=True)
class Listing:
    """What a project holds.

    Attributes
    ----------
    plan : dict
    plan_version : int
    records : list of RunRecord
        Of the runs whose documents are whole; arrays are read when they are asked for.
    damaged : list of DamagedRun
    notes : list of str
        What else is damaged.
    verifications : dict of str to Verification
        By run.
    standings : dict of str to dict
        Results of searches by name, as plain data.
    """

    plan: dict[str, Any]
    plan_version: int
    records: list[RunRecord]
    damaged: list[DamagedRun]
    notes: list[str]
    verifications: dict[str, Verification] = dataclasses.field(default_factory=dict)
    standings: dict[str, Any] = dataclasses.field(default_factory=dict)

    def warnings(self, path: Path) -> list[str]:
        """Return one sentence for each fault."""
        found = [f"{run.title} is damaged and left out: {run.what}." for run in self.damaged]
        if len(found) > _MOST_LISTED:
            found = [*found[:_MOST_LISTED], f"{len(found) - _MOST_LISTED} more runs are damaged."]
        found += self.notes
        if found:
            found.append(f"aucstudio check {path} --repair saves what can be saved.")
        return found


@dataclasses.dataclass(frozen=True)
class StoredRow:
    """A run as the file holds it.

    Attributes
    ----------
    position : int
    id : str
    data, checksum : bytes or None
        Its document, not parsed, and its checksum; None if they cannot be read.
    problem : str
    """

    position: int
    id: str
    data: Any = None
    checksum: Any = None
    problem: str = ""

    def document(self) -> Any:
        """Read the document.

        Raises
        ------
        ValueError
        """
        if self.problem:
            raise ValueError(self.problem)
        return unseal(self.data, self.checksum, "record", self.position, self.id)


def read_contents(source: ProjectSource) -> Listing:
    """Read everything but arrays.

    Raises
    ------
    InputError
        If it is no project of ours.
    """
    with source.reading() as database:
        notes: list[str] = []
        amounts = read_amounts(database)
        if amounts is None:
            notes.append("The table of contents is damaged: runs may be missing")
        plan: dict[str, Any] = {}
        version = 0
        try:
            plan, version = read_plan(database, amounts)
        except (ValueError, *FAILURES) as error:
            version = 0 if amounts is None else amounts.plan
            notes.append(f"The plan is damaged ({error}); the default plan replaces it.")
        records, damaged = [], []
        for row in rows_of(database, amounts):
            try:
                records.append(read_run(row.document(), row.id, source))
            except ValueError as error:
                name = _name(row, plan)
                damaged.append(DamagedRun(row.position, _shown(row.id), name, str(error)))
        verifications = _documents(database, VERIFICATION, notes, _verification)
        standings = _documents(database, STANDINGS, notes)
    return Listing(plan, version, records, damaged, notes, verifications, standings)


def _documents(
    database: sqlite3.Connection,
    kind: str,
    notes: list[str],
    read: Callable[[str, Any], Any] = lambda _name, document: document,
) -> dict[str, Any]:
    """Read the documents of a kind by name; what is damaged is noted and left out."""
    try:
        rows = database.execute(
            "SELECT substr(name, ?), document, checksum FROM documents "
            "WHERE substr(name, 1, ?) = ?",
            (len(kind) + 2, len(kind) + 1, f"{kind} "),
        ).fetchall()
    except FAILURES:
        notes.append(_WHEN_DAMAGED[kind][0])
        return {}
    kept = {}
    for name, document, found in rows:
        try:
            kept[name] = read(name, unseal(document, found, kind, name))
        except ValueError as error:
            # The name of standings is when the tournament began, and its identity.
            title = _shown(name.split(" ", 1)[0])
            notes.append(_WHEN_DAMAGED[kind][1].format(title, error))
    return kept


def _verification(run: str, document: Any) -> Verification:
    from aucstudio.project.runs.verification import Verification

    verification = Verification.from_json(document)
    if verification.run != run:
        raise ValueError(f"it belongs to another run, {verification.run}")
    return verification


def read_through(record: RunRecord) -> None:
    """Read all of a run once.

    Raises
    ------
    DamagedError
        If some of it is not what was written.
    """
    for split in record.splits:
        for name in _ONE_OF_EACH:
            getattr(split, name)


def read_amounts(database: sqlite3.Connection) -> Amounts | None:
    """Read how much there is; None where it is damaged."""
    try:
        return typed.convert(_document(database, "contents"), Amounts)
    except (ValueError, *FAILURES):
        return None


def read_plan(database: sqlite3.Connection, amounts: Amounts | None) -> tuple[dict[str, Any], int]:
    """Read the plan and its version; empty and 0 in a new project.

    Raises
    ------
    ValueError, sqlite3.Error
        If it is damaged, or missing.
    """
    if not database.execute("SELECT 1 FROM documents WHERE name = 'plan'").fetchone():
        if amounts is not None and amounts.plan:
            raise ValueError("it is missing")
        return {}, 0
    found = typed.convert(_document(database, "plan"), PlanDocument)
    return found.plan, found.version


def rows_of(database: sqlite3.Connection, amounts: Amounts | None) -> Iterator[StoredRow]:
    """Yield every run in order, including those that are missing or cannot be read."""
    count = 0 if amounts is None else amounts.runs
    positions, problem = set(range(1, count + 1)), ""
    try:
        for (position,) in database.execute("SELECT position FROM records"):
            positions.add(position)
    except FAILURES as error:
        problem = f"from here on runs cannot be read ({error})"
    query = "SELECT id, document, checksum FROM records WHERE position = ?"
    for position in sorted(positions):
        try:
            row = database.execute(query, (position,)).fetchone()
        except FAILURES as error:
            yield StoredRow(position, "", problem=f"it cannot be read ({error})")
            continue
        if row is None:
            yield StoredRow(position, "", problem="it is missing")
        else:
            yield StoredRow(position, str(row[0]), row[1], row[2])
    if problem and amounts is None:
        yield StoredRow(max(positions, default=0) + 1, "", problem=problem)


def _document(database: sqlite3.Connection, name: str) -> Any:
    row = database.execute(
        "SELECT document, checksum FROM documents WHERE name = ?", (name,)
    ).fetchone()
    return unseal(*(row or (None, None)), name)


def _name(row: StoredRow, plan: dict[str, Any]) -> str:
    """Find what a damaged run was called, as far as that can be read."""
    looks = plan.get("window", {}).get("looks", {}) if isinstance(plan.get("window"), dict) else {}
    look = looks.get(row.id) if isinstance(looks, dict) else None
    if isinstance(look, dict) and isinstance(look.get("name"), str):
        return _shown(look["name"])
    try:
        experiment = parse(row.data)["experiment"]
        name, method = experiment.get("name", ""), DECLARED.get(experiment["method"])
        return _shown(str(name) or (method.title if method else ""))
    except (ValueError, TypeError, KeyError, AttributeError):
        return ""


def _shown(text: str) -> str:
    return "".join(c if c.isprintable() else "�" for c in text[:80])


def insert_run(
    database: sqlite3.Connection, run: str, document: dict[str, Any], blobs: dict[bytes, bytes]
) -> None:
    """Put a run last."""
    position = _last_position(database) + 1
    sealed = seal(document | {"id": run}, "record", position, run)
    database.execute("INSERT INTO records VALUES (?, ?, ?, ?)", (position, run, *sealed))
    for key, data in blobs.items():
        _put_blob(database, key, data)


def _put_blob(database: sqlite3.Connection, key: bytes, data: bytes) -> None:
    """Store an array under its checksum once; replace one that was damaged there."""
    held = database.execute("SELECT data FROM blobs WHERE checksum = ?", (key,)).fetchone()
    if held is None or held[0] != data:
        database.execute("INSERT OR REPLACE INTO blobs VALUES (?, ?)", (key, data))


def insert_document(
    database: sqlite3.Connection, kind: str, name: str, document: Mapping[str, Any]
) -> None:
    """Write a document of a kind in place of that of the same name."""
    row = (f"{kind} {name}", *seal(dict(document), kind, name))
    database.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", row)


def run_ids(database: sqlite3.Connection) -> set[str]:
    """Return the ids of the runs in a file."""
    return {run for (run,) in database.execute("SELECT id FROM records")}


def _last_position(database: sqlite3.Connection) -> int:
    """Return the place of the last run, even if it is damaged."""
    amounts = read_amounts(database)
    last = database.execute("SELECT max(position) FROM records").fetchone()[0] or 0
    return max(int(last), 0 if amounts is None else amounts.runs)


def plan_of(database: sqlite3.Connection) -> tuple[dict[str, Any], int]:
    """Return the plan and its version; a damaged plan is empty and keeps its version."""
    amounts = read_amounts(database)
    try:
        return read_plan(database, amounts)
    except ValueError:
        return {}, 0 if amounts is None else amounts.plan


def count_anew(database: sqlite3.Connection, plan: int | None = None) -> None:
    """Update the counts after a change."""
    if plan is None:
        amounts = read_amounts(database)
        plan = plan_of(database)[1] if amounts is None else amounts.plan
    write_contents(database, runs=_last_position(database), plan=plan)


_ABSENT = object()


def merged(base: Any, ours: Any, theirs: Any) -> Any:
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
        value = merged(*sides)
        if value is not _ABSENT:
            joined[key] = value
    return joined
