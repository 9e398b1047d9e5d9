"""Build checked experiments from requests: from values, or from the keys of an experiment file."""

from __future__ import annotations

import dataclasses
import re
import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct

from aucstudio.engine import DECLARED
from aucstudio.engine.params import InvalidSetting, check_settings, declared_params
from aucstudio.notices.words import suggestion
from aucstudio.project import typed
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.groups import find_groups
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.validation import (
    FILE,
    FORWARD,
    LEAVE_PAIR_OUT,
    Validation,
    pairs_break_groups,
    require_groups,
    scheme_of,
    splits_of,
    time_column,
)
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.estimate import check_size, check_stream
from aucstudio.project.runs.experiment import (
    Band,
    DataReference,
    Experiment,
    check_band,
)
from aucstudio.project.runs.tuning import Tuning, check_tuning

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier
    from aucstudio.project.data.score_file import Joined

ChooseReader = Callable[[str, Sequence[str]], Callable[..., AnyTable]]
DEFAULT_BAND: Band = (0.0, 0.1)
_LARGEST = sys.float_info.max
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
_EASY = 200_000  # rows whose times are sorted before a run
_FEATURE_ROLES = ("number", "category")


def plan_experiment(
    data: DataReference,
    method: str,
    settings: Mapping[str, Any],
    validation: Validation,
    band: Band = DEFAULT_BAND,
    tuning: Tuning | None = None,
    preparation: PreparationChoice = USUAL,
) -> Experiment:
    """Return a checked experiment with all defaults filled in.

    Raises
    ------
    InputError
        If the method is unknown, the band is not a range within [0, 1], or method, validation and
        tuning exclude each other.
    InvalidSetting
        If a setting is unknown or out of range.
    """
    known = known_method(method)
    for name in settings:
        _require_setting(known, name)
    check_settings(known, settings)
    check_band(band)
    defaults = {name: declared.default for name, declared in declared_params(known).items()}
    params = defaults | {n: _as_declared(known, n, value) for n, value in settings.items()}
    if tuning is not None:
        check_tuning(known, params, tuning)
    _check_together(known, data, validation, tuning)
    return Experiment(data, validation, method, params, band, tuning, preparation=preparation)


def _as_declared(method: type[AUCClassifier], name: str, value: Any) -> Any:
    """Convert a setting to the type of its kind: 1 and 1.0 are the same experiment."""
    kind = declared_params(method)[name].kind
    if value is None or isinstance(value, str | bool):
        return value
    if kind in ("float", "int"):
        return float(value) if kind == "float" else int(value)
    return tuple(float(end) for end in value) if kind == "range" else value


def known_method(name: str) -> type[AUCClassifier]:
    """Return a method by its id; InputError with a suggestion if it is unknown."""
    if name in DECLARED:
        return DECLARED[name]
    raise input_error(
        "unknown_method", name=name, hint=suggestion(name, DECLARED), methods=", ".join(DECLARED)
    )


def _require_setting(method: type[AUCClassifier], name: str) -> None:
    known = declared_params(method)
    if name not in known:
        raise InvalidSetting(
            name,
            f"unknown setting {name!r}{suggestion(name, known)} ({method.key} has "
            f"{', '.join(known) or 'none'})",
        )


def read_settings(method: str, given: Mapping[str, Any], band: Band) -> dict[str, Any]:
    """Parse settings of a method from a command line or an experiment file.

    Parameters
    ----------
    given : mapping
        Values or their text. A method that trains for a false-positive range trains for the band
        unless another range is given.

    Raises
    ------
    InputError, InvalidSetting
    """
    chosen = known_method(method)
    known = declared_params(chosen)
    settings: dict[str, Any] = {"fpr_range": band} if "fpr_range" in known else {}
    for name, value in given.items():
        _require_setting(chosen, name)
        settings[name] = known[name].parse(value) if isinstance(value, str) else value
    check_settings(chosen, settings)
    return settings


def plan_on(
    table: AnyTable,
    method: str,
    settings: Mapping[str, Any],
    validation: Validation,
    band: Band,
    tuning: Tuning | None = None,
    preparation: PreparationChoice = USUAL,
) -> Experiment:
    """Plan an experiment on a table, in memory or not.

    Raises
    ------
    InputError, InvalidSetting
        As :func:`plan_experiment`, and if the table is too large.
    """
    data = DataReference.to_table(table)
    experiment = plan_experiment(data, method, settings, validation, band, tuning, preparation)
    if isinstance(table, Table):
        check_size(experiment, table)
    else:
        check_stream(experiment)
    return experiment


