"""Independent trials that rates of weighted and grouped rows are worth, and exact bounds."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine.arrays import Array, Index, Mask, sums_below
from aucstudio.engine.compiled import kernel


def effective_rows(weights: Array) -> float:
    """Return how many rows of equal weight say as much: (sum w)^2 / sum w^2; 0 for none."""
    squares = float(weights @ weights)
    return float(weights.sum()) ** 2 / squares if squares else 0.0


def effective_trials(hit: Mask, weights: Array | None = None, groups: Index | None = None) -> float:
    """Return the number of independent trials that a share of rows is worth.

    Binomial bounds hold for a share of weighted or grouped rows with the trials that have its
    variance: p (1 - p) / v, with the variance v of a ratio of sums over groups, and multiplied by
    the squared ratio of the normal and Student's quantile for so many groups. They are at least
    the effective number of groups, and at most that of rows.

    Source: Korn and Graubard, Survey Methodology 24 (1998).

    Parameters
    ----------
    hit : ndarray of bool, shape (rows,)
        Which rows count for the share.
    weights : ndarray of shape (rows,), optional
    groups : ndarray of int, shape (rows,), optional
        Numbers from 0.

    Returns
    -------
    float
        0 without rows of some weight.
    """
    each = np.ones(len(hit)) if weights is None else weights
    if groups is None or not each.any():
        return effective_rows(each)
    return float(trials_at(groups, each, np.array([len(hit)]), hit)[0])


def binomial_bounds(
    count: ArrayLike, trials: ArrayLike, level: float = 0.95
) -> tuple[Array, Array]:
    """Bound the shares behind ``count`` of ``trials`` exactly; elementwise.

    Without trials the bounds are 0 and 1. Counts and trials need not be whole.
    Source: Clopper and Pearson, Biometrika 26 (1934).
    """
    found, of = np.broadcast_arrays(*np.atleast_1d(count, trials))
    rest, tail = np.maximum(of - found, 0.0), (1 - level) / 2
    # At a share of 0 or 1 the bound is known, and any shape will do.
    low = scipy.special.betaincinv(np.where(found > 0, found, 1.0), rest + 1, tail)
    high = scipy.special.betaincinv(found + 1, np.where(rest > 0, rest, 1.0), 1 - tail)
    return np.where(found > 0, low, 0.0), np.where(rest > 0, high, 1.0)


def trials_at(
    groups: Index, weights: Array, ends: NDArray[np.int64], hit: Mask | None = None
) -> Array:
    """Return the effective trials of the share of the first so many rows in all rows.

    Parameters
    ----------
    groups, weights : ndarray of shape (rows,)
    ends : ndarray of int
        Ascending numbers of rows.
    hit : ndarray of bool, shape (rows,), optional
        The share is that of these rows in the first so many.
    """
    weights = weights.astype(np.float64)
    until = sums_below(weights)[ends]
    if hit is None:
        of_group = np.bincount(groups, weights).astype(np.float64)
        spread, shares, counts = _group_squares(groups, weights, 0.0 * weights, ends, of_group)
        total = np.full(len(ends), weights.sum())
        p, single = until / total, np.full(len(ends), effective_rows(weights))
    else:
        of_group, hits = np.zeros(int(groups.max(initial=-1)) + 1), weights * hit
        spread, shares, counts = _group_squares(groups, hits, weights, ends, of_group)
        squares, total = sums_below(weights**2)[ends], until
        reached = sums_below(hits)[ends]
        p = np.divide(reached, total, out=np.zeros(len(ends)), where=total > 0)
        single = np.divide(total**2, squares, out=np.zeros(len(ends)), where=squares > 0)
    trials, several = np.minimum(shares, single), counts > 1
    known = several & (p > 0) & (p < 1) & (spread > 0)
    variance = spread[known] / total[known] ** 2 * counts[known] / (counts[known] - 1)
    exact = p[known] * (1 - p[known]) / variance
    trials[known] = np.clip(exact, shares[known], single[known])
    normal, student = scipy.special.ndtri(0.975), scipy.special.stdtrit(counts[several] - 1, 0.975)
    trials[several] *= (normal / student) ** 2
    trials[~several] = np.minimum(1.0, single[~several])
    return np.asarray(trials)


@kernel
def _group_squares(
    groups: Index, parts: Array, wholes: Array, ends: NDArray[np.int64], of_group: Array
) -> tuple[Array, Array, Array]:
    """Return sums over groups at the first so many rows.

    Each row adds its part and its whole to its group; of_group is what groups have at first.

    Returns
    -------
    spread : ndarray
        Squares of what groups have in parts beyond their share of the wholes.
    shares : ndarray
        Effective number of groups.
    counts : ndarray
        Groups that are not empty.
    """
    a, b = np.zeros(len(of_group)), of_group.copy()
    squares, products, all_squares = 0.0, 0.0, (of_group**2).sum()
    reached, total, count, row = 0.0, of_group.sum(), float((of_group > 0).sum()), 0
    spread, shares, counts = np.zeros(len(ends)), np.zeros(len(ends)), np.zeros(len(ends))
    for k in range(len(ends)):
        while row < ends[k]:
            group, part, whole = groups[row], parts[row], wholes[row]
            count += b[group] == 0 and whole > 0
            squares += 2 * a[group] * part + part**2
            products += part * b[group] + whole * a[group] + part * whole
            all_squares += 2 * b[group] * whole + whole**2
            a[group] += part
            b[group] += whole
            reached += part
            total += whole
            row += 1
        if total > 0:
            share = reached / total
            spread[k] = max(squares - 2 * share * products + share**2 * all_squares, 0.0)
            shares[k] = total**2 / all_squares
        counts[k] = count
    return spread, shares, counts
