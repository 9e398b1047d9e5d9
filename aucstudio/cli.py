"""The command line: the same runs as in the window, without one.

Standard output carries results only; progress and complaints go to standard error.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aucstudio.arguments import (
    GLOBAL_OPTIONS,
    STANDARD_INPUT,
    check_together,
    command_parser,
    read_band,
    read_dialect,
    read_label,
    read_preparation,
    read_roles,
    read_tuning,
    read_validation,
    window_parser,
)
from aucstudio.boundary import BAD_INPUT, DONE, RUN_FAILED, guarded
from aucstudio.console import complain as _complain
from aucstudio.console import note as _note
from aucstudio.console import progress as _progress_bar
from aucstudio.console import say as _print
from aucstudio.console import say_json as _print_json
from aucstudio.console import session
from aucstudio.project import scratch
from aucstudio.project.errors import InputError
from aucstudio.project.words import suggestion
from aucstudio.project.work import signals

if TYPE_CHECKING:
    from aucstudio.engine.roc import ThresholdRule
    from aucstudio.project.data.any_table import AnyTable
    from aucstudio.project.results.calibration import Judged
    from aucstudio.project.runs.planning import PlannedRun
    from aucstudio.project.runs.record import RunRecord
    from aucstudio.project.work.submit import Outcome


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    with session(quiet="--quiet" in arguments), signals.in_order():
        return guarded(lambda: _command(arguments), debug="--debug" in arguments)


def _command(arguments: list[str]) -> int:
    first = next((word for word in arguments if word not in GLOBAL_OPTIONS), None)
    if first is None or not (first in COMMANDS or first.startswith("-")):
        return _open_window(window_parser().parse_args(arguments))
    options = command_parser().parse_args(arguments)
    check_together(options)
    if getattr(options, "data", None) == STANDARD_INPUT:
        options.data = str(_standard_input(options))
    return _open_window(options) if options.command is None else COMMANDS[options.command](options)


def _standard_input(options: argparse.Namespace) -> Path:
    """Put down the table that comes out of a pipe; for good where a project will ask for it."""
    from aucstudio.project.store.pasted import keep_stream, pasted_folder

    lasting = getattr(options, "project", None) is not None
    folder = pasted_folder() if lasting else scratch.make_folder()
    return keep_stream(sys.stdin.buffer, folder)


# ------------------------------------------------------------------ commands


def _open_window(options: argparse.Namespace) -> int:
    if options.file is not None and not Path(options.file).is_file():
        near = suggestion(options.file, COMMANDS)
        _complain(
            f"there is no file {options.file}{near or ': check the name'}, or open one from the "
            "window"
        )
        return BAD_INPUT
    if not _has_display():
        _complain("there is no display for the window: see aucstudio --help for what works without")
        return BAD_INPUT
    signals.end_at_once()  # until there is a window to close
    scratch.sweep()
    from aucstudio.project.work.processes import the_processes

    the_processes()  # get ready while the window does
    from aucstudio.gui.app import run_application

    return run_application(options.file, sample=options.sample)


def _has_display() -> bool:
    """Tell whether Qt would find a screen; without one it would end the program by a signal."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def _methods(options: argparse.Namespace) -> int:
    from aucstudio.engine import METHODS, describe_methods
    from aucstudio.project.runs.planning import known_method

    one = None if options.method is None else known_method(options.method).key
    described = [method for method in describe_methods() if one in (None, method["id"])]
    if options.json:
        _print_json(described)
        return DONE
    width = max(len(method["id"]) for method in described)
    for method in described:
        key = method["id"]
        words = f"{METHODS[key].title}, {METHODS[key].in_words}: {METHODS[key].summary}"
        _print(f"{key:<{width}}  {words}")
        _print(f"{'':<{width}}    Trains for {method['trains_for']}. {method['use_when']}")
        for setting in method["parameters"]:
            _print(f"{'':<{width}}    {setting['name']} = {setting['default']}: {setting['help']}")
    return DONE


def _inspect(options: argparse.Namespace) -> int:
    from aucstudio.project.data.findings.inspection import inspection, inspection_lines
    from aucstudio.project.data.table import read_table

    table = read_table(
        options.data,
        **read_label(options),
        roles=read_roles(options),
        dialect=read_dialect(options),
    )
    found = inspection(table)
    if options.json:
        _print_json(found)
        return DONE
    for line in inspection_lines(found):
        _print(line)
    return DONE


