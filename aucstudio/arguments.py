"""What the command line takes: its commands, their options, and how options are read."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from aucstudio import __version__
from aucstudio.project.examples.studies import STUDIES

BAD_INPUT = 2


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def window_parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog="aucstudio")
    parser.add_argument("file", nargs="?", metavar="FILE", help="a table or a project (*.aucproj)")
    parser.set_defaults(sample=False)
    return parser


def command_parser() -> argparse.ArgumentParser:
    parser = OneLineParser(
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
    demo = commands.add_parser("demo", help="run an example study, without a window")

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
    score.add_argument(
        "-o",
        "--output",
        metavar="SCORES.csv",
        type=_file_or_none,
        help="write the scores here; - is the standard output",
    )
    _add_stream_options(score)
    export.add_argument("model", metavar="MODEL")
    export.add_argument("--to", metavar="FORMAT", required=True, help="onnx, script or json")
    export.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="- is the standard output"
    )
    compare.add_argument("project", metavar="PROJECT")
    _add_cluster_option(compare)
    demo.add_argument("--out", metavar="DIR", default="aucstudio-demo")
    demo.add_argument("--study", metavar="NAME", default=STUDIES[0], help=", ".join(STUDIES))
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
        help="send the work to a Dask scheduler that you trust (tcp://host:8786)",
    )


def _add_stream_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stream",
        action="store_true",
        help="leave the table on disk and read it in blocks; so is one that is too large for "
        "memory (auc-rls, rank-svm, nbauc, nsauc)",
    )
    parser.add_argument(
        "--block-size", metavar="SIZE", help="the same in blocks of this size (default 64M)"
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
    _add_stream_options(train)
    train.add_argument("--save-model", metavar="FILE", help="write the model (*.aucmodel)")
    train.add_argument(
        "--threshold",
        metavar="RULE",
        help="where the saved model begins to say positive: equal-error, min-max, fpr=F or "
        "cost=FP:FN[@PRIOR], chosen on the held-out rows",
    )
    train.add_argument("--project", metavar="FILE", help="add the run to a project (*.aucproj)")
    _add_cluster_option(train)


def _file_or_none(text: str) -> str | None:
    """Give the file to write results to; - is where they go without one."""
    return None if text == "-" else text


def _positive_int(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1; it is {text!r}")
    return int(text)


def read_validation(options: argparse.Namespace) -> Any:
    from aucstudio.project.data.split import Validation

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


def read_tuning(options: argparse.Namespace) -> Any:
    from aucstudio.project.runs.tuning import Tuning

    return None if options.tune is None else Tuning(options.tune, seed=options.seed)


def read_band(text: str) -> tuple[float, float]:
    from aucstudio.project.errors import InputError

    try:
        alpha, beta = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"--fpr-range takes two numbers A,B such as 0,0.1; it is {text!r}",
            setting="fpr_range",
        ) from None
    return alpha, beta
