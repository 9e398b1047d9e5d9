"""SVM-pAUC: the structural SVM for the partial AUC."""

from __future__ import annotations

from typing import ClassVar

from aucstudio.engine.losses import Risk
from aucstudio.engine.losses.structural import StructuralRisk
from aucstudio.engine.methods.structural._training import RangeSVM
from aucstudio.engine.types import Mask


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
    When only low false-positive rates are acceptable, such as FPR below 0.1: it trains for exactly
    that range.
    """

    title: ClassVar[str] = "SVM-pAUC"
    solves: ClassVar[str] = "structural partial AUC"
    in_words: ClassVar[str] = "Structural SVM for partial AUC"
    trains_for: ClassVar[str] = "pAUC"

    def _risk(self, positive: Mask, alpha: float, beta: float) -> Risk:
        return StructuralRisk(positive, alpha, beta)