def _train(options: argparse.Namespace) -> int:
    from aucstudio.engine.roc import ThresholdRule
    from aucstudio.project.results.documents import data_sentence, result_document, results_table
    from aucstudio.project.runs.calibrating import check_kind
    from aucstudio.project.runs.given_scores import MARKER
    from aucstudio.project.runs.planning import plan_run
    from aucstudio.project.runs.progress_words import search_result

    _check_model_name(options)
    rule = None if options.threshold is None else ThresholdRule.parse(options.threshold)
    if options.calibrate is not None:
        check_kind(options.calibrate)
    method, given = options.method, options.set
    if options.score_column is not None:
        method, given = MARKER, [f"direction={options.direction or 'found'}"]
    read = _table_reader(options, method)
    plan = plan_run(
        options.data,
        method,
        given,
        **read_label(options),
        roles=read_roles(options),
        dialect=read_dialect(options),
        validation=read_validation(options),
        band=read_band(options.fpr_range),
        tuning=read_tuning(options),
        preparation=read_preparation(options),
        read=read,
        score_column=options.score_column,
    )
    outcomes = _carry_out([plan], options, plan.experiment.method)
    records = [outcome.record for outcome in outcomes if outcome.record.splits]
    model, trouble = None, ""
    if options.save_model and records:
        trouble = _save_model(plan, records[0], rule, options)
        model = None if trouble else options.save_model
    judged = _judged(records[0], options.calibrate) if model and options.calibrate else None
    if options.json:
        ran = [outcome.record for outcome in outcomes]
        document = result_document(plan.table, ran, plan.experiment.band, model)
        if judged is not None:
            document["calibration"] = judged.as_json()
        _print_json(_with_unsaved(document, outcomes))
    elif records:
        _print(f"{data_sentence(plan.table)}\n")
        _print(results_table(records, plan.experiment.band))
        for search in records[0].searches:
            _print(f"tuned: {search_result(search)}")
        for note in records[0].notes:
            _print(f"note: {note}")
    if judged is not None:
        for sentence in filter(None, (judged.sentence(), judged.caution)):
            _note(sentence)
    return _ended(outcomes, 1, trouble)


def _judged(record: RunRecord, kind: str) -> Judged | None:
    """Estimate how well the probabilities hold, or say why that cannot be."""
    from aucstudio.project.results.calibration import judge

    try:
        return judge(record, kind)
    except InputError as error:
        _note(str(error))
        return None


def _save_model(
    plan: PlannedRun, record: RunRecord, rule: ThresholdRule | None, options: argparse.Namespace
) -> str:
    """Save the model to take away; gives why it could not be."""
    from aucstudio.project.runs.execute import failure_sentence
    from aucstudio.project.runs.take_model import take_model
    from aucstudio.project.store.model_file import save_model

    path = options.save_model
    try:
        save_model(take_model(plan, record, rule, options.calibrate), path)
    except KeyboardInterrupt:
        return f"interrupted before the model was written to {path}"
    except Exception as error:  # noqa: BLE001  (whatever it is, the result is printed)
        return failure_sentence(error)
    return ""


def _carry_out(
    plans: Sequence[PlannedRun], options: argparse.Namespace, title: str
) -> list[Outcome]:
    from aucstudio.project.work.submit import open_place, run_experiments

    with open_place(getattr(options, "jobs", 1), options.cluster) as place:
        return run_experiments(plans, place, options.project, _progress_bar(title))


