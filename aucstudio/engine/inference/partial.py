"""Intervals and tests of partial AUCs from the variance of their components."""

from __future__ import annotations

import dataclasses

from numpy.typing import ArrayLike

from aucstudio.engine import roc
from aucstudio.engine.inference.components import (
    components_of,
    difference_standard_error,
    rank_standard_error,
)
from aucstudio.engine.inference.results import (
    Array,
    Interval,
    TestResult,
    check_level,
    comparison,
    normal_interval,
)


def pauc_interval(
    y: ArrayLike,
    score: ArrayLike,
    alpha: float,
    beta: float,
    level: float = 0.95,
    *,
    positive: object = None,
) -> Interval:
    """Estimate the normalised partial AUC with the standard error of its components.

    As :func:`delong_interval`, which it equals on [0, 1]. Where the variance vanishes, the
    binomial bounds count min(m, negatives in the band) trials, which is approximate.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1 and 0 < level < 1, and for input that
        :func:`~roc.split_scores` refuses.
    """
    check_level(level)
    area = roc.partial_auc(y, score, alpha, beta, positive=positive)
    s, t = roc.sorted_scores(y, score, positive)
    se = rank_standard_error(*roc.look_up(t, s), len(t), alpha, beta)
    return normal_interval(area.normalized, se, level, "placements", min(len(s), area.negatives))


def pauc_test(
    y: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    alpha: float,
    beta: float,
    level: float = 0.95,
    *,
    positive: object = None,
) -> TestResult:
    """Test whether two scores of the same rows have equal partial AUC; see :func:`delong_test`.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1 and 0 < level < 1, and for input that
        :func:`~roc.split_scores` refuses.
    """
    check_level(level)
    a, b = (
        Placements.of(roc.Ranking.of(y, of, positive=positive), alpha, beta)
        for of in (score_a, score_b)
    )
    return a.test(b, level)


def interval_of(ranking: roc.Ranking, alpha: float, beta: float, level: float) -> Interval:
    """Compute :func:`pauc_interval` from sorted scores; on [0, 1] :func:`delong_interval`."""
    check_level(level)
    m, n = len(ranking.s), len(ranking.t)
    se = rank_standard_error(ranking.below, ranking.at_most, n, alpha, beta)
    if (alpha, beta) == (0.0, 1.0):
        return normal_interval(ranking.auc, se, level, "DeLong", min(m, n))
    area = roc.partial_auc_of(ranking.curve, alpha, beta)
    return normal_interval(area.normalized, se, level, "placements", min(m, area.negatives))


@dataclasses.dataclass(frozen=True, eq=False)
class Placements:
    """What a paired test needs of one scorer: computed once for all of its tests.

    Attributes
    ----------
    area : float
    psi10, psi01 : ndarray
        Its components in the order of the rows.
    trials : int
        Disjoint pairs, for where the variance vanishes.
    """

    area: float
    psi10: Array
    psi01: Array
    trials: int

    @classmethod
    def of(cls, ranking: roc.Ranking, alpha: float, beta: float) -> Placements:
        """Compute the components of the normalised area over a range of FPR."""
        m, n = len(ranking.s), len(ranking.t)
        components = components_of(ranking, alpha, beta)
        if (alpha, beta) == (0.0, 1.0):
            return cls(ranking.auc, *components, min(m, n))
        area = roc.partial_auc_of(ranking.curve, alpha, beta)
        return cls(area.normalized, *components, min(m, area.negatives))

    def test(self, other: Placements, level: float = 0.95) -> TestResult:
        """Test the difference from another scorer of the same rows over the same range."""
        ours, theirs = (self.psi10, self.psi01), (other.psi10, other.psi01)
        se = difference_standard_error(ours, theirs)
        return comparison(self.area - other.area, se, level, self.trials)
