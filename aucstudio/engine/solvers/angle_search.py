"""Best linear combination of two columns of scores, by a search over one angle.

Symbols: u, v columns; theta angle of the combination cos(theta) u + sin(theta) v; s, t scores of
the m positives and n negatives, ascending; [alpha, beta] FPR range; g_j the part of negative j
inside the range, over their sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucstudio.engine.arrays import Array, portions
from aucstudio.engine.linalg import nothing
from aucstudio.engine.roc import band_ranks, look_up, rank_weights

MAX_SWEEP_PAIRS = 200_000
MAX_COARSE_ROWS = 10_000

_STEP = np.pi / 90
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2
_GOLDEN_STEPS = 14
_CANDIDATES = 3
_NUMBERS_PER_CHUNK = 1 << 16  # a matrix of scores that stays in the processor's cache
_DECIMALS = 12  # areas that differ by rounding only are equal
_CANCELLED = 1e-12
_ARC = 1e-12
_QUARTER_TURN = 1e-15


class PartialArea:
    """Normalised area under the ROC curve over an FPR range, from sorted scores.

    With distinct scores it is the share of ordered pairs, weighted by rank. Where a bound of the
    range cuts a block of tied scores, that part of it counts which lies under the ROC curve, as in
    :func:`aucstudio.engine.roc.partial_auc`: half of it would make a column of ties, which ranks
    nothing, better than most columns over a narrow range.

    Parameters
    ----------
    m, n : int
        Positives and negatives.
    alpha, beta : float
    """

    def __init__(self, m: int, n: int, alpha: float, beta: float) -> None:
        first, last = band_ranks(n, alpha, beta)
        g = rank_weights(n, alpha, beta)[first - 1 : last][::-1]
        self._m, self._n = m, n
        self._ends, self._length = (n * alpha, n * beta), float(g.sum())
        self._g, self._band = g / self._length, slice(n - last, n - first + 1)

    def __call__(self, s: Array, t: Array) -> float:
        """Compute the area from both classes' scores in ascending order."""
        band = t[self._band]
        below, at_most = look_up(s, band)
        area = 1.0 - float(self._g @ (below + at_most)) / (2 * self._m)
        for end in {0, len(band) - 1}:
            tied = int(at_most[end] - below[end])
            if tied and not (end and band[end] == band[0]):
                area += tied / self._m * self._cut(t, float(band[end]))
        return round(area, _DECIMALS)

    def _cut(self, t: Array, value: float) -> float:
        """Compare a block of ties with its half: the part of its height that the range adds."""
        above = self._n - int(np.searchsorted(t, value, "right"))
        through = self._n - int(np.searchsorted(t, value, "left"))
        low, high = max(above, self._ends[0]), min(through, self._ends[1])
        height = ((low + high) / 2 - above) / (through - above)
        return (high - low) / self._length * (height - 0.5)


