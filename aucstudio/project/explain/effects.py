"""Weights over splits, and effect curves.

Symbols: x prepared row, w weights of a linear scorer, F_k the term of feature k in an additive
one; f score; x_{-k} a row without column k.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array
from aucstudio.engine.features.splines import AdditiveScorer
from aucstudio.engine.scorers import EnsembleScorer, Scorer, score_rows
from aucstudio.project.data.preparing.preparation import Preparation, feature_groups
from aucstudio.project.data.preparing.preparation_choice import STANDARD, USUAL, PreparationChoice
from aucstudio.project.data.text.dates import around
from aucstudio.project.geometry.planes import evenly
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.record import SplitResult

GRID = 120
ROWS = 200  # that a dependence is averaged over
_TAIL = 0.01
_ROUGH_GRID, _ROUGH_ROWS = 6, 60


@dataclasses.dataclass(frozen=True, eq=False)
class Coefficients:
    """Weights of a linear scorer, feature by feature and split by split.

    Attributes
    ----------
    names : tuple of str
        Prepared features, those with the largest mean |w| first.
    columns : tuple of str
        The column of the table that each is of.
    weights : ndarray of shape (splits, features)
        For one standard deviation of a number, for a level as against none; NaN where a split
        did not see the level.
    scales : ndarray of shape (features,)
        Mean standard deviation in the column's own unit; 1 for a level.
    is_level : ndarray of bool, shape (features,)
    choice : PreparationChoice
        What the features were prepared by.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    weights: Array
    scales: Array
    is_level: NDArray[np.bool_]
    choice: PreparationChoice = USUAL

    @property
    def step(self) -> str:
        """Name the step in a number that a weight is for."""
        standard = self.choice.scale == STANDARD
        return "one standard deviation" if standard else "one scaled unit"

    @functools.cached_property
    def mean(self) -> Array:
        """Mean over the splits, shape (features,)."""
        return np.asarray(np.nanmean(self.weights, axis=0))

    @functools.cached_property
    def shares(self) -> Array:
        """Share of each feature in the sum of the mean |w|; 0 if all are 0."""
        size = np.abs(self.mean)
        return size / (size.sum() or 1.0)

    @functools.cached_property
    def of_columns(self) -> dict[str, tuple[int, float]]:
        """Number of features and share of each column that has several, the largest first."""
        counts, shares = Counter(self.columns), Counter[str]()
        for column, share in zip(self.columns, self.shares.tolist(), strict=True):
            shares[column] += share
        return {c: (counts[c], share) for c, share in shares.most_common() if counts[c] > 1}

    @functools.cached_property
    def same_sign(self) -> Array:
        """Share of the splits whose weight has the sign of the mean, shape (features,)."""
        known = ~np.isnan(self.weights)
        agree = (np.sign(self.weights) == np.sign(self.mean)) & known
        return np.asarray(agree.sum(axis=0) / known.sum(axis=0))


def coefficients(splits: Sequence[SplitResult]) -> Coefficients | None:
    """Gather the weights of a run; None if its scorers are not linear."""
    found: list[tuple[Preparation, Array]] = []
    for split in splits:
        if split.coef is None:
            return None
        found.append((split.model.preparation, split.coef))
    return gather_weights(found)


def gather_weights(found: Sequence[tuple[Preparation, Array]]) -> Coefficients:
    """Gather weights, given with the preparation whose features they are of."""
    columns = dict[str, str]()
    for learnt, _ in found:
        columns |= dict(zip(learnt.feature_names, learnt.feature_columns, strict=True))
    names, place = list(columns), {name: k for k, name in enumerate(columns)}
    weights, scales = (np.full((len(found), len(names)), np.nan) for _ in range(2))
    is_level = np.ones(len(names), dtype=bool)
    for s, (learnt, w) in enumerate(found):
        own = learnt.feature_names
        at = np.array([place[name] for name in own]) if own != names else np.arange(len(own))
        weights[s, at] = w
        scales[s, at] = np.concatenate([learnt.scales, np.ones(len(w) - len(learnt.scales))])
        is_level[at[: len(learnt.numbers)]] = False
    order = np.argsort(-np.abs(np.nanmean(weights, axis=0)), kind="stable")
    ordered = tuple(names[k] for k in order.tolist())
    return Coefficients(
        ordered,
        tuple(columns[name] for name in ordered),
        weights[:, order],
        np.nanmean(scales, axis=0)[order],
        is_level[order],
        found[0][0].choice,
    )


@dataclasses.dataclass(frozen=True, eq=False)
class ScoreCurve:
    """The score as one column changes.

    Attributes
    ----------
    column : str
    levels : tuple of str
        Of a category; empty for a number.
    x : ndarray of shape (points,)
        In the column's own unit, or 0, 1, ... for levels.
    y : ndarray of shape (points,)
        Its mean over the points is taken off, as a score has no zero of its own.
    exact : bool
        Whether the score is this curve plus a function of the other columns; else it is a mean
        over rows.
    layout : str
        How dates are written; empty where the column holds none.
    """

    column: str
    levels: tuple[str, ...]
    x: Array
    y: Array
    exact: bool
    layout: str = ""

    @property
    def span(self) -> float:
        """How far the score moves over the curve."""
        return float(np.ptp(self.y)) if len(self.y) else 0.0


