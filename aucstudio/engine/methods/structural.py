"""Structural SVMs for the AUC and the partial AUC: SVM-AUC, SVM-pAUC and its tight variant.

A method here is a convex risk of the scores; everything else is done by :class:`StructuralSVM`.

Symbols: R(w) risk of the scores of direction w; P(w) = |w|^2 / 2 + C R(w).
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Hashable

import numpy as np

from aucstudio.engine.arrays import Array, Mask, Rows
from aucstudio.engine.base import AUCClassifier, WeighsRows
from aucstudio.engine.cost import (
    FEWER_LANDMARKS,
    NO_KERNEL,
    Cost,
    Work,
    cluster_bytes,
    cost_of,
    cutting_planes,
    kernel_matrix,
    landmarks,
)
from aucstudio.engine.features.spaces import (
    DEFAULT_LANDMARKS,
    MAX_EXACT_ROWS,
    Vectors,
    chosen,
)
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.kernels import KernelSettings
from aucstudio.engine.losses import Risk
from aucstudio.engine.losses.partial_auc import (
    DifferenceRisk,
    Range,
    StructuralRisk,
    TightRisk,
    widening,
)
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import param
from aucstudio.engine.solvers import Direction, cutting_plane
from aucstudio.engine.solvers.cuts import Cuts
from aucstudio.engine.solvers.cutting_plane import Meant
from aucstudio.notices import Notice, notice

_ALL_TIED = 1e-8
_FINEST_TOL = 1e-12
_AT_ZERO = 25  # iterations without a better w than 0, after which a wider range is tried
_NARROW = 0.05  # length of a range that has to be widened as a rule


@dataclasses.dataclass
class Workbench:
    """Features, cuts of each risk, which do not depend on C, and the direction found last."""

    space: Vectors
    cuts: dict[Hashable, Cuts] = dataclasses.field(default_factory=dict)
    weights: Array | None = None


class StructuralSVM(KernelSettings, AUCClassifier):
    """The settings, the fit and the path along C that the structural methods share."""

    n_landmarks: int | None = param(None, "structural")
    C: float = param(10.0, "structural")
    tol: float = param(1e-4)

    def _usual_cuts(self) -> int:
        """Return how many cuts a fit takes, typically."""
        return 50

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d, cuts = positives + negatives, features, self._usual_cuts()
        if self.kernel == "linear":
            return cost_of(N, 480.0 * d, cutting_planes(N, d, cuts))
        if self.n_landmarks is None and N <= MAX_EXACT_ROWS:
            work = kernel_matrix(N, d) + Work(products=0.7 * N**3, numbers=10 * N**2)
            work += cutting_planes(N, N, cuts)
            return cost_of(N, 8.0 * (3 * N**2 + 256 * N), work, NO_KERNEL)
        v = min(self.n_landmarks or DEFAULT_LANDMARKS, N)
        memory = 8 * (N * v + 1024 * v + 3 * v**2) + 0.3 * cluster_bytes(N, d, 1)
        work = landmarks(N, d, v, rounds=10, at_once=1) + cutting_planes(N, v, cuts)
        return cost_of(N, memory, work, FEWER_LANDMARKS)

    @abstractmethod
    def _solve(self, search: RiskMinimiser) -> Fit:
        """Minimise the method's own objective."""

    def _fit(self, X: Rows, positive: Mask, context: Context) -> Fit:
        settings = (self.kernel, self.gamma, self.degree, self.coef0, self.n_landmarks)
        given, weights = context.given, context.weights
        bench = context.shared.once(
            settings,
            lambda: Workbench(chosen(X, self, self.n_landmarks, context.monitor, given, weights)),
        )
        return self._solve(
            RiskMinimiser(bench, positive, self.C, self.tol, context.monitor, context.weights)
        )


