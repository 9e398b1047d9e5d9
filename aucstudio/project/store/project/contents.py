"""The parts of a project file: each is read on its own, so that damage to one leaves the others."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from aucstudio.notices import text
from aucstudio.project import typed
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.store.project.database import (
    FAILURES,
    ProjectSource,
    seal,
    unseal,
    write_contents,
)
from aucstudio.project.store.project.run_documents import read_run, run_document

if TYPE_CHECKING:
    from aucstudio.project.runs.verification import Verification

VERIFICATION, STANDINGS = "verification", "standings"
"""Kinds of documents: what verifying a run found, and the state of a tournament.

Their names begin with the kind and a blank."""

_MOST_LISTED = 10


class Amounts(msgspec.Struct):
    """Numbers of runs and of the plan's version."""

    runs: Annotated[int, msgspec.Meta(ge=0, lt=1 << 20)] = 0
    plan: Annotated[int, msgspec.Meta(ge=0)] = 0


class PlanDocument(msgspec.Struct):
    """The plan and how often it was written."""

    version: Annotated[int, msgspec.Meta(ge=0)] = 0
    plan: dict[str, Any] = {}


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
    verifications: dict[str, Verification]
    standings: dict[str, Any]

    def warnings(self, path: Path) -> list[str]:
        """Return one sentence for each fault."""
        found = [text("run_damaged", run=run.title, what=run.what) for run in self.damaged]
        if len(found) > _MOST_LISTED:
            more = text("more_runs_damaged", count=len(found) - _MOST_LISTED)
            found = [*found[:_MOST_LISTED], more]
        found += self.notes
        return [*found, text("project_repair", file=path)] if found else []


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
            notes.append(text("contents_damaged"))
        try:
            found = _plan_document(database, amounts)
        except (ValueError, *FAILURES) as error:
            found = PlanDocument(0 if amounts is None else amounts.plan)
            notes.append(text("plan_damaged", reason=error))
        records, damaged = _read_runs(database, amounts, source, found.plan)
        verifications = _documents(database, VERIFICATION, notes, _verification)
        standings = _documents(database, STANDINGS, notes)
    return Listing(found.plan, found.version, records, damaged, notes, verifications, standings)


def _documents(
    database: sqlite3.Connection,
    kind: str,
    notes: list[str],
    read: Callable[[str, Any], Any] = lambda _name, document: document,
) -> dict[str, Any]:
    """Read the documents of a kind by name; what is damaged is noted and left out."""
    query = "SELECT name, document, checksum FROM documents WHERE name LIKE ?"
    try:
        rows = database.execute(query, (f"{kind} %",)).fetchall()
    except FAILURES:
        notes.append(text("documents_damaged", kind=kind))
        return {}
    kept = {}
    for title, document, found in rows:
        name = title.removeprefix(f"{kind} ")
        try:
            kept[name] = read(name, unseal(document, found, kind, name))
        except ValueError as error:
            # The name of standings is when the tournament began, and its identity.
            what = _shown(name.split(" ", 1)[0])
            notes.append(text("document_damaged", kind=kind, what=what, reason=error))
    return kept


def _verification(run: str, document: Any) -> Verification:
    from aucstudio.project.runs.verification import Verification

    verification = Verification.from_json(document)
    if verification.run != run:
        raise ValueError(f"it belongs to another run, {verification.run}")
    return verification


def read_amounts(database: sqlite3.Connection) -> Amounts | None:
    """Read how much there is; None where it is damaged."""
    try:
        return typed.convert(_document(database, "contents"), Amounts)
    except (ValueError, *FAILURES):
        return None


def _plan_document(database: sqlite3.Connection, amounts: Amounts | None) -> PlanDocument:
    if not database.execute("SELECT 1 FROM documents WHERE name = 'plan'").fetchone():
        if amounts is not None and amounts.plan:
            raise ValueError("it is missing")
        return PlanDocument()
    return typed.convert(_document(database, "plan"), PlanDocument)


def read_stored_plan(database: sqlite3.Connection) -> PlanDocument:
    """Read the plan and its version; a damaged plan is empty and keeps its version."""
    amounts = read_amounts(database)
    try:
        return _plan_document(database, amounts)
    except ValueError:
        return PlanDocument(0 if amounts is None else amounts.plan)


