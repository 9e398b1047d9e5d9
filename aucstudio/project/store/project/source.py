"""Where a project's runs are read from: an open connection, and the arrays read lately."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any

from aucstudio.project.errors import InputError
from aucstudio.project.store.project.database import FAILURES, connect, explained, grant
from aucstudio.project.store.project.layout import format_of
from aucstudio.project.store.project.sealed import checksum, unseal

Key = bytes | tuple[str, int, str]
"""A checksum; in format 1 run, split and name."""

_SHELF_BYTES = 512 << 20


class Shelf:
    """Values read lately, up to so many bytes.

    Parameters
    ----------
    most : int
    """

    def __init__(self, most: int) -> None:
        self._most, self._bytes = most, 0
        self._held: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any:
        """Give a value, or None."""
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def put(self, key: Hashable, value: Any, size: int) -> None:
        """Keep a value, in place of those that were not asked for longest."""
        with self._lock:
            self._bytes += size - self._held.pop(key, (None, 0))[1]
            self._held[key] = value, size
            while self._bytes > self._most and len(self._held) > 1:
                self._bytes -= self._held.popitem(last=False)[1][1]


_shelf = Shelf(_SHELF_BYTES)


class ProjectSource:
    """One open project file.

    Its connection stays open as long as a run refers to it: what is read later is of this very
    file, even if another one takes its name meanwhile, or it is deleted.

    Parameters
    ----------
    path : Path
    shelf : Shelf, optional
        Where what was read is kept; by default that of the whole program.

    Raises
    ------
    InputError
        By every method.
    """

    def __init__(self, path: Path, shelf: Shelf | None = None) -> None:
        self.path = path
        self._shelf = _shelf if shelf is None else shelf
        # Unlike the number of this object, it is never that of a later one.
        self._mark = object()
        self._lock = threading.RLock()
        with told(path):
            self._database = connect(path)
        self.close = weakref.finalize(self, self._database.close)

    @contextlib.contextmanager
    def reading(self) -> Iterator[tuple[sqlite3.Connection, int]]:
        """Give the connection, which sees one state of the file, and the format of that."""
        with self._lock, told(self.path):
            grant(self._database)
            self._database.execute("BEGIN")
            try:
                yield self._database, format_of(self._database, self.path)
            finally:
                self._database.execute("ROLLBACK")

    def value(self, key: Key, make: Callable[[bytes], tuple[Any, int]]) -> Any:
        """Give what ``make`` makes of the bytes under a key, with its size; kept for a while.

        Raises
        ------
        ValueError
            If the bytes are not there, or not those that were written.
        """
        place = key if isinstance(key, bytes) else (self._mark, key)
        value = self._shelf.get((place, make))
        if value is None:
            value, size = make(self.blob(key))
            self._shelf.put((place, make), value, size)
        return value

    def blob(self, key: Key) -> bytes:
        """Read the bytes under a key."""
        with self._lock:
            grant(self._database)
            try:
                if isinstance(key, tuple):
                    with contextlib.suppress(sqlite3.OperationalError):
                        return self._checked(_ARRAY, key)
                    key = self._moved(*key)
                data = self._checked("SELECT data FROM blobs WHERE checksum = ?", (key,))
            except FAILURES as error:
                raise ValueError(f"it cannot be read ({error})") from error
        if checksum(data) != key:
            raise ValueError("it does not match its checksum")
        return data

    def _checked(self, query: str, key: tuple[Any, ...]) -> bytes:
        row = self._database.execute(query, key).fetchone()
        if row is None or not isinstance(row[0], bytes):
            raise ValueError("it is missing")
        return row[0]

    def _moved(self, run: str, k: int, name: str) -> bytes:
        """Find an array again in a project that was carried to format 2 meanwhile."""
        position, document, found = self._database.execute(
            "SELECT position, document, checksum FROM records WHERE id = ?", (run,)
        ).fetchone() or (0, None, None)
        header = unseal(document, found, "record", position, run)
        return bytes.fromhex(header["splits"][k]["parts"][name])


_ARRAY = "SELECT data FROM arrays WHERE run = ? AND split = ? AND name = ?"


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong with a file of a stranger into a sentence.

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
