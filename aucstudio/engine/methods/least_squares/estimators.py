"""Regularised least squares in closed form: on the score differences of all pairs, or on labels.

Symbols: m, n numbers of positives and negatives; N = m + n; M_ij = f(x_i) - f(z_j) margin of a
pair; y_i = +-1 label; delta difference of the class means; S sum of the two class covariances
(divisors m, n); K Gram matrix, positives first; rho = 1/m on positives, -1/n on negatives; L the
AUC-RLS paper's matrix of eq. 9; R = (L / mn)^(1/2), that is class centring divided by sqrt(m) or
sqrt(n), plus rho rho' / |rho|; lambda the regularisation against the mean loss.
"""

from __future__ import annotations

import dataclasses
import functools
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.base import Array, AUCClassifier, Fit, Mask
from aucstudio.engine.blocks import Passes
from aucstudio.engine.cost import (
    FEWER_FEATURES,
    NO_KERNEL,
    NUMBER,
    Cost,
    Work,
    cost_of,
    kernel_matrix,
)
from aucstudio.engine.features.kernels import Kernel, KernelSettings
from aucstudio.engine.leave_pair_out import PairsHeldOut
from aucstudio.engine.methods.least_squares.block_moments import block_moments
from aucstudio.engine.methods.least_squares.class_moments import add_products, class_moments
from aucstudio.engine.methods.least_squares.pair_hold_out import HoldOut
from aucstudio.engine.methods.least_squares.row_hold_out import rls_leave_pair_out
from aucstudio.engine.methods.least_squares.systems import (
    Mixing,
    Solution,
    pair_mixing,
    solve_direction,
    solve_rows,
)
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import InvalidSetting, param
from aucstudio.engine.scorers import Scorer, score_rows

MOST_KERNEL_ROWS = 20_000
MOST_HOLD_OUT_ROWS = 10_000
_RELATIVE_GAP = 1e-6


def _regularization(loss: str) -> Any:
    return param(
        0.1,
        f"Weight of |w|² against the mean {loss}; larger is smoother.",
        label="Regularisation",
        symbol="λ",
        low=0.0,
        log=True,
        grid=tuple(2.0**k for k in range(10, -21, -2)),
    )


class _LeastSquares(KernelSettings, AUCClassifier):
    """A method that solves for the direction, or for the weights of the rows if that is less."""

    leaves_pairs_out: ClassVar[bool] = True
    regularization: float

    def _fit(self, X: Array, positive: Mask, monitor: Monitor) -> Fit:
        kernel = self.settle_kernel(X)
        if kernel.is_linear and X.shape[1] <= X.shape[0]:
            scorer, objective, gap = self._primal(X, positive, monitor)
        else:
            scorer, objective, gap = self._dual(kernel, X, positive, monitor)
        monitor.step(1, objective, gap=gap, total=1, scorer=lambda: scorer)
        constant = self._constant(scorer, X, positive, monitor)
        return Fit(scorer, objective, gap=gap, needed=_RELATIVE_GAP * objective, intercept=constant)

    def _takes_sparse(self) -> bool:
        return self.kernel == "linear"

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse kernel matrices beyond memory; see the base class."""
        if self.kernel != "linear" or positives + negatives < features:
            _refuse_large(positives + negatives)

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Say what a fit takes; see the base class."""
        N, d = positives + negatives, features
        if self.kernel == "linear" and d <= N:
            work = Work(products=1.5 * N * d**2 + d**3, numbers=2.0 * N * d)
            return cost_of(N, 7.0 * NUMBER * d**2, work, FEWER_FEATURES)
        memory = NUMBER * (float(N) ** 2 + 1024 * N)
        work = kernel_matrix(N, d) + Work(products=0.5 * N**3, numbers=20.0 * N**2)
        return cost_of(N, memory, work, NO_KERNEL)

    @abstractmethod
    def _primal(self, X: Array, positive: Mask, monitor: Monitor) -> Solution:
        """Solve for the direction itself."""

    @abstractmethod
    def _dual(self, kernel: Kernel, X: Array, positive: Mask, monitor: Monitor) -> Solution:
        """Solve for the weights of the rows."""

    def _constant(self, scorer: Scorer, X: Array, positive: Mask, monitor: Monitor) -> float | None:
        """Give the constant that the method chooses, if it does."""
        return None

    def _kernel_for_hold_out(self, X: Array, regularizations: ArrayLike) -> Kernel:
        """Give the kernel, or refuse what the closed form of held-out scores cannot do."""
        if np.min(regularizations) <= 0:
            raise InvalidSetting(
                "regularization", "leave-pair-out needs a regularization greater than 0"
            )
        kernel = self.settle_kernel(X)
        if 2 * X.shape[1] >= len(X) or not kernel.is_linear:
            _refuse_large(len(X), MOST_HOLD_OUT_ROWS)
        return kernel