class RiskMinimiser:
    """Minimises |w|^2 / 2 + C R(w), for one risk R after another on the same rows.

    Attributes
    ----------
    n_iter : int
        Iterations done for all of them.
    weights : ndarray or None
        Of the rows, for methods that weigh them.
    meant : callable or None
        Reported to the monitor instead of P; see :func:`cutting_plane.minimise`.
    """

    def __init__(
        self,
        bench: Workbench,
        positive: Mask,
        C: float,
        tol: float,
        monitor: Monitor,
        weights: Array | None = None,
    ) -> None:
        self.weights = weights
        self.features, self.C, self.monitor = bench.space.matrix, C, monitor
        self.n_iter = 0
        self.meant: Meant | None = None
        self._bench, self.positive = bench, positive
        known = bench.weights
        self._begin = known if known is not None and known.any() else None
        self._scale = float(np.sqrt(bench.space.mean_square()))
        # P(0) = C, and for a small C the best w is lower by a share of C scale^2 / 2 or so: the
        # tolerance has to be finer than that.
        self._asked, self._tol = tol, max(tol * min(1.0, C * self._scale**2), _FINEST_TOL)

    def minimise(
        self,
        name: Hashable,
        risk: Risk,
        start: Array | None = None,
        most_at_zero: int | None = None,
    ) -> Direction:
        """Minimise for a risk that is the same on the same rows whenever it has this name."""
        cuts = self._bench.cuts.setdefault(name, Cuts(self.features.shape[1]))
        found = self.go_on(risk, self._begin if start is None else start, cuts, most_at_zero)
        if self.monitor.stopped and self.ranks_nothing(found.weights):
            return self._mean_difference(risk)
        return found

    def go_on(
        self, risk: Risk, start: Array | None, cuts: Cuts, most_at_zero: int | None = None
    ) -> Direction:
        """Minimise from some weights and the cuts known."""
        found = cutting_plane.minimise(
            self.features,
            risk,
            self.C,
            tol=self._tol,
            monitor=self.monitor,
            done=self.n_iter,
            scorer=self._bench.space.scorer,
            start=start,
            cuts=cuts,
            meant=self.meant,
            most_at_zero=most_at_zero,
        )
        self.n_iter += found.n_iter
        return found

    def ranks_nothing(self, w: Array) -> bool:
        """Return whether w is 0 against its natural size: C scale if C is small, else 1 / scale."""
        least = _ALL_TIED * min(self.C * self._scale**2, 1.0)
        return bool(np.sqrt(w @ w) * self._scale <= least)

    def objective(self, w: Array, value: float) -> float:
        """Return P where the risk has this value."""
        return float(w @ w) / 2 + self.C * value

    def fit(self, found: Direction, notes: tuple[Notice, ...] = ()) -> Fit:
        """Make the result of a method."""
        self._bench.weights = found.weights
        return Fit.of(
            self._bench.space.scorer(found.weights),
            found,
            n_iter=self.n_iter,
            # The finer tolerance of a small C is an aim, no promise.
            needed=max(found.needed, self._asked * abs(found.objective)),
            notes=self._bench.space.notes + notes,
        )

    def _mean_difference(self, risk: Risk) -> Direction:
        """Return what a fit stopped before its first step has: the direction between the means."""
        share = np.where(self.positive, 1.0, 0.0)
        c = share / share.sum() - (1 - share) / (1 - share).sum()
        w = self.features.T @ c
        objective = self.objective(w, risk(self.features @ w)[0])
        # No risk is below 0, nor is |w|^2: the objective itself bounds how far the optimum is.
        return Direction(weights=w, objective=objective, gap=objective)


class RangeSVM(StructuralSVM):
    """Structural method for a range of FPR, which is widened where it is too narrow to fit.

    Attributes
    ----------
    fpr_range_used_ : tuple of two floats
    """

    fpr_range: tuple[float, float] = param((0.0, 0.1))

    def _usual_cuts(self) -> int:
        return 300 if self.fpr_range[1] - self.fpr_range[0] < _NARROW else 50

    @abstractmethod
    def _risk(self, positive: Mask, alpha: float, beta: float) -> Risk:
        """Return the method's surrogate of 1 - pAUC."""

    def _asked(self) -> Range:
        alpha, beta = self.fpr_range
        return float(alpha), float(beta)

    def _solve(self, search: RiskMinimiser) -> Fit:
        found, used = self._widened(search)
        self.fpr_range_used_ = used
        return search.fit(found, notes(self._asked(), used, search.ranks_nothing(found.weights)))

    def _widened(self, search: RiskMinimiser) -> tuple[Direction, Range]:
        """Minimise the surrogate over the range asked for, or the first wider one that ranks.

        It takes long to know that w = 0 is best. A range where it seems to be is left for a wider
        one; from that the search goes back as long as the narrower one ranks, too. Where w = 0 is
        best it is so for every lower beta, too: the n beta negatives whose scores count in full,
        the highest in each direction, are higher on average.
        """
        ranges, first = list(widening(self._asked())), 0
        for k, used in enumerate(ranges):
            brief = _AT_ZERO if used != (0.0, 1.0) else None
            found = self._over(search, used, most_at_zero=brief)
            if search.monitor.stopped or not search.ranks_nothing(found.weights):
                break
            if found.converged:
                first = k + 1
        # Another start leads away from w = 0, near which there can be too many planes.
        for asked in reversed(ranges[first : ranges.index(used)]):
            narrower = self._over(search, asked, found.weights)
            if search.monitor.stopped or search.ranks_nothing(narrower.weights):
                break
            found, used = narrower, asked
        return found, used

    def _over(
        self,
        search: RiskMinimiser,
        used: Range,
        start: Array | None = None,
        most_at_zero: int | None = None,
    ) -> Direction:
        """Minimise the surrogate over a range."""
        name, risk = (type(self).key, used), self._risk(search.positive, *used)
        return search.minimise(name, risk, start, most_at_zero)


