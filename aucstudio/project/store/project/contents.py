"""Read all parts of a project file, each on its own."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from aucstudio.engine import DECLARED
from aucstudio.project import typed
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.store.project.checksums import parse, seal, unseal
from aucstudio.project.store.project.database import FAILURES
from aucstudio.project.store.project.layout import write_contents
from aucstudio.project.store.project.run_documents import read_run
from aucstudio.project.store.project.source import ProjectSource

if TYPE_CHECKING:
    from aucstudio.project.runs.verification import Verification

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
