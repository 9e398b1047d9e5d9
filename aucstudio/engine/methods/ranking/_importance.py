"""What columns count: scales for a kernel, learnt by a forest of extra trees.

Symbols: h_k importance of column k, the share of the fall in Gini impurity that its splits bring.
"""

from __future__ import annotations

import numpy as np

from aucstudio.engine.methods.forest import extent, in_single
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.types import Array, Mask

_TREES_AT_ONCE = 5
# Of the weight of all rows, with the classes balanced: a number of rows would make a row of weight
# 2 differ from a row twice.
_LEAST_LEAF = 0.005
_DIGITS = 9
# What a column counts that no tree uses, as a share of the mean.
_LEAST = 1e-3


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
        Hears of the stage "importance of columns".
    weights : ndarray of shape (N,), optional
        Of the rows.

    Raises
    ------
    Stopped
        If the callback wants to stop.
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
