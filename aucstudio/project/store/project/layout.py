"""Database schema of a project file.

``meta`` (the format number), ``documents`` (``plan``, what the window shows and people edit;
``contents``, how much there is, so that nothing can be missing without notice; ``verification`` and
a run, what verifying it found; ``standings`` and a time, the state of a tournament), ``records``
(one run each, in order, with the checksums of its arrays), ``blobs`` (arrays and models by their
checksum), ``flights`` (runs under way). Documents are JSON with a checksum.
"""

from __future__ import annotations

import contextlib
import functools
import sqlite3
from pathlib import Path

from aucstudio.project.errors import InputError
from aucstudio.project.store.project.checksums import seal
from aucstudio.project.store.project.database import not_ours

FORMAT = 1
APPLICATION_ID = 0x41554353  # "AUCS", so that file(1) and we can tell our files from others

_META = "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
_TABLES = (
    _META,
    "CREATE TABLE documents (name TEXT PRIMARY KEY, document BLOB NOT NULL, "
    "checksum BLOB NOT NULL)",
    "CREATE TABLE records (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
    "document BLOB NOT NULL, checksum BLOB NOT NULL)",
    "CREATE TABLE blobs (checksum BLOB PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE TABLE flights (owner TEXT PRIMARY KEY, document BLOB NOT NULL, checksum BLOB NOT NULL)",
)
_MOST_OBJECTS = 32
Objects = frozenset[tuple[str, str, str, str]]


def empty_project() -> bytes:
    """Make the bytes of a project without runs."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.execute("PRAGMA page_size = 4096")
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        _make_tables(database)
        database.execute("INSERT INTO meta VALUES ('format', ?)", (str(FORMAT),))
        write_contents(database, runs=0, plan=0)
        return database.serialize()


def check_format(database: sqlite3.Connection, path: Path) -> None:
    """Refuse what is not a project of this format with exactly its tables.

    Raises
    ------
    InputError
    """
    if database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise not_ours(path)
    objects = _objects(database)
    stated = 0
    if _table("meta", _META) in objects:
        row = database.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
        stated = int(row[0]) if row and str(row[0]).isdecimal() and len(str(row[0])) < 6 else 0
    if stated > FORMAT:
        raise InputError(
            f"{path} was saved by a newer AUC Studio (project format {stated}; this program "
            f"reads up to {FORMAT}): update the program",
            file=str(path),
        )
    if stated != FORMAT or objects != _expected():
        raise not_ours(path)


def write_contents(database: sqlite3.Connection, *, runs: int, plan: int) -> None:
    """Write down how much there is: runs ever added, version of the plan, runs under way."""
    flights = database.execute("SELECT count(*) FROM flights").fetchone()[0]
    sealed = seal({"runs": runs, "plan": plan, "flights": flights}, "contents")
    database.execute("INSERT OR REPLACE INTO documents VALUES ('contents', ?, ?)", sealed)


def _make_tables(database: sqlite3.Connection) -> None:
    for statement in _TABLES:
        database.execute(statement)


def _table(name: str, statement: str) -> tuple[str, str, str, str]:
    return "table", name, name, statement


def _objects(database: sqlite3.Connection) -> Objects:
    rows = database.execute(
        f"SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT {_MOST_OBJECTS}"
    )
    return frozenset(
        (str(kind), str(name), str(of), str(sql or "")) for kind, name, of, sql in rows
    )


@functools.cache
def _expected() -> Objects:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        _make_tables(database)
        return _objects(database)
