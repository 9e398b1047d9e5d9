"""The walk of a search: every candidate, fold by fold, on the training rows alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from aucstudio.engine import METHODS, roc
from aucstudio.engine.base import AUCClassifier
from aucstudio.engine.monitor import Step, Stopped
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.scorers import score_rows
from aucstudio.project.errors import InputError
from aucstudio.project.prepare import learn_preparation
from aucstudio.project.table import Table
from aucstudio.project.tuning import (
    LEAVE_PAIR_OUT,
    PAUC,
    Candidate,
    Search,
    Tuning,
    candidates,
)

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

Report = Callable[[Search], bool]


def search(
    method: str,
    params: Mapping[str, Any],
    tuning: Tuning,
    table: Table,
    rows: Rows,
    band: tuple[float, float],
    report: Report,
) -> Search:
    """Judge every candidate on the given rows of a table.

    Parameters
    ----------
    method : str
    params : mapping
        Every setting; those that are searched are overridden.
    tuning : Tuning
    table : Table
    rows : ndarray of int
        Labelled rows, the training part of a split.
    band : (float, float)
    report : callable
        Hears of the search as it stands; True stops it.

    Raises
    ------
    Stopped
        With the search so far as its argument.
    InputError
        If no candidate could be judged; the sentence of the first is given.
    """
    found = _Search(METHODS[method], params, tuning, table, rows, band, report)
    done = found.go()
    if done.best is None:
        reason = next(iter(done.problems.values()), "no candidate gave an area")
        raise InputError(f"nothing could be tuned: {reason}", setting="tune")
    return done


class _Search:
    """The areas so far, and the walk over folds and candidates."""

    def __init__(
        self,
        method: type[AUCClassifier],
        params: Mapping[str, Any],
        tuning: Tuning,
        table: Table,
        rows: Rows,
        band: tuple[float, float],
        report: Report,
    ) -> None:
        self._method, self._params, self._tuning = method, params, tuning
        self._table, self._rows, self._band, self._report = table, rows, band, report
        labelled = np.flatnonzero(table.labelled())
        self._positive = table.is_positive()[np.searchsorted(labelled, rows)]
        self._candidates = tuple(candidates(method, params, tuning.seed))
        self._folds = 1 if tuning.metric == LEAVE_PAIR_OUT else self._fold_count()
        self._areas = np.full((len(self._candidates), self._folds), np.nan)
        self._problems: dict[int, str] = {}
        self._began = time.perf_counter()

    def _fold_count(self) -> int:
        fewest = int(min(self._positive.sum(), (~self._positive).sum()))
        if fewest < 2:
            raise InputError(
                f"tuning needs two training rows of each class; the smaller has {fewest}",
                setting="tune",
            )
        return min(self._tuning.folds, fewest)

    def go(self) -> Search:
        if self._tuning.metric == LEAVE_PAIR_OUT:
            self._leave_pair_out()
            return self._so_far()
        folds = StratifiedKFold(self._folds, shuffle=True, random_state=self._tuning.seed)
        for fold, (train, test) in enumerate(folds.split(self._rows, self._positive)):
            self._judge_fold(fold, train, test)
        return self._so_far()

    def _so_far(self) -> Search:
        seconds = time.perf_counter() - self._began
        return Search(
            self._tuning.metric,
            self._candidates,
            self._areas.copy(),
            dict(self._problems),
            seconds,
        )

    def _tell(self) -> None:
        if self._report(self._so_far()):
            raise Stopped(self._so_far())

    def _callback(self, _step: Step) -> bool:
        self._tell()
        return False

    def _judge_fold(self, fold: int, train: Rows, test: Rows) -> None:
        prepared = learn_preparation(
            self._table, self._rows[train], keep_gaps=self._method.takes_gaps
        )
        X, Z = (prepared.apply(self._table, self._rows[part]) for part in (train, test))
        y, held = self._positive[train], self._positive[test]
        for group in _runs_along(self._method.path_setting, self._candidates):
            group = [k for k in group if k not in self._problems]
            for k, fitted in self._fitted(group, X, y):
                scores = score_rows(fitted.scorer_, Z, lambda *_: self._tell())
                self._areas[k, fold] = self._area(held, scores)
                self._tell()

    def _fitted(
        self, group: Sequence[int], X: Array, y: NDArray[np.bool_]
    ) -> Iterator[tuple[int, AUCClassifier]]:
        """Fit some candidates that differ in one setting only; note those that cannot be."""
        if not group:
            return
        first = self._method(**{**self._params, **self._candidates[group[0]]})
        name = self._method.path_setting
        values = [self._candidates[k][name] for k in group] if name else [None]
        path = first.fit_path(X, y, name, values, callback=self._callback)
        for k in group:
            try:
                fitted = next(path)
            except (InvalidSetting, MemoryError) as error:
                words = str(error) or "there is not enough memory for it"
                self._problems.update(dict.fromkeys(group[group.index(k) :], words))
                return
            yield k, fitted

    def _area(self, positive: NDArray[np.bool_], scores: Array) -> float:
        if self._tuning.metric == PAUC:
            return roc.partial_auc(positive, scores, *self._band).normalized
        return roc.auc(positive, scores)

    def _leave_pair_out(self) -> None:
        prepared = learn_preparation(self._table, self._rows, keep_gaps=self._method.takes_gaps)
        X = prepared.apply(self._table, self._rows)
        for group in _runs_along("regularization", self._candidates):
            method = self._method(**{**self._params, **self._candidates[group[0]]})
            values = [self._candidates[k]["regularization"] for k in group]
            found = method.leave_pair_out(
                X, self._positive, regularizations=values, callback=self._callback
            )
            self._areas[group, 0] = [outcome.auc for outcome in found]
            self._tell()


def _runs_along(setting: str, found: Sequence[Candidate]) -> list[list[int]]:
    """Group candidates that differ in one setting only; each alone if the setting is not there."""
    if not found or setting not in found[0]:
        return [[k] for k in range(len(found))]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for k, candidate in enumerate(found):
        others = tuple(value for name, value in candidate.items() if name != setting)
        groups.setdefault(others, []).append(k)
    return list(groups.values())
