"""Example studies from ``resources/studies``.

Each teaches something that the papers show; all run in well under a minute.
"""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path

from aucstudio.notices.words import suggestion
from aucstudio.project.errors import InputError
from aucstudio.project.examples.samples import make_sample
from aucstudio.project.resources import resource_path
from aucstudio.project.store.files import cannot_write, write_atomically

# In the order in which they teach.
STUDIES = ("payments", "two-scorers", "two-gaussians", "xor", "ten-dimensions", "digits")


@dataclasses.dataclass(frozen=True)
class Example:
    """What a person reads of an example study before it is opened.

    Attributes
    ----------
    key : str
        One of :data:`STUDIES`.
    title, about : str
    """

    key: str
    title: str
    about: str


def examples() -> list[Example]:
    """List the example studies."""
    documents = {key: tomllib.loads(_text(key)) for key in STUDIES}
    return [Example(key, known["title"], known["about"]) for key, known in documents.items()]


def make_study(key: str, folder: Path) -> Path:
    """Write an example study and its tables into a folder and return the experiment file's path.

    Raises
    ------
    InputError
        If there is no such study, or the folder cannot be written.
    """
    if key not in STUDIES:
        raise InputError(
            f"there is no example study {key!r}{suggestion(key, STUDIES)} (there are "
            f"{', '.join(STUDIES)})",
            setting="study",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    make_sample(key, folder)
    path = folder / f"{key}.toml"
    write_atomically(path, _text(key))
    return path


def _text(key: str) -> str:
    return resource_path("studies", f"{key}.toml").read_text(encoding="utf-8")
