"""Run an experiment: split, tune, prepare, fit, score, record."""

from __future__ import annotations

import dataclasses
import functools
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import METHODS
from aucstudio.engine.monitor import Step, Stopped
from aucstudio.engine.params import InvalidSetting
from aucstudio.notices import Notice, notice
from aucstudio.notices.words import file_words
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.validation import LEAVE_PAIR_OUT, splits_of
from aucstudio.project.errors import InputError
from aucstudio.project.runs.estimate import stays_sparse
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.planning import check_groups
from aucstudio.project.runs.progress import Listener, Progress, Watch
from aucstudio.project.runs.record import (
    DONE,
    FAILED,
    STOPPED,
    RunRecord,
    SplitResult,
)
from aucstudio.project.runs.rows import (
    PreparedRows,
    SplitRows,
    fit,
    in_memory,
    kept_together,
    learn,
    prepared,
    rows_of_split,
    score,
)
from aucstudio.project.runs.run_notes import (
    forward_notes,
    group_notes,
    leak_notes,
    score_notes,
    shared_notes,
    table_weights_notes,
)
from aucstudio.project.runs.tuning import Search, few_negatives_notes

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier


Array = NDArray[np.float64]
Rows = NDArray[np.intp]
NOT_ENOUGH_MEMORY = "there is not enough memory for this method on this table"


def execute(
    experiment: Experiment,
    table: AnyTable,
    test_table: AnyTable | None = None,
    listen: Listener | None = None,
    only: int | None = None,
    searched: Search | None = None,
    kept: Any = None,
) -> RunRecord:
    """Run an experiment to its record; failures are recorded, not raised.

    A split does not depend on the others.

    Parameters
    ----------
    experiment : Experiment
    table : Table
        The table that ``experiment.data`` refers to.
    test_table : Table, optional
        The table of the scheme ``"file"``.
    listen : callable, optional
        Called with :class:`Progress`; a true answer stops the run, which keeps finished splits.
    only : int, optional
        Number of the one split to run.
    searched : Search, optional
        The search of this split, if it was done before.
    kept : object, optional
        Results of other fits on its training rows that its fit can use.
    """
    return _Run(experiment, listen, only, searched, kept).execute(table, test_table)


def training_rows(experiment: Experiment, table: AnyTable, k: int) -> Rows:
    """Return the rows of the table that the k-th split trains on."""
    split = splits_of(table, experiment.validation)[k]
    return np.flatnonzero(table.labelled())[split.train]


def failure_sentence(error: Exception) -> str:
    """Return why a run failed as a sentence."""
    if isinstance(error, MemoryError):
        return NOT_ENOUGH_MEMORY
    if isinstance(error, InputError | InvalidSetting):
        # Their messages are written for users.
        return str(error)
    return f"unexpected error in the method ({type(error).__name__}: {error})"


