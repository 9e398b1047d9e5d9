"""Support vector machines for the area under a chosen part of the ROC curve.

Symbols: [alpha, beta] FPR range; s_i scores of the m positives x_i; v_(1) >= ... >= v_(n) scores
of the negatives z_(j) in descending order; g_j the part of negative j inside the range, so that
sum_j g_j = n (beta - alpha); pi_ij = 1 where an ordering puts negative j above positive i;
r_i = sum_j pi_ij, q_j = sum_i pi_ij.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from aucstudio.engine.base import Array, AUCClassifier, Fit, Mask
from aucstudio.engine.methods.settings import cost, tolerance
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import param
from aucstudio.engine.roc import rank_weights
from aucstudio.engine.scorers import LinearScorer
from aucstudio.engine.solvers import cutting_plane

Range = tuple[float, float]

_ALL_TIED = 1e-8
_FINEST_TOL = 1e-12


class StructuralRisk:
    """The structural surrogate of 1 - pAUC as a convex function of the scores.

    R(u) = max over orderings pi of
    [loss(pi) - sum_ij pi_ij (s_i - v_j)] / (m n (beta - alpha)), where loss(pi) is the partial
    AUC loss of pi times m n (beta - alpha). At least the normalised 1 - pAUC of the scores; 1
    where all scores are equal; at [0, 1] the mean pair hinge.

    Given the order of the negatives, which is best left as it is, positive i falls below the
    first r of them so that sum_{j<=r} (g_j + v_(j) - s_i) is largest. One isotonic regression
    c^ (decreasing) of c_j = g_j + v_(j) answers for all positives: r_i = #{j : c^_j > s_i}. With
    alpha = 0, c is decreasing already. O(N log N) time, O(N) memory, any range.

    Parameters
    ----------
    positive : ndarray of bool, shape (N,)
    alpha, beta : float
        0 <= alpha < beta <= 1; the ends may cut a negative in parts.

    References
    ----------
    Narasimhan and Agarwal (2013), section 3, eqs. 2 to 6 (the objective; the search for r_i is
    another one, which needs no distinction of cases).
    """

    def __init__(self, positive: Mask, alpha: float, beta: float) -> None:
        self._positives = np.flatnonzero(positive)
        self._negatives = np.flatnonzero(~positive)
        self._g = rank_weights(len(self._negatives), alpha, beta)
        self._decreasing = alpha == 0.0
        self._total = len(self._positives) * float(self._g.sum())

    def __call__(self, scores: Array) -> tuple[float, Array]:
        """Give the risk and a subgradient with respect to the scores, shape (N,)."""
        s, t = scores[self._positives], -scores[self._negatives]
        order = np.argsort(t)
        c = self._g - t[order]
        r = self._counts(c, s)
        q = len(s) - np.cumsum(np.bincount(r, minlength=len(t) + 1)[:-1])
        gradient = np.empty(len(scores))
        gradient[self._positives] = -r
        gradient[self._negatives[order]] = q
        return max(float(q @ c - r @ s), 0.0) / self._total, gradient / self._total

    def _counts(self, c: Array, s: Array) -> NDArray[np.intp]:
        """Find r_i for each positive: the most violated ordering."""
        fitted: Array = c if self._decreasing else isotonic_regression(c, increasing=False).x
        return np.searchsorted(-fitted, -s)


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class SVMpAUC(AUCClassifier):
    """Structural SVM for the partial AUC over an FPR range.

    Minimises ``|w|^2 / 2 + C R(w)`` with ``R(w) = max over orderings pi of [sum_i sum_j g_j
    pi_i(j) - sum_ij pi_ij w.(x_i - z_j)] / (m n (beta - alpha))``, pi_i(j) being the j-th
    negative of the ordering: a convex upper bound of the normalised ``1 - pAUC(alpha, beta)``.
    ``C`` is the C of the paper (OP1). At [0, 1] R is the mean pair hinge ``mean_ij (1 - M_ij)_+``
    and the method is SVM-AUC.

    The surrogate charges every negative above a positive, also outside the range; for a narrow
    range w = 0, which ranks nothing, can therefore be optimal whatever C is. In that case, and
    where C is so small that w = 0 meets the tolerance, the range is widened to [0, 2 beta], again
    and again up to [0, 1] until w is not 0; ``fpr_range_used_`` and ``notes_`` say so, and
    ``objective_`` and ``gap_`` are those of the range used.

    Attributes
    ----------
    fpr_range_used_ : tuple of two floats

    References
    ----------
    Narasimhan and Agarwal (2013), A structural SVM based approach for optimizing partial AUC.
    """

    key: ClassVar[str] = "svm-pauc"
    title: ClassVar[str] = "SVM-pAUC"
    family: ClassVar[str] = "partial AUC"
    source: ClassVar[str] = (
        "Narasimhan and Agarwal (ICML 2013), "
        "A structural SVM based approach for optimizing partial AUC"
    )
    summary: ClassVar[str] = (
        "Maximises the area under the part of the ROC curve between two false positive rates, "
        "by a convex bound over all orderings."
    )

    C: float = cost(
        10.0, "Weight of the partial-AUC loss against the size of the weights.", powers=range(-2, 5)
    )
    fpr_range: tuple[float, float] = param(
        (0.0, 0.1),
        "The false positive rates between which the area counts.",
        label="FPR range",
        symbol="[α, β]",
        kind="range",
        low=0.0,
        high=1.0,
    )
    tol: float = tolerance(
        1e-4, "Training stops when the objective is within this share of its optimum."
    )

    def _fit(self, X: Array, positive: Mask, monitor: Monitor) -> Fit:
        X = centred(X)
        scale = float(np.sqrt(np.einsum("ij,ij->", X, X) / len(X)))
        asked = (float(self.fpr_range[0]), float(self.fpr_range[1]))
        done = 0
        for used in widening(asked):
            found = self._minimise(X, scale, positive, used, monitor, done)
            done += found.n_iter
            nothing = _ranks_nothing(found.weights, self.C, scale)
            if monitor.stopped or not nothing:
                break
        if nothing and monitor.stopped:
            found = _mean_difference(X, positive, self.C, StructuralRisk(positive, *used))
            nothing = not found.weights.any()
        self.fpr_range_used_ = used
        return Fit(
            LinearScorer(found.weights),
            found.objective,
            n_iter=done,
            gap=found.gap,
            converged=found.converged,
            notes=_notes(asked, used, nothing),
        )

    def _minimise(
        self, X: Array, scale: float, positive: Mask, used: Range, monitor: Monitor, done: int
    ) -> cutting_plane.Solution:
        # P(0) = C, and for a small C the best w is lower by a share of C scale^2 / 2 or so: the
        # tolerance has to be finer than that.
        tol = max(self.tol * min(1.0, self.C * scale**2), _FINEST_TOL)
        risk = StructuralRisk(positive, *used)
        return cutting_plane.minimise(X, risk, self.C, tol=tol, monitor=monitor, done=done)


def _mean_difference(
    X: Array, positive: Mask, C: float, risk: StructuralRisk
) -> cutting_plane.Solution:
    """Give what a fit stopped before its first step has: the direction between the class means."""
    w = X[positive].mean(axis=0) - X[~positive].mean(axis=0)
    value, _ = risk(X @ w)
    objective = 0.5 * float(w @ w) + C * value
    # No risk is below 0, nor is |w|^2: the objective itself bounds how far the optimum is.
    return cutting_plane.Solution(w, objective, objective, 0, False)


def widening(asked: Range) -> Iterator[Range]:
    """List the range asked for and then [0, 2 beta], [0, 4 beta], ... up to [0, 1]."""
    yield asked
    alpha, beta = asked
    while (alpha, beta) != (0.0, 1.0):
        alpha, beta = 0.0, min(1.0, 2 * beta)
        yield alpha, beta


def centred(X: Array) -> Array:
    """Shift the rows by their mean where that saves digits; pair margins stay the same.

    A feature whose mean is within its standard deviation is near enough to 0: X itself is
    returned if all are, else a shifted copy.
    """
    mean = X.mean(axis=0)
    square = np.einsum("ij,ij->j", X, X) / len(X)
    shifted: Array = X if np.all(2 * mean**2 <= square) else X - mean
    return shifted


def _ranks_nothing(w: Array, C: float, scale: float) -> bool:
    """Tell whether w is 0 against its natural sizes: C scale if C is small, else 1 / scale."""
    return bool(np.sqrt(w @ w) * scale <= _ALL_TIED * min(C * scale**2, 1.0))


def _notes(asked: Range, used: Range, nothing: bool) -> tuple[str, ...]:
    if nothing:
        return (
            "No direction lowers the loss, not even for the full AUC: the two classes have the "
            "same mean, or C is too small for the units of the features. All rows get the same "
            "score.",
        )
    if used != asked:
        return (
            f"For the FPR range {_spell(asked)} the loss is lowest with equal scores for all "
            f"rows, so the range was widened to {_spell(used)}.",
        )
    return ()


def _spell(fpr_range: Range) -> str:
    return f"[{fpr_range[0]:g}, {fpr_range[1]:g}]"
