"""Pair SVMs: AUC-SVM, ROC-SVM and SAUC-SVM.

A method here is its kernel, as a matrix K or a factor F, and a margin rho; pairs, solvers and
reporting are shared.

Symbols: M_ij = f(x_i) - f(z_j) margin of positive i over negative j; beta = A^T a weights of the
data rows (a multipliers of the pairs, A their incidence matrix).

Symbols of SAUC-SVM: Sigma covariance of all difference vectors, the sum of the class covariances
with divisors m and n; lambda its weight; K kernel matrix of all rows, K = F F^T; R centring within
classes over the class sizes, so that Sigma = F^T R F; L L^T = I + lambda Sigma, T = L^-T; v = L^T w
solver's direction, |v|^2 = |w|^2 + lambda w' Sigma w; beta = A^T a, c weights of the data rows.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from aucstudio.engine.arrays import Array, Index, Mask, Rows
from aucstudio.engine.base import AUCClassifier, WeighsRows
from aucstudio.engine.cost import (
    NEIGHBOURS,
    NO_KERNEL,
    NUMBER,
    Advice,
    Cost,
    Work,
    cost_of,
    cutting_planes,
    kernel_matrix,
    refuse_beyond_memory,
)
from aucstudio.engine.features import centred
from aucstudio.engine.features.spaces import Expansion, Vectors, exact
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.kernels import Kernel, KernelSettings
from aucstudio.engine.linalg import COPY, cholesky, chunks, gram, product
from aucstudio.engine.losses.pairs import AllPairs, PairHinge, PairList, Pairs, neighbour_pairs
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import InvalidSetting, param
from aucstudio.engine.scorers import Scorer
from aucstudio.engine.solvers import cutting_plane
from aucstudio.engine.solvers.pair_descent import solve_pair_descent
from aucstudio.engine.solvers.pair_interior_point import PairSolution, solve_box_qp
from aucstudio.notices import notice, text

MAX_DENSE_PAIRS = 5_000_000
MIN_DESCENT_ROWS = 500
MAX_SUPPORT_PAIRS = 5_000
CUTTING_PLANE_TOL = 1e-4

_FEWER_NEIGHBOURS: Advice = (
    "n_neighbors",
    (
        "use fewer neighbours, or the linear kernel without n_neighbors, which takes any "
        "number of pairs"
    ),
)
_BYTES_PER_PAIR = 72  # eight numbers and the part of temporaries
_USUAL_CUTS, _USUAL_STEPS, _VISITS = 5, 14, 5  # of solvers, for estimates of time
_SUPPORT_SHARE = 1e-3  # an interior point leaves every multiplier above 0


class PairSVM(KernelSettings, AUCClassifier):
    """The settings and the fit that all pair SVMs share.

    A subclass may override :meth:`_space` and what goes with it (another kernel) and :meth:`_rho`
    (another margin).
    """

    C: float = param(10.0)
    n_neighbors: int | None = param(None)
    tol: float = param(1e-6)

    def _rho(self) -> float:
        return 1.0

    def _space(self, X: Array, positive: Mask, rows: Index, context: Context) -> Vectors:
        """Return the chosen rows as vectors."""
        return exact(*self._compared(X, rows, context), context.monitor)

    def _kernel_space(self, X: Array, positive: Mask, rows: Index, context: Context) -> Expansion:
        """Return the chosen rows in the space of their kernel."""
        return Expansion.of(*self._compared(X, rows, context), context.monitor)

    def _space_of_all(self, X: Rows, positive: Mask, context: Context) -> Vectors:
        """Return all rows as vectors for the linear kernel; no copy where none is needed."""
        return Vectors(X if scipy.sparse.issparse(X) else centred(X, context.weights))

    def _compared(self, X: Array, rows: Index, context: Context) -> tuple[Array, Kernel]:
        kernel = self.resolve_kernel(X, context.given, context.weights)
        # Where all rows shift alike, differences stay, and digits lost to a far origin come back.
        mean = np.average(X, axis=0, weights=context.weights)
        return (X - mean if kernel.is_linear else X)[rows], kernel

    def _needs_kernel_matrix(self, X: Array, n_rows: int) -> bool:
        return self.kernel != "linear" or X.shape[1] > n_rows

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse all pairs under a kernel beyond memory; see the base class."""
        if self.n_neighbors is None and self.kernel != "linear":
            cost = self.estimate(positives, negatives, features)
            refuse_beyond_memory(cost, f"{positives * negatives:,} pairs under a kernel")

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d, pairs = positives + negatives, features, float(positives * negatives)
        if self.n_neighbors is None and pairs > MAX_DENSE_PAIRS and self.kernel == "linear":
            planes = cutting_planes(N, d, _USUAL_CUTS)
            return cost_of(N, NUMBER * self._copies() * N * d, planes)
        used, work, advice = N, Work(), NEIGHBOURS
        if self.n_neighbors is not None:
            work, advice = Work(numbers=8 * pairs, products=pairs * d), NO_KERNEL
            pairs = 0.75 * positives * min(self.n_neighbors, negatives)
            used = int(0.75 * positives + min(0.75 * negatives, pairs))
        taken = self._cost_of_pairs(N, d, used, pairs, advice)
        return dataclasses.replace(taken, seconds=(taken.seconds or 0.0) + work.seconds)

    def _cost_of_pairs(self, N: int, d: int, used: int, pairs: float, advice: Advice) -> Cost:
        """Estimate memory and time of a fit to so many pairs of so many rows takes."""
        if self.kernel != "linear" or d > used:
            matrices = self._kernel_numbers(used, N)
            work = kernel_matrix(used, d) + Work(products=(matrices - used**2) * used, steps=300)
            work += Work(numbers=min(_VISITS * pairs * used, 0.3 * used**3))
            memory = matrices + 512 * used + 2.0 * used * d + (2.0 * used * d if d > used else 0)
            return cost_of(N, NUMBER * (memory + 6 * pairs), work, advice)
        work = Work(products=2 * pairs * d + used * d**2, numbers=60 * pairs, steps=20)
        memory = NUMBER * ((2.0 + self._copies()) * N * d + 3.0 * d**2) + _BYTES_PER_PAIR * pairs
        return cost_of(N, memory, work.times(_USUAL_STEPS), advice)

    def _copies(self) -> float:
        """Return the number of copies of the table that the linear kernel makes, centring aside."""
        return 0.0

    def _kernel_numbers(self, used: int, rows: int) -> float:
        """Return how many numbers kernel matrices of the rows used, or of all, hold at the peak."""
        return (3.0 if self.n_neighbors is None else 1.0) * used**2

    def stays_sparse(self) -> bool:
        return super().stays_sparse() and self.n_neighbors is None

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        if scipy.sparse.issparse(X):
            return self._fit_by_cutting_planes(X, positive, context)
        if self.n_neighbors is not None:
            return self._fit_neighbours(X, positive, self.n_neighbors, context)
        pairs = AllPairs(positive, context.weights)
        if pairs.count > MAX_DENSE_PAIRS and self.kernel == "linear":
            return self._fit_by_cutting_planes(X, positive, context)
        return self._fit_pairs(X, positive, np.arange(len(X)), pairs, context)

    def _fit_neighbours(self, X: Array, positive: Mask, k: int, context: Context) -> Fit:
        if context.weights is not None:
            raise InvalidSetting("n_neighbors", text("neighbours_with_weights"))
        if context.given is not None:
            raise InvalidSetting("n_neighbors", text("neighbours_without_rows"))
        report = functools.partial(context.monitor.stage, "nearest neighbours")
        rows, pairs = neighbour_pairs(X, positive, k, report).compact()
        cost = self._cost_of_pairs(len(X), X.shape[1], len(rows), pairs.count, _FEWER_NEIGHBOURS)
        refuse_beyond_memory(cost, f"{pairs.count:,} pairs of neighbours")
        return self._fit_pairs(X, positive, rows, pairs, context)

    def _fit_pairs(
        self, X: Array, positive: Mask, rows: Index, pairs: Pairs, context: Context
    ) -> Fit:
        monitor = context.monitor
        if isinstance(pairs, PairList) and self._needs_kernel_matrix(X, len(rows)):
            space = self._kernel_space(X, positive, rows, context)
            return self._descend(rows, pairs, space, monitor)
        vectors = self._space(X, positive, rows, context)
        if _suits_descent(vectors.matrix):
            dual = vectors.dual(functools.partial(monitor.stage, "kernel matrix"))
            return self._descend(rows, pairs, dual, monitor)
        settings = self._for_solver(pairs, monitor)
        done = solve_box_qp(pairs, vectors.matrix, scorer=vectors.scorer, **settings)
        return self._report(done, vectors.scorer(done.weights, done.coefficients), rows, pairs)

    def _descend(self, rows: Index, pairs: Pairs, space: Expansion, monitor: Monitor) -> Fit:
        settings = self._for_solver(pairs, monitor)
        done = solve_pair_descent(pairs, space.K, scorer=space.scorer, **settings)
        return self._report(done, space.scorer(done.coefficients), rows, pairs)

    def _for_solver(self, pairs: Pairs, monitor: Monitor) -> dict[str, Any]:
        bound = self.C / pairs.weight
        return {"c": bound, "margin": self._rho(), "tol": self.tol, "monitor": monitor}

    def _report(self, done: PairSolution, scorer: Scorer, rows: Index, pairs: Pairs) -> Fit:
        i, j = pairs.rows(_strongest(done.multipliers.ravel(), self.C / pairs.weight))
        return Fit.of(scorer, done, support_pairs=(rows[i], rows[j]))

    def _fit_by_cutting_planes(self, X: Rows, positive: Mask, context: Context) -> Fit:
        tol = max(self.tol, CUTTING_PLANE_TOL)
        risk, monitor = PairHinge(positive, self._rho(), context.weights), context.monitor
        space = self._space_of_all(X, positive, context)
        done = cutting_plane.minimise(
            space.matrix, risk, self.C, tol=tol, monitor=monitor, scorer=space.scorer
        )
        count = AllPairs(positive).count
        return Fit.of(
            space.scorer(done.weights),
            done,
            # The pairs inside the margin are the ones at their bound.
            support_pairs=risk.hardest(space.scores(done.weights), MAX_SUPPORT_PAIRS),
            notes=(notice("cutting_planes", pairs=int(count), tol=float(tol)),),
        )


