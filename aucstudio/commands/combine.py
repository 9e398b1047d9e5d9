"""``aucstudio combine``: finished runs of a project as one run, without training again."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from aucstudio.commands.outcomes import check_model_name, ended, save_made_model, with_unsaved
from aucstudio.commands.run_options import read_band
from aucstudio.commands.values import add_json
from aucstudio.console import complain, progress, say, say_json
from aucstudio.project.errors import InputError

if TYPE_CHECKING:
    from aucstudio.project.combination.planning import Named
    from aucstudio.project.runs.experiments.planning import PlannedRun
    from aucstudio.project.runs.models.model import Model
    from aucstudio.project.runs.record import RunRecord


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("project", metavar="PROJECT", help="a project (*.aucproj)")
    parser.add_argument(
        "runs", metavar="RUN", nargs="+", help="runs that held out the same rows, by name or id"
    )
    parser.add_argument("--name", metavar="NAME", default="", help="name of the new run")
    parser.add_argument(
        "--fpr-range",
        metavar="A,B",
        help="range whose partial AUC is part of the criterion (default: of the project)",
    )
    parser.add_argument("--save-model", metavar="FILE", help="write the model (*.aucmodel)")
    add_json(parser)


def check_together(options: argparse.Namespace) -> None:
    """Refuse a single run."""
    if len(options.runs) < 2:
        raise InputError(
            f"a combination takes two runs or more; only {options.runs[0]} is named",
            setting="runs",
        )


def run(options: argparse.Namespace) -> int:
    """Combine runs and keep the outcome beside them; gives the exit status."""
    from aucstudio.project.combination.combining import Combining
    from aucstudio.project.combination.planning import plan_combination, require_sharing
    from aucstudio.project.results.documents import (
        find_run,
        named_runs,
        result_document,
        results_table,
    )
    from aucstudio.project.runs.experiments.planning import PlannedRun, read_test_table
    from aucstudio.project.work.submit import run_experiments

    listed, band = named_runs(options.project, complain)
    chosen = [find_run(listed, wanted, options.project) for wanted in options.runs]
    require_sharing(chosen)
    if options.fpr_range is not None:
        band = read_band(options.fpr_range)
    experiment = plan_combination(chosen, band, band, options.name)
    check_model_name(options, chosen[0][1].experiment.data.path)
    table = experiment.data.open()
    plan = PlannedRun(experiment, table, read_test_table(experiment))
    with Combining(chosen) as place:
        outcomes = run_experiments([plan], place, options.project, progress("combine"))
    records = [outcome.record for outcome in outcomes]
    whole = [record for record in records if record.splits]
    model = options.save_model if options.save_model and whole else None
    trouble = ""
    if model:
        trouble = save_made_model(model, lambda: _whole_model(plan, chosen, whole[0]))
    if options.json:
        document = result_document(table, records, band, None if trouble else model)
        say_json(with_unsaved(document, outcomes))
    elif whole:
        say(results_table([*(record for _, record in chosen), *whole], band))
        for remark in whole[0].notes:
            say(f"note: {remark}")
    return ended(outcomes, 1, trouble)


def _whole_model(plan: PlannedRun, members: list[Named], record: RunRecord) -> Model:
    """Return the model that was judged; after several splits, one of all rows."""
    from aucstudio.project.combination.combining import combine_anew
    from aucstudio.project.runs.models.final_model import validated_model

    if len(record.splits) == 1:
        return validated_model(record, 0, None)
    return combine_anew(plan.experiment, members, plan.table)
