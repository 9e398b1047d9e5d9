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
import sys
import tomllib
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import tomli_w
from msgspec import Struct

from aucstudio.engine import DECLARED
from aucstudio.engine.params import InvalidSetting, Param, declared_params
from aucstudio.notices.words import suggestion
from aucstudio.project import typed
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.input_files import MOST_DEPTH, open_regular
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.validation import Validation, scheme_of
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.planning import (
    DEFAULT_BAND,
    PlannedRun,
    ScoreSource,
    given_scores,
    plan_on,
    planned_run,
    read_settings,
)
from aucstudio.project.runs.tuning import Tuning

ChooseReader = Callable[[str, Sequence[str]], Callable[..., AnyTable]]
FORMAT = 1
_MOST_BYTES = 4_000_000
_LARGEST = sys.float_info.max
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
_PART = r"(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')"
_DOTTED = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+")
_FILE = "experiment.toml"


@dataclasses.dataclass(frozen=True, eq=False)
class ExperimentFile:
    """The experiments of a file, with their table.

    Attributes
    ----------
    table : AnyTable
    plans : tuple of PlannedRun
        They share the table and the test file.
    title, about : str
        For people; may be empty.
    views : tuple of str
        Object names of the pictures to show first, side by side.
    """

    table: AnyTable
    plans: tuple[PlannedRun, ...]
    title: str = ""
    about: str = ""
    views: tuple[str, ...] = ()

    @property
    def experiments(self) -> tuple[Experiment, ...]:
        """The experiments without their tables."""
        return tuple(plan.experiment for plan in self.plans)


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
        return plan_document(_parse(path), path.parent, choose)


def check_document(path: str | Path) -> None:
    """Check an experiment file, with its runs if its table exists; InputError if it is invalid."""
    path = Path(path)
    with _named(path):
        document = read_document(_parse(path))
        if document.data.file and Path(_beside(path.parent, document.data.file)).exists():
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


def plan_document(
    given: Mapping[str, Any],
    folder: Path = Path(),
    choose: ChooseReader = lambda *_: read_table,
) -> ExperimentFile:
    """Read the table of an experiment; check everything before anything is trained.

    Parameters
    ----------
    given : mapping
        The keys of an experiment file.
    folder : Path
        The folder that names of files are relative to.
    choose : callable
        As for :func:`read_study`.

    Raises
    ------
    InputError, InvalidSetting
    """
    document = read_document(given)
    data, runs = document.data, document.runs
    if not data.file or not runs:
        raise InputError("an experiment needs a [data] file and at least one [[runs]]")
    for run in runs:  # reading the table may take long
        read_settings(run.method, run.settings, document.fpr_range)
    file = _beside(folder, data.file)
    read = choose(file, [run.method for run in runs])
    table = read(
        file,
        label=data.label,
        positive=_names(data.positive),
        merge=list(map(_names, data.merge)) if isinstance(data.merge, list) else data.merge,
        roles=data.roles,
        absent=data.missing,
        parts=data.parts,
        dialect={part: getattr(data.dialect, part) for part in given["data"].get("dialect", ())},
    )
    if data.spellings:
        table = table.with_roles(same=data.spellings)
    validation = document.validation
    if validation.test_file:
        test_file = _beside(folder, validation.test_file)
        document.validation = dataclasses.replace(validation, test_file=test_file)
    planned: list[PlannedRun] = []
    for run in runs:
        test_table = planned[0].test_table if planned else None
        planned.append(_planned(document, run, folder, table, test_table))
    words = document.title, document.about, tuple(document.views)
    return ExperimentFile(table, tuple(planned), *words)


def _names(given: Any) -> Any:
    """Convert classes to text: in TOML a class may be a number."""
    if given is None or isinstance(given, str):
        return given
    return [str(name) for name in given] if isinstance(given, list) else str(given)


def _beside(folder: Path, name: str) -> str:
    if "\0" in name:
        raise InputError(f"no file can be named {name!r}", setting="file")
    return str(folder / name)


def _planned(
    document: ExperimentDocument,
    run: RunPart,
    folder: Path,
    table: AnyTable,
    test_table: Table | None,
) -> PlannedRun:
    validation, band, name = document.validation, document.fpr_range, run.name
    joined, given = None, run.scores
    if given is not None:
        file = _beside(folder, given.file)
        source = ScoreSource(file, given.key, given.identifier) if given.file else None
        table, joined = given_scores(table, given.column, validation, source)
        name = name or (given.column if joined is None else joined.scores.name)
    seen = table.with_roles(roles=run.roles)
    settings = read_settings(run.method, run.settings, band)
    tuning = Tuning(run.tune) if isinstance(run.tune, str) else run.tune
    choice = document.preparation if run.preparation is None else run.preparation
    experiment = plan_on(seen, run.method, settings, validation, band, tuning, choice)
    experiment = dataclasses.replace(experiment, name=name)
    if joined is None:
        return planned_run(experiment, table, test_table)
    planned = planned_run(experiment.with_score_file(joined.scores), table, test_table)
    return dataclasses.replace(planned, remark=joined.sentence())


