"""DeLong's standard errors, intervals, tests and covariances of AUCs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine import roc
from aucstudio.engine.inference.components import rank_standard_error
from aucstudio.engine.inference.partial import Placements, area_interval, interval_of
from aucstudio.engine.inference.results import Interval, TestResult, check_level
from aucstudio.engine.inference.sampling import Variance
from aucstudio.engine.types import Array


def delong_interval(
    y: ArrayLike,
    score: ArrayLike,
    level: float = 0.95,
    *,
    positive: object = None,
    weights: ArrayLike | None = None,
    weight_kind: str = roc.SAMPLING,
    groups: ArrayLike | None = None,
) -> Interval:
    """Estimate the AUC with DeLong's standard error, in O(N log N), and its interval.

    The bounds are value -+ z se on the scale of the logit. Where fewer than 60 rows decide it
    (of 1,000 rows a class an AUC of .94 is decided by the 60 that rank wrongly), the standard
    error says little of what was not seen: there they reach as far as quantiles over curves
    drawn from the order statistics do (see :func:`pauc_interval`), if that is further. At AUC 0
    or 1, and where all scores are equal, they are the exact binomial bounds for min(m, n)
    trials: so many disjoint pairs of a positive and a negative are independent, and all of them
    came out alike. With fewer than two rows in a class the bounds are NaN.

    Parameters
    ----------
    y, score : array-like of shape (n_samples,)
    level : float
    positive : label, optional
    weights : array-like of shape (n_samples,), optional
    weight_kind : {"sampling", "frequency"}
        With sampling weights the variance is the sum of the squared weighted influences of rows,
        as for rows drawn one by one with their weights, and k rows decide as much as
        (sum w)^2 / sum w^2 of equal weight would. A frequency weight counts equal rows.
    groups : array-like of shape (n_samples,), optional
        Labels of the groups that rows were sampled in. The variance is then Obuchowski's, by sums
        of the components over each group, with Student's quantile; a class needs 5 groups.

    Raises
    ------
    ValueError
        If level is outside (0, 1), and for input that :meth:`~roc.Ranking.of` refuses.
    """
    check_level(level)
    if weights is not None or groups is not None:
        sampled: roc.Sampled = {"weights": weights, "weight_kind": weight_kind, "groups": groups}
        return interval_of(roc.Ranking.of(y, score, positive=positive, **sampled), 0.0, 1.0, level)
    s, t = roc.sorted_scores(y, score, positive)
    # The same area with both the classes and the order reversed: fewer are looked up.
    few, many = (s, t) if len(s) <= len(t) else (-t[::-1], -s[::-1])
    below, at_most = roc.look_up(many, few)
    se = rank_standard_error(below, at_most, len(many), 0.0, 1.0)
    value = roc.pair_share(below, at_most, len(many))

    def ranking() -> roc.Ranking:
        return roc.Ranking.of_sorted(s, t)

    known = Variance.of_rows(se, (len(s), len(t)))
    return area_interval(value, known, (0.0, 1.0), level, ranking)


def delong_test(
    y: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    level: float = 0.95,
    *,
    positive: object = None,
    weights: ArrayLike | None = None,
    weight_kind: str = roc.SAMPLING,
    groups: ArrayLike | None = None,
) -> TestResult:
    """Test whether two scores of the same rows have equal AUC (paired DeLong test).

    Identical rankings give z = 0 and p = 1. Where the variance vanishes although the AUCs differ,
    p is that of a sign test on min(m, n) disjoint pairs. Weights and groups are those of
    :func:`delong_interval`.

    Raises
    ------
    ValueError
        If level is outside (0, 1), and for input that :meth:`~roc.Ranking.of` refuses.
    """
    check_level(level)
    a, b = _whole(y, (score_a, score_b), positive, weights, weight_kind, groups)
    return a.delong(b, level)


def auc_test(
    y: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    level: float = 0.95,
    *,
    positive: object = None,
    weights: ArrayLike | None = None,
    weight_kind: str = roc.SAMPLING,
    groups: ArrayLike | None = None,
) -> TestResult:
    """Do what :func:`delong_test` does, as few rows allow.

    Where a class has fewer than 60 rows, z follows Student's t with Welch's degrees of freedom,
    as the normal law rejects too often there: with 5 to 8 positives among 4 to 20 times as many
    negatives, one of eight equal scores was told from another in 8 to 18 of 100 simulations,
    against 4 to 5. With fewer than 5 rows of a class there is no p.
    """
    check_level(level)
    a, b = _whole(y, (score_a, score_b), positive, weights, weight_kind, groups)
    return a.test(b, level)


def _whole(
    y: ArrayLike,
    scores: Sequence[ArrayLike],
    positive: object,
    weights: ArrayLike | None,
    weight_kind: str,
    groups: ArrayLike | None,
) -> list[Placements]:
    sampled: roc.Sampled = {"weights": weights, "weight_kind": weight_kind, "groups": groups}
    rankings = (roc.Ranking.of(y, of, positive=positive, **sampled) for of in scores)
    return [Placements.of(ranking, 0.0, 1.0) for ranking in rankings]


def delong_covariance(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    positive: object = None,
    weights: ArrayLike | None = None,
    weight_kind: str = roc.SAMPLING,
    groups: ArrayLike | None = None,
) -> Array:
    """Estimate the covariance matrix of the AUCs of several scores of the same rows.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    scores : array-like of shape (n_samples, n_scores)
    positive, weights, weight_kind, groups
        As for :func:`delong_interval`.

    Returns
    -------
    ndarray of shape (n_scores, n_scores)
        NaN with fewer than two rows, or groups, in a class.

    Raises
    ------
    ValueError
        For input that :meth:`~roc.Ranking.of` refuses.
    """
    columns = np.atleast_2d(np.asarray(scores).T)
    parts = _whole(y, list(columns), positive, weights, weight_kind, groups)
    alone = [one.variance.se**2 for one in parts]
    total = np.diag(alone)
    for i, j in itertools.combinations(range(len(parts)), 2):
        # The variance of a difference is the sum of both less twice the covariance.
        apart = parts[i].sampling.variance(parts[i].psi, parts[j].psi).se ** 2
        total[i, j] = total[j, i] = (alone[i] + alone[j] - apart) / 2
    return total
