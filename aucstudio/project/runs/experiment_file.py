"""Experiment files (``*.toml``): a table and the runs to make on it, to be read by people too.

format = 1
title = "Which scorer?"    # optional, as is what it is about
about = "Three methods on the same rows."
views = ["roc_view"]       # optional: the pictures to begin with, side by side
fpr_range = [0.0, 0.1]

[data]
file = "wdbc.csv"          # beside the experiment file unless absolute
label = "diagnosis"        # guessed if left out, as is the positive class
positive = "M"
roles = { id = "ignore" }

[validation]
scheme = "folds"           # holdout, folds, file, leave-pair-out
folds = 10

[[runs]]
method = "auc-svm"
name = "all pairs"         # optional
tune = "pauc"              # optional: auc, pauc, leave-pair-out
settings = { C = 10.0, n_neighbors = "none" }
roles = { age = "ignore" } # optional: columns this run sees otherwise
"""

from __future__ import annotations

import dataclasses
import json
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aucstudio.engine import METHODS
from aucstudio.engine.params import InvalidSetting, Param, declared_params
from aucstudio.project.data.split import FILE, Validation
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.errors import InputError
from aucstudio.project.inputs import open_regular
from aucstudio.project.runs.estimate import check_size
from aucstudio.project.runs.experiment import Band, DataReference, Experiment
from aucstudio.project.runs.grouping import check_groups
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.words import suggestion

FORMAT = 1
_MOST_BYTES = 4_000_000
_BAND = (0.0, 0.1)
_KEYS = {
    "": {"format", "title", "about", "views", "fpr_range", "data", "validation", "runs"},
    "data": {"file", "label", "positive", "roles"},
    "validation": {field.name for field in dataclasses.fields(Validation)},
    "runs": {"method", "name", "settings", "tune", "roles"},
}


@dataclasses.dataclass(frozen=True, eq=False)
class Study:
    """What an experiment file asks for, with its table in memory.

    Attributes
    ----------
    table : Table
    experiments : tuple of Experiment
    title, about : str
        What a person reads; may be empty.
    views : tuple of str
        Object names of the pictures to begin with, side by side.
    """

    table: Table
    experiments: tuple[Experiment, ...]
    title: str = ""
    about: str = ""
    views: tuple[str, ...] = ()


def read_study(path: str | Path) -> Study:
    """Read an experiment file and its table; check everything before anything is trained.

    Raises
    ------
    InputError
        If a file cannot be read, or holds what we do not know; the sentence names the place.
    """
    path = Path(path)
    document = _parse(path)
    try:
        return _study(path, document)
    except InvalidSetting as error:
        raise InputError(f"{path}: {error}", file=str(path), setting=error.setting) from error
    except (TypeError, AttributeError) as error:
        raise InputError(f"{path} is not laid out as an experiment: {error}") from error


def _parse(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path, "the experiment", _MOST_BYTES) as file:
            document = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not valid TOML: {error}", file=str(path)) from error
    found = document.get("format", FORMAT)
    if not isinstance(found, int) or found > FORMAT:
        raise InputError(
            f"{path} was written by a newer AUC Studio (experiment format {found}; this program "
            f"reads up to {FORMAT}): update the program",
            file=str(path),
        )
    return document


def _study(path: Path, document: Mapping[str, Any]) -> Study:
    _require_known(path, "", document)
    data, runs = document.get("data", {}), document.get("runs", [])
    _require_known(path, "data", data)
    if "file" not in data or not runs:
        raise InputError(f"{path} needs a [data] file and at least one [[runs]]", file=str(path))
    roles = dict(data.get("roles", {}))
    table = read_table(_beside(path, data["file"])).with_roles(
        label=data.get("label"), positive=data.get("positive"), roles=roles
    )
    validation = _validation(path, document.get("validation", {}))
    band = tuple(float(end) for end in document.get("fpr_range", _BAND))
    if len(band) != 2:
        raise InputError(f"{path}: fpr_range takes two numbers", setting="fpr_range")
    planned = [_experiment(path, run, table, validation, (band[0], band[1])) for run in runs]
    for experiment in planned:
        seen = experiment.data.seen(table)
        check_size(experiment, seen)
        check_groups(validation, seen)
    about, views = document.get("about", ""), tuple(document.get("views", ()))
    return Study(table, tuple(planned), document.get("title", ""), about, views)


def _require_known(path: Path, place: str, found: Mapping[str, Any]) -> None:
    for key in found:
        if key not in _KEYS[place]:
            where = f" in [{place}]" if place else ""
            raise InputError(
                f"{path}: unknown key {key!r}{where}{suggestion(key, _KEYS[place])} (there are "
                f"{', '.join(sorted(_KEYS[place]))})",
                file=str(path),
                setting=key,
            )


