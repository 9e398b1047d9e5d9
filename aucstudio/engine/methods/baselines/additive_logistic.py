"""Additive logistic regression: the log-odds are a sum of penalised splines.

Symbols: F_k curve of feature k, sum_l w_kl N_kl of its basis; Omega_k its roughness; L_k with
L_k L_k' = I + smoothness Omega_k.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy

from aucstudio.engine.cost import NUMBER, Cost, Work, cost_of
from aucstudio.engine.features.splines import AdditiveScorer, Basis, basis, weighted_scorer
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.methods.baselines._log_loss import LogLossMethod
from aucstudio.engine.params import param
from aucstudio.engine.types import Array, Mask


class AdditiveLogistic(LogLossMethod):
    """Models the log-odds as a sum of smooth curves, one per feature.

    Minimises ``1/2 sum_k (|w_k|^2 + smoothness int F_k''(u)^2 du) + C sum_i c_i log(1 + exp(-y_i
    f_i))`` with f = sum_k F_k(x_k) + b and F_k = sum_l w_kl N_kl, where c_i is the weight of the
    row, times N / (2 N_class) with balanced class weights, and u is the feature in standard
    deviations. N_kl are natural cubic splines, or for features with up to 10 distinct values, whose
    curves are not penalised for roughness, stumps; each has mean 0 and splines have a standard
    deviation of 1. Knots, means and deviations are those of the weighted rows.

    The certificate is the duality gap at the multipliers that the scores imply. A value that is not
    known adds 0. ``decision_function`` gives log-odds.

    References
    ----------
    Hastie and Tibshirani (1986), Generalized additive models.

    Use when
    --------
    When single features have non-linear effects and the model must stay interpretable.
    """

    title: ClassVar[str] = "Additive logistic regression"
    in_words: ClassVar[str] = "Logistic regression with splines"
    shape: ClassVar[str] = "a curve per feature"
    takes_missing: ClassVar[bool] = True

    smoothness: float = param(
        1.0,
        "Weight of the curvature penalty; larger gives straighter curves.",
        label="Smoothness",
        symbol="λ",
        low=0.0,
        log=True,
        grid=(100.0, 10.0, 1.0, 0.1),
    )
    n_knots: int = param(
        10,
        "Knots of each curve; 2 leaves a straight line.",
        unit="knots for each feature",
        label="Knots",
        low=2,
        high=10,
    )

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N = positives + negatives
        cells = float(N) * features * max(1, self.n_knots - 1)
        few = ("n_knots", "use fewer knots or a sample of the rows")
        return cost_of(N, 3.0 * NUMBER * cells, Work(numbers=60.0 * cells, steps=300), few)

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        curves = _Curves(X, self.n_knots, self.smoothness, context)
        return self._minimise(curves.values, positive, context, curves.scorer)[2]


class _Curves:
    """The functions of all features, put so that the penalty is the square of their weights.

    Attributes
    ----------
    values : ndarray of shape (N, functions)
        L^-1 N of the rows.
    """

    def __init__(self, X: Array, n_knots: int, smoothness: float, context: Context) -> None:
        self._bases: list[Basis] = []
        self._factors: list[Array] = []
        values: list[Array] = []
        for k, column in enumerate(X.T):
            context.monitor.stage("splines", k / X.shape[1])
            own = basis(column, n_knots, context.weights)
            penalty = np.eye(len(own)) + smoothness * own.roughness
            L = np.asarray(np.linalg.cholesky(penalty), dtype=np.float64)
            self._bases.append(own)
            self._factors.append(L)
            values.append(
                np.asarray(scipy.linalg.solve_triangular(L, own.pieces(column), lower=True))
            )
        # Where all features are constant there is no function; the library wants one.
        some = np.concatenate([np.empty((0, len(X))), *values])
        self.values = some.T if len(some) else np.zeros((len(X), 1))

    def scorer(self, v: Array) -> AdditiveScorer:
        """Make the scorer of weights of these functions."""
        ends = np.cumsum([len(own) for own in self._bases])
        weights = [
            scipy.linalg.solve_triangular(L, part, lower=True, trans="T")
            for L, part in zip(self._factors, np.split(v, ends)[:-1], strict=True)
        ]
        return weighted_scorer(self._bases, weights)
