"""Numbers as ranks: straight lines between knots, which are quantiles of the training cells.

The lowest and the highest knot are 0 and 1; as normal deviates, half a row away from them.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]

KNOTS = 101


def learn_knots(cells: Array, normal: bool) -> tuple[Array, Array]:
    """Return knots and their heights, each of shape (KNOTS,); equal knots have one height.

    Parameters
    ----------
    cells : ndarray
        Without missing values.
    normal : bool
        Whether the ranks become normal deviates.
    """
    count = min(len(cells), KNOTS)
    if not count:
        return np.zeros(KNOTS), np.zeros(KNOTS)
    ranks = np.linspace(0.0, 1.0, count) if count > 1 else np.zeros(1)
    # Halves: the difference of two doubles may be no double.
    knots = 2.0 * np.maximum.accumulate(np.quantile(cells / 2, ranks))
    first = np.searchsorted(knots, knots, "left")
    last = np.searchsorted(knots, knots, "right") - 1
    heights = (ranks[first] + ranks[last]) / 2
    # The ends stay ends, however many cells are there.
    heights[last == count - 1] = ranks[-1]
    heights[first == 0] = 0.0
    if normal:
        half = 0.5 / len(cells)
        heights = scipy.special.ndtri(np.clip(heights, half, 1 - half))
        if knots[0] == knots[-1]:
            heights[:] = 0.0
    padding = (0, KNOTS - count)
    return np.pad(knots, padding, mode="edge"), np.pad(heights, padding, mode="edge")


def to_ranks(cells: Array, knots: Array, heights: Array) -> Array:
    """Return the heights of cells; missing values stay."""
    halves, start = knots / 2, np.clip(cells, knots[0], knots[-1])
    piece = np.clip(np.searchsorted(knots, start, "right") - 1, 0, len(knots) - 2)
    width, rise = np.diff(halves), np.diff(heights)
    width = np.where(width > 0, width, 1.0)
    ranks: Array = heights[piece] + (start / 2 - halves[piece]) / width[piece] * rise[piece]
    return ranks


def from_ranks(ranks: Array, knots: Array, heights: Array) -> Array:
    """Return the cells whose heights are given; where many have one, the lowest of them."""
    level, first = np.unique(heights, return_index=True)
    return np.interp(ranks, level, knots[first])
