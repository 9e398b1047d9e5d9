"""Sums over pairs of a positive and a negative, one pair after another, and areas by counting.

Nothing is sorted: O(m n) time, in blocks that fit a processor's cache. Sums are kept in extended
precision.

Symbols: s_i scores of the m positives, t_j scores of the n negatives, M_ij = s_i - t_j.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]
Tell = Callable[[str, float], None]
"""Hears what is being done, and how far it is; may raise to end it."""
Function = Callable[[Array], Array]

MOST_COMPARISONS = 2e10
_BLOCK = 1 << 18


def sum_over_pairs(s: Array, t: Array, value: Function, tell: Tell) -> float:
    """Add up a function of the margins of all pairs."""
    total = np.longdouble(0)
    for _, margins in blocks(s, t, tell):
        total += np.longdouble(value(margins).sum())
    return float(total)


def pulls(s: Array, t: Array, slope: Function, tell: Tell) -> tuple[Array, Array]:
    """Add up a function of the margins over the pairs of each positive, and of each negative."""
    of_s, of_t = np.zeros(len(s), np.longdouble), np.zeros(len(t), np.longdouble)
    for rows, margins in blocks(s, t, tell):
        slopes = slope(margins)
        of_s[rows] = slopes.sum(axis=1)
        of_t += slopes.sum(axis=0)
    return of_s.astype(float), of_t.astype(float)


def nearest_pairs(s: Array, t: Array, margin: float, most: int, tell: Tell) -> tuple[Index, Index]:
    """Choose the pairs whose margins are nearest to one value, at most so many."""
    far = np.empty(0)
    chosen = np.empty(0, np.intp)
    limit = np.inf
    for rows, margins in blocks(s, t, tell):
        off = np.abs(margins - margin).ravel()
        near = np.flatnonzero(off < limit)
        far = np.concatenate([far, off[near]])
        chosen = np.concatenate([chosen, near + rows.start * len(t)])
        if len(far) > 2 * most:
            far, chosen, limit = _nearest(far, chosen, most)
    if len(far) > most:
        far, chosen, _ = _nearest(far, chosen, most)
    i, j = np.divmod(np.sort(chosen), len(t))
    return i, j


def _nearest(far: Array, chosen: Index, most: int) -> tuple[Array, Index, float]:
    kept = np.argpartition(far, most - 1)[:most]
    return far[kept], chosen[kept], float(far[kept].max())


def blocks(s: Array, t: Array, tell: Tell) -> Iterator[tuple[slice, Array]]:
    """Give the margins of all pairs, some positives at a time."""
    step = max(1, _BLOCK // max(1, len(t)))
    for start in range(0, len(s), step):
        rows = slice(start, start + step)
        yield rows, s[rows, None] - t[None, :]
        tell("counting pairs", min(1.0, (start + step) / len(s)))


def counted_auc(positive: Mask, scores: Array, tell: Tell, weights: Array | None = None) -> float:
    """Give the share of the pairs that are in order, ties by half; weighted, if rows are."""
    s, t = scores[positive], scores[~positive]
    if weights is not None:
        total, of_s, of_t = np.longdouble(0), weights[positive], weights[~positive]
        for rows, margins in blocks(s, t, tell):
            total += of_s[rows] @ ((margins > 0) + 0.5 * (margins == 0)) @ of_t
        return float(total / (of_s.sum() * of_t.sum()))
    return sum_over_pairs(s, t, lambda M: (M > 0) + 0.5 * (M == 0), tell) / (len(s) * len(t))


def counted_pauc(
    positive: Mask,
    scores: Array,
    alpha: float,
    beta: float,
    tell: Tell,
    weights: Array | None = None,
) -> float:
    """Give the mean true positive rate over the false positive rates of a range.

    Each value among the negatives covers the rates between the shares of negatives above it and
    not below it; there the true positive rate rises evenly by the positives that share the value.
    """
    each = np.ones(len(scores)) if weights is None else weights
    ups, downs = positive & (each > 0), ~positive & (each > 0)
    s, t, of_s, of_t = scores[ups], scores[downs], each[ups], each[downs]
    m, n = of_s.sum(), of_t.sum()
    values, place = np.unique(t, return_inverse=True)
    here = np.bincount(place, of_t)
    above = np.zeros((3, len(values)))  # negatives above, positives above, positives at it
    step = max(1, _BLOCK // max(1, len(scores)))
    for start in range(0, len(values), step):
        part = slice(start, start + step)
        v = values[part, None]
        above[:, part] = (t > v) @ of_t, (s > v) @ of_s, (s == v) @ of_s
        tell("counting pairs", min(1.0, (start + step) / len(values)))
    start, end = above[0] / n, (above[0] + here) / n
    low, high = np.clip(alpha, start, end), np.clip(beta, start, end)

    def rate(x: Array) -> Array:
        height: Array = (above[1] + above[2] * (x - start) / (end - start)) / m
        return height

    area = ((high - low) * (rate(low) + rate(high)) / 2).astype(np.longdouble).sum()
    return float(area) / (beta - alpha)
