"""Search over candidate settings, fold by fold.

The steps of :func:`search` are independent tasks. Workers can do them in any order with the same
results.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import METHODS, roc
from aucstudio.engine.arrays import class_counts
from aucstudio.engine.fit import without_convergence_warnings
from aucstudio.engine.monitor import Step, Stopped
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.scorers import score_rows
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.table import Table
from aucstudio.project.data.validation import (
    FORWARD,
    Validation,
    fold_numbers,
    most_steps,
    times_of,
)
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.runs.estimate import fits_sparse
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.rows import learn, prepared, relative
from aucstudio.project.runs.tuning import (
    LEAVE_PAIR_OUT,
    PAUC,
    Candidate,
    Search,
    candidates,
)

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Part = tuple[Any, NDArray[np.bool_], Array | None]

Report = Callable[[Search], bool]
StepCallback = Callable[[], None]


@dataclasses.dataclass(frozen=True)
class Task:
    """A fold, and candidates to fit on it one after the other.

    Attributes
    ----------
    fold : int
    group : tuple of int
        Numbers of candidates that share work, in order; often one.
    """

    fold: int
    group: tuple[int, ...]


def search(experiment: Experiment, table: Table, rows: Rows, report: Report) -> Search:
    """Evaluate every candidate of an experiment on the given rows of a table.

    Parameters
    ----------
    experiment : Experiment
        Its tuning says what is searched; the searched settings of ``params`` are overridden. If
        its validation goes forward in time, the folds of the search do too.
    table : Table
    rows : ndarray of int
        Labelled rows, the training part of a split.
    report : callable
        Called with the current state of the search; True stops it.

    Raises
    ------
    Stopped
        With the search so far as its argument.
    InputError
        If no candidate could be evaluated; with the sentence of the first.
    """
    evaluator = Evaluator(experiment, table, rows)
    progress = SearchProgress(evaluator)
    began = time.perf_counter()

    def check() -> None:
        progress.seconds = time.perf_counter() - began
        if report(progress.so_far()):
            raise Stopped(progress.so_far())

    for task in evaluator.tasks():
        for k, found in evaluator.outcomes(task, check, progress.problems):
            progress.take(task.fold, k, found)
            check()
    return check_found(progress.so_far())


def check_found(found: Search) -> Search:
    """Return the search; InputError if no candidate could be evaluated."""
    if found.best is None:
        reason = next(iter(found.problems.values()), "no candidate could be evaluated")
        raise InputError(f"no settings could be searched: {reason}", setting="tune")
    return found


class Evaluator:
    """Evaluates candidates on folds of the training rows; arguments as for :func:`search`.

    Attributes
    ----------
    metric : str
    candidates : tuple of mappings
    folds : int
    rows : ndarray of int
        The training rows.
    splits : list of (ndarray of int, ndarray of int)
        Training and held-out rows of each fold, as places among ``rows``.
    """

    def __init__(self, experiment: Experiment, table: Table, rows: Rows) -> None:
        tuning, validation = experiment.tuning, experiment.validation
        assert tuning is not None, "nothing is to be tuned"
        self._method, self._params = METHODS[experiment.method], experiment.params
        self._experiment, self._tuning, self._table, self.rows = experiment, tuning, table, rows
        labelled = np.flatnonzero(table.labelled())
        places = np.searchsorted(labelled, rows)
        self._positive = table.is_positive()[places]
        self._groups = None if table.groups is None else table.groups.part(places)
        self._weights = None if table.weights is None else table.weights[places]
        self._sparse = fits_sparse(
            experiment.method, self._params, tuning, experiment.preparation, table
        )
        self._cached: tuple[int, Part, Part] | None = None
        self.metric = tuning.metric
        self.candidates = tuple(candidates(self._method, self._params, tuning.seed))
        self.splits: list[tuple[Rows, Rows]] = []
        if tuning.metric != LEAVE_PAIR_OUT:
            forward = validation.scheme == FORWARD
            self.splits = self._steps(validation, places) if forward else self._drawn_folds()
        self.folds = max(1, len(self.splits))

    def _steps(self, validation: Validation, places: Rows) -> list[tuple[Rows, Rows]]:
        """Split the training rows forward in time; fewer steps if a step would lack a class."""
        times = times_of(self._table, validation.time)[places]
        codes = None if self._groups is None else self._groups.codes
        gap, window, most = validation.gap, validation.window, self._tuning.folds
        steps, parts = most_steps(times, self._positive, most, gap, window, codes)
        if not steps:
            raise input_error("no_steps_to_tune", time=validation.time)
        return parts

    def _drawn_folds(self) -> list[tuple[Rows, Rows]]:
        fewest = min(class_counts(self._positive))
        what = "training rows"
        if self._groups is not None:
            fewest = self._groups.fewest(self._positive)
            what = f"groups of {self._groups.words} with training rows"
        # Groups kept together may leave a fold without a class, while fewer folds have both.
        for folds in range(min(self._tuning.folds, fewest), 1, -1):
            drawn = fold_numbers(self._positive, folds, self._tuning.seed, self._groups)
            if drawn is not None:
                return [
                    (np.flatnonzero(drawn != k), np.flatnonzero(drawn == k)) for k in range(folds)
                ]
        raise InputError(
            f"tuning needs two {what} of each class; the smaller has {fewest}"
            if fewest < 2
            else f"tuning finds no two folds of whole {what} of each class in both",
            setting="tune",
        )

    def tasks(self) -> list[Task]:
        """List the tasks, fold by fold."""
        pairs_out = self.metric == LEAVE_PAIR_OUT
        shared = "regularization" if pairs_out else self._method.path_setting
        groups = _runs_along(shared, self.candidates)
        return [Task(fold, tuple(group)) for fold in range(self.folds) for group in groups]

    def outcomes(
        self, task: Task, check: StepCallback = lambda: None, known: Collection[int] = ()
    ) -> Iterator[tuple[int, float | str]]:
        """Do one task.

        Parameters
        ----------
        task : Task
        check : callable, optional
            Called at every step of a fit; raises an exception to end it.
        known : collection of int
            Candidates to leave out.

        Yields
        ------
        (int, float or str)
            Number of a candidate, and its area or why there is none.
        """
        group = [k for k in task.group if k not in known]
        if group:
            evaluate = self._pairs_out if self.metric == LEAVE_PAIR_OUT else self._on_fold
            yield from evaluate(task.fold, group, check)

    def _on_fold(
        self, fold: int, group: Sequence[int], check: StepCallback
    ) -> Iterator[tuple[int, float | str]]:
        (X, y, weights), (Z, held, held_weights) = self._parts(fold)
        path = self._path(group, X, y, weights, check)
        for k in group:
            try:
                with without_convergence_warnings():
                    fitted = next(path)
            except (InvalidSetting, MemoryError) as error:
                words = str(error) or "there is not enough memory for it"
                for rest in group[group.index(k) :]:
                    yield rest, words
                return
            scores = score_rows(fitted.scorer_, Z, lambda *_: check())
            yield k, self._area(held, scores, held_weights)

    def _parts(self, fold: int) -> tuple[Part, Part]:
        """Prepare training and held-out rows; those of the last fold are cached."""
        if self._cached is None or self._cached[0] != fold:
            self._cached = None
            train, test = self.splits[fold]
            preparation = self._learn(self.rows[train])
            trained, held = (
                (
                    prepared(preparation, self._table, self.rows[part]),
                    self._positive[part],
                    None if self._weights is None else self._weights[part],
                )
                for part in (train, test)
            )
            self._cached = fold, trained, held
        return self._cached[1:]

    def _learn(self, rows: NDArray[np.intp]) -> Preparation:
        choice = self._experiment.preparation
        return learn(self._method, self._table, rows, choice, sparse=self._sparse)

    def _path(
        self,
        group: Sequence[int],
        X: Any,
        y: NDArray[np.bool_],
        weights: Array | None,
        check: StepCallback,
    ) -> Iterator[AUCClassifier]:
        """Fit candidates that differ in one setting only."""
        first = self._method(**{**self._params, **self.candidates[group[0]]})
        name = self._method.path_setting
        values = [self.candidates[k][name] for k in group] if name else [None]
        given = None if weights is None else relative(weights)
        return first.fit_path(X, y, name, values, callback=_callback(check), sample_weight=given)

    def _area(self, positive: NDArray[np.bool_], scores: Array, weights: Array | None) -> float:
        if self.metric == PAUC:
            return roc.partial_auc(
                positive, scores, *self._experiment.band, weights=weights
            ).normalized
        return roc.auc(positive, scores, weights=weights)

    def _pairs_out(
        self, _fold: int, group: Sequence[int], check: StepCallback
    ) -> Iterator[tuple[int, float | str]]:
        X = self._learn(self.rows).apply(self._table, self.rows, for_fit=True)
        method = self._method(**{**self._params, **self.candidates[group[0]]})
        values = [self.candidates[k]["regularization"] for k in group]
        found = method.leave_pair_out(
            X, self._positive, regularizations=values, callback=_callback(check)
        )
        yield from zip(group, (outcome.auc for outcome in found), strict=True)


class SearchProgress:
    """Results of the tasks of a search, in order of completion.

    Attributes
    ----------
    seconds : float
        Set by the caller.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._metric, self._candidates = evaluator.metric, evaluator.candidates
        self._areas = np.full((len(evaluator.candidates), evaluator.folds), np.nan)
        self._problems: dict[int, tuple[int, str]] = {}
        self.seconds = 0.0

    @property
    def problems(self) -> dict[int, str]:
        """Why candidates could not be evaluated, by number."""
        return {k: words for k, (_, words) in sorted(self._problems.items())}

    def take(self, fold: int, k: int, found: float | str) -> None:
        """Store the area of candidate ``k`` on a fold, or why there is none."""
        if not isinstance(found, str):
            self._areas[k, fold] = found
        elif fold <= self._problems.get(k, (fold, ""))[0]:
            self._problems[k] = fold, found

    def so_far(self) -> Search:
        """Return the current state of the search.

        A candidate is left out after the first fold on which it fails. Areas that other workers
        found on later folds meanwhile are dropped.
        """
        areas = self._areas.copy()
        for k, (fold, _) in self._problems.items():
            areas[k, fold:] = np.nan
        return Search(self._metric, self._candidates, areas, self.problems, self.seconds)


def _callback(check: StepCallback) -> Callable[[Step], bool]:
    def callback(_step: Step) -> bool:
        check()
        return False

    return callback


def _runs_along(setting: str, found: Sequence[Candidate]) -> list[list[int]]:
    """Group candidates that differ in one setting only; one each without that setting."""
    if not found or setting not in found[0]:
        return [[k] for k in range(len(found))]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for k, candidate in enumerate(found):
        others = tuple(value for name, value in candidate.items() if name != setting)
        groups.setdefault(others, []).append(k)
    return list(groups.values())
