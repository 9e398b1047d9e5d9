"""Random forest and extra trees: scikit-learn trees, grown in portions.

Symbols: c_i weight of row i; p(t) the share of positives among the rows of leaf t.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index, Mask, portions
from aucstudio.engine.base import WeighsRows
from aucstudio.engine.cost import NUMBER, Advice, Cost, Work, cost_of
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.methods.settings import ClassWeightSettings
from aucstudio.engine.params import param
from aucstudio.engine.scorers import ABOVE_ALL, EnsembleScorer, joined_trees

_TREES_AT_ONCE = 5
_CELLS_AT_ONCE = 2e6
_CELLS_COPIED = 100_000
_LARGER_LEAVES: Advice = (
    "min_samples_leaf",
    "require more rows per leaf, or use fewer trees",
)


class ForestClassifier(ClassWeightSettings, WeighsRows):
    """A mean of many deep trees.

    Attributes
    ----------
    library : str
        Class attribute: the name of scikit-learn's class.
    """

    library: ClassVar[str]

    n_trees: int = param(300)
    min_samples_leaf: int = param(3)
    feature_share: str = param("sqrt")
    random_state: int = param(0)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d, leaves = positives + negatives, features, self._leaves(positives + negatives)
        drawn = max(1, {"sqrt": d**0.5, "third": d / 3, "all": d}[self.feature_share])
        tree = Work(numbers=37.5 * N * math.log2(max(2, leaves)) * drawn, steps=30)
        memory = 4 * N * d + 224 * leaves * self.n_trees
        return cost_of(N, memory, tree.times(self.n_trees), _LARGER_LEAVES)

    def model_bytes(self, rows: int) -> float:
        """Return about how much memory the trees of so many rows take."""
        return (5.0 * NUMBER + 1.0) * 2.0 * self._leaves(rows) * self.n_trees

    def _leaves(self, rows: int) -> float:
        return max(2.0, rows / (1.5 * self.min_samples_leaf))

    def _grower(self, weights: Array) -> Any:
        """Make the library's forest, which grows on each call of ``fit``."""
        from sklearn import ensemble

        shares = {"sqrt": "sqrt", "third": 1.0 / 3.0, "all": None}
        return getattr(ensemble, self.library)(
            n_estimators=0,
            min_samples_leaf=self.min_samples_leaf,
            max_features=shares[self.feature_share],
            # With weights of 1 the library would draw its samples differently.
            class_weight=self.class_weight and dict(zip((False, True), weights, strict=True)),
            random_state=self.random_state,
            warm_start=True,
        )

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        low, span = extent(X)
        cells = in_single(X, low, span)
        library = self._grower(self.weigh(self.classes_, positive, context.weights))
        at_once = max(1, min(_TREES_AT_ONCE, int(_CELLS_AT_ONCE / cells.size)))
        trees: list[EnsembleScorer] = []
        impurity = 0.0

        def scorer() -> EnsembleScorer:
            return _mean(trees)

        while len(trees) < self.n_trees:
            library.n_estimators = min(self.n_trees, len(trees) + at_once)
            library.fit(cells, positive, context.weights)
            for k in range(len(trees), library.n_estimators):
                grown = library.estimators_[k].tree_
                trees.append(_tree(grown, low, span))
                impurity += _leaf_impurity(grown)
                library.estimators_[k] = None  # only their number matters to it; they are large
            if context.monitor.step(
                len(trees), impurity / len(trees), total=self.n_trees, scorer=scorer
            ):
                break
        # The library says positive above one half.
        return Fit(scorer(), impurity / len(trees), len(trees), intercept=-0.5)


def extent(X: Array) -> tuple[Array, Array]:
    """Return the least value of each feature and half of its span (0 where it does not vary)."""
    low, high = np.fmin.reduce(X, axis=0) / 2, np.fmax.reduce(X, axis=0) / 2
    none = np.isnan(low)
    low[none], high[none] = 0.0, 0.0
    return low, high - low


