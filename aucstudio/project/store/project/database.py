"""The SQLite database of a project: hardened connections, tables and checksums.

``meta`` (the format number), ``documents`` (``plan``, what the window shows and people edit;
``contents``, how much there is, so that nothing can be missing without notice; ``verification`` and
a run, what verifying it found; ``standings`` and a time, the state of a tournament), ``records``
(one run each, in order, with the checksums of its arrays), ``blobs`` (arrays and models by their
checksum), ``flights`` (runs under way). Documents are JSON.

A checksum is 16 bytes of BLAKE2b: it finds every change, however small or large (a CRC is made
for a few flipped bits in a row), at a gigabyte a second. That of a document covers its place too,
so that a row in another's place is found; arrays go by their checksum, so that runs on the same
rows share them.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any

from aucstudio.project.errors import InputError, input_error
from aucstudio.project.scratch import BoundedCache

FORMAT = 1
APPLICATION_ID = 0x41554353  # "AUCS", so that file(1) and we can tell our files from others
FAILURES = (sqlite3.Error, UnicodeDecodeError)
"""What a connection raises: of a damaged file even its complaints may not be text."""
SIZE = 16  # bytes of a checksum
MOST_BYTES = 64 << 20  # of one document

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
_WAIT_SECONDS = 30.0  # for another writer
_WORK_SECONDS = 60.0  # of SQLite's own steps, which for files of ours take a fraction of one
_STEPS = 50_000
_NOT_OURS = ("not a database", "no such", "malformed", "encrypted", "unsupported file format")
_CACHE_BYTES = 512 << 20

Objects = frozenset[tuple[str, str, str, str]]


class DamagedError(InputError):
    """A part of a file is not what was written.

    Attributes
    ----------
    run : str
        Id of the run it belongs to; empty where it is of no run.
    """

    def __init__(self, message: str, *, file: str | None = None, run: str = "") -> None:
        super().__init__(message, file=file)
        self.run = run


# ----------------------------------------------------------------- documents


def checksum(data: bytes, *place: object) -> bytes:
    """Compute the checksum of bytes in their place."""
    digest = hashlib.blake2b(digest_size=SIZE)
    if place:
        digest.update(json.dumps(place).encode() + b"\0")
    digest.update(data)
    return digest.digest()


def seal(value: Any, *place: object) -> tuple[bytes, bytes]:
    """Write plain data as the bytes of a document, and their checksum."""
    data = json.dumps(value).encode()
    return data, checksum(data, *place)


def unseal(data: object, found: object, *place: object) -> Any:
    """Read what :func:`seal` wrote.

    Raises
    ------
    ValueError
        If it is not what was written, or its size or depth is out of bounds.
    """
    if not isinstance(data, bytes) or len(data) > MOST_BYTES or checksum(data, *place) != found:
        raise ValueError("it does not match its checksum")
    return parse(data)


def parse(data: bytes | str) -> Any:
    """Read JSON of bounded depth; ValueError if it is invalid."""
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def as_stored(value: Any) -> Any:
    """Return plain data as it comes back from a document: tuples as lists, keys as text."""
    return json.loads(json.dumps(value))


# ----------------------------------------------------------------- connections


def connect(path: Path, *, write: bool = False) -> sqlite3.Connection:
    """Open an existing file; nothing that is stored in it as SQL is trusted or run.

    The connection is in autocommit mode, and may be used from any thread, one at a time.

    Raises
    ------
    sqlite3.Error
    """
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=_WAIT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        # Damaged text is for its checksum to find, not for the decoder.
        database.text_factory = lambda data: data.decode(errors="replace")
        for setting in ("trusted_schema = OFF", "cell_size_check = ON", "synchronous = FULL"):
            database.execute(f"PRAGMA {setting}")
        if not write:
            database.execute("PRAGMA query_only = ON")
        grant(database)
    except BaseException:
        database.close()
        raise
    return database


def grant(database: sqlite3.Connection) -> None:
    """Allow the connection a minute of work, after which it is interrupted."""
    end = time.monotonic() + _WORK_SECONDS
    database.set_progress_handler(lambda: time.monotonic() > end, _STEPS)


def has_stale_journal(path: Path) -> bool:
    """Return whether there is a journal that SQLite would play back into a new file."""
    try:
        with open(f"{path}-journal", "rb") as journal:
            return journal.read(1) not in (b"", b"\0")
    except OSError:
        return False


@contextlib.contextmanager
def explained_errors(
    path: Path, errors: tuple[type[Exception], ...] = (Exception,)
) -> Iterator[None]:
    """Turn errors of reading or writing a file into an InputError."""
    try:
        yield
    except InputError:
        raise
    except errors as error:
        text = str(error)
        if not isinstance(error, sqlite3.Error) or any(words in text for words in _NOT_OURS):
            raise input_error("project_invalid", file=path) from error
        code = "project_endless" if "interrupted" in text else "project_inaccessible"
        raise input_error(code, file=path, reason=text) from error


# ----------------------------------------------------------------- tables


def empty_project() -> bytes:
    """Make the bytes of a project without runs."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.execute("PRAGMA page_size = 4096")
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for statement in _TABLES:
            database.execute(statement)
        database.execute("INSERT INTO meta VALUES ('format', ?)", (str(FORMAT),))
        write_contents(database, runs=0, plan=0)
        return database.serialize()