def _with_unsaved(document: dict[str, Any], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    for run, outcome in zip(document["runs"], outcomes, strict=True):
        if outcome.unsaved:
            run["unsaved"] = outcome.unsaved
    return document


def _ended(outcomes: Sequence[Outcome], planned: int, trouble: str = "") -> int:
    """Tell what went wrong, once results have been printed; gives the exit status."""
    records = [outcome.record for outcome in outcomes]
    for outcome in outcomes:
        method = outcome.record.experiment.method
        if outcome.record.error:
            _complain(f"{method} failed: {outcome.record.error}")
        if outcome.unsaved:
            _complain(f"the run of {method} is unsaved: {outcome.unsaved}")
    if trouble:
        _complain(trouble)
    if trouble or any(outcome.unsaved for outcome in outcomes):
        return BAD_INPUT
    if any(record.error for record in records):
        return RUN_FAILED
    stopped = any(record.status == "stopped" for record in records)
    return signals.exit_status() if stopped or len(records) < planned else DONE


def _check_model_name(options: argparse.Namespace) -> None:
    """Refuse a name for the model before a run is made whose model could not be written."""
    from aucstudio.project.errors import InputError
    from aucstudio.project.store.files import STANDARD_OUTPUT, refuse_own_input

    if options.save_model == STANDARD_OUTPUT:
        raise InputError(
            "the results go to the standard output, so the model cannot: give --save-model a file",
            setting="save-model",
        )
    refuse_own_input(options.save_model, options.data, options.test_file, options.project)


def _table_reader(options: argparse.Namespace, method: str | None) -> Callable[..., AnyTable]:
    return _choose_reader(options, options.data, [method])


def _choose_reader(
    options: argparse.Namespace, data: str, methods: Sequence[str | None]
) -> Callable[..., AnyTable]:
    from aucstudio.project.data.table import read_table
    from aucstudio.project.runs.stream_plan import table_reader

    stream, block_size = options.stream, options.block_size
    found = [table_reader(data, method, stream, block_size) for method in dict.fromkeys(methods)]
    read, said = found[0]
    elsewhere = "cluster" if getattr(options, "cluster", None) else "jobs"
    if read is not read_table and (elsewhere == "cluster" or getattr(options, "jobs", 1) > 1):
        raise InputError(
            f"a table that stays on disk is read by this program alone: leave out --{elsewhere}",
            setting=elsewhere,
        )
    if said:
        _note(said)
    return read


def _run(options: argparse.Namespace) -> int:
    from aucstudio.project.results.documents import result_document, results_table
    from aucstudio.project.runs.experiment_file import read_study

    study = read_study(options.experiment, functools.partial(_choose_reader, options))
    band = study.experiments[0].band
    outcomes = _carry_out(study.plans(), options, "run")
    records = [outcome.record for outcome in outcomes]
    if options.json:
        _print_json(_with_unsaved(result_document(study.table, records, band), outcomes))
    elif any(record.splits for record in records):
        _print(results_table([r for r in records if r.splits], band))
    return _ended(outcomes, len(study.experiments))


def _score(options: argparse.Namespace) -> int:
    from aucstudio.score_command import score

    return score(options, _table_reader(options, None))


def _export(options: argparse.Namespace) -> int:
    from aucstudio.project.store.export import export_model
    from aucstudio.project.store.files import refuse_own_input
    from aucstudio.project.store.model_file import load_model

    refuse_own_input(options.output, options.model)
    export_model(load_model(options.model), options.to, options.output)
    return DONE


def _compare(options: argparse.Namespace) -> int:
    from contextlib import nullcontext

    from aucstudio.project.results import comparison, comparison_sheets
    from aucstudio.project.results.documents import (
        comparison_document,
        named_runs,
        readable_runs,
    )
    from aucstudio.project.results.subgroups import as_markdown, subgroups_of
    from aucstudio.project.work.cluster import connect

    listed, band = named_runs(options.project, _complain)
    named = readable_runs(listed, band, _complain)
    parted = [] if options.by is None else subgroups_of(named, options.by, band)
    with nullcontext() if options.cluster is None else connect(options.cluster) as workers:
        if options.json:
            document = comparison_document(named, band, workers)
            groups = [{"name": name, **of.as_json()} for name, of in parted]
            _print_json(document | ({} if options.by is None else {"subgroups": groups}))
            return DONE
        if not named:
            raise InputError(
                f"{options.project} has no finished run to compare: train one with aucstudio train "
                f"DATA --method ID --project {options.project}",
                file=options.project,
            )
        figures = [comparison.run_figures(name, record, band) for name, record in named]
        for measure in (comparison.AUC, comparison.PAUC):
            pairs = comparison.compare_runs(named, band, measure, workers=workers)
            whole = measure == comparison.AUC
            heading = "AUC" if whole else f"pAUC in FPR {band[0]:g} … {band[1]:g}"
            found = comparison.Comparison(figures, pairs, measure)
            _print(f"## {heading}\n\n{comparison_sheets.as_markdown(found)}")
        if parted:
            _print(as_markdown(parted, band))
    return DONE


def _check(options: argparse.Namespace) -> int:
    from aucstudio.project.store.check import check_file

    checked = check_file(options.file, repair=options.repair, target=options.output)
    if options.json:
        _print_json(checked.as_json())
    else:
        _print(checked.describe())
    return RUN_FAILED if checked.problems else DONE


def _verify(options: argparse.Namespace) -> int:
    from aucstudio.verify_command import verify

    return verify(options)


def _best(options: argparse.Namespace) -> int:
    from aucstudio.best_command import best
    from aucstudio.project.store.files import STANDARD_OUTPUT, refuse_own_input

    if options.save_model == STANDARD_OUTPUT:
        raise InputError(
            "the results go to the standard output, so the model cannot: give --save-model a file",
            setting="save-model",
        )
    refuse_own_input(options.save_model, options.data, options.project)
    return best(options)


def _demo(options: argparse.Namespace) -> int:
    from aucstudio.gui.pictures import save_pictures
    from aucstudio.project.examples.demo import run_demo
    from aucstudio.project.results.documents import results_table

    folder = Path(options.out)
    demo = run_demo(folder, options.study, _progress_bar("demo"))
    records = [outcome.record for outcome in demo.outcomes]
    _print(demo.study.about)
    band = demo.study.experiments[0].band
    _print(results_table([r for r in records if r.splits], band))
    pictures = save_pictures(demo.project, folder)
    names = ", ".join(picture.name for picture in pictures.values())
    _print(f"{folder}: report.html, {demo.project.name}, {names}")
    return _ended(demo.outcomes, len(demo.study.experiments))


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "methods": _methods,
    "inspect": _inspect,
    "train": _train,
    "run": _run,
    "score": _score,
    "export": _export,
    "compare": _compare,
    "check": _check,
    "verify": _verify,
    "best": _best,
    "demo": _demo,
}
