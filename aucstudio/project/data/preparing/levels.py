"""Levels of categories: spelling and counts."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.preparing.preparation_choice import FREQUENCY, USUAL, PreparationChoice
from aucstudio.project.data.table import Column

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
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
    levels = most_frequent(merged)
    return LevelCode(levels, has_rest and RARE in levels)


def most_frequent(counted: collections.Counter[str]) -> tuple[str, ...]:
    """Return the encoded levels, most frequent first."""
    ranked = sorted(counted, key=lambda level: (-counted[level], level))
    return tuple(ranked[:MAX_LEVELS])


def level_counts(column: Column, rows: Rows) -> collections.Counter[str]:
    """Count the rows of each level of a category."""
    counted: collections.Counter[str] = collections.Counter()
    for cells in _texts(column, rows):
        counted.update(cells)
    for usual, *others in column.same:
        counted[usual] += sum(counted.pop(level, 0) for level in others)
    return +counted


def encoded(
    column: Column, rows: Rows | None, places: Mapping[str, int], levels: int, rest: int = -1
) -> Array:
    """Return a 0/1 column for each level; ``rest`` is the index of the level of all other texts."""
    codes = [
        np.fromiter((places.get(cell, rest) for cell in cells), dtype=np.intp, count=len(cells))
        for cells in _texts(column, rows)
    ]
    found = np.concatenate(codes) if codes else np.empty(0, dtype=np.intp)
    coded = np.zeros((len(found), levels))
    (known,) = np.nonzero(found >= 0)
    coded[known, found[known]] = 1.0
    return coded


def as_shares(column: Column, rows: Rows | None, shares: Mapping[str, float]) -> Array:
    """Return the share of the level of each row; 0 for unknown levels."""
    found = [
        np.fromiter((shares.get(cell, 0.0) for cell in cells), dtype=float, count=len(cells))
        for cells in _texts(column, rows)
    ]
    return np.concatenate(found) if found else np.empty(0)


def _texts(column: Column, rows: Rows | None) -> Iterator[list[str]]:
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


def picked(values: NDArray[Any], rows: Rows | None) -> NDArray[Any]:
    """Return some cells, or all."""
    return values if rows is None else values[rows]