class AngleSearch:
    """Finds the angle at which a combination of two columns has the largest partial AUC.

    For the full AUC and at most 200,000 pairs of rows the search is exact: every pair is ordered
    rightly on a half circle, and a sweep over their ends finds where most are, in O(mn log mn).
    Otherwise the area is taken every 2 degrees and, round the best three angles, by golden
    sections down to 0.005 degrees: some 230 areas, each in O(N log N). Of a class of more than
    10,000 rows every k-th takes part in the 2-degree grid, and all do in the golden sections.

    Columns hold the m positives first, then the n negatives; mean 0 and standard deviation 1.

    Parameters
    ----------
    m, n : int
    alpha, beta : float
        FPR range.
    look : callable
        Called between pieces of work, which are short; may raise to end the search.

    Attributes
    ----------
    searches : int
        Pairs of columns searched so far.
    """

    def __init__(
        self, m: int, n: int, alpha: float, beta: float, look: Callable[[], None] = nothing
    ) -> None:
        self._m, self._look, self.searches = m, look, 0
        self._strides = (_stride(m), _stride(n))
        self._area = PartialArea(m, n, alpha, beta)
        coarse = [-(-size // k) for size, k in zip((m, n), self._strides, strict=True)]
        self._coarse_area = PartialArea(coarse[0], coarse[1], alpha, beta)
        self._exact = (alpha, beta) == (0.0, 1.0) and m * n <= MAX_SWEEP_PAIRS

    def area(self, column: Array) -> float:
        """Compute the partial AUC of one column."""
        self._look()
        return self._area(np.sort(column[: self._m]), np.sort(column[self._m :]))

    def best(self, u: Array, v: Array) -> tuple[float, float]:
        """Find the largest partial AUC of cos(theta) u + sin(theta) v, and its theta.

        Returns
        -------
        area : float
        theta : float
            Within (-pi, pi]; of equally good angles that were tried, the one nearest 0.
        """
        self.searches += 1
        if self._exact:
            theta = self._sweep(u, v)
            return float(self._areas(u, v, np.array([theta]))[0]), theta
        return self._refine(u, v, self._coarse(u, v))

    def _coarse(self, u: Array, v: Array) -> Array:
        """Return the best three angles of the grid."""
        half = np.arange(0.0, np.pi - _STEP / 2, _STEP)
        angles = np.concatenate([half, half - np.pi])
        angles[len(half)] = np.pi
        here, there = [], []
        # The opposite angle turns the order of the rows round: one sort serves both.
        for s, t in self._sorted(u, v, half, self._strides):
            here.append(self._coarse_area(s, t))
            there.append(self._coarse_area(-s[::-1], -t[::-1]))
        areas = np.array(here + there)
        areas[_cancels(u, v, angles)] = 0.0
        return angles[_ranked(areas, angles)[:_CANDIDATES]]

    def _refine(self, u: Array, v: Array, centres: Array) -> tuple[float, float]:
        """Search round each angle by golden sections, all at a time."""
        tried, areas = [centres], [self._areas(u, v, centres)]

        def value(angles: Array) -> Array:
            tried.append(angles)
            areas.append(self._areas(u, v, angles))
            return areas[-1]

        low, high = centres - _STEP, centres + _STEP
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = value(left), value(right)
        for _ in range(_GOLDEN_STEPS):
            go_left = at_left >= at_right
            low, high = np.where(go_left, low, left), np.where(go_left, right, high)
            inner, known = np.where(go_left, left, right), np.where(go_left, at_left, at_right)
            # The kept inner point divides the new bracket; its mirror image is the new one.
            new = low + high - inner
            at_new = value(new)
            left, right = np.where(go_left, new, inner), np.where(go_left, inner, new)
            at_left, at_right = np.where(go_left, at_new, known), np.where(go_left, known, at_new)
        return _first(np.concatenate(areas), np.concatenate(tried))

    def _areas(self, u: Array, v: Array, angles: Array) -> Array:
        areas = np.array([self._area(s, t) for s, t in self._sorted(u, v, angles, (1, 1))])
        areas[_cancels(u, v, angles)] = 0.0
        return areas

    def _sorted(
        self, u: Array, v: Array, angles: Array, strides: tuple[int, int]
    ) -> Iterator[tuple[Array, Array]]:
        """Return the sorted scores of both classes at each angle, from every k-th row."""
        classes = (slice(None, self._m, strides[0]), slice(self._m, None, strides[1]))
        rows = [(u[part], v[part]) for part in classes]
        for some in portions(len(angles), sum(len(a) for a, _ in rows), _NUMBERS_PER_CHUNK):
            self._look()
            scores = [_combinations(a, b, angles[some]) for a, b in rows]
            for matrix in scores:
                matrix.sort(axis=1)
            yield from zip(*scores, strict=True)

    def _sweep(self, u: Array, v: Array) -> float:
        """Find an angle at which the largest number of pairs is ordered rightly."""
        m, look = self._m, self._look
        du, dv = np.subtract.outer(u[:m], u[m:]), np.subtract.outer(v[:m], v[m:])
        look()
        differ = (du != 0.0) | (dv != 0.0)
        begin = np.mod(np.arctan2(dv[differ], du[differ]) - np.pi / 2, 2 * np.pi)
        look()
        begin.sort()
        if not len(begin):
            return 0.0
        look()
        # Pair k is right from begin_k on for half a turn; a turn earlier, too.
        twice = np.concatenate([begin - 2 * np.pi, begin])
        oldest = np.searchsorted(twice, begin - np.pi + _ARC, "right")
        right = np.arange(len(begin), 2 * len(begin)) + 1 - oldest
        until = np.minimum(np.append(begin[1:], begin[0] + 2 * np.pi), twice[oldest] + np.pi)
        # What begins within rounding of another pair's beginning has no arc of its own.
        right[until - begin <= _ARC] = -1
        best = np.flatnonzero(right == right.max())
        return float(_nearest_zero(begin[best], until[best]))


def direction(theta: ArrayLike) -> tuple[Array, Array]:
    """Return cos(theta) and sin(theta), exactly 0 at quarter turns, so that ties stay ties."""
    parts = np.cos(theta), np.sin(theta)
    cos, sin = (np.where(np.abs(part) < _QUARTER_TURN, 0.0, part) for part in parts)
    return cos, sin


def _stride(size: int) -> int:
    return max(1, -(-size // MAX_COARSE_ROWS))


def _combinations(u: Array, v: Array, angles: Array) -> Array:
    """Return cos(theta) u + sin(theta) v, a row for each angle; equal rows tie to the last bit."""
    cos, sin = direction(angles)
    scores = np.multiply.outer(cos, u)
    scores += np.multiply.outer(sin, v)
    return scores


def _cancels(u: Array, v: Array, angles: Array) -> NDArray[np.bool_]:
    """Return at which angles columns of mean 0 and deviation 1 leave only rounding errors."""
    correlation = float(u @ v) / len(u)
    cancels: NDArray[np.bool_] = 1.0 + correlation * np.sin(2 * angles) <= _CANCELLED
    return cancels


def _ranked(areas: Array, angles: Array) -> NDArray[np.intp]:
    """Order by area, then by nearness to 0, then positive angles first."""
    return np.lexsort((-angles, np.round(np.abs(angles), _DECIMALS), -areas))


def _first(areas: Array, angles: Array) -> tuple[float, float]:
    turned = _turned(angles)
    best = _ranked(areas, turned)[0]
    return float(areas[best]), float(turned[best])


def _turned(angles: Array) -> Array:
    """Return angles reduced to (-pi, pi]."""
    turned: Array = np.where(np.abs(angles) > np.pi, angles - np.sign(angles) * 2 * np.pi, angles)
    return turned


def _nearest_zero(begin: Array, until: Array) -> float:
    """Return the middle of the arc nearest 0, or 0 itself where an arc holds it."""
    if np.any(until > 2 * np.pi + _ARC):
        return 0.0
    middles = np.mod((begin + until) / 2 + np.pi, 2 * np.pi) - np.pi
    return float(middles[_ranked(np.zeros(len(middles)), middles)[0]])
