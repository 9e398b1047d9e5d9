"""Write experiments as TOML files and shell scripts."""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from aucstudio.engine import DECLARED
from aucstudio.engine.params import Param, declared_params
from aucstudio.project.data.preparing.preparation_choice import PreparationChoice
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.experiments.experiment_file import FORMAT
from aucstudio.project.runs.tuning import Tuning


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
        raise InputError(
            "one experiment file has one table, validation and FPR range; these runs differ in them"
        )
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


_FILE = "experiment.toml"


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
