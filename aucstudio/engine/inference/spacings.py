"""Spacings between the order statistics of a class, and what is drawn of them.

The true FPR at the j-th highest negative is distributed as the sum of the first j of n + 1
spacings of Dirichlet(1, ..., 1), whatever the scores; the true TPR at the i-th highest positive
as that of i of m + 1. The spacing above a row is its own; rows in groups have one weight a group
in each draw. The spacings belong to the rows, so that several scores of the same rows are drawn
together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array, Index, portions

DRAWS = 1000
_SEED = 0

# More vertices cost more than they are worth: so many rows are plenty for a variance.
_MOST_ENDS = 2000
_UNITS_PER_PORTION = 2000


class DrawnSpacings(NamedTuple):
    """The drawn spacings of one class, and the vertices of one curve.

    Attributes
    ----------
    cells : ndarray of shape (DRAWS, n_cells)
        Sums of spacings.
    place : ndarray of int, shape (n_cells,)
        The spacing between two vertices that each belongs to.
    ends : ndarray of int, shape (2, n_vertices)
        Both spacings at which each vertex may lie.
    """

    cells: Array
    place: Index
    ends: Index


def drawn_ends(
    rankings: Sequence[roc.Ranking],
    parts: Sequence[roc.RocCurve],
    sizes: tuple[float, float] | None,
) -> list[list[DrawnSpacings]] | None:
    """Divide the spacings of both classes by the vertices of each curve, and draw their sums."""
    first, spacings = rankings[0], []
    weights = first.weights and first.in_row_order(*first.weights)
    for of_class in (0, 1):
        of_scores = [
            Descending.of(one, of_class, _rows(part)[of_class])
            for one, part in zip(rankings, parts, strict=True)
        ]
        made = Spacings.of(of_scores, weights and weights[of_class])
        if made is None:
            return None
        spacings.append(made)
    units = first.units and first.in_row_order(*first.units)
    drawn = zip(spacings, _drawn(spacings, sizes, units), strict=True)
    return [
        [DrawnSpacings(cells, *of_score) for of_score in zip(one.place, one.ends, strict=True)]
        for one, cells in drawn
    ]


def _drawn(
    spacings: Sequence[Spacings],
    sizes: tuple[float, float] | None,
    units: tuple[Index, Index] | None,
) -> list[Array]:
    """Draw the sums of the spacings of each class, shape (DRAWS, n_cells).

    The rows of a group have one weight in each draw, in both classes. Groups whose rows are all
    in one cell are put together there.
    """
    rng = np.random.default_rng(_SEED)
    if units is None:
        return [one.drawn(rng) for one in spacings]
    count = 1 + max(int(of_class.max()) for of_class in units)
    sizes = sizes or (len(units[0]), len(units[1]))
    entries = [spacings[k].by_unit(units[k], count + k, sizes[k]) for k in (0, 1)]
    seen = np.bincount(np.concatenate([unit for unit, *_ in entries]))
    apart = np.flatnonzero(seen > 1)
    sums, loads = [], []
    for one, (unit, cell, load) in zip(spacings, entries, strict=True):
        alone = seen[unit] == 1
        sums.append(one.merged(cell[alone], load[alone]).drawn(rng))
        at = np.searchsorted(apart, unit[~alone]), cell[~alone]
        shape = len(apart), len(one.sizes)
        loads.append(scipy.sparse.csr_array((load[~alone], at), shape=shape))
    for portion in portions(len(apart), 1, _UNITS_PER_PORTION):
        drawn = rng.standard_exponential((DRAWS, portion.stop - portion.start))
        for of_class, load in zip(sums, loads, strict=True):
            of_class += drawn @ load[portion]
    return sums


def _rows(curve: roc.RocCurve) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    counts = curve.behind or curve
    return counts.tp, counts.fp


@dataclasses.dataclass(frozen=True, eq=False)
class Descending:
    """A class in descending order of one score.

    Attributes
    ----------
    order : ndarray of int, shape (rows,)
        Places in row order.
    vertices : ndarray of int
        How many rows are above each vertex.
    steps : ndarray of int
        Where the curve can next turn below each vertex: one row further on, or behind all tied
        rows of that row's group.
    """

    order: Index
    vertices: NDArray[np.int64]
    steps: NDArray[np.int64]

    @classmethod
    def of(cls, ranking: roc.Ranking, of_class: int, vertices: NDArray[np.int64]) -> Descending:
        """Take a class (0 the positives) and the vertices of a curve."""
        order = (ranking.order_s, ranking.order_t)[of_class][::-1]
        if ranking.units is None:
            return cls(order, vertices, vertices + 1)
        units = ranking.units[of_class]
        scores = (ranking.s, ranking.t)[of_class][::-1]
        new = (scores[1:] != scores[:-1]) | (units[::-1][1:] != units[::-1][:-1])
        starts = np.append(np.flatnonzero(np.append(True, new)), [len(order), len(order) + 1])
        return cls(order, vertices, starts[np.searchsorted(starts, vertices, "right")])


@dataclasses.dataclass(frozen=True, eq=False)
class Spacings:
    """Spacings of a class, put together where no score asks for the sum of a part of them.

    Attributes
    ----------
    sizes : ndarray of shape (n_cells,)
        Spacings in each cell: its sum has the gamma distribution of that shape.
    place : list of ndarray, each of shape (n_cells,)
        For each score, at which of its ends a cell begins to count.
    ends : list of ndarray, each of shape (2, n_vertices)
        For each score, the ends at the vertices and one row further on, as numbers of ends.
    cell : ndarray of shape (rows + 1,)
        That of each row, in row order, and of the spacing below the last row.
    weights : ndarray of shape (rows,) or None
    units : ndarray of shape (n_cells,) or None
        What to multiply the drawn sums of weighted rows by. Their spacings are multiplied by the
        weights, and a sum of them has about the gamma distribution of the same mean and variance.
    """

    sizes: NDArray[np.float64]
    place: list[Index]
    ends: list[Index]
    cell: Index
    weights: Array | None = None
    units: Array | None = None

    @classmethod
    def of(cls, scores: Sequence[Descending], weights: Array | None = None) -> Spacings | None:
        """Divide a class that several scores sort; None for too many vertices."""
        size = len(scores[0].order)
        joint = np.zeros(size + 1, dtype=np.intp)
        shape, ends = [], []
        for one in scores:
            both = np.stack([one.vertices, one.steps])
            sums = np.unique(np.append(both, 0))
            if len(sums) > _MOST_ENDS:
                return None
            ends.append(np.searchsorted(sums, both))
            shape.append(len(sums) + 1)
            # The spacing above a row is its own; that below the last row is of no row.
            joint *= shape[-1]
            joint[np.append(one.order, size)] += np.searchsorted(sums, np.arange(1, size + 2))
        counts = np.bincount(joint)
        cells = np.flatnonzero(counts)
        cell, counts = (np.cumsum(counts > 0) - 1)[joint], counts[cells]
        place = [np.asarray(of_score) for of_score in np.unravel_index(cells, shape)]
        made = cls(counts.astype(np.float64), place, ends, cell, weights)
        if weights is None:
            return made
        # The spacing of no row weighs as much as a deciding row does on average.
        return made.merged(cell, np.append(weights, weights @ weights / weights.sum()))

    def merged(self, cell: Index, load: Array) -> Spacings:
        """Put together spacings of some weight, each in one cell."""
        sums, squares = (
            np.bincount(cell, load**power, minlength=len(self.sizes)) for power in (1, 2)
        )
        full = squares > 0
        sizes = np.divide(sums**2, squares, out=np.zeros(len(sums)), where=full)
        units = np.divide(squares, sums, out=np.zeros(len(sums)), where=full)
        return dataclasses.replace(self, sizes=sizes, units=units)

    def drawn(self, rng: np.random.Generator) -> Array:
        """Draw the sums of all cells, shape (DRAWS, n_cells)."""
        sums: Array = rng.standard_gamma(self.sizes, (DRAWS, len(self.sizes)))
        return sums if self.units is None else sums * self.units

    def by_unit(self, units: Index, nobody: int, size: float) -> tuple[Index, Index, Array]:
        """Return groups, cells, and the weight that each group has in each of its cells.

        What belongs to nobody is the group of the number ``nobody``, and weighs as one of so many
        independent rows of the class.
        """
        weights = np.ones(len(units)) if self.weights is None else self.weights
        load = np.append(weights, weights.sum() / size)
        count = len(self.sizes)
        both = np.append(units, nobody) * count + self.cell
        known, place = np.unique(both, return_inverse=True)
        return known // count, known % count, np.asarray(np.bincount(place, load), np.float64)
