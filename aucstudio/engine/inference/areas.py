"""Intervals and tests of (partial) AUCs.

Where many rows decide an area they follow from the variance of its components, the interval on
the scale of the logit. Where few do, that variance is itself unknown (with one negative in a
band it is 0), and intervals and tests come from drawn curves. Which holds where was found by
simulation: ``python -m tests.benchmarks.inference_grid``.
"""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array
from aucstudio.engine.inference.drawn_curves import bounds, deciding, drawn_areas
from aucstudio.engine.inference.results import (
    Interval,
    TestResult,
    absent_interval,
    check_level,
    comparison,
    logit_interval,
    quantile_level,
    silent,
    studentised,
    unanimous_interval,
    widened,
)
from aucstudio.engine.inference.sampling import Components, Sampling, Variance, components_of
from aucstudio.engine.inference.spacings import DRAWS

PLENTY = 60
"""Rows that decide an area, from which on its variance is known well enough."""

LEAST = 3
"""Least rows that decide an area for a p-value."""

LEAST_OF_CLASS = 5
"""Least rows of each class for a p-value of whole areas."""

LEAST_IN_FOLD = 5
"""Negatives that must decide a range in each fold for its mean area to be all but unbiased."""

_ROUNDING = 1e-9
_FEW_OF_CLASS = f"a class has fewer than {LEAST_OF_CLASS} rows"
_DRAWN = f"order statistics, {DRAWS} draws"

Band = tuple[float, float]
_WHOLE: Band = (0.0, 1.0)


def delong_interval(
    y: ArrayLike,
    score: ArrayLike,
    level: float = 0.95,
    **rows: Unpack[roc.Sampled],
) -> Interval:
    """Estimate the AUC with DeLong's standard error, in O(N log N), and its interval.

    The bounds are value -+ z se on the scale of the logit. Where fewer than 60 rows decide it
    (of 1,000 rows a class an AUC of .94 is decided by the 60 that rank wrongly), the standard
    error is unreliable: there the bounds reach as far as quantiles over curves
    drawn from the order statistics do (see :func:`pauc_interval`), if that is further. At AUC 0
    or 1, and where all scores are equal, they are the exact binomial bounds for min(m, n)
    trials: so many disjoint pairs of a positive and a negative are independent, and all of them
    came out alike. With fewer than two rows in a class the bounds are NaN.

    Parameters
    ----------
    y, score : array-like of shape (n_samples,)
    level : float
    positive : label, optional
        The larger of both labels by default.
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
    return interval_of(roc.Ranking.of(y, score, **rows), *_WHOLE, level)


def pauc_interval(
    y: ArrayLike,
    score: ArrayLike,
    alpha: float,
    beta: float,
    level: float = 0.95,
    **rows: Unpack[roc.Sampled],
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
    return interval_of(roc.Ranking.of(y, score, **rows), alpha, beta, level)


def delong_test(
    y: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    level: float = 0.95,
    **rows: Unpack[roc.Sampled],
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
    a, b = (Placements(roc.Ranking.of(y, of, **rows), _WHOLE) for of in (score_a, score_b))
    return a.delong(b, level)


def auc_test(
    y: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    level: float = 0.95,
    **rows: Unpack[roc.Sampled],
) -> TestResult:
    """Test as :func:`delong_test` does, with corrections for few rows.

    Where a class has fewer than 60 rows, z follows Student's t with Welch's degrees of freedom,
    as the normal law rejects too often there: with 5 to 8 positives among 4 to 20 times as many
    negatives, one of eight equal scores differed significantly in 8 to 18 of 100 simulations,
    against 4 to 5. With fewer than 5 rows of a class there is no p.
    """
    a, b = (Placements(roc.Ranking.of(y, of, **rows), _WHOLE) for of in (score_a, score_b))
    return a.test(b, level)


def pauc_test(
    y: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    alpha: float,
    beta: float,
    level: float = 0.95,
    **rows: Unpack[roc.Sampled],
) -> TestResult:
    """Test whether two scores of the same rows have equal partial AUC.

    Over [0, 1] it is :func:`delong_test`; with few rows of a class use :func:`auc_test`.
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
    band = alpha, beta
    a, b = (Placements(roc.Ranking.of(y, of, **rows), band) for of in (score_a, score_b))
    return a.delong(b, level) if band == _WHOLE else a.test(b, level)


def interval_of(ranking: roc.Ranking, alpha: float, beta: float, level: float) -> Interval:
    """Compute :func:`pauc_interval` from sorted scores; on [0, 1] :func:`delong_interval`."""
    check_level(level)
    band = alpha, beta
    one = Placements(ranking, band)
    value = one.area
    if reason := one.sampling.too_few:
        return absent_interval(value, level, reason)
    variance, whole = one.variance, band == _WHOLE
    se, sizes = variance.se, variance.sizes
    rows = deciding(ranking, *band, value, sizes)
    if rows.negatives < 1:
        return absent_interval(value, level, few_words(one.sampling, rows.negatives))
    method = "DeLong" if whole else "placements"
    if se == 0 and (whole or len(ranking.curve.corners().fp) == 2):  # all scores are equal
        return unanimous_interval(value, level, method, one.trials(sizes))
    plain = logit_interval(value, se, level, method, variance.degrees)
    few = min(rows.low, rows.high) < PLENTY
    drawn = drawn_areas([ranking], *band, sizes) if few else None
    if drawn is None:
        return plain
    lower, upper = drawn[0]
    outer = level if whole else quantile_level(level, variance.degrees)
    low, high = widened(value, *bounds(lower, upper, rows, outer), variance.widening)
    if whole or math.isfinite(variance.degrees):
        # The components show what they can, however few rows decide.
        low, high = min(low, plain.low), max(high, plain.high)
    if not whole:
        se = variance.widening * float(((lower + upper) / 2).std(ddof=1))
    return Interval(value, min(low, value), max(high, value), level, _DRAWN, se)


