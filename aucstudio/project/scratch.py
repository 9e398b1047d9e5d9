"""Temporary storage of a process: folders, and a cache of bounded size.

The folders of a process are in one folder with a lock file, which is locked while the process runs.
A process that is killed leaves its folder behind; the next process that needs a folder removes it.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import sys
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from aucstudio.project.errors import InputError

if sys.platform != "win32":
    import fcntl

_PREFIX, _LOCK = "aucstudio-", ".lock"
_making = threading.Lock()


def make_folder() -> Path:
    """Make an empty folder, which is removed at the latest when the program ends.

    Raises
    ------
    InputError
        If the temporary folder cannot be written.
    """
    try:
        with _making:
            own = _own().path
        # The system may have removed the folder of a window that is open for days.
        own.mkdir(mode=0o700, exist_ok=True)
        return Path(tempfile.mkdtemp(dir=own))
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"cannot write to the temporary folder: {reason[:1].lower() + reason[1:]}; free some "
            "space there, or name another one in the variable TMPDIR"
        ) from error


def remove(folder: Path) -> None:
    """Remove a folder with its content; errors are ignored."""
    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Make an empty folder within a ``with`` statement."""
    made = make_folder()
    try:
        yield made
    finally:
        remove(made)


def clear() -> None:
    """Remove all folders of this process; for a process that ends without Python's clean-up."""
    with _making:
        if _own.cache_info().currsize and _own().process == os.getpid():
            _own().remove()
            _own.cache_clear()


def sweep() -> None:
    """Remove the folders of processes that have ended."""
    with contextlib.suppress(OSError):
        for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*{_LOCK}"):
            with contextlib.suppress(OSError):
                _sweep(lock)


class _Own:
    """The folder of this process, and its lock."""

    def __init__(self) -> None:
        self.process = os.getpid()  # a forked process does not own the folder
        while True:
            handle, name = tempfile.mkstemp(_LOCK, f"{_PREFIX}{os.getpid()}-")
            self._handle, self._lock = handle, Path(name)
            # Another process may have removed or locked the file meanwhile.
            if _locked(handle) is not False and _is_there(handle, self._lock):
                break
            os.close(handle)
        self.path = self._lock.with_suffix("")
        self.path.mkdir(mode=0o700)

    def remove(self) -> None:
        remove(self.path)
        os.close(self._handle)
        with contextlib.suppress(OSError):
            self._lock.unlink()


@functools.cache
def _own() -> _Own:
    sweep()
    atexit.register(clear)
    return _Own()


def _sweep(lock: Path) -> None:
    if sys.platform == "win32":
        lock.unlink()  # fails while its owner has it open
        remove(lock.with_suffix(""))
        return
    handle = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    try:
        if os.fstat(handle).st_uid == os.getuid() and _locked(handle):
            remove(lock.with_suffix(""))
            lock.unlink()
    finally:
        os.close(handle)


def _locked(handle: int) -> bool | None:
    """Lock a file while it is open; None if the system has no such locks."""
    if sys.platform == "win32":
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_there(handle: int, path: Path) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False


class BoundedCache:
    """A thread-safe cache of the values used most recently.

    Parameters
    ----------
    most : int
        Bytes of all values together.
    """

    def __init__(self, most: int) -> None:
        self._most, self._bytes = most, 0
        self._held: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any:
        """Return a value, or None if it is not cached."""
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def put(self, key: Hashable, value: Any, size: int) -> None:
        """Store a value of ``size`` bytes, and drop the least recently used values."""
        with self._lock:
            self._bytes += size - self._held.pop(key, (None, 0))[1]
            self._held[key] = value, size
            while self._bytes > self._most and len(self._held) > 1:
                self._bytes -= self._held.popitem(last=False)[1][1]
