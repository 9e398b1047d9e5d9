"""SVM-AUC: the structural SVM for the AUC."""

from __future__ import annotations

from typing import ClassVar

from aucstudio.engine.fit import Fit
from aucstudio.engine.losses.pairs import PairHinge
from aucstudio.engine.methods.structural._training import RiskMinimiser, StructuralSVM
from aucstudio.engine.weighted import WeighsRows
from aucstudio.notices import notice


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

    title: ClassVar[str] = "SVM-AUC"
    solves: ClassVar[str] = "pair hinge"
    family: ClassVar[str] = "pair SVMs"
    usual_cuts: ClassVar[int] = 6
    in_words: ClassVar[str] = "Structural SVM for AUC"

    def _solve(self, search: RiskMinimiser) -> Fit:
        risk = PairHinge(search.positive, weights=search.weights)
        # Cuts hold for the risk that they were made of: with these weights.
        weights = search.weights
        name = "pair hinge" if weights is None else ("pair hinge", weights.tobytes())
        found = search.minimise(name, risk)
        return search.fit(
            found, (notice("no_direction"),) if search.ranks_nothing(found.weights) else ()
        )
