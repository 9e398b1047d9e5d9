"""Check and repair project, model and experiment files."""

from __future__ import annotations

import dataclasses
import sqlite3
from pathlib import Path
from typing import Any

from aucstudio.notices.words import runs_words
from aucstudio.project.bounded_cache import BoundedCache
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.experiment_file import check_document
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.store.files import cannot_write, creating
from aucstudio.project.store.model_file import load_model
from aucstudio.project.store.project.contents import read_contents, read_through
from aucstudio.project.store.project.database import FAILURES
from aucstudio.project.store.project.salvage import salvage, write_salvage
from aucstudio.project.store.project.source import ProjectSource

PROJECT, MODEL, EXPERIMENT = "project", "model", "experiment"
_KINDS = {".aucproj": PROJECT, ".aucmodel": MODEL, ".toml": EXPERIMENT}
_MOST_COMPLAINTS = 5
_KEPT_BYTES = 64 << 20


@dataclasses.dataclass(frozen=True)
class Repaired:
    """What a repair saved.

    Attributes
    ----------
    file : str
        The new project.
    runs : int
        In it, whole or with the splits that are.
    lost : tuple of str
        What could not be saved.
    """

    file: str
    runs: int
    lost: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Checked:
    """What a check found.

    Attributes
    ----------
    file : str
    kind : {"project", "model", "experiment"}
    problems : tuple of str
        One sentence each; none where the file is whole.
    runs : int or None
        Of a project: how many are whole.
    repaired : Repaired or None
    """

    file: str
    kind: str
    problems: tuple[str, ...]
    runs: int | None = None
    repaired: Repaired | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {"whole": not self.problems, **dataclasses.asdict(self)}

    def describe(self) -> str:
        """Return the outcome as text, one line per problem."""
        lines = [f"{self.file}: {problem}" for problem in self.problems]
        if not lines:
            runs = "" if self.runs is None else f" with {runs_words(self.runs)}"
            lines = [f"{self.file}: an intact {self.kind}{runs}"]
        if self.repaired is not None:
            lines += [f"not saved: {lost}" for lost in self.repaired.lost]
            lines.append(f"{self.repaired.file}: {runs_words(self.repaired.runs)} saved")
        return "\n".join(lines)


def check_file(
    path: str | Path, *, repair: bool = False, target: str | Path | None = None
) -> Checked:
    """Read everything in a file and return its problems.

    Parameters
    ----------
    repair : bool
        Whether to write what can be read of a damaged project into a new one.
    target : str or Path, optional
        The new project; see :func:`repair_project`.

    Raises
    ------
    InputError
        If there is no such file, its name does not say that it is one of ours, or it cannot be
        repaired.
    """
    path = Path(path)
    kind = _KINDS.get(path.suffix)
    if not path.is_file():
        raise InputError(f"there is no file {path}: check the name", file=str(path))
    if kind is None:
        raise InputError(f"{path} cannot be checked: " + ", ".join(_KINDS), file=str(path))
    if repair and kind != PROJECT:
        raise InputError(f"a damaged {kind} cannot be repaired: create it again", file=str(path))
    problems, runs = list[str](), 0 if kind == PROJECT else None
    try:
        if kind == PROJECT:
            problems, runs = _problems_of(path)
        elif kind == MODEL:
            load_model(path)
        else:
            check_document(path)
    except InputError as error:
        problems = [str(error)]
    repaired = repair_project(path, target) if repair and problems else None
    return Checked(str(path), kind, tuple(problems), runs, repaired)


def repair_project(path: str | Path, target: str | Path | None = None) -> Repaired:
    """Write what can be read of a project into a new one; the damaged file is left as it is.

    Parameters
    ----------
    target : str or Path, optional
        Must not exist; by default beside the project, as NAME.repaired.aucproj.

    Raises
    ------
    InputError
    """
    path = Path(path)
    target = path.with_suffix(".repaired.aucproj") if target is None else Path(target)
    if target.exists():
        raise InputError(f"{target} exists already: choose another name with -o", file=str(target))
    found = salvage(path)
    try:
        with creating(target) as partial:
            write_salvage(found, partial)
    except FileExistsError as error:
        raise InputError(f"{target} exists already", file=str(target)) from error
    except OSError as error:
        raise cannot_write(target, error) from error
    except sqlite3.Error as error:
        raise InputError(f"cannot write {target}: {error}", file=str(target)) from error
    lost = (*found.lost, *_problems_of(target)[0])
    return Repaired(str(target), len(found.runs), lost)


def _problems_of(path: Path) -> tuple[list[str], int]:
    """Return the problems of a project that opens, and the number of whole runs."""
    source = ProjectSource(
        path, BoundedCache(_KEPT_BYTES)
    )  # what an earlier reading found does not count
    contents = read_contents(source)
    problems = [f"{run.title}: {run.what}" for run in contents.damaged] + contents.notes
    broken = [problem for record in contents.records if (problem := _problem_of(record))]
    with source.reading() as database:
        try:
            found = database.execute(f"PRAGMA quick_check({_MOST_COMPLAINTS})").fetchall()
        except FAILURES as error:
            found = [(str(error),)]
    source.close()
    complaints = [" ".join(str(row[0]).split()) for row in found if row[0] != "ok"]
    problems += broken + [f"the database is damaged: {text}" for text in complaints]
    return problems, len(contents.records) - len(broken)


def _problem_of(record: RunRecord) -> str:
    try:
        read_through(record)
    except InputError as error:
        return str(error)
    return ""
