"""Source of stored runs: a connection and recently read arrays."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import weakref
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any

from aucstudio.project.bounded_cache import BoundedCache
from aucstudio.project.errors import InputError
from aucstudio.project.store.project.checksums import checksum
from aucstudio.project.store.project.database import FAILURES, connect, explained, grant
from aucstudio.project.store.project.layout import check_format

_CACHE_BYTES = 512 << 20


_cache = BoundedCache(_CACHE_BYTES)


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
        self._cache = _cache if cache is None else cache
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
                check_format(self._database, self.path)
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
        value = self._cache.get((key, make))
        if value is None:
            value, size = make(self.blob(key))
            self._cache.put((key, make), value, size)
        return value

    def remembered(self, key: Hashable, make: Callable[[], tuple[Any, int]]) -> Any:
        """Return what ``make`` builds of several values, with its size; kept for a while."""
        value = self._cache.get(key)
        if value is None:
            value, size = make()
            self._cache.put(key, value, size)
        return value

    def blob(self, key: bytes) -> bytes:
        """Read the bytes of a checksum."""
        with self._lock:
            grant(self._database)
            try:
                row = self._database.execute(
                    "SELECT data FROM blobs WHERE checksum = ?", (key,)
                ).fetchone()
            except FAILURES as error:
                raise ValueError(f"it cannot be read ({error})") from error
        if row is None or not isinstance(row[0], bytes):
            raise ValueError("it is missing")
        if checksum(row[0]) != key:
            raise ValueError("it does not match its checksum")
        return row[0]


@contextlib.contextmanager
def explained_errors(path: Path) -> Iterator[None]:
    """Turn any error of reading a file into one sentence.

    Raises
    ------
    InputError
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, InputError):
            raise
        raise explained(path, error) from error
