"""``aucstudio train``: train and validate one method."""

from __future__ import annotations

import argparse
import functools
from typing import TYPE_CHECKING, Any

from aucstudio.commands.options import (
    choose_reader,
    read_band,
    read_said,
    refuse,
)
from aucstudio.commands.outcomes import (
    carry_out,
    check_model_name,
    ended,
    save_made_model,
    show,
)
from aucstudio.console import note
from aucstudio.project.errors import InputError

if TYPE_CHECKING:
    from aucstudio.project.results.calibration import CalibrationEstimate
    from aucstudio.project.runs.record import RunRecord


def run(options: argparse.Namespace) -> int:
    """Train and validate a method; returns the exit status."""
    from aucstudio.engine.roc import ThresholdRule
    from aucstudio.project.results.documents import data_sentence
    from aucstudio.project.runs.experiment_keys import plan_runs

    check_model_name(options, options.data)
    rule = None if options.threshold is None else ThresholdRule.parse(options.threshold)
    if options.calibrate is not None:
        from aucstudio.project.runs.final_model import check_kind

        check_kind(options.calibrate)
    read = functools.partial(choose_reader, options)
    (plan,) = plan_runs(document_of(options), choose=read).plans
    if plan.remark:
        note(plan.remark)
    outcomes = carry_out([plan], options, plan.experiment.method)
    records = [outcome.record for outcome in outcomes if outcome.record.splits]
    model, trouble = None, ""
    if options.save_model and records:
        from aucstudio.project.runs.final_model import take_model

        trouble = save_made_model(
            options.save_model,
            lambda listen: take_model(plan, records[0], rule, options.calibrate, listen),
        )
        model = None if trouble else options.save_model
    judged = _judged(records[0], options.calibrate) if model and options.calibrate else None
    more = {} if judged is None else {"calibration": judged.as_json()}
    first = f"{data_sentence(plan.table)}\n\n"
    show(options, plan.table, outcomes, plan.experiment.band, model, first=first, more=more)
    if judged is not None:
        for sentence in filter(None, (judged.sentence(), judged.caution)):
            note(sentence)
    return ended(outcomes, 1, trouble)


def document_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options as the keys of an experiment file."""
    said = read_said(options)
    said |= {"file": options.data, "missing": said.pop("absent")}
    run: dict[str, Any] = {"method": options.method}
    run["settings"] = dict(map(_assignment, options.set))
    if options.score_column is not None:
        senses = {"higher": options.higher_is_positive, "lower": options.lower_is_positive}
        direction = next((sense for sense, chosen in senses.items() if chosen), "found")
        scores = {"file": options.score_file or "", "column": options.score_column}
        run = {"method": "marker", "settings": {"direction": direction}}
        run["scores"] = scores | {"key": options.score_id}
    return {
        "fpr_range": read_band(options.fpr_range),
        "data": {name: value for name, value in said.items() if value is not None},
        "validation": _validation(options),
        "preparation": _given(options, "impute", "scale", "indicators", "rare", "many_levels"),
        "runs": [run | _given(options, "tune")],
    }


def _validation(options: argparse.Namespace) -> dict[str, Any]:
    fixed = [n for n in ("test_file", "leave_pair_out", "time") if getattr(options, n)]
    refuse(
        fixed and options.repeats != 1,
        f"--repeats draws other held-out rows, but --{''.join(fixed).replace('_', '-')} "
        "fixes them: leave out one of the two options",
        "repeats",
    )
    if options.leave_pair_out:
        return {"scheme": "leave-pair-out", "seed": options.seed}
    given = _given(options, "test_size", "folds", "test_file", "time", "gap", "window")
    given |= {} if options.steps is None else {"folds": options.steps}
    return given | {"repeats": options.repeats, "seed": options.seed}


def _given(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    values = {name: getattr(options, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    refuse(not equals, f"--set takes NAME=VALUE; it is {text!r}", name)
    return name, value


def _judged(record: RunRecord, kind: str) -> CalibrationEstimate | None:
    """Estimate the accuracy of the probabilities, or state why it cannot be estimated."""
    from aucstudio.project.results.calibration import estimate_calibration

    try:
        return estimate_calibration(record, kind)
    except InputError as error:
        note(str(error))
        return None
