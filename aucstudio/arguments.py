"""What the command line takes: its commands, their options, and how options are read."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from aucstudio import __version__
from aucstudio.boundary import BAD_INPUT
from aucstudio.project.errors import InputError
from aucstudio.project.examples.studies import STUDIES
from aucstudio.project.words import suggestion

GLOBAL_OPTIONS = ("--debug", "--quiet")
STANDARD_INPUT = "-"

_COMMANDS = {
    "inspect": "show what the importer understands of a table",
    "train": "train and validate one method on a table",
    "best": "find the best model for a table, by a tournament within its training rows",
    "run": "run an experiment file",
    "compare": "compare the runs of a project, with intervals and tests",
    "verify": "solve the problems of a project's runs again, by independent routes",
    "score": "apply a saved model to a table",
    "export": "write a saved model for other programs",
    "check": "tell what is wrong with a project, a model or an experiment file",
    "methods": "list the methods and their settings, or show those of one",
    "demo": "run an example study, without a window",
}


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, and what may have been meant."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Refuse unknown options here: the parser of a command knows which it has."""
        found, others = super().parse_known_args(args, namespace)
        unknown = [word.partition("=")[0] for word in others if word.startswith("-")]
        if unknown:
            near = suggestion(unknown[0], self._option_string_actions)
            self.error(f"there is no option {unknown[0]}{near}")
        return found, others


def window_parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog="aucstudio", parents=[_global_options()])
    parser.add_argument("file", nargs="?", metavar="FILE", help="a table or a project (*.aucproj)")
    parser.set_defaults(sample=False)
    return parser


def command_parser() -> argparse.ArgumentParser:
    common = _global_options()
    parser = OneLineParser(
        prog="aucstudio",
        parents=[common],
        description="Train for the ROC curve itself. Without a command: open the window, "
        "on FILE if one is given.",
        epilog="aucstudio COMMAND --help tells of a command's options.",
    )
    parser.add_argument("--version", action="version", version=f"aucstudio {__version__}")
    parser.add_argument("--sample", action="store_true", help="open the window on a sample study")
    parser.set_defaults(file=None)
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    made = {
        name: commands.add_parser(name, parents=[common], help=help_, description=_sentence(help_))
        for name, help_ in _COMMANDS.items()
    }
    _add_table(made["inspect"])
    _add_column_options(made["inspect"])
    _add_table(made["train"])
    _add_column_options(made["train"])
    _add_train_options(made["train"])
    _add_table(made["best"])
    _add_column_options(made["best"])
    _add_best_options(made["best"])
    _add_run_options(made["run"])
    made["compare"].add_argument("project", metavar="PROJECT", help="a project (*.aucproj)")
    made["compare"].add_argument(
        "--by", metavar="COL", help="each run by the levels of this column, and whether they differ"
    )
    _add_cluster_option(made["compare"])
    _add_verify_options(made["verify"])
    _add_score_options(made["score"])
    _add_check_options(made["check"])
    _add_export_options(made["export"])
    made["methods"].add_argument("method", metavar="ID", nargs="?", help="show this method alone")
    made["demo"].add_argument(
        "--out",
        metavar="DIR",
        default="aucstudio-demo",
        help="where results and pictures go (default aucstudio-demo)",
    )
    studies = f"which study: {', '.join(STUDIES)} (default {STUDIES[0]})"
    made["demo"].add_argument("--study", metavar="NAME", default=STUDIES[0], help=studies)
    for name in (
        "inspect",
        "train",
        "run",
        "best",
        "compare",
        "score",
        "check",
        "methods",
        "verify",
    ):
        made[name].add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _add_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "data",
        metavar="DATA",
        help="a table: text, packed or not, Parquet, Excel, SAS, Stata, SPSS, ARFF, JSON, a "
        "database; - is the standard input",
    )


def _add_run_options(run: argparse.ArgumentParser) -> None:
    run.add_argument("experiment", metavar="EXPERIMENT.toml", help="an experiment file")
    run.add_argument("--project", metavar="FILE", help="add the runs to a project (*.aucproj)")
    where = run.add_mutually_exclusive_group()
    _add_cluster_option(where)
    where.add_argument(
        "--jobs", metavar="N", type=_positive_int, default=1, help="runs at once, in processes"
    )
    _add_stream_options(run)


