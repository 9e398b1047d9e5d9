"""``aucstudio combine``: combine finished runs of a project without refitting."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from aucstudio.commands.options import read_band, refuse
from aucstudio.commands.outcomes import (
    check_model_name,
    ended,
    save_made_model,
    show,
)
from aucstudio.console import complain, progress

if TYPE_CHECKING:
    from aucstudio.project.combination.planning import Named
    from aucstudio.project.runs.model import Model
    from aucstudio.project.runs.planning import PlannedRun
    from aucstudio.project.runs.progress import Listener
    from aucstudio.project.runs.record import RunRecord


def run(options: argparse.Namespace) -> int:
    """Combine runs and store the result; return the exit status."""
    from aucstudio.project.combination.combining import Combining
    from aucstudio.project.combination.planning import plan_combination, require_sharing
    from aucstudio.project.results.documents import find_run, named_runs
    from aucstudio.project.runs.planning import planned_run
    from aucstudio.project.work.submit import run_experiments

    why = f"a combination needs two or more runs; only {options.runs[0]} is given"
    refuse(len(options.runs) < 2, why, "runs")
    listed, band = named_runs(options.project, complain)
    chosen = [find_run(listed, wanted, options.project) for wanted in options.runs]
    require_sharing(chosen)
    if options.fpr_range is not None:
        band = read_band(options.fpr_range)
    experiment = plan_combination(chosen, band, band, options.name)
    check_model_name(options, chosen[0][1].experiment.data.path)
    plan = planned_run(experiment, experiment.data.open())
    with Combining(chosen) as place:
        outcomes = run_experiments([plan], place, options.project, progress("combine"))
    whole = [outcome.record for outcome in outcomes if outcome.record.splits]
    model, trouble = None, ""
    if options.save_model and whole:
        trouble = save_made_model(
            options.save_model, lambda listen: _whole_model(plan, chosen, whole[0], listen)
        )
        model = None if trouble else options.save_model
    others = [record for _, record in chosen]
    show(options, plan.table, outcomes, band, model, others=others)
    return ended(outcomes, 1, trouble)


def _whole_model(
    plan: PlannedRun, members: list[Named], record: RunRecord, listen: Listener
) -> Model:
    """Return the validated model; after several splits, one of all rows."""
    from aucstudio.project.combination.combining import refit_combination
    from aucstudio.project.runs.final_model import validated_model

    if len(record.splits) == 1:
        return validated_model(record, 0, None)
    return refit_combination(plan.experiment, members, plan.table, listen)
