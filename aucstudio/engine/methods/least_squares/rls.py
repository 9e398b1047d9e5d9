"""Regularised least squares on the labels, in closed form; the baseline of AUC-RLS."""

from __future__ import annotations

import functools
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.fit import Context
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.leave_pair_out import PairsHeldOut
from aucstudio.engine.methods.least_squares._hold_out import rls_leave_pair_out
from aucstudio.engine.methods.least_squares._moments import class_moments, difference
from aucstudio.engine.methods.least_squares._systems import (
    DirectionSystem,
    Mixing,
    RowsSystem,
    System,
)
from aucstudio.engine.methods.least_squares._training import (
    PATH,
    LeastSquares,
    add_square,
)
from aucstudio.engine.methods.settings import regularization
from aucstudio.engine.params import param
from aucstudio.engine.scorers import Scorer, score_rows
from aucstudio.engine.types import Array, Mask


class RLS(LeastSquares):
    """Fits the labels ±1 by ridge regression; the baseline for AUC-RLS.

    Minimises ``mean_i (y_i - f(x_i))^2 + regularization * |w|^2`` over all rows, with
    ``f(x) = <w, x>``, or ``<w, x> + b`` and b unpenalised if ``fit_intercept``; the paper's
    lambda is ``regularization`` times N. The paper's form has no constant: the result then depends
    on the origin of the features, and often ranks worse on unbalanced classes. Without a constant
    the threshold is chosen after training, as for a ranking; with one it is b.

    Solved like :class:`AUCRLS`, at the same cost.

    References
    ----------
    Pahikkala, Airola, Suominen, Boberg and Salakoski (2008), Efficient AUC maximization with
    regularized least-squares.

    Eqs. 3, 4 and 7.

    Use when
    --------
    Shows what training on pairs adds: the same model as AUC-RLS, fitted to the labels.
    """

    title: ClassVar[str] = "RLS"
    solves: ClassVar[str] = "row least squares"
    family: ClassVar[str] = "least squares"
    in_words: ClassVar[str] = "Least squares on labels"
    trains_for: ClassVar[str] = "labels"

    regularization: float = regularization(0.1, "squared error", PATH)
    fit_intercept: bool = param(
        False,
        "Fit an unpenalised constant; the published method has none.",
        label="Constant",
        symbol="b",
    )

    def _primal(self, X: Array, positive: Mask, context: Context) -> System:
        """Solve (X'X / N + lambda) w = X'y / N, with centred X and y if there is a constant."""
        monitor = context.monitor
        classes = class_moments(X, positive, context.weights, monitor)
        negatives, positives = classes
        total = negatives.weight + positives.weight
        p, q = positives.weight / total, negatives.weight / total
        delta, square = difference(classes), (negatives.scatter() + positives.scatter()) / total
        pull, constant = 2 * p * q * delta, 4 * p * q
        products = np.sqrt(p * q) * delta[:, None]
        if not self.fit_intercept:
            mean = p * (positives.origin + positives.mean)
            mean += q * (negatives.origin + negatives.mean)
            pull, constant = pull + (p - q) * mean, 1.0
            products = np.column_stack([products, mean])
        add_square(square, products, monitor)
        return DirectionSystem(square, pull, constant)

    def _mean_loss(
        self, scores: Array, level: float, positive: Mask, weights: Array | None
    ) -> float:
        missing = np.where(positive, 1.0, -1.0) - scores
        # A constant takes up whatever all rows lack alike.
        missing -= np.average(missing, weights=weights) if self.fit_intercept else level
        return float(np.average(missing**2, weights=weights))

    def _dual(self, kernel: Kernel, X: Array, positive: Mask, context: Context) -> System:
        """Solve (K / N + lambda) c = y / sqrt(N), with centred K and y if there is a constant."""
        N = X.shape[0]
        mix = functools.partial(_scale, centred=self.fit_intercept)
        mixing = Mixing(np.arange(N), mix, 1 / N, self.fit_intercept)
        target = np.where(positive, 1.0, -1.0)
        if context.weights is not None:
            roots = np.sqrt(context.weights / context.weights.sum())
            mix = functools.partial(_level, roots=roots, centred=self.fit_intercept)
            size = float((roots**2).max())
            mixing = Mixing(np.arange(N), mix, size, self.fit_intercept, roots)
            target *= roots
        mix(target[None, :])
        return RowsSystem(kernel, X, mixing, target, context.monitor)

    def _constant(self, scorer: Scorer, X: Array, positive: Mask, context: Context) -> float | None:
        if not self.fit_intercept:
            return None
        labels = np.where(positive, 1.0, -1.0)
        missing = labels - score_rows(scorer, X, context.monitor.pulse)
        return float(np.average(missing, weights=context.weights))

    def _leave_pair_out(
        self, X: Array, positive: Mask, regularizations: ArrayLike, context: Context
    ) -> list[PairsHeldOut]:
        kernel = self._kernel_for_hold_out(X, regularizations, context.given)
        constant, monitor = self.fit_intercept, context.monitor
        return rls_leave_pair_out(
            X, positive, regularizations, kernel, fit_intercept=constant, monitor=monitor
        )


def _level(rows: Array, roots: Array, centred: bool) -> None:
    """Take the part along the roots of the weights off each row, in place, if there is a constant.

    It is R of weighted rows, but for the roots themselves.
    """
    if centred:
        rows -= (rows @ roots)[:, None] * roots


def _scale(rows: Array, centred: bool) -> None:
    """Apply R of the loss on labels to each row, in place."""
    if centred:
        rows -= rows.mean(axis=1, keepdims=True)
    rows /= np.sqrt(rows.shape[1])
