"""Write files atomically.

A path means what it means to a shell: a link is followed, a pipe or a device is written into, and
a file that is there keeps its mode and its owner. What is replaced in one step is the file at the
end of the links, never something that a name merely leads through.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from aucstudio.project.errors import InputError, input_error
from aucstudio.project.scratch import OWNER, left_behind, owner_name

STANDARD_OUTPUT = "-"

_OF_THE_SYSTEM = ("/dev/", "/proc/")
_BINARY = getattr(os, "O_BINARY", 0)  # where there are text files, as on Windows
_LONGEST_PREFIX = 40  # characters of the name that a temporary file takes over
_PARTIAL = re.compile(rf"\..*\.{OWNER}\.part", re.DOTALL)


def write_atomically(path: str | Path, data: bytes | str) -> None:
    """Write beside the target and replace it in one step: a failure leaves the old file.

    Raises
    ------
    InputError
        If the folder is missing, read-only or full.
    """
    with written_atomically(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


@contextlib.contextmanager
def written_atomically(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file to write piece by piece, which replaces the target at the end.

    Links are followed. What is no regular file, as a pipe or a device, is written straight
    through. The text ``-``, as a command line gives it, is the standard output; a ``Path`` of that
    name is a file.

    Raises
    ------
    InputError
        If the folder is missing, read-only or full.
    """
    if path == STANDARD_OUTPUT:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        # A file that a shell redirects to is continued: its name is in one of these folders.
        if _is_written_through(path):
            sys.stdout.flush()
            with open(path, "ab") as file:
                yield file
            return
        target = _end_of_links(path)
        present = _present(target)
        # Nobody may read the new file who could not read the one it replaces.
        mode = 0o666 if present is None else present.st_mode & 0o777
        with replacing(target) as partial:
            handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
    except BrokenPipeError:
        raise  # whoever read has seen enough: not a matter of the file
    except OSError as error:
        raise cannot_write(path, error) from error


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Return the name of a file to make beside the target, which replaces it at the end.

    Links are followed; what is no regular file is never replaced. Mode and owner of a target that
    is there are kept. Whatever fails, it stays as it was and nothing is left beside it.

    Raises
    ------
    OSError
    """
    target = _end_of_links(target)
    present = _present(target)
    partial = _partial_beside(target)
    try:
        yield partial
        if present is not None:
            _make_like(partial, present)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def create_file(target: Path, data: bytes) -> None:
    """Write a file that must not exist; of two programs that create it the second one fails.

    Raises
    ------
    FileExistsError, OSError
    """
    partial = _partial_beside(target)
    try:
        with partial.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(partial, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if target.exists():
                raise FileExistsError(str(target)) from None
            os.rename(partial, target)
        _sync_folder(target.parent)
    finally:
        partial.unlink(missing_ok=True)


def _partial_beside(target: Path) -> Path:
    """Return an unused name beside a target, after removing what killed programs left there."""
    for stale in left_behind(target.parent, _PARTIAL):
        with contextlib.suppress(OSError):
            stale.unlink()
    return target.with_name(f".{target.name[:_LONGEST_PREFIX]}.{owner_name()}.part")


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def refuse_own_input(output: str | Path | None, *inputs: str | Path | None) -> None:
    """Refuse to write to a file that is read: by this name, another, a link or in other case.

    Raises
    ------
    InputError
    """
    if output is None or output == STANDARD_OUTPUT:
        return
    for read in inputs:
        if read is not None and same_file(output, read):
            raise input_error("output_is_input", file=output, read=read)


def refuse_unwritable(path: str | Path) -> None:
    """Refuse what is seen beforehand not to be writable: a folder, or a file where none can be.

    Raises
    ------
    InputError
    """
    try:
        if _is_written_through(path):
            return
        target = _end_of_links(path)
        _present(target)
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target))
        if not os.access(target.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    except OSError as error:
        raise cannot_write(path, error) from error


def same_file(one: str | Path, other: str | Path) -> bool:
    """Return whether two paths are one file; files that do not exist are compared by path."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def cannot_write(path: str | Path, error: OSError) -> InputError:
    """Make the sentence for a file that could not be written."""
    reason = error.strerror or str(error)
    return input_error("write_failed", file=path, reason=reason[:1].lower() + reason[1:])


def _is_written_through(path: str | Path) -> bool:
    """Return whether a path names a pipe, a device or an open file."""
    is_special = os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
    return is_special or str(path).startswith(_OF_THE_SYSTEM)


def _present(target: Path) -> os.stat_result | None:
    """Return the status of a target, None if absent; one that may not be written is refused."""
    if not target.exists():
        return None
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not target.is_file():
        raise OSError(errno.EINVAL, "it is not a regular file", str(target))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    return target.stat()


def _make_like(partial: Path, present: os.stat_result) -> None:
    """Set mode and owner, as far as this person and this file system can."""
    if hasattr(os, "chown"):
        # Only the superuser gives files away; a group can be kept by those who belong to it.
        for owner in ((-1, present.st_gid), (present.st_uid, -1)):
            with contextlib.suppress(OSError):
                os.chown(partial, *owner)
    with contextlib.suppress(OSError):
        os.chmod(partial, stat.S_IMODE(present.st_mode))


def _end_of_links(path: str | Path) -> Path:
    """Follow links to where they end."""
    found = Path(os.path.realpath(path))
    if found.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return found
