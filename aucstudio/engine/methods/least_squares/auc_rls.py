"""Regularised least squares on the score differences of all pairs, in closed form."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.blocks import Passes
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.leave_pair_out import PairsHeldOut
from aucstudio.engine.methods.least_squares._hold_out import HoldOut
from aucstudio.engine.methods.least_squares._moments import (
    Classes,
    block_moments,
    class_moments,
    difference,
)
from aucstudio.engine.methods.least_squares._systems import (
    DirectionSystem,
    RowsSystem,
    System,
    pair_mixing,
)
from aucstudio.engine.methods.least_squares._training import (
    PATH,
    LeastSquares,
    add_square,
)
from aucstudio.engine.methods.settings import regularization
from aucstudio.engine.monitor import Monitor
from aucstudio.engine.params import InvalidSetting
from aucstudio.engine.types import Array, Mask


class AUCRLS(LeastSquares):
    """Fits the score difference of every positive–negative pair to 2 by ridge regression.

    Minimises ``mean_ij (2 - M_ij)^2 + regularization * |w|^2`` over all pairs of a positive and
    a negative; the paper's lambda is ``regularization`` times m n. The mean pair loss follows
    from class means and class variances, and no pair is formed. Time is O(N d^2 + d^3) with the
    linear kernel (O(N^2 d + N^3) where features outnumber rows) and O(N^3) with the others, for
    up to 20,000 rows.

    Rows may come in blocks with the linear kernel: one pass over them, a second where they lie
    far from 0.

    With ``regularization`` 0 the result is the solution of least norm. It takes one
    eigendecomposition, which cannot be interrupted, and has no certificate (``dual_gap_`` is None).

    References
    ----------
    Pahikkala, Airola, Suominen, Boberg and Salakoski (2008), Efficient AUC maximization with
    regularized least-squares.

    Eqs. 6 to 12.

    Use when
    --------
    A good first method on any table: one linear system, tuning costs almost nothing, and a
    Gaussian kernel gives non-linear boundaries up to a few thousand rows.
    """

    title: ClassVar[str] = "AUC-RLS"
    solves: ClassVar[str] = "pair least squares"
    adds_up: ClassVar[bool] = True
    family: ClassVar[str] = "least squares"
    in_words: ClassVar[str] = "Pairwise least squares"

    regularization: float = regularization(0.1, "pair loss", PATH)

    def _primal(self, X: Array, positive: Mask, context: Context) -> System:
        """Solve (S + delta delta' + lambda) w = 2 delta, eq. 11 over mn."""
        classes = class_moments(X, positive, context.weights, context.monitor)
        return self._from_moments(classes, context.monitor)

    def _from_moments(self, classes: Classes, monitor: Monitor) -> System:
        delta = difference(classes)
        square = np.asarray(sum(one.scatter() / one.weight for one in classes))
        add_square(square, delta[:, None], monitor)
        return DirectionSystem(square, 2 * delta, 4.0)

    def _fit_blocks(self, rows: Passes, context: Context) -> Fit:
        monitor = context.monitor
        if self.kernel != "linear":
            raise InvalidSetting("kernel", "rows that come in blocks need the linear kernel")
        system = self._from_moments(block_moments(rows), monitor)
        done = system.solve(float(self.regularization), monitor)
        monitor.step(1, done.objective, gap=done.gap, total=1, scorer=lambda: done.scorer)
        return done

    def _mean_loss(
        self, scores: Array, level: float, positive: Mask, weights: Array | None
    ) -> float:
        of_class = []
        for label in (True, False):
            part = scores[positive == label]
            each = None if weights is None else weights[positive == label]
            mean = float(np.average(part, weights=each))
            of_class.append((mean, float(np.average((part - mean) ** 2, weights=each))))
        (above, spread), (below, other) = of_class
        return (2.0 - (above - below)) ** 2 + spread + other

    def _dual(self, kernel: Kernel, X: Array, positive: Mask, context: Context) -> System:
        """Solve (R K R + lambda) c = R Y = 2 rho / |rho|, the symmetric form of eq. 8."""
        mixing, target = pair_mixing(positive, context.weights)
        return RowsSystem(kernel, X, mixing, target, context.monitor)

    def _leave_pair_out(
        self, X: Array, positive: Mask, regularizations: ArrayLike, context: Context
    ) -> list[PairsHeldOut]:
        kernel = self._kernel_for_hold_out(X, regularizations, context.given)
        system = HoldOut(X, positive, regularizations, kernel, context.monitor)
        return [system.outcomes(k) for k in range(len(system.regularizations))]
