"""Build checked experiments from the keys of an experiment file."""

from __future__ import annotations

import dataclasses
import re
import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from aucstudio.notices.words import suggestion
from aucstudio.project import typed
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.validation import Validation, scheme_of
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.planning import (
    DEFAULT_BAND,
    PlannedRun,
    joinable,
    plan_on,
    planned_run,
    read_settings,
    scored_by,
)
from aucstudio.project.runs.tuning import Tuning

if TYPE_CHECKING:
    from aucstudio.project.data.score_file import Joined

ChooseReader = Callable[[str, Sequence[str]], Callable[..., AnyTable]]
_LARGEST = sys.float_info.max
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}


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


def plan_runs(
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
    file = beside(folder, data.file)
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
        test_file = beside(folder, validation.test_file)
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


def beside(folder: Path, name: str) -> str:
    """Return the path of a file whose name is relative to a folder."""
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
    if given is not None and given.file:
        joined = _join(given, joinable(table, validation), folder)
        table = joined.table
    if given is not None:
        column = given.column if joined is None else joined.scores.name
        table, name = scored_by(table, column), name or column
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


def _join(given: ScoresPart, table: Table, folder: Path) -> Joined:
    """Join the scores of a file to a table; InputError if they do not fit."""
    from aucstudio.project.data.score_file import join_scores, read_score_file

    scores = read_score_file(beside(folder, given.file))
    return join_scores(table, scores, given.column, given.key, given.identifier)


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