def in_single(X: Array, low: Array, span: Array) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Put the rows on [0, 1]: the library computes in single precision."""
    cells = np.empty(X.shape, dtype=np.float32)
    width = np.where(span > 0, span, 1.0)
    for rows in portions(len(X), X.shape[1], _CELLS_COPIED):  # no copy in double precision
        cells[rows] = (X[rows] / 2 - low) / width
    return cells


def _tree(tree: Any, low: Array, span: Array) -> EnsembleScorer:
    """Read one tree of the library."""
    leaf = tree.children_left < 0
    feature = np.where(leaf, 0, tree.feature).astype(np.intp)
    # Known values apart from missing ones: the library writes infinity.
    finite = np.isfinite(tree.threshold)
    cut = 2 * (low[feature] + np.where(finite, tree.threshold, 0.0) * span[feature])
    shares = tree.value[:, 0, -1] / tree.value[:, 0, :].sum(axis=1)
    children = tree.children_left, tree.children_right
    thresholds = np.where(finite, cut, ABOVE_ALL)
    return tree_scorer(leaf, feature, thresholds, children, shares, tree.missing_go_to_left)


def tree_scorer(
    leaf: Mask,
    feature: Index,
    threshold: Array,
    children: tuple[NDArray[Any], NDArray[Any]],
    value: Array,
    gaps_left: NDArray[Any],
) -> EnsembleScorer:
    """Make a scorer of one tree of a library, given node by node; leaves have no children here."""
    here = np.arange(len(leaf))
    left, right = (np.where(leaf, here, side).astype(np.intp) for side in children)
    return EnsembleScorer(
        roots=np.zeros(1, dtype=np.intp),
        feature=feature,
        threshold=np.where(leaf, 0.0, threshold),
        left=left,
        right=right,
        value=np.where(leaf, value, 0.0),
        base=0.0,
        gaps_left=gaps_left.astype(bool) & ~leaf,
    )


def _leaf_impurity(tree: Any) -> float:
    leaf = tree.children_left < 0
    weight = tree.weighted_n_node_samples
    return float(np.average(tree.impurity[leaf], weights=weight[leaf]))


def _mean(trees: list[EnsembleScorer]) -> EnsembleScorer:
    forest = joined_trees(trees, 0.0)
    return dataclasses.replace(forest, value=forest.value / len(trees))


class RandomForest(ForestClassifier):
    """Averages many deep decision trees, each grown on a sample of the rows.

    Minimises in each tree, split by split, the Gini impurity ``2 p(t) (1 - p(t))`` of its leaves,
    rows weighted by c_i; the objective is the mean impurity of the leaves over the rows and trees.
    Each tree sees a bootstrap sample of the rows, each split some of the features.
    The score is the mean of p over the trees.

    Missing values (NaN) are allowed: each split sends them to the better side. Features are scaled
    to [0, 1] for the library, which computes in single precision.

    No optimum is approached and there is no certificate.

    References
    ----------
    Breiman (2001), Random forests; scikit-learn's RandomForestClassifier.

    Use when
    --------
    Strong on most tables with non-linear, mixed features; needs almost no tuning.
    """

    library: ClassVar[str] = "RandomForestClassifier"


class ExtraTrees(ForestClassifier):
    """Averages many deep decision trees with random thresholds.

    Minimises in each tree, split by split, the Gini impurity ``2 p(t) (1 - p(t))`` of its leaves,
    rows weighted by c_i; the objective is the mean impurity of the leaves over the rows and trees.
    Each split takes the best of some thresholds drawn at random, one for each feature considered.
    The score is the mean of p over the trees.

    Missing values (NaN) are allowed: each split sends them to the better side. Features are scaled
    to [0, 1] for the library, which computes in single precision.

    No optimum is approached and there is no certificate.

    References
    ----------
    Geurts, Ernst, Wehenkel (2006), Extremely randomized trees; scikit-learn's
    ExtraTreesClassifier.

    Use when
    --------
    Smoother than a random forest and faster to train; a good partner in a combination.
    """

    library: ClassVar[str] = "ExtraTreesClassifier"
