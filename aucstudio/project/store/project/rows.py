"""What is put into the tables of a project, in a transaction that the project file holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from aucstudio.project.runs.verification import Verification
from aucstudio.project.store.project.contents import STANDINGS, VERIFIED, read_amounts, read_plan
from aucstudio.project.store.project.layout import write_contents
from aucstudio.project.store.project.sealed import seal


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


def insert_verification(database: sqlite3.Connection, verification: Verification) -> None:
    """Put what verifying a run found in place of what was found before."""
    run = verification.run
    sealed = seal(verification.as_json(), "verification", run)
    row = (f"{VERIFIED}{run}", *sealed)
    database.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", row)


def insert_standings(database: sqlite3.Connection, name: str, document: Mapping[str, Any]) -> None:
    """Put how a tournament stands in place of how it stood."""
    row = (f"{STANDINGS}{name}", *seal(dict(document), "standings", name))
    database.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", row)


class Ids:
    """The ids of the runs in a file, looked up one by one."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def __contains__(self, run: object) -> bool:
        query = "SELECT 1 FROM records WHERE id = ?"
        return self._database.execute(query, (run,)).fetchone() is not None


def _last_position(database: sqlite3.Connection) -> int:
    """Give the place of the last run, be it lost by damage."""
    amounts = read_amounts(database)
    last = database.execute("SELECT max(position) FROM records").fetchone()[0] or 0
    return max(int(last), 0 if amounts is None else amounts.runs)


def plan_of(database: sqlite3.Connection) -> tuple[dict[str, Any], int]:
    """Give the plan and its version; a damaged plan is empty, and keeps its place in the count."""
    amounts = read_amounts(database)
    try:
        return read_plan(database, amounts)
    except ValueError:
        return {}, 0 if amounts is None else amounts.plan


def count_anew(database: sqlite3.Connection, plan: int | None = None) -> None:
    """Write down how much there is, after a change."""
    if plan is None:
        amounts = read_amounts(database)
        plan = plan_of(database)[1] if amounts is None else amounts.plan
    write_contents(database, runs=_last_position(database), plan=plan)
