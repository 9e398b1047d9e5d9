"""RankSVM with a Gaussian kernel, exact, on columns that count what a forest finds in them."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from aucstudio.engine.cost import NUMBER, Cost, Work, cost_of, kernel_matrix
from aucstudio.engine.ensembles.viewed import ViewedScorer, scaled_view
from aucstudio.engine.features.spaces import Expansion, Space
from aucstudio.engine.fit import Context
from aucstudio.engine.kernels import KernelSettings, width
from aucstudio.engine.memory import refuse_kernel_matrix
from aucstudio.engine.methods.ranking._importance import importance_factors
from aucstudio.engine.methods.ranking._newton import PairNewton
from aucstudio.engine.methods.ranking.kernel_rank_svm import MOST_KERNEL_ROWS, WITHOUT_MATRIX
from aucstudio.engine.methods.settings import cost
from aucstudio.engine.params import param
from aucstudio.engine.types import Array, Mask


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ScaledRankSVM(PairNewton):
    """RankSVM with a Gaussian kernel on columns that count as much as a forest uses them.

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
    Kuo, Lee and Lin (2014), Large-scale kernel RankSVM; Geurts, Ernst and Wehenkel (2006),
    Extremely randomized trees.
    """

    key: ClassVar[str] = "scaled-rank-svm"
    title: ClassVar[str] = "Scaled kernel RankSVM"
    source: ClassVar[str] = (
        "Kuo, Lee and Lin (SDM 2014), Large-scale kernel RankSVM, on columns scaled by importance"
    )
    summary: ClassVar[str] = (
        "Kernel RankSVM with features scaled by their forest importance, which reduces the "
        "effect of noise."
    )
    in_words: ClassVar[str] = "Kernel RankSVM with scaled features"
    use_when: ClassVar[str] = (
        "Non-linear boundaries on up to a few thousand rows, where many features may be irrelevant."
    )
    solves: ClassVar[str] = ""
    follows_order: ClassVar[bool] = True

    gamma: float | str = width({})
    C: float = cost(
        100.0, "Weight of the mean pair loss against the size of the weights.", range(-1, 6)
    )
    n_trees: int = param(
        20,
        "Trees from which the weight of each column is estimated.",
        label="Trees",
        low=1,
        high=1_000,
    )
    random_state: int = param(0, "Where the drawing of trees starts.", label="Seed", low=0)

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
        kernel = KernelSettings(kernel="rbf", gamma=self.gamma).settle_kernel(Z, weights=weights)
        seen = Expansion.of(Z, kernel, monitor)
        return Expansion(seen.K, lambda beta: ViewedScorer(seen.scorer(beta), view))
