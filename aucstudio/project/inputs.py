"""Limits of input files.

Readers of foreign formats run in a child process (:mod:`~.data.readers.isolated`) under
:func:`limits_of`. The numbers here apply to every reader.
"""

from __future__ import annotations

import dataclasses
import os
import stat
from pathlib import Path
from typing import BinaryIO

from aucstudio.project.errors import InputError, input_error

# Characters or bytes of a cell; columns of a dense table; records within records.
LONGEST_CELL, MOST_COLUMNS, MOST_DEPTH = 64_000_000, 100_000, 100

_SHARE_OF_MEMORY = 0.7
_BASE_MEMORY, _MEMORY_PER_BYTE = 3_000_000_000, 200
# Ten times what the slowest format takes.
_BASE_SECONDS, _BYTES_PER_SECOND = 20, 50_000
_BASE_WRITTEN, _WRITTEN_PER_BYTE = 2_000_000_000, 250


@dataclasses.dataclass(frozen=True)
class InputLimits:
    """Limits of the reader of a file.

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
    """Return the limits of the reader of a file of ``size`` bytes.

    Sizes within a damaged file can be arbitrary, so the limits depend only on the size of the file.
    """
    import psutil

    memory = int(_SHARE_OF_MEMORY * psutil.virtual_memory().total)
    return InputLimits(
        min(memory, _BASE_MEMORY + _MEMORY_PER_BYTE * size),
        _BASE_SECONDS + size // _BYTES_PER_SECOND,
        _BASE_WRITTEN + _WRITTEN_PER_BYTE * size,
    )


def refuse_columns(path: Path, count: int) -> None:
    """Raise InputError if a table has too many columns."""
    if count > MOST_COLUMNS:
        raise input_error("too_many_columns", file=path, count=count, most=MOST_COLUMNS)


def open_regular(path: Path, what: str, most: float) -> BinaryIO:
    """Open a regular file for reading; a pipe without a writer would block for ever.

    Parameters
    ----------
    path : Path
    what : str
        What the file should be, for messages: ``"the model"``.
    most : float
        Most bytes of the file.

    Raises
    ------
    InputError
        If it does not exist, cannot be read, is not a regular file or is larger.
    """
    try:
        found = os.stat(path)
        _require_regular(path, what, found)
        if found.st_size > most:
            raise input_error("file_too_large", file=path, what=what, size=found.st_size, most=most)
        return open(path, "rb")
    except InputError:
        raise
    except (OSError, ValueError) as error:  # ValueError: an invalid file name
        reason = getattr(error, "strerror", None) or str(error)
        raise input_error("read_failed", file=path, what=what, reason=reason) from error


def _require_regular(path: Path, what: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a pipe or a device"
        raise input_error("read_no_file", file=path, what=what, kind=kind)
    if not found.st_size:
        # System files such as those in /proc have no size, and reading one may block for ever.
        raise input_error("read_failed", file=path, what=what, reason="it is empty")
