"""Components of a (partial) AUC: one number a row, whose variances add up to the area's.

Where rows come in groups, the components are summed by group: groups are the sampling units.

Symbols: psi10 and psi01 the components of the positives and of the negatives; on [0, 1] they are
DeLong's V10 and V01. Areas are normalised, pAUC / (beta - alpha).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import roc
from aucstudio.engine.compiled import kernel
from aucstudio.engine.inference.sampling import Components, row_variance
from aucstudio.engine.types import Array

Ranks = NDArray[np.intp]


def positive_components(below: Ranks, at_most: Ranks, n: int, alpha: float, beta: float) -> Array:
    """Return psi10: the rank weight of the n negatives below each positive, ties one half.

    The weight of the k lowest negatives is the part of the band right of FPR 1 - k/n.
    """
    low, high = n * (1.0 - beta), n * (1.0 - alpha)
    psi10: Array = np.add(np.clip(below, low, high), np.clip(at_most, low, high), dtype=np.float64)
    psi10 -= 2 * low
    psi10 /= 2 * (high - low)
    return psi10


def negative_components(below: Ranks, at_most: Ranks, n: int, alpha: float, beta: float) -> Array:
    """Return psi01, the negatives in ascending order: the share of positives above each.

    A negative is moved to the nearest one inside the band first: the winsorised placement.
    """
    # A positive is above the negative of ascending rank j where it has more than j below it.
    found = np.bincount(below, minlength=n + 1) + np.bincount(at_most, minlength=n + 1)
    psi01 = (1 - np.cumsum(found[:n]) / (2 * len(below))) / (beta - alpha)
    lowest, highest = _band_ends(n, alpha, beta)
    psi01[:lowest] = psi01[lowest]
    psi01[highest:] = psi01[highest]
    return psi01


def components_of(ranking: roc.Ranking, alpha: float, beta: float) -> Components:
    """Compute the components in row order, in which those of several scores match."""
    if ranking.is_weighted:
        return ranking.in_row_order(*_weighted(ranking, alpha, beta))
    ranks, n = (ranking.below, ranking.at_most), len(ranking.t)
    psi10 = positive_components(*ranks, n, alpha, beta)
    return ranking.in_row_order(psi10, negative_components(*ranks, n, alpha, beta))


def _weighted(ranking: roc.Ranking, alpha: float, beta: float) -> tuple[Array, Array]:
    """Return both components of weighted rows, each in ascending order of the scores.

    They are the influences of the rows on the area (linearisation), whose spread over the rows
    gives its variance: sums of weights stand where the others count rows.
    """
    assert ranking.weight_s is not None
    assert ranking.weight_t is not None
    below, at_most = ranking.weight_below(ranking.below), ranking.weight_below(ranking.at_most)
    total = ranking.weight_below(np.array([len(ranking.t)]))[0]
    low, high = total * (1.0 - beta), total * (1.0 - alpha)
    psi10 = (np.clip(below, low, high) + np.clip(at_most, low, high) - 2 * low) / (2 * (high - low))
    n, of_s = len(ranking.t), ranking.weight_s
    found = np.bincount(ranking.below, of_s, minlength=n + 1)
    found += np.bincount(ranking.at_most, of_s, minlength=n + 1)
    psi01 = (1 - np.cumsum(found[:n]) / (2 * of_s.sum())) / (beta - alpha)
    under = ranking.weight_below(np.arange(n + 1))
    lowest = min(int(np.searchsorted(under[1:], low, "right")), n - 1)
    highest = max(int(np.searchsorted(under[:-1], high, "left")) - 1, lowest)
    psi01[:lowest] = psi01[lowest]
    psi01[highest:] = psi01[highest]
    return psi10, psi01


def rank_standard_error(below: Ranks, at_most: Ranks, n: int, alpha: float, beta: float) -> float:
    """Do what :func:`standard_error` does with both classes' components, straight from the ranks.

    ``below`` and ``at_most`` must ascend, as they do where the positives are sorted.
    """
    m = len(below)
    if min(m, n) < 2:
        return math.nan
    psi10 = positive_components(below, at_most, n, alpha, beta)
    unit = 2 * m * (beta - alpha)  # psi01 counts halves of a positive
    psi01_variance = _winsorised_variance(below, at_most, n, *_band_ends(n, alpha, beta)) / unit**2
    return math.sqrt(row_variance(psi10) / m + psi01_variance / n)


@kernel
def _winsorised_variance(below: Ranks, at_most: Ranks, n: int, lowest: int, highest: int) -> float:
    """Compute the variance over j < n of how many ranks are at most j, j moved into the band."""
    m = len(below)
    total = 0
    for ranks in (below, at_most):
        for rank in ranks:
            if rank <= highest:
                total += n - rank if rank > lowest else n
    mean = total / n
    squares, i, k = 0.0, 0, 0
    for j in range(lowest, highest + 1):
        while i < m and below[i] <= j:
            i += 1
        while k < m and at_most[k] <= j:
            k += 1
        moved = (lowest if j == lowest else 0) + (n - 1 - highest if j == highest else 0)
        squares += (1 + moved) * (i + k - mean) ** 2
    return squares / (n - 1)


def _band_ends(n: int, alpha: float, beta: float) -> tuple[int, int]:
    """Return the ascending ranks, from 0, of the lowest and highest negative inside the band."""
    first, last = roc.band_ranks(n, alpha, beta)
    return n - last, n - first
