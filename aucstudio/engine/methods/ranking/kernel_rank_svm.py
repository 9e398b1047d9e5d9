"""Exact kernel RankSVM."""

from __future__ import annotations

from typing import ClassVar

from aucstudio.engine.cost import (
    NO_KERNEL,
    NUMBER,
    Cost,
    Work,
    cost_of,
    kernel_matrix,
    refuse_kernel_matrix,
)
from aucstudio.engine.features.maps import centred
from aucstudio.engine.features.spaces import Expansion, Space
from aucstudio.engine.fit import Context
from aucstudio.engine.kernels import KernelSettings
from aucstudio.engine.methods.ranking._newton import PairNewton
from aucstudio.engine.methods.settings import cost, tolerance
from aucstudio.engine.params import param
from aucstudio.engine.types import Array, Mask

MOST_KERNEL_ROWS = 10_000
WITHOUT_MATRIX = "use nbauc, which needs only n_landmarks of them, or rank-svm, which is linear"


class KernelRankSVM(KernelSettings, PairNewton):
    """RankSVM with the full kernel matrix: exact non-linear boundaries for up to 10,000 rows.

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))^2`` over all pairs of a
    positive and a negative, with f = sum_l beta_l k(row_l, .) and |w|^2 = beta' K beta. Papers
    sum over the pairs: C_paper = C / (m n).

    Newton's method runs in the kernel's space, on the weights beta: every step of its conjugate
    gradients is one product with K. For up to 10,000 rows; NBAUC is the approximation for more.

    Raises
    ------
    InvalidSetting
        For more rows.

    References
    ----------
    Kuo, Lee and Lin (SDM 2014), Large-scale kernel RankSVM.

    Chapelle and Keerthi (2010).

    Use when
    --------
    Non-linear boundaries on up to a few thousand rows, without an approximation.
    """

    title: ClassVar[str] = "Kernel RankSVM"
    in_words: ClassVar[str] = "Kernel RankSVM, exact"

    kernel: str = param(
        "rbf",
        "Kernel function.",
        label="Kernel",
        symbol="k",
        choices={
            "rbf": "Gaussian: near rows score alike",
            "poly": "polynomial: products of features",
            "linear": "a weight for each feature",
        },
        from_code=("precomputed",),
    )
    C: float = cost(100.0, range(-1, 6))

    tol: float = tolerance(1e-8)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N = positives + negatives
        work = kernel_matrix(N, features) + Work(numbers=28.0 * N**2 + 3000.0 * N, steps=300)
        return cost_of(N, NUMBER * (1.0 * N**2 + N * features), work, NO_KERNEL)

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse kernel matrices beyond memory; see the base class."""
        refuse_kernel_matrix(positives + negatives, MOST_KERNEL_ROWS, "kernel", WITHOUT_MATRIX)

    def _space(self, X: Array, positive: Mask, context: Context) -> Space:
        kernel = self.resolve_kernel(X, context.given, context.weights)
        rows = centred(X, context.weights) if kernel.is_linear else X
        return Expansion.of(rows, kernel, context.monitor)
