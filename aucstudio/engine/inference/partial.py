"""Intervals and tests of partial AUCs from the variance of their components."""

from __future__ import annotations

from numpy.typing import ArrayLike

from aucstudio.engine import roc
from aucstudio.engine.inference.components import (
    aligned_components,
    rank_standard_error,
    standard_error,
)
from aucstudio.engine.inference.results import (
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
    area_a, area_b = (
        roc.partial_auc(y, of, alpha, beta, positive=positive) for of in (score_a, score_b)
    )
    (a10, a01), (b10, b01) = (
        aligned_components(y, of, alpha, beta, positive) for of in (score_a, score_b)
    )
    se = standard_error(a10 - b10, a01 - b01)
    difference = area_a.normalized - area_b.normalized
    return comparison(difference, se, level, min(len(a10), area_a.negatives))
