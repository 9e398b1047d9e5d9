"""Temporary folders.

All of a process lie in one, beside which a lock is held for as long as the process lives. A
process that was killed leaves its folder behind; the next one that needs a folder removes it.
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
from collections.abc import Iterator
from pathlib import Path

from aucstudio.project.errors import InputError

if sys.platform != "win32":
    import fcntl

_PREFIX, _LOCK = "aucstudio-", ".lock"
_making = threading.Lock()


def make_folder() -> Path:
    """Make an empty folder, which is removed at the end of the program at the latest.

    Raises
    ------
    InputError
        If nothing can be written there.
    """
    try:
        with _making:
            own = _own().path
        # A window may be open for longer than the system keeps such folders.
        own.mkdir(mode=0o700, exist_ok=True)
        return Path(tempfile.mkdtemp(dir=own))
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"cannot write to the temporary folder: {reason[:1].lower() + reason[1:]}; free some "
            "space there, or name another one in the variable TMPDIR"
        ) from error


def remove(folder: Path) -> None:
    """Remove a folder with what is in it, as far as that can be done."""
    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Make an empty folder for as long as it is needed."""
    made = make_folder()
    try:
        yield made
    finally:
        remove(made)


def clear() -> None:
    """Remove all folders of this process; for one that ends without Python's own clean-up."""
    with _making:
        if _own.cache_info().currsize and _own().process == os.getpid():
            _own().remove()
            _own.cache_clear()


def sweep() -> None:
    """Remove the folders of processes that are gone."""
    with contextlib.suppress(OSError):
        for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*{_LOCK}"):
            with contextlib.suppress(OSError):
                _sweep(lock)


class _Own:
    """The folder of this process, and the lock that says that the process lives."""

    def __init__(self) -> None:
        self.process = os.getpid()  # a copy of this process does not own it
        while True:
            handle, name = tempfile.mkstemp(_LOCK, f"{_PREFIX}{os.getpid()}-")
            self._handle, self._lock = handle, Path(name)
            # A sweeper may have been here between the two: the name is then gone, or locked.
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
        lock.unlink()  # refused while its owner lives: it is open
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
    """Lock a file for as long as it is open; None where the system has no such locks."""
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
