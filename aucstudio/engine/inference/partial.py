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
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine import roc
from aucstudio.engine.inference.components import components_of, rank_standard_error
from aucstudio.engine.inference.results import (
    Interval,
    TestResult,
    absent_interval,
    binomial_interval,
    check_level,
    comparison,
    logit_interval,
    quantile_level,
    silent,
    studentised,
    widened,
)
from aucstudio.engine.inference.sampling import Components, Sampling, Variance
from aucstudio.engine.inference.spacings import DRAWS
from aucstudio.engine.inference.staircases import (
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

_ROUNDING = 1e-9
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
    weight_kind: str = roc.SAMPLING,
    groups: ArrayLike | None = None,
) -> Interval:
    """Estimate the normalised partial AUC; over [0, 1] as :func:`delong_interval`.

    Where fewer than 60 rows decide it, the bounds are quantiles over curves drawn from the order
    statistics of both classes, which carry the uncertainty of the threshold at the band's end;
    the fewer rows, the nearer they are to the outermost curves that the order of the rows
    allows. Where more do, they are value -+ z se on the scale of the logit. The draws are the
    same in every call.

    Parameters
    ----------
    y, score : array-like of shape (n_samples,)
    alpha, beta : float
        The band of FPR.
    level : float
    positive : label, optional
    weights : array-like of shape (n_samples,), optional
    weight_kind : {"sampling", "frequency"}
        Whether a weight is an inverse sampling probability: k rows count as
        (sum w)^2 / sum w^2 rows of equal weight; or a number of equal rows, each of which counts.
    groups : array-like of shape (n_samples,), optional
        Labels of the groups that rows were sampled in, such as patients with several rows. Groups
        are then the sampling units: components are summed by group, each draw has one weight a
        group, Student's t takes the place of z, and rows count by the design effect.

    Returns
    -------
    Interval
        The bounds are NaN, with the reason, where the band holds less than one negative, where a
        class has fewer than two rows, and where it comes from fewer than 5 groups.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1 and 0 < level < 1, and for input that
        :meth:`~roc.Ranking.of` refuses.
    """
    if weights is None and groups is None:
        s, t = roc.sorted_scores(y, score, positive)
        return interval_of(roc.Ranking.of_sorted(s, t), alpha, beta, level)
    sampled: roc.Sampled = {"weights": weights, "weight_kind": weight_kind, "groups": groups}
    ranking = roc.Ranking.of(y, score, positive=positive, **sampled)
    return interval_of(ranking, alpha, beta, level)


def interval_of(ranking: roc.Ranking, alpha: float, beta: float, level: float) -> Interval:
    """Compute :func:`pauc_interval` from sorted scores; on [0, 1] :func:`delong_interval`."""
    check_level(level)
    band = float(alpha), float(beta)
    area = ranking.auc if band == _WHOLE else roc.partial_auc_of(ranking.curve, *band).normalized
    if not ranking.is_weighted and ranking.units is None:
        se = rank_standard_error(ranking.below, ranking.at_most, len(ranking.t), alpha, beta)
        known = Variance.of_rows(se, (len(ranking.s), len(ranking.t)))
        return area_interval(area, known, band, level, lambda: ranking)
    sampling = Sampling.of(ranking)
    if reason := sampling.too_few:
        return absent_interval(area, level, reason)
    found = sampling.variance(components_of(ranking, alpha, beta))
    found = dataclasses.replace(found, degrees=_degrees(sampling, found))
    return area_interval(area, found, band, level, lambda: ranking)


