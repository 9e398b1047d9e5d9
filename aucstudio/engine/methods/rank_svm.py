"""RankSVM, linear and exact with a kernel, by Newton's method.

A method of the family is a set of features; everything else is done by :class:`PairNewton`.

Symbols: M_ij = f(x_i) - f(z_j) margin of positive i over negative j; phi(x) features, f(x) =
<w, phi(x)>; K kernel matrix of the rows.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod

import numpy as np
import scipy

from aucstudio.engine.arrays import Array, Mask, Rows
from aucstudio.engine.base import WeighsRows
from aucstudio.engine.blocks import Passes
from aucstudio.engine.cost import (
    NO_KERNEL,
    NUMBER,
    Cost,
    Work,
    cost_of,
    kernel_newton,
    newton,
    newton_bytes,
    refuse_kernel_matrix,
)
from aucstudio.engine.ensembles.views import ViewedScorer, scaled_view
from aucstudio.engine.features import (
    Identity,
    Shifted,
    centred,
    rows_for_mean,
    shift_for_digits,
)
from aucstudio.engine.features.spaces import BlockVectors, Expansion, Space, Vectors
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.kernels import KernelSettings
from aucstudio.engine.methods.forest import extent, in_single
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import param
from aucstudio.engine.solvers.rank_newton import minimise
from aucstudio.notices import notice

_NOTHING_GAINED = 1e-13


@dataclasses.dataclass
class _Bench:
    """What the fits of a path share: features and the direction found last."""

    space: Space
    weights: Array | None = None


class PairNewton(WeighsRows):
    """The settings, the fit and the path along C that the family shares.

    A subclass gives the rows as vectors.
    """

    C: float
    tol: float = param(1e-5)

    @abstractmethod
    def _space(self, X: Rows, positive: Mask, context: Context) -> Space:
        """Return the rows as vectors."""

    def _block_space(self, rows: Passes, monitor: Monitor) -> Space:
        """Return rows that come in blocks as vectors, where the method has ``adds_up``."""
        raise NotImplementedError

    def _fit_blocks(self, rows: Passes, context: Context) -> Fit:
        space = self._block_space(rows, context.monitor)
        return self._solve(_Bench(space), rows.positive, context.monitor)

    def _fit(self, X: Rows, positive: Mask, context: Context) -> Fit:
        settings = {**self.get_params(deep=False), "C": None}
        bench = context.shared.once(settings, lambda: _Bench(self._space(X, positive, context)))
        return self._solve(bench, positive, context.monitor, context.weights)

    def _solve(
        self, bench: _Bench, positive: Mask, monitor: Monitor, weights: Array | None = None
    ) -> Fit:
        found = minimise(
            bench.space,
            positive,
            float(self.C),
            tol=self.tol,
            monitor=monitor,
            start=bench.weights,
            weights=weights,
        )
        bench.weights = found.weights
        # P(0) = C: if no direction gets below that, w = 0 is the optimum.
        nothing = self.C - found.objective <= _NOTHING_GAINED * self.C and not monitor.stopped
        return Fit.of(
            bench.space.scorer(found.weights),
            found,
            # Nearer than asked for where w = 0 is nearly as good; that is no promise.
            needed=max(found.needed, self.tol * found.objective),
            notes=(notice("no_direction"),) if nothing else (),
        )


class RankSVM(PairNewton):
    """Minimises the squared hinge loss of all positive–negative pairs with a linear score.

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))^2`` over all pairs of a
    positive and a negative, f(x) = <w, x>. Papers sum over the pairs: C_paper = C / (m n), and
    C_paper = 2 C / (m n) where they write C / 2 before the sum.

    No pair is formed: O(N log N + N d) for a step within an iteration. ``dual_gap_`` bounds how far
    ``objective_`` is from the optimum. Where the classes have the same mean, w = 0 is the
    optimum for every C; ``notes_`` says so. Rows may come in blocks: two passes over them for a
    step within an iteration, one more for the iteration, and one to begin with.

    References
    ----------
    Chapelle and Keerthi (Information Retrieval 2010), Efficient algorithms for ranking with SVMs.

    PRSVM+; Lee and Lin (2014), Large-scale linear RankSVM.

    Use when
    --------
    The linear method for many rows, up to millions: its time hardly depends on the number of
    pairs.
    """

    C: float = param(10.0)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d = positives + negatives, features
        return cost_of(N, newton_bytes(N, d, NUMBER), newton(N, d, NUMBER))

    def _space(self, X: Rows, positive: Mask, context: Context) -> Space:
        space = Vectors(X if scipy.sparse.issparse(X) else centred(X, context.weights))
        context.monitor.stage("features", 1.0)
        return space

    def _block_space(self, rows: Passes, monitor: Monitor) -> Space:
        mean = shift_for_digits(rows.take(rows_for_mean(len(rows))))
        return BlockVectors(rows, Shifted(Identity(), mean))


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

    kernel: str = param("rbf", "exact")
    C: float = param(100.0, "kernel")

    tol: float = param(1e-8)

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse kernel matrices beyond memory; see the base class."""
        refuse_kernel_matrix(positives + negatives, MOST_KERNEL_ROWS, "kernel", WITHOUT_MATRIX)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d = positives + negatives, features
        return cost_of(N, 8.0 * (N**2 + N * d), kernel_newton(N, d), NO_KERNEL)

    def _space(self, X: Array, positive: Mask, context: Context) -> Space:
        kernel = self.resolve_kernel(X, context.given, context.weights)
        rows = centred(X, context.weights) if kernel.is_linear else X
        return Expansion.of(rows, kernel, context.monitor)


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

    gamma: float | str = param("scale", "gaussian")
    C: float = param(100.0, "kernel")
    n_trees: int = param(20, "scaling")
    random_state: int = param(0, "trees")

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse kernel matrices beyond memory; see the base class."""
        refuse_kernel_matrix(positives + negatives, MOST_KERNEL_ROWS, "method", WITHOUT_MATRIX)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d = positives + negatives, features
        tree = Work(numbers=8 * N * math.log2(max(2, N)) * d, steps=30)
        work = kernel_newton(N, d) + tree.times(self.n_trees)
        return cost_of(N, 8.0 * (N**2 + 3 * N * d), work)

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
