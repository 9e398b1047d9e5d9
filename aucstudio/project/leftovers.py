"""Temporary files and folders by the process that owns them, so that what ended ones left can go.

Their names contain the machine and the process. Another process has its number where it began
after the file was last changed.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import secrets
import socket
import zlib
from collections.abc import Iterator
from pathlib import Path

OWNER = r"(?P<host>[0-9a-f]{8})-(?P<pid>[0-9]{1,10})-[0-9a-f]{8}"
"""Pattern of :func:`owner_name`."""

CLOCK_SECONDS = 2.0  # by which two readings of when a process began, or of a file, may differ


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
