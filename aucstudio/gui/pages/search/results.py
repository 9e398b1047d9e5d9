"""Results of a search: axes of settings and ranked candidates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aucstudio.engine import METHODS
from aucstudio.engine.arrays import Array, Index
from aucstudio.engine.params import Param, declared_params, multiple
from aucstudio.gui.state.plan import RunLook
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices.words import power_words, setting_words
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.tuning import Candidate, Search

_MOST_TICKS = 8
_CHARACTER, _NARROW = 7.0, 400.0  # pixels; of an axis in a small window
_SAME = 1e-12


@dataclasses.dataclass(frozen=True, eq=False)
class Setting:
    """One searched setting as an axis.

    Attributes
    ----------
    declared : Param
    values : tuple
        The values that were tried, along the axis.
    places : ndarray of float
        Where they lie: logarithms where people think in powers, the values themselves, or, for
        words, 0, 1, 2, ...
    """

    declared: Param
    values: tuple[Any, ...]
    places: Array

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def symbol(self) -> str:
        return self.declared.symbol or self.declared.label

    @property
    def title(self) -> str:
        """The setting's label and symbol."""
        label, symbol = self.declared.label, self.declared.symbol
        return f"{label} {symbol}" if symbol and symbol != label else label

    @property
    def is_numeric(self) -> bool:
        return all(_is_number(value) for value in self.values)

    @property
    def is_decades(self) -> bool:
        """Whether all values are powers of ten."""
        if not self.declared.log or not self.is_numeric:
            return False
        return all(value > 0 and math.log10(value).is_integer() for value in self.values)

    def index(self, found: Sequence[Candidate]) -> Index:
        """Return each candidate's place in ``values``."""
        return np.array([self.values.index(one[self.name]) for one in found], dtype=np.intp)

    def spell(self, value: Any) -> str:
        return setting_words(value) if isinstance(value, float) else self.declared.spell(value)

    def tick(self, value: Any) -> str:
        """Write a value for an axis."""
        if self.is_decades:
            return _decade(math.log10(value))
        if isinstance(value, str):
            word, factor = multiple(value)
            signs = str.maketrans("*/", "×÷")
            return value if factor == 1.0 else value.removeprefix(word).translate(signs)
        if not isinstance(value, float) or "e" in f"{value:.3g}":
            return self.spell(value)
        return f"{value:.3g}"

    def ticks(self) -> list[tuple[float, str]] | None:
        """Return the ticks: the tried values or decades; None for automatic ticks."""
        texts = [self.tick(value) for value in self.values]
        if not self.is_numeric:
            return list(zip(self.places.tolist(), texts, strict=True))
        span = float(np.ptp(self.places)) or 1.0
        nearest = float(np.diff(self.places).min(initial=span)) / span * _NARROW
        longest = max(map(len, texts)) * _CHARACTER
        if len(texts) <= _MOST_TICKS and nearest >= longest:
            return list(zip(self.places.tolist(), texts, strict=True))
        return self._decades() if self.declared.log else None

    def _decades(self) -> list[tuple[float, str]]:
        known = self.places[np.array(self.values, dtype=float) > 0]
        low, high = math.ceil(known.min() - 1e-9), math.floor(known.max() + 1e-9)
        every = max(1, math.ceil((high - low + 1) / _MOST_TICKS))
        zero = [(float(self.places[0]), "0")] if len(known) < len(self.places) else []
        return zero + [(float(k), _decade(k)) for k in range(low, high + 1, every)]


def searched_settings(method: str, found: Sequence[Candidate]) -> list[Setting]:
    """List what a search varied, each with the values it tried."""
    declared = declared_params(METHODS[method])
    return [
        _setting(declared[name], tuple(dict.fromkeys(one[name] for one in found)))
        for name in found[0]
    ]


