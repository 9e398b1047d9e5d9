"""Objectives of methods that solve no convex problem: counted from the scores alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from aucstudio.engine.verification.counting import counted_auc, counted_pauc, sum_over_pairs
from aucstudio.engine.verification.pair_problems import require_countable
from aucstudio.engine.verification.problem import Array, Problem, signs
from aucstudio.engine.verification.space import UnverifiableError


class Counted(Problem):
    """An objective that is a function of the scores."""

    convex = False


class MeanPairHinge(Counted):
    """``mean (1 - M)_+``, on features in single precision."""

    rounding = 1e-3

    def objective(self, scores: Array, intercept: float) -> float:
        s, t = self.pairs_of(scores)
        require_countable(len(s), len(t))
        loss = sum_over_pairs(s, t, lambda M: np.maximum(1.0 - M, 0.0), self.tell)
        return loss / (len(s) * len(t))


class ExponentialPairs(Counted):
    """``mean exp(-M)``."""

    def objective(self, scores: Array, intercept: float) -> float:
        s, t = self.pairs_of(scores)
        require_countable(len(s), len(t))
        loss = sum_over_pairs(s, t, lambda M: np.exp(-M), self.tell)
        return loss / (len(s) * len(t))


class AreaLost(Counted):
    """``1 - AUC``."""

    def objective(self, scores: Array, intercept: float) -> float:
        require_countable(*np.bincount(self.positive.astype(int), minlength=2))
        return 1.0 - counted_auc(self.positive, scores, self.tell)


class PartialAreaLost(Counted):
    """``1 - pAUC`` over the range trained for."""

    def objective(self, scores: Array, intercept: float) -> float:
        alpha, beta = self.params["fpr_range"]
        require_countable(*np.bincount(self.positive.astype(int), minlength=2))
        return 1.0 - counted_pauc(self.positive, scores, float(alpha), float(beta), self.tell)


class MeanLogLoss(Counted):
    """The weighted mean of the log-loss."""

    def objective(self, scores: Array, intercept: float) -> float:
        weights, here = self.params.get("class_weight"), self.positive
        if isinstance(weights, Mapping):
            raise UnverifiableError("class weights given as a mapping are not known here")
        costs = np.ones(len(here))
        if weights is not None:
            costs = 0.5 / np.array([np.mean(~here), np.mean(here)])[here.astype(int)]
        losses = np.logaddexp(0.0, -signs(here) * (scores + intercept)).astype(np.longdouble)
        return float((costs * losses).sum() / costs.sum())


class Unstated(Counted):
    """A method that does not name its objective."""

    def objective(self, scores: Array, intercept: float) -> float:
        raise UnverifiableError("no other way is known to count this objective")
