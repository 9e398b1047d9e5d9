"""ASVM: an SVM with a second margin between negatives and a core of positives.

Symbols: f(x) = <w, phi(x)> + b; x_i the m positives, z_j the n negatives; rho core
margin; xi, zeta, eta slacks; C1, C2, C3 their costs; nu share of the positives that may lie outside
the core.
"""

from __future__ import annotations

import numpy as np

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array, Mask, class_counts
from aucstudio.engine.base import AUCClassifier
from aucstudio.engine.cost import NO_KERNEL, Cost, Work, cost_of, kernel_matrix
from aucstudio.engine.features.spaces import Vectors, exact
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.kernels import KernelSettings
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import InvalidSetting, param
from aucstudio.engine.scorers import Scorer, score_rows
from aucstudio.engine.solvers.two_margins import Costs, TwoMargins, solve_two_margins
from aucstudio.notices import Notice, notice, text

MAX_KERNEL_ROWS = 3_000

_FINEST_TOL = 1e-12
_AT_BOUND = 1e-4
_HAIR = 1e-9


class ASVM(KernelSettings, AUCClassifier):
    """Separates the negatives from a core of confident positives, for low false-positive rates.

    Minimises ``1/2 |w|^2 - mu rho + C1 sum_i (1 - f(x_i))_+ + C2 sum_i (rho - f(x_i))_+ + C3 sum_j
    (1 + f(z_j))_+`` over w, b and rho >= 1, with f(x) = <w, phi(x)> + b, ``C1 = C``, ``C2 = mu /
    (nu m)`` and ``C3 = C class_ratio``. All sums run over rows, none is a mean: C weighs the loss
    of one positive, as in the SVM, and a value does not carry over to a table of another size.
    ``objective_`` is the value for the returned scorer at its best b and rho; it may be negative.
    The certificate is the duality gap.

    mu rewards a wide core margin rho. Where rho > 1, at most a share nu of the positives scores
    strictly less than rho. Without the bound rho >= 1 the core margin could become smaller than
    the class margin, even negative. On overlapping classes it stays at 1 unless mu is large; the
    method is then an SVM whose positives cost C1 + C2, and ``notes_`` reports it. mu must be less
    than C3 n: at C3 n the constants have no finite optimum, beyond it the objective has none. It
    must also be less than C2 m = mu / nu, which nu < 1 ensures.

    The threshold is not -b: ``predict`` returns the positive class above the (1 - fpr) quantile of
    the negative training scores, midway to the next higher score. Held-out scores give a better
    threshold; see :meth:`set_threshold`.

    This follows ASVM in style only. The abstract of the paper states that the asymmetric SVM
    extends the one-class SVM by false positives and a user tolerance. The core margin is recalled;
    the printed primal could not be checked, and its weighting may differ.

    An interior point step costs O(N r^2 + r^3), r being the smaller of features and rows for the
    linear kernel and the rank of the kernel matrix for others.

    Attributes
    ----------
    core_margin_ : float
        rho.

    Raises
    ------
    InvalidSetting
        If mu is too large for C, or a kernel matrix would have more than 3,000 rows.

    References
    ----------
    After Wu, Lin, Chen and Chen (KDD 2008), Asymmetric support vector machines; weighting as
    recalled.

    Use when
    --------
    When false positives are costly and one low false-positive rate is the target. A variant of the
    published method, not an exact copy.
    """

    C: float = param(1.0, "asvm")
    class_ratio: float = param(1.0)
    nu: float = param(0.5)
    mu: float = param(0.1)
    fpr: float = param(0.1)
    tol: float = param(1e-6)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d = positives + negatives, features
        if self.kernel == "linear" and d <= N:
            work = Work(products=15 * N * d**2, numbers=15 * N * (4 * d + 60), steps=300)
            return cost_of(N, 8.0 * (N * d + 3 * d**2), work)
        work = kernel_matrix(N, d) + Work(products=20 * N**3, numbers=50 * N**2)
        return cost_of(N, 8 * (3.2 * N**2 + N * d), work, NO_KERNEL)

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        monitor = context.monitor
        m, n = class_counts(positive)
        costs = self._costs(m, n)
        space = self._space(X, context)
        # A small C hardly lets w change the objective.
        tol = max(self.tol * min(1.0, self.C * space.mean_square()), _FINEST_TOL)
        done = solve_two_margins(
            space.matrix, positive, costs, tol=tol, monitor=monitor, scorer=space.scorer
        )
        self.core_margin_ = done.rho
        scorer = space.scorer(done.weights, done.coefficients)
        return Fit.of(
            scorer,
            done,
            lowest=-np.inf,
            intercept=-_threshold(scorer, X, positive, self.fpr, monitor),
            notes=_notes(done, costs, m, n),
        )

    def _costs(self, m: int, n: int) -> Costs:
        negative = self.C * self.class_ratio
        if self.mu >= negative * n:
            raise InvalidSetting(
                "mu", text("core_reward_too_large", bound=negative * n, mu=self.mu)
            )
        return Costs(self.C, self.mu / (self.nu * m), negative, self.mu)

    def _space(self, X: Array, context: Context) -> Vectors:
        kernel = self.resolve_kernel(X, context.given)
        return exact(X - X.mean(axis=0) if kernel.is_linear else X, kernel, context.monitor)

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse kernel matrices that would take hours; see the base class."""
        n_rows = positives + negatives
        if n_rows <= MAX_KERNEL_ROWS or (self.kernel == "linear" and features <= n_rows):
            return
        known = {"kernel": self.kernel, "linear": self.kernel == "linear"}
        raise InvalidSetting(
            "kernel", text("too_many_rows_for_kernel", most=MAX_KERNEL_ROWS, rows=n_rows, **known)
        )


def _threshold(scorer: Scorer, X: Array, positive: Mask, fpr: float, monitor: Monitor) -> float:
    """Return the (1 - fpr) quantile of the negative scores, midway to the next higher score.

    On the very score, rounding could let a negative too many through.
    """
    scores = score_rows(scorer, X, monitor.pulse)
    quantile = roc.fpr_threshold(scores[~positive], fpr)
    if quantile < scores[~positive].min():  # by a hair, which rounding could bridge
        return quantile - _HAIR * float(np.abs(scores).max())
    higher = scores[scores > quantile]
    return quantile / 2 + float(higher.min()) / 2 if len(higher) else quantile


def _notes(done: TwoMargins, costs: Costs, m: int, n: int) -> tuple[Notice, ...]:
    if done.converged and done.at_zero - done.objective <= done.gap:
        positives = costs.positive * m + costs.core * m
        return (
            notice(
                "no_direction_for_costs",
                positives=float(positives),
                negatives=float(costs.negative * n),
                ratio=float(positives / (costs.positive * n)),
            ),
        )
    if done.rho <= 1.0 + _AT_BOUND:
        return (notice("core_margin_at_bound"),)
    return ()
