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
scores = { file = "s.csv", column = "risk" }  # for method "marker"; without file, of the table
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from aucstudio.engine import DECLARED
from aucstudio.engine.params import InvalidSetting, Param, declared_params
from aucstudio.project.data.input_files import MOST_DEPTH, open_regular
from aucstudio.project.data.preparing.preparation_choice import PreparationChoice
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.experiment_keys import (
    ChooseReader,
    ExperimentFile,
    beside,
    plan_runs,
    read_document,
)
from aucstudio.project.runs.tuning import Tuning

FORMAT = 1
_MOST_BYTES = 4_000_000
_PART = r"(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')"
_DOTTED = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+")
_FILE = "experiment.toml"


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
    with _named(path):
        return plan_runs(_parse(path), path.parent, choose)


def check_document(path: str | Path) -> None:
    """Check an experiment file, with its runs if its table exists; InputError if it is invalid."""
    path = Path(path)
    with _named(path):
        document = read_document(_parse(path))
        if document.data.file and Path(beside(path.parent, document.data.file)).exists():
            read_study(path)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name an experiment file in errors that name no file."""
    try:
        yield
    except (InputError, InvalidSetting) as error:
        if getattr(error, "file", None) is not None:
            raise
        raise InputError(f"{path}: {error}", file=str(path), setting=error.setting) from error


def _parse(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path, "the experiment", _MOST_BYTES) as file:
            text = file.read().decode("utf-8-sig")
        _check_dotted_keys(text)
        document = tomllib.loads(text)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:  # not TOML, not text, too long, too deep
        raise InputError(f"{path} is not valid TOML: {error}", file=str(path)) from error
    found = document.get("format", FORMAT)
    if not isinstance(found, int) or found > FORMAT:
        raise input_error("experiment_too_new", file=path, found=found, known=FORMAT)
    return document


def _check_dotted_keys(text: str) -> None:
    """Refuse keys of very many parts: parsing time grows with the square of their number."""
    for found in _DOTTED.finditer(text):
        if found[0].count(".") >= MOST_DEPTH and len(re.findall(_PART, found[0])) > MOST_DEPTH:
            raise ValueError(f"a key has more than {MOST_DEPTH} parts")


def write_study(
    experiments: Sequence[Experiment], folder: str | Path | None, views: Sequence[str] = ()
) -> str:
    """Return experiments on one table as the text of an experiment file.

    Names of files are relative to ``folder``, or absolute without one. ``views`` names the pictures
    to show first, side by side.

    Raises
    ------
    InputError
        If the experiments differ in table, validation or range, or one combines finished runs.
    """
    for experiment in experiments:
        experiment.require_training()
    first = experiments[0]
    if any(_frame(other) != _frame(first) for other in experiments[1:]):
        raise input_error("experiments_differ")
    data, usual = first.data.without_scores(), first.preparation
    roles = dict(data.roles)
    document = {
        "format": FORMAT,
        **({"views": list(views)} if views else {}),
        "fpr_range": [float(end) for end in first.band],
        "data": {
            "file": _relative(data.path, folder),
            "label": data.label,
            "positive": list(data.rule.together) or data.positive,
            **({"merge": [list(group) for group in data.rule.same]} if data.rule.same else {}),
            **_reading_part(data.schema),
            "roles": {name: role for name, role in data.roles if role != "label"},
        },
        "validation": _validation_part(first.validation, folder),
        **({"preparation": usual.given()} if usual.given() else {}),
        "runs": [
            _run_part(one, {n: role for n, role in _roles(one) if role != roles[n]}, usual, folder)
            for one in experiments
        ],
    }
    return tomli_w.dumps(document)


def _roles(experiment: Experiment) -> tuple[tuple[str, str], ...]:
    """Return the roles of the columns of a table, without scores of files."""
    return experiment.data.without_scores().roles


def _frame(experiment: Experiment) -> tuple[object, ...]:
    schema = Schema((), experiment.data.sha256)
    data = dataclasses.replace(experiment.data, schema=schema, scores=())
    schema = experiment.data.schema
    chosen = schema.absent, schema.same, schema.parts
    return data, schema.rule, chosen, schema.dialect, experiment.validation, experiment.band


def _reading_part(schema: Schema) -> dict[str, Any]:
    given = {
        "missing": schema.absent,
        "spellings": schema.same,
        "parts": schema.parts,
        "dialect": {part: getattr(schema.dialect, part) for part in schema.chosen},
    }
    return {key: msgspec.to_builtins(value) for key, value in given.items() if value}


def _relative(target: str, folder: str | Path | None) -> str:
    """Return the path of a file relative to a folder, so that both can be moved together."""
    if folder is None:
        return str(Path(target).absolute())
    try:
        return Path(os.path.relpath(target, folder)).as_posix()
    except ValueError:  # on another drive
        return target


def _validation_part(validation: Validation, folder: str | Path | None) -> dict[str, Any]:
    values = validation.as_json()
    if values["test_file"]:
        values["test_file"] = _relative(values["test_file"], folder)
    return {name: value for name, value in values.items() if value != ""}


def _run_part(
    experiment: Experiment,
    roles: Mapping[str, str],
    usual: PreparationChoice,
    folder: str | Path | None,
) -> dict[str, Any]:
    known = declared_params(DECLARED[experiment.method])
    settings = {
        name: _plain(known[name], value)
        for name, value in experiment.params.items()
        if known[name].matters(experiment.params) or value != known[name].default
    }
    part: dict[str, Any] = {"method": experiment.method}
    if experiment.name:
        part["name"] = experiment.name
    if experiment.tuning is not None:
        tuning = experiment.tuning
        usual_search = Tuning(tuning.metric, seed=experiment.validation.seed)
        part["tune"] = tuning.metric if tuning == usual_search else dataclasses.asdict(tuning)
    if roles:
        part["roles"] = dict(roles)
    if experiment.preparation != usual:
        part["preparation"] = dataclasses.asdict(experiment.preparation)
    for given in experiment.data.scores:
        place = {"file": _relative(given.path, folder), "column": given.column}
        part["scores"] = place | {"key": given.key, "identifier": given.identifier}
    return {**part, "settings": settings}


def _plain(declared: Param, value: Any) -> Any:
    """Convert a setting for TOML, which has no None."""
    if isinstance(value, tuple):
        return [float(end) for end in value]
    return declared.spell(value) if value is None else value


def command_line(experiment: Experiment) -> str:
    """Return the shell commands that repeat an experiment to the same numbers."""
    if experiment.members:
        band = ",".join(repr(float(end)) for end in experiment.band)
        words = ["aucstudio", "combine", "PROJECT", *experiment.members, "--fpr-range", band]
        return (
            "# Combines finished runs, named here by their ids, of the project that holds them.\n"
            f"{shlex.join(words)}"
        )
    study = write_study([experiment], None)
    end = next(word for word in ("END", "END_OF_STUDY") if word not in study.splitlines())
    return f"cat > {_FILE} <<'{end}'\n{study}{end}\naucstudio run {_FILE}"
