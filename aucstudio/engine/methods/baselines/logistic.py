"""Logistic regression with a certificate.

Symbols: y_i = +-1 class; c_i weight of row i; f = <w, x> + b scores.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from aucstudio.engine.cost import NUMBER, Cost, Work, cost_of
from aucstudio.engine.fit import Context, Fit
from aucstudio.engine.methods.baseline_settings import centre_of
from aucstudio.engine.methods.baselines._log_loss import LogLossMethod
from aucstudio.engine.scorers import LinearScorer
from aucstudio.engine.types import Array, Mask


class Logistic(LogLossMethod):
    """Models the log-odds as a weighted sum of the features.

    Minimises ``½ |w|² + C sum_i c_i log(1 + exp(-y_i f_i))``, where c_i is the weight of
    the row, times N / (2 N_class) with balanced class weights. The certificate is the duality gap
    at the multipliers that the scores imply. ``decision_function`` gives log-odds.

    References
    ----------
    Cox (1958), The regression analysis of binary sequences.

    Use when
    --------
    The first baseline on any table: fast, linear, and often hard to beat.
    """

    title: ClassVar[str] = "Logistic regression"
    solves: ClassVar[str] = "log-loss"
    in_words: ClassVar[str] = "Logistic regression (linear)"
    takes_sparse: ClassVar[bool] = True

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit; see the base class."""
        N, d = positives + negatives, features
        work = Work(numbers=24.0 * N * d + 300.0 * N, steps=300)
        return cost_of(N, 1.4 * NUMBER * N * d, work)

    def _fit(self, X: Array, positive: Mask, context: Context) -> Fit:
        centre = centre_of(X)
        near = X - centre if centre.any() else X
        w, b, done = self._minimise(near, positive, context, LinearScorer)
        moved = float(centre @ w)
        assert done.scores is not None
        return dataclasses.replace(done, intercept=b - moved, scores=done.scores + moved)