@dataclasses.dataclass(eq=False)
class _Run:
    """The state of one execution; see :func:`execute`."""

    experiment: Experiment
    listen: Listener | None
    only: int | None = None
    searched: Search | None = None
    kept: Any = None
    stopped: bool = False
    notes: tuple[Notice, ...] = ()
    finished: list[SplitResult] = dataclasses.field(default_factory=list)
    searches: list[Search] = dataclasses.field(default_factory=list)
    created: str = dataclasses.field(default_factory=RunRecord.now)
    began: float = dataclasses.field(default_factory=time.perf_counter)

    def execute(self, table: AnyTable, test_table: AnyTable | None) -> RunRecord:
        experiment = self.experiment
        try:
            tested = None if test_table is None else experiment.as_test(test_table)
            self._fit_splits(experiment.data.seen(table), tested)
        except Stopped as stop:
            self.searches += [found for found in stop.args if isinstance(found, Search)]
            return self.record(STOPPED)
        except Exception as error:  # noqa: BLE001  (a failed run is recorded like any other)
            return self.record(FAILED, failure_sentence(error), traceback.format_exc())
        return self.record(STOPPED if self.stopped else DONE)

    def _fit_splits(self, table: AnyTable, test_table: AnyTable | None) -> None:
        self.experiment.require_training()
        validation = self.experiment.validation
        check_groups(validation, table, test_table)
        splits = splits_of(table, validation)
        shared = shared_notes(table, test_table)
        known = METHODS[self.experiment.method]
        forward = forward_notes(validation, table, splits, known.in_parts)
        groups = group_notes(validation, table, test_table, splits)
        self.notes = (*table_weights_notes(table), *forward, *groups, *shared)
        for k, split in enumerate(splits):
            if self.only not in (None, k):
                continue
            part = rows_of_split(known, split, table, test_table, self.experiment)
            result, watch = self._fit_split(k, len(splits), part, table)
            # A half-trained fold would distort the mean of the others; alone it is worth storing.
            if not self.stopped or not self.finished or result.converged:
                self.finished.append(result)
                watch.report_finished(result)
            if self.stopped:
                return

    def _fit_split(
        self, k: int, count: int, part: SplitRows, table: AnyTable
    ) -> tuple[SplitResult, Watch]:
        params, warning = self._choose_settings(k, count, part, table)
        # With leave-pair-out every row trains: a picture of them would be optimistic.
        in_sample = self.experiment.validation.scheme == LEAVE_PAIR_OUT
        held = None if in_sample else part.test
        watch = Watch(self.report, k, count, part.preparation, part.train, held)
        method = METHODS[self.experiment.method](**params)
        fit(method, part.train, watch, part.groups, self.kept)
        seconds = watch.seconds()
        test_scores, notes = self._held_out_scores(method, part, watch)
        rows = f"{len(part.train.rows):,} rows"
        rows += f" (split {k + 1} of {count})" if count > 1 else ""
        model = trained_model(self.experiment, table, part.preparation, method, rows)
        checked: Sequence[Notice] = ()
        if part.test_table is not None:
            from aucstudio.project.runs.input_check import check_input

            checked = check_input(model, part.test_table).notices()
        notes = (*self.notes, *part.notes, *checked, *warning, *notes)
        return split_result(part, method, model, test_scores, watch, seconds, notes), watch

    def _choose_settings(
        self, k: int, count: int, part: SplitRows, table: AnyTable
    ) -> tuple[Mapping[str, Any], tuple[Notice, ...]]:
        """Return the settings of the fit, searched on the training part if requested, and notes."""
        experiment = self.experiment
        if experiment.tuning is None:
            return experiment.params, ()
        began = time.perf_counter()

        def report(found: Search) -> bool:
            seconds = time.perf_counter() - began
            return self.report(Progress(k, count, None, seconds, part.preparation, search=found))

        from aucstudio.project.runs.search import check_found, search

        if self.searched is not None:
            found = check_found(self.searched)
        else:
            found = search(experiment, in_memory(table), part.train.rows, report)
        self.searches.append(found)
        negatives = int(np.count_nonzero(~part.train.positive))
        warning = few_negatives_notes(found, negatives, experiment.band)
        return {**experiment.params, **found.chosen}, warning

    def _held_out_scores(
        self, method: AUCClassifier, part: SplitRows, watch: Watch
    ) -> tuple[Array, tuple[Notice, ...]]:
        if self.experiment.validation.scheme != LEAVE_PAIR_OUT or self.stopped:
            return score(method.scorer_, part.test.X, watch.pulse) + method.intercept_, ()
        X, positive = part.train.X, part.train.positive
        assert isinstance(X, np.ndarray)  # a table on disk is refused
        (outcome,) = method.leave_pair_out(X, positive, callback=watch)
        return outcome.placements(positive), (notice("leave_pair_out"),)

    def report(self, message: Progress) -> bool:
        """Forward a message; return whether to stop."""
        if self.listen is not None and self.listen(message):
            self.stopped = True
        return self.stopped

    def record(self, status: str, error: str = "", trace: str = "") -> RunRecord:
        seconds = time.perf_counter() - self.began
        found = tuple(self.finished), self.created, seconds, error, trace, tuple(self.searches)
        return RunRecord(self.experiment, status, *found)


