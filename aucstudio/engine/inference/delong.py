"""DeLong's standard errors, intervals, tests and covariances of AUCs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine import roc
from aucstudio.engine.inference.components import (
    aligned_components,
    rank_standard_error,
)
from aucstudio.engine.inference.partial import Placements, area_interval, interval_of
from aucstudio.engine.inference.results import Interval, TestResult, check_level
from aucstudio.engine.types import Array


def delong_interval(
    y: ArrayLike,
    score: ArrayLike,
    level: float = 0.95,
    *,
    positive: object = None,
    weights: ArrayLike | None = None,
) -> Interval:
    """Estimate the AUC with DeLong's standard error, in O(N log N), and its interval.

    The bounds are value -+ z se on the scale of the logit. Where fewer than 60 rows decide it
    (of 1,000 rows a class an AUC of .94 is decided by the 60 that rank wrongly), the standard
    error says little of what was not seen: there they reach as far as quantiles over curves
    drawn from the order statistics do (see :func:`pauc_interval`), if that is further. At AUC 0
    or 1, and where all scores are equal, they are the exact binomial bounds for min(m, n)
    trials: so many disjoint pairs of a positive and a negative are independent, and all of them
    came out alike. With fewer than two rows in a class the bounds are NaN.

    Where rows are weighted the variance is the sum of their squared weighted influences, as for
    rows drawn one by one with their weights, and k rows decide as much as (sum w)^2 / sum w^2 of
    equal weight would.

    Raises
    ------
    ValueError
        If level is outside (0, 1), and for input that :func:`~roc.split_scores` refuses.
    """
    check_level(level)
    if weights is not None:
        weighted = roc.Ranking.of(y, score, positive=positive, weights=weights)
        return interval_of(weighted, 0.0, 1.0, level)
    s, t = roc.sorted_scores(y, score, positive)
    # The same area with both the classes and the order reversed: fewer are looked up.
    few, many = (s, t) if len(s) <= len(t) else (-t[::-1], -s[::-1])
    below, at_most = roc.look_up(many, few)
    se = rank_standard_error(below, at_most, len(many), 0.0, 1.0)
    value, sizes = roc.pair_share(below, at_most, len(many)), (len(s), len(t))

    def ranking() -> roc.Ranking:
        return roc.Ranking.of_sorted(s, t)

    return area_interval(value, se, (0.0, 1.0), level, sizes, ranking)


def delong_test(
    y: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    level: float = 0.95,
    *,
    positive: object = None,
    weights: ArrayLike | None = None,
) -> TestResult:
    """Test whether two scores of the same rows have equal AUC (paired DeLong test).

    Identical rankings give z = 0 and p = 1. Where the variance vanishes although the AUCs differ,
    p is that of a sign test on min(m, n) disjoint pairs.

    Raises
    ------
    ValueError
        If level is outside (0, 1), and for input that :func:`~roc.split_scores` refuses.
    """
    check_level(level)
    a, b = _whole(y, (score_a, score_b), positive, weights)
    return a.delong(b, level)


def auc_test(
    y: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    level: float = 0.95,
    *,
    positive: object = None,
    weights: ArrayLike | None = None,
) -> TestResult:
    """Do what :func:`delong_test` does, as few rows allow.

    Where a class has fewer than 60 rows, z follows Student's t with Welch's degrees of freedom,
    as the normal law rejects too often there: with 5 to 8 positives among 4 to 20 times as many
    negatives, one of eight equal scores was told from another in 8 to 18 of 100 simulations,
    against 4 to 5. With fewer than 5 rows of a class there is no p.
    """
    check_level(level)
    a, b = _whole(y, (score_a, score_b), positive, weights)
    return a.test(b, level)


def _whole(
    y: ArrayLike,
    scores: tuple[ArrayLike, ArrayLike],
    positive: object,
    weights: ArrayLike | None,
) -> tuple[Placements, Placements]:
    a, b = (
        Placements.of(roc.Ranking.of(y, of, positive=positive, weights=weights), 0.0, 1.0)
        for of in scores
    )
    return a, b


def delong_covariance(y: ArrayLike, scores: ArrayLike, *, positive: object = None) -> Array:
    """Estimate the covariance matrix of the AUCs of several scores of the same rows.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    scores : array-like of shape (n_samples, n_scores)

    Returns
    -------
    ndarray of shape (n_scores, n_scores)
        NaN with fewer than two rows in a class.

    Raises
    ------
    ValueError
        For input that :func:`~roc.split_scores` refuses.
    """
    columns = np.atleast_2d(np.asarray(scores).T)
    parts = [aligned_components(y, of, 0.0, 1.0, positive) for of in columns]
    total = np.zeros((len(parts), len(parts)))
    for psi in (np.stack(of_class) for of_class in zip(*parts, strict=True)):
        centred = psi - psi.mean(axis=1, keepdims=True)
        size = psi.shape[1]
        total += centred @ centred.T / (size * (size - 1)) if size > 1 else np.nan
    return total
