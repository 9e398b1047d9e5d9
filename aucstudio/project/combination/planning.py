"""Check which runs can be combined, and build their experiment.

Its identity is that of its members, which must have held out the same rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from aucstudio.engine import DECLARED
from aucstudio.engine.crossfit.members import Member, write_list
from aucstudio.engine.params import InvalidSetting, declared_params
from aucstudio.notices import text
from aucstudio.notices.words import runs_words
from aucstudio.project.data.schema import Schema, ScoreFile
from aucstudio.project.data.validation import LEAVE_PAIR_OUT
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.results.comparison import REMEDIES, difference, planned_difference
from aucstudio.project.runs.experiment import (
    Band,
    DataReference,
    Experiment,
    require_band,
)
from aucstudio.project.runs.record import DONE, RunRecord

METHOD = "auc-ensemble"
FOLDS = 5  # of the second level, where all held-out rows are of one split
_USED = ("number", "category")


def plan_combination(
    runs: Sequence[Named], fpr_range: Band | None, band: Band, name: str = ""
) -> Experiment:
    """Plan the combination of finished runs.

    Parameters
    ----------
    runs : sequence of (name, record)
    fpr_range : (float, float) or None
        The range whose partial AUC is in the criterion of the weights, beside the AUC.
    band : (float, float)
        The range of the partial AUC.
    name : str, optional
        By default the number of combined runs.

    Raises
    ------
    InputError
        If they do not share their held-out rows, or use a column in different ways.
    """
    require_likely(runs)
    # Sorted, so that the weights do not depend on the order of the runs.
    runs = sorted(runs, key=lambda run: run[1].experiment.id)
    for given in (band, fpr_range):
        if given is not None:
            require_band(given)
    experiments = [record.experiment for _, record in runs]
    first = experiments[0]
    settings = {
        "fpr_range": fpr_range,
        "library": _library(experiments),
        "n_folds": FOLDS,
        "random_state": first.validation.seed,
    }
    defaults = {n: known.default for n, known in declared_params(DECLARED[METHOD]).items()}
    return dataclasses.replace(
        first,
        data=_united(runs),
        method=METHOD,
        params=defaults | settings,
        band=band,
        tuning=None,
        name=name or f"Combination of {runs_words(len(runs))}",
        members=tuple(experiment.id for experiment in experiments),
    )


def _library(experiments: Sequence[Experiment]) -> str:
    """Return the methods with their settings as the library of an ensemble."""
    members = []
    for experiment in experiments:
        known = declared_params(DECLARED[experiment.method])
        given = {n: v for n, v in experiment.params.items() if v != known[n].default}
        members.append(Member.of(experiment.method, **given))
    text = write_list(dict.fromkeys(members))
    setting = declared_params(DECLARED[METHOD])["library"]
    try:
        setting.check(text)
    except (InvalidSetting, ValueError):
        return str(setting.default)  # one of them is an ensemble
    return text


def _united(runs: Sequence[Named]) -> DataReference:
    """Return a reference to the table with the features of all runs."""
    data = runs[0][1].experiment.data
    roles = dict(data.roles)
    for name, record in runs[1:]:
        for column, role in record.experiment.data.roles:
            present = roles.setdefault(column, role)
            if present in _USED and role in _USED and present != role:
                raise input_error(
                    "used_as_both",
                    column=column,
                    name=name,
                    role=role,
                    runs=runs[0][0],
                    present=present,
                )
            if role in _USED:
                roles[column] = role
    known = {c.name: c for _, record in runs for c in record.experiment.data.schema.columns}
    columns = tuple(dataclasses.replace(known[name], role=role) for name, role in roles.items())
    schema: Schema = dataclasses.replace(data.schema, columns=columns)
    return dataclasses.replace(data, schema=schema, scores=_score_files(runs))


def _score_files(runs: Sequence[Named]) -> tuple[ScoreFile, ...]:
    """List the files of scores, each once."""
    found: dict[str, tuple[str, ScoreFile]] = {}
    for name, record in runs:
        for given in record.experiment.data.scores:
            other, same = found.setdefault(given.name, (name, given))
            if same.identity() != given.identity():
                raise input_error("two_score_files", column=given.name, other=other, name=name)
    return tuple(given for _, given in found.values())


Named = tuple[str, RunRecord]


def why_not(runs: Sequence[Named]) -> str:
    """Return why runs cannot be combined, without reading their scores.

    Parameters
    ----------
    runs : sequence of (name, record)

    Returns
    -------
    str
        A sentence without its full stop that names the run; empty if they may be combined.
    """
    if len(runs) < 2:
        return text("too_few_runs", count=len(runs))
    for name, record in runs:
        if code := _alone(record):
            return text(code, name=name)
    first, record = runs[0]
    for name, other in runs[1:]:
        if not _share(record, other):
            found = planned_difference(record, other)
            why = str(found or text("runs_imported_differently"))
            remedy = REMEDIES.get(found.code, "") if found else "on the same rows"
            return text("runs_share_no_rows", name=name, first=first, why=why, remedy=remedy)
        if other.experiment.weight != record.experiment.weight:
            return text("runs_weigh_differently", name=name, first=first)
    return ""


def _alone(record: RunRecord) -> str:
    """Return the code of why a run cannot be combined; empty if it may be."""
    if record.experiment.members:
        return "run_is_combination"
    if record.status != DONE or not record.splits:
        return "run_not_finished"
    if record.experiment.validation.scheme == LEAVE_PAIR_OUT:
        return "run_holds_out_pairs"
    return ""


def _share(a: RunRecord, b: RunRecord) -> bool:
    return a.experiment.rows_of() == b.experiment.rows_of() and len(a.splits) == len(b.splits)


def require_likely(runs: Sequence[Named]) -> None:
    """Raise InputError if runs cannot be combined, without reading their scores."""
    reason, known = why_not(runs), dict[str, str]()
    for name, record in runs:
        twin = known.get(record.experiment.id)
        if twin is not None and not reason:
            reason = text("run_given_twice", name=name, twin="" if twin == name else twin)
        known[record.experiment.id] = name
    if reason:
        raise InputError(reason, setting="runs")


def require_sharing(runs: Sequence[Named]) -> None:
    """Raise InputError, which names the run, if runs did not hold out the same rows."""
    require_likely(runs)
    for name, record in runs[1:]:
        if why := difference(runs[0][1], record):
            words = text("runs_share_no_rows", name=name, first=runs[0][0], why=why, remedy="")
            raise InputError(words, setting="runs")