def refit(experiment: Experiment, table: AnyTable, listen: Listener | None = None) -> Model:
    """Fit a model on all labelled rows; settings are searched again if the experiment tunes them.

    Raises
    ------
    Stopped
        If ``listen`` asked to stop.
    """
    experiment.require_training()
    table = experiment.data.seen(table)
    rows = np.flatnonzero(table.labelled())
    sparse = stays_sparse(experiment, table)
    known = METHODS[experiment.method]
    preparation = learn(known, table, rows, experiment.preparation, sparse=sparse)

    stopped, reached = False, Step(0)

    def is_stopped(step: Step | None, found: Search | None = None) -> bool:
        nonlocal stopped
        message = Progress(0, 1, step, 0.0, preparation, search=found)
        stopped |= listen is not None and bool(listen(message))
        return stopped

    def callback(step: Step) -> bool:
        nonlocal reached
        reached = step if step.iteration else reached
        if reached.iteration:  # a stage within or after the iterations does not undo them
            iteration, fraction = reached.iteration, reached.fraction
            step = dataclasses.replace(step, iteration=iteration, fraction=fraction)
        if is_stopped(dataclasses.replace(step, scorer=None)):
            raise Stopped("refit")
        return False

    params = dict(experiment.params)
    if experiment.tuning is not None:
        from aucstudio.project.runs.search import search

        report = functools.partial(is_stopped, None)
        params |= search(experiment, in_memory(table), rows, report).chosen
    method: AUCClassifier = known(**params)
    X, places = prepared(preparation, table, rows), np.arange(len(rows))
    together = kept_together(experiment.validation, table, places)
    fit(method, PreparedRows(X, table.is_positive(), rows, table.weights), callback, together)
    if stopped:  # a method that has a scorer keeps it: what it returns is not trained to the end
        raise Stopped("refit")
    return trained_model(experiment, table, preparation, method, f"all {len(rows):,} labelled rows")


Mask = NDArray[np.bool_]


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
        groups=() if table.groups is None else table.groups.digests(),
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
    train, test, pairs = part.train, part.test, method.support_pairs_
    support = np.empty((2, 0), dtype=np.intp) if pairs is None else train.rows[np.array(pairs)]
    of_scores = score_notes(
        train.positive,
        method.train_scores_,
        test.positive,
        test_scores,
        method=type(method),
        params=method.get_params(deep=False),
        weights=(train.weights, test.weights),
        weight_kind=part.weight_kind,
        groups=part.test_groups,
    )
    return SplitResult(
        repeat=part.split.repeat,
        fold=part.split.fold,
        train_rows=train.rows,
        test_rows=test.rows,
        train_positive=train.positive,
        test_positive=test.positive,
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
        notes=(*method.notes_, *notes, *of_scores, *_leak_notes(part, test_scores)),
        trajectory=watch.trajectory(method.train_scores_, test_scores),
        trained_range=getattr(method, "fpr_range_used_", None),
        needed=None if method.dual_gap_ is None else float(method.needed_gap_),
        train_weights=train.weights,
        test_weights=test.weights,
        test_groups=part.test_groups,
        weight_kind=part.weight_kind,
    )


def _leak_notes(part: SplitRows, test_scores: Array) -> tuple[Notice, ...]:
    """Search for a column that copies the label if held-out rows are separated perfectly."""
    held, X = part.test.positive, part.train.X
    above, below = test_scores[held], test_scores[~held]
    if not len(above) or not len(below) or above.min() <= below.max():
        return ()
    if not isinstance(X, np.ndarray):
        return ()
    return leak_notes(part.preparation.feature_names, X, part.train.positive)
