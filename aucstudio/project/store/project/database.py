"""Hardened connections to SQLite files."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from aucstudio.project.errors import InputError

_WAIT_SECONDS = 30.0  # for another writer
_WORK_SECONDS = 60.0  # of SQLite's own steps, which for files of ours take a fraction of one
_STEPS = 50_000
_LIMITS = {
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 10_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 32,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 2,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 4,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 10_000,
}
FAILURES = (sqlite3.Error, UnicodeDecodeError)
"""What a connection raises: of a damaged file even its complaints may not be text."""

_NOT_OURS = ("not a database", "no such", "malformed", "encrypted", "unsupported file format")


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
        for limit, most in _LIMITS.items():
            database.setlimit(limit, most)
        database.text_factory = _text
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA mmap_size = 0")
        database.execute("PRAGMA cell_size_check = ON")
        database.execute("PRAGMA synchronous = FULL")
        if not write:
            database.execute("PRAGMA query_only = ON")
        grant(database)
    except BaseException:
        database.close()
        raise
    return database


def has_stale_journal(path: Path) -> bool:
    """Return whether there is a journal that SQLite would play back into a new file."""
    try:
        with open(f"{path}-journal", "rb") as journal:
            return journal.read(1) not in (b"", b"\0")
    except OSError:
        return False


def grant(database: sqlite3.Connection) -> None:
    """Allow the connection a minute of work, after which it is interrupted."""
    end = time.monotonic() + _WORK_SECONDS
    database.set_progress_handler(lambda: time.monotonic() > end, _STEPS)


def explained(path: Path, error: Exception) -> InputError:
    """Make the sentence for a file that SQLite, or what is in it, does not let us read or write."""
    text = str(error)
    if not isinstance(error, sqlite3.Error) or any(words in text for words in _NOT_OURS):
        return not_ours(path)
    if "interrupted" in text:
        return InputError(f"{path} takes too long to read: it is damaged", file=str(path))
    return InputError(
        f"cannot read or write the project {path}: {text}; save it in another folder, or free "
        "some space",
        file=str(path),
    )


def not_ours(path: Path) -> InputError:
    """Make the sentence for a file that is no project."""
    return InputError(
        f"{path} is not an AUC Studio project, or is damaged: aucstudio check reports what "
        "can be saved",
        file=str(path),
    )


def _text(data: bytes) -> str:
    # Damaged text is for its checksum to find, not for the decoder.
    return data.decode(errors="replace")
