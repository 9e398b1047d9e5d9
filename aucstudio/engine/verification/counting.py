"""Pair sums and areas by enumeration.

Nothing is sorted: O(m n) time, in blocks that fit a processor's cache. Sums are kept in extended
precision.

Symbols: s_i scores of the m positives, t_j scores of the n negatives, M_ij = s_i - t_j.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aucstudio.engine.arrays import Array, Mask, portions

Report = Callable[[str, float], None]
"""Receives the stage and the share done; may raise to end the work."""

MOST_COMPARISONS = 2e10
_BLOCK = 1 << 18


class UnverifiableError(ValueError):
    """It cannot be verified here: it would not fit in memory, take hours, or is undetermined."""


def require_countable(m: int, n: int) -> None:
    """Raise UnverifiableError if the pairs would take too long to count."""
    if m * n > MOST_COMPARISONS:
        raise UnverifiableError(f"{m * n:,} pairs would take too long to count one by one")


def mean_over_pairs(s: Array, t: Array, loss: Callable[[Array], Array], report: Report) -> float:
    """Return the mean of a function of the margins of all pairs."""
    require_countable(len(s), len(t))
    total = np.longdouble(0)
    for part in portions(len(s), len(t), _BLOCK):
        total += np.longdouble(loss(s[part, None] - t[None, :]).sum())
        report("counting pairs", part.stop / len(s))
    return float(total / (len(s) * len(t)))


def counted_area(
    positive: Mask,
    scores: Array,
    band: tuple[float, float],
    report: Report,
    weights: Array | None = None,
) -> float:
    """Return the mean true positive rate over a range of false positive rates; AUC for (0, 1).

    Each value among the negatives covers the rates between the shares of negatives above it and
    not below it; there the true positive rate rises evenly by the positives that share the value.
    """
    each = np.ones(len(scores)) if weights is None else weights
    ups, downs = positive & (each > 0), ~positive & (each > 0)
    s, t, of_s, of_t = scores[ups], scores[downs], each[ups], each[downs]
    values, place = np.unique(t, return_inverse=True)
    at = np.bincount(place, of_t)
    above = np.zeros((3, len(values)))  # negatives above, positives above, positives at it
    for part in portions(len(values), len(scores), _BLOCK):
        v = values[part, None]
        above[:, part] = (t > v) @ of_t, (s > v) @ of_s, (s == v) @ of_s
        report("counting pairs", part.stop / len(values))
    start, end = above[0] / of_t.sum(), (above[0] + at) / of_t.sum()
    low, high = (np.clip(rate, start, end) for rate in band)
    heights = above[1] + above[2] * ((low + high) / 2 - start) / (end - start)
    area = ((high - low) * heights).astype(np.longdouble).sum() / of_s.sum()
    return float(area) / (band[1] - band[0])
