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
    check_together,
    command_parser,
    read_band,
    read_dialect,
    read_roles,
    read_tuning,
    read_validation,
    window_parser,
)
from aucstudio.boundary import BAD_INPUT, DONE, INTERRUPTED, RUN_FAILED, guarded
from aucstudio.console import complain as _complain
from aucstudio.console import note as _note
from aucstudio.console import progress as _progress_bar
from aucstudio.console import say as _print
from aucstudio.console import say_json as _print_json
from aucstudio.console import session
from aucstudio.project.errors import InputError
from aucstudio.project.words import suggestion

if TYPE_CHECKING:
    from aucstudio.project.data.any_table import AnyTable
    from aucstudio.project.runs.planning import Plan
    from aucstudio.project.runs.record import RunRecord


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    with session(quiet="--quiet" in arguments):
        return guarded(lambda: _command(arguments), debug="--debug" in arguments)


def _command(arguments: list[str]) -> int:
    first = next((word for word in arguments if word not in GLOBAL_OPTIONS), None)
    if first is None or not (first in COMMANDS or first.startswith("-")):
        return _open_window(window_parser().parse_args(arguments))
    options = command_parser().parse_args(arguments)
    check_together(options)
    return _open_window(options) if options.command is None else COMMANDS[options.command](options)


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
    from aucstudio.project.work.training_process import the_process

    the_process()  # gets ready while the window does
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
        _print(f"{key:<{width}}  {METHODS[key].title}: {METHODS[key].summary}")
        for setting in method["parameters"]:
            _print(f"{'':<{width}}    {setting['name']} = {setting['default']}: {setting['help']}")
    return DONE


def _inspect(options: argparse.Namespace) -> int:
    from aucstudio.project.data.table import read_table

    table = read_table(
        options.data,
        label=options.label,
        positive=options.positive,
        roles=read_roles(options),
        dialect=read_dialect(options),
    )
    found = table.as_inspection()
    if options.json:
        _print_json(found)
        return DONE
    _print(f"{table.path}: {table.rows} rows, {len(table.columns)} columns")
    _print(_format_words(found))
    _print(f"label {table.label}: {_classes(table.classes)}; positive {table.positive}")
    for column in table.columns:
        _print(
            f"  {column.name}: {column.role}, {column.distinct} distinct, {column.missing} missing"
        )
    for note in table.notes:
        _print(f"note: {note}")
    for rejected in table.rejected:
        _print(f"rejected line {rejected.line}: {rejected.reason}")
    return DONE


def _format_words(found: dict[str, Any]) -> str:
    if found["format"] != "csv":
        return str(found["format"])
    return (
        f"csv, {found['encoding']}, delimiter {found['delimiter']!r}, decimal "
        f"{found['decimal']!r}, {'a' if found['header'] else 'no'} header row"
    )


def _classes(classes: dict[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in classes.items())


def _train(options: argparse.Namespace) -> int:
    from aucstudio.engine.roc import ThresholdRule
    from aucstudio.project.results.documents import data_sentence, result_document, results_table
    from aucstudio.project.runs.planning import plan_run
    from aucstudio.project.runs.progress_words import search_result
    from aucstudio.project.runs.take_model import take_model
    from aucstudio.project.store.model_file import save_model

    _check_model_name(options)
    rule = None if options.threshold is None else ThresholdRule.parse(options.threshold)
    read = _table_reader(options, options.method)
    plan = plan_run(
        options.data,
        options.method,
        options.set,
        label=options.label,
        positive=options.positive,
        roles=read_roles(options),
        dialect=read_dialect(options),
        validation=read_validation(options),
        band=read_band(options.fpr_range),
        tuning=read_tuning(options),
        read=read,
    )
    record = _train_record(plan, options)
    model = None
    if options.save_model and record.splits:
        save_model(take_model(plan, record, rule), options.save_model)
        model = options.save_model
    document = result_document(plan.table, [record], plan.experiment.band, model)
    if options.json:
        _print_json(document)
    elif record.splits:
        _print(f"{data_sentence(plan.table)}\n")
        _print(results_table([record], plan.experiment.band))
        for search in record.searches:
            _print(f"tuned: {search_result(search)}")
        for note in record.notes:
            _print(f"note: {note}")
    return _outcome(record.status, record.error)


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


def _train_record(plan: Plan, options: argparse.Namespace) -> RunRecord:
    from aucstudio.project.runs.experiment_file import Study
    from aucstudio.project.runs.rows import in_memory
    from aucstudio.project.work.batch import run_on_cluster
    from aucstudio.project.work.in_turn import run

    bar = _progress_bar(plan.experiment.method)
    if options.cluster is None:
        return run(plan, options.project, bar)
    study = Study(in_memory(plan.table), (plan.experiment,))
    records = run_on_cluster(study, plan.test_table, options.cluster, options.project, bar)
    if not records:
        raise KeyboardInterrupt
    return records[0]


def _run(options: argparse.Namespace) -> int:
    from aucstudio.project.results.documents import result_document, results_table
    from aucstudio.project.runs.experiment_file import read_study
    from aucstudio.project.work.batch import run_study

    study = read_study(options.experiment, functools.partial(_choose_reader, options))
    band = study.experiments[0].band
    bar = _progress_bar("run")
    records = run_study(study, options.project, options.jobs, bar, options.cluster)
    if options.json:
        _print_json(result_document(study.table, records, band))
    elif any(record.splits for record in records):
        _print(results_table([r for r in records if r.splits], band))
    for record in records:
        if record.error:
            _complain(f"{record.experiment.method} failed: {record.error}")
    if any(record.error for record in records):
        return RUN_FAILED
    unfinished = len(records) < len(study.experiments)
    return INTERRUPTED if unfinished or records[-1].status == "stopped" else DONE


def _outcome(status: str, error: str) -> int:
    if status == "failed":
        _complain(error)
        return RUN_FAILED
    return INTERRUPTED if status == "stopped" else DONE


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
    from aucstudio.project.work.cluster import connect

    listed, band = named_runs(options.project, _complain)
    named = readable_runs(listed, band, _complain)
    with nullcontext() if options.cluster is None else connect(options.cluster) as workers:
        if options.json:
            _print_json(comparison_document(named, band, workers))
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
    return DONE


def _check(options: argparse.Namespace) -> int:
    from aucstudio.project.store.check import check_file

    checked = check_file(options.file, repair=options.repair, target=options.output)
    if options.json:
        _print_json(checked.as_json())
    else:
        _print(checked.describe())
    return RUN_FAILED if checked.problems else DONE


def _demo(options: argparse.Namespace) -> int:
    from aucstudio.gui.pictures import save_pictures
    from aucstudio.project.examples.demo import run_demo
    from aucstudio.project.results.documents import results_table

    folder = Path(options.out)
    demo = run_demo(folder, options.study, _progress_bar("demo"))
    records = demo.records
    _print(demo.study.about)
    band = demo.study.experiments[0].band
    _print(results_table([r for r in records if r.splits], band))
    pictures = save_pictures(demo.project, folder)
    names = ", ".join(picture.name for picture in pictures.values())
    _print(f"{folder}: report.html, {demo.project.name}, {names}")
    for record in records:
        if record.error:
            _complain(f"{record.experiment.method} failed: {record.error}")
    return RUN_FAILED if any(record.error for record in records) else DONE


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "methods": _methods,
    "inspect": _inspect,
    "train": _train,
    "run": _run,
    "score": _score,
    "export": _export,
    "compare": _compare,
    "check": _check,
    "demo": _demo,
}
