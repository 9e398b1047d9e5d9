"""The program's folder: unsaved studies, recent files, pasted tables.

A pasted table is stored under a name that contains its checksum, so that a study finds it again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any, BinaryIO

import platformdirs

from aucstudio.project.data.table import Table, read_table
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.store.files import cannot_write, write_atomically
from aucstudio.project.store.project.project_file import ProjectFile

RECENT = 10
_RECENTS = "recent.json"
_STAMP = "%Y-%m-%d %H.%M.%S.%f"
_STAMPED = re.compile(r" [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9.]+$")


def home() -> Path:
    """Return the folder, which the variable AUCSTUDIO_HOME moves."""
    moved = os.environ.get("AUCSTUDIO_HOME")
    return Path(moved) if moved else Path(platformdirs.user_data_dir("aucstudio", False))


def unsaved_folder() -> Path:
    """Return the folder of unsaved studies."""
    return home() / "unsaved"


def samples_folder(study: str) -> Path:
    """Return the folder of an example study and its tables."""
    return home() / "samples" / study


def is_unsaved(project: Path) -> bool:
    """Return whether a project file belongs to an unsaved study."""
    return project.parent == unsaved_folder()


def new_unsaved_project(data: Path | None) -> ProjectFile:
    """Make a project file for a study without a name."""
    stem = data.stem if data is not None else "study"
    stamp = datetime.datetime.now().strftime(_STAMP)
    return ProjectFile.create(_made(unsaved_folder()) / f"{stem} {stamp}.aucproj")


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    return folder


def unsaved_projects() -> list[Path]:
    """List unsaved studies, newest first."""
    found = unsaved_folder().glob("*.aucproj")
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


@dataclasses.dataclass(frozen=True)
class Recent:
    """A recently opened table or project.

    Attributes
    ----------
    path : Path
        It may be gone.
    opened : datetime
    """

    path: Path
    opened: datetime.datetime


def read_memory(name: str) -> Any:
    """Read a JSON file of the program's folder; None if there is none, or it is damaged."""
    try:
        return json.loads((home() / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def write_memory(name: str, document: Any) -> None:
    """Write a JSON file of the program's folder; a failure is not reported."""
    with contextlib.suppress(OSError, InputError):
        home().mkdir(parents=True, exist_ok=True)
        write_atomically(home() / name, json.dumps(document))


def recents() -> list[Recent]:
    """List recently opened files, newest first, including those that no longer exist."""
    try:
        return [
            Recent(Path(path), datetime.datetime.fromisoformat(opened))
            for path, opened in read_memory(_RECENTS) or []
        ]
    except (ValueError, TypeError):
        return []


def recent_files() -> list[Path]:
    """List recently opened tables and projects that still exist, newest first."""
    return [recent.path for recent in recents() if recent.path.is_file()]


def remember_recent(path: Path) -> None:
    """Put a file first in the list; a list that cannot be written is not worth a complaint."""
    path = path.resolve()
    if path.parent == unsaved_folder().resolve():
        return
    now = datetime.datetime.now().replace(microsecond=0)
    others = [known for known in recents() if known.path != path]
    _keep_recents([Recent(path, now), *others][:RECENT])


def forget_recent(path: Path) -> None:
    """Take a file out of the list."""
    _keep_recents([known for known in recents() if known.path != path])


def unsaved_study(project: Path) -> tuple[str, datetime.datetime | None]:
    """Return the table of an unsaved study and when the study was last changed."""
    try:
        changed = datetime.datetime.fromtimestamp(project.stat().st_mtime)
    except OSError:
        changed = None
    return _STAMPED.sub("", project.stem), changed


def _keep_recents(kept: list[Recent]) -> None:
    write_memory(_RECENTS, [(str(known.path), known.opened.isoformat()) for known in kept])


_DIGITS = 12


def pasted_folder() -> Path:
    """Return the folder of pasted tables."""
    return home() / "pasted"


def keep_text(text: str) -> Path:
    """Write pasted text to a file and return its path; equal texts share a file.

    Raises
    ------
    InputError
        If there is no table in it, or it cannot be written.
    """
    if not text.strip():
        raise input_error("clipboard_empty")
    data = text.encode("utf-8", "replace")
    path = _made(pasted_folder()) / f"pasted-{hashlib.sha256(data).hexdigest()[:_DIGITS]}.txt"
    if not path.exists():
        write_atomically(path, data)
    return path


def read_text(text: str, **choices: Any) -> Table:
    """Read a table from text, such as the clipboard has of a spreadsheet.

    Parameters
    ----------
    text : str
    choices
        As for :func:`~aucstudio.project.data.table.read_table`.
    """
    return read_table(keep_text(text), **choices)


def keep_stream(source: BinaryIO, folder: Path) -> Path:
    """Put what comes out of a pipe down as a file, named after what it holds.

    Raises
    ------
    InputError
        If nothing comes, or it cannot be written.
    """
    try:
        made = _made(folder) / "standard-input.part"
        with made.open("wb") as file:
            shutil.copyfileobj(source, file)
        with made.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:_DIGITS]
        return made.replace(folder / f"standard-input-{digest}")
    except OSError as error:
        raise cannot_write(folder, error) from error
