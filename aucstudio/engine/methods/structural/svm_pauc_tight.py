"""SVM-pAUC tight: bounds in which only negatives inside the range have a loss.

Symbols: as in :mod:`~aucstudio.engine.losses.structural`.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from aucstudio.engine.fit import Fit
from aucstudio.engine.losses import Risk
from aucstudio.engine.losses.structural import DifferenceRisk, TightRisk
from aucstudio.engine.methods.settings import Range
from aucstudio.engine.methods.structural._training import RangeSVM, RiskMinimiser, notes
from aucstudio.engine.params import param
from aucstudio.engine.solvers.cuts import Cuts
from aucstudio.engine.solvers.solution import Direction
from aucstudio.engine.types import Mask
from aucstudio.notices import Notice, notice

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

    title: ClassVar[str] = "SVM-pAUC tight"
    solves: ClassVar[str] = "tight partial AUC"
    in_words: ClassVar[str] = "Structural SVM for partial AUC, tight bound"
    trains_for: ClassVar[str] = "pAUC"

    surrogate: str = param(
        "convex",
        "Surrogate of the loss where the range does not begin at 0.",
        label="Surrogate",
        choices={
            "convex": "convex: one optimum, charges all negatives up to β",
            "dc": "difference of convex: only negatives between α and β, a local optimum",
        },
    )

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
        return search.fit(begun, (_collapsed(asked, used),))


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


def _collapsed(asked: Range, used: Range) -> Notice:
    return notice("convex_surrogate_used", asked=asked, used=used)
