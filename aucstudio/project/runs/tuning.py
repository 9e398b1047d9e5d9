"""Tune settings by cross-validation or leave-pair-out.

Every candidate is evaluated on the same folds of the training rows, and the preprocessing is refit
in each. Areas are averaged over folds, never pooled. The first candidate wins a tie; grids are
declared with the strongest regularisation first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import DECLARED
from aucstudio.engine.params import declared_params
from aucstudio.notices import Notice, notice
from aucstudio.notices.words import setting_words, suggestion
from aucstudio.project.errors import InputError, input_error

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Candidate = Mapping[str, Any]

AUC, PAUC, LEAVE_PAIR_OUT = "auc", "pauc", "leave-pair-out"
METRICS = {
    AUC: "AUC",
    PAUC: "pAUC of the range",
    LEAVE_PAIR_OUT: "leave-pair-out AUC",
}
MOST_CANDIDATES = 64
_ENOUGH_NEGATIVES = 5.0
_SAME = 1e-12


@dataclasses.dataclass(frozen=True)
class Tuning:
    """How settings are searched.

    Attributes
    ----------
    metric : {"auc", "pauc", "leave-pair-out"}
        ``"pauc"`` is that of the experiment's band.
    folds : int
        Within the training rows; fewer if a class has too few rows.
    seed : int
        Draws the folds, and the candidates if the grid has more than 64.
    """

    metric: str = PAUC
    folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise input_error(
                "unknown_metric",
                metric=self.metric,
                hint=suggestion(self.metric, METRICS),
                metrics=", ".join(METRICS),
            )
        if self.folds < 2:
            raise InputError(f"tuning needs at least 2 folds, not {self.folds}", setting="tune")

    def describe(self) -> str:
        """Return a short text on how settings are chosen."""
        if self.metric == LEAVE_PAIR_OUT:
            return f"tuned by {METRICS[self.metric]}"
        return f"tuned by {METRICS[self.metric]} in {self.folds} folds"


@dataclasses.dataclass(frozen=True, eq=False)
class Search:
    """The result of a search, finished or not.

    Attributes
    ----------
    metric : str
    candidates : tuple of mappings
        Values of the settings that were searched.
    areas : ndarray of shape (n_candidates, n_folds)
        NaN where a candidate was not or could not be evaluated.
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
        """Mean area of each candidate; NaN unless it was evaluated on every fold."""
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
        """Index of the best candidate evaluated on every fold; the first wins a tie."""
        means = self.means
        if np.isnan(means).all():
            return None
        return int(np.flatnonzero(means >= np.nanmax(means) - _SAME)[0])

    @property
    def leader(self) -> int | None:
        """Index of the candidate that leads on the folds evaluated so far."""
        known = np.isfinite(self.areas)
        if not known.any():
            return None
        # Candidates are comparable on the folds that are done: those with the most areas.
        per_fold = known.sum(axis=0)
        done = per_fold == per_fold.max()
        means = np.where(known[:, done].all(axis=1), self.areas[:, done].mean(axis=1), -np.inf)
        return int(np.argmax(means))

    @property
    def chosen(self) -> Candidate:
        """Settings of the best candidate; empty if there is none."""
        return {} if self.best is None else self.candidates[self.best]

    @property
    def fraction_done(self) -> float:
        """Share of the work that is done."""
        done = np.isfinite(self.areas)
        done[list(self.problems)] = True
        return float(done.mean())

    def describe(self, names: Mapping[str, str] | None = None) -> str:
        """Return the chosen settings as a line of text; ``names`` replaces names of settings."""
        best = self.best
        if best is None:
            return "the search was not finished"
        mean, error = self.means[best], self.errors[best]
        spread = f", standard error {error:.3f}" if np.isfinite(error) else ""
        return (
            f"{settings_words(self.candidates[best], names)}, best of {len(self.candidates)}: "
            f"{METRICS[self.metric]} {mean:.3f}{spread}"
        )

    def describe_progress(self, names: Mapping[str, str] | None = None) -> str:
        """Return as text how much is done, and which candidate leads."""
        words = f"tuning: {self.fraction_done:.0%} of {len(self.candidates)} candidates"
        leader = self.leader
        if leader is None:
            return words
        return f"{words}, best so far {settings_words(self.candidates[leader], names)}"

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
    """Raise InputError if there is nothing to search, or the method lacks the metric."""
    if tuning.metric == LEAVE_PAIR_OUT and not method.leaves_pairs_out:
        raise input_error("tunes_no_pairs", title=method.title)
    if not candidates(method, params, tuning.seed):
        raise InputError(f"{method.title} has no setting to search", setting="tune")


def candidates(
    method: type[AUCClassifier], params: Mapping[str, Any], seed: int
) -> list[dict[str, Any]]:
    """List the settings to try: the product of the declared grids, or 64 drawn from it.

    Only settings that matter with the other ``params`` are searched: no kernel width for a linear
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


def few_negatives_notes(
    found: Search, negatives: int, band: tuple[float, float]
) -> tuple[Notice, ...]:
    """Return a caution if the partial AUC of a fold is based on too few of the ``negatives``."""
    deciding = negatives / found.areas.shape[1] * band[1]
    if found.metric != PAUC or deciding >= _ENOUGH_NEGATIVES:
        return ()
    return (notice("tuned_on_few", negatives=float(deciding)),)


def symbols(method: str) -> dict[str, str]:
    """Return the symbol of each setting of a method."""
    return {n: d.symbol or d.label for n, d in declared_params(DECLARED[method]).items()}


def settings_words(candidate: Candidate, names: Mapping[str, str] | None = None) -> str:
    """Format a candidate as ``C = 10, gamma = 0.25``; ``names`` replaces names of settings."""
    known = names or {}
    return ", ".join(
        f"{known.get(name, name)} = {_spelled(value)}" for name, value in candidate.items()
    )


def _spelled(value: Any) -> str:
    return setting_words(value) if isinstance(value, float) else str(value)