def _add_best_options(best: argparse.ArgumentParser) -> None:
    best.add_argument(
        "--fpr-range",
        metavar="A,B",
        help="the false positive rates that count most; without it the AUC counts, and figures "
        "are shown for 0,0.1",
    )
    best.add_argument(
        "--minutes", metavar="M", type=_minutes, default=10.0, help="time to spend (default 10)"
    )
    best.add_argument(
        "--test-size",
        metavar="F",
        type=float,
        default=0.25,
        help="hold out this fraction, which no choice sees (default 0.25)",
    )
    best.add_argument(
        "--folds",
        metavar="K",
        type=_folds,
        default=5,
        help="parts of the training rows that choices are made by (default 5)",
    )
    best.add_argument("--seed", metavar="N", type=int, default=0, help="of all chance (default 0)")
    best.add_argument("--save-model", metavar="FILE", help="write the best model (*.aucmodel)")
    best.add_argument("--project", metavar="FILE", help="add the runs to a project (*.aucproj)")


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = float("nan")
    if not 0.0 < minutes < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number greater than 0; it is {text!r}")
    return minutes


def _folds(text: str) -> int:
    if not text.isdigit() or not 2 <= int(text) <= 20:
        raise argparse.ArgumentTypeError(f"must be a whole number from 2 to 20; it is {text!r}")
    return int(text)


def _add_score_options(score: argparse.ArgumentParser) -> None:
    score.add_argument("model", metavar="MODEL", help="a saved model (*.aucmodel)")
    score.add_argument(
        "data", metavar="DATA", help="a table, which need not have a label; - is the standard input"
    )
    score.add_argument(
        "-o",
        "--output",
        metavar="SCORES.csv",
        type=_file_or_none,
        help="write the scores here, as Parquet where it ends so; - is the standard output",
    )
    score.add_argument("--id", metavar="COL", help="a column to write beside each score")
    score.add_argument("--label", metavar="COL", help="the column that holds the class, if another")
    score.add_argument(
        "--allow-unknown",
        metavar="COL",
        action="append",
        default=[],
        help="score although this column is absent or holds nothing that the model knows",
    )
    _add_dialect_options(score)
    _add_stream_options(score)


def _add_verify_options(verify: argparse.ArgumentParser) -> None:
    verify.add_argument("project", metavar="PROJECT", help="a project (*.aucproj)")
    verify.add_argument("run", metavar="RUN", nargs="?", help="a run by name or id; else all")
    verify.add_argument(
        "--split", metavar="N", type=_positive_int, default=1, help="which split (default 1)"
    )


def _add_check_options(check: argparse.ArgumentParser) -> None:
    check.add_argument("file", metavar="FILE", help="*.aucproj, *.aucmodel or *.toml")
    check.add_argument(
        "--repair",
        action="store_true",
        help="write what can be read of a project into a new one; FILE is left as it is",
    )
    check.add_argument(
        "-o", "--output", metavar="FILE", help="the new project (default NAME.repaired.aucproj)"
    )


def _add_export_options(export: argparse.ArgumentParser) -> None:
    export.add_argument("model", metavar="MODEL", help="a saved model (*.aucmodel)")
    export.add_argument("--to", metavar="FORMAT", required=True, help="onnx, script or json")
    export.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help="where the exported model goes; - is the standard output",
    )


def _global_options() -> OneLineParser:
    """Make what stands before a command or after it."""
    common = OneLineParser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--debug", action="store_true", help="print the trace of what went wrong")
    common.add_argument(
        "--quiet", action="store_true", help="no progress and no notes on standard error"
    )
    return common


_ROLES = {
    "ignore": "a column to leave out",
    "category": "a column of categories, whatever it holds",
    "number": "a column of numbers",
    "id": "a column that names the rows: kept with scores, not learnt from",
    "group": "a column whose equal cells stay together in a split",
}


def _add_column_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--label", metavar="COL", help="the column that holds the class")
    parser.add_argument(
        "--positive",
        metavar="VALUE",
        action="append",
        help="the class to find; given several times, these together; or a threshold such as "
        "'>= 5' of a label of numbers",
    )
    parser.add_argument(
        "--merge-spellings",
        action="store_true",
        help="classes that differ in capitals and blanks alone are one",
    )
    for role, words in _ROLES.items():
        parser.add_argument(f"--{role}", metavar="COL", action="append", default=[], help=words)
    _add_dialect_options(parser)


