"""Tests over the results of methods on several tables: Wilcoxon, Friedman, Nemenyi.

Symbols: N tables, k methods. The larger of two values ranks better.
Source: Demsar, Journal of Machine Learning Research 7 (2006).
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import scipy
from numpy.typing import ArrayLike

from aucstudio.engine.inference.results import check_level
from aucstudio.engine.types import Array

_EXACT = 100  # differences up to which the distribution of rank sums is counted out
_DECIMALS = 12  # beyond these equal areas may differ by rounding


@dataclasses.dataclass(frozen=True)
class Wilcoxon:
    """The signed-rank test of two methods.

    Attributes
    ----------
    statistic : float
        Sum of the ranks of the tables on which the first method is better.
    p : float
        Two-sided.
    better, worse, equal : int
        Tables on which the first method is so.
    """

    statistic: float
    p: float
    better: int
    worse: int
    equal: int


@dataclasses.dataclass(frozen=True, eq=False)
class Friedman:
    """The rank test of several methods.

    Attributes
    ----------
    mean_ranks : ndarray of shape (n_methods,)
        1 is best; ties share their mean.
    scipy.stats.chi2, p_chi2 : float
        Friedman's statistic, corrected for ties, on k - 1 degrees of freedom.
    F, p : float
        Iman and Davenport's statistic on k - 1 and (k - 1)(N - 1) degrees of freedom, which is
        less conservative.
    """

    mean_ranks: Array
    chi2: float
    p_chi2: float
    F: float
    p: float


@dataclasses.dataclass(frozen=True, eq=False)
class Nemenyi:
    """Comparisons of all methods with each other, to follow a Friedman test that rejects.

    Attributes
    ----------
    mean_ranks : ndarray of shape (n_methods,)
    critical_difference : float
        Methods whose mean ranks are further apart differ.
    p : ndarray of shape (n_methods, n_methods)
        Corrected for all pairs.
    level : float
    """

    mean_ranks: Array
    critical_difference: float
    p: Array
    level: float


def wilcoxon(a: ArrayLike, b: ArrayLike) -> Wilcoxon:
    """Test whether two methods do equally well, from one value of each on every table.

    Differences are ranked by size; those of 0 take part in the ranking only (Pratt). The p-value
    is exact for up to 100 tables, ties or not, and from the normal approximation beyond.

    Raises
    ------
    ValueError
        If the lengths differ or are 0, or a value is not finite.
    """
    values = _checked(np.column_stack(_columns(a, b)))
    difference = np.round(values[:, 0] - values[:, 1], _DECIMALS)
    ranks = scipy.stats.rankdata(np.abs(difference))[difference != 0]
    won = difference[difference != 0] > 0
    statistic = float(ranks[won].sum())
    p = _exact_p(ranks, statistic) if len(values) <= _EXACT else _normal_p(ranks, statistic)
    better, worse = int(won.sum()), int((~won).sum())
    return Wilcoxon(statistic, p, better, worse, len(values) - better - worse)


def friedman(values: ArrayLike) -> Friedman:
    """Test whether all methods do equally well.

    Parameters
    ----------
    values : array-like of shape (n_tables, n_methods)
        At least two of each, no value missing.

    Raises
    ------
    ValueError
        If there are fewer, or a value is not finite.

    Notes
    -----
    Where all tables agree F is infinite; no p-value is below the probability of that.
    """
    ranks = _ranks(values)
    N, k = ranks.shape
    mean_ranks = ranks.mean(axis=0)
    # Sums of whole and half numbers, so that a spread of 0 is exact.
    spread = float((ranks**2).sum()) - N * k * (k + 1) ** 2 / 4
    if spread == 0:
        return Friedman(mean_ranks, 0.0, 1.0, 0.0, 1.0)
    between = float(((ranks.sum(axis=0) - N * (k + 1) / 2) ** 2).sum())
    statistic = (k - 1) * between / spread
    left = N * spread - between  # 0 where every table ranks alike
    F = (N - 1) * between / left if left > 0 else math.inf
    agreement = math.exp((1 - N) * float(scipy.special.gammaln(k + 1)))
    p = max(float(scipy.special.fdtrc(k - 1, (k - 1) * (N - 1), F)), agreement)
    p_chi2 = max(float(scipy.stats.chi2.sf(statistic, k - 1)), agreement)
    return Friedman(mean_ranks, statistic, p_chi2, F, p)


def nemenyi(values: ArrayLike, level: float = 0.95) -> Nemenyi:
    """Compare all methods with each other by their mean ranks; ``values`` as :func:`friedman`.

    Raises
    ------
    ValueError
        As :func:`friedman`, and if level is outside (0, 1).
    """
    check_level(level)
    ranks = _ranks(values)
    N, k = ranks.shape
    mean_ranks = ranks.mean(axis=0)
    unit = math.sqrt(k * (k + 1) / (12 * N))  # the studentised range divides by one spread
    critical = float(scipy.stats.studentized_range.ppf(level, k, math.inf)) * unit
    p = scipy.stats.studentized_range.sf(
        np.abs(mean_ranks[:, None] - mean_ranks) / unit, k, math.inf
    )
    return Nemenyi(mean_ranks, critical, np.clip(p, 0.0, 1.0), level)


def _columns(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    one, other = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(
            f"a and b must be two columns of equal length; they have the shapes "
            f"{one.shape} and {other.shape}."
        )
    return one, other


def _checked(values: ArrayLike) -> Array:
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 2 or x.size == 0 or not np.isfinite(x).all():
        raise ValueError("There must be one finite value for every method on every table.")
    return np.round(x, _DECIMALS)


def _ranks(values: ArrayLike) -> Array:
    x = _checked(values)
    if min(x.shape) < 2:
        raise ValueError(f"At least two tables and two methods are needed; they are {x.shape}.")
    ranks: Array = scipy.stats.rankdata(-x, axis=1)
    return ranks


def _exact_p(ranks: Array, statistic: float) -> float:
    """Two-sided p of a sum of ranks, each with probability 1/2, from all subsets."""
    doubled = np.rint(2 * ranks).astype(np.intp)  # whole numbers, for tied ranks are halves
    probability = np.zeros(int(doubled.sum()) + 1)
    probability[0] = 1.0
    for rank in doubled:
        moved = np.append(np.zeros(rank), probability[: len(probability) - rank])
        probability = (probability + moved) / 2
    place = round(2 * statistic)
    smaller_tail = min(float(probability[: place + 1].sum()), float(probability[place:].sum()))
    return min(1.0, 2 * smaller_tail)


def _normal_p(ranks: Array, statistic: float) -> float:
    if ranks.size == 0:
        return 1.0
    z = (statistic - ranks.sum() / 2) / math.sqrt(float((ranks**2).sum()) / 4)
    return float(2 * scipy.special.ndtr(-abs(z)))
