"""The command line: the same runs as in the window, without one.

Standard output carries results only; progress and complaints go to standard error.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

import numpy as np

from aucstudio import __version__

if TYPE_CHECKING:
    from aucstudio.project.headless import Plan
    from aucstudio.project.record import RunRecord

DONE, RUN_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if not arguments or not (arguments[0] in COMMANDS or arguments[0].startswith("-")):
            return _open_window(_window_parser().parse_args(arguments))
        options = _parser().parse_args(arguments)
        if options.command is None:
            return _open_window(options)
        return int(COMMANDS[options.command](options))
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        sys.stderr.close()
        return DONE
    except ValueError as error:
        # InputError and InvalidSetting are ValueErrors that carry their sentence.
        _complain(str(error))
        return BAD_INPUT


def _complain(sentence: str) -> None:
    sys.stderr.write(f"aucstudio: {' '.join(sentence.split())}\n")


# ------------------------------------------------------------------ arguments


def _window_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="aucstudio")
    parser.add_argument("file", nargs="?", metavar="FILE", help="a table or a project (*.aucproj)")
    parser.set_defaults(sample=False)
    return parser


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="aucstudio",
        description="Train for the ROC curve itself. Without a command: open the window, "
        "on FILE if one is given.",
    )
    parser.add_argument("--version", action="version", version=f"aucstudio {__version__}")
    parser.add_argument("--sample", action="store_true", help="open the window on a sample study")
    parser.set_defaults(file=None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    methods = commands.add_parser("methods", help="list every method and its settings")
    inspect = commands.add_parser("inspect", help="show what the importer understands of a table")
    train = commands.add_parser("train", help="train and validate one method on a table")
    run = commands.add_parser("run", help="run an experiment file")
    score = commands.add_parser("score", help="apply a saved model to a table")
    export = commands.add_parser("export", help="write a saved model for other programs")
    compare = commands.add_parser("compare", help="compare the runs of a project")
    demo = commands.add_parser("demo", help="run a small study on bundled data, without a window")

    for parser_with_json in (methods, inspect, train, run, score, compare):
        parser_with_json.add_argument("--json", action="store_true", help="print one JSON document")
    inspect.add_argument("data", metavar="DATA")
    _add_column_options(inspect)
    train.add_argument("data", metavar="DATA")
    _add_column_options(train)
    _add_train_options(train)
    run.add_argument("experiment", metavar="EXPERIMENT.toml")
    run.add_argument("--project", metavar="FILE", help="add the runs to a project (*.aucproj)")
    where = run.add_mutually_exclusive_group()
    _add_cluster_option(where)
    where.add_argument(
        "--jobs", metavar="N", type=_positive_int, default=1, help="runs at once, in processes"
    )
    score.add_argument("model", metavar="MODEL")
    score.add_argument("data", metavar="DATA")
    score.add_argument("-o", "--output", metavar="SCORES.csv", help="write the scores here")
    export.add_argument("model", metavar="MODEL")
    export.add_argument("--to", metavar="FORMAT", required=True, help="onnx, script or json")
    export.add_argument("-o", "--output", metavar="FILE", required=True)
    compare.add_argument("project", metavar="PROJECT")
    demo.add_argument("--out", metavar="DIR", default="aucstudio-demo")
    return parser


def _add_column_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--label", metavar="COL", help="the column that holds the class")
    parser.add_argument("--positive", metavar="VALUE", help="the class to find")
    parser.add_argument(
        "--ignore", metavar="COL", action="append", default=[], help="a column to leave out"
    )


def _add_cluster_option(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="send the splits to a Dask scheduler that you trust (tcp://host:8786)",
    )


def _add_train_options(train: argparse.ArgumentParser) -> None:
    train.add_argument("--method", metavar="ID", required=True)
    train.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="a setting of the method"
    )
    scheme = train.add_mutually_exclusive_group()
    scheme.add_argument("--test-size", metavar="F", type=float, help="hold out this fraction")
    scheme.add_argument("--folds", metavar="K", type=int, help="cross-validate in K folds")
    scheme.add_argument("--test-file", metavar="FILE", help="test on another table")
    scheme.add_argument(
        "--leave-pair-out",
        action="store_true",
        help="order each pair by training without it, exactly (regularised least squares)",
    )
    train.add_argument("--repeats", metavar="R", type=int, default=1)
    train.add_argument("--seed", metavar="N", type=int, default=0)
    train.add_argument(
        "--fpr-range",
        metavar="A,B",
        default="0,0.1",
        help="range of the partial AUC; methods that train for a range train for this one",
    )
    train.add_argument(
        "--tune",
        metavar="METRIC",
        help="search the method's settings on each training part by auc, pauc (of --fpr-range) "
        "or leave-pair-out",
    )
    train.add_argument("--save-model", metavar="FILE", help="write the model (*.aucmodel)")
    train.add_argument(
        "--threshold",
        metavar="RULE",
        help="where the saved model begins to say positive: equal-error, min-max, fpr=F or "
        "cost=FP:FN[@PRIOR], chosen on the held-out rows",
    )
    train.add_argument("--project", metavar="FILE", help="add the run to a project (*.aucproj)")
    _add_cluster_option(train)


# ------------------------------------------------------------------ commands


def _open_window(options: argparse.Namespace) -> int:
    if options.file is not None and not Path(options.file).is_file():
        _complain(f"there is no file {options.file}: check the name, or open one from the window")
        return BAD_INPUT
    if not _has_display():
        _complain("there is no display for the window: see aucstudio --help for what works without")
        return BAD_INPUT
    from aucstudio.gui.app import run_application

    return run_application(options.file, sample=options.sample)


def _has_display() -> bool:
    """Tell whether Qt would find a screen; without one it would end the program by a signal."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def _methods(options: argparse.Namespace) -> int:
    from aucstudio.engine import METHODS, describe_methods

    if options.json:
        _print_json(describe_methods())
        return DONE
    width = max(map(len, METHODS))
    for key, method in METHODS.items():
        _print(f"{key:<{width}}  {method.title}: {method.summary}")
        for setting in next(d for d in describe_methods() if d["id"] == key)["parameters"]:
            _print(f"{'':<{width}}    {setting['name']} = {setting['default']}: {setting['help']}")
    return DONE


