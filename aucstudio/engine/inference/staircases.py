"""Partial areas of ROC curves drawn from what their order statistics leave open.

The true FPR at the j-th highest negative is distributed as the sum of the first j of n + 1
spacings of Dirichlet(1, ..., 1), whatever the scores; the true TPR at the i-th highest positive
as that of i of m + 1. A draw of both places every vertex (fp, tp) of the curve: between the
FPRs of negatives fp and fp + 1, and between the TPRs of positives tp and tp + 1. A lower curve
runs through (fp + 1, tp) and an upper one through (fp, tp + 1); they enclose the true curve as
far as the order of the rows tells. The spacings belong to the rows, so that several scores of
the same rows are drawn together.

The uncertainty of the threshold at a band's end is in the draws, which therefore hold from one
negative in the band on, where a variance of components fails.

Symbols: s, t scores of the m positives and n negatives; k negatives above the band's end or
below its start; [alpha, beta] the band of FPR.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import roc
from aucstudio.engine.compiled import kernel
from aucstudio.engine.inference.sampling import Sampling
from aucstudio.engine.inference.spacings import drawn_ends
from aucstudio.engine.types import Array

# A negative further than so many standard deviations and ranks off the band's end is never in it.
_DEVIATIONS, _RANKS = 8.0, 20


# By simulation (tests/benchmarks/inference_grid.py): with r rows to decide a bound, it needs the
# share 1.5 / r of the way from the middle of both curves to the outer one.
_OUTWARD = 1.5

_MOST_VERTICES = 900  # of a whole curve whose heights are drawn

Ranks = NDArray[np.intp]


@dataclasses.dataclass(frozen=True)
class Deciding:
    """How many rows decide a partial area.

    Attributes
    ----------
    negatives : float
        Above the band's end or below its start, whichever are fewer.
    positives : float
        Found in the band or missed there, whichever are fewer.
    low, high : float
        Rows on which the lower and the upper bound rest.
    """

    negatives: float
    positives: float
    low: float
    high: float


def deciding(m: float, n: float, alpha: float, beta: float, area: float) -> Deciding:
    """Count the rows that decide a normalised area over a band."""
    return decided_by(m, n * beta, n * (1 - alpha), (alpha, beta), area)


def deciding_of(
    ranking: roc.Ranking, alpha: float, beta: float, area: float, sizes: tuple[float, float]
) -> Deciding:
    """Do what :func:`deciding` does for sorted scores.

    ``sizes`` counts positives and negatives: weighted rows as rows of equal weight, rows in
    groups by their design effect.
    """
    m, n = sizes
    if not ranking.is_weighted:
        return deciding(m, n, alpha, beta, area)
    curve = ranking.curve
    above, below, total = (curve.effective(*of) for of in ((0.0, beta), (alpha, 1.0), (0.0, 1.0)))
    by_groups = n / total if ranking.units is not None else 1.0
    return decided_by(m, by_groups * above, by_groups * below, (alpha, beta), area)


def decided_by(
    m: float, above: float, below: float, band: tuple[float, float], area: float
) -> Deciding:
    """Count them, given the positives and the negatives above the band's end, below its start."""
    alpha, beta = band
    k, found, missed = min(above, below), m * area, m * (1 - area)
    low, high = min(k, found), min(k, missed)
    # At a corner of the picture the classes play equal roles.
    if beta == 1:
        low = min(low, below * area)
    if alpha == 0:
        high = min(high, above * (1 - area))
    return Deciding(k, min(found, missed), low, high)


def drawn_areas(
    rankings: Sequence[roc.Ranking],
    alpha: float,
    beta: float,
    sizes: tuple[float, float] | None = None,
) -> list[tuple[Array, Array]] | None:
    """Draw the normalised areas under the lower and the upper curve of each score.

    Parameters
    ----------
    rankings : sequence of Ranking
        Of the same rows.
    alpha, beta : float
    sizes : (float, float), optional
        Positives and negatives: rows in groups by their design effect.

    Returns
    -------
    list of (lower, upper), each of shape (DRAWS,); None where the curves have too many
    vertices near the band, which means that there are plenty of rows.
    """
    parts = [_near(one, alpha, beta) for one in rankings]
    drawn = drawn_ends(rankings, parts, sizes)
    if drawn is None:
        return None
    (up, of_up), (along, of_along) = drawn
    return [
        _areas(
            *(of_along, along.place[k], along.ends[k], of_up, up.place[k], up.ends[k]),
            *(float(alpha), float(beta)),
        )
        for k in range(len(rankings))
    ]


