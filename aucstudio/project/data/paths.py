"""Files that tables are read from: what is none is refused before it is opened."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

from aucstudio.project.errors import InputError


def require_file(path: Path) -> None:
    """Make sure that a path leads to a regular file; reading a pipe could wait for ever.

    Raises
    ------
    InputError
        If there is none, or something else.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise unreadable(path, "does not exist; check its name and folder") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise unreadable(path, f"cannot be read ({reason}); check its name") from None
    if stat.S_ISDIR(mode):
        raise unreadable(path, "is a folder; choose a file in it")
    if not stat.S_ISREG(mode):
        raise unreadable(path, "is a pipe or a device; save what comes out of it as a file first")


def unreadable(path: Path, what: str) -> InputError:
    """Make the sentence for a file that is no table."""
    return InputError(f"{path} {what}", file=str(path))


def for_duckdb(path: Path, folder: Path) -> Path:
    """Give a path that DuckDB can open: it takes UTF-8 only; a link goes to ``folder`` else."""
    whole = path.absolute()
    try:
        str(whole).encode()
    except UnicodeEncodeError:
        link = folder / f"table{len(list(folder.iterdir()))}"
        try:
            link.symlink_to(whole)
        except OSError:  # Windows allows links to few
            shutil.copyfile(whole, link)
        return link
    return whole
