"""Bands of FPR seen as ranks of the negatives: which meet a band, and how much each counts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from aucstudio.engine.roc.area import look_up
from aucstudio.engine.roc.curve import sorted_scores
from aucstudio.engine.types import Array


def check_band(alpha: float, beta: float) -> None:
    """Raise ValueError unless 0 <= alpha < beta <= 1."""
    if not 0 <= alpha < beta <= 1:
        raise ValueError(
            f"The FPR range needs 0 <= alpha < beta <= 1; it is alpha = {alpha}, beta = {beta}."
        )


def band_ranks(n: int, alpha: float, beta: float) -> tuple[int, int]:
    """Return the ranks j (from 1) of the first and last of n negatives that meet the band."""
    first = math.floor(position(n, alpha)) + 1
    return first, max(first, math.ceil(position(n, beta)))


def position(n: int, share: float) -> float:
    """Compute n * share, a whole number where only rounding kept it from one (100 * 0.07)."""
    place = n * share
    nearest = round(place)
    return nearest if abs(place - nearest) <= 1e-14 * n else place


def band_coverage(low: float, high: float, n: int) -> str:
    """Word how many of n negatives a range of FPR covers: ``FPR ≤ 0.001 covers 3 negatives``."""
    if low == 0:
        band = f"FPR ≤ {high:g}"
    else:
        band = f"FPR ≥ {low:g}" if high == 1 else f"FPR {low:g} … {high:g}"
    first, last = band_ranks(n, low, high)
    covered = position(n, high) - position(n, low)
    return f"{band} covers {_amount(covered, last - first + 1)}"


def _amount(covered: float, count: int) -> str:
    """Word how many negatives a range touches, the outermost ones perhaps in part."""
    if covered < 0.995:
        return "part of one negative" if count == 1 else "less than one negative"
    return f"{count:,} negative{'' if count == 1 else 's'}"


def rank_weights(n: int, alpha: float, beta: float) -> Array:
    """Return g_j for j = 1..n: n times the length of [(j-1)/n, j/n] inside [alpha, beta]."""
    check_band(alpha, beta)
    ends = np.clip(np.arange(n + 1.0), n * alpha, n * beta)
    return np.diff(ends)


def rank_pauc(
    y: ArrayLike,
    score: ArrayLike,
    alpha: float = 0.0,
    beta: float = 1.0,
    *,
    positive: object = None,
) -> float:
    """Compute the normalised partial AUC by rank weights, the definition used in training.

    sum_ij g_j [1(s_i > v_(j)) + 1/2 1(s_i = v_(j))] / (m n (beta - alpha)). It differs from
    :func:`partial_auc` only where a bound falls inside a tie of positives and negatives.

    Raises
    ------
    ValueError
        Unless 0 <= alpha < beta <= 1, and for input that :func:`split_scores` refuses.
    """
    s, t = sorted_scores(y, score, positive)
    g = rank_weights(len(t), alpha, beta)[::-1]
    below, at_most = look_up(s, t)
    return float(g @ (1 - (below + at_most) / (2 * len(s))) / g.sum())
