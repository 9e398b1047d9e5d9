"""How many more rows a study needs to find a difference of two runs significant."""

from __future__ import annotations

import math

import numpy as np
import scipy

from aucstudio.project.results.comparison import UNCORRECTED, PairComparison
from aucstudio.project.results.summary import LEVEL
from aucstudio.project.runs.record import RunRecord

ASSURANCE = 0.8
"""Probability that the new study finds the difference significant."""

_FURTHEST = 8.0  # standard errors, beyond which a normal quantile is no longer a number
_MOST_GROWTH = 1e12


def growth_to_significance(pair: PairComparison, splits: int, tests: int) -> float | None:
    """Return how many times the rows a new study needs to find a difference significant.

    The measured difference is uncertain, and power at a true difference equal to it would promise
    too much. The true difference is taken to be normal about the measured one with its standard
    error; the assurance is the power averaged over it, whichever run ranks better. The standard
    error goes with 1 / sqrt(rows). Where p-values are corrected the level is Bonferroni's,
    (1 - level) / tests, which Holm's method never exceeds. The standard error is read off the
    interval.
    Source: O'Hagan, Stevens and Campbell, Pharmaceutical Statistics 4 (2005).

    Parameters
    ----------
    pair : PairComparison
    splits : int
        With several, Student's quantile on splits - 1 degrees of freedom takes the normal one's
        place in the test.
    tests : int
        Pairs that are corrected for together.

    Returns
    -------
    float or None
        At least 1; infinite where there are too few splits for a test so strict; None where
        there is nothing to forecast, for the difference is significant, 0 or untested.
    """
    found = _in_errors(pair, splits, tests)
    if found is None:
        return None
    measured, strict = found
    if strict > _FURTHEST:
        return math.inf

    def missing(log_growth: float) -> float:
        return ASSURANCE - assured(measured, strict, math.exp(log_growth))

    if missing(0.0) <= 0:
        return 1.0
    return math.exp(scipy.optimize.brentq(missing, 0.0, math.log(_MOST_GROWTH)))


def growth_if_as_measured(pair: PairComparison, splits: int, tests: int) -> float:
    """Return the same where the true difference is the measured one: plain power, no assurance."""
    found = _in_errors(pair, splits, tests)
    if found is None:
        return math.nan
    measured, strict = found
    return max(1.0, ((strict + float(scipy.special.ndtri(ASSURANCE))) / measured) ** 2)


def _in_errors(pair: PairComparison, splits: int, tests: int) -> tuple[float, float] | None:
    """Return the difference and the critical value, both in standard errors, if it is open."""
    reach = max(pair.high - pair.difference, pair.difference - pair.low)
    if pair.significant or not pair.difference or not reach > 0:  # NaN is not above 0 either
        return None
    corrected_for = 1 if pair.correction == UNCORRECTED else tests
    ours, strict = (_quantile((1 - LEVEL) / many, splits) for many in (1, corrected_for))
    return pair.difference * ours / reach, strict


def assured(measured: float, critical: float, growth: float) -> float:
    """Return the probability that a study of ``growth`` times the rows is significant.

    ``measured`` is the difference found in this one, in its standard errors; ``critical`` the
    quantile of the test. The new estimate varies about the measured one by 1 + 1 / growth.
    """
    spread = math.sqrt(1 + 1 / growth)
    ends = (sign * measured - critical / math.sqrt(growth) for sign in (-1, 1))
    return sum(float(scipy.special.ndtr(end / spread)) for end in ends)


def held_out_groups(record: RunRecord) -> int:
    """Count the groups that a run held out, each once; 0 where rows come in no groups.

    Groups are the sampling units: the standard error falls as groups are added, not rows.
    """
    first = [split for split in record.splits if split.repeat == record.splits[0].repeat]
    return sum(len(np.unique(s.test_groups)) for s in first if s.test_groups is not None)


def _quantile(error: float, splits: int) -> float:
    """Return the two-sided critical value of the test over so many splits."""
    inside = 1 - error / 2
    if splits == 1:
        return float(scipy.special.ndtri(inside))
    return float(scipy.special.stdtrit(splits - 1, inside)) if splits > 1 else math.inf
