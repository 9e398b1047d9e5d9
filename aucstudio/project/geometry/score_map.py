"""The score on a plane through feature space: its rows, its tiles coarse to fine, its contours.

A place c of a straight plane stands for the row x = r + D c, with D the plane's directions and r
the mean of the rows in all other directions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.scorers import Scorer
from aucstudio.project.data.prepare import Preparation
from aucstudio.project.geometry.planes import Plane

Array = NDArray[np.float64]
Index = NDArray[np.intp]

CELLS = (32, 16, 8, 4, 2)  # pixels; each map is four times as fine as the one before
_PULSE = 512  # rows scored between two looks at whether to go on


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
        """Give the rows at places of shape (N, 2)."""
        rows: Array = self.rest + places @ self.directions.T
        return rows

    def carried(self, source: Preparation, target: Preparation) -> Slice:
        """Give the same plane in another model's prepared rows.

        What ``source`` does not know is 0: a number at its mean, a level that is not there.
        """
        if source is target:
            return self
        place = {name: k for k, name in enumerate(source.feature_names)}
        names = target.feature_names
        rest, directions = np.zeros(len(names)), np.zeros((len(names), 2))
        old, new = _scaling(source), _scaling(target)
        for k, name in enumerate(names):
            s = place.get(name)
            if s is not None:
                ratio = old[1, s] / new[1, k]
                rest[k] = self.rest[s] * ratio + (old[0, s] - new[0, k]) / new[1, k]
                directions[k] = self.directions[s] * ratio
        return Slice(rest, directions)


def slice_through(plane: Plane, mean: Array) -> Slice:
    """Make the slice of a straight plane, the rows at ``mean`` in all other directions."""
    D = plane.directions
    return Slice(mean - D @ (D.T @ mean), D)


def _scaling(preparation: Preparation) -> Array:
    levels = sum(len(levels) for levels in preparation.levels)
    means = np.concatenate([preparation.means, np.zeros(levels)])
    return np.stack([means, np.concatenate([preparation.scales, np.ones(levels)])])


@dataclasses.dataclass(frozen=True)
class Frame:
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
        """Give where the corners of cells of some pixels lie along both axes."""
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
        """Give the lines where the score is ``level``; see :func:`contour` and :func:`joined`."""
        return joined(contour(self.x, self.y, self.scores, level))


def score_map(
    scorer: Scorer,
    intercept: float,
    part: Slice,
    frame: Frame,
    cell: int,
    go_on: Callable[[], bool],
) -> ScoreMap | None:
    """Score the corners of all cells; None if ``go_on`` says no on the way."""
    x, y = frame.corners(cell)
    places = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    scores = np.empty(len(places))
    for start in range(0, len(places), _PULSE):
        if not go_on():
            return None
        rows = slice(start, start + _PULSE)
        scores[rows] = scorer(part.rows(places[rows])) + intercept
    return ScoreMap(x, y, scores.reshape(len(x), len(y)), cell)


def contour(x: Array, y: Array, values: Array, level: float) -> Array:
    """Find where a function on a grid is ``level``, by marching squares.

    Between neighbouring corners the function is taken as linear. Where two opposite corners of a
    cell are above and two below, the mean of all four decides which of them are joined.

    Parameters
    ----------
    x : ndarray of shape (nx,)
    y : ndarray of shape (ny,)
    values : ndarray of shape (nx, ny)
    level : float
        A corner on the level itself counts as below.

    Returns
    -------
    segments : ndarray of shape (n, 2, 2)
        Both ends of each piece of the line.
    """
    v = values - level
    above = (v > 0).astype(np.int8)
    code = above[:-1, :-1] + 2 * above[1:, :-1] + 4 * above[1:, 1:] + 8 * above[:-1, 1:]
    i, j = np.nonzero((code > 0) & (code < 15))
    corners = np.stack([v[i, j], v[i + 1, j], v[i + 1, j + 1], v[i, j + 1]])
    case = code[i, j]
    case[(corners.sum(axis=0) > 0) & np.isin(case, (5, 10))] += _JOINED
    sides = _crossings(x, y, i, j, corners)
    pieces, cells = _PIECES[case], np.arange(len(case))
    found = []
    for k in range(2):
        a, b = pieces[:, k, 0], pieces[:, k, 1]
        used = a >= 0
        ends = [sides[side[used], cells[used]] for side in (a, b)]
        found.append(np.stack(ends, axis=1))
    return np.concatenate(found)


def _crossings(x: Array, y: Array, i: Index, j: Index, corners: Array) -> Array:
    """Give where the bottom, right, top and left side of cells are crossed, shape (4, n, 2).

    It means something only for sides whose ends lie on different sides of the level.
    """
    at = [(x[i], y[j]), (x[i + 1], y[j]), (x[i + 1], y[j + 1]), (x[i], y[j + 1])]
    sides = np.empty((4, len(i), 2))
    for side, (a, b) in enumerate(((0, 1), (1, 2), (3, 2), (0, 3))):
        with np.errstate(divide="ignore", invalid="ignore"):
            t = corners[a] / (corners[a] - corners[b])
            for axis in range(2):
                sides[side, :, axis] = at[a][axis] + t * (at[b][axis] - at[a][axis])
    return sides


def joined(segments: Array) -> tuple[Array, NDArray[np.int32]]:
    """Join segments that share an end into lines, so that a dash can run along them.

    Parameters
    ----------
    segments : ndarray of shape (n, 2, 2)
        Shared ends are equal to the last bit, as :func:`contour` makes them.

    Returns
    -------
    places : ndarray of shape (k, 2)
    connect : ndarray of int, shape (k,)
        1 where a place is joined to the next one, 0 at the end of a line.
    """
    ends = segments.reshape(-1, 2)
    _, name = np.unique(ends, axis=0, return_inverse=True)
    pairs: list[list[int]] = name.reshape(-1, 2).tolist()
    at: dict[int, list[int]] = {}
    for k, pair in enumerate(pairs):
        for end in pair:
            at.setdefault(end, []).append(k)
    first = {end: k for k, end in reversed(list(enumerate(name.ravel().tolist())))}
    used, order, connect = [False] * len(pairs), [], []

    def free(end: int) -> int:
        return next((k for k in at[end] if not used[k]), -1)

    # Open lines first, from one of their ends; what is left then is closed.
    for start in sorted(at, key=lambda end: len(at[end]) == 2):
        while (k := free(start)) >= 0:
            order.append(first[start])
            here = start
            while k >= 0:
                used[k] = True
                here = pairs[k][pairs[k][0] == here]
                connect.append(1)
                order.append(first[here])
                k = free(here)
            connect.append(0)
    return ends[np.array(order, dtype=np.intp)], np.array(connect, dtype=np.int32)


_JOINED = 16  # added to a case whose middle is above too


def _table() -> NDArray[np.intp]:
    """Give the pieces of each case: pairs of sides, -1 for none."""
    one = {1: (3, 0), 2: (0, 1), 3: (3, 1), 4: (1, 2), 6: (0, 2), 7: (3, 2), 8: (2, 3)}
    one |= {9: (2, 0), 11: (2, 1), 12: (1, 3), 13: (1, 0), 14: (0, 3)}
    # Opposite corners above: each cut off by itself, or joined through the middle.
    two = {5: ((3, 0), (1, 2)), 10: ((0, 1), (2, 3))}
    two |= {5 + _JOINED: two[10], 10 + _JOINED: two[5]}
    table = np.full((16 + _JOINED, 2, 2), -1, dtype=np.intp)
    for case, piece in one.items():
        table[case, 0] = piece
    for case, pieces in two.items():
        table[case] = pieces
    return table


_PIECES = _table()
