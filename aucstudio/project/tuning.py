"""Search a method's settings by the measure that counts: stratified folds, or leave-pair-out.

Every candidate is judged on the same folds of the training rows, preprocessing learnt anew in
each; areas are averaged over folds, never pooled. Ties go to the candidate that comes first, and
grids are declared with the strongest regularisation first.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from aucstudio.engine import METHODS, roc
from aucstudio.engine.base import AUCClassifier
from aucstudio.engine.monitor import Step, Stopped
from aucstudio.engine.params import InvalidSetting, declared_params
from aucstudio.engine.scorers import score_rows
from aucstudio.project.errors import InputError
from aucstudio.project.prepare import learn_preparation
from aucstudio.project.table import Table

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Candidate = Mapping[str, Any]

AUC, PAUC, LEAVE_PAIR_OUT = "auc", "pauc", "leave-pair-out"
METRICS = {
    AUC: "AUC",
    PAUC: "partial AUC of the range",
    LEAVE_PAIR_OUT: "leave-pair-out AUC",
}
MOST_CANDIDATES = 64
_ENOUGH_NEGATIVES = 5.0
_SAME = 1e-12


@dataclasses.dataclass(frozen=True)
class Tuning:
    """What a search goes by.

    Attributes
    ----------
    metric : {"auc", "pauc", "leave-pair-out"}
        ``"pauc"`` is that of the experiment's band.
    folds : int
        Within the training rows; fewer where a class has not so many.
    seed : int
        Draws the folds, and the candidates where the grid has more than 64.
    """

    metric: str = PAUC
    folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise InputError(
                f"cannot tune by {self.metric!r}; there are " + ", ".join(METRICS), setting="tune"
            )
        if self.folds < 2:
            raise InputError(f"tuning needs at least 2 folds; it is {self.folds}", setting="tune")

    def describe(self) -> str:
        """Say in a few words how settings are chosen."""
        if self.metric == LEAVE_PAIR_OUT:
            return f"tuned by {METRICS[self.metric]}"
        return f"tuned by {METRICS[self.metric]} in {self.folds} folds"


@dataclasses.dataclass(frozen=True, eq=False)
class Search:
    """What a search found, or has found so far.

    Attributes
    ----------
    metric : str
    candidates : tuple of mappings
        Values of the settings that were searched.
    areas : ndarray of shape (n_candidates, n_folds)
        NaN where a candidate has not been judged, or could not be.
    problems : mapping of candidate number to sentence
    seconds : float
    """

    metric: str
    candidates: tuple[Candidate, ...]
    areas: Array
    problems: Mapping[int, str]
    seconds: float

    @property
    def means(self) -> Array:
        """Mean area of each candidate; NaN unless it was judged on every fold."""
        means: Array = self.areas.mean(axis=1)
        return means

    @property
    def errors(self) -> Array:
        """Standard error of each mean over the folds; NaN with a single one."""
        folds = self.areas.shape[1]
        if folds < 2:
            return np.full(len(self.areas), np.nan)
        spread: Array = self.areas.std(axis=1, ddof=1) / np.sqrt(folds)
        return spread

    @property
    def best(self) -> int | None:
        """Number of the best candidate judged on every fold, the first among equals."""
        means = self.means
        if np.isnan(means).all():
            return None
        return int(np.flatnonzero(means >= np.nanmax(means) - _SAME)[0])

    @property
    def leader(self) -> int | None:
        """Number of the candidate that leads on the folds judged so far."""
        judged = np.isfinite(self.areas)
        if not judged.any():
            return None
        # Candidates are comparable on folds that have judged as many as any: those that are done.
        per_fold = judged.sum(axis=0)
        done = per_fold == per_fold.max()
        means = np.where(judged[:, done].all(axis=1), self.areas[:, done].mean(axis=1), -np.inf)
        return int(np.argmax(means))

    @property
    def chosen(self) -> Candidate:
        """The best candidate's settings; none if no candidate could be judged."""
        return {} if self.best is None else self.candidates[self.best]

    @property
    def judged(self) -> float:
        """Share of the work that is done."""
        settled = np.isfinite(self.areas)
        settled[list(self.problems)] = True
        return float(settled.mean())

    def as_json(self) -> dict[str, Any]:
        areas = [[a if np.isfinite(a) else None for a in row] for row in self.areas.tolist()]
        return {
            "metric": self.metric,
            "candidates": [dict(candidate) for candidate in self.candidates],
            "areas": areas,
            "problems": {str(k): text for k, text in self.problems.items()},
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Search:
        candidates = tuple(document["candidates"])
        areas = np.array(document["areas"], dtype=np.float64).reshape(len(candidates), -1)
        problems = {int(k): text for k, text in document["problems"].items()}
        return cls(document["metric"], candidates, areas, problems, float(document["seconds"]))


def check_tuning(method: type[AUCClassifier], params: Mapping[str, Any], tuning: Tuning) -> None:
    """Raise InputError if there is nothing to search, or no way to judge it so."""
    if tuning.metric == LEAVE_PAIR_OUT and not method.leaves_pairs_out:
        raise InputError(
            f"{method.title} has no closed form for leave-pair-out: tune by auc or pauc",
            setting="tune",
        )
    if not candidates(method, params, tuning.seed):
        raise InputError(f"{method.title} has no setting to search", setting="tune")


def candidates(
    method: type[AUCClassifier], params: Mapping[str, Any], seed: int
) -> list[dict[str, Any]]:
    """List the settings to try: the product of the declared grids, or 64 of it drawn by the seed.

    Searched is what means something beside the other ``params``: no kernel width for a linear
    kernel.
    """
    declared = declared_params(method)
    grids = {n: d.grid for n, d in declared.items() if d.grid and d.matters(params)}
    if not grids:
        return []
    sizes = [len(grid) for grid in grids.values()]
    count = int(np.prod(sizes))
    numbers: Any = range(count)
    if count > MOST_CANDIDATES:
        drawn = np.random.default_rng(seed).choice(count, MOST_CANDIDATES, replace=False)
        numbers = np.sort(drawn)
    places = [np.unravel_index(number, sizes) for number in numbers]
    return [
        {name: grid[int(k)] for (name, grid), k in zip(grids.items(), place, strict=True)}
        for place in places
    ]


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


def symbols(method: str) -> dict[str, str]:
    """Give each setting of a method the name it has on paper."""
    return {n: d.symbol or d.label for n, d in declared_params(METHODS[method]).items()}


def few_negatives_note(found: Search, negatives: int, band: tuple[float, float]) -> str:
    """Warn where the partial AUC of a fold rests on too few rows to choose settings by.

    Parameters
    ----------
    found : Search
    negatives : int
        Of the rows that were searched on.
    band : (float, float)

    Returns
    -------
    str
        Empty where there is nothing to warn of.
    """
    deciding = negatives / found.areas.shape[1] * band[1]
    if found.metric != PAUC or deciding >= _ENOUGH_NEGATIVES:
        return ""
    return (
        f"Settings were chosen by partial areas that rest on about {deciding:.2g} negatives a "
        "fold, which is too few to tell them apart well and flatters them all: tuning by AUC is "
        "steadier here."
    )


def settings_words(candidate: Candidate, names: Mapping[str, str] | None = None) -> str:
    """Write a candidate as ``C = 10, gamma = 0.25``; ``names`` are other words for the settings."""
    known = names or {}
    return ", ".join(
        f"{known.get(name, name)} = {_spelled(value)}" for name, value in candidate.items()
    )


def _spelled(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
