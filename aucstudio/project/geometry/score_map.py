"""Scores on a plane in tiles, coarse to fine, with contours; highest-density regions of a class.

A place c of a straight plane represents the row x = r + D c, with D the plane's directions and r
the mean of the rows in all other directions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import cast

import numpy as np
from contourpy import LineType, contour_generator
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from aucstudio.engine.arrays import Array
from aucstudio.engine.scorers import LinearScorer, Scorer
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.geometry.planes import Plane, common_features

CombinedLines = tuple[list[Array | None], list[NDArray[np.uint32] | None]]  # a chunk each

CELLS = (32, 16, 8, 4, 2)  # pixels; each map is four times as fine as the one before
_PULSE = 512  # rows scored between two looks at whether to go on
_MOST_CELLS = 1 << 22  # of these rows


@dataclasses.dataclass(frozen=True, eq=False)
class Slice:
    """A plane through the prepared rows of one model.

    Attributes
    ----------
    rest : ndarray of shape (d,)
        The row at place (0, 0).
    directions : ndarray of shape (d, 2)
    """

    rest: Array
    directions: Array

    def rows(self, places: Array) -> Array:
        """Return the rows at places of shape (N, 2)."""
        return np.asarray(self.rest + places @ self.directions.T)

    def carried(self, source: Preparation, target: Preparation) -> Slice:
        """Return the same plane in another model's prepared rows.

        What ``source`` does not know is 0: a number at its mean, a level that is not there.
        """
        if source is target:
            return self
        of_source, of_target = common_features(source, target)
        means, scales = (part[of_source] for part in source.scaling)
        new_means, new_scales = (part[of_target] for part in target.scaling)
        width = len(target.feature_names)
        rest, directions = np.zeros(width), np.zeros((width, 2))
        rest[of_target] = (self.rest[of_source] * scales + means - new_means) / new_scales
        directions[of_target] = self.directions[of_source] * (scales / new_scales)[:, None]
        return Slice(rest, directions)


def slice_through(plane: Plane, mean: Array) -> Slice:
    """Make the slice of a straight plane, the rows at ``mean`` in all other directions."""
    D = plane.directions
    return Slice(mean - D @ (D.T @ mean), D)


@dataclasses.dataclass(frozen=True)
class PlaneFrame:
    """The part of the plane that is seen.

    Attributes
    ----------
    x, y : (float, float)
        From left to right and from bottom to top.
    pixels : (int, int)
        Width and height on the screen.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    pixels: tuple[int, int]

    def corners(self, cell: int) -> tuple[Array, Array]:
        """Return where the corners of cells of some pixels lie along both axes."""
        width, height = (max(2, -(-size // cell)) for size in self.pixels)
        return np.linspace(*self.x, width + 1), np.linspace(*self.y, height + 1)


@dataclasses.dataclass(frozen=True, eq=False)
class ScoreMap:
    """Scores at the corners of the cells of a frame.

    Attributes
    ----------
    x : ndarray of shape (nx,)
    y : ndarray of shape (ny,)
    scores : ndarray of shape (nx, ny)
    cell : int
        Pixels between two corners.
    """

    x: Array
    y: Array
    scores: Array
    cell: int

    def contour(self, level: float) -> tuple[Array, NDArray[np.int32]]:
        """Return the lines where the score is ``level``, linear between neighbouring corners.

        Returns
        -------
        places : ndarray of shape (k, 2)
        connect : ndarray of int, shape (k,)
            1 where a place is joined to the next one, 0 at the end of a line.
        """
        kind = LineType.ChunkCombinedOffset
        found = contour_generator(self.x, self.y, self.scores.T, line_type=kind).lines(level)
        (places,), (offsets,) = cast("CombinedLines", found)
        if places is None or offsets is None:
            return np.empty((0, 2)), np.empty(0, dtype=np.int32)
        connect = np.ones(len(places), dtype=np.int32)
        connect[offsets[1:].astype(np.intp) - 1] = 0
        return places, connect


def score_map(
    scorer: Scorer,
    intercept: float,
    part: Slice,
    frame: PlaneFrame,
    cell: int,
    go_on: Callable[[], bool],
) -> ScoreMap | None:
    """Score the corners of all cells; None if ``go_on`` returns False meanwhile."""
    if isinstance(scorer, LinearScorer):
        # Linear on the plane as well, however many features there are.
        intercept += float(part.rest @ scorer.weights)
        scorer = LinearScorer(scorer.weights @ part.directions)
        part = Slice(np.zeros(2), np.eye(2))
    pulse = max(1, min(_PULSE, _MOST_CELLS // len(part.rest)))
    x, y = frame.corners(cell)
    places = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    scores = np.empty(len(places))
    for start in range(0, len(places), pulse):
        if not go_on():
            return None
        rows = slice(start, start + pulse)
        scores[rows] = scorer(part.rows(places[rows])) + intercept
    return ScoreMap(x, y, scores.reshape(len(x), len(y)), cell)


Contour = tuple[Array, NDArray[np.int32]]  # places, and which of them are joined to the next

SHARES = (0.5, 0.9)
_BINS = 160
_REACH = 3.0  # of the smoothing, in its widths
_QUARTILES = 1.349  # of a normal distribution, apart, in standard deviations
_FAR = 0.001  # so far out in each direction nothing is smoothed


def share_contours(places: Array) -> list[Contour]:
    """Trace the narrowest regions that hold half and nine tenths of some places.

    The density is a smoothed histogram: a region is where it is higher than at all other places.

    Parameters
    ----------
    places : ndarray of shape (N, 2)
        At least one.

    Returns
    -------
    list of (ndarray of shape (k, 2), ndarray of int)
        For each share the lines, and 1 where a place is joined to the next one.
    """
    widths = _widths(places)
    low, high = np.quantile(places, (_FAR, 1.0 - _FAR), axis=0)
    low, high = low - _REACH * widths, high + _REACH * widths
    step = (high - low) / _BINS
    cells = ((places - low) / step).astype(np.int64)
    inside = ((cells >= 0) & (cells < _BINS)).all(axis=1)
    flat = cells[inside, 0] * _BINS + cells[inside, 1]
    counts = np.bincount(flat, minlength=_BINS * _BINS).reshape(_BINS, _BINS)
    density = gaussian_filter(counts.astype(np.float64), widths / step, mode="constant")
    x, y = (low[axis] + (np.arange(_BINS) + 0.5) * step[axis] for axis in range(2))
    mapped = ScoreMap(x, y, density, 1)
    known = np.zeros(len(places))
    known[inside] = density.ravel()[flat]
    return [mapped.contour(float(np.quantile(known, 1.0 - share))) for share in SHARES]


def _widths(places: Array) -> Array:
    """Return how far to smooth: Scott's rule on the inner half, which nothing far off touches."""
    first, third = np.quantile(places, (0.25, 0.75), axis=0)
    spread = np.minimum(places.std(axis=0), (third - first) / _QUARTILES)
    least = 1e-6 * np.maximum(np.abs(places).max(axis=0), 1e-6)
    return np.asarray(np.maximum(spread * len(places) ** (-1 / 6), least))