def notes(asked: Range, used: Range, nothing: bool) -> tuple[Notice, ...]:
    """Return what became of the range."""
    if nothing:
        return (notice("no_direction"),)
    if used != asked:
        return (notice("range_widened", asked=asked, used=used),)
    return ()


class SVMAUC(WeighsRows, StructuralSVM):
    """Minimises the pairwise hinge loss by cutting planes, without listing pairs.

    Minimises ``1/2 |w|^2 + C R(w)`` with ``R(w) = max over pi in {0,1}^(m x n) of
    mean_(i,j) pi_ij (1 - w.(x_i - z_j)) = mean_(i,j) max(0, 1 - w.(x_i - z_j))``, the mean pair
    hinge, by cutting planes with one slack variable. It is the problem of
    :class:`~aucstudio.engine.AUCSVM` on all pairs. ``C`` is that of the 1-slack formulation;
    papers that sum over pairs write C / (m n). Joachims' program shifts scores by 1/4 on both
    sides, a margin of 1/2, which corresponds to 4 C here.

    ``dual_gap_`` bounds the distance of ``objective_`` from the optimum. Where the classes have the
    same mean, w = 0 is the optimum for every C; ``notes_`` reports it.

    References
    ----------
    Joachims (ICML 2005), A support vector method for multivariate performance measures.

    Joachims (KDD 2006), Training linear SVMs in linear time.

    Use when
    --------
    A pairwise SVM for tables with too many pairs to list.
    """

    def _usual_cuts(self) -> int:
        return 25

    def _solve(self, search: RiskMinimiser) -> Fit:
        from aucstudio.engine.losses.pairs import PairHinge  # the other methods need none of it

        risk = PairHinge(search.positive, weights=search.weights)
        # Cuts hold for the risk that they were made of: with these weights.
        weights = search.weights
        name = "pair hinge" if weights is None else ("pair hinge", weights.tobytes())
        found = search.minimise(name, risk)
        return search.fit(
            found, (notice("no_direction"),) if search.ranks_nothing(found.weights) else ()
        )


class SVMpAUC(RangeSVM):
    """Maximises a convex bound on the partial AUC between two false-positive rates.

    Minimises ``|w|^2 / 2 + C R(w)`` with ``R(w) = max over orderings pi of [sum_i sum_j g_j
    pi_i(j) - sum_ij pi_ij w.(x_i - z_j)] / (m n (beta - alpha))``, pi_i(j) being the j-th
    negative of the ordering: a convex upper bound of the normalised ``1 - pAUC(alpha, beta)``.
    ``C`` is the C of the paper (OP1). At [0, 1] R is the mean pair hinge ``mean_ij (1 - M_ij)_+``
    and the method is SVM-AUC.

    The surrogate charges every negative above a positive, also outside the range; for a narrow
    range w = 0, which ranks nothing, can therefore be optimal whatever C is. In that case, and
    where C is so small that w = 0 meets the tolerance, the range is widened to [0, 2 beta], again
    and again up to [0, 1] until w is not 0; ``fpr_range_used_`` and ``notes_`` say so, and
    ``objective_`` and ``dual_gap_`` are those of the range used.

    Attributes
    ----------
    fpr_range_used_ : tuple of two floats

    References
    ----------
    Narasimhan and Agarwal (ICML 2013), A structural SVM based approach for optimizing partial AUC.

    Use when
    --------
    When only low false-positive rates are acceptable, such as FPR below 0.1: it trains for
    that range, or for a wider one if no model ranks by it alone.
    """

    def _risk(self, positive: Mask, alpha: float, beta: float) -> Risk:
        return StructuralRisk(positive, alpha, beta)


