"""What columns count: scales for a kernel, learnt by a forest of extra trees.

Symbols: h_k importance of column k, the share of the fall in Gini impurity that its splits bring.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from aucstudio.engine.methods.baselines._forest import _extent, _single
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.types import Array, Mask

_TREES_AT_ONCE = 5
_ROWS_IN_A_LEAF = 3
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
    """Give a factor for each column, the root of its importance.

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
    cells, given = _single(X, *_extent(X)), np.ones(len(X)) if weights is None else weights
    balance = np.array([given[~positive].sum(), given[positive].sum()])
    forest = ExtraTreesClassifier(
        n_estimators=0,
        min_samples_leaf=_ROWS_IN_A_LEAF,
        max_features=1.0 / 3.0,
        random_state=seed,
        warm_start=True,
    )
    for grown in range(0, n_trees, _TREES_AT_ONCE):
        monitor.stage("importance of columns", grown / n_trees)
        forest.n_estimators = min(n_trees, grown + _TREES_AT_ONCE)
        forest.fit(cells, positive, given / balance[positive.astype(int)])
    found = forest.feature_importances_
    factors = np.sqrt(found / max(float(found.mean()), 1e-300) + _LEAST)
    spread = X.var(axis=0)
    scaled = float((factors**2 * spread).sum())
    return np.asarray(factors * np.sqrt(float(spread.sum()) / scaled if scaled > 0 else 1.0))
