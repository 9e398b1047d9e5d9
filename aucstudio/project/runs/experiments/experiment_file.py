"""Read experiment files (``*.toml``).

format = 1
title = "Which scorer?"    # optional, as is what it is about
about = "Three methods on the same rows."
views = ["roc_view"]       # optional: the pictures to begin with, side by side
fpr_range = [0.0, 0.1]

[data]
file = "wdbc.csv"          # beside the experiment file unless absolute
label = "diagnosis"        # guessed if left out, as is the positive class
positive = "M"             # or several: ["M", "?"]; or a threshold: ">= 5"
merge = [["M", "m"]]       # optional: values that are one class, or true for spellings
missing = { age = [-999] } # optional: numbers that code a missing value
parts = { admitted = ["number", "weekday"] }  # optional: features made of dates
spellings = { city = [["Bern", "bern"]] }  # optional: levels that are merged, or true
roles = { id = "ignore" }

[validation]
scheme = "folds"           # holdout, folds, forward, file, leave-pair-out
folds = 10                 # of "forward": steps, by time = "date"; and optionally gap, window

[preparation]              # optional, as is each line
impute = "median"          # mean, most-frequent
scale = "standard"         # robust, quantile, quantile-normal, min-max, none
indicators = false         # add an indicator of missing values for each number column
rare = 0                   # levels below this share, or count, of rows are merged
many_levels = "most-frequent"  # or frequency

[[runs]]
method = "auc-svm"
name = "all pairs"         # optional
tune = "pauc"              # optional: auc, pauc, leave-pair-out
settings = { C = 10.0, n_neighbors = "none" }
roles = { age = "ignore" } # optional: other roles in this run
preparation = { scale = "robust" }  # optional: instead of [preparation]
scores = { file = "s.csv", column = "risk" }  # optional: scores of a file, for method "marker"
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aucstudio.engine.params import InvalidSetting
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.preparing.preparation_choice import PreparationChoice
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.errors import InputError
from aucstudio.project.inputs import MOST_DEPTH, open_regular
from aucstudio.project.runs.experiments.experiment import Band, Experiment
from aucstudio.project.runs.experiments.experiment_document import (
    RunPart,
    read_document,
)
from aucstudio.project.runs.experiments.planning import (
    DEFAULT_BAND,
    PlannedRun,
    known_method,
    plan_on,
    planned_run,
    read_settings,
)
from aucstudio.project.runs.given_scores import ScoreSource, scored_by
from aucstudio.project.runs.tuning import Tuning

ChooseReader = Callable[[str, Sequence[str]], Callable[..., AnyTable]]
FORMAT = 1
_MOST_BYTES = 4_000_000
_PART = r"(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')"
_DOTTED = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+")


@dataclasses.dataclass(frozen=True, eq=False)
class ExperimentFile:
    """The experiments of a file, with their table.

    Attributes
    ----------
    table : AnyTable
    experiments : tuple of Experiment
    title, about : str
        For people; may be empty.
    views : tuple of str
        Object names of the pictures to show first, side by side.
    test_table : Table or None
        Of the scheme ``"file"``; each run uses it with its own roles and label.
    """

    table: AnyTable
    experiments: tuple[Experiment, ...]
    title: str = ""
    about: str = ""
    views: tuple[str, ...] = ()
    test_table: Table | None = None

    def plans(self) -> list[PlannedRun]:
        """Return each experiment with its tables."""
        return [PlannedRun(one, self.table, self.test_table) for one in self.experiments]


def read_study(path: str | Path, choose: ChooseReader = lambda *_: read_table) -> ExperimentFile:
    """Read an experiment file and its table; check everything before anything is trained.

    Parameters
    ----------
    path : str or Path
    choose : callable
        Given the file of the table and the methods, returns the reader of the table.

    Raises
    ------
    InputError
        If a file cannot be read or is invalid; the sentence names the place.
    """
    path = Path(path)
    return plan_document(path, _parse(path), choose)


def plan_document(
    path: Path, document: Mapping[str, Any], choose: ChooseReader = lambda *_: read_table
) -> ExperimentFile:
    """Read the table of a parsed experiment, and check both.

    Parameters
    ----------
    path : Path
        The experiment file, or its name in messages; names of files are relative to its folder.
    document : mapping
        The keys of an experiment file.
    choose : callable
        As for :func:`read_study`.

    Raises
    ------
    InputError
        As :func:`read_study`.
    """
    try:
        return _study(path, document, choose)
    except InvalidSetting as error:
        raise InputError(f"{path}: {error}", file=str(path), setting=error.setting) from error


def check_document(path: str | Path) -> None:
    """Check an experiment file, with its runs if its table exists; InputError if it is invalid."""
    path = Path(path)
    document = read_document(path, _parse(path))
    if document.data.file and Path(_beside(path, document.data.file)).exists():
        read_study(path)


def _parse(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path, "the experiment", _MOST_BYTES) as file:
            text = file.read().decode("utf-8-sig")
        _check_keys(text)
        document = tomllib.loads(text)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:  # not TOML, not text, too long, too deep
        raise InputError(f"{path} is not valid TOML: {error}", file=str(path)) from error
    found = document.get("format", FORMAT)
    if not isinstance(found, int) or found > FORMAT:
        raise InputError(
            f"{path} was written by a newer AUC Studio (experiment format {found}; this program "
            f"reads up to {FORMAT}): update the program",
            file=str(path),
        )
    return document


def _check_keys(text: str) -> None:
    """Refuse keys of very many parts: parsing time grows with the square of their number."""
    for found in _DOTTED.finditer(text):
        if found[0].count(".") >= MOST_DEPTH and len(re.findall(_PART, found[0])) > MOST_DEPTH:
            raise ValueError(f"a key has more than {MOST_DEPTH} parts")


def _study(path: Path, given: Mapping[str, Any], choose: ChooseReader) -> ExperimentFile:
    document = read_document(path, given)
    data, runs = document.data, document.runs
    if not data.file or not runs:
        raise InputError(f"{path} needs a [data] file and at least one [[runs]]", file=str(path))
    file = _beside(path, data.file)
    read = choose(file, [run.method for run in runs])
    table = read(
        file,
        label=data.label,
        positive=_names(data.positive),
        merge=list(map(_names, data.merge)) if isinstance(data.merge, list) else data.merge,
        roles=data.roles,
        dialect={part: getattr(data.dialect, part) for part in given["data"].get("dialect", ())},
    )
    if data.missing or data.spellings or data.parts:
        table = table.with_roles(absent=data.missing, same=data.spellings, parts=data.parts)
    validation = document.validation
    if validation.test_file:
        test_file = _beside(path, validation.test_file)
        validation = dataclasses.replace(validation, test_file=test_file)
    band = DEFAULT_BAND if document.fpr_range is None else tuple(document.fpr_range)
    if len(band) != 2:
        raise InputError(f"{path}: fpr_range takes two numbers", setting="fpr_range")
    usual = document.preparation
    planned: list[PlannedRun] = []
    for run in runs:
        experiment = _experiment(path, run, table, validation, (band[0], band[1]), usual)
        planned.append(planned_run(experiment, table, planned[0].test_table if planned else None))
    return ExperimentFile(
        table,
        tuple(run.experiment for run in planned),
        document.title,
        document.about,
        tuple(document.views),
        planned[0].test_table,
    )


def _names(given: Any) -> Any:
    """Convert classes to text: in TOML a class may be a number."""
    if given is None or isinstance(given, str):
        return given
    return [str(name) for name in given] if isinstance(given, list) else str(given)


def _beside(path: Path, name: str) -> str:
    if "\0" in name:
        raise InputError(f"{path}: no file can be named {name!r}", file=str(path), setting="file")
    return str(path.parent / name)


def _experiment(
    path: Path,
    run: RunPart,
    table: AnyTable,
    validation: Validation,
    band: Band,
    usual: PreparationChoice,
) -> Experiment:
    try:
        known_method(run.method)
    except InputError as error:
        raise InputError(f"{path}: {error}", setting=error.setting) from error
    seen, joined, given = table, None, run.scores
    if given is not None:
        source = ScoreSource(_beside(path, given.file), given.key, given.identifier)
        joined = source.join(table, given.column, validation)
        seen = scored_by(joined.table, joined.scores.name)
    seen = seen.with_roles(roles=run.roles)
    settings = read_settings(run.method, run.settings, band)
    tuning = Tuning(run.tune) if isinstance(run.tune, str) else run.tune
    choice = usual if run.preparation is None else run.preparation
    planned = plan_on(seen, run.method, settings, validation, band, tuning, choice)
    planned = planned if joined is None else planned.with_score_file(joined.scores)
    return dataclasses.replace(planned, name=run.name)