def _suits_descent(F: Array) -> bool:
    """Return whether coordinate descent solves all pairs sooner than the interior point.

    Descent moves along whole rows of the kernel matrix, whatever its rank r; the interior point
    pays r^3 a step, and r for each pair. It wins if the rank is high, five to fifteen times. Of
    few rows the interior point is done at once, and no large C ever slows it down. (A list has
    few pairs for its rows: there, descent wins at any rank.)
    """
    return len(F) >= MIN_DESCENT_ROWS and 2 * F.shape[1] > len(F)


def _strongest(a: Array, bound: float) -> Index:
    """Return the positions of the largest multipliers, in descending order."""
    excess = len(a) - MAX_SUPPORT_PAIRS
    chosen = np.argpartition(a, excess)[excess:] if excess > 0 else np.arange(len(a))
    chosen = chosen[a[chosen] > _SUPPORT_SHARE * bound]
    return chosen[np.argsort(-a[chosen], kind="stable")]


class AUCSVM(WeighsRows, PairSVM):
    """Maximises the margin between positives and negatives over all pairs (pairwise hinge loss).

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))`` over the pairs used,
    f(x) = <w, phi(x)>: all m n of them, or with ``n_neighbors`` the k nearest negatives of the
    positives near the border. ``objective_`` is this value for the scorer returned.

    Papers write a constant for each pair: C_paper = C / (number of pairs).

    The dual is solved by an interior point or, for pairs of neighbours under a kernel and for all
    pairs of many rows, by coordinate descent; neither forms the pair Gram matrix. Cutting planes
    solve the same problem, to 1e-4 of the objective at the finest, on sparse rows and, with the
    linear kernel, on more than 5,000,000 pairs.

    Attributes
    ----------
    support_pairs_ : tuple of two index arrays or None
        Rows (positive, negative) of the pairs with the largest multipliers, at most 5,000, all
        above a thousandth of the bound; None after cutting planes.

    Raises
    ------
    InvalidSetting
        If the pairs, or the kernel matrix, would not fit in memory.

    References
    ----------
    Brefeld and Scheffer, AUC maximizing support vector learning (2005), as stated in the paper on
    structure-embedded AUC-SVM.

    Use when
    --------
    Small and medium tables where the hardest pairs should decide. With many rows, compare each
    positive with its nearest negatives only.
    """


