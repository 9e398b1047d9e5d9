"""Partial areas of ROC curves drawn from what their order statistics leave open.

A draw of the spacings of both classes (:mod:`aucstudio.engine.inference.spacings`) places every
vertex (fp, tp) of the curve: between the FPRs of negatives fp and fp + 1, and between the TPRs of
positives tp and tp + 1. A lower curve runs through (fp + 1, tp) and an upper one through
(fp, tp + 1); they enclose the true curve as far as the order of the rows determines.

The uncertainty of the threshold at a band's end is in the draws, which therefore hold from one
negative in the band on, where a variance of components fails.

Symbols: s, t scores of the m positives and n negatives; k negatives above the band's end or
below its start; [alpha, beta] the band of FPR.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np
import scipy

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array
from aucstudio.engine.inference.sampling import Sampling
from aucstudio.engine.inference.spacings import DrawnSpacings, drawn_ends

# A negative further than so many standard deviations and ranks off the band's end is never in it.
_DEVIATIONS, _RANKS = 8.0, 20

# By simulation (tests/benchmarks/inference_grid.py): with r rows to decide a bound, it needs the
# share 1.5 / r of the way from the middle of both curves to the outer one.
_OUTWARD = 1.5

_MOST_VERTICES = 900  # of a whole curve whose heights are drawn


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


def deciding(
    ranking: roc.Ranking, alpha: float, beta: float, area: float, sizes: tuple[float, float]
) -> Deciding:
    """Count the rows that decide a normalised area over a range of FPR.

    ``sizes`` counts positives and negatives: weighted rows as rows of equal weight, rows in
    groups by their design effect.
    """
    m, n = sizes
    above, below = n * beta, n * (1 - alpha)
    if ranking.is_weighted and (alpha, beta) != (0.0, 1.0):
        effective = ranking.curve.effective
        above, below = (n / effective() * effective(*of) for of in ((0.0, beta), (alpha, 1.0)))
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
    places = zip(*drawn, strict=True)
    return [_areas(along, up, float(alpha), float(beta)) for up, along in places]


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
    curve = ranking.curve.corners().thinned(_MOST_VERTICES)
    drawn = drawn_ends([ranking], [curve], sizes)
    assert drawn is not None  # so few vertices never are too many
    (up,), (along,) = drawn
    lower, upper = (
        np.array([np.interp(grid, *one) for one in zip(x, y, strict=True)])
        for x, y in _curves(along, up)
    )
    return lower, upper


def bounds(lower: Array, upper: Array, rows: Deciding, level: float) -> tuple[float, float]:
    """Return the interval of an area: quantiles of the middle, moved outward where rows are few."""
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    low = np.quantile(middle - _outward(rows.low) * half, (1 - level) / 2)
    high = np.quantile(middle + _outward(rows.high) * half, (1 + level) / 2)
    return max(0.0, float(low)), min(1.0, float(high))


def _outward(rows: float) -> float:
    return min(1.0, _OUTWARD / rows) if rows > 0 else 1.0


def _near(ranking: roc.Ranking, alpha: float, beta: float) -> roc.RocCurve:
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


def _areas(
    along: DrawnSpacings, up: DrawnSpacings, alpha: float, beta: float
) -> tuple[Array, Array]:
    """Compute the normalised areas under both curves of each draw."""
    lower, upper = (
        polyline_areas(
            np.pad(x, ((0, 0), (1, 1)), constant_values=((0.0, 0.0), (0.0, 1.0))),
            np.pad(y, ((0, 0), (1, 1)), mode="edge"),
            alpha,
            beta,
        )
        for x, y in _curves(along, up)
    )
    return lower, upper


def polyline_areas(x: Array, y: Array, alpha: float, beta: float) -> Array:
    """Compute the normalised trapezoid area under each of some polylines, a row each."""
    inside, run = np.clip(x, alpha, beta), np.diff(x)
    left, right = inside[:, :-1], inside[:, 1:]
    slope = np.divide(np.diff(y), run, out=np.zeros_like(run), where=run > 0)
    heights = y[:, :-1] + slope * ((left + right) / 2 - x[:, :-1])
    areas: Array = ((right - left) * heights).sum(axis=1) / (beta - alpha)
    return areas


def _curves(along: DrawnSpacings, up: DrawnSpacings) -> Iterator[tuple[Array, Array]]:
    """Return the FPRs and TPRs of the vertices of the lower curves, then of the upper ones.

    The lower curve is further along the FPR, the upper one further up.
    """
    places, reached = _vertices(along), _vertices(up)
    for side in (0, 1):
        yield places[:, 1 - side], reached[:, side]


def _vertices(drawn: DrawnSpacings) -> Array:
    """Sum drawn cells up to both ends of each vertex, as shares; shape (DRAWS, 2, n_vertices)."""
    cells, count = len(drawn.place), 1 + max(drawn.ends.max(), drawn.place.max())
    into = np.ones(cells), (np.arange(cells), drawn.place)
    sums = np.cumsum(drawn.cells @ scipy.sparse.csr_array(into, shape=(cells, count)), axis=1)
    sums /= sums[:, -1:]
    return np.asarray(sums[:, drawn.ends])