def _setting(declared: Param, tried: tuple[Any, ...]) -> Setting:
    if not all(_is_number(value) for value in tried):
        tried = tuple(sorted(tried, key=_place_in(declared.grid)))
        return Setting(declared, tried, np.arange(len(tried), dtype=np.float64))
    values = tuple(sorted(tried))
    places = np.array(values, dtype=np.float64)
    if declared.log:
        above = np.log10(places[places > 0])
        # Zero has no logarithm: it lies one step below the rest.
        step = float(above[1] - above[0]) if len(above) > 1 else 1.0
        places = np.concatenate([above[:1] - step] * (len(above) < len(places)) + [above])
    return Setting(declared, values, places)


def _place_in(grid: tuple[Any, ...]) -> Callable[[Any], int]:
    """Order values as in the grid; values not in the grid come last."""
    return lambda value: grid.index(value) if value in grid else len(grid)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _decade(power: float) -> str:
    return power_words(10.0**power).removeprefix("1·")


@dataclasses.dataclass(frozen=True, eq=False)
class CandidateStanding:
    """Ranking of candidates on the folds tested so far.

    Attributes
    ----------
    search : Search
    counts : ndarray of int
        Number of folds that each candidate was tested on.
    means, errors : ndarray of float
        Over these folds; standard errors are NaN below two.
    ranks : ndarray of int
        1 for the best; 0 where a candidate was judged less often than others.
    top : int or None
        The best, or the leader until one was tested on every fold.
    """

    search: Search
    counts: Index
    means: Array
    errors: Array
    ranks: Index
    top: int | None

    @classmethod
    def of(cls, search: Search) -> CandidateStanding:
        """Count and average the results of a search."""
        known = np.isfinite(search.areas)
        counts = known.sum(axis=1)
        means = np.where(known, search.areas, 0.0).sum(axis=1) / np.where(counts, counts, np.nan)
        squares = np.where(known, (search.areas - means[:, None]) ** 2, 0.0).sum(axis=1)
        errors = np.sqrt(squares / np.where(counts > 1, (counts - 1) * counts, np.nan))
        level = (counts == counts.max()) & (counts > 0)
        better = (means[None, :] > means[:, None] + _SAME) & level[None, :]
        ranks = np.where(level, 1 + better.sum(axis=1), 0)
        top = search.leader if search.best is None else search.best
        return cls(search, counts, means, errors, ranks, top)

    @property
    def is_whole(self) -> bool:
        """Whether every candidate was tested on every fold or failed."""
        return self.search.fraction_done >= 1.0

    def close(self) -> int:
        """Count the candidates other than the best within its standard error."""
        if self.top is None:
            return 0
        near = self.means >= self.means[self.top] - self.errors[self.top]
        return int((near & (self.ranks > 0)).sum()) - 1


@dataclasses.dataclass(frozen=True, eq=False)
class SearchedRun:
    """The run that the page is about: a finished one or the one in progress."""

    key: object
    look: RunLook
    experiment: Experiment
    searches: tuple[Search, ...]
    live: LiveRun | None = None


def over_splits(searches: Sequence[Search]) -> Search:
    """Merge searches: the mean areas of splits take the place of folds."""
    whole = [one for one in searches if one.fraction_done >= 1.0]
    problems = {
        k: f"{text} (split {split + 1})"
        for split, one in reversed(list(enumerate(searches)))
        for k, text in one.problems.items()
    }
    return Search(
        searches[0].metric,
        searches[0].candidates,
        np.column_stack([one.means for one in whole]),
        problems,
        sum(one.seconds for one in searches),
    )


def times_chosen(searches: Sequence[Search]) -> Index:
    """Count in how many splits each candidate ranked best."""
    best = [one.best for one in searches if one.fraction_done >= 1.0 and one.best is not None]
    return np.bincount(np.array(best, dtype=np.intp), minlength=len(searches[0].candidates))


def finished(run: ShownRun | None) -> SearchedRun | None:
    """Return the selected run if it has results of a search."""
    if run is None:
        return None
    searches = tuple(one for one in run.record.searches if one.leader is not None)
    if not searches:
        return None
    return SearchedRun(run.record.id, run.look, run.record.experiment, searches)
