"""AUCsplit: a decision tree whose splits are chosen by AUC instead of impurity.

Symbols: p, q positives and negatives of a leaf; s, t scores of positives and negatives; P, Q
their numbers.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Mask
from aucstudio.engine.base import AUCClassifier
from aucstudio.engine.cost import Cost, Work, cost_of
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.methods.tree_growth import Limits, TreeGrower
from aucstudio.engine.monitor import Monitor, Stopped
from aucstudio.engine.params import param
from aucstudio.engine.scorers import EnsembleScorer
from aucstudio.notices import Notice, notice

_REPORTS_PER_DOUBLING = 16


class AUCSplit(AUCClassifier):
    """Grows one decision tree whose splits maximise the AUC.

    Minimises ``1 - mean_ij [1(s_i > t_j) + 1(s_i = t_j) / 2]``, one minus the AUC of the training
    rows, greedily: it adds the split that promises most, again and again, within the limits.
    There is no constant to convert.

    The quality of a split is the AUC of its two sides inside the node, (1 + |tpr - fpr|) / 2 with
    the shares of the node's positives and negatives that go left; the shares of the classes do
    not matter to it. Of all leaves that one is split next whose best split has the largest global
    gain, (p q / (P Q)) (local AUC - 1/2). A leaf scores (p + 1) / (p + q + 2). This draws small
    leaves towards 1/2 and can change their order, so that a split can also raise the objective:
    the tree is kept as it was grown, and the objective is that of its scores.

    Thresholds lie midway between neighbouring values. Rows with a gap (NaN) go to the side where
    they make the local AUC larger, or, if none of the node's training rows has one, to the side
    with more rows. Ties are broken by the order of the features, then the lower threshold, then
    gaps to the right, and between leaves by age. There is no optimum to approach: ``dual_gap_`` is
    None; ``n_iter_`` is the number of splits.

    Attributes
    ----------
    node_counts_ : ndarray of shape (n_nodes, 2)
        Positives and negatives among the training rows of each node of ``scorer_``.

    References
    ----------
    Ferri, Flach and Hernández-Orallo (ICML 2002), Learning decision trees using the area under the
    ROC curve.

    The best-first order and the treatment of gaps are not theirs.

    Use when
    --------
    When one readable tree matters more than the best ranking.
    """

    min_samples_leaf: int = param(2, "tree")
    max_depth: int = param(20)
    max_leaf_nodes: int | None = param(None)
    min_gain: float = param(1e-9)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d = positives + negatives, features
        levels = min(self.max_depth, math.log2(N))
        return cost_of(
            N, 8.0 * N * d + 80 * N, Work(numbers=N * d * (60 + 9 * levels), steps=N / 8)
        )

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        limits = Limits(self.min_samples_leaf, self.max_depth, self.max_leaf_nodes, self.min_gain)
        grower = TreeGrower(X, positive, limits, monitor)
        _grow(grower, monitor)
        self.node_counts_ = grower.counts()
        scorer, objective = _scorer(grower), _objective(grower)
        notes: tuple[Notice, ...] = ()
        if np.ptp(scorer.value[grower.leaves()]) == 0:
            notes = (notice("no_split"),)
        return Fit(scorer, objective, n_iter=grower.n_splits, notes=notes)


def _grow(grower: TreeGrower, monitor: Monitor) -> None:
    """Split until nothing is left to gain or the monitor wants to stop."""
    reported = 0
    try:
        while grower.split_strongest():
            # The objective takes as long as many splits of a large tree do.
            if grower.n_splits - reported > grower.n_splits / _REPORTS_PER_DOUBLING:
                reported = grower.n_splits
                if _report(grower, monitor):
                    return
    except Stopped:
        if not grower.n_splits:
            raise
        return
    if reported < grower.n_splits:
        _report(grower, monitor)


def _report(grower: TreeGrower, monitor: Monitor) -> bool:
    return monitor.step(grower.n_splits, _objective(grower), scorer=lambda: _scorer(grower))


def _scorer(grower: TreeGrower) -> EnsembleScorer:
    return grower.tree(laplace(grower.counts()))


def _objective(grower: TreeGrower) -> float:
    counts = grower.counts()[grower.leaves()]
    return misranked(counts, laplace(counts))


def laplace(counts: NDArray[np.int64]) -> Array:
    """Return the score (p + 1) / (p + q + 2) of nodes with the given counts, shape (n_nodes,)."""
    scores: Array = (counts[:, 0] + 1) / (counts.sum(axis=1) + 2)
    return scores


def misranked(counts: NDArray[np.int64], scores: Array) -> float:
    """Return 1 - AUC of leaves with the given counts and scores; ties count one half.

    Parameters
    ----------
    counts : ndarray of shape (n_leaves, 2)
        Positives and negatives, at least one of each in total.
    scores : ndarray of shape (n_leaves,)
    """
    _, group = np.unique(scores, return_inverse=True)
    p, q = np.bincount(group, counts[:, 0]), np.bincount(group, counts[:, 1])
    return float(q @ (np.cumsum(p) - p / 2) / (p.sum() * q.sum()))
