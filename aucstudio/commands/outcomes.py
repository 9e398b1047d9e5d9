"""Run experiments for a command and report the results."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aucstudio.commands.options import refuse
from aucstudio.console import BAD_INPUT, DONE, RUN_FAILED, complain, progress, say, say_json
from aucstudio.project.work import signals

if TYPE_CHECKING:
    from aucstudio.project.data.any_table import AnyTable
    from aucstudio.project.runs.model import Model
    from aucstudio.project.runs.planning import PlannedRun
    from aucstudio.project.runs.progress import Listener
    from aucstudio.project.runs.record import RunRecord
    from aucstudio.project.work.submit import Outcome


def carry_out(
    plans: Sequence[PlannedRun], options: argparse.Namespace, title: str
) -> list[Outcome]:
    """Run experiments where the options say, into the project that they name."""
    from aucstudio.project.work.submit import open_place, run_experiments

    with open_place(getattr(options, "jobs", 1), options.cluster) as place:
        outcomes = run_experiments(plans, place, options.project, progress(title))
    if options.project is not None and plans:
        from aucstudio.project.store.project.project_file import keep_first_reading

        keep_first_reading(options.project, plans[-1].table)
    return outcomes


def show(
    options: argparse.Namespace,
    table: AnyTable,
    outcomes: Sequence[Outcome],
    band: tuple[float, float],
    model: str | None = None,
    *,
    first: str = "",
    others: Sequence[RunRecord] = (),
    more: dict[str, Any] | None = None,
) -> None:
    """Print the figures of runs: as JSON with ``more``, or after ``first``, below those of others.

    Parameters
    ----------
    options : Namespace
    table : AnyTable
    outcomes : sequence of Outcome
    band : (float, float)
    model : str, optional
        The file that the model of the run was written to.
    first : str
    others : sequence of RunRecord
    more : dict, optional
    """
    from aucstudio.project.results.documents import result_document, results_table

    records = [outcome.record for outcome in outcomes]
    trained = [record for record in records if record.splits]
    if options.json:
        document = result_document(table, records, band, model)
        for run, outcome in zip(document["runs"], outcomes, strict=True):
            run |= {"unsaved": outcome.unsaved} if outcome.unsaved else {}
        say_json(document | (more or {}))
    elif trained:
        say(first + results_table([*others, *trained], band))
    if len(outcomes) == 1 and trained and not options.json:
        for search in trained[0].searches:
            say(f"tuned: {search.describe()}")
        for remark in trained[0].notes:
            say(f"note: {remark}")


def ended(outcomes: Sequence[Outcome], planned: int, trouble: str = "") -> int:
    """Report errors after the results were printed; return the exit status."""
    records = [outcome.record for outcome in outcomes]
    unsaved = any(outcome.unsaved for outcome in outcomes)
    for outcome in outcomes:
        method = outcome.record.experiment.method
        if outcome.record.error:
            complain(f"{method} failed: {outcome.record.error}")
        if outcome.unsaved:
            complain(f"the run of {method} is unsaved: {outcome.unsaved}")
    if trouble:
        complain(trouble)
    if trouble or unsaved:
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

    stdout = "the results go to the standard output, so the model cannot: give --save-model a file"
    refuse(options.save_model == STANDARD_OUTPUT, stdout, "save-model")
    tested = getattr(options, "test_file", None)
    refuse_own_input(options.save_model, data, tested, options.project)
    refuse_unwritable(options.save_model)


def save_made_model(path: str, make: Callable[[Listener], Model]) -> str:
    """Make a model, perhaps by a refit that reports its progress, and save it.

    Returns why it could not be saved, so that results are still printed.
    """
    from aucstudio.project.runs.execute import failure_sentence
    from aucstudio.project.store.model_file import save_model

    bar = progress("refit")
    try:
        model = make(lambda message: bar(*message.describe_refit()))
        bar(1.0, "")
        save_model(model, path)
    except KeyboardInterrupt:
        return f"interrupted before the model was written to {path}"
    except Exception as error:  # noqa: BLE001  (whatever it is, the result is printed)
        return failure_sentence(error)
    return ""