def _document(database: sqlite3.Connection, name: str) -> Any:
    query = "SELECT document, checksum FROM documents WHERE name = ?"
    return unseal(*(database.execute(query, (name,)).fetchone() or (None, None)), name)


def _read_runs(
    database: sqlite3.Connection,
    amounts: Amounts | None,
    source: ProjectSource,
    plan: dict[str, Any],
) -> tuple[list[RunRecord], list[DamagedRun]]:
    """Read every run that was ever added, and return what is wrong with those that are damaged."""
    positions = set(range(1, 1 + (0 if amounts is None else amounts.runs)))
    records, damaged = list[RunRecord](), list[DamagedRun]()
    problem = ""
    try:
        for (position,) in database.execute("SELECT position FROM records"):
            positions.add(position)
    except FAILURES as error:
        problem = f"from here on runs cannot be read ({error})"
    for position in sorted(positions):
        run = ""
        try:
            run, document, found = _row_of_run(database, position)
            records.append(read_run(unseal(document, found, "record", position, run), run, source))
        except ValueError as error:
            damaged.append(DamagedRun(position, _shown(run), _name_in(plan, run), str(error)))
    if problem and amounts is None:
        damaged.append(DamagedRun(max(positions, default=0) + 1, "", "", problem))
    return records, damaged


def _row_of_run(database: sqlite3.Connection, position: int) -> tuple[str, object, object]:
    """Return id, document and checksum of the run at a place; ValueError if it has none."""
    query = "SELECT id, document, checksum FROM records WHERE position = ?"
    try:
        row = database.execute(query, (position,)).fetchone()
    except FAILURES as error:
        raise ValueError(f"it cannot be read ({error})") from error
    if row is None:
        raise ValueError("it is missing")
    return str(row[0]), row[1], row[2]


def _name_in(plan: dict[str, Any], run: str) -> str:
    """Return what the plan calls a run; empty where it has no name."""
    found: Any = plan
    for key in ("window", "looks", run, "name"):
        found = found.get(key) if isinstance(found, dict) else None
    return _shown(found) if isinstance(found, str) else ""


def _shown(name: str) -> str:
    return "".join(c if c.isprintable() else "�" for c in name[:80])


def insert_run(database: sqlite3.Connection, record: RunRecord) -> None:
    """Put a run last."""
    document, blobs = run_document(record)
    position = _last_position(database) + 1
    sealed = seal(document, "record", position, record.id)
    database.execute("INSERT INTO records VALUES (?, ?, ?, ?)", (position, record.id, *sealed))
    for key, data in blobs.items():
        # An array is there once; one that was damaged is replaced.
        held = database.execute("SELECT data FROM blobs WHERE checksum = ?", (key,)).fetchone()
        if held is None or held[0] != data:
            database.execute("INSERT OR REPLACE INTO blobs VALUES (?, ?)", (key, data))


def insert_document(
    database: sqlite3.Connection, kind: str, name: str, document: Mapping[str, Any]
) -> None:
    """Write a document of a kind in place of that of the same name."""
    row = (f"{kind} {name}", *seal(dict(document), kind, name))
    database.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", row)


def insert_plan(database: sqlite3.Connection, version: int, plan: Mapping[str, Any]) -> None:
    """Write the plan."""
    sealed = seal({"version": version, "plan": dict(plan)}, "plan")
    database.execute("INSERT OR REPLACE INTO documents VALUES ('plan', ?, ?)", sealed)
    update_contents(database, version)


def update_contents(database: sqlite3.Connection, plan: int | None = None) -> None:
    """Update the counts after a change."""
    if plan is None:
        plan = (read_amounts(database) or Amounts(0, read_stored_plan(database).version)).plan
    write_contents(database, runs=_last_position(database), plan=plan)


def _last_position(database: sqlite3.Connection) -> int:
    """Return the place of the last run, even if it is damaged."""
    last = database.execute("SELECT max(position) FROM records").fetchone()[0] or 0
    return max(int(last), (read_amounts(database) or Amounts()).runs)
