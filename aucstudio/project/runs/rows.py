"""Rows of a table as a matrix, or as blocks if it stays on disk; fits and the threads they use."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits

from aucstudio.engine.arrays import Rows as Matrix
from aucstudio.engine.fit import without_convergence_warnings
from aucstudio.engine.monitor import Callback, Check
from aucstudio.engine.scorers import Scorer, score_rows
from aucstudio.notices import Notice, notice
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.preparing.preparation import Preparation, learn_preparation
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.preparing.scales import FarCells
from aucstudio.project.data.table import Column, Table
from aucstudio.project.data.validation import (
    FORWARD,
    Split,
    Validation,
    blocks_of,
    times_of,
)
from aucstudio.project.errors import input_error
from aucstudio.project.runs.estimate import stays_sparse
from aucstudio.project.runs.experiment import Experiment

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier
    from aucstudio.project.data.disk.stream import DiskTable, TableBlocks
    from aucstudio.project.data.groups import Groups

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]
Prepared: TypeAlias = "Matrix | TableBlocks"
Pulse = Callable[[str, float], None]
_MOST_BLOCKS = 10  # of neighbouring times
_LOOK_SECONDS = 0.1
_FEATURE_ROLES = ("number", "category")


@dataclasses.dataclass(frozen=True, eq=False)
class PreparedRows:
    """Rows for training or for testing.

    Attributes
    ----------
    X : ndarray, sparse matrix or TableBlocks
    positive : ndarray of bool
    rows : ndarray of int
        Their numbers in the table, or in the test file.
    weights : ndarray or None
        None if every row counts once.
    """

    X: Prepared
    positive: Mask
    rows: Rows
    weights: Array | None = None


def learn(
    method: type[AUCClassifier],
    table: AnyTable,
    rows: Rows,
    choice: PreparationChoice = USUAL,
    *,
    sparse: bool = False,
) -> Preparation:
    """Fit the preprocessing that a method needs on some rows of a table.

    The choice does not apply to a method that takes values unchanged. In a ``sparse`` matrix zeros
    stay zero.
    """
    keep_gaps = None if method.in_parts and method.takes_missing else method.takes_missing
    if method.as_given:
        return learn_preparation(table, rows, keep_gaps=keep_gaps).unscaled()
    return learn_preparation(table, rows, choice, keep_gaps=keep_gaps, keep_zeros=sparse)


def prepared(preparation: Preparation, table: AnyTable, rows: Rows) -> Prepared:
    """Return prepared rows of a table."""
    if on_disk := _on_disk(table):
        from aucstudio.project.data.disk.stream import TableBlocks

        return TableBlocks(on_disk, preparation, rows)
    return matrix(preparation, in_memory(table), rows)


def matrix(preparation: Preparation, table: Table, rows: Rows) -> Matrix:
    """Return prepared rows of a table in memory, sparse if preprocessing keeps zeros."""
    if preparation.keeps_zeros:
        from aucstudio.project.data.preparing.sparse import sparse_rows

        return sparse_rows(preparation, table, rows)
    return preparation.apply(table, rows, for_fit=True)


def far_cells(preparation: Preparation, table: AnyTable) -> tuple[FarCells, ...]:
    """List the cells of a table beyond the limits of its columns, column by column."""
    limits = zip(preparation.lows, preparation.highs, strict=True)
    bounded = {
        name: (low, high)
        for name, (low, high) in zip(preparation.numbers, limits, strict=True)
        if (low > -np.inf or high < np.inf) and name not in preparation.parts
    }
    return cells_beyond(table, bounded)


def cells_beyond(
    table: AnyTable, bounded: Mapping[str, tuple[float, float]]
) -> tuple[FarCells, ...]:
    """List the cells of columns of numbers that are below or above two bounds."""
    names = [c.name for c in table.columns if c.name in bounded and c.kind == "number"]
    found: dict[str, FarCells] = {}
    for start, window in table.windows(table.height(len(names)), names) if names else ():
        for column in window.columns:
            rows = column.beyond(*bounded[column.name])
            if not len(rows):
                continue
            value, row = float(column.at(rows[0])), int(table.file_rows[start + rows[0]])
            first = found.setdefault(column.name, FarCells(column.name, 0, value, row))
            found[column.name] = dataclasses.replace(first, count=first.count + len(rows))
    return tuple(found[name] for name in bounded if name in found)


def _on_disk(table: AnyTable) -> DiskTable | None:
    """Return an out-of-memory table, None for one in memory."""
    if isinstance(table, Table):
        return None
    from aucstudio.project.data.disk.stream import DiskTable

    assert isinstance(table, DiskTable), f"{table.path} is neither in memory nor on disk"
    return table


def in_memory(table: AnyTable) -> Table:
    """Return a table in memory; others were refused before."""
    assert isinstance(table, Table), f"{table.path} stays on disk"
    return table


@dataclasses.dataclass(frozen=True, eq=False)
class SplitRows:
    """One split with its prepared matrices; rows are numbers of the table (or test file)."""

    split: Split
    test_table: AnyTable | None
    preparation: Preparation
    train: PreparedRows
    test: PreparedRows
    groups: Groups | None
    test_groups: Rows | None
    notes: tuple[Notice, ...]
    weight_kind: str


def rows_of_split(
    method: type[AUCClassifier],
    split: Split,
    table: AnyTable,
    test_table: AnyTable | None,
    experiment: Experiment,
) -> SplitRows:
    """Prepare the rows of one split; the preprocessing is fitted on its training rows."""
    split, notes = with_scores(method, split, table, test_table)
    train_rows = np.flatnonzero(table.labelled())[split.train]
    sparse = stays_sparse(experiment, table)
    preparation = learn(method, table, train_rows, experiment.preparation, sparse=sparse)
    held = test_table or table
    return SplitRows(
        split,
        test_table,
        preparation,
        _prepared_part(preparation, table, split.train, "training part"),
        _prepared_part(preparation, held, split.test, "held-out part"),
        kept_together(experiment.validation, table, split.train),
        _test_groups(table, held, split.test),
        (*notes, *_preparation_notes(preparation, table)),
        table.weight_kind or "sampling",
    )


def _prepared_part(
    preparation: Preparation, table: AnyTable, places: Rows, part: str
) -> PreparedRows:
    """Prepare some of the labelled rows; ``part`` names them in messages."""
    rows = np.flatnonzero(table.labelled())[places]
    weights = part_weights(table, places, part)
    X = prepared(preparation, table, rows)
    return PreparedRows(X, table.is_positive()[places], rows, weights)


def _test_groups(table: AnyTable, held: AnyTable, places: Rows) -> Rows | None:
    """Number the groups of held-out rows by the columns that group the rows of the table."""
    grouping = [column.name for column in table.columns if column.role == "group"]
    known = {column.name for column in held.columns}
    names = tuple(name for name in grouping if name in known)
    if not names:
        return None
    groups = held.groups if held is table else held.groups_by(names)
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
        raise input_error("column_without_class", file=table.path, column=name, verb=verb)
    kept: NDArray[np.intp] = places[known]
    return kept


def kept_together(validation: Validation, table: AnyTable, places: Rows) -> Groups | None:
    """Return which labelled rows stay together if a method holds rows out in training.

    Forward in time these are blocks of neighbouring times unless there are groups: scores of a row
    are optimistic if its neighbours in time are trained on.
    """
    if table.groups is not None:
        return table.groups.part(places)
    if validation.scheme != FORWARD:
        return None
    times = times_of(table, validation.time)[places]
    codes = blocks_of(times, table.is_positive()[places], _MOST_BLOCKS)
    if codes is None:
        return None
    from aucstudio.project.data.groups import Groups

    return Groups((validation.time,), codes)


def fit(
    method: AUCClassifier,
    train: PreparedRows,
    callback: Callback,
    groups: Groups | None = None,
    kept: Any = None,
) -> None:
    """Fit on prepared rows; rows of a group stay together if the method holds rows out.

    Weights are divided by their mean over the rows that count. Their scale then does not matter,
    and a cost that is summed over the rows keeps its meaning. ``kept`` is that of
    :func:`~aucstudio.project.runs.execute.execute`.
    """
    X: Any = train.X
    with without_convergence_warnings():  # the fit has a note on convergence
        if hasattr(X, "block"):
            method.fit_blocks(X, callback=callback)
        else:
            codes = None if groups is None else groups.codes
            weights = None if train.weights is None else relative(train.weights)
            together = {"groups": codes, "spread": in_threads, "kept": kept}
            more: dict[str, Any] = {} if weights is None else {"sample_weight": weights}
            method.fit(X, train.positive, callback=callback, **together, **more)


def relative(weights: Array) -> Array:
    """Return weights whose mean is 1 over the rows that count."""
    counted = weights > 0
    return weights / weights[counted].mean() if counted.any() else weights


def score(scorer: Scorer, rows: Prepared, pulse: Pulse) -> Array:
    """Score prepared rows."""
    X: Any = rows
    if not hasattr(X, "block"):
        return score_rows(scorer, X, pulse)
    from aucstudio.engine.blocks import Passes

    scores = np.empty(len(X.positive))
    for numbers, piece in Passes(X, lambda fraction: pulse("scoring", fraction)).pieces():
        scores[numbers] = scorer(piece)
    return scores


def in_threads(
    work: Callable[[Any, Check], Any], tasks: Sequence[Any], check: Callable[[], bool]
) -> Iterator[Any]:
    """Do tasks in threads; see :data:`aucstudio.engine.monitor.Spread`.

    Fits release the interpreter. The number of threads is that of the libraries of linear algebra:
    one for a run that shares the machine with others.
    """
    stopping = False

    def is_stopping() -> bool:
        return stopping

    waiting, under_way = list(reversed(tasks)), dict[Future[Any], Any]()
    at_once = processors()
    with threadpool_limits(1), ThreadPoolExecutor(at_once, initializer=_alone) as pool:
        try:
            while waiting or under_way:
                while waiting and len(under_way) < at_once:
                    task = waiting.pop()
                    under_way[pool.submit(work, task, is_stopping)] = task
                done, _ = wait(under_way, _LOOK_SECONDS, FIRST_COMPLETED)
                for future in done:
                    yield under_way.pop(future), future.result()
                if check():
                    return
        finally:
            stopping = True


def _alone() -> None:
    """Limit OpenMP to one thread, which is set for each thread."""
    threadpool_limits(1, user_api="openmp")


def processors() -> int:
    """Return how many tasks are done at once."""
    limits: list[int] = [found["num_threads"] for found in threadpool_info()]
    return max(1, min([os.cpu_count() or 1, *limits]))


def limit_threads(count: int | None = None) -> threadpool_limits:
    """Limit the threads of libraries, permanently or within a ``with`` statement.

    By default libraries use all processors but one, which stays free for the window.
    """
    # A library that is loaded later would not be limited.
    import sklearn.base  # noqa: F401

    return threadpool_limits(count or max(1, (os.cpu_count() or 1) - 1))


@functools.cache
def one_thread() -> None:
    """Limit libraries to one thread, permanently; called by tasks that share a machine."""
    # Tasks that run at once in one process would undo each other's limits.
    limit_threads(1)
