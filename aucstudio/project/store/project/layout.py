"""What tables a project file has, by format, and how one format becomes the next.

Format 2: ``meta`` (the format number), ``documents`` (``plan``, what the window shows and people
edit; ``contents``, how much there is, so that nothing can be missing without notice;
``verification`` and a run, what verifying it found, and ``standings`` and a time, how a tournament
stands, both of which earlier programs leave be), ``records``
(one run each, in order, with the checksums of its arrays), ``blobs`` (arrays and models by their
checksum), ``flights`` (runs under way). Documents are JSON with a checksum.

Format 1: the same without checksums: arrays by run, split and name.
"""

from __future__ import annotations

import contextlib
import functools
import sqlite3
from pathlib import Path

from aucstudio.project.errors import InputError
from aucstudio.project.store.project.database import not_ours
from aucstudio.project.store.project.sealed import seal

FORMAT = 2
APPLICATION_ID = 0x41554353  # "AUCS", so that file(1) and we can tell our files from others

_META = "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
_LAYOUTS = {
    1: (
        _META,
        "CREATE TABLE plan (id INTEGER PRIMARY KEY CHECK (id = 1), document TEXT NOT NULL)",
        "CREATE TABLE runs (position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, "
        "document TEXT NOT NULL)",
        "CREATE TABLE arrays (run TEXT NOT NULL REFERENCES runs (id), split INTEGER NOT NULL, "
        "name TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (run, split, name))",
        "CREATE TABLE flight (id TEXT PRIMARY KEY, document TEXT NOT NULL)",
    ),
    2: (
        _META,
        "CREATE TABLE documents (name TEXT PRIMARY KEY, document BLOB NOT NULL, "
        "checksum BLOB NOT NULL)",
        "CREATE TABLE records (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
        "document BLOB NOT NULL, checksum BLOB NOT NULL)",
        "CREATE TABLE blobs (checksum BLOB PRIMARY KEY, data BLOB NOT NULL)",
        "CREATE TABLE flights (owner TEXT PRIMARY KEY, document BLOB NOT NULL, "
        "checksum BLOB NOT NULL)",
    ),
}
_SEQUENCE = (
    "table",
    "sqlite_sequence",
    "sqlite_sequence",
    "CREATE TABLE sqlite_sequence(name,seq)",
)
_MOST_OBJECTS = 32
Objects = frozenset[tuple[str, str, str, str]]


def empty_project() -> bytes:
    """Make the bytes of a project without runs."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.execute("PRAGMA page_size = 4096")
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        make_tables(database, FORMAT)
        database.execute("INSERT INTO meta VALUES ('format', ?)", (str(FORMAT),))
        write_contents(database, runs=0, plan=0)
        return database.serialize()


def format_of(database: sqlite3.Connection, path: Path) -> int:
    """Tell the format of a project; its tables are exactly ours, or it is refused.

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
    # Where format 1 was carried over, SQLite keeps an empty table of its own for good.
    if stated not in _LAYOUTS or objects - {_SEQUENCE} != _expected(stated) - {_SEQUENCE}:
        raise not_ours(path)
    return stated


def write_contents(database: sqlite3.Connection, *, runs: int, plan: int) -> None:
    """Write down how much there is: runs ever added, version of the plan, runs under way."""
    flights = database.execute("SELECT count(*) FROM flights").fetchone()[0]
    sealed = seal({"runs": runs, "plan": plan, "flights": flights}, "contents")
    database.execute("INSERT OR REPLACE INTO documents VALUES ('contents', ?, ?)", sealed)


def make_tables(database: sqlite3.Connection, number: int) -> None:
    """Make the tables of a format that are not there yet."""
    for statement in _LAYOUTS[number]:
        if statement != _META or not database.execute("PRAGMA table_info(meta)").fetchone():
            database.execute(statement)


def _table(name: str, statement: str) -> tuple[str, str, str, str]:
    return "table", name, name, statement


def _objects(database: sqlite3.Connection) -> Objects:
    rows = database.execute(
        f"SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT {_MOST_OBJECTS}"
    )
    # Only blanks may differ: format 1 was written with line breaks.
    return frozenset(
        (
            str(kind),
            str(name),
            str(of),
            " ".join(str(sql or "").split()).replace("( ", "(").replace(" )", ")"),
        )
        for kind, name, of, sql in rows
    )


@functools.cache
def _expected(number: int) -> Objects:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        make_tables(database, number)
        return _objects(database)
