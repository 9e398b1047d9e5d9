"""Build checked experiments from values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from aucstudio.engine import DECLARED
from aucstudio.engine.params import InvalidSetting, check_settings, declared_params
from aucstudio.notices.words import suggestion
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.table import Table, read_table
from aucstudio.project.data.validation import (
    FILE,
    FORWARD,
    LEAVE_PAIR_OUT,
    Validation,
    pairs_break_groups,
    require_groups,
    splits_of,
    time_column,
)
from aucstudio.project.errors import input_error
from aucstudio.project.runs.estimate import check_size, check_stream
from aucstudio.project.runs.experiment import (
    Band,
    DataReference,
    Experiment,
    require_band,
)
from aucstudio.project.runs.tuning import Tuning, check_tuning

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier

DEFAULT_BAND: Band = (0.0, 0.1)
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
    require_band(band)
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
    if data.groups and leaves_pairs_out:
        raise pairs_break_groups(" and ".join(data.groups), setting)
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


def with_test_file(plan: PlannedRun) -> PlannedRun:
    """Return a run with the table of its test file, if it has one; see :func:`planned_run`."""
    is_read = plan.experiment.validation.scheme != FILE or plan.test_table is not None
    return plan if is_read else planned_run(plan.experiment, plan.table)


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
    return table.groups_by((name,)).values[0]
