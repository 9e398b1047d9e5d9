"""Fitted columns: limits, scale or ranks of numbers, and levels of categories.

Ranks are interpolated linearly between knots, which are quantiles of the training cells. The lowest
and the highest knot have ranks 0 and 1; as normal deviates, half a row less.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index
from aucstudio.notices import Notice, notice
from aucstudio.project.data.preparing.preparation_choice import (
    FREQUENCY,
    MEDIAN,
    MIN_MAX,
    MOST_FREQUENT,
    NONE,
    NORMAL_RANKS,
    ROBUST,
    USUAL,
    PreparationChoice,
)
from aucstudio.project.data.table import Column

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
    # Halves, because the difference of two doubles may overflow.
    knots = 2.0 * np.maximum.accumulate(np.quantile(cells / 2, ranks))
    first = np.searchsorted(knots, knots, "left")
    last = np.searchsorted(knots, knots, "right") - 1
    heights = (ranks[first] + ranks[last]) / 2
    # The ends keep ranks 0 and 1, however many cells are equal.
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
    """Return the cells of heights; of several with one height, the lowest."""
    level, first = np.unique(heights, return_index=True)
    return np.interp(ranks, level, knots[first])


_FAR, _ROUNDING = 1e12, 1e-9
# Larger cells may be set aside however many they are.
_ABSURD = 1e100
# Squares of numbers between this and its inverse neither underflow nor overflow.
_SMALL, _LEAST, _MOST = 1e-140, 5e-324, float(np.finfo(np.float64).max)


@dataclasses.dataclass(frozen=True)
class FarCells:
    """Cells of a column beyond two bounds, such as its limits.

    Attributes
    ----------
    column : str
    count : int
    value : float
        The first of them.
    row : int
        Its row in the file, counted from 1.
    """

    column: str
    count: int
    value: float
    row: int

    @property
    def notice(self) -> Notice:
        """Return the notice about cells beyond the limits, which count as missing."""
        place = {"column": self.column, "value": float(self.value), "row": int(self.row)}
        if self.count == 1:
            return notice("far_cell", **place)
        return notice("far_cells", count=int(self.count), **place)


@dataclasses.dataclass(frozen=True)
class Number:
    """Features of a column of numbers.

    Attributes
    ----------
    figures : tuple of float
        Replacement of missing values, mean, scale, and the limits.
    missing : int
        Number of missing cells, including those beyond the limits.
    curve : pair of ndarray, or None
        Knots and heights, if numbers become ranks.
    """

    figures: tuple[float, float, float, float, float]
    missing: int = 0
    curve: tuple[Array, Array] | None = None

    def reaching_zero(self) -> Number:
        """Return the features with limits that include 0."""
        low, high = self.figures[3:]
        figures = (*self.figures[:3], min(low, 0.0), max(high, 0.0))
        return dataclasses.replace(self, figures=figures)

    def unbounded(self) -> Number:
        """Return the features without limits."""
        return dataclasses.replace(self, figures=(*self.figures[:3], -np.inf, np.inf))


def learn_number(cells: Array, choice: PreparationChoice = USUAL) -> Number:
    """Fit the replacement of missing values, mean, scale and limits of a column."""
    missing = np.isnan(cells)
    known = cells[~missing] if missing.any() else cells
    if not len(known):
        curve = learn_knots(known, normal=False) if choice.makes_ranks else None
        return Number((0.0, 0.0, 1.0, -_FAR, _FAR), len(cells), curve)
    low, fill, high = limits(known)
    least, most = float(known.min()), float(known.max())
    filled, count = cells, 0
    if len(known) < len(cells) or least < low or most > high:
        near = (cells >= low) & (cells <= high)
        count = len(cells) - int(np.count_nonzero(near))
        if choice.impute != MEDIAN and near.any():
            fill = _replacement(cells[near], choice.impute)
        filled = np.where(near, cells, fill)
        least, most = float(filled.min()), float(filled.max())
    elif choice.impute != MEDIAN:
        fill = _replacement(cells, choice.impute)
    if choice.makes_ranks:
        curve = learn_knots(filled, normal=choice.scale == NORMAL_RANKS)
        return Number((fill, 0.0, 1.0, low, high), count, curve)
    unit = scaling_unit(max(-least, most))
    if unit != 1:
        filled = filled / unit
    return Number((fill, *_scaling(filled, unit, choice.scale), low, high), count)


def _replacement(cells: Array, impute: str) -> float:
    """Return the mean of cells, or the most frequent one (the smallest of several)."""
    if impute == MOST_FREQUENT:
        values, counts = np.unique(cells, return_counts=True)
        return float(values[counts.argmax()])
    unit = scaling_unit(float(np.abs(cells).max()))
    return float((cells / unit).mean()) * unit


def _scaling(cells: Array, unit: float, scale: str) -> tuple[float, float]:
    """Return mean and scale of cells in units."""
    if scale == NONE:
        return 0.0, 1.0
    if scale == MIN_MAX:
        return mean_and_scale(float(cells.min()), float(cells.max() - cells.min()), unit)
    if scale == ROBUST:
        lower, median, upper = np.quantile(cells, (0.25, 0.5, 0.75)).tolist()
        spread = upper - lower
        # The quartiles of a rare attribute are equal.
        if spread <= _ROUNDING * abs(median):
            spread = float((cells - cells.mean()).std())
        return mean_and_scale(median, spread, unit)
    mean = float(cells.mean())
    return mean_and_scale(mean, float((cells - mean).std()), unit)


def _quantiles(known: Array) -> tuple[float, float, float, float, float]:
    """Return the outer deciles, the quartiles and the median of cells, in rising order."""
    end = len(known) - 1
    ranks = [end // 10, end // 4, end // 2, end - end // 2, end - end // 4, end - end // 10]
    first, lower, below, above, upper, last = np.partition(known, ranks)[ranks].tolist()
    # Halves where the sum of two large numbers is not finite.
    is_large = abs(below) + abs(above) == np.inf
    median = below / 2 + above / 2 if is_large else (below + above) / 2
    return first, lower, median, upper, last


def limits(known: Array) -> tuple[float, float, float]:
    """Return lower limit, median and upper limit of a column without missing cells.

    Beyond the limits a cell would make all others look alike.

    The limits are 10^12 interquartile ranges away from the median. If that range is 0 or only
    rounding, the size of the median is used; if that is 0 too, the median size of the cells that
    are not 0.

    If more than a tenth of the cells on one side are far away, the limits are extended to them
    unless they are implausibly large.
    """
    first, lower, median, upper, last = _quantiles(known)
    spread = upper - lower
    if spread <= _ROUNDING * abs(median):
        spread = abs(median) or _median_size(known) or 1.0
    reach, wide = _FAR * spread, _FAR * (last - first)
    if wide > reach:
        reach = wide if wide <= _ABSURD else max(reach, _ABSURD)
    return median - reach, median, median + reach


def limits_of_rare(usual: Array) -> Array:
    """Return the upper limits of columns whose quantiles are all zero, by their median sizes.

    The lower limits are the negative ones; see :func:`limits`.
    """
    return _FAR * np.where(usual == 0, 1.0, usual)


def scaling_unit(size: float) -> float:
    """Return a power of two near a size whose square under- or overflows; 1 for other sizes."""
    if size == 0 or _SMALL < size < 1 / _SMALL:
        return 1.0
    return float(np.ldexp(1.0, int(np.frexp(size)[1]) - 1))


def mean_and_scale(mean: float, scale: float, unit: float) -> tuple[float, float]:
    """Return mean and scale of a column that were computed in units.

    The scale of a constant column is one unit; its computed spread may be rounding.
    """
    if scale <= 1e-12 * max(abs(mean), 1e-300):
        scale = 1.0
    return mean * unit, min(max(scale * unit, _LEAST), _MOST)


def _median_size(known: Array) -> float:
    """Return the lower median of the sizes of the cells that are not 0; 0 if all are."""
    sizes = np.abs(known[known != 0])
    middle = (len(sizes) - 1) // 2
    return float(np.partition(sizes, middle)[middle]) if len(sizes) else 0.0


Same = Sequence[Sequence[str]]

MISSING, RARE = "(missing)", "(rare)"
MAX_LEVELS = 100

_WINDOW = 20_000


@dataclasses.dataclass(frozen=True)
class LevelCode:
    """Features of a category.

    Attributes
    ----------
    levels : tuple of str
        Levels with a column, most frequent first.
    has_rest : bool
        Whether all other texts are the level ``RARE``.
    shares : mapping of str to float, or None
        Share of the rows of each level, if the category is coded by frequency.
    cells : ndarray
        The codes of the rows, in any order; empty unless the category is coded by frequency.
    """

    levels: tuple[str, ...]
    has_rest: bool = False
    shares: Mapping[str, float] | None = None
    cells: Array = dataclasses.field(default_factory=lambda: np.empty(0))


def learn_levels(
    counted: collections.Counter[str], same: Same, choice: PreparationChoice = USUAL
) -> LevelCode:
    """Choose the code of a category by the counts of its levels."""
    rows = sum(counted.values())
    fewest = choice.fewest(rows)
    merged = collections.Counter({level: n for level, n in counted.items() if n >= fewest})
    has_rest = len(merged) < len(counted)
    if has_rest:
        merged[RARE] += rows - sum(merged.values())
    if len(merged) > MAX_LEVELS and choice.many_levels == FREQUENCY:
        order = sorted(counted)
        counts = np.array([counted[level] for level in order])
        shares = dict(zip(order, (counts / rows).tolist(), strict=True))
        for usual, *others in same:
            shares.update(dict.fromkeys(others, shares.get(usual, 0.0)))
        return LevelCode((), shares=shares, cells=np.repeat(counts / rows, counts))
    ranked = sorted(merged, key=lambda level: (-merged[level], level))
    levels = tuple(ranked[:MAX_LEVELS])
    return LevelCode(levels, has_rest and RARE in levels)


def levels_left_out(column: Column, choice: PreparationChoice) -> int:
    """Return how many levels of a category get no code, as only the most frequent do."""
    if column.role != "category" or column.distinct <= MAX_LEVELS:
        return 0
    is_text = column.kind == "text"
    cells = column.counts.items()
    counted = collections.Counter({c if is_text else spell_level(c): n for c, n in cells})
    counted += collections.Counter({MISSING: column.missing})
    code, fewest = learn_levels(counted, (), choice), choice.fewest(column.height)
    frequent = {level for level, rows in counted.items() if rows >= fewest}
    return 0 if code.shares is not None else len(frequent.difference(code.levels))


def level_counts(column: Column, rows: Index) -> collections.Counter[str]:
    """Count the rows of each level of a category."""
    counted: collections.Counter[str] = collections.Counter()
    for cells in _texts(column, rows):
        counted.update(cells)
    for usual, *others in column.same:
        counted[usual] += sum(counted.pop(level, 0) for level in others)
    return +counted


def encoded(
    column: Column, rows: Index | None, places: Mapping[str, int], levels: int, rest: int = -1
) -> Array:
    """Return a 0/1 column for each level; ``rest`` is the index of the level of all other texts."""
    found = level_values(column, rows, places, rest)
    coded = np.zeros((len(found), levels))
    (known,) = np.nonzero(found >= 0)
    coded[known, found[known].astype(np.intp)] = 1.0
    return coded


def level_values(
    column: Column, rows: Index | None, values: Mapping[str, float], other: float = 0.0
) -> Array:
    """Return the value of the level of each row, that of ``other`` for unknown levels."""
    found = [np.empty(0)]
    for cells in _texts(column, rows):
        of_cells = (values.get(cell, other) for cell in cells)
        found.append(np.fromiter(of_cells, dtype=np.float64, count=len(cells)))
    return np.concatenate(found)


def _texts(column: Column, rows: Index | None) -> Iterator[list[str]]:
    """Yield the cells of a category as levels, in windows.

    Lists are used because in a text array the longest text determines the size of all.
    """
    values = picked(column.values, rows)
    for start in range(0, len(values), _WINDOW):
        cells = values[start : start + _WINDOW].tolist()
        if column.kind == "number":
            yield [spell_level(cell) for cell in cells]
        else:
            yield [MISSING if cell is None else cell for cell in cells]


def spell_level(cell: float) -> str:
    """Return a number as a level of a category."""
    return MISSING if cell != cell else f"{cell:.15g}"


def picked(values: NDArray[Any], rows: Index | None) -> NDArray[Any]:
    """Return some cells, or all."""
    return values if rows is None else values[rows]
