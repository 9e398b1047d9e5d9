"""``aucstudio train``: one method, trained and judged on a table."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from aucstudio.commands.outcomes import (
    carry_out,
    check_model_name,
    ended,
    save_made_model,
    with_unsaved,
)
from aucstudio.commands.run_options import (
    add_run_options,
    check_together,
    read_band,
    read_preparation,
    read_score_file,
    read_tuning,
    read_validation,
)
from aucstudio.commands.table_options import (
    add_column_options,
    add_table,
    choose_reader,
    read_dialect,
    read_said,
)
from aucstudio.commands.values import add_json
from aucstudio.console import note, say, say_json
from aucstudio.project.errors import InputError

if TYPE_CHECKING:
    from aucstudio.project.results.calibration import JudgedMaps
    from aucstudio.project.runs.record import RunRecord


__all__ = ["add_options", "check_together", "run"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add_table(parser)
    add_column_options(parser)
    add_run_options(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from aucstudio.engine.roc import ThresholdRule
    from aucstudio.project.results.documents import data_sentence, result_document, results_table
    from aucstudio.project.runs.experiments.planning import plan_run
    from aucstudio.project.runs.given_scores import MARKER
    from aucstudio.project.runs.progress_words import search_result

    check_model_name(options, options.data)
    rule = None if options.threshold is None else ThresholdRule.parse(options.threshold)
    if options.calibrate is not None:
        from aucstudio.project.runs.models.calibrating import check_kind

        check_kind(options.calibrate)
    method, given = options.method, options.set
    if options.score_column is not None:
        method, given = MARKER, [f"direction={options.direction or 'found'}"]
    read = choose_reader(options, options.data, [method])
    plan = plan_run(
        options.data,
        method,
        given,
        **read_said(options),
        dialect=read_dialect(options),
        validation=read_validation(options),
        band=read_band(options.fpr_range),
        tuning=read_tuning(options),
        preparation=read_preparation(options),
        read=read,
        score_column=options.score_column,
        score_file=read_score_file(options),
    )
    if plan.remark:
        note(plan.remark)
    outcomes = carry_out([plan], options, plan.experiment.method)
    records = [outcome.record for outcome in outcomes if outcome.record.splits]
    model, trouble = None, ""
    if options.save_model and records:
        from aucstudio.project.runs.models.final_model import take_model

        trouble = save_made_model(
            options.save_model, lambda: take_model(plan, records[0], rule, options.calibrate)
        )
        model = None if trouble else options.save_model
    judged = _judged(records[0], options.calibrate) if model and options.calibrate else None
    if options.json:
        ran = [outcome.record for outcome in outcomes]
        document = result_document(plan.table, ran, plan.experiment.band, model)
        if judged is not None:
            document["calibration"] = judged.as_json()
        say_json(with_unsaved(document, outcomes))
    elif records:
        say(f"{data_sentence(plan.table)}\n")
        say(results_table(records, plan.experiment.band))
        for search in records[0].searches:
            say(f"tuned: {search_result(search)}")
        for remark in records[0].notes:
            say(f"note: {remark}")
    if judged is not None:
        for sentence in filter(None, (judged.sentence(), judged.caution)):
            note(sentence)
    return ended(outcomes, 1, trouble)


def _judged(record: RunRecord, kind: str) -> JudgedMaps | None:
    """Estimate how well the probabilities hold, or say why that cannot be."""
    from aucstudio.project.results.calibration import judge

    try:
        return judge(record, kind)
    except InputError as error:
        note(str(error))
        return None