def score_curve(
    model: Model,
    X: Array,
    column: str,
    *,
    points: int = GRID,
    most_rows: int = ROWS,
    pulse: Callable[[str, float], None] = lambda _what, _fraction: None,
) -> ScoreCurve:
    """Compute how the score depends on a column.

    For an additive scorer the term F_k itself, else the partial dependence: the mean of
    f(x_k = v, x_{-k}) over rows (Friedman 2001, section 8.2). Numbers run from their 1 % to
    their 99 % quantile in the rows given.

    Parameters
    ----------
    model : Model
    X : ndarray of shape (N, d)
        Prepared rows.
    column : str
        Of the table.
    points, most_rows : int
    pulse : callable
        Called after every chunk that is scored; may raise to stop.
    """
    preparation = model.preparation
    features = feature_groups(preparation)[column]
    grid, levels = _grid(preparation, X, features, points)
    scorer = model.scorer
    if isinstance(scorer, AdditiveScorer):
        terms = range(features.start, features.stop)
        y = np.sum([scorer.component(k, grid[:, k - features.start]) for k in terms], axis=0)
    else:
        y = _dependence(scorer, X[evenly(np.arange(len(X)), most_rows)], features, grid, pulse)
    y = y - y.mean()
    exact = is_additive(scorer, features)
    if levels:
        return ScoreCurve(column, levels, np.arange(len(levels), dtype=float), y, exact)
    if features.stop - features.start > 1:
        return ScoreCurve(column, (), around(_turning(preparation, features))[0], y, exact)
    layout, k = model.schema.layouts.get(column, ""), features.start
    x = preparation.in_own_unit(k, grid[:, 0])
    # Scaling there and back leaves some 1e-16 where a cell is 0.
    x[np.abs(x) < 1e-12 * np.abs(x).max()] = 0.0
    return ScoreCurve(column, (), x, y, exact, layout)


def _turning(preparation: Preparation, features: slice) -> str:
    """Name the part of a date whose sine and cosine some features are."""
    return preparation.parts[preparation.numbers[features.start]].part.partition(" ")[0]


def is_additive(scorer: Scorer, features: slice) -> bool:
    """Return whether the score is a term of some features plus a function of the others."""
    if not isinstance(scorer, EnsembleScorer):
        return scorer.kind in ("additive", "linear")
    # A tree that splits on them must split on nothing else; nodes of a tree are adjacent.
    inner = scorer.left != np.arange(len(scorer.left))
    asks = (scorer.feature >= features.start) & (scorer.feature < features.stop)
    tree = np.searchsorted(np.sort(scorer.roots), np.arange(len(inner)), "right")
    return not np.intersect1d(tree[inner & asks], tree[inner & ~asks]).size


def _dependence(
    scorer: Scorer, rows: Array, features: slice, grid: Array, pulse: Callable[[str, float], None]
) -> Array:
    stacked = np.repeat(rows[None], len(grid), axis=0)
    stacked[:, :, features] = grid[:, None, :]
    scores = score_rows(scorer, stacked.reshape(-1, rows.shape[1]), pulse)
    return np.asarray(scores.reshape(len(grid), -1).mean(axis=1))


def rough_spans(model: Model, X: Array, pulse: Callable[[str, float], None]) -> dict[str, float]:
    """Estimate how far each column moves the score; exact for additive scorers."""
    return {
        column: score_curve(
            model,
            X,
            column,
            points=GRID if model.scorer.kind == "additive" else _ROUGH_GRID,
            most_rows=_ROUGH_ROWS,
            pulse=pulse,
        ).span
        for column in feature_groups(model.preparation)
    }


def _grid(
    preparation: Preparation, X: Array, features: slice, points: int
) -> tuple[Array, tuple[str, ...]]:
    """Return the prepared values of a column along its axis, shape (points, width), and levels."""
    n_numbers = len(preparation.numbers)
    if features.start >= n_numbers:
        levels = dict(zip(preparation.categories, preparation.levels, strict=True))
        name = next(n for n, g in feature_groups(preparation).items() if g == features)
        if name not in levels:
            return np.array([[0.0], [1.0]]), ("known", "missing")
        return np.eye(len(levels[name])), levels[name]
    if features.stop - features.start > 1:
        _, heights = around(_turning(preparation, features))
        places = range(features.start, features.stop)
        cells = [preparation.scaled(k, heights[:, n].copy()) for n, k in enumerate(places)]
        return np.column_stack(cells), ()
    values = X[:, features.start]
    known = np.unique(values[~np.isnan(values)])
    if not len(known):
        return np.zeros((1, 1)), ()
    if len(known) <= points:
        return known[:, None], ()
    low, high = np.quantile(values[~np.isnan(values)], (_TAIL, 1 - _TAIL))
    return np.linspace(low, high, points)[:, None], ()