_MAX_ROUNDS = 50


class SVMpAUCTight(RangeSVM):
    """SVM-pAUC with a closer bound: negatives outside the range have no cost.

    Minimises ``|w|^2 / 2 + C R(w)``. For a range [0, beta], ``R(w) = sum_i sum_j g_j max(0, 1 -
    w.(x_i - z_(j))) / (m n beta)``, z_(j) being the negative with the j-th highest score under
    w. That is convex, for it is the largest such sum over all choices of n beta negatives, and an
    upper bound of the normalised ``1 - pAUC``. For alpha > 0 there are two surrogates:

    - "convex": ``R(w) = sum_i max over r of sum_(j<=r) [g_j - f_j w.(x_i - z_(j))] / (m n (beta -
      alpha))`` over the ceil(n beta) highest negatives, f_j their parts inside [0, beta];
    - "dc": the sum above with the g of [alpha, beta], over m n (beta - alpha). It is not convex:
      the difference of two convex surrogates, which is made smaller in rounds from the solution of
      "convex"; each replaces the subtracted one by a tangent. ``objective_`` decreases from round
      to round; ``dual_gap_`` is None, for the point it ends at need not be the lowest.

    ``C`` is the C of the papers. The same C means more here than for SVM-pAUC: tune each.

    For a narrow range w = 0 can be optimal whatever C is: exactly where the mean of the positives
    is a mean of negatives in which none has more than the weight 1 / (n beta). The range is then
    widened as for SVM-pAUC, and "dc" starts from the solution of the widened range.

    Attributes
    ----------
    fpr_range_used_ : tuple of two floats

    References
    ----------
    Narasimhan and Agarwal (KDD 2013), SVM_pAUC^tight: a new support vector method for optimizing
    partial AUC based on a tight convex upper bound.

    Narasimhan and Agarwal (Neural Computation 2017), Support vector algorithms for optimizing the
    partial area under the ROC curve ("dc").

    Use when
    --------
    Narrow ranges, or ranges that do not start at 0; slower than SVM-pAUC and sometimes better
    there.
    """

    surrogate: str = param("convex")

    def _risk(self, positive: Mask, alpha: float, beta: float) -> Risk:
        return TightRisk(positive, alpha, beta)

    def _solve(self, search: RiskMinimiser) -> Fit:
        if self.surrogate == "convex" or self.fpr_range[0] == 0:
            return super()._solve(search)
        asked = self._asked()
        risk = DifferenceRisk(search.positive, *asked)
        search.meant = lambda w, scores: float(w @ w) / 2 + self.C * risk(scores)
        begun, used = self._widened(search)
        found = _descend(search, risk, begun, self.tol)
        collapsed = search.ranks_nothing(found.weights)
        self.fpr_range_used_ = used if collapsed else asked
        if not collapsed:
            return dataclasses.replace(search.fit(found), gap=None, finished=found.converged)
        if search.ranks_nothing(begun.weights):
            return search.fit(begun, notes(asked, used, nothing=True))
        return search.fit(begun, (notice("convex_surrogate_used", asked=asked, used=used),))


def _descend(
    search: RiskMinimiser, risk: DifferenceRisk, begun: Direction, tol: float
) -> Direction:
    """Lower the difference of convex functions, replacing the subtracted one by tangents.

    The convex-concave procedure (Yuille and Rangarajan 2003): each round's function lies above
    the one that is meant and touches it where the round begins. Cuts are kept from round to
    round, tilted by the difference of the tangents.
    """
    w = begun.weights
    scores = search.features @ w
    tangent, cuts = risk.tangent(scores), Cuts(len(w))
    objective, finished = search.objective(w, risk(scores)), False
    for _ in range(_MAX_ROUNDS):
        if finished or search.monitor.stopped:
            break
        w = search.go_on(risk.above(tangent), w, cuts).weights
        scores, before = search.features @ w, objective
        objective = search.objective(w, risk(scores))
        finished = before - objective <= tol * abs(objective)
        former, tangent = tangent, risk.tangent(scores)
        cuts.tilt(search.features.T @ (former[0] - tangent[0]), former[1] - tangent[1])
    # No bound is known for a function that is not convex.
    needed = np.inf if finished else 0.0
    return Direction(weights=w, objective=objective, needed=needed, n_iter=search.n_iter)
