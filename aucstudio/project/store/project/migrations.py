"""How a project of one format becomes one of the next, inside a transaction."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from aucstudio.project.store.arrays import array_from_bytes
from aucstudio.project.store.project.layout import make_tables, write_contents
from aucstudio.project.store.project.sealed import SIZE, checksum, parse, seal

_UNREADABLE = bytes(SIZE)  # a checksum that nothing has


def bring_up_to_date(database: sqlite3.Connection, found: int) -> None:
    """Carry a project from the format found to the present one; a transaction must be open."""
    for number, migrate in enumerate(_MIGRATIONS[found - 1 :], start=found + 1):
        migrate(database)
        database.execute("UPDATE meta SET value = ? WHERE name = 'format'", (str(number),))


def put_blob(database: sqlite3.Connection, key: bytes, data: bytes) -> None:
    """Store an array under its checksum, once; one that was damaged there is mended."""
    held = database.execute("SELECT data FROM blobs WHERE checksum = ?", (key,)).fetchone()
    if held is None or held[0] != data:
        database.execute("INSERT OR REPLACE INTO blobs VALUES (?, ?)", (key, data))


def _to_2(database: sqlite3.Connection) -> None:
    """Give every document and array a checksum; store arrays by it."""
    make_tables(database, 2)
    rows = database.execute("SELECT id, document FROM runs ORDER BY position").fetchall()
    for position, (run, document) in enumerate(rows, start=1):
        sealed = _sealed_record(database, position, run, document)
        database.execute("INSERT INTO records VALUES (?, ?, ?, ?)", (position, run, *sealed))
    plan = database.execute("SELECT document FROM plan WHERE id = 1").fetchone()
    version = 0
    # A plan or a flight that cannot be read was told of when it was read, and begins anew.
    with contextlib.suppress(ValueError):
        if plan is not None:
            sealed = seal({"version": 1, "plan": parse(plan[0])}, "plan")
            database.execute("INSERT INTO documents VALUES ('plan', ?, ?)", sealed)
            version = 1
    for run, document in database.execute("SELECT id, document FROM flight").fetchall():
        with contextlib.suppress(ValueError):
            sealed = seal({"experiment": parse(document), "owner": None}, "flight", run)
            database.execute("INSERT INTO flights VALUES (?, ?, ?)", (run, *sealed))
    for table in ("arrays", "runs", "plan", "flight"):
        database.execute(f"DROP TABLE {table}")
    write_contents(database, runs=len(rows), plan=version)


def _sealed_record(
    database: sqlite3.Connection, position: int, run: str, document: str
) -> tuple[bytes, bytes]:
    try:
        header = parse(document)
        for k, split in enumerate(header["splits"]):
            split.update(_moved_arrays(database, run, k))
    except (ValueError, TypeError, KeyError, AttributeError):
        # What cannot be read is kept as it is, and goes on being listed as damaged.
        return str(document).encode(), _UNREADABLE
    return seal(header, "record", position, run)


def _moved_arrays(database: sqlite3.Connection, run: str, k: int) -> Mapping[str, Any]:
    place = "FROM arrays WHERE run = ? AND split = ?"
    names = [row[0] for row in database.execute(f"SELECT name {place}", (run, k))]
    parts, counts = {}, {}
    for name in names:
        (data,) = database.execute(f"SELECT data {place} AND name = ?", (run, k, name)).fetchone()
        # One at a time goes over: its pages are used again, and the file hardly grows.
        database.execute(f"DELETE {place} AND name = ?", (run, k, name))
        key = checksum(data)
        put_blob(database, key, data)
        parts[name] = key.hex()
        if name in ("train_rows", "test_rows"):
            counts[name] = len(array_from_bytes(data))
    return {"n_train": counts["train_rows"], "n_test": counts["test_rows"], "parts": parts}


_MIGRATIONS: list[Callable[[sqlite3.Connection], None]] = [_to_2]
