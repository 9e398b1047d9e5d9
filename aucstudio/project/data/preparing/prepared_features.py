"""The prepared features of a model one by one: what each is, and of which column."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.date_parts import DatePart
from aucstudio.project.data.preparing.preparation import Preparation

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclasses.dataclass(frozen=True, eq=False)
class NumberFeature:
    """A feature that is a number.

    Attributes
    ----------
    name, column : str
        Of the feature, and of the table's column; they differ for parts of dates.
    median, mean, scale, unit, low, high : float
        See :class:`~aucstudio.project.data.preparing.preparation.Preparation`.
    absent : tuple of float
        Numbers that mean a missing value.
    shares : mapping of str to float, or None
        What each text counts as, where a category becomes a number.
    part : DatePart or None
    curve : (ndarray, ndarray) or None
        Knots and heights, where numbers become ranks.
    is_marked : bool
        Whether it comes with an indicator of missing values.
    """

    name: str
    column: str
    median: float
    mean: float
    scale: float
    unit: float
    low: float
    high: float
    absent: tuple[float, ...]
    shares: Mapping[str, float] | None
    part: DatePart | None
    curve: tuple[Array, Array] | None
    is_marked: bool


@dataclasses.dataclass(frozen=True, eq=False)
class CategoryFeatures:
    """The features of a category, one for each level.

    Attributes
    ----------
    name : str
    levels : tuple of str
    same : tuple of tuple of str
        Texts that count as the first of them.
    places : dict of str to int
        Which level each text is.
    rest : int
        Which level any other text is; -1 for none.
    """

    name: str
    levels: tuple[str, ...]
    same: tuple[tuple[str, ...], ...]
    places: dict[str, int]
    rest: int


def number_features(p: Preparation) -> list[NumberFeature]:
    """Return the features that are numbers, in order."""
    units = p.units
    marked = {p.first_of(column) for column in p.indicated}
    return [
        NumberFeature(
            name=name,
            column=p.source(name),
            median=float(p.medians[k]),
            mean=float(p.means[k]),
            scale=float(p.scales[k]),
            unit=float(units[k]),
            low=float(p.lows[k]),
            high=float(p.highs[k]),
            absent=tuple(p.absent.get(p.source(name), ())),
            shares=p.shares.get(name),
            part=p.parts.get(name),
            curve=(p.knots[k], p.heights[k]) if len(p.knots) else None,
            is_marked=k in marked,
        )
        for k, name in enumerate(p.numbers)
    ]


def category_features(p: Preparation) -> list[CategoryFeatures]:
    """Return the categories, in the order of their features."""
    return [
        CategoryFeatures(
            name, levels, p.same.get(name, ()), p.places(name, levels), p.rest_place(name, levels)
        )
        for name, levels in zip(p.categories, p.levels, strict=True)
    ]


def _levels(p: Preparation) -> list[tuple[str, str]]:
    """Return column and level of the features that follow the numbers."""
    levels = [
        (name, level)
        for name, levels in zip(p.categories, p.levels, strict=True)
        for level in levels
    ]
    return [*levels, *((name, "missing") for name in p.indicated)]


def level_of(p: Preparation, feature: int) -> tuple[str, str]:
    """Return the column and the level of a feature that is no number."""
    return _levels(p)[feature - len(p.numbers)]


def feature_groups(p: Preparation) -> dict[str, slice]:
    """Return the features of each column, part of a date, and indicator of missing values."""
    names = [p.parts[name].together if name in p.parts else name for name in p.numbers]
    marks = len(p.indicated)
    levels = [name for name, _ in _levels(p)]
    names += levels[: len(levels) - marks] + [f"{name} = missing" for name in p.indicated]
    groups: dict[str, slice] = {}
    for k, name in enumerate(names):
        groups[name] = slice(groups[name].start if name in groups else k, k + 1)
    return groups


def column_features(p: Preparation) -> dict[str, Index]:
    """Return all features of each column of the table, indicators of missing values included."""
    found: dict[str, list[int]] = {}
    columns = [*map(p.source, p.numbers), *(name for name, _ in _levels(p))]
    for k, column in enumerate(columns):
        found.setdefault(column, []).append(k)
    return {column: np.array(features, dtype=np.intp) for column, features in found.items()}
