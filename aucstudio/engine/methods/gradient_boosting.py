"""Gradient boosted trees.

Symbols: y_i = 0 or 1; c_i weight of row i; f scores, log-odds; cuts the thresholds between
which a feature is a level, 0, 1, 2, ..., to the library.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from aucstudio.engine.arrays import Array, Mask
from aucstudio.engine.base import WeighsRows
from aucstudio.engine.cost import Advice, Cost, Work, cost_of
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.methods.forest import tree_scorer
from aucstudio.engine.methods.settings import MOST_LEVELS, ClassWeightSettings
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import param
from aucstudio.engine.scorers import ABOVE_ALL, EnsembleScorer, joined_trees

if TYPE_CHECKING:
    from aucstudio.engine.methods.histogram_library import (
        LeveledBoosting,
        Levels,
        Nodes,
    )

_SEED = 0  # only for a library that bins for itself: beyond 200,000 rows it does so on a sample
_FEWER_LEAVES: Advice = ("max_leaf_nodes", "use fewer leaves or a sample of the rows")


class GradientBoosting(ClassWeightSettings, WeighsRows):
    """Adds many small decision trees; often the method to beat on tables.

    Minimises ``sum_i c_i (log(1 + exp(f_i)) - y_i f_i) / sum_i c_i`` step by step, each step adding
    a tree that follows the gradient; c_i is the weight of the row, times
    N / (2 N_class) with balanced class weights.
    A feature is split between at most 255 quantiles of all rows, each counted once. The library
    itself uses the same quantiles, except for weighted rows (weighted quantiles) and for more than
    200,000 rows (those of a sample).

    Missing values (NaN) are allowed. Each split sends them to the side where they lower the loss
    most or, if none of its training rows has one, to the side with more rows.

    No optimum is approached and there is no certificate: ``dual_gap_`` is None. Training ends after
    the given number of trees. ``decision_function`` returns log-odds. The same settings and rows
    give the same trees in every run.

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine; scikit-learn's
    HistGradientBoostingClassifier.

    Use when
    --------
    A strong baseline for non-linear, mixed data with missing values; needs a few hundred rows.
    """

    learning_rate: float = param(0.1)
    max_iter: int = param(100, "trees")
    max_leaf_nodes: int = param(31, "boosting")
    min_samples_leaf: int = param(10, "boosting")
    l2_regularization: float = param(0.0)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d = positives + negatives, features
        leaves = min(self.max_leaf_nodes, max(2, N // self.min_samples_leaf))
        bins = leaves * d * 256
        tree = Work(numbers=20 * N * d + 10 * bins, steps=50)
        work = tree.times(self.max_iter) + Work(numbers=100 * N * d)
        return cost_of(N, 11.0 * N * d + 20 * bins, work, _FEWER_LEAVES)

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        weights = self.weigh(self.classes_, positive, context.weights)
        cuts, levels = _bin(X, monitor)
        costs = self.weigh_rows(self.classes_, positive, context.weights)
        watcher = _Watcher(positive, costs, cuts, monitor, self.max_iter)
        library = self._library(weights)
        library.take_levels(levels, [len(found) + 1 for found in cuts], watcher.receive)
        with contextlib.suppress(_Halted):
            # The levels are what it trains on; of the rows it wants to see the shape.
            library.fit(np.broadcast_to(0.0, X.shape), positive, context.weights)
        return Fit(
            watcher.scorer(),
            watcher.objective,
            watcher.iteration,
            intercept=0.0,
            scores=watcher.scores,
        )

    def _library(self, weights: Array) -> LeveledBoosting:
        from aucstudio.engine.methods.histogram_library import LeveledBoosting

        # After each tree the library asks whether to stop early, which is how it is watched.
        return LeveledBoosting(
            learning_rate=self.learning_rate,
            max_iter=self.max_iter,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            l2_regularization=self.l2_regularization,
            class_weight=None if self.class_weight is None else dict(enumerate(weights)),
            early_stopping=True,
            validation_fraction=None,
            scoring="loss",
            random_state=_SEED,
        )


def _bin(X: Array, monitor: Monitor) -> tuple[list[Array], Levels]:
    """Return the cuts of each feature and the level of each cell: the number of cuts below it.

    A gap has a level of its own, except in a feature of gaps only, which becomes a constant. The
    library would do the same in one call that nothing can stop, and with class weights in some
    forty times the time.
    """
    cuts, levels = [], np.zeros(X.shape, dtype=np.uint8, order="F")
    for k, column in enumerate(X.T):
        monitor.stage("binning", k / X.shape[1])
        gap = np.isnan(column)
        known = column[~gap]
        cuts.append(_cut(known) if len(known) else known)
        if len(known):
            levels[:, k] = np.searchsorted(cuts[k], column)
            levels[gap, k] = MOST_LEVELS
    return cuts, levels


def _cut(known: Array) -> Array:
    """Find the cuts between the levels of one feature: between its values, or at quantiles."""
    rising = np.sort(known)
    is_new = rising[1:] != rising[:-1]
    if np.count_nonzero(is_new) < MOST_LEVELS:
        values = rising[np.append(True, is_new)]
        return np.asarray(values[:-1] + np.diff(values) / 2)
    # The inverse of the empirical distribution, midway where that is a step.
    place = len(rising) * (np.linspace(0, 100, MOST_LEVELS + 1)[1:-1] / 100) - 1
    low = np.floor(place).astype(np.intp)
    below, above = rising[low], rising[low + 1]
    return np.unique(np.where(place == low, above - (above - below) * 0.5, above))


class _Halted(Exception):  # noqa: N818  (an outcome, not an error)
    """The monitor requests a stop; the watcher holds the trees so far."""


class _Watcher:
    """Passes the library's trees on to the monitor, one by one."""

    def __init__(
        self,
        positive: Mask,
        costs: Array,
        cuts: list[Array],
        monitor: Monitor,
        total: int,
    ) -> None:
        self._positive, self._costs = positive, costs
        self._monitor, self._total = monitor, total
        self._thresholds = np.full((len(cuts), MOST_LEVELS + 1), ABOVE_ALL)
        for row, found in zip(self._thresholds, cuts, strict=True):
            row[: len(found)] = found
        self._read: list[EnsembleScorer] = []

    def receive(self, scores: Array, trees: list[Nodes]) -> None:
        """Receive the start or another tree."""
        self.scores, self._trees = scores, trees
        if not trees:
            self._base = float(scores[0])
        elif self._monitor.has_callback and self._monitor.step(
            self.iteration, self.objective, total=self._total, scorer=self.scorer
        ):
            raise _Halted

    @property
    def iteration(self) -> int:
        """Number of trees."""
        return len(self._trees)

    @property
    def objective(self) -> float:
        """Weighted mean of the log-loss on the training rows."""
        losses = np.logaddexp(0.0, np.where(self._positive, -self.scores, self.scores))
        return float(np.average(losses, weights=self._costs))

    def scorer(self) -> EnsembleScorer:
        """Make a scorer of the trees so far."""
        self._read += [_tree(nodes, self._thresholds) for nodes in self._trees[len(self._read) :]]
        return joined_trees(self._read, self._base)


def _tree(nodes: Nodes, thresholds: Array) -> EnsembleScorer:
    """Read one tree of the library, which splits between levels."""
    leaf = nodes["is_leaf"].astype(bool)
    feature = np.where(leaf, 0, nodes["feature_idx"]).astype(np.intp)
    # A split of gaps from known values lies above all levels.
    level = np.minimum(np.where(leaf, 0, nodes["num_threshold"]), MOST_LEVELS).astype(np.intp)
    children, gaps_left = (nodes["left"], nodes["right"]), nodes["missing_go_to_left"]
    return tree_scorer(
        leaf, feature, thresholds[feature, level], children, nodes["value"], gaps_left
    )
