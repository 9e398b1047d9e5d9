"""Intervals and tests of (partial) AUCs.

Where many rows decide an area they follow from the variance of its components, the interval on
the scale of the logit. Where few do, that variance is itself unknown (with one negative in a
band it is 0), and intervals and tests come from drawn curves. Which holds where was found by
simulation: ``python -m tests.benchmarks.inference_grid``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from numpy.typing import ArrayLike

from aucstudio.engine import roc
from aucstudio.engine.inference.components import (
    components_of,
    degrees_of_freedom,
    difference_variances,
    rank_standard_error,
    row_shares,
    weighted_standard_error,
)
from aucstudio.engine.inference.results import (
    Interval,
    TestResult,
    absent_interval,
    binomial_interval,
    check_level,
    comparison,
    logit_interval,
    silent,
    studentised,
)
from aucstudio.engine.inference.staircases import (
    DRAWS,
    Deciding,
    bounds,
    decided_by,
    deciding_of,
    drawn_areas,
)
from aucstudio.engine.types import Array

PLENTY = 60
"""Rows that decide an area, from which on its variance is known well enough."""

LEAST = 3
"""Rows that must decide an area for a test to speak."""

LEAST_OF_CLASS = 5
"""Rows of each class for a test of whole areas to speak."""

ONE_ROW = "a class has fewer than two rows"
_ONE_WEIGHT = "the weights of a class say less than two rows would"
_FEW_OF_CLASS = f"a class has fewer than {LEAST_OF_CLASS} rows"
_DRAWN = f"order statistics, {DRAWS} draws"

Band = tuple[float, float]
_WHOLE: Band = (0.0, 1.0)


def pauc_interval(
    y: ArrayLike,
    score: ArrayLike,
    alpha: float,
    beta: float,
    level: float = 0.95,
    *,
    positive: object = None,
    weights: ArrayLike | None = None,
) -> Interval:
    """Estimate the normalised partial AUC; over [0, 1] as :func:`delong_interval`.

    Where fewer than 60 rows decide it, the bounds are quantiles over curves drawn from the order
    statistics of both classes, which carry the uncertainty of the threshold at the band's end;
    the fewer rows, the nearer they are to the outermost curves that the order of the rows
    allows. Otherwise they are value -+ z se on the scale of the logit. The draws are the same in
    every call.

    Weighted rows count by what they say: k of them as (sum w)^2 / sum w^2 rows of equal weight.

    Parameters
    ----------
    y, score : array-like of shape (n_samples,)
    alpha, beta : float
        The band of FPR.
    level : float
    positive : label, optional
    weights : array-like of shape (n_samples,), optional

    Returns
    -------
    Interval
        The bounds are NaN, with the reason, where the band holds less than one negative and
        where a class has fewer than two rows.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1 and 0 < level < 1, and for input that
        :func:`~roc.split_scores` refuses.
    """
    if weights is not None:
        ranking = roc.Ranking.of(y, score, positive=positive, weights=weights)
        return interval_of(ranking, alpha, beta, level)
    s, t = roc.sorted_scores(y, score, positive)
    return interval_of(roc.Ranking.of_sorted(s, t), alpha, beta, level)


def interval_of(ranking: roc.Ranking, alpha: float, beta: float, level: float) -> Interval:
    """Compute :func:`pauc_interval` from sorted scores; on [0, 1] :func:`delong_interval`."""
    check_level(level)
    shares = row_shares(ranking)
    if shares is None:
        se = rank_standard_error(ranking.below, ranking.at_most, len(ranking.t), alpha, beta)
    else:
        se = weighted_standard_error(components_of(ranking, alpha, beta), shares)
    band = float(alpha), float(beta)
    area = ranking.auc if band == _WHOLE else roc.partial_auc_of(ranking.curve, *band).normalized
    return area_interval(area, se, band, level, class_sizes(ranking), lambda: ranking)


def class_sizes(ranking: roc.Ranking) -> tuple[float, float]:
    """Count positives and negatives; weighted rows by what they say."""
    if ranking.weight_s is None or ranking.weight_t is None:
        return len(ranking.s), len(ranking.t)
    return roc.effective_rows(ranking.weight_s), roc.effective_rows(ranking.weight_t)


def area_interval(
    value: float,
    se: float,
    band: Band,
    level: float,
    sizes: tuple[float, float],
    ranking: Callable[[], roc.Ranking],
) -> Interval:
    """Bound a normalised area whose value and standard error are known.

    Parameters
    ----------
    value, se : float
    band : (float, float)
    level : float
    sizes : (float, float)
        Positives and negatives; weighted rows count by what they say.
    ranking : callable
        Gives the scores, which are asked for where few rows decide.
    """
    m, n = sizes
    if min(sizes) < 2:
        return absent_interval(value, level, _too_few_words(ranking()))
    whole = band == _WHOLE
    # Sorting is put off until it is asked for: the whole curve has all rows.
    rows = decided_by(m, n, n, band, value) if whole else deciding_of(ranking(), *band, value)
    if rows.negatives < 1:
        return absent_interval(value, level, few_words(rows))
    method = "DeLong" if whole else "placements"
    if se == 0 and (whole or len(ranking().curve.corners().fp) == 2):  # all scores are equal
        return binomial_interval(value, level, method, _trials(ranking(), *band))
    few = min(rows.low, rows.high) < PLENTY
    drawn = drawn_areas([ranking()], *band) if few else None
    if drawn is None:
        return logit_interval(value, se, level, method)
    lower, upper = drawn[0]
    low, high = bounds(lower, upper, rows, level)
    if whole:  # its components show what they can, however few rows rank wrongly
        plain = logit_interval(value, se, level, method)
        low, high = min(low, plain.low), max(high, plain.high)
    else:
        se = float(((lower + upper) / 2).std(ddof=1))
    return Interval(value, min(low, value), max(high, value), level, _DRAWN, se)


def pauc_test(
    y: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    alpha: float,
    beta: float,
    level: float = 0.95,
    *,
    positive: object = None,
    weights: ArrayLike | None = None,
) -> TestResult:
    """Test whether two scores of the same rows have equal partial AUC.

    Over [0, 1] it is :func:`delong_test`; with few rows of a class ask :func:`auc_test` there.
    Elsewhere, where 60 rows or more decide the areas, it goes by the variance of the differences
    of their components, too. Where fewer do, z is the mean over drawn curves of both scores,
    middle minus middle, over their standard deviation, and follows Student's t with twice as many
    degrees of freedom as rows decide. Identical rankings give z = 0 and p = 1.

    Returns
    -------
    TestResult
        p, z and the bounds are NaN, with the reason, where fewer than 3 negatives or positives
        decide the band, or a class has fewer than two rows.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1 and 0 < level < 1, and for input that
        :func:`~roc.split_scores` refuses.
    """
    check_level(level)
    a, b = (
        Placements.of(roc.Ranking.of(y, of, positive=positive, weights=weights), alpha, beta)
        for of in (score_a, score_b)
    )
    whole = (alpha, beta) == _WHOLE
    return a.delong(b, level) if whole else a.test(b, level)


@dataclasses.dataclass(frozen=True, eq=False)
class Placements:
    """What a paired test needs of one scorer: computed once for all of its tests.

    Attributes
    ----------
    ranking : Ranking
    band : (float, float)
    area : float
    psi10, psi01 : ndarray
        Its components in the order of the rows.
    trials : int
        Disjoint pairs, for where the variance vanishes.
    shares : tuple of two ndarray or None
        Of each row in the weight of its class, where rows are weighted.
    """

    ranking: roc.Ranking
    band: Band
    area: float
    psi10: Array
    psi01: Array
    trials: int
    shares: tuple[Array, Array] | None = None

    @classmethod
    def of(cls, ranking: roc.Ranking, alpha: float, beta: float) -> Placements:
        """Compute the components of the normalised area over a range of FPR."""
        band, components = (float(alpha), float(beta)), components_of(ranking, alpha, beta)
        area = ranking.auc
        if band != _WHOLE:
            area = roc.partial_auc_of(ranking.curve, alpha, beta).normalized
        trials = _trials(ranking, *band)
        return cls(ranking, band, area, *components, trials, row_shares(ranking))

    def delong(self, other: Placements, level: float = 0.95) -> TestResult:
        """Test the difference from another scorer by the variance of components alone."""
        return self._by_variance(other, level, few=False)

    def test(self, other: Placements, level: float = 0.95) -> TestResult:
        """Do the same as few rows allow: what the program says of two scorers rests on this."""
        plain = self._by_variance(other, level, few=self.band == _WHOLE)
        difference = plain.difference
        if self.band == _WHOLE or math.isnan(plain.se) or plain.se == difference == 0:
            return plain
        rows = deciding_of(self.ranking, *self.band, (self.area + other.area) / 2)
        fewest = min(rows.negatives, rows.positives)
        if fewest < LEAST:
            return silent(difference, level, few_words(rows))
        few = fewest < PLENTY and plain.se > 0
        drawn = drawn_areas([self.ranking, other.ranking], *self.band) if few else None
        if drawn is None:
            return plain
        (lower_a, upper_a), (lower_b, upper_b) = drawn
        middle = (lower_a + upper_a - lower_b - upper_b) / 2
        spread = float(middle.std(ddof=1))
        return studentised(difference, float(middle.mean()), spread, level, 2 * fewest)

    def _by_variance(self, other: Placements, level: float, *, few: bool) -> TestResult:
        difference, sizes = self.area - other.area, class_sizes(self.ranking)
        if min(sizes) < 2:
            return silent(difference, level, _too_few_words(self.ranking))
        parts = (self.psi10, self.psi01), (other.psi10, other.psi01), self.shares
        variances = difference_variances(*parts)
        se = math.sqrt(sum(variances))
        if not few or se == 0 or min(sizes) >= PLENTY:
            return comparison(difference, se, level, self.trials)
        if min(sizes) < LEAST_OF_CLASS:
            return silent(difference, level, _FEW_OF_CLASS)
        degrees = degrees_of_freedom(variances, sizes)
        return studentised(difference, difference, se, level, degrees)


def _trials(ranking: roc.Ranking, alpha: float, beta: float) -> int:
    """Count disjoint pairs of a positive and a negative of the band."""
    m = class_sizes(ranking)[0]
    if ranking.is_weighted:
        return max(1, int(min(m, ranking.curve.effective(alpha, beta))))
    first, last = roc.band_ranks(len(ranking.t), alpha, beta)
    return int(min(m, last - first + 1))


def _too_few_words(ranking: roc.Ranking) -> str:
    few = min(len(ranking.s), len(ranking.t)) < 2
    return ONE_ROW if few or not ranking.is_weighted else _ONE_WEIGHT


def few_words(rows: Deciding) -> str:
    """Say how few rows decide: ``2 negatives decide this band``."""
    few_negatives = rows.negatives < LEAST
    row, count = ("negative", rows.negatives) if few_negatives else ("positive", rows.positives)
    if count < 1:
        return f"less than one {row} decides this band"
    # Positives are parts of rows summed up: a broken number of them would puzzle.
    number = f"{count:.2g}" if few_negatives else f"fewer than {math.floor(count) + 1}"
    return f"{number} {row}{' decides' if number == '1' else 's decide'} this band"
