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
from aucstudio.engine.types import Array

DRAWS = 1000
_SEED = 0

# A negative further than so many standard deviations and ranks off the band's end is never in it.
_DEVIATIONS, _RANKS = 8.0, 20

# More vertices cost more than they are worth: so many rows are plenty for a variance.
_MOST_ENDS = 2000

# By simulation (tests/benchmarks/inference_grid.py): with r rows to decide a bound, it needs the
# share 1.5 / r of the way from the middle of both curves to the outer one.
_OUTWARD = 1.5

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


def deciding(m: int, n: int, alpha: float, beta: float, area: float) -> Deciding:
    """Count the rows that decide a normalised area over a band."""
    return decided_by(m, n * beta, n * (1 - alpha), (alpha, beta), area)


def deciding_of(ranking: roc.Ranking, alpha: float, beta: float, area: float) -> Deciding:
    """Do what :func:`deciding` does for sorted scores: weighted rows count by what they say."""
    if ranking.weight_s is None:
        return deciding(len(ranking.s), len(ranking.t), alpha, beta, area)
    m, curve = roc.effective_rows(ranking.weight_s), ranking.curve
    above, below = curve.effective(0.0, beta), curve.effective(alpha, 1.0)
    return decided_by(m, above, below, (alpha, beta), area)


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
    rankings: Sequence[roc.Ranking], alpha: float, beta: float
) -> list[tuple[Array, Array]] | None:
    """Draw the normalised areas under the lower and the upper curve of each score.

    Parameters
    ----------
    rankings : sequence of Ranking
        Of the same rows.
    alpha, beta : float

    Returns
    -------
    list of (lower, upper), each of shape (DRAWS,); None where the curves have too many
    vertices near the band, which means that there are plenty of rows.
    """
    parts = [_near(one.curve, alpha, beta) for one in rankings]
    rng = np.random.default_rng(_SEED)
    drawn = []
    for of_class in (0, 1):
        orders = [(one.order_s, one.order_t)[of_class][::-1] for one in rankings]
        ends = [_rows(part)[of_class] for part in parts]
        spacings = _Spacings.of(orders, ends, _weights(rankings[0])[of_class])
        if spacings is None:
            return None
        sums = rng.standard_gamma(spacings.sizes, (DRAWS, len(spacings.sizes)))
        if spacings.units is not None:
            sums *= spacings.units
        drawn.append((spacings, sums))
    (up, of_up), (along, of_along) = drawn
    return [
        _areas(
            *(of_along, along.place[k], along.ends[k], of_up, up.place[k], up.ends[k]),
            *(float(alpha), float(beta)),
        )
        for k in range(len(rankings))
    ]


def _rows(curve: roc.Curve) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    counts = curve.behind or curve
    return counts.tp, counts.fp


def _weights(ranking: roc.Ranking) -> tuple[Array | None, Array | None]:
    """Give the weights of both classes in row order."""
    if ranking.weight_s is None or ranking.weight_t is None:
        return None, None
    of_s, of_t = np.empty(len(ranking.s)), np.empty(len(ranking.t))
    of_s[ranking.order_s], of_t[ranking.order_t] = ranking.weight_s, ranking.weight_t
    return of_s, of_t


def bounds(lower: Array, upper: Array, rows: Deciding, level: float) -> tuple[float, float]:
    """Give the interval of an area: quantiles of the middle, moved outward where rows are few."""
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    low = np.quantile(middle - _outward(rows.low) * half, (1 - level) / 2)
    high = np.quantile(middle + _outward(rows.high) * half, (1 + level) / 2)
    return max(0.0, float(low)), min(1.0, float(high))


def _outward(rows: float) -> float:
    return min(1.0, _OUTWARD / rows) if rows > 0 else 1.0


def _near(curve: roc.Curve, alpha: float, beta: float) -> roc.Curve:
    """Leave out the vertices that cannot come near the band."""
    n = curve.effective()
    unit = curve.negatives / n

    def reach(share: float) -> float:
        return _DEVIATIONS * math.sqrt(n * share * (1 - share)) + _RANKS

    first = np.searchsorted(curve.fp, unit * (n * alpha - reach(alpha)), "left") - 1
    last = np.searchsorted(curve.fp, unit * (n * beta + reach(beta)), "right")
    places = np.arange(len(curve.fp))
    return curve.at((places >= first) & (places <= last)).corners()


@dataclasses.dataclass(frozen=True, eq=False)
class _Spacings:
    """Spacings of a class, put together where no score asks for the sum of a part of them.

    Attributes
    ----------
    sizes : ndarray of shape (n_cells,)
        Spacings in each cell: its sum has the gamma distribution of that shape.
    place : list of ndarray, each of shape (n_cells,)
        For each score, at which of its ends a cell begins to count.
    ends : list of ndarray, each of shape (2, n_vertices)
        For each score, the ends at the vertices and one row further on, as numbers of ends.
    units : ndarray of shape (n_cells,) or None
        What to multiply the drawn sums of weighted rows by. Their spacings are multiplied by the
        weights, and a sum of them has about the gamma distribution of the same mean and variance.
    """

    sizes: NDArray[np.float64]
    place: list[Ranks]
    ends: list[Ranks]
    units: Array | None = None

    @classmethod
    def of(
        cls,
        orders: Sequence[Ranks],
        vertices: Sequence[NDArray[np.int64]],
        weights: Array | None = None,
    ) -> _Spacings | None:
        """Divide a class whose rows have these descending orders; None for too many vertices."""
        size = len(orders[0])
        joint = np.zeros(size + 1, dtype=np.intp)
        shape, ends = [], []
        for order, at in zip(orders, vertices, strict=True):
            both = np.stack([at, at + 1])
            sums = np.unique(np.append(both, 0))
            if len(sums) > _MOST_ENDS:
                return None
            ends.append(np.searchsorted(sums, both))
            shape.append(len(sums) + 1)
            # The spacing above a row is its own; that below the last row belongs to nobody.
            joint *= shape[-1]
            joint[np.append(order, size)] += np.searchsorted(sums, np.arange(1, size + 2))
        counts = np.bincount(joint)
        cells = np.flatnonzero(counts)
        place = [np.asarray(of_score) for of_score in np.unravel_index(cells, shape)]
        if weights is None:
            return cls(counts[cells].astype(np.float64), place, ends)
        # What belongs to nobody weighs as the rows that decide do, on average.
        each = np.append(weights, weights @ weights / weights.sum())
        sums, squares = (np.bincount(joint, each**power)[cells] for power in (1, 2))
        return cls(sums**2 / squares, place, ends, squares / sums)


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
        for sums, cells, place in ((x, along[draw], place_along), (y, up[draw], place_up)):
            sums[:] = 0.0
            for cell in range(len(cells)):
                sums[place[cell]] += cells[cell]
            for k in range(1, len(sums)):
                sums[k] += sums[k - 1]
            sums /= sums[-1]
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