def _add_dialect_options(parser: argparse.ArgumentParser) -> None:
    marks = parser.add_argument_group("how the text file is written, where the guess is wrong")
    marks.add_argument("--delimiter", metavar="MARK", help="what separates cells; tab for tabs")
    marks.add_argument("--encoding", metavar="NAME", help="such as utf-8 or cp1252")
    marks.add_argument("--decimal", metavar="MARK", help="the decimal mark, . or ,")
    marks.add_argument("--quote", metavar="MARK", help="what stands around cells; none for nothing")
    marks.add_argument("--skip", metavar="N", type=int, help="lines before the table")
    marks.add_argument(
        "--sheet", metavar="NAME", help="which sheet of a workbook, table of a database or member"
    )
    marks.add_argument(
        "--missing",
        metavar="TEXT",
        action="append",
        help="a spelling of missing values beside the usual ones",
    )
    marks.add_argument(
        "--strict",
        action="store_true",
        default=None,
        help="refuse the file for the first row that cannot be read, instead of leaving it out",
    )


def read_roles(options: argparse.Namespace) -> dict[str, str]:
    """Collect the roles that columns were given."""
    from aucstudio.project.errors import InputError

    roles: dict[str, str] = {}
    for role in _ROLES:
        for column in getattr(options, role):
            if roles.setdefault(column, role) != role:
                raise InputError(
                    f"column {column!r} is given two roles, {roles[column]} and {role}: keep one",
                    column=column,
                    setting=role,
                )
    return roles


def read_label(options: argparse.Namespace) -> dict[str, Any]:
    """Collect what was said about the label and its classes."""
    return {
        "label": options.label,
        "positive": options.positive,
        "merge": options.merge_spellings or None,
    }


def read_dialect(options: argparse.Namespace) -> dict[str, Any]:
    """Collect what was said about how the text file is written."""
    words = {
        "delimiter": {"tab": "\t", "\\t": "\t", "blank": " ", "blanks": " "},
        "quote": {"none": ""},
    }
    given: dict[str, Any] = {}
    for part in ("delimiter", "encoding", "decimal", "quote", "skip", "sheet", "strict"):
        value = getattr(options, part)
        if value is not None:
            given[part] = words.get(part, {}).get(value, value)
    if "delimiter" in given:
        given["delimiter"] = _control(given["delimiter"])
    if options.missing:
        given["missing"] = tuple(options.missing)
    return given


def _control(mark: str) -> str:
    r"""Read ``\x01`` or ``^A`` as the character that cannot be typed."""
    if len(mark) == 4 and mark[:2] == "\\x" and set(mark[2:]) <= set("0123456789abcdefABCDEF"):
        return chr(int(mark[2:], 16))
    if len(mark) == 2 and mark[0] == "^" and "A" <= mark[1] <= "_":
        return chr(ord(mark[1]) - 64)
    return mark


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
    what = train.add_mutually_exclusive_group(required=True)
    what.add_argument("--method", metavar="ID", help="one of those that aucstudio methods lists")
    what.add_argument(
        "--score-column",
        metavar="COL",
        help="take this column for scores as it is: a marker, or what another program gave",
    )
    sign = train.add_mutually_exclusive_group()
    sign.add_argument(
        "--higher-is-positive",
        dest="direction",
        action="store_const",
        const="higher",
        help="of --score-column; else the direction is found on training rows",
    )
    sign.add_argument(
        "--lower-is-positive",
        dest="direction",
        action="store_const",
        const="lower",
        help="the other direction",
    )
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
    train.add_argument(
        "--repeats",
        metavar="R",
        type=int,
        default=1,
        help="draw the hold-out part or the folds so many times (default 1)",
    )
    train.add_argument(
        "--seed", metavar="N", type=int, default=0, help="of the random splits (default 0)"
    )
    train.add_argument(
        "--fpr-range",
        metavar="A,B",
        default="0,0.1",
        help="range of the partial AUC; methods that train for a range train for this one "
        "(default 0,0.1)",
    )
    train.add_argument(
        "--tune",
        metavar="METRIC",
        help="search the method's settings on each training part by auc, pauc (of --fpr-range) "
        "or leave-pair-out",
    )
    _add_preparation_options(train)
    _add_stream_options(train)
    train.add_argument("--save-model", metavar="FILE", help="write the model (*.aucmodel)")
    train.add_argument(
        "--calibrate",
        metavar="MAP",
        help="give the saved model probabilities, learnt from held-out rows: isotonic, platt or "
        "beta",
    )
    train.add_argument(
        "--threshold",
        metavar="RULE",
        help="where the saved model begins to say positive: equal-error, min-max, fpr=F, "
        "tpr=F, precision=F[@PRIOR], alerts=SHARE[@PRIOR] or cost=FP:FN[@PRIOR], chosen on the "
        "held-out rows",
    )
    train.add_argument("--project", metavar="FILE", help="add the run to a project (*.aucproj)")
    _add_cluster_option(train)


