"""``aucstudio train``: train and validate one method."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

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
    from aucstudio.project.data.preparing.preparation_choice import PreparationChoice
    from aucstudio.project.data.validation import Validation
    from aucstudio.project.results.calibration import JudgedMaps
    from aucstudio.project.runs.record import RunRecord


def read_preparation(options: argparse.Namespace) -> PreparationChoice:
    """Collect how columns are made ready."""
    from aucstudio.project.data.preparing.preparation_choice import PreparationChoice

    names = ("impute", "scale", "indicators", "rare", "many_levels")
    given = {name: getattr(options, name) for name in names}
    return PreparationChoice(**{n: value for n, value in given.items() if value is not None})


def _read_validation(options: argparse.Namespace) -> Validation:
    from aucstudio.project.data.validation import Validation, scheme_of

    names = ("test_size", "folds", "test_file", "time", "gap", "window")
    given = {name: v for name in names if (v := getattr(options, name)) is not None}
    given |= {} if options.steps is None else {"folds": options.steps}
    given |= {"repeats": options.repeats, "seed": options.seed}
    fixed = [n for n in ("test_file", "leave_pair_out", "time") if getattr(options, n)]
    refuse(
        fixed and options.repeats != 1,
        f"--repeats draws other held-out rows, but --{''.join(fixed).replace('_', '-')} "
        "fixes them: leave out one of the two options",
        "repeats",
    )
    if options.leave_pair_out:
        return Validation("leave-pair-out", seed=options.seed)
    return Validation(scheme_of(given), **given)


def run(options: argparse.Namespace) -> int:
    """Train and validate a method; returns the exit status."""
    from aucstudio.engine.roc import ThresholdRule
    from aucstudio.project.results.documents import data_sentence
    from aucstudio.project.runs.planning import plan_run
    from aucstudio.project.runs.tuning import Tuning

    check_model_name(options, options.data)
    rule = None if options.threshold is None else ThresholdRule.parse(options.threshold)
    if options.calibrate is not None:
        from aucstudio.project.runs.final_model import check_kind

        check_kind(options.calibrate)
    method, given, source = options.method, options.set, None
    if options.score_column is not None:
        from aucstudio.project.runs.experiment import MARKER
        from aucstudio.project.runs.planning import ScoreSource

        if options.score_file is not None:
            source = ScoreSource(options.score_file, options.score_id)
        senses = {"higher": options.higher_is_positive, "lower": options.lower_is_positive}
        direction = next((sense for sense, chosen in senses.items() if chosen), "found")
        method, given = MARKER, [f"direction={direction}"]
    plan = plan_run(
        options.data,
        method,
        given,
        **read_said(options),
        validation=_read_validation(options),
        band=read_band(options.fpr_range),
        tuning=None if options.tune is None else Tuning(options.tune, seed=options.seed),
        preparation=read_preparation(options),
        read=choose_reader(options, options.data, [method]),
        score_column=options.score_column,
        score_file=source,
    )
    if plan.remark:
        note(plan.remark)
    outcomes = carry_out([plan], options, plan.experiment.method)
    records = [outcome.record for outcome in outcomes if outcome.record.splits]
    model, trouble = None, ""
    if options.save_model and records:
        from aucstudio.project.runs.final_model import take_model

        trouble = save_made_model(
            options.save_model, lambda: take_model(plan, records[0], rule, options.calibrate)
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


def _judged(record: RunRecord, kind: str) -> JudgedMaps | None:
    """Estimate the accuracy of the probabilities, or state why it cannot be estimated."""
    from aucstudio.project.results.calibration import judge

    try:
        return judge(record, kind)
    except InputError as error:
        note(str(error))
        return None