def _inspect(options: argparse.Namespace) -> int:
    from aucstudio.project.table import read_table

    table = read_table(
        options.data, label=options.label, positive=options.positive, ignore=options.ignore
    )
    found = table.as_inspection()
    if options.json:
        _print_json(found)
        return DONE
    _print(f"{table.path}: {table.rows} rows, {len(table.columns)} columns")
    _print(
        f"{found['format']}, {found['encoding']}, delimiter {found['delimiter']!r}, decimal "
        f"{found['decimal']!r}, {'a' if found['header'] else 'no'} header row"
    )
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


def _classes(classes: dict[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in classes.items())


def _train(options: argparse.Namespace) -> int:
    from aucstudio.engine.roc import ThresholdRule
    from aucstudio.project import headless

    rule = None if options.threshold is None else ThresholdRule.parse(options.threshold)
    plan = headless.plan_run(
        options.data,
        options.method,
        options.set,
        label=options.label,
        positive=options.positive,
        ignore=options.ignore,
        validation=_validation(options),
        band=_band(options.fpr_range),
        tuning=_tuning(options),
    )
    record = _train_record(plan, options)
    model = None
    if options.save_model and record.splits:
        headless.take_model(plan, record, rule).save(options.save_model)
        model = options.save_model
    document = headless.result_document(plan.table, [record], plan.experiment.band, model)
    if options.json:
        _print_json(document)
    elif record.splits:
        _print(headless.results_table([record], plan.experiment.band))
        for search in record.searches:
            _print(f"tuned: {headless.search_result(search)}")
        for note in record.notes:
            _print(f"note: {note}")
    return _outcome(record.status, record.error)


def _train_record(plan: Plan, options: argparse.Namespace) -> RunRecord:
    from aucstudio.project import headless
    from aucstudio.project.batch import run_on_cluster
    from aucstudio.project.experiment_file import Study

    bar = _progress_bar(plan.experiment.method)
    if options.cluster is None:
        return headless.run(plan, options.project, bar)
    study = Study(plan.table, (plan.experiment,))
    records = run_on_cluster(study, plan.test_table, options.cluster, options.project, bar)
    if not records:
        raise KeyboardInterrupt
    return records[0]


def _positive_int(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1; it is {text!r}")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    from aucstudio.project import headless
    from aucstudio.project.batch import run_study
    from aucstudio.project.experiment_file import read_study

    study = read_study(options.experiment)
    band = study.experiments[0].band
    bar = _progress_bar("run")
    records = run_study(study, options.project, options.jobs, bar, options.cluster)
    if options.json:
        _print_json(headless.result_document(study.table, records, band))
    elif any(record.splits for record in records):
        _print(headless.results_table([r for r in records if r.splits], band))
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


def _validation(options: argparse.Namespace) -> Any:
    from aucstudio.project.split import Validation

    common = {"repeats": options.repeats, "seed": options.seed}
    if options.leave_pair_out:
        return Validation(scheme="leave-pair-out", seed=options.seed)
    if options.folds is not None:
        return Validation(scheme="folds", folds=options.folds, **common)
    if options.test_file is not None:
        return Validation(scheme="file", test_file=options.test_file, **common)
    if options.test_size is not None:
        return Validation(test_size=options.test_size, **common)
    return Validation(**common)


def _tuning(options: argparse.Namespace) -> Any:
    from aucstudio.project.tuning import Tuning

    return None if options.tune is None else Tuning(options.tune, seed=options.seed)


def _band(text: str) -> tuple[float, float]:
    from aucstudio.project.errors import InputError

    try:
        alpha, beta = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"--fpr-range takes two numbers A,B such as 0,0.1; it is {text!r}",
            setting="fpr_range",
        ) from None
    return alpha, beta


def _score(options: argparse.Namespace) -> int:
    from aucstudio.project.model import load_model
    from aucstudio.project.table import read_table

    model = load_model(options.model)
    table = read_table(options.data, need_label=False)
    for rejected in table.rejected:
        _complain(f"{table.path}, line {rejected.line} is left out: {rejected.reason}")
    scores = model.score(table)
    predicted = np.where(scores > 0, model.positive, model.negative)
    rows = zip(range(1, len(scores) + 1), scores.tolist(), predicted.tolist(), strict=True)
    if options.output:
        _write_scores_file(Path(options.output), rows)
    if options.json:
        document = {
            "model": options.model,
            "method": model.method,
            "file": str(table.path),
            "rows": len(scores),
            "rejected_rows": table.rejected_rows,
            "output": options.output,
        }
        if not options.output:
            document |= {"scores": scores.tolist(), "predicted": predicted.tolist()}
        _print_json(document)
    elif not options.output:
        _write_scores(sys.stdout, rows)
    return DONE


def _write_scores_file(path: Path, rows: Any) -> None:
    import io

    from aucstudio.project.files import write_atomically

    text = io.StringIO(newline="")
    _write_scores(text, rows)
    write_atomically(path, text.getvalue())


def _write_scores(target: IO[str], rows: Any) -> None:
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(["row", "score", "predicted"])
    # repr of a float reads back to the same float.
    writer.writerows((row, repr(score), name) for row, score, name in rows)


def _export(options: argparse.Namespace) -> int:
    from aucstudio.project.export import export_model
    from aucstudio.project.model import load_model

    export_model(load_model(options.model), options.to, options.output)
    return DONE


def _compare(options: argparse.Namespace) -> int:
    from aucstudio.project import comparison, headless

    named, band = headless.named_runs(options.project)
    if options.json:
        _print_json(headless.comparison_document(named, band))
        return DONE
    figures = [comparison.run_figures(name, record, band) for name, record in named]
    for measure in (comparison.AUC, comparison.PAUC):
        pairs = comparison.compare_runs(named, band, measure)
        heading = "AUC" if measure == comparison.AUC else f"pAUC in FPR {band[0]:g} … {band[1]:g}"
        _print(f"## {heading}\n\n{comparison.as_markdown(figures, pairs)}")
    return DONE


def _demo(options: argparse.Namespace) -> int:
    from aucstudio.gui.pictures import save_pictures
    from aucstudio.project import headless
    from aucstudio.project.demo import BAND, PROJECT_NAME, run_demo

    folder = Path(options.out)
    records = run_demo(folder, _progress_bar("demo"))
    _print(headless.results_table([r for r in records if r.splits], BAND))
    pictures = save_pictures(folder / PROJECT_NAME, folder)
    _print(
        f"{folder}: report.html, {PROJECT_NAME}, " + ", ".join(p.name for p in pictures.values())
    )
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
    "demo": _demo,
}


# ------------------------------------------------------------------ output


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")


def _print_json(document: Any) -> None:
    json.dump(document, sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def _progress_bar(title: str) -> Callable[[float | None, str], None] | None:
    """Make a bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        return None

    def show(fraction: float | None, text: str) -> None:
        filled = 0 if fraction is None else round(30 * fraction)
        percent = "    " if fraction is None else f"{fraction:4.0%}"
        line = f"{title} [{'█' * filled}{'·' * (30 - filled)}] {percent} {text}"
        sys.stderr.write("\r\x1b[2K" + ("" if fraction == 1.0 else line[:100]))
        sys.stderr.flush()

    return show
