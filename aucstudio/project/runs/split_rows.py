"""One split of a run: its rows, prepared on either side, and what becomes of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aucstudio.notices import Notice, notice
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.splitting.groups import Groups, groups_by
from aucstudio.project.data.splitting.split import Split
from aucstudio.project.data.weights import check_weights_left
from aucstudio.project.runs.estimate import stays_sparse
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.fit_notes import leak_notes, score_notes
from aucstudio.project.runs.given_scores import with_scores
from aucstudio.project.runs.grouping import kept_together
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.record import SplitResult
from aucstudio.project.runs.rows import Prepared, far_cells, learn, prepared
from aucstudio.project.runs.watch import Watch
from aucstudio.project.words import file_words

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]


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
    """Prepare the rows of one split, learning from those it trains on."""
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
        If no row of a class counts; ``part`` says in it which rows they are.
    """
    if table.weights is None:
        return None
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
    """Make the model to take away of a fitted method; ``trained_on`` says which rows in words."""
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
    """Record what a split came to."""
    pairs = method.support_pairs_
    support = np.empty((2, 0), dtype=np.intp) if pairs is None else part.train_rows[np.array(pairs)]
    return SplitResult(
        repeat=part.split.repeat,
        fold=part.split.fold,
        train_rows=part.train_rows,
        test_rows=part.test_rows,
        train_positive=part.train_positive,
        test_positive=part.test_positive,
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
        train_weights=part.train_weights,
        test_weights=part.test_weights,
        test_groups=part.test_groups,
        weight_kind=part.weight_kind,
    )


def _leak_notes(part: SplitRows, test_scores: Array) -> tuple[Notice, ...]:
    """Look for a column that is the label again, where held-out rows are told apart entirely."""
    held = test_scores[part.test_positive], test_scores[~part.test_positive]
    if not all(map(len, held)) or held[0].min() <= held[1].max():
        return ()
    if not isinstance(part.train, np.ndarray):
        return ()
    return leak_notes(part.preparation.feature_names, part.train, part.train_positive)
