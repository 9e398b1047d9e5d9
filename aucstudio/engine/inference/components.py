"""Components of a (partial) AUC: one number a row, whose variances add up to the area's.

Symbols: psi10 and psi01 the components of the positives and of the negatives; on [0, 1] they are
DeLong's V10 and V01. Areas are normalised, pAUC / (beta - alpha).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine import roc
from aucstudio.engine.inference.results import Array


def components(
    below: NDArray[np.intp], at_most: NDArray[np.intp], n: int, alpha: float, beta: float
) -> tuple[Array, Array]:
    """Give psi10 and psi01 of the normalised partial AUC, each class in ascending order.

    A positive's component is the rank weight of the negatives below it, ties one half. A
    negative's is the share of positives above it, the negative being moved to the nearest one
    inside the band: the winsorised placement.
    """
    weight = np.append(0.0, np.cumsum(roc.rank_weights(n, alpha, beta)[::-1]))
    psi10 = (weight[below] + weight[at_most]) / (2 * weight[-1])
    # A positive is above the negative of ascending rank j where it has more than j below it.
    found = np.bincount(below, minlength=n + 1) + np.bincount(at_most, minlength=n + 1)
    psi01 = (1 - np.cumsum(found[:n]) / (2 * len(below))) / (beta - alpha)
    first, last = roc.band_ranks(n, alpha, beta)
    psi01[: n - last] = psi01[n - last]
    psi01[n - first :] = psi01[n - first]
    return psi10, psi01


def aligned_components(
    y: ArrayLike, score: ArrayLike, alpha: float, beta: float, positive: object
) -> tuple[Array, Array]:
    """Give the components in row order, so that those of several scores match."""
    s, t = roc.split_scores(y, score, positive)
    orders = np.argsort(s), np.argsort(t)
    ranks = roc.look_up(t[orders[1]], s[orders[0]])
    aligned = np.empty(len(s)), np.empty(len(t))
    parts = components(*ranks, len(t), alpha, beta)
    for out, order, psi in zip(aligned, orders, parts, strict=True):
        out[order] = psi
    return aligned


def standard_error(psi10: Array, psi01: Array) -> float:
    """Compute the area's standard error; NaN with fewer than two rows in a class."""
    if min(len(psi10), len(psi01)) < 2:
        return math.nan
    # Taking one value off first makes the variance of equal numbers exactly 0.
    return math.sqrt(sum(float((psi - psi[0]).var(ddof=1)) / len(psi) for psi in (psi10, psi01)))
