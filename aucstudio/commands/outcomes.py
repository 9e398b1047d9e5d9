"""Runs carried out for a command: where, and what is said of them at the end."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aucstudio.boundary import BAD_INPUT, DONE, RUN_FAILED
from aucstudio.console import complain, progress
from aucstudio.project.errors import InputError
from aucstudio.project.work import signals

if TYPE_CHECKING:
    from aucstudio.project.runs.experiments.planning import PlannedRun
    from aucstudio.project.runs.models.model import Model
    from aucstudio.project.work.submit import Outcome


def carry_out(
    plans: Sequence[PlannedRun], options: argparse.Namespace, title: str
) -> list[Outcome]:
    from aucstudio.project.work.submit import open_place, run_experiments

    with open_place(getattr(options, "jobs", 1), options.cluster) as place:
        outcomes = run_experiments(plans, place, options.project, progress(title))
    if options.project is not None and plans:
        from aucstudio.project.store.project.project_file import keep_first_reading

        keep_first_reading(options.project, plans[-1].table)
    return outcomes


def with_unsaved(document: dict[str, Any], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    for run, outcome in zip(document["runs"], outcomes, strict=True):
        if outcome.unsaved:
            run["unsaved"] = outcome.unsaved
    return document


def ended(outcomes: Sequence[Outcome], planned: int, trouble: str = "") -> int:
    """Return what went wrong, once results have been printed; gives the exit status."""
    records = [outcome.record for outcome in outcomes]
    for outcome in outcomes:
        method = outcome.record.experiment.method
        if outcome.record.error:
            complain(f"{method} failed: {outcome.record.error}")
        if outcome.unsaved:
            complain(f"the run of {method} is unsaved: {outcome.unsaved}")
    if trouble:
        complain(trouble)
    if trouble or any(outcome.unsaved for outcome in outcomes):
        return BAD_INPUT
    if any(record.error for record in records):
        return RUN_FAILED
    stopped = any(record.status == "stopped" for record in records)
    return signals.exit_status() if stopped or len(records) < planned else DONE


def check_model_name(options: argparse.Namespace, data: str) -> None:
    """Refuse a name for the model before a run is made whose model could not be written."""
    if options.save_model is None:
        return
    from aucstudio.project.store.files import STANDARD_OUTPUT, refuse_own_input, refuse_unwritable

    if options.save_model == STANDARD_OUTPUT:
        raise InputError(
            "the results go to the standard output, so the model cannot: give --save-model a file",
            setting="save-model",
        )
    tested = getattr(options, "test_file", None)
    refuse_own_input(options.save_model, data, tested, options.project)
    refuse_unwritable(options.save_model)


def save_made_model(path: str, make: Callable[[], Model]) -> str:
    """Make a model and save it; return why it could not be, so that results are still printed."""
    from aucstudio.project.runs.execute import failure_sentence
    from aucstudio.project.store.model_file import save_model

    try:
        save_model(make(), path)
    except KeyboardInterrupt:
        return f"interrupted before the model was written to {path}"
    except Exception as error:  # noqa: BLE001  (whatever it is, the result is printed)
        return failure_sentence(error)
    return ""