@dataclasses.dataclass(frozen=True, eq=False)
class Placements:
    """The normalised area of one scorer over a range of FPR, and what paired tests need of it.

    Attributes
    ----------
    ranking : Ranking
    band : (float, float)
    """

    ranking: roc.Ranking
    band: Band

    @cached_property
    def area(self) -> float:
        """The normalised area."""
        return roc.area(self.ranking, *self.band)

    @cached_property
    def sampling(self) -> Sampling:
        """How the rows were sampled, in ascending order of the scores."""
        return Sampling.of(self.ranking)

    @cached_property
    def psi(self) -> Components:
        """The components psi10 and psi01, in ascending order of the scores."""
        return components_of(self.ranking, *self.band)

    @cached_property
    def paired(self) -> tuple[Sampling, Components]:
        """The sampling and the components in row order, in which those of scorers match."""
        order = self.ranking.in_row_order
        return self.sampling.in_row_order(self.ranking), order(*self.psi)

    @cached_property
    def variance(self) -> Variance:
        """The variance of the area; its degrees of freedom are infinite but for few groups."""
        found = self.sampling.variance(self.psi)
        return dataclasses.replace(found, degrees=_degrees(self.sampling, found))

    def difference_variance(self, other: Placements, *, few: bool = False) -> Variance:
        """Estimate the variance of the difference from another scorer of the same rows.

        Its degrees of freedom are infinite but for few groups, with ``few`` for few rows too.
        """
        sampling, psi = self.paired
        found = sampling.variance(psi, other.paired[1])
        return dataclasses.replace(found, degrees=_degrees(self.sampling, found, few=few))

    def influences(self) -> Array:
        """Return what each group of the ranking adds to the area beyond the mean, by number."""
        if self.ranking.groups is None:
            raise ValueError("The rows have no groups.")
        shares = self.sampling.share(0), self.sampling.share(1)
        added = [share * (of - share @ of) for share, of in zip(shares, self.psi, strict=True)]
        sums = np.bincount(np.append(*self.ranking.groups), np.append(*added))
        return np.asarray(sums, dtype=np.float64)

    def trials(self, sizes: tuple[float, float]) -> int:
        """Count disjoint pairs of a positive and a negative of the band."""
        m, n = sizes
        if self.ranking.units is not None:
            return max(1, int(min(m, n * (self.band[1] - self.band[0]))))
        if self.ranking.is_weighted:
            return max(1, int(min(m, self.ranking.curve.effective(*self.band))))
        first, last = roc.band_ranks(len(self.ranking.t), *self.band)
        return int(min(m, last - first + 1))

    def delong(self, other: Placements, level: float = 0.95) -> TestResult:
        """Test the difference from another scorer by the variance of components alone."""
        return self._by_variance(other, level, few=False)[0]

    def test(self, other: Placements, level: float = 0.95) -> TestResult:
        """Test the difference with corrections for few rows; the program's comparisons use this."""
        plain, variance = self._by_variance(other, level, few=self.band == _WHOLE)
        difference = plain.difference
        if self.band == _WHOLE or math.isnan(plain.se) or plain.se == difference == 0:
            return plain
        sizes = self._sizes(other)
        rows = deciding(self.ranking, *self.band, (self.area + other.area) / 2, sizes)
        positives = self._deciding_positives(other, sizes)
        if min(rows.negatives, positives) < LEAST:
            return silent(difference, level, few_words(self.sampling, rows.negatives, positives))
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
        (sampling, (a, _)), (_, (b, _)) = self.paired, other.paired
        above = np.maximum(a, b) > _ROUNDING
        below = np.minimum(a, b) < 1 - _ROUNDING
        if sampling.shares is None:
            fewer = min(np.count_nonzero(above), np.count_nonzero(below))
            return fewer * sizes[0] / sampling.rows[0]
        of_rows = sampling.shares[0]
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
        check_level(level)
        difference, sizes = self.area - other.area, self._sizes(other)
        found = self.difference_variance(other, few=few)
        if reason := self.sampling.too_few:
            return silent(difference, level, reason), found
        if few and min(sizes) < LEAST_OF_CLASS and found.se > 0:
            return silent(difference, level, _FEW_OF_CLASS), found
        trials = self.trials(sizes)
        return comparison(difference, found.se, level, trials, found.degrees), found


def _degrees(sampling: Sampling, variance: Variance, *, few: bool = False) -> float:
    """Return the degrees of freedom to go by: infinite where plenty of units decide.

    With ``few`` rows count as units also where they do not come in groups.
    """
    units = sampling.groups if sampling.clustered else variance.sizes
    few = few or sampling.clustered
    return variance.degrees if few and min(units) < PLENTY else math.inf


def few_words(sampling: Sampling, negatives: float, positives: float = math.inf) -> str:
    """Return how few rows the area rests on: ``only 2 negatives in the range``."""
    row, count = ("negative", negatives) if negatives < LEAST else ("positive", positives)
    # Rows of one group, or of unequal weight, count as fewer independent ones.
    uneven = any(map(np.ptp, sampling.shares or ()))
    cause = "groups" if sampling.clustered else "weights" if uneven else ""
    start, row = (f"the {cause} leave ", f"independent {row}") if cause else ("", row)
    if count < 1:
        return f"{start}less than one {row} in the range"
    number = f"{count:.2g}"
    return f"{start}only {number} {row}{'' if number == '1' else 's'} in the range"