def _add_preparation_options(train: argparse.ArgumentParser) -> None:
    ways = train.add_argument_group("how columns are made ready, learnt on the training rows")
    ways.add_argument(
        "--impute",
        metavar="WAY",
        help="what a missing number becomes: median (default), mean or most-frequent",
    )
    ways.add_argument(
        "--scale",
        metavar="WAY",
        help="standard (default), robust (median and quartiles), quantile or quantile-normal "
        "(ranks), min-max or none",
    )
    ways.add_argument(
        "--indicators",
        action="store_true",
        default=None,
        help="a column beside each number column that tells its missing values",
    )
    ways.add_argument(
        "--rare",
        metavar="N",
        type=float,
        help="merge levels of fewer rows into one: a share below 1, or a count",
    )
    ways.add_argument(
        "--many-levels",
        metavar="WAY",
        help="a category of more than 100 levels: most-frequent (default) keeps so many, "
        "frequency puts each level's share of the training rows in its place",
    )


def read_preparation(options: argparse.Namespace) -> Any:
    """Collect how columns are made ready."""
    from aucstudio.project.data.preparation_choice import PreparationChoice

    names = ("impute", "scale", "indicators", "rare", "many_levels")
    given = {name: getattr(options, name) for name in names}
    return PreparationChoice(**{n: value for n, value in given.items() if value is not None})


def _file_or_none(text: str) -> str | None:
    """Give the file to write results to; - is where they go without one."""
    return None if text == "-" else text


def _positive_int(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1; it is {text!r}")
    return int(text)


def check_together(options: argparse.Namespace) -> None:
    """Refuse options that would be without effect beside the others."""
    if getattr(options, "threshold", None) is not None and not options.save_model:
        raise InputError(
            "--threshold is where a saved model begins to say positive: give --save-model FILE "
            "too, or leave it out",
            setting="threshold",
        )
    if getattr(options, "direction", None) and options.score_column is None:
        raise InputError(
            f"--{options.direction}-is-positive is about --score-column: name the column too",
            setting="score-column",
        )
    if getattr(options, "score_column", None) and (options.set or options.tune):
        raise InputError(
            "a score column has nothing to set or to tune: leave out --set and --tune",
            setting="score-column",
        )
    if options.command == "check" and options.output and not options.repair:
        raise InputError(
            "-o names the new project that --repair writes: give --repair too, or leave it out",
            setting="output",
        )
    if getattr(options, "project", None) == "-":
        raise InputError(
            "a project is read and written in place, so it cannot be the standard output: name "
            "a file",
            setting="project",
        )
    if getattr(options, "calibrate", None) is not None:
        if not options.save_model:
            raise InputError(
                "--calibrate gives a saved model probabilities: give --save-model FILE too, or "
                "leave it out",
                setting="calibrate",
            )
        if options.leave_pair_out:
            raise InputError(
                "--leave-pair-out orders pairs and holds out no rows to calibrate on: leave one of "
                "them out",
                setting="calibrate",
            )
    fixed = [name for name in ("test_file", "leave_pair_out") if getattr(options, name, None)]
    if fixed and options.repeats != 1:
        raise InputError(
            f"--repeats draws the held-out rows anew, and with --{fixed[0].replace('_', '-')} "
            "there is nothing to draw: leave one of them out",
            setting="repeats",
        )


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
    try:
        alpha, beta = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"--fpr-range takes two numbers A,B such as 0,0.1; it is {text!r}",
            setting="fpr_range",
        ) from None
    return alpha, beta
