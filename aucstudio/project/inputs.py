"""Files that others wrote are opened only if they are files, and of a size that we can take."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from aucstudio.project.errors import InputError
from aucstudio.project.words import bytes_words


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
