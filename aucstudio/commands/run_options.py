"""How the command ``train`` is told what to fit and how to judge it."""

from __future__ import annotations

import argparse
from typing import Any

from aucstudio.commands.table_options import add_stream_options
from aucstudio.commands.values import add_cluster_option
from aucstudio.project.errors import InputError


def add_run_options(train: argparse.ArgumentParser) -> None:
    _add_scorer_options(train)
    _add_validation_options(train)
    _add_measure_options(train)
    _add_preparation_options(train)
    add_stream_options(train)
    _add_model_options(train)
    train.add_argument("--project", metavar="FILE", help="add the run to a project (*.aucproj)")
    add_cluster_option(train)


def _add_scorer_options(train: argparse.ArgumentParser) -> None:
    """Declare the options for a method or for given scores."""
    what = train.add_mutually_exclusive_group(required=True)
    what.add_argument("--method", metavar="ID", help="one of those that aucstudio methods lists")
    what.add_argument(
        "--score-column",
        metavar="COL",
        help="use this column as scores: a marker, or scores of another program",
    )
    train.add_argument(
        "--score-file", metavar="FILE", help="the file that --score-column is in, in any format"
    )
    train.add_argument(
        "--score-id",
        metavar="COL",
        help="its column that names the rows, as the --id column of DATA does (default: the one "
        "of that name)",
    )
    sign = train.add_mutually_exclusive_group()
    sign.add_argument(
        "--higher-is-positive",
        dest="direction",
        action="store_const",
        const="higher",
        help="direction of --score-column (default: found on training rows)",
    )
    sign.add_argument(
        "--lower-is-positive",
        dest="direction",
        action="store_const",
        const="lower",
        help="the opposite direction",
    )
    train.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="a setting of the method"
    )


def _add_validation_options(train: argparse.ArgumentParser) -> None:
    """Declare the options for validation."""
    scheme = train.add_mutually_exclusive_group()
    scheme.add_argument("--test-size", metavar="F", type=float, help="hold out this fraction")
    scheme.add_argument("--folds", metavar="K", type=int, help="cross-validate in K folds")
    scheme.add_argument("--test-file", metavar="FILE", help="test on another table")
    scheme.add_argument(
        "--leave-pair-out",
        action="store_true",
        help="order each pair by training without it, exactly (regularised least squares)",
    )
    scheme.add_argument(
        "--time",
        metavar="COL",
        help="train on earlier rows and test on later ones, by this column of dates or numbers",
    )
    for name, words in (
        ("steps", "with --time: blocks of rows that are tested one after the other (default 5)"),
        ("gap", "with --time: least distance from training to test rows (days, for dates)"),
        ("window", "with --time: training window: use only rows this recent"),
    ):
        kind = int if name == "steps" else float
        train.add_argument(f"--{name}", metavar=name[0].upper(), type=kind, help=words)
    train.add_argument(
        "--repeats",
        metavar="R",
        type=int,
        default=1,
        help="repeat the hold-out part or the folds R times (default 1)",
    )
    train.add_argument(
        "--seed",
        metavar="N",
        type=int,
        default=0,
        help="random seed of the splits (default 0)",
    )


def _add_measure_options(train: argparse.ArgumentParser) -> None:
    """Declare the options for the ranking criterion and tuning."""
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


def _add_model_options(train: argparse.ArgumentParser) -> None:
    """Declare the options for saving the model."""
    train.add_argument("--save-model", metavar="FILE", help="write the model (*.aucmodel)")
    train.add_argument(
        "--calibrate",
        metavar="MAP",
        help="give the saved model probabilities, fitted on held-out rows: isotonic, platt or beta",
    )
    train.add_argument(
        "--threshold",
        metavar="RULE",
        help="decision threshold of the saved model: equal-error, min-max, fpr=F, "
        "tpr=F, precision=F[@PRIOR], alerts=SHARE[@PRIOR] or cost=FP:FN[@PRIOR], chosen on the "
        "held-out rows",
    )


def _add_preparation_options(train: argparse.ArgumentParser) -> None:
    ways = train.add_argument_group("how columns are prepared, fitted on the training rows")
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
        help="a column beside each number column that marks its missing values",
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
        help="a category of more than 100 levels: most-frequent (default) keeps those most "
        "frequent, frequency replaces every level by its share of the training rows",
    )


def read_preparation(options: argparse.Namespace) -> Any:
    """Collect how columns are made ready."""
    from aucstudio.project.data.preparing.preparation_choice import PreparationChoice

    names = ("impute", "scale", "indicators", "rare", "many_levels")
    given = {name: getattr(options, name) for name in names}
    return PreparationChoice(**{n: value for n, value in given.items() if value is not None})


def read_score_file(options: argparse.Namespace) -> Any:
    """Return where scores are, if they are in a file of their own."""
    from aucstudio.project.runs.given_scores import ScoreSource

    if options.score_file is None:
        return None
    return ScoreSource(options.score_file, options.score_id)


def read_validation(options: argparse.Namespace) -> Any:
    from aucstudio.project.data.splitting.validation import Validation

    common = {"repeats": options.repeats, "seed": options.seed}
    if options.time is not None:
        reach = {n: value for n in ("gap", "window") if (value := getattr(options, n)) is not None}
        steps = 5 if options.steps is None else options.steps
        return Validation("forward", folds=steps, time=options.time, **reach, **common)
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


def check_together(options: argparse.Namespace) -> None:
    """Refuse options that would be without effect beside the others."""
    _check_scores(options)
    _check_saved(options)
    _check_splits(options)


def _check_scores(options: argparse.Namespace) -> None:
    if options.direction and options.score_column is None:
        raise InputError(
            f"--{options.direction}-is-positive is about --score-column: name the column too",
            setting="score-column",
        )
    if options.score_file and options.score_column is None:
        raise InputError(
            "--score-file holds scores in a column: name it with --score-column",
            setting="score-column",
        )
    if options.score_id and not options.score_file:
        raise InputError(
            "--score-id is a column of --score-file: name the file too", setting="score-file"
        )
    if options.score_column and (options.set or options.tune):
        raise InputError(
            "a score column has nothing to set or to tune: leave out --set and --tune",
            setting="score-column",
        )


def _check_saved(options: argparse.Namespace) -> None:
    if options.threshold is not None and not options.save_model:
        raise InputError(
            "--threshold sets the decision threshold of a saved model: add --save-model "
            "FILE, or leave it out",
            setting="threshold",
        )
    if options.calibrate is None:
        return
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


def _check_splits(options: argparse.Namespace) -> None:
    for name in ("steps", "gap", "window"):
        if getattr(options, name) is not None and options.time is None:
            raise InputError(f"--{name} is about --time: name the column too", setting=name)
    scheme = ("test_file", "leave_pair_out", "time")
    fixed = [name for name in scheme if getattr(options, name, None)]
    if fixed and options.repeats != 1:
        raise InputError(
            f"--repeats draws the held-out rows again, and with --{fixed[0].replace('_', '-')} "
            "there is nothing to draw: leave one of them out",
            setting="repeats",
        )
