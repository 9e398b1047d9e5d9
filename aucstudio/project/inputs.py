"""Limits of input files.

Readers of foreign formats work in a process of their own (:mod:`~.data.readers.apart`) under
:func:`limits_of`; the numbers here hold for every reader.
"""

from __future__ import annotations

import dataclasses
import os
import stat
from pathlib import Path
from typing import BinaryIO

from aucstudio.project.errors import InputError
from aucstudio.project.words import bytes_words

# Characters or bytes of a cell; columns of a dense table; records within records.
LONGEST_CELL, MOST_COLUMNS, MOST_DEPTH = 64_000_000, 100_000, 100

_SHARE_OF_MEMORY = 0.7
_BASE_MEMORY, _MEMORY_PER_BYTE = 3_000_000_000, 200
# Ten times what the slowest format takes.
_BASE_SECONDS, _BYTES_PER_SECOND = 20, 50_000
_BASE_WRITTEN, _WRITTEN_PER_BYTE = 2_000_000_000, 250


@dataclasses.dataclass(frozen=True)
class InputLimits:
    """What the reader of a file may take.

    Attributes
    ----------
    memory : int
        Bytes of address space.
    seconds : int
        Processor time.
    written : int
        Bytes of any file that it writes.
    """

    memory: int
    seconds: int
    written: int


def limits_of(size: int) -> InputLimits:
    """Return what the reader of a file of ``size`` bytes may take.

    Damaged sizes can ask for anything, so the limits depend on the size of the file alone.
    """
    import psutil

    memory = int(_SHARE_OF_MEMORY * psutil.virtual_memory().total)
    return InputLimits(
        min(memory, _BASE_MEMORY + _MEMORY_PER_BYTE * size),
        _BASE_SECONDS + size // _BYTES_PER_SECOND,
        _BASE_WRITTEN + _WRITTEN_PER_BYTE * size,
    )


def refuse_columns(path: Path, count: int) -> None:
    """Raise InputError if a table has more columns than are read."""
    if count > MOST_COLUMNS:
        raise InputError(
            f"{path} has {count:,} columns or more, and at most {MOST_COLUMNS:,} are read; leave "
            "some out, or store the table with its rows and columns exchanged",
            file=str(path),
        )


def open_regular(path: Path, what: str, most: float) -> BinaryIO:
    """Open a file for reading; a pipe without a writer would be waited for without end.

    Parameters
    ----------
    path : Path
    what : str
        What it should be, in words such as ``"the model"``.
    most : float
        Bytes that it may have.

    Raises
    ------
    InputError
        If it is not there, cannot be read, is no regular file or is larger.
    """
    try:
        found = os.stat(path)
        _require_regular(path, what, found)
        if found.st_size > most:
            raise InputError(
                f"{what} {path} has {bytes_words(found.st_size)}, and at most "
                f"{bytes_words(most)} are read here: is it the right file?",
                file=str(path),
            )
        return open(path, "rb")
    except InputError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read {what} {path}: {reason}", file=str(path)) from error


def _require_regular(path: Path, what: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a pipe or a device"
        raise InputError(
            f"cannot read {what} {path}: it is {kind}, not a file; give the name of a file",
            file=str(path),
        )
    if not found.st_size:
        # Files of the system, as in /proc, have no size, and reading one may wait for ever.
        raise InputError(f"cannot read {what} {path}: it is empty", file=str(path))
