"""The program's own folder: studies that have no name yet, and what was opened lately."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
from pathlib import Path

import platformdirs

from aucstudio.project.errors import InputError
from aucstudio.project.store.files import cannot_write, write_atomically
from aucstudio.project.store.project.project_file import ProjectFile

RECENT = 10


def home() -> Path:
    """Give the folder, which the variable AUCSTUDIO_HOME moves."""
    moved = os.environ.get("AUCSTUDIO_HOME")
    return Path(moved) if moved else Path(platformdirs.user_data_dir("aucstudio", False))


def unsaved_folder() -> Path:
    """Give the folder of studies that were never saved under a name."""
    return home() / "unsaved"


def samples_folder(study: str) -> Path:
    """Give the folder where an example study and its tables are written."""
    return home() / "samples" / study


def is_unsaved(project: Path) -> bool:
    """Tell whether a project file is one of a study that was never saved under a name."""
    return project.parent == unsaved_folder()


def new_unsaved_project(data: Path | None) -> ProjectFile:
    """Make a project file for a study without a name."""
    folder = unsaved_folder()
    stem = data.stem if data is not None else "study"
    stamp = datetime.datetime.now().strftime("%Y-%m-%d %H.%M.%S.%f")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    return ProjectFile.create(folder / f"{stem} {stamp}.aucproj")


def unsaved_projects() -> list[Path]:
    """List studies that were never saved under a name, newest first."""
    found = unsaved_folder().glob("*.aucproj")
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


def recent_files() -> list[Path]:
    """List tables and projects opened lately that are still there, newest first."""
    try:
        names = json.loads((home() / "recent.json").read_text(encoding="utf-8"))
        return [path for path in map(Path, names) if path.is_file()]
    except (OSError, ValueError, TypeError):
        return []


def remember_recent(path: Path) -> None:
    """Put a file first in the list; a list that cannot be written is not worth a complaint."""
    path = path.resolve()
    if path.parent == unsaved_folder().resolve():
        return
    names = [str(path), *(str(known) for known in recent_files() if known != path)][:RECENT]
    with contextlib.suppress(OSError, InputError):
        home().mkdir(parents=True, exist_ok=True)
        write_atomically(home() / "recent.json", json.dumps(names))
