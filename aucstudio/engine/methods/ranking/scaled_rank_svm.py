"""Exact kernel RankSVM on columns scaled by forest importance."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from aucstudio.engine.cost import NUMBER, Cost, Work, cost_of, kernel_matrix, refuse_kernel_matrix
from aucstudio.engine.ensembles.remapped import ViewedScorer, scaled_view
from aucstudio.engine.features.spaces import Expansion, Space
from aucstudio.engine.fit import Context
from aucstudio.engine.kernels import KernelSettings, width
from aucstudio.engine.methods.forest import extent, in_single
from aucstudio.engine.methods.ranking._newton import PairNewton
from aucstudio.engine.methods.ranking.kernel_rank_svm import MOST_KERNEL_ROWS, WITHOUT_MATRIX
from aucstudio.engine.methods.settings import cost
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import param
from aucstudio.engine.types import Array, Mask

_TREES_AT_ONCE = 5
# Of the weight of all rows, with the classes balanced: a number of rows would make a row of weight
# 2 differ from a row twice.
_LEAST_LEAF = 0.005
_DIGITS = 9
# What a column counts that no tree uses, as a share of the mean.
_LEAST = 1e-3


class ScaledRankSVM(PairNewton):
    """Kernel RankSVM with features scaled by their forest importance; less sensitive to noise.

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))^2`` over all pairs of a
    positive and a negative, with f = sum_l beta_l k(row_l, .) and the kernel
    ``k(x, z) = exp(-gamma sum_k a_k^2 (x_k - z_k)^2)``. The factors a_k are learnt first: a_k^2 is
    the importance of column k in a forest of extra trees (the share of the fall in Gini impurity
    that its splits bring, classes balanced) plus a thousandth of the mean importance, all times one
    constant that leaves the sum of the columns' variances as it was.

    A Gaussian kernel counts every column alike, so that columns of noise drown the others; here
    they hardly count. The certificate is that of the optimum for the factors found; these are no
    optimum of anything. For up to 10,000 rows.

    Raises
    ------
    InvalidSetting
        For more rows.

    References
    ----------
    Kuo, Lee and Lin (SDM 2014), Large-scale kernel RankSVM, on columns scaled by importance.

    Geurts, Ernst and Wehenkel (2006), Extremely randomized trees.

    Use when
    --------
    Non-linear boundaries on up to a few thousand rows, where many features may be irrelevant.
    """

    title: ClassVar[str] = "Scaled kernel RankSVM"
    in_words: ClassVar[str] = "Kernel RankSVM with scaled features"
    solves: ClassVar[str] = ""
    follows_order: ClassVar[bool] = True

    gamma: float | str = width({})
    C: float = cost(100.0, range(-1, 6))
    n_trees: int = param(
        20,
        "Trees from which the weight of each column is estimated.",
        label="Trees",
        low=1,
        high=1_000,
    )
    random_state: int = param(0, "Random seed of the trees.", label="Seed", low=0)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N = positives + negatives
        a_tree = Work(numbers=8.0 * N * np.log2(max(2.0, N)) * features, steps=30)
        work = kernel_matrix(N, features) + Work(numbers=28.0 * N**2 + 3000.0 * N, steps=300)
        memory = NUMBER * (1.0 * N**2 + 3.0 * N * features)
        return cost_of(N, memory, work + a_tree.times(self.n_trees))

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse kernel matrices beyond memory; see the base class."""
        refuse_kernel_matrix(positives + negatives, MOST_KERNEL_ROWS, "method", WITHOUT_MATRIX)

    def _space(self, X: Array, positive: Mask, context: Context) -> Space:
        seed, monitor, weights = self.random_state, context.monitor, context.weights
        factors = importance_factors(X, positive, self.n_trees, seed, monitor, weights)
        Z, view = X * factors, scaled_view(factors)
        kernel = KernelSettings(kernel="rbf", gamma=self.gamma).resolve_kernel(Z, weights=weights)
        seen = Expansion.of(Z, kernel, monitor)
        return Expansion(seen.K, lambda beta: ViewedScorer(seen.scorer(beta), view))


def importance_factors(
    X: Array,
    positive: Mask,
    n_trees: int,
    seed: int,
    monitor: Monitor,
    weights: Array | None = None,
) -> Array:
    """Return a factor for each column, the root of its importance.

    The root, as distances are squared: they then are sums weighted by the importance. The columns'
    variances sum to what they did.

    Parameters
    ----------
    X : ndarray of shape (N, d)
    positive : ndarray of bool, shape (N,)
    n_trees, seed : int
    monitor : Monitor
        Receives the stage "importance of columns".
    weights : ndarray of shape (N,), optional
        Of the rows.

    Raises
    ------
    Stopped
        If the callback requests a stop.
    """
    from sklearn.ensemble import ExtraTreesClassifier

    cells, given = in_single(X, *extent(X)), np.ones(len(X))
    if weights is not None:
        given = np.round(weights / weights.min(), _DIGITS)  # whole numbers where they can be
    # Each class gets the weight of the other one. Quotients would balance them as well, but their
    # sums are rounded, and rounding would decide between splits that are equally good.
    balanced = given * np.where(positive, given[~positive].sum(), given[positive].sum())
    forest = ExtraTreesClassifier(
        n_estimators=0,
        min_weight_fraction_leaf=_LEAST_LEAF,
        max_features=1.0 / 3.0,
        random_state=seed,
        warm_start=True,
    )
    for grown in range(0, n_trees, _TREES_AT_ONCE):
        monitor.stage("importance of columns", grown / n_trees)
        forest.n_estimators = min(n_trees, grown + _TREES_AT_ONCE)
        forest.fit(cells, positive, balanced)
    with np.errstate(invalid="ignore"):  # where no split of any tree gains anything
        found = np.nan_to_num(forest.feature_importances_)
    factors = np.sqrt(found / max(float(found.mean()), 1e-300) + _LEAST)
    mean = np.average(X, axis=0, weights=given)
    spread = np.average((X - mean) ** 2, axis=0, weights=given)
    scaled = float((factors**2 * spread).sum())
    return np.asarray(factors * np.sqrt(float(spread.sum()) / scaled if scaled > 0 else 1.0))
