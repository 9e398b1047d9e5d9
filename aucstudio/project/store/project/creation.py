"""A new file that is there wholly or not at all, and never in another's place."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from aucstudio.project.errors import InputError
from aucstudio.project.store.files import cannot_write


def create_whole(path: Path, data: bytes) -> None:
    """Write a file that must not exist; who comes second of two is refused.

    Raises
    ------
    InputError
        If it exists, or cannot be written.
    """
    try:
        if not _link_nameless(path, data):
            _link_named(path, data)
        _sync_folder(path.parent)
    except FileExistsError as error:
        raise InputError(f"{path} exists already", file=str(path)) from error
    except OSError as error:
        raise cannot_write(path, error) from error


def _link_nameless(path: Path, data: bytes) -> bool:
    """Give a file a name once it is whole: if this is killed before, nothing is left.

    Answers False where the system has no such files.
    """
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return False
    try:
        handle = os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, 0o666)
    except OSError:
        return False
    with os.fdopen(handle, "wb") as file:
        _write(file.fileno(), data)
        try:
            # A folder's handle, which an absolute name does not use, makes Linux follow the link.
            os.link(f"/proc/self/fd/{file.fileno()}", path, src_dir_fd=file.fileno())
        except FileExistsError:
            raise
        except OSError:
            return False
    return True


def _link_named(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            _write(file.fileno(), data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if path.exists():
                raise FileExistsError(str(path)) from None
            os.rename(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _write(handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
    os.fsync(handle)


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