class DataPart(Struct, forbid_unknown_fields=True):
    """The table; what is absent is guessed."""

    file: str = ""
    label: str | None = None
    positive: str | int | float | list[str | int | float] | None = None
    merge: bool | list[list[str | int | float]] | None = None
    missing: dict[str, list[int | float]] = {}
    spellings: dict[str, bool | list[list[str]]] = {}
    parts: dict[str, list[str]] = {}
    roles: dict[str, str] = {}
    dialect: Dialect = Dialect()


class ScoresPart(Struct, forbid_unknown_fields=True):
    """Scores, which are the only column of a run: of a file, or of the table without one.

    The columns that identify rows are guessed.
    """

    column: str
    file: str = ""
    key: str | None = None
    identifier: str | None = None


class RunPart(Struct, forbid_unknown_fields=True):
    """One run; its method checks the settings."""

    method: str
    name: str = ""
    tune: str | Tuning | None = None
    settings: dict[str, bool | int | float | str | list[Any]] = {}
    roles: dict[str, str] = {}
    preparation: PreparationChoice | None = None
    scores: ScoresPart | None = None


class ExperimentDocument(Struct, forbid_unknown_fields=True):
    """The whole file."""

    format: int = 1
    title: str = ""
    about: str = ""
    views: list[str] = []
    fpr_range: tuple[float, float] = DEFAULT_BAND
    data: DataPart = msgspec.field(default_factory=DataPart)
    validation: Validation = Validation()
    preparation: PreparationChoice = USUAL
    runs: list[RunPart] = []


def read_document(document: Mapping[str, Any]) -> ExperimentDocument:
    """Check parsed TOML, and fill in what follows from other keys.

    Raises
    ------
    InputError
        With the key and its value.
    """
    complete = _filled_in(document)
    _check(complete, ExperimentDocument, "")
    try:
        return typed.convert(complete, ExperimentDocument)
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, InputError):  # a value that cannot be
            raise error.__cause__ from None
        raise InputError(_type_error(str(error))) from error


def _filled_in(document: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in document.items() if value is not None}
    validation, runs = found.get("validation", {}), found.get("runs")
    if isinstance(validation, dict):
        if "scheme" not in validation:
            given = [key for key, value in validation.items() if value]
            found["validation"] = {"scheme": scheme_of(given), **validation}
        if isinstance(runs, list):
            # The seed of the splits is the default seed of searches.
            seed = {"seed": validation["seed"]} if "seed" in validation else {}
            found["runs"] = [_with_seed(run, seed) for run in runs]
    return found


def _with_seed(run: Any, seed: Mapping[str, Any]) -> Any:
    if not isinstance(run, dict) or not isinstance(run.get("tune"), str | dict):
        return run
    tune = {"metric": run["tune"]} if isinstance(run["tune"], str) else run["tune"]
    return {**run, "tune": {**seed, **tune}}


def _check(value: Any, kind: Any, place: str) -> None:
    """Refuse unknown keys and numbers that are not finite, with all that a value contains.

    msgspec ignores unknown keys of dataclasses, and takes infinite numbers.
    """
    if isinstance(value, int | float) and not abs(value) <= _LARGEST:
        raise input_error("experiment_number", place=_shown(place), setting=place.split(".")[-1])
    if isinstance(value, list):
        for k, item in enumerate(value):
            _check(item, kind, f"{place}[{k}]")
    elif isinstance(value, dict):
        known = {} if kind is None else typing.get_type_hints(kind)
        for name, item in value.items():
            if known and name not in known:
                raise input_error(
                    "experiment_key",
                    setting=name,
                    name=name,
                    place=_shown(place),
                    hint=suggestion(name, known),
                    known=sorted(known),
                )
            inner = known.get(name)
            tables = [one for one in (inner, *typing.get_args(inner)) if _is_table(one)]
            _check(item, tables[0] if tables else None, f"{place}.{name}" if place else name)


def _is_table(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind) or hasattr(kind, "__struct_fields__")


def _shown(place: str) -> str:
    """Write a place as people do: ``[[runs]] number 1, settings.C``."""
    found = re.fullmatch(r"runs\[(\d+)\]\.?(.*)", place)
    return (
        place if found is None else f"[[runs]] number {int(found[1]) + 1}, {found[2]}".rstrip(", ")
    )


def _type_error(message: str) -> str:
    """Return what is wrong with a value, from a message of msgspec."""
    problem, _, place = message.partition(" - at `$")
    words = re.sub(
        "`([^`]*)`",
        lambda found: " or ".join(_WORDS.get(kind, kind) for kind in found[1].split(" | ")),
        problem[:1].lower() + problem[1:],
    )
    # msgspec writes keys of tables that it does not know as "[...]".
    return f"{_shown(place.strip('`.').partition('[...]')[0])}: {words}".removeprefix(": ")


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
