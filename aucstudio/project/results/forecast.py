"""How many more rows, or groups of rows, would make an open comparison significant."""

from __future__ import annotations

import math

import numpy as np
import scipy

from aucstudio.engine import inference
from aucstudio.project.results.comparison import UNCORRECTED, PairComparison
from aucstudio.project.results.summary import LEVEL
from aucstudio.project.runs.record import RunRecord

POWER = 0.8
_FURTHEST = 8.0  # standard errors, beyond which a normal quantile is no longer a number


def growth_to_settle(
    pair: PairComparison, splits: int, tests: int, power: float = POWER
) -> float | None:
    """Tell how many times the rows it would take to settle a difference.

    The true difference is taken to be the measured one, and the variance to fall as rows of the
    same kind are added: the standard error goes with 1 / sqrt(rows). Where p-values are corrected
    the level is Bonferroni's, (1 - level) / tests, which Holm's method never exceeds. The standard
    error is read off the interval.

    Parameters
    ----------
    pair : PairComparison
    splits : int
        With several, Student's quantile on splits - 1 degrees of freedom takes the normal one's
        place in the test.
    tests : int
        Pairs that are corrected for together.
    power : float
        Probability of settling it then.

    Returns
    -------
    float or None
        At least 1; infinite where there are too few splits for a test so strict; None where
        there is nothing to forecast, for the difference is settled, 0 or untested.
    """
    reach = max(pair.high - pair.difference, pair.difference - pair.low)
    if pair.settled or not pair.difference or not reach > 0:  # NaN is not above 0 either
        return None
    se = reach / _quantile(1 - LEVEL, splits)
    strict = _quantile((1 - LEVEL) / (1 if pair.correction == UNCORRECTED else tests), splits)
    if strict > _FURTHEST:
        return math.inf
    # The engine speaks of levels: the one whose normal quantile is the test's.
    level = 2 * float(scipy.special.ndtr(strict)) - 1
    needed = scipy.optimize.brentq(
        lambda z: inference.power_of(z, 1.0, level) - power, 1e-9, 2 * _FURTHEST
    )
    return max(1.0, (float(needed) * se / pair.difference) ** 2)


def held_out_groups(record: RunRecord) -> int:
    """Count the groups that a run held out, each once; 0 where rows come in no groups.

    Groups are the sampling units: the standard error falls as groups are added, not rows.
    """
    first = [split for split in record.splits if split.repeat == record.splits[0].repeat]
    return sum(len(np.unique(s.test_groups)) for s in first if s.test_groups is not None)


def _quantile(error: float, splits: int) -> float:
    """Give the two-sided critical value of the test over so many splits."""
    inside = 1 - error / 2
    if splits == 1:
        return float(scipy.special.ndtri(inside))
    return float(scipy.special.stdtrit(splits - 1, inside)) if splits > 1 else math.inf
