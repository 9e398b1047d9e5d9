"""scikit-learn's histogram boosting, watched tree by tree: the one place that uses private names.

Made for scikit-learn 1.9. Where another version lacks a name, trees are grown one by one through
public calls instead, which takes longer; the name that is lacking is said.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeRegressor

from aucstudio.engine.methods.baseline_settings import MOST_LEVELS
from aucstudio.notices import notice

MADE_FOR = "1.9"

_NODE = np.dtype(
    [
        ("is_leaf", "u1"),
        ("value", "f8"),
        ("feature_idx", "i8"),
        ("num_threshold", "f8"),
        ("left", "i8"),
        ("right", "i8"),
        ("missing_go_to_left", "u1"),
    ]
)

Levels = NDArray[np.uint8]
Scores = NDArray[np.float64]
Nodes = NDArray[Any]
Hear = Callable[[Scores, list[Nodes]], None]


class LibraryDiffersError(RuntimeError):
    """The installed library lacks a private name.

    Attributes
    ----------
    notice : Notice
    """

    def __init__(self, name: str) -> None:
        self.notice = notice(
            "trees_one_by_one", made_for=MADE_FOR, version=sklearn.__version__, name=name
        )
        super().__init__(str(self.notice))


class LeveledBoosting(HistGradientBoostingClassifier):
    """The library's method, given the levels of its rows, so that it need not look for them.

    What it would find is the same. ``fit`` wants rows only for their number and their labels.
    """

    def take_levels(self, levels: Levels, counts: list[int], hear: Hear) -> None:
        """Take what to train on, and who hears of it.

        Parameters
        ----------
        levels : ndarray of uint8, shape (N, d)
            The level of each cell, ``MOST_LEVELS`` for a gap.
        counts : list of int
            Levels of each feature.
        hear : callable
            Called before the first tree and after each with the scores of the rows, which the
            library itself goes on with, and with the nodes of all trees so far; their splits lie
            between levels.
        """
        self._levels, self._counts, self._are_used = levels, np.array(counts), False
        self._hear, self._is_heard = hear, False

    def fit(self, *args: Any, **kwargs: Any) -> LeveledBoosting:
        super().fit(*args, **kwargs)
        if not self._is_heard:
            raise _mismatch("_check_early_stopping_loss")
        return self

    def _bin_data(self, *_: Any, **__: Any) -> Levels:
        # A table of all levels, the last one repeated, is enough to show to the library.
        mapper = _private(self, "_bin_mapper")
        mapper.fit(np.minimum(np.arange(MOST_LEVELS)[:, None], self._counts - 1))
        if _private(mapper, "missing_values_bin_idx_") != MOST_LEVELS:
            raise _mismatch("the level of a gap")
        self._are_used = True
        return self._levels

    def _check_early_stopping_loss(self, raw_predictions: Scores, *_: Any, **__: Any) -> bool:
        # Called after each tree, to tell whether to go on: the way to watch at no cost.
        if not self._are_used:
            raise _mismatch("_bin_data")
        trees = [_private(of_step[0], "nodes") for of_step in _private(self, "_predictors")]
        self._hear(raw_predictions[:, 0], trees)
        self._is_heard = True
        return False


def _private(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name)
    except AttributeError:
        raise _mismatch(name) from None


def _mismatch(name: str) -> LibraryDiffersError:
    return LibraryDiffersError(name)


@dataclasses.dataclass(frozen=True)
class TreeByTree:
    """The same boosting through public calls: each tree is a regression on Newton's steps.

    A tree that splits by the squared error of -g / h, weighted by h, splits where the library's
    does, g and h being the derivatives of the loss of a row. Only l2 is left out of the choice of
    splits; the values of the leaves have it.
    """

    learning_rate: float
    max_iter: int
    max_leaf_nodes: int
    min_samples_leaf: int
    l2_regularization: float

    def fit(self, levels: Levels, positive: NDArray[np.bool_], costs: Scores, hear: Hear) -> None:
        """Grow all trees; arguments and reports are those of :class:`LeveledBoosting`."""
        rows = np.where(levels == MOST_LEVELS, np.nan, levels)
        share = float(np.average(positive, weights=costs))
        scores = np.full(len(levels), np.log(share) - np.log1p(-share))
        trees: list[Nodes] = []
        hear(scores, trees)
        for _ in range(self.max_iter):
            chance = scipy.special.expit(scores)
            slope, bend = costs * (chance - positive), costs * chance * (1.0 - chance)
            bend = np.maximum(bend, np.finfo(np.float64).tiny)
            tree = DecisionTreeRegressor(
                max_leaf_nodes=self.max_leaf_nodes,
                min_samples_leaf=self.min_samples_leaf,
                random_state=0,
            ).fit(rows, -slope / bend, sample_weight=bend)
            leaves = tree.apply(rows)
            count = tree.tree_.node_count
            sums = [np.bincount(leaves, weights=part, minlength=count) for part in (slope, bend)]
            at_leaf = np.bincount(leaves, minlength=count) > 0
            values = np.zeros(count)
            values[at_leaf] = -sums[0][at_leaf] / (sums[1][at_leaf] + self.l2_regularization)
            values *= self.learning_rate
            scores = scores + values[leaves]
            trees.append(_nodes(tree.tree_, values))
            hear(scores, trees)


def _nodes(tree: Any, values: Scores) -> Nodes:
    """Write a public tree as the library's own nodes, as far as they are read."""
    leaf = tree.children_left < 0
    nodes = np.zeros(tree.node_count, dtype=_NODE)
    nodes["is_leaf"], nodes["value"] = leaf, values
    for name, found in (
        ("feature_idx", tree.feature),
        # Splits lie midway between two levels; one of gaps from all others lies above them.
        ("num_threshold", np.floor(np.minimum(tree.threshold, MOST_LEVELS))),
        ("left", tree.children_left),
        ("right", tree.children_right),
        ("missing_go_to_left", tree.missing_go_to_left),
    ):
        nodes[name] = np.where(leaf, 0, found)
    return nodes