def _beside(path: Path, name: str) -> str:
    return str(path.parent / name)


def _validation(path: Path, given: Mapping[str, Any]) -> Validation:
    _require_known(path, "validation", given)
    values = dict(given)
    if values.get("test_file"):
        values = {"scheme": FILE, **values, "test_file": _beside(path, values["test_file"])}
    return Validation(**values)


def _experiment(
    path: Path,
    run: Mapping[str, Any],
    table: Table,
    validation: Validation,
    band: Band,
) -> Experiment:
    _require_known(path, "runs", run)
    data = DataReference.to_table(table.with_roles(roles=dict(run.get("roles", {}))))
    method = run.get("method", "")
    if method not in METHODS:
        raise InputError(
            f"{path}: unknown method {method!r}{suggestion(str(method), METHODS)} (there are "
            f"{', '.join(METHODS)})",
            setting="method",
        )
    known = declared_params(METHODS[method])
    settings: dict[str, Any] = {"fpr_range": band} if "fpr_range" in known else {}
    for name, value in run.get("settings", {}).items():
        settings[name] = _read_value(known.get(name), value)
    tuning = Tuning(run["tune"], seed=validation.seed) if "tune" in run else None
    planned = plan_experiment(data, method, settings, validation, band, tuning)
    return dataclasses.replace(planned, name=str(run.get("name", "")))


def _read_value(declared: Param | None, value: Any) -> Any:
    """Read a setting as TOML has it: it knows no None, no pairs and no words for numbers."""
    if declared is not None and isinstance(value, str):
        return declared.parse(value)
    if isinstance(value, list):
        return tuple(value)
    if declared is not None and declared.kind == "float" and isinstance(value, int):
        return value if isinstance(value, bool) else float(value)
    return value


def write_study(
    experiments: Sequence[Experiment], folder: str | Path, views: Sequence[str] = ()
) -> str:
    """Write experiments on one table as an experiment file that will lie in a folder.

    ``views`` names the pictures to begin with, side by side.

    Raises
    ------
    InputError
        If the experiments differ in table, validation or range.
    """
    first = experiments[0]
    if any(_frame(other) != _frame(first) for other in experiments[1:]):
        raise InputError(
            "one experiment file has one table, validation and FPR range; these runs differ in them"
        )
    data = first.data
    special = {name: role for name, role in data.roles if role != "label"}
    lines = [
        f"format = {FORMAT}",
        *([f"views = {json.dumps(list(views))}"] if views else []),
        f"fpr_range = {_toml(list(first.band))}",
        "",
        "[data]",
        f"file = {_toml(_relative(data.path, folder))}",
        f"label = {_toml(data.label)}",
        f"positive = {_toml(data.positive)}",
        f"roles = {_table(special)}",
        "",
        "[validation]",
        *_validation_lines(first.validation, folder),
    ]
    for experiment in experiments:
        own = {name: role for name, role in experiment.data.roles if role != dict(data.roles)[name]}
        lines += ["", *_run_lines(experiment, own)]
    return "\n".join(lines) + "\n"


def _frame(experiment: Experiment) -> tuple[object, ...]:
    data = dataclasses.replace(experiment.data, roles=())
    return data, experiment.validation, experiment.band


def _relative(target: str, folder: str | Path) -> str:
    """Name a file from a folder, so that both can be moved together."""
    try:
        return Path(os.path.relpath(target, folder)).as_posix()
    except ValueError:  # on another drive
        return target


def _validation_lines(validation: Validation, folder: str | Path) -> Iterable[str]:
    values = validation.as_json()
    if values["test_file"]:
        values["test_file"] = _relative(values["test_file"], folder)
    return (f"{name} = {_toml(value)}" for name, value in values.items() if value != "")


def _run_lines(experiment: Experiment, roles: Mapping[str, str]) -> list[str]:
    known = declared_params(METHODS[experiment.method])
    settings = {
        name: _plain(known[name], value)
        for name, value in experiment.params.items()
        if known[name].matters(experiment.params)
    }
    lines = ["[[runs]]", f"method = {_toml(experiment.method)}"]
    if experiment.name:
        lines.append(f"name = {_toml(experiment.name)}")
    if roles:
        lines.append(f"roles = {_table(roles)}")
    if experiment.tuning is not None:
        lines.append(f"tune = {_toml(experiment.tuning.metric)}")
    return [*lines, f"settings = {_table(settings)}"]


def _plain(declared: Param, value: Any) -> Any:
    return declared.spell(value) if value is None else value


def _table(values: Mapping[str, Any]) -> str:
    inside = ", ".join(f"{_toml(name)} = {_toml(value)}" for name, value in values.items())
    return f"{{ {inside} }}" if inside else "{}"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(float(item)) for item in value) + "]"
    # A JSON string is a TOML string, but for DEL.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007F")
