"""Example studies and their tables.

Most tables are in ``resources/samples``. Each study in ``resources/studies`` runs in well under a
minute.
"""

from __future__ import annotations

import dataclasses
import tomllib
from functools import cache
from pathlib import Path

from aucstudio.notices.words import suggestion
from aucstudio.project.errors import InputError
from aucstudio.project.resources import resource_path
from aucstudio.project.runs.experiment_file import read_study
from aucstudio.project.runs.experiment_keys import ExperimentFile
from aucstudio.project.store.files import cannot_write, write_atomically
from aucstudio.project.store.project.project_file import keep_first_reading
from aucstudio.project.work.submit import Bar, Outcome, open_place, run_experiments


def make_sample(name: str, folder: Path) -> list[Path]:
    """Write the tables of the sample ``name`` as CSV into a folder and return their paths."""
    if name == "digits":
        return [_write_digits(folder / "digits.csv")]
    tables = sorted(resource_path("samples", name).glob("*.csv"), reverse=True)
    for table in tables:
        write_atomically(folder / table.name, table.read_bytes())
    return [folder / table.name for table in tables]


def _write_digits(path: Path) -> Path:
    """Write the handwritten digits that come with scikit-learn; the eights are positive."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    names = [f"row{k // 8 + 1}_column{k % 8 + 1}" for k in range(64)]
    lines = [",".join([*names, "digit"])]
    for cells, digit in zip(digits.data, digits.target, strict=True):
        lines.append(",".join([*(f"{c:.0f}" for c in cells), "eight" if digit == 8 else "another"]))
    write_atomically(path, "\n".join(lines) + "\n")
    return path


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


@cache
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


@dataclasses.dataclass(frozen=True, eq=False)
class Demo:
    """A study that was run.

    Attributes
    ----------
    study : ExperimentFile
    project : Path
    outcomes : list of Outcome
    """

    study: ExperimentFile
    project: Path
    outcomes: list[Outcome]


def run_demo(
    folder: Path, key: str = STUDIES[0], bar: Bar = lambda _fraction, _words: None
) -> Demo:
    """Run an example study into a project in ``folder``; one left there before is replaced.

    Raises
    ------
    InputError
        If there is no such study, or the folder cannot be written.
    """
    study = read_study(make_study(key, folder))
    project = folder / f"{key} study.aucproj"
    project.unlink(missing_ok=True)
    with open_place() as place:
        outcomes = run_experiments(study.plans, place, project, bar)
    keep_first_reading(project, study.table)
    return Demo(study, project, outcomes)
