"""``aucstudio train``: train and validate one method."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from aucstudio.commands.options import (
    CLUSTER,
    JSON,
    SAVE_MODEL,
    STREAM,
    add,
    read_band,
    refuse,
)
from aucstudio.commands.outcomes import (
    carry_out,
    check_model_name,
    ended,
    save_made_model,
    show,
)
from aucstudio.commands.table_options import add_table_options, choose_reader, read_said
from aucstudio.console import note
from aucstudio.project.errors import InputError

if TYPE_CHECKING:
    from aucstudio.project.data.preparing.preparation_choice import PreparationChoice
    from aucstudio.project.data.splitting.validation import Validation
    from aucstudio.project.results.calibration import JudgedMaps
    from aucstudio.project.runs.record import RunRecord

_METHOD = {
    "--method ID": "a method that aucstudio methods lists",
    "--score-column COL": "use this column as scores: a marker, or scores of another program",
}
_SCORES = {
    "--score-file FILE": "the file that --score-column is in, in any format",
    "--score-id COL": "row identifier in that file; matches the --id column of DATA "
    "(default: the column of the same name)",
}
_DIRECTIONS = {
    "--higher-is-positive": "direction of --score-column (default: found on training rows)",
    "--lower-is-positive": "the opposite direction",
}
_SCHEMES = {
    "--test-size F float": "hold out this fraction",
    "--folds K int": "cross-validate in K folds",
    "--test-file FILE": "test on another table",
    "--leave-pair-out": "exact leave-pair-out cross-validation (regularised least squares only)",
    "--time COL": "train on earlier rows and test on later ones, by this column of dates or "
    "numbers",
}
_VALIDATION = {
    "--steps S int": "with --time: blocks of rows that are tested one after the other (default 5)",
    "--gap G float": "with --time: least distance from training to test rows (days, for dates)",
    "--window W float": "with --time: training window: use only rows this recent",
    "--repeats R int 1": "repeat the hold-out part or the folds R times (default 1)",
    "--seed N int 0": "random seed of the splits (default 0)",
    "--fpr-range A,B str 0,0.1": "range of the partial AUC; methods that train for a range train "
    "for this one (default 0,0.1)",
    "--tune METRIC": "search the method's settings on each training part by auc, pauc (of "
    "--fpr-range) or leave-pair-out",
}
_PREPARATION = {
    "--impute WAY": "fill missing numbers with the median (default), mean or most-frequent value",
    "--scale WAY": "standard (default), robust (median and quartiles), quantile or quantile-normal "
    "(ranks), min-max or none",
    "--indicators": "add an indicator of missing values for each number column",
    "--rare N float": "merge levels of fewer rows into one: a share below 1, or a count",
    "--many-levels WAY": "a category of more than 100 levels: most-frequent (default) keeps those "
    "most frequent, frequency replaces every level by its share of the training rows",
}
_MODEL = {
    **SAVE_MODEL,
    "--calibrate MAP": "calibrate the probabilities of the saved model on held-out rows: "
    "isotonic, platt or beta",
    "--threshold RULE": "decision threshold of the saved model: equal-error, min-max, fpr=F, "
    "tpr=F, precision=F[@PRIOR], alerts=SHARE[@PRIOR] or cost=FP:FN[@PRIOR], chosen on the "
    "held-out rows",
    "--project FILE": "add the run to a project (*.aucproj)",
    **CLUSTER,
    **JSON,
}
NEEDS = {
    **dict.fromkeys(("higher_is_positive", "lower_is_positive", "score_file"), "score_column"),
    "score_id": "score_file",
    "threshold": "save_model",
    "calibrate": "save_model",
    **dict.fromkeys(("steps", "gap", "window"), "time"),
}
EXCLUDES = (
    ("set", "score_column", "a score column has no settings"),
    ("tune", "score_column", "a score column has nothing to tune"),
    ("calibrate", "leave_pair_out", "it holds out no rows to calibrate on"),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add_table_options(parser)
    add(parser.add_mutually_exclusive_group(required=True), _METHOD)
    add(parser, _SCORES)
    add(parser.add_mutually_exclusive_group(), _DIRECTIONS)
    add(parser, {"--set NAME=VALUE*": "a setting of the method"})
    add(parser.add_mutually_exclusive_group(), _SCHEMES)
    add(parser, _VALIDATION)
    ways = parser.add_argument_group("preprocessing of columns, fitted on the training rows")
    add(ways, _PREPARATION)
    add(parser, STREAM)
    add(parser, _MODEL)


def read_preparation(options: argparse.Namespace) -> PreparationChoice:
    """Collect how columns are made ready."""
    from aucstudio.project.data.preparing.preparation_choice import PreparationChoice

    names = ("impute", "scale", "indicators", "rare", "many_levels")
    given = {name: getattr(options, name) for name in names}
    return PreparationChoice(**{n: value for n, value in given.items() if value is not None})


def _read_validation(options: argparse.Namespace) -> Validation:
    from aucstudio.project.data.splitting.validation import Validation, scheme_of

    names = ("test_size", "folds", "test_file", "time", "gap", "window")
    given = {name: v for name in names if (v := getattr(options, name)) is not None}
    given |= {} if options.steps is None else {"folds": options.steps}
    given |= {"repeats": options.repeats, "seed": options.seed}
    fixed = [n for n in ("test_file", "leave_pair_out", "time") if getattr(options, n)]
    refuse(
        fixed and options.repeats != 1,
        f"--repeats draws other held-out rows, but --{''.join(fixed).replace('_', '-')} "
        "fixes them: leave out one of the two options",
        "repeats",
    )
    if options.leave_pair_out:
        return Validation("leave-pair-out", seed=options.seed)
    return Validation(scheme_of(given), **given)


def run(options: argparse.Namespace) -> int:
    """Train and validate a method; returns the exit status."""
    from aucstudio.engine.roc import ThresholdRule
    from aucstudio.project.results.documents import data_sentence
    from aucstudio.project.runs.experiments.planning import plan_run
    from aucstudio.project.runs.tuning import Tuning

    check_model_name(options, options.data)
    rule = None if options.threshold is None else ThresholdRule.parse(options.threshold)
    if options.calibrate is not None:
        from aucstudio.project.runs.models.final_model import check_kind

        check_kind(options.calibrate)
    method, given, source = options.method, options.set, None
    if options.score_column is not None:
        from aucstudio.project.runs.experiments.planning import MARKER, ScoreSource

        if options.score_file is not None:
            source = ScoreSource(options.score_file, options.score_id)
        senses = {"higher": options.higher_is_positive, "lower": options.lower_is_positive}
        direction = next((sense for sense, chosen in senses.items() if chosen), "found")
        method, given = MARKER, [f"direction={direction}"]
    plan = plan_run(
        options.data,
        method,
        given,
        **read_said(options),
        validation=_read_validation(options),
        band=read_band(options.fpr_range),
        tuning=None if options.tune is None else Tuning(options.tune, seed=options.seed),
        preparation=read_preparation(options),
        read=choose_reader(options, options.data, [method]),
        score_column=options.score_column,
        score_file=source,
    )
    if plan.remark:
        note(plan.remark)
    outcomes = carry_out([plan], options, plan.experiment.method)
    records = [outcome.record for outcome in outcomes if outcome.record.splits]
    model, trouble = None, ""
    if options.save_model and records:
        from aucstudio.project.runs.models.final_model import take_model

        trouble = save_made_model(
            options.save_model, lambda: take_model(plan, records[0], rule, options.calibrate)
        )
        model = None if trouble else options.save_model
    judged = _judged(records[0], options.calibrate) if model and options.calibrate else None
    more = {} if judged is None else {"calibration": judged.as_json()}
    first = f"{data_sentence(plan.table)}\n\n"
    show(options, plan.table, outcomes, plan.experiment.band, model, first=first, more=more)
    if judged is not None:
        for sentence in filter(None, (judged.sentence(), judged.caution)):
            note(sentence)
    return ended(outcomes, 1, trouble)


def _judged(record: RunRecord, kind: str) -> JudgedMaps | None:
    """Estimate the accuracy of the probabilities, or state why it cannot be estimated."""
    from aucstudio.project.results.calibration import judge

    try:
        return judge(record, kind)
    except InputError as error:
        note(str(error))
        return None