def write_contents(database: sqlite3.Connection, *, runs: int, plan: int) -> None:
    """Write down how much there is: runs ever added, and the version of the plan."""
    sealed = seal({"runs": runs, "plan": plan}, "contents")
    database.execute("INSERT OR REPLACE INTO documents VALUES ('contents', ?, ?)", sealed)


def check_tables(database: sqlite3.Connection, path: Path) -> None:
    """Refuse what is not a project of this format with exactly its tables.

    Raises
    ------
    InputError
    """
    if database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise input_error("project_invalid", file=path)
    objects = _objects(database)
    stated = 0
    if ("table", "meta", "meta", _META) in objects:
        row = database.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
        stated = int(row[0]) if row and str(row[0]).isdecimal() and len(str(row[0])) < 6 else 0
    if stated > FORMAT:
        raise input_error("project_newer", file=path, stated=stated, known=FORMAT)
    if stated != FORMAT or objects != _expected():
        raise input_error("project_invalid", file=path)


def _objects(database: sqlite3.Connection) -> Objects:
    rows = database.execute(
        f"SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT {_MOST_OBJECTS}"
    )
    return frozenset(
        (str(kind), str(name), str(of), str(sql or "")) for kind, name, of, sql in rows
    )


@functools.cache
def _expected() -> Objects:
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(empty_project())
        return _objects(database)


# ----------------------------------------------------------------- stored runs

shared_cache = BoundedCache(_CACHE_BYTES)


class ProjectSource:
    """One open project file.

    Its connection stays open as long as a run refers to it: what is read later is of this very
    file, even if another one takes its name meanwhile, or it is deleted.

    Parameters
    ----------
    path : Path
    cache : BoundedCache, optional
        Where what was read is kept; by default that of the whole program.

    Raises
    ------
    InputError
        By every method.
    """

    def __init__(self, path: Path, cache: BoundedCache | None = None) -> None:
        self.path = path
        self._cache = shared_cache if cache is None else cache
        self._lock = threading.RLock()
        with explained_errors(path):
            self._database = connect(path)
        self.close = weakref.finalize(self, self._database.close)

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction, which reads one state of the file."""
        with self._lock, explained_errors(self.path):
            grant(self._database)
            self._database.execute("BEGIN")
            try:
                check_tables(self._database, self.path)
                yield self._database
            finally:
                self._database.execute("ROLLBACK")

    def value(self, key: bytes, make: Callable[[bytes], tuple[Any, int]]) -> Any:
        """Return what ``make`` makes of the bytes under a key; kept for a while.

        Raises
        ------
        ValueError
            If the bytes are not there, or not those that were written.
        """
        return self.remembered((key, make), lambda: make(self.blob(key)))

    def remembered(self, key: Hashable, make: Callable[[], tuple[Any, int]]) -> Any:
        """Return what ``make`` builds, with its size; kept for a while."""
        value = self._cache.get(key)
        if value is None:
            value, size = make()
            self._cache.put(key, value, size)
        return value

    def blob(self, key: bytes) -> bytes:
        """Read the bytes of a checksum."""
        with self._lock:
            grant(self._database)
            query = "SELECT data FROM blobs WHERE checksum = ?"
            try:
                row = self._database.execute(query, (key,)).fetchone()
            except FAILURES as error:
                raise ValueError(f"it cannot be read ({error})") from error
        if row is None:
            raise ValueError("it is missing")
        if not isinstance(row[0], bytes) or checksum(row[0]) != key:
            raise ValueError("it does not match its checksum")
        return row[0]
