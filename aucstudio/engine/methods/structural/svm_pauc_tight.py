"""The tight surrogates of the partial AUC: only negatives inside the range are charged.

Symbols: as in :mod:`~aucstudio.engine.methods.structural._range`; f_j the part of negative j
inside [0, beta], 1 but for the last of the ceil(n beta) highest; R_0(beta) the surrogate of
[0, beta].
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from aucstudio.engine.base import Array, Fit, Mask
from aucstudio.engine.methods.structural._range import Range, RangeSVM, notes, spell
from aucstudio.engine.methods.structural._training import Search
from aucstudio.engine.params import param
from aucstudio.engine.roc import rank_weights
from aucstudio.engine.solvers.cuts import Cuts
from aucstudio.engine.solvers.line_search import Risk
from aucstudio.engine.solvers.solution import Direction

_MAX_ROUNDS = 50


class TightRisk:
    """The tight convex surrogate of 1 - pAUC as a function of the scores.

    R(u) = sum_i max over r of sum_{j<=r} [g_j - f_j (s_i - v_(j))] / (m n (beta - alpha)), j
    running over the ceil(n beta) highest negatives: the structural surrogate of these alone, which
    is the maximum over all choices of so many negatives. At least the normalised 1 - pAUC, and 1
    where all scores are equal. With alpha = 0, where g = f, it is
    sum_ij g_j (1 - M_i(j))_+ / (m n beta).

    One isotonic regression c^ (decreasing) of v_(j) + g_j / f_j with weights f_j answers for all
    positives: r_i = #{j : c^_j > s_i}. O(N + k log k) time for k negatives in the range.

    Parameters
    ----------
    positive : ndarray of bool, shape (N,)
    alpha, beta : float
        0 <= alpha < beta <= 1; the ends may cut a negative in parts.

    References
    ----------
    Narasimhan and Agarwal (KDD 2013), SVM_pAUC^tight: the truncated feature map. The weights f
    extend it to ranges that cut a negative in parts, as the authors' program does for [0, beta].
    """

    def __init__(self, positive: Mask, alpha: float, beta: float) -> None:
        self._positives = np.flatnonzero(positive)
        self._negatives = np.flatnonzero(~positive)
        f = rank_weights(len(self._negatives), 0.0, beta)
        self._kept = np.count_nonzero(f)
        self._f = f[: self._kept]
        self._g = rank_weights(len(self._negatives), alpha, beta)[: self._kept]
        self._rise = self._g / self._f
        self._mass = np.append(0.0, np.cumsum(self._f))
        self._decreasing = alpha == 0.0
        self._total = len(self._positives) * float(self._g.sum())

    def __call__(self, scores: Array) -> tuple[float, Array]:
        """Give the risk and a subgradient with respect to the scores, shape (N,)."""
        s, t = scores[self._positives], -scores[self._negatives]
        top = self._highest(t)
        v = -t[top]
        r = self._counts(v + self._rise, s)
        q = len(s) - np.cumsum(np.bincount(r, minlength=self._kept + 1)[:-1])
        gradient = np.zeros(len(scores))
        gradient[self._positives] = -self._mass[r]
        gradient[self._negatives[top]] = q * self._f
        value = q @ (self._g + self._f * v) - self._mass[r] @ s
        return max(float(value), 0.0) / self._total, gradient / self._total

    def _highest(self, t: Array) -> NDArray[np.intp]:
        """List the k negatives of highest score, in descending order."""
        if self._kept == len(t):
            return np.argsort(t)
        top = np.argpartition(t, self._kept - 1)[: self._kept]
        return top[np.argsort(t[top])]

    def _counts(self, c: Array, s: Array) -> NDArray[np.intp]:
        fitted: Array = c
        if not self._decreasing:
            fitted = isotonic_regression(c, weights=self._f, increasing=False).x
        return np.searchsorted(-fitted, -s)


class DifferenceRisk:
    """The tight surrogate of [alpha, beta], alpha > 0, as a difference of two convex ones.

    R(u) = (1 + rho) R_0(beta) - rho R_0(alpha) with rho = alpha / (beta - alpha), which is
    sum_ij g_j (1 - M_i(j))_+ / (m n (beta - alpha)): not convex, but it charges only what is
    inside the range.

    References
    ----------
    Narasimhan and Agarwal (Neural Computation 2017), SVM_pAUC^dc.
    """

    def __init__(self, positive: Mask, alpha: float, beta: float) -> None:
        self.rho = alpha / (beta - alpha)
        self._whole = TightRisk(positive, 0.0, beta)
        self._left = TightRisk(positive, 0.0, alpha)

    def __call__(self, scores: Array) -> float:
        """Give the risk."""
        return (1 + self.rho) * self._whole(scores)[0] - self.rho * self._left(scores)[0]

    def tangent(self, scores: Array) -> tuple[Array, float]:
        """Give (c, k) so that c.u + k <= rho R_0(alpha)(u) for all u, with equality here."""
        value, c = self._left(scores)
        return self.rho * c, self.rho * (value - float(c @ scores))

    def above(self, tangent: tuple[Array, float]) -> Risk:
        """Give the convex risk that is at least this one, and equal where the tangent touches."""
        slope, offset = tangent

        def risk(scores: Array) -> tuple[float, Array]:
            value, c = self._whole(scores)
            raised = (1 + self.rho) * value - float(slope @ scores) - offset
            return max(raised, 0.0), (1 + self.rho) * c - slope

        return risk


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class SVMpAUCTight(RangeSVM):
    """Structural SVM for the partial AUC that charges no negative outside the range.

    Minimises ``|w|^2 / 2 + C R(w)``. For a range [0, beta], ``R(w) = sum_i sum_j g_j max(0, 1 -
    w.(x_i - z_(j))) / (m n beta)``, z_(j) being the negative with the j-th highest score under
    w. That is convex, for it is the largest such sum over all choices of n beta negatives, and an
    upper bound of the normalised ``1 - pAUC``. For alpha > 0 there are two surrogates:

    - "convex": ``R(w) = sum_i max over r of sum_(j<=r) [g_j - f_j w.(x_i - z_(j))] / (m n (beta -
      alpha))`` over the ceil(n beta) highest negatives, f_j their parts inside [0, beta];
    - "dc": the sum above with the g of [alpha, beta], over m n (beta - alpha). It is not convex:
      the difference of two convex surrogates, which is made smaller in rounds from the solution of
      "convex"; each replaces the subtracted one by a tangent. ``objective_`` decreases from round
      to round; ``gap_`` is None, for the point it ends at need not be the lowest.

    ``C`` is the C of the papers. The same C means more here than for SVM-pAUC: tune each.

    For a narrow range w = 0 can be optimal whatever C is: exactly where the mean of the positives
    is a mean of negatives in which none has more than the weight 1 / (n beta). The range is then
    widened as for SVM-pAUC, and "dc" starts from the solution of the widened range.

    Parameters
    ----------
    kernel, gamma, degree, coef0, n_landmarks
        As in :class:`~aucstudio.engine.methods.structural.svm_pauc.SVMpAUC`.
    C : float
        Weight of the partial-AUC loss.
    tol : float
        Relative gap to reach; for "dc" in each round, and the decrease that ends the rounds.
    fpr_range : tuple of two floats
        alpha and beta.
    surrogate : {"convex", "dc"}
        Only for alpha > 0.

    Attributes
    ----------
    fpr_range_used_ : tuple of two floats

    References
    ----------
    Narasimhan and Agarwal (KDD 2013), SVM_pAUC^tight: a new support vector method for optimizing
    partial AUC based on a tight convex upper bound; Narasimhan and Agarwal (Neural Computation
    2017), Support vector algorithms for optimizing the partial area under the ROC curve ("dc").
    """

    key: ClassVar[str] = "svm-pauc-tight"
    title: ClassVar[str] = "SVM-pAUC tight"
    solves: ClassVar[str] = "tight partial AUC"
    source: ClassVar[str] = (
        "Narasimhan and Agarwal (KDD 2013), SVM_pAUC^tight: a new support vector method for "
        "optimizing partial AUC based on a tight convex upper bound"
    )
    summary: ClassVar[str] = (
        "Like SVM-pAUC, by a bound that lies closer to the partial AUC: negatives outside the "
        "range cost nothing."
    )
    in_words: ClassVar[str] = "SVM for an FPR range, tight bound"
    trains_for: ClassVar[str] = "pAUC"
    use_when: ClassVar[str] = (
        "As SVM-pAUC, for narrow ranges or ranges that do not begin at 0; slower and "
        "sometimes better there."
    )

    surrogate: str = param(
        "convex",
        "What stands for the loss where the range does not begin at 0.",
        label="Surrogate",
        choices={
            "convex": "convex: one optimum, charges all negatives up to β",
            "dc": "difference of convex: only negatives between α and β, a local optimum",
        },
    )

    def _risk(self, positive: Mask, alpha: float, beta: float) -> Risk:
        return TightRisk(positive, alpha, beta)

    def _solve(self, search: Search) -> Fit:
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
            return dataclasses.replace(search.fit(found), gap=None, settled=found.converged)
        if search.ranks_nothing(begun.weights):
            return search.fit(begun, notes(asked, used, nothing=True))
        return search.fit(begun, (_collapsed(asked, used),))


def _descend(search: Search, risk: DifferenceRisk, begun: Direction, tol: float) -> Direction:
    """Lower the difference of convex functions, replacing the subtracted one by tangents.

    The convex-concave procedure (Yuille and Rangarajan 2003): each round's function lies above
    the one that is meant and touches it where the round begins. Cuts are kept from round to
    round, tilted by the difference of the tangents.
    """
    w = begun.weights
    scores = search.features @ w
    tangent, cuts = risk.tangent(scores), Cuts(len(w))
    objective, settled = search.objective(w, risk(scores)), False
    for _ in range(_MAX_ROUNDS):
        if settled or search.monitor.stopped:
            break
        w = search.go_on(risk.above(tangent), w, cuts).weights
        scores, before = search.features @ w, objective
        objective = search.objective(w, risk(scores))
        settled = before - objective <= tol * abs(objective)
        former, tangent = tangent, risk.tangent(scores)
        cuts.tilt(search.features.T @ (former[0] - tangent[0]), former[1] - tangent[1])
    # No bound is known for a function that is not convex.
    needed = np.inf if settled else 0.0
    return Direction(weights=w, objective=objective, needed=needed, n_iter=search.n_iter)


def _collapsed(asked: Range, used: Range) -> str:
    return (
        f"For the FPR range {spell(asked)} the difference of convex surrogates led to equal "
        f"scores for all rows, so the convex one over {spell(used)} was used."
    )