def area_interval(
    value: float,
    variance: Variance,
    band: Band,
    level: float,
    ranking: Callable[[], roc.Ranking],
) -> Interval:
    """Bound a normalised area whose value and variance are known.

    Parameters
    ----------
    value : float
    variance : Variance
        Its degrees of freedom are infinite where the bounds are to be normal.
    band : (float, float)
    level : float
    ranking : callable
        Returns the sorted scores, which are asked for where few rows decide.
    """
    se, sizes = variance.se, variance.sizes
    m, n = sizes
    if min(sizes) < 2:
        return absent_interval(value, level, Sampling.of(ranking()).too_few)
    whole = band == _WHOLE
    # Sorting is put off until it is asked for: the whole curve has all rows.
    rows = (
        decided_by(m, n, n, band, value) if whole else deciding_of(ranking(), *band, value, sizes)
    )
    if rows.negatives < 1:
        return absent_interval(value, level, few_words(rows.negatives))
    method = "DeLong" if whole else "placements"
    if se == 0 and (whole or len(ranking().curve.corners().fp) == 2):  # all scores are equal
        return binomial_interval(value, level, method, _trials(ranking(), *band, sizes))
    few = min(rows.low, rows.high) < PLENTY
    drawn = drawn_areas([ranking()], *band, sizes) if few else None
    if drawn is None:
        return logit_interval(value, se, level, method, variance.degrees)
    lower, upper = drawn[0]
    few_groups = math.isfinite(variance.degrees)
    outer = level if whole else quantile_level(level, variance.degrees)
    low, high = widened(value, *bounds(lower, upper, rows, outer), variance.widening)
    if whole or (few_groups and se > 0 and 0 < value < 1):
        # The components show what they can, however few rows decide.
        plain = logit_interval(value, se, level, method, variance.degrees)
        low, high = min(low, plain.low), max(high, plain.high)
    if not whole:
        se = variance.widening * float(((lower + upper) / 2).std(ddof=1))
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
    weight_kind: str = roc.SAMPLING,
    groups: ArrayLike | None = None,
) -> TestResult:
    """Test whether two scores of the same rows have equal partial AUC.

    Over [0, 1] it is :func:`delong_test`; with few rows of a class ask :func:`auc_test` there.
    Elsewhere, where 60 rows or more decide the areas, it goes by the variance of the differences
    of their components, too. Where fewer do, z is the mean over drawn curves of both scores,
    middle minus middle, over their standard deviation, and follows Student's t with twice as many
    degrees of freedom as rows decide. Identical rankings give z = 0 and p = 1. Weights and groups
    are those of :func:`pauc_interval`.

    Returns
    -------
    TestResult
        p, z and the bounds are NaN, with the reason, where fewer than 3 negatives or positives
        decide the band, a class has fewer than two rows, or it comes from fewer than 5 groups.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1 and 0 < level < 1, and for input that
        :meth:`~roc.Ranking.of` refuses.
    """
    check_level(level)
    sampled: roc.Sampled = {"weights": weights, "weight_kind": weight_kind, "groups": groups}
    a, b = (
        Placements.of(roc.Ranking.of(y, of, positive=positive, **sampled), alpha, beta)
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
    psi : (ndarray, ndarray)
        Its components psi10 and psi01 in the order of the rows.
    sampling : Sampling
    """

    ranking: roc.Ranking
    band: Band
    area: float
    psi: Components
    sampling: Sampling

    @classmethod
    def of(cls, ranking: roc.Ranking, alpha: float, beta: float) -> Placements:
        """Compute the components of the normalised area over a range of FPR."""
        band, components = (float(alpha), float(beta)), components_of(ranking, alpha, beta)
        area = ranking.auc
        if band != _WHOLE:
            area = roc.partial_auc_of(ranking.curve, alpha, beta).normalized
        return cls(ranking, band, area, components, Sampling.of(ranking))

    @cached_property
    def variance(self) -> Variance:
        """The variance of the area; its degrees of freedom are infinite but for few groups."""
        found = self.sampling.variance(self.psi)
        return dataclasses.replace(found, degrees=_degrees(self.sampling, found))

    def difference_variance(self, other: Placements, *, few: bool = False) -> Variance:
        """Estimate the variance of the difference from another scorer of the same rows.

        Its degrees of freedom are infinite but for few groups, with ``few`` for few rows too.
        """
        found = self.sampling.variance(self.psi, other.psi)
        return dataclasses.replace(found, degrees=_degrees(self.sampling, found, few=few))

    def influences(self) -> Array:
        """Return what each group of the ranking adds to the area beyond the mean, by number."""
        units = self.ranking.unit_s, self.ranking.unit_t
        if units[0] is None or units[1] is None:
            raise ValueError("The rows come in no groups.")
        rows = self.ranking.in_row_order(units[0], units[1])
        return self.sampling.influences(self.psi, rows)

    def trials(self, sizes: tuple[float, float]) -> int:
        """Count disjoint pairs of a positive and a negative of the band."""
        return _trials(self.ranking, *self.band, sizes)

    def delong(self, other: Placements, level: float = 0.95) -> TestResult:
        """Test the difference from another scorer by the variance of components alone."""
        return self._by_variance(other, level, few=False)[0]

    def test(self, other: Placements, level: float = 0.95) -> TestResult:
        """Do the same as few rows allow: what the program says of two scorers rests on this."""
        plain, variance = self._by_variance(other, level, few=self.band == _WHOLE)
        difference = plain.difference
        if self.band == _WHOLE or math.isnan(plain.se) or plain.se == difference == 0:
            return plain
        sizes = self._sizes(other)
        rows = deciding_of(self.ranking, *self.band, (self.area + other.area) / 2, sizes)
        positives = self._deciding_positives(other, sizes)
        if min(rows.negatives, positives) < LEAST:
            return silent(difference, level, few_words(rows.negatives, positives))
        fewest = min(rows.negatives, rows.positives)
        few = fewest < PLENTY and plain.se > 0
        drawn = drawn_areas([self.ranking, other.ranking], *self.band, sizes) if few else None
        if drawn is None:
            return plain
        (lower_a, upper_a), (lower_b, upper_b) = drawn
        middle = (lower_a + upper_a - lower_b - upper_b) / 2
        spread = variance.widening * float(middle.std(ddof=1))
        degrees = min(variance.degrees, max(2 * fewest, 1.0))
        return studentised(difference, float(middle.mean()), spread, level, degrees)

    def _deciding_positives(self, other: Placements, sizes: tuple[float, float]) -> float:
        """Count the positives by which two scorers may differ within the band.

        By either score they are above some of its negatives, or below some, whichever are fewer:
        where both rank all positives above all negatives of the band, none decides it.
        """
        a, b = self.psi[0], other.psi[0]
        above = np.maximum(a, b) > _ROUNDING
        below = np.minimum(a, b) < 1 - _ROUNDING
        if self.sampling.shares is None:
            fewer = min(np.count_nonzero(above), np.count_nonzero(below))
            return fewer * sizes[0] / self.sampling.rows[0]
        of_rows = self.sampling.shares[0]
        return min(float(of_rows[above].sum()), float(of_rows[below].sum())) * sizes[0]

    def _sizes(self, other: Placements) -> tuple[float, float]:
        """Count the rows of both classes; in groups, by the larger design effect of the two."""
        if not self.sampling.clustered:
            return self.sampling.singles
        m, n = map(min, self.variance.sizes, other.variance.sizes)
        return m, n

    def _by_variance(
        self, other: Placements, level: float, *, few: bool
    ) -> tuple[TestResult, Variance]:
        """Test by the variance of the difference, which is returned too."""
        difference, sizes = self.area - other.area, self._sizes(other)
        if reason := self.sampling.too_few:
            return silent(difference, level, reason), Variance.of_rows(math.nan, sizes)
        found = self.difference_variance(other, few=few)
        if few and min(sizes) < LEAST_OF_CLASS and found.se > 0:
            return silent(difference, level, _FEW_OF_CLASS), found
        trials = self.trials(sizes)
        return comparison(difference, found.se, level, trials, found.degrees), found


def _trials(ranking: roc.Ranking, alpha: float, beta: float, sizes: tuple[float, float]) -> int:
    m, n = sizes
    if ranking.units is not None:
        return max(1, int(min(m, n * (beta - alpha))))
    if ranking.is_weighted:
        return max(1, int(min(m, ranking.curve.effective(alpha, beta))))
    first, last = roc.band_ranks(len(ranking.t), alpha, beta)
    return int(min(m, last - first + 1))


def _degrees(sampling: Sampling, variance: Variance, *, few: bool = False) -> float:
    """Return the degrees of freedom to go by: infinite where plenty of units decide.

    With ``few`` rows count as units also where they do not come in groups.
    """
    units = sampling.groups if sampling.clustered else variance.sizes
    few = few or sampling.clustered
    return variance.degrees if few and min(units) < PLENTY else math.inf


def few_words(negatives: float, positives: float = math.inf) -> str:
    """Return how few rows the area rests on: ``only 2 negatives in the range``."""
    row, count = ("negative", negatives) if negatives < LEAST else ("positive", positives)
    if count < 1:
        return f"less than one {row} in the range"
    number = f"{count:.2g}"
    return f"only {number} {row}{'' if number == '1' else 's'} in the range"