def _check_together(
    method: type[AUCClassifier], data: DataReference, validation: Validation, tuning: Tuning | None
) -> None:
    """Refuse methods, schemes and searches that exclude each other, groups or weights of rows."""
    in_search = tuning is not None and tuning.metric == LEAVE_PAIR_OUT
    setting = "tune" if in_search else "validation"
    if validation.scheme == LEAVE_PAIR_OUT and not method.leaves_pairs_out:
        able = [other.title for other in DECLARED.values() if other.leaves_pairs_out]
        raise input_error("no_closed_form", title=method.title, able=", ".join(able))
    if validation.scheme == LEAVE_PAIR_OUT and tuning is not None:
        raise input_error("tuned_on_its_pairs")
    leaves_pairs_out = in_search or validation.scheme == LEAVE_PAIR_OUT
    groups = [name for name, role in data.roles if role == "group"]
    if groups and leaves_pairs_out:
        raise pairs_break_groups(" and ".join(groups), setting)
    weight = data.schema.weight
    if weight is not None and not method.takes_weights:
        able = [other.title for other in DECLARED.values() if other.takes_weights]
        raise input_error(
            "takes_no_weights", column=weight, title=method.title, able=", ".join(able)
        )
    if weight is not None and leaves_pairs_out:
        raise input_error("pairs_take_no_weights", column=weight, setting=setting)


@dataclasses.dataclass(frozen=True, eq=False)
class PlannedRun:
    """An experiment with its tables, and a remark on them."""

    experiment: Experiment
    table: AnyTable
    test_table: Table | None
    remark: str = ""


def planned_run(
    experiment: Experiment, table: AnyTable, test_table: Table | None = None
) -> PlannedRun:
    """Read the test file of an experiment if there is one, and check groups and weights.

    Parameters
    ----------
    experiment : Experiment
    table : AnyTable
    test_table : Table, optional
        The table of the test file, if it was read before.

    Raises
    ------
    InputError
        If the test file cannot be read or does not fit, or the groups or weights of the rows are
        invalid.
    """
    if test_table is None:
        test_table = read_test_table(experiment)
    if test_table is not None and experiment.test is None:
        experiment = experiment.tested_on(test_table)
    seen = experiment.data.seen(table)
    tested = None if test_table is None else experiment.as_test(test_table)
    check_groups(experiment.validation, seen, tested)
    for weighted in (seen, tested):
        if weighted is not None:
            weighted.weights  # noqa: B018  (raises an error if they are invalid)
    return PlannedRun(experiment, table, test_table)


def read_test_table(experiment: Experiment) -> Table | None:
    """Read the test file of the scheme ``"file"`` by the training schema; None for other schemes.

    Raises
    ------
    InputError
        If it cannot be read, does not fit, or has changed since the run.
    """
    if experiment.validation.scheme != FILE:
        return None
    data = experiment.data
    table = read_table(
        experiment.validation.test_file,
        label=data.label,
        positive=data.positive,
        schema=data.schema,
    )
    return experiment.as_test(table)


SomeTable = TypeVar("SomeTable", bound=AnyTable)


def score_columns(table: AnyTable) -> list[str]:
    """List the columns that can be scores: numbers other than the label."""
    return [c.name for c in table.columns if c.kind == "number" and c.role != "label"]


def scored_by(table: SomeTable, column: str) -> SomeTable:
    """Return the table with one feature column; its other features are ignored.

    Raises
    ------
    InputError
        If there is no column of this name and of numbers, or it is the label.
    """
    found = table.column(column)
    if found.role == "label" or found.kind == "text":
        what = "is the label" if found.role == "label" else "holds text"
        raise input_error("column_is_no_score", file=table.path, column=column, what=what)
    others = [c.name for c in table.columns if c.role in _FEATURE_ROLES and c.name != column]
    return table.with_roles(roles={**dict.fromkeys(others, "ignore"), column: "number"})


def joinable(table: AnyTable, validation: Validation) -> Table:
    """Return a table that scores of a file can be joined to.

    Raises
    ------
    InputError
        If the table stays on disk, or rows of another file are held out.
    """
    reason = "a test file" if validation.scheme == FILE else "an out-of-memory table"
    if validation.scheme == FILE or not isinstance(table, Table):
        raise input_error("scores_not_joined", reason=reason)
    return table


def check_groups(
    validation: Validation, table: AnyTable, test_table: AnyTable | None = None
) -> None:
    """Refuse a scheme that groups or times of rows do not allow, before anything is trained.

    Parameters
    ----------
    validation : Validation
    table : Table
    test_table : Table, optional
        Of the scheme ``"file"``.

    Raises
    ------
    InputError
        If a class lies within too few groups or times, or groups are in the test file too.
    """
    if validation.scheme == FORWARD:
        # Sorting many rows takes long; the run sorts them anyway.
        time_column(table, validation.time)
        if table.rows <= _EASY:
            splits_of(table, validation)
        return
    groups = table.groups
    if groups is None:
        return
    if validation.scheme != FILE:
        require_groups(table.is_positive(), validation, groups)
    elif test_table is not None:
        for name, values in zip(groups.columns, groups.values, strict=True):
            shared = sorted(values & _values(name, test_table))
            if shared:
                raise input_error(
                    "groups_in_both_files",
                    file=test_table.path,
                    column=name,
                    count=len(shared),
                    total=len(values),
                    path=table.path,
                    shared=shared,
                )


def _values(name: str, table: AnyTable) -> frozenset[str]:
    if name not in [column.name for column in table.columns]:
        return frozenset()
    return find_groups(table, (name,)).values[0]


# ------------------------------------------------------------------ keys of an experiment file


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
