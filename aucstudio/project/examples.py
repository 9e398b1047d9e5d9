"""Example studies and their tables, equal on every machine.

A settings file in ``resources/samples`` says the ``kind`` of a table: columns that follow a shared
factor, clouds of normal distributions, rows spelled out, or the handwritten digits that come with
scikit-learn. Each study in ``resources/studies`` runs in well under a minute.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.notices.words import suggestion
from aucstudio.project.errors import InputError
from aucstudio.project.resources import resource_path
from aucstudio.project.runs.experiments.experiment_file import ExperimentFile, read_study
from aucstudio.project.store.files import cannot_write, write_atomically
from aucstudio.project.store.project.project_file import keep_first_reading
from aucstudio.project.work.submit import Bar, Outcome, open_place, run_experiments

Settings = Mapping[str, Any]
# Each table by its name: a column's cells by the column's name.
Tables = dict[str, dict[str, Sequence[str]]]


def make_sample(name: str, folder: Path) -> list[Path]:
    """Write the tables of the sample ``name`` as CSV into a folder and return their paths."""
    text = resource_path("samples", f"{name}.toml").read_text(encoding="utf-8")
    settings = tomllib.loads(text)
    paths = []
    for title, columns in _KINDS[settings["kind"]](settings).items():
        paths.append(folder / f"{title}.csv")
        write_atomically(paths[-1], _spelled(columns))
    return paths


def _spelled(columns: Mapping[str, Sequence[str]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


# ------------------------------------------------------------------------ columns


def _columns(settings: Settings) -> Tables:
    rng = np.random.default_rng(settings["seed"])
    rows = settings["rows"]
    rare = np.arange(rows) < round(rows * settings["positive_share"])
    rng.shuffle(rare)
    # Columns that share a factor are correlated within the classes: that is what separates
    # methods which look at the spread of the differences from those which do not.
    factor = rng.normal(size=(rows,))
    columns: dict[str, Sequence[str]] = {
        c["name"]: _numbers(c, rare, factor, rng, settings) for c in settings["numbers"]
    }
    columns |= {c["name"]: _categories(c, rare, rng) for c in settings["categories"]}
    columns[settings["label"]] = _labels(settings, rare)
    return {settings["name"]: columns}


def _numbers(
    column: Settings,
    rare: NDArray[np.bool_],
    factor: NDArray[np.float64],
    rng: np.random.Generator,
    settings: Settings,
) -> list[str]:
    follow = column["factor"]
    own = rng.normal(size=len(rare))
    # Half of the rare class gives itself away more clearly than the other half.
    shift = column["shift"] * rare * np.where(rng.random(len(rare)) < 0.5, 1.6, 0.5)
    standard = follow * factor + np.sqrt(1 - follow**2) * own + shift
    values = column["mean"] + column["spread"] * standard
    if column["exponential"]:
        values = np.exp(values)
    gap = rng.random(len(rare)) < settings["gap_share"]
    digits = column["decimals"]
    return ["" if g else f"{v:.{digits}f}" for v, g in zip(values, gap, strict=True)]


def _categories(column: Settings, rare: NDArray[np.bool_], rng: np.random.Generator) -> list[str]:
    drawn = [
        rng.choice(len(column["levels"]), size=len(rare), p=column[kind])
        for kind in ("common", "rare")
    ]
    return [column["levels"][k] for k in np.where(rare, drawn[1], drawn[0])]


# ------------------------------------------------------------------------ clouds


def _clouds(settings: Settings) -> Tables:
    rng = np.random.default_rng(settings["seed"])
    return {table["name"]: _cloud_columns(settings, table, rng) for table in settings["tables"]}


def _cloud_columns(
    settings: Settings, table: Settings, rng: np.random.Generator
) -> dict[str, Sequence[str]]:
    clouds = list(zip(settings["clouds"], table["sizes"], strict=True))
    drawn = [rng.multivariate_normal(c["mean"], c["covariance"], size) for c, size in clouds]
    rare = np.repeat([bool(c["positive"]) for c, _ in clouds], [size for _, size in clouds])
    values = np.hstack([np.vstack(drawn), rng.normal(size=(len(rare), settings["noise"]))])
    columns: dict[str, Sequence[str]] = {
        f"x{k + 1}": [f"{v:.3f}" for v in column] for k, column in enumerate(values.T)
    }
    columns[settings["label"]] = _labels(settings, rare)
    return columns


# ------------------------------------------------------------------------ rows and digits


def _rows(settings: Settings) -> Tables:
    columns: dict[str, Sequence[str]] = {
        name: [str(cell) for cell in cells] for name, cells in settings["columns"].items()
    }
    return {settings["name"]: columns}


def _digits(settings: Settings) -> Tables:
    from sklearn.datasets import load_digits

    digits = load_digits()
    columns: dict[str, Sequence[str]] = {
        f"row{k // 8 + 1}_column{k % 8 + 1}": [f"{v:.0f}" for v in column]
        for k, column in enumerate(digits.data.T)
    }
    columns[settings["label"]] = _labels(settings, digits.target == settings["digit"])
    return {settings["name"]: columns}


def _labels(settings: Settings, rare: Iterable[bool]) -> list[str]:
    return [settings["positive"] if one else settings["negative"] for one in rare]


_KINDS: dict[str, Callable[[Settings], Tables]] = {
    "columns": _columns,
    "clouds": _clouds,
    "rows": _rows,
    "digits": _digits,
}


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
        outcomes = run_experiments(study.plans(), place, project, bar)
    keep_first_reading(project, study.table)
    return Demo(study, project, outcomes)