def drawn_heights(
    ranking: roc.Ranking, grid: Array, sizes: tuple[float, float]
) -> tuple[Array, Array]:
    """Draw the TPRs of the lower and the upper curve of a score at some FPRs.

    Parameters
    ----------
    ranking : Ranking
    grid : ndarray of shape (n_points,)
        Ascending FPRs.
    sizes : (float, float)
        Positives and negatives: rows in groups by their design effect.

    Returns
    -------
    lower, upper : ndarray of shape (DRAWS, n_points)
    """
    curve = ranking.curve.corners()
    if len(curve.fp) > _MOST_VERTICES:
        along = curve.fpr + curve.tpr
        kept = np.zeros(len(along), dtype=bool)
        kept[np.searchsorted(along, np.linspace(0, along[-1], _MOST_VERTICES))] = True
        curve = curve.at(kept)
    drawn = drawn_ends([ranking], [curve], sizes)
    assert drawn is not None  # so few vertices never are too many
    (up, of_up), (along_x, of_along) = drawn
    ends = of_along, along_x.place[0], along_x.ends[0], of_up, up.place[0], up.ends[0]
    lower, upper = _heights(*ends, np.asarray(grid, dtype=np.float64))
    return lower, upper


def bounds(lower: Array, upper: Array, rows: Deciding, level: float) -> tuple[float, float]:
    """Return the interval of an area: quantiles of the middle, moved outward where rows are few."""
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    low = np.quantile(middle - _outward(rows.low) * half, (1 - level) / 2)
    high = np.quantile(middle + _outward(rows.high) * half, (1 + level) / 2)
    return max(0.0, float(low)), min(1.0, float(high))


def _outward(rows: float) -> float:
    return min(1.0, _OUTWARD / rows) if rows > 0 else 1.0


def _near(ranking: roc.Ranking, alpha: float, beta: float) -> roc.Curve:
    """Leave out the vertices that cannot come near the band."""
    curve = ranking.curve
    n = curve.effective()
    if ranking.units is not None:
        n = Sampling.of(ranking).groups[1]
    unit = curve.negatives / n

    def reach(share: float) -> float:
        return _DEVIATIONS * math.sqrt(n * share * (1 - share)) + _RANKS

    first = np.searchsorted(curve.fp, unit * (n * alpha - reach(alpha)), "left") - 1
    last = np.searchsorted(curve.fp, unit * (n * beta + reach(beta)), "right")
    places = np.arange(len(curve.fp))
    return curve.at((places >= first) & (places <= last)).corners()


@kernel
def _areas(
    along: Array,
    place_along: Ranks,
    ends_along: Ranks,
    up: Array,
    place_up: Ranks,
    ends_up: Ranks,
    alpha: float,
    beta: float,
) -> tuple[Array, Array]:
    """Compute the normalised areas under both curves of each draw."""
    draws, vertices = len(along), ends_along.shape[1]
    areas = np.empty((2, draws))
    x = np.empty(max(ends_along.max(), place_along.max()) + 1)
    y = np.empty(max(ends_up.max(), place_up.max()) + 1)
    for draw in range(draws):
        _place(x, along[draw], place_along)
        _place(y, up[draw], place_up)
        for side in range(2):
            # The lower curve is further along the FPR, the upper one further up.
            left, height, total = alpha, y[ends_up[side, 0]], 0.0
            before = 0.0
            for vertex in range(vertices):
                at, reached = x[ends_along[1 - side, vertex]], y[ends_up[side, vertex]]
                right = min(at, beta)
                if right > left:
                    slope = (reached - height) / (at - before) if vertex > 0 else 0.0
                    mean = height + slope * ((left + right) / 2 - before)
                    total += (right - left) * mean
                    left = right
                before, height = at, reached
            total += max(0.0, beta - left) * height
            areas[side, draw] = total / (beta - alpha)
    return areas[0], areas[1]


@kernel
def _place(ends: Array, cells: Array, place: Ranks) -> None:
    """Sum drawn cells up to each end, as shares of the whole."""
    ends[:] = 0.0
    for cell in range(len(cells)):
        ends[place[cell]] += cells[cell]
    for k in range(1, len(ends)):
        ends[k] += ends[k - 1]
    ends /= ends[-1]


@kernel
def _heights(
    along: Array,
    place_along: Ranks,
    ends_along: Ranks,
    up: Array,
    place_up: Ranks,
    ends_up: Ranks,
    grid: Array,
) -> tuple[Array, Array]:
    """Compute the heights of both curves of each draw at ascending places."""
    draws, vertices = len(along), ends_along.shape[1]
    heights = np.empty((2, draws, len(grid)))
    x = np.empty(max(ends_along.max(), place_along.max()) + 1)
    y = np.empty(max(ends_up.max(), place_up.max()) + 1)
    for draw in range(draws):
        _place(x, along[draw], place_along)
        _place(y, up[draw], place_up)
        for side in range(2):
            vertex, before, height = 0, 0.0, y[ends_up[side, 0]]
            for k in range(len(grid)):
                while vertex < vertices and x[ends_along[1 - side, vertex]] <= grid[k]:
                    before, height = x[ends_along[1 - side, vertex]], y[ends_up[side, vertex]]
                    vertex += 1
                found = height
                if 0 < vertex < vertices:
                    at, reached = x[ends_along[1 - side, vertex]], y[ends_up[side, vertex]]
                    found += (reached - height) * (grid[k] - before) / (at - before)
                heights[side, draw, k] = found
    return heights[0], heights[1]
