"""One split of a run: rows, preparation, result and cautions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import inference, roc
from aucstudio.engine.params import declared_params
from aucstudio.notices import Notice, notice
from aucstudio.notices.words import file_words
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.splitting.groups import Groups, groups_by
from aucstudio.project.data.splitting.split import Split
from aucstudio.project.data.table import Column
from aucstudio.project.errors import InputError
from aucstudio.project.runs.estimate import stays_sparse
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.grouping import kept_together
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.progress import Watch
from aucstudio.project.runs.record import SplitResult
from aucstudio.project.runs.rows import Prepared, far_cells, learn, prepared

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]

# Attributes that rows and results of a split share.
_SHARED = (
    *("train_rows", "train_positive", "train_weights"),
    *("test_rows", "test_positive", "test_weights", "test_groups", "weight_kind"),
)
_FEATURE_ROLES = ("number", "category")


@dataclasses.dataclass(frozen=True, eq=False)
class SplitRows:
    """One split with its prepared matrices; rows are numbers of the table (or test file)."""

    split: Split
    test_table: AnyTable | None
    preparation: Preparation
    train_rows: Rows
    train_positive: Mask
    train: Prepared
    test_rows: Rows
    test_positive: Mask
    test: Prepared
    groups: Groups | None
    notes: tuple[Notice, ...]
    train_weights: Array | None = None
    test_weights: Array | None = None
    test_groups: Rows | None = None
    weight_kind: str = "sampling"


def rows_of_split(
    method: type[AUCClassifier],
    split: Split,
    table: AnyTable,
    test_table: AnyTable | None,
    experiment: Experiment,
) -> SplitRows:
    """Prepare the rows of one split; the preprocessing is fitted on its training rows."""
    split, notes = with_scores(method, split, table, test_table)
    positive = table.is_positive()
    labelled = np.flatnonzero(table.labelled())
    train_rows = labelled[split.train]
    sparse = stays_sparse(experiment, table)
    preparation = learn(method, table, train_rows, experiment.preparation, sparse=sparse)
    if test_table is None:
        held, test_rows, test_positive = table, labelled[split.test], positive[split.test]
    else:
        held, test_rows = test_table, np.flatnonzero(test_table.labelled())[split.test]
        test_positive = test_table.is_positive()[split.test]
    return SplitRows(
        split,
        test_table,
        preparation,
        train_rows,
        positive[split.train],
        prepared(preparation, table, train_rows),
        test_rows,
        test_positive,
        prepared(preparation, held, test_rows),
        kept_together(experiment.validation, table, split.train),
        (*notes, *_preparation_notes(preparation, table)),
        part_weights(table, split.train, "training part"),
        part_weights(held, split.test, "held-out part"),
        _test_groups(table, held, split.test),
        table.weight_kind or "sampling",
    )


def _test_groups(table: AnyTable, held: AnyTable, places: Rows) -> Rows | None:
    """Number the groups of held-out rows by the columns that group the rows of the table."""
    grouping = [column.name for column in table.columns if column.role == "group"]
    known = {column.name for column in held.columns}
    names = tuple(name for name in grouping if name in known)
    if not names:
        return None
    groups = held.groups if held is table else groups_by(held, names)
    return None if groups is None else groups.part(places).codes


def _preparation_notes(preparation: Preparation, table: AnyTable) -> Iterator[Notice]:
    if preparation.keeps_zeros:
        words = preparation.choice.describe(keep_gaps=preparation.keep_gaps, keep_zeros=True)
        yield notice("sparse", how=words)
    for far in far_cells(preparation, table):
        yield far.notice


def part_weights(table: AnyTable, places: Rows, part: str) -> Array | None:
    """Return the weights of some of the labelled rows.

    Raises
    ------
    InputError
        If no row of a class counts; ``part`` names the rows in the message.
    """
    if table.weights is None:
        return None
    from aucstudio.project.data.weights import check_weights_left

    weights: Array = table.weights[places]
    check_weights_left(table.weight or "", table.is_positive()[places], weights, part)
    return weights


def trained_model(
    experiment: Experiment,
    table: AnyTable,
    preparation: Preparation,
    method: AUCClassifier,
    trained_on: str,
) -> Model:
    """Make the model of a fitted method; ``trained_on`` describes the training rows."""
    others = [name for name in table.classes if name != table.positive]
    return Model(
        preparation,
        method.scorer_,
        float(method.intercept_),
        experiment.method,
        {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in method.get_params(deep=False).items()
        },
        experiment.data.label,
        experiment.data.positive,
        others[0] if len(others) == 1 else "the rest",
        f"{trained_on} of {file_words(table.path.name)}",
        schema=table.schema,
    )


def split_result(
    part: SplitRows,
    method: AUCClassifier,
    model: Model,
    test_scores: Array,
    watch: Watch,
    seconds: float,
    notes: tuple[Notice, ...],
) -> SplitResult:
    """Return the result of a split."""
    pairs = method.support_pairs_
    support = np.empty((2, 0), dtype=np.intp) if pairs is None else part.train_rows[np.array(pairs)]
    return SplitResult(
        repeat=part.split.repeat,
        fold=part.split.fold,
        **{name: getattr(part, name) for name in _SHARED},
        train_scores=method.train_scores_,
        test_scores=test_scores,
        model=model,
        curve=watch.curve(),
        fit_seconds=seconds,
        objective=float(method.objective_),
        gap=None if method.dual_gap_ is None else float(method.dual_gap_),
        n_iter=getattr(method, "n_iter_", None),
        converged=bool(method.converged_),
        support_pairs=support.astype(np.int64),
        notes=(
            *method.notes_,
            *notes,
            *score_notes(
                part.train_positive,
                method.train_scores_,
                part.test_positive,
                test_scores,
                method=type(method),
                params=method.get_params(deep=False),
                weights=(part.train_weights, part.test_weights),
                weight_kind=part.weight_kind,
                groups=part.test_groups,
            ),
            *_leak_notes(part, test_scores),
        ),
        trajectory=watch.trajectory(method.train_scores_, test_scores),
        needed=None if method.dual_gap_ is None else float(method.needed_gap_),
        trained_range=getattr(method, "fpr_range_used_", None),
    )


def _leak_notes(part: SplitRows, test_scores: Array) -> tuple[Notice, ...]:
    """Search for a column that copies the label if held-out rows are separated perfectly."""
    held = test_scores[part.test_positive], test_scores[~part.test_positive]
    if not all(map(len, held)) or held[0].min() <= held[1].max():
        return ()
    if not isinstance(part.train, np.ndarray):
        return ()
    return leak_notes(part.preparation.feature_names, part.train, part.train_positive)


def with_scores(
    method: type[AUCClassifier], split: Split, table: AnyTable, test_table: AnyTable | None
) -> tuple[Split, tuple[Notice, ...]]:
    """Leave out rows without a score, for a method that takes one column unchanged.

    Positions count labelled rows. With a test file, ``test`` are all of its rows.

    Raises
    ------
    InputError
        If no positive or no negative row with a score is left.
    """
    if test_table is not None:
        split = dataclasses.replace(split, test=np.arange(np.count_nonzero(test_table.labelled())))
    name = given_column(method, table)
    if name is None:
        return split, ()
    held = test_table or table
    train = _known(table, name, split.train, "trains on")
    test = _known(held, name, split.test, "holds out")
    aside = len(split.train) - len(train), len(split.test) - len(test)
    kept = dataclasses.replace(split, train=train, test=test)
    if not any(aside):
        return kept, ()
    return kept, (notice("scores_missing", column=name, train=aside[0], test=aside[1]),)


def given_column(method: type[AUCClassifier], table: AnyTable) -> str | None:
    """Return the column whose values are the scores; None for other methods."""
    features = [column for column in table.columns if column.role in _FEATURE_ROLES]
    alone = method.as_given and len(features) == 1 and features[0].role == "number"
    return features[0].name if alone else None


def _known(table: AnyTable, name: str, places: NDArray[np.intp], verb: str) -> NDArray[np.intp]:
    column = table.column(name)
    assert isinstance(column, Column)  # a table on disk is refused
    rows = np.flatnonzero(table.labelled())[places]
    known = ~np.isnan(column.measured()[rows])
    positive = table.is_positive()[places[known]]
    if not 0 < np.count_nonzero(positive) < len(positive):
        raise InputError(
            f"column {name!r} of {table.path} has no value in the positive or in the negative rows "
            f"that a split {verb}: these rows cannot be ranked by it",
            file=str(table.path),
            column=name,
            setting="score-column",
        )
    kept: NDArray[np.intp] = places[known]
    return kept


_LEVEL = 0.99
# Scores that differ by no more than this share of their size differ by rounding.
_ROUNDING = 1e-9
_FAR_BETTER = 0.1  # in AUC, above the interval
# Largest probability that one of the columns separates the classes by chance.
_BY_CHANCE = 1e-3


def score_notes(
    train_positive: NDArray[np.bool_],
    train_scores: NDArray[np.float64],
    test_positive: NDArray[np.bool_],
    test_scores: NDArray[np.float64],
    *,
    method: type[AUCClassifier],
    params: Mapping[str, Any],
    weights: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None] = (None, None),
    weight_kind: str = roc.SAMPLING,
    groups: NDArray[np.intp] | None = None,
) -> tuple[Notice, ...]:
    """Return notes on constant scores, training rows that are ranked backwards, and overfitting.

    Parameters
    ----------
    train_positive, train_scores, test_positive, test_scores : ndarray
    method : class of the method
    params : mapping
        Its settings.
    weights : (ndarray or None, ndarray or None)
        Of the training and of the held-out rows; None if every row counts once.
    weight_kind : {"sampling", "frequency"}
    groups : ndarray of int, optional
        Of the held-out rows.
    """
    # Halves, because the difference of the largest numbers overflows.
    low, high = train_scores.min() / 2, train_scores.max() / 2
    if high - low <= _ROUNDING * max(abs(low), abs(high)):
        helps = (*_weaker_settings(method, params), notice("help_columns"))
        return (notice("constant_scores", helps=helps),)
    of_train, of_test = weights
    trained = roc.auc(train_positive, train_scores, weights=of_train)
    if trained < 0.5:
        helps = (*_balance(method, params), notice("help_milder"))
        return (notice("ranks_backwards", auc=float(trained), helps=helps),)
    if method.memorises or not 0 < np.count_nonzero(test_positive) < len(test_positive):
        return ()
    sampled: roc.Sampled = {"weights": of_test, "weight_kind": weight_kind, "groups": groups}
    held_out = inference.delong_interval(test_positive, test_scores, _LEVEL, **sampled)
    if not trained > held_out.high + _FAR_BETTER:  # unknown where too few rows decide
        return ()
    return (notice("overfitted", trained=float(trained), held_out=float(held_out.value)),)


def _weaker_settings(method: type[AUCClassifier], params: Mapping[str, Any]) -> list[Notice]:
    """List changes of settings that allow a fit that is not constant."""
    known, helps = declared_params(method), _balance(method, params)
    for name, change in (("C", "help_larger"), ("regularization", "help_smaller")):
        if name in known:
            setting = f"{known[name].label.lower()} {known[name].symbol}".strip()
            helps.append(notice(change, setting=setting))
    if "min_samples_leaf" in known:
        helps.append(notice("help_leaf"))
    if "kernel" in known and params.get("kernel") == "linear":
        helps.append(notice("help_kernel"))
    return helps


def _balance(method: type[AUCClassifier], params: Mapping[str, Any]) -> list[Notice]:
    takes = "class_weight" in declared_params(method) and params.get("class_weight") is None
    return [notice("help_balance")] if takes else []


def leak_notes(
    names: Sequence[str], X: NDArray[np.float64], positive: NDArray[np.bool_]
) -> tuple[Notice, ...]:
    """Return a note on a prepared column that separates the classes alone, as the label would.

    Parameters
    ----------
    names : sequence of str
        Of the columns of ``X``.
    X : ndarray of shape (N, d)
        The training rows.
    positive : ndarray of bool, shape (N,)
    """
    m, n = np.count_nonzero(positive), np.count_nonzero(~positive)
    if not m or not n or 2 * len(names) > _BY_CHANCE * math.comb(m + n, m):
        return ()
    (low, high), (below, above) = (
        (np.fmin.reduce(part), np.fmax.reduce(part)) for part in (X[positive], X[~positive])
    )
    apart = np.flatnonzero((low > above) | (high < below))
    if not len(apart):
        return ()
    column, more = str(names[apart[0]]), len(apart) - 1
    if more:
        return (notice("columns_separate", column=column, more=more),)
    return (notice("column_separates", column=column),)