def _refuse_large(rows: int, most: int = MOST_KERNEL_ROWS) -> None:
    if rows > most:
        raise InvalidSetting(
            "kernel",
            f"this kernel needs the {rows:,} × {rows:,} matrix of all rows, "
            f"{8 * rows**2 / 1e9:.1f} GB; beyond {most:,} rows take the linear kernel "
            "or train on a sample of the rows",
        )


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class AUCRLS(_LeastSquares):
    """Least squares on pairs: every margin is drawn towards 2, the gap between the labels.

    Minimises ``mean_ij (2 - M_ij)^2 + regularization * |w|^2`` over all pairs of a positive and
    a negative; the paper's lambda is ``regularization`` times m n. The mean pair loss follows
    from class means and class variances, so that no pair is ever formed: O(N d^2 + d^3) with the
    linear kernel (O(N^2 d + N^3) where features outnumber rows), O(N^3) with the others, for up
    to 20,000 rows.

    Rows may come in blocks with the linear kernel: one pass over them, a second where they lie
    far from 0.

    With ``regularization`` 0 the solution of least norm is taken; it rests on one
    eigendecomposition, which cannot be interrupted, and has no certificate (``gap_`` is None).

    References
    ----------
    Pahikkala, Airola, Suominen, Boberg, Salakoski (2008), Efficient AUC maximization with
    regularized least-squares; eqs. 6 to 12.
    """

    key: ClassVar[str] = "auc-rls"
    title: ClassVar[str] = "AUC-RLS"
    adds_up: ClassVar[bool] = True
    family: ClassVar[str] = "least squares"
    source: ClassVar[str] = (
        "Pahikkala, Airola, Suominen, Boberg and Salakoski (2008), "
        "Efficient AUC maximization with regularized least-squares"
    )
    summary: ClassVar[str] = (
        "Fits the score difference of every positive–negative pair to 2 by ridge regression; "
        "solved at once, without iterations."
    )
    in_words: ClassVar[str] = "Least squares on pairs"
    use_when: ClassVar[str] = (
        "A good first run on any table: it takes one step, tuning costs next to nothing, and "
        "a Gaussian kernel gives curved borders up to some thousand rows."
    )

    regularization: float = _regularization("pair loss")

    def _primal(self, X: Array, positive: Mask, monitor: Monitor) -> Solution:
        """Solve (S + delta delta' + lambda) w = 2 delta, eq. 11 over mn."""
        m, n = _counts(positive)
        _, means, square = class_moments(X, positive, (1 / n, 1 / m), monitor)
        return self._from_moments(means, square, monitor)

    def _from_moments(self, means: Array, square: Array, monitor: Monitor) -> Solution:
        delta = means[1] - means[0]
        _add_square(square, delta[:, None], monitor)
        return solve_direction(square, 2 * delta, 4.0, float(self.regularization), monitor)

    def _fit_blocks(self, rows: Passes, monitor: Monitor) -> Fit:
        if self.kernel != "linear":
            raise InvalidSetting("kernel", "rows that come in blocks need the linear kernel")
        m, n = _counts(rows.positive)
        _, means, square = block_moments(rows, (1 / n, 1 / m))
        scorer, objective, gap = self._from_moments(means, square, monitor)
        monitor.step(1, objective, gap=gap, total=1, scorer=lambda: scorer)
        return Fit(scorer, objective, gap=gap, needed=_RELATIVE_GAP * objective)

    def _dual(self, kernel: Kernel, X: Array, positive: Mask, monitor: Monitor) -> Solution:
        """Solve (R K R + lambda) c = R Y = 2 rho / |rho|, the symmetric form of eq. 8."""
        mixing, target = pair_mixing(positive)
        return solve_rows(kernel, X, mixing, target, float(self.regularization), monitor)

    def _leave_pair_out(
        self, X: Array, positive: Mask, regularizations: ArrayLike, monitor: Monitor
    ) -> list[PairsHeldOut]:
        kernel = self._kernel_for_hold_out(X, regularizations)
        system = HoldOut(X, positive, (1, 1), regularizations, kernel, monitor)
        return [system.outcomes(k) for k in range(len(system.regularizations))]


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class RLS(_LeastSquares):
    """Least squares on the labels: every score is drawn towards +1 or -1.

    Minimises ``mean_i (y_i - f(x_i))^2 + regularization * |w|^2`` over all rows, with
    ``f(x) = <w, x>``, or ``<w, x> + b`` and b unpenalised if ``fit_intercept``; the paper's
    lambda is ``regularization`` times N. The paper's form has no constant, so that it depends on
    where the features have their zero, and on unbalanced classes it often ranks worse for it.
    Without a constant the threshold is chosen afterwards, as for a ranking; with one it is b.

    Solved as :class:`AUCRLS`, at the same cost.

    References
    ----------
    Pahikkala, Airola, Suominen, Boberg, Salakoski (2008), Efficient AUC maximization with
    regularized least-squares; eqs. 3, 4 and 7.
    """

    key: ClassVar[str] = "rls"
    title: ClassVar[str] = "RLS"
    family: ClassVar[str] = "least squares"
    source: ClassVar[str] = AUCRLS.source
    summary: ClassVar[str] = (
        "Fits the labels ±1 by ridge regression, pairs aside: what AUC-RLS is compared with."
    )
    in_words: ClassVar[str] = "Least squares on labels"
    trains_for: ClassVar[str] = "labels"
    use_when: ClassVar[str] = (
        "To see what ranking pairs adds: the same as AUC-RLS, trained on the labels alone."
    )

    regularization: float = _regularization("squared error")
    fit_intercept: bool = param(
        False,
        "Fit a constant beside the direction, unpenalised; the method as published has none.",
        label="Constant",
        symbol="b",
    )

    def _primal(self, X: Array, positive: Mask, monitor: Monitor) -> Solution:
        """Solve (X'X / N + lambda) w = X'y / N, with centred X and y if there is a constant."""
        m, n = _counts(positive)
        p, q = m / (m + n), n / (m + n)
        origin, means, square = class_moments(X, positive, (1 / (m + n), 1 / (m + n)), monitor)
        delta = means[1] - means[0]
        pull, constant = 2 * p * q * delta, 4 * p * q
        products = np.sqrt(p * q) * delta[:, None]
        if not self.fit_intercept:
            mean = origin + p * means[1] + q * means[0]
            pull, constant = pull + (p - q) * mean, 1.0
            products = np.column_stack([products, mean])
        _add_square(square, products, monitor)
        return solve_direction(square, pull, constant, float(self.regularization), monitor)

    def _dual(self, kernel: Kernel, X: Array, positive: Mask, monitor: Monitor) -> Solution:
        """Solve (K / N + lambda) c = y / sqrt(N), with centred K and y if there is a constant."""
        N = X.shape[0]
        mix = functools.partial(_scale, centred=self.fit_intercept)
        mixing = Mixing(np.arange(N), mix, 1 / N, self.fit_intercept)
        target = np.where(positive, 1.0, -1.0)
        mix(target[None, :])
        return solve_rows(kernel, X, mixing, target, float(self.regularization), monitor)

    def _constant(self, scorer: Scorer, X: Array, positive: Mask, monitor: Monitor) -> float | None:
        if not self.fit_intercept:
            return None
        labels = np.where(positive, 1.0, -1.0)
        return float(np.mean(labels - score_rows(scorer, X, monitor.pulse)))

    def _leave_pair_out(
        self, X: Array, positive: Mask, regularizations: ArrayLike, monitor: Monitor
    ) -> list[PairsHeldOut]:
        kernel, constant = self._kernel_for_hold_out(X, regularizations), self.fit_intercept
        return rls_leave_pair_out(
            X, positive, regularizations, kernel, fit_intercept=constant, monitor=monitor
        )


def _counts(positive: Mask) -> tuple[int, int]:
    m = int(np.count_nonzero(positive))
    return m, len(positive) - m


def _add_square(square: Array, columns: Array, monitor: Monitor) -> None:
    add_products(square, columns, functools.partial(monitor.stage, "class moments", 1.0))


def _scale(rows: Array, centred: bool) -> None:
    """Apply R of the loss on labels to each row, in place."""
    if centred:
        rows -= rows.mean(axis=1, keepdims=True)
    rows /= np.sqrt(rows.shape[1])
