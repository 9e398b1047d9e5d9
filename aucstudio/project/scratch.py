"""Temporary storage of a process: folders, and a cache of bounded size.

The folders of a process are in one folder that names it. A process that is killed leaves its folder
behind; the next process that needs a folder removes it. Names contain the machine and the process;
another process has its number where it began after the file was last changed.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import re
import secrets
import shutil
import socket
import tempfile
import threading
import zlib
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from aucstudio.project.errors import InputError

OWNER = r"(?P<host>[0-9a-f]{8})-(?P<pid>[0-9]{1,10})-[0-9a-f]{8}"
"""Pattern of :func:`owner_name`."""

CLOCK_SECONDS = 2.0  # by which two readings of when a process began, or of a file, may differ
_PREFIX = "aucstudio-"
_FOLDER = re.compile(_PREFIX + OWNER)
_making = threading.Lock()
own_folders: dict[int, Path] = {}  # by process


def make_folder() -> Path:
    """Make an empty folder, which is removed at the latest when the program ends.

    Raises
    ------
    InputError
        If the temporary folder cannot be written.
    """
    try:
        with _making:
            own = _own_folder()
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
        if (own := own_folders.pop(os.getpid(), None)) is not None:
            remove(own)


def sweep() -> None:
    """Remove the folders of processes that have ended."""
    for folder in left_behind(Path(tempfile.gettempdir()), _FOLDER):
        remove(folder)


def _own_folder() -> Path:
    """Return the folder of this process; a forked process does not own that of its parent."""
    process = os.getpid()
    if process not in own_folders:
        sweep()
        atexit.register(clear)
        made = Path(tempfile.gettempdir()) / f"{_PREFIX}{owner_name()}"
        made.mkdir(mode=0o700)
        own_folders[process] = made
    return own_folders[process]


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


def owner_name() -> str:
    """Return a new part of a name that says that this process owns it."""
    return f"{_this_host()}-{os.getpid()}-{secrets.token_hex(4)}"


def left_behind(folder: Path, pattern: re.Pattern[str]) -> Iterator[Path]:
    """Yield what processes of this person and machine that have ended left in a folder.

    Parameters
    ----------
    folder : Path
    pattern : Pattern
        Of the names, with :data:`OWNER` in it.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            named = pattern.fullmatch(entry.name)
            if named is None or named["host"] != _this_host():
                continue
            with contextlib.suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                is_ours = not hasattr(os, "getuid") or found.st_uid == os.getuid()
                began = process_start(int(named["pid"]))
                if is_ours and (began is None or began > found.st_mtime + CLOCK_SECONDS):
                    yield Path(entry.path)


def process_start(pid: int) -> float | None:
    """Return when a process began: None if there is none, 0 if the system does not say."""
    import psutil

    try:
        began: float = psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        return None
    except (psutil.Error, OverflowError):
        return 0.0
    return began


@functools.cache
def _this_host() -> str:
    return f"{zlib.crc32(socket.gethostname().encode(errors='replace')):08x}"