class ROCSVM(WeighsRows, PairSVM):
    """AUC-SVM with an adjustable margin; only the ratio of C to the margin changes a ranking.

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, margin - (f(x_i) - f(z_j)))`` over the pairs used,
    f(x) = <w, phi(x)>: all m n of them, or with ``n_neighbors`` those near the border, as in the
    paper.

    The margin is redundant with C: (margin, C) gives ``margin`` times the scores of
    (1, C / margin), so that only C / margin changes a ranking, and margin 1 is AUC-SVM.

    References
    ----------
    Rakotomamonjy (2004), Optimizing area under ROC curve with SVMs.

    Eqs. 3 and 5.

    Use when
    --------
    Reproduces published margins; on most tables AUC-SVM ranks equally well.
    """

    margin: float = param(1.0)

    def _rho(self) -> float:
        return float(self.margin)


class SAUCSVM(PairSVM):
    """AUC-SVM with a penalty on the spread of scores within each class; for sampled pairs.

    Minimises ``1/2 |w|^2 + structure / 2 w' Sigma w + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))``
    over the pairs used, f(x) = <w, phi(x)>. Sigma is the covariance of the difference vectors of
    all pairs, used or not: w' Sigma w is the variance of the positives' scores plus that of the
    negatives' (divisors m and n).

    It is the AUC-SVM of the kernel K (I + structure R K)^-1, which is what is solved, on a factor
    of it; the scorer is stored in terms of the ordinary kernel. With ``structure`` 0 it is AUC-SVM.

    References
    ----------
    Wang, Chen and Xue, Structure-embedded AUC-SVM.

    Eqs. 7 to 20. Eq. 20 lacks a lambda, and the inverses of eqs. 17 to 20 do not exist as printed.

    Use when
    --------
    Few rows or few sampled pairs: it also uses the spread of the rows within each class.
    """

    structure: float = param(1.0)

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse kernel matrices beyond memory; neighbours use few rows, the covariance all."""
        if self.structure > 0 and self.kernel != "linear":
            what = f"the covariance of {positives + negatives:,} rows under this kernel"
            refuse_beyond_memory(self.estimate(positives, negatives, features), what)
        super().check_size(positives, negatives, features)

    def _copies(self) -> float:
        return super()._copies() + (0.0 if self.structure == 0 else 2.0)

    def _kernel_numbers(self, used: int, rows: int) -> float:
        return super()._kernel_numbers(used, rows) if self.structure == 0 else 4.6 * rows**2

    def _space(self, X: Array, positive: Mask, rows: Index, context: Context) -> Vectors:
        if self.structure == 0:
            return super()._space(X, positive, rows, context)
        base = super()._space(X, positive, np.arange(len(X)), context)
        T = _whitener(base.matrix, positive, self.structure, context.monitor)
        F = base.matrix if len(rows) == len(X) else base.matrix[rows]
        whitened = product(F, T, functools.partial(context.monitor.stage, "whitening"))

        def scorer(v: Array, near: Array | None) -> Scorer:
            w = T @ v  # directions among the rows before
            if near is None:
                return base.scorer(w)
            c = -self.structure * _spread(base.scores(w), positive)
            c[rows] += near
            return base.scorer(w, c)

        return Vectors(whitened, scorer)

    def _kernel_space(self, X: Array, positive: Mask, rows: Index, context: Context) -> Expansion:
        if self.structure == 0:
            return super()._kernel_space(X, positive, rows, context)
        look = functools.partial(context.monitor.stage, "kernel matrix")
        return self._space(X, positive, rows, context).dual(look)

    def _space_of_all(self, X: Rows, positive: Mask, context: Context) -> Vectors:
        if self.structure == 0:
            return super()._space_of_all(X, positive, context)
        return self._space(X, positive, np.arange(len(X)), context)


def _whitener(F: Array, positive: Mask, weight: float, monitor: Monitor) -> Array:
    """Return T with T T^T = (I + lambda Sigma)^-1, shape (r, r), upper triangular."""
    pause = functools.partial(monitor.stage, "class covariance")
    S = weight * _covariance(F, positive, pause)
    S[np.diag_indices_from(S)] += 1.0
    pause()
    return cholesky(S).whitener()


def _covariance(F: Array, positive: Mask, pause: Callable[[], None]) -> Array:
    """Return Sigma = F^T R F, shape (r, r)."""
    Z, r = np.empty_like(F), F.shape[1]
    for rows in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        parts = [rows[chunk] for chunk in chunks(len(rows), COPY * r)]
        mean = np.zeros(r)
        for part in parts:
            mean += F[part].sum(axis=0) / len(rows)
            pause()
        for part in parts:
            Z[part] = (F[part] - mean) / np.sqrt(len(rows))
            pause()
    return gram(Z, pause=pause)


def _spread(scores: Array, positive: Mask) -> Array:
    """Apply R: take each score from the mean of its class, divide by the size of the class."""
    spread = np.empty_like(scores)
    for rows in (positive, ~positive):
        spread[rows] = (scores[rows] - scores[rows].mean()) / np.count_nonzero(rows)
    return spread
