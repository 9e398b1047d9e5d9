"""Writing files so that they are there wholly or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from aucstudio.project.errors import InputError


def write_atomically(path: Path, data: bytes | str) -> None:
    """Write beside the target and replace it in one step: a failure leaves the old file.

    Raises
    ------
    InputError
        If the folder is missing, read-only or full.
    """
    with written_atomically(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


@contextlib.contextmanager
def written_atomically(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write piece by piece, which takes the place of the target at the end.

    Raises
    ------
    InputError
        If the folder is missing, read-only or full.
    """
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent or ".")
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def cannot_write(path: Path, error: OSError) -> InputError:
    """Make the sentence for a file that could not be written."""
    reason = error.strerror or str(error)
    return InputError(
        f"cannot write {path}: {reason[:1].lower() + reason[1:]}; choose another folder, or free "
        "some space",
        file=str(path),
    )


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
