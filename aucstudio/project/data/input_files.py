"""Input files: their paths, limits of what is read, and DuckDB connections to them.

Readers of foreign formats run in a child process (:mod:`~.data.readers.isolated`) under
:func:`limits_of`. The numbers here apply to every reader.
"""

from __future__ import annotations

import dataclasses
import glob
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from aucstudio.project.errors import input_error

if TYPE_CHECKING:
    import duckdb

# Characters or bytes of a cell; columns of a dense table; records within records.
LONGEST_CELL, MOST_COLUMNS, MOST_DEPTH = 64_000_000, 100_000, 100

_SHARE_OF_MEMORY = 0.7
BASE_MEMORY, _MEMORY_PER_BYTE = 3_000_000_000, 200
# Ten times what the slowest format takes.
BASE_SECONDS, _BYTES_PER_SECOND = 20, 50_000
BASE_WRITTEN, WRITTEN_PER_BYTE = 2_000_000_000, 250

_CHUNK = 1 << 20
_PATTERN = "*?["
# Whatever a file contains, DuckDB fetches no extension and spills nothing to the working directory.
CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "temp_directory": "",
}


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
        min(memory, BASE_MEMORY + _MEMORY_PER_BYTE * size),
        BASE_SECONDS + size // _BYTES_PER_SECOND,
        BASE_WRITTEN + WRITTEN_PER_BYTE * size,
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
    require_file(path)
    if (size := path.stat().st_size) > most:
        raise input_error("file_too_large", file=path, what=what, size=size, most=most)
    try:
        return path.open("rb")
    except OSError as error:
        raise input_error("read_failed", file=path, what=what, reason=error.strerror) from error


def require_file(path: Path) -> None:
    """Make sure that a path is a regular file; reading a pipe could block for ever.

    Raises
    ------
    InputError
        If there is no such file, or it is not a regular one.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise input_error("file_absent", file=path) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise input_error("file_name_invalid", file=path, reason=reason) from None
    if stat.S_ISDIR(found.st_mode):
        raise input_error("file_is_folder", file=path)
    if not stat.S_ISREG(found.st_mode):
        raise input_error("file_is_device", file=path)
    if not found.st_size:
        # System files, such as those in /proc, have no size, and reading one may block for ever.
        raise input_error("file_empty", file=path)


def duckdb_on(
    folder: Path, *files: Path, database: str | Path = ":memory:", read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB connection that can read some files and write to a folder, and nothing else.

    Views, macros and files can refer to other files, addresses and extensions. None of these is
    opened, and no statement can allow it.

    Parameters
    ----------
    folder : Path
        Where it may write.
    files : Path
        Files it may read besides the database.
    database : str or Path
    read_only : bool
    """
    import duckdb

    config = CLOSED | {"temp_directory": str(folder.absolute())}
    connection = duckdb.connect(str(database), read_only=read_only, config=config)
    # DuckDB compares resolved paths.
    names = ", ".join(literal(str(path.resolve())) for path in files)
    connection.execute(f"SET allowed_paths = [{names}]")
    # Readers escape the marks of patterns in a name.
    folders = ", ".join(map(literal, {str(folder.resolve()), glob.escape(str(folder.resolve()))}))
    connection.execute(f"SET allowed_directories = [{folders}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def for_duckdb(path: Path, folder: Path) -> Path:
    """Return a path that DuckDB can open; if the path is not valid UTF-8, a link in ``folder``."""
    whole = path.absolute()
    try:
        str(whole).encode()
    except UnicodeEncodeError:
        return linked(path, folder)
    return whole


def linked(path: Path, folder: Path) -> Path:
    """Create a link to a file, or a copy, under a plain name in ``folder``."""
    link = folder / f"table{len(list(folder.iterdir()))}"
    try:
        link.symlink_to(path.absolute())
    except OSError:  # on Windows only some users may create links
        shutil.copyfile(path, link)
    return link


class FileStamp(NamedTuple):
    """A file as it was when it was opened; zeros if it is missing."""

    path: Path
    size: int = 0
    modified: int = 0
    number: int = 0

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """Return the present stamp of a file."""
        path = path.absolute()
        try:
            found = path.stat()
        except (OSError, ValueError):
            return cls(path)
        return cls(path, found.st_size, found.st_mtime_ns, found.st_ino)

    def check(self) -> None:
        """Raise InputError if the file has changed."""
        if FileStamp.of(self.path) != self:
            raise input_error("file_changed", file=self.path)


_DIGESTS: dict[FileStamp, str] = {}


def fingerprint(
    files: Sequence[FileStamp], report: Callable[[float], None] = lambda _share: None
) -> str:
    """Return the SHA-256 of a file's bytes, or that of the digests of several files.

    It takes about as long as reading a table, and is computed when it is first needed.

    Raises
    ------
    InputError
        If a file has changed since it was opened, or cannot be read.
    """
    found = [_DIGESTS.get(file) or _digest(file, report) for file in files]
    return found[0] if len(found) == 1 else hashlib.sha256("".join(found).encode()).hexdigest()


def _digest(stamp: FileStamp, report: Callable[[float], None]) -> str:
    digest, done = hashlib.sha256(), 0
    try:
        with stamp.path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                done += len(chunk)
                report(min(done / max(1, stamp.size), 1.0))
    except OSError as error:
        raise input_error("file_unreadable", file=stamp.path, reason=error.strerror) from error
    stamp.check()
    _DIGESTS[stamp] = digest.hexdigest()
    return _DIGESTS[stamp]


def join(paths: Sequence[str | Path]) -> Path:
    """Join several files to one path, from which :func:`several` restores them."""
    return Path(os.pathsep.join(str(Path(path).absolute()) for path in paths))


def several(path: Path) -> list[Path]:
    """List the files of a pattern or of joined paths; empty for a single file.

    Raises
    ------
    InputError
        If no file matches the pattern.
    """
    text = str(path)
    if os.path.lexists(path):
        return []
    if any(mark in text for mark in _PATTERN):
        found = sorted(name for name in glob.glob(text) if os.path.isfile(name))
        if not found:
            raise input_error("files_absent", file=text)
        return list(map(Path, found))
    parts = [Path(part) for part in text.split(os.pathsep) if part]
    return parts if len(parts) > 1 else []


def literal(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """Quote the name of a column or table for SQL."""
    return '"' + name.replace('"', '""') + '"'
