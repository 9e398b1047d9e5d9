"""Tables that lie in no file: from the clipboard or the standard input.

A study on one has to find it again, so it is put into the program's own folder, under a name that
says when its content is the same.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any, BinaryIO

from aucstudio.project.data.table import Table, read_table
from aucstudio.project.errors import InputError
from aucstudio.project.store.files import cannot_write, write_atomically
from aucstudio.project.store.workspace import home

_DIGITS = 12


def pasted_folder() -> Path:
    """Give the folder of tables that were pasted."""
    return home() / "pasted"


def keep_text(text: str) -> Path:
    """Put a table down as a file, and give its path; equal texts are one file.

    Raises
    ------
    InputError
        If there is no table in it, or it cannot be written.
    """
    if not text.strip():
        raise InputError(
            "the clipboard holds no text; copy the cells of a table, their names in the first row"
        )
    folder, data = pasted_folder(), text.encode("utf-8", "replace")
    path = folder / f"pasted-{hashlib.sha256(data).hexdigest()[:_DIGITS]}.txt"
    if not path.exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(folder, error) from error
        write_atomically(path, data.decode("utf-8"))
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
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / "standard-input.part"
        with made.open("wb") as file:
            shutil.copyfileobj(source, file)
        with made.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:_DIGITS]
        return made.replace(folder / f"standard-input-{digest}")
    except OSError as error:
        raise cannot_write(folder, error) from error
