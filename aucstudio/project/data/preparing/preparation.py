"""Preprocessing, fitted on training rows; part of the model.

Numbers: a cell too far from the others to compute with is missing. Missing cells become the
training median (or stay missing for methods that accept them), then the column is standardised.
Categories: one 0/1 column for each training level, including missing values if there were any;
unknown levels are 0 in all of them. For other options see
:class:`~aucstudio.project.data.preparing.preparation_choice.PreparationChoice`.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from aucstudio.engine.arrays import Array, Index
from aucstudio.notices.words import listed
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import ColumnInfo, is_sparse, without
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.preparing.scales import (
    KNOTS,
    RARE,
    LevelCode,
    Number,
    encoded,
    from_ranks,
    learn_levels,
    learn_number,
    level_counts,
    level_values,
    picked,
    scaling_unit,
    to_ranks,
)
from aucstudio.project.data.table import Column, Table
from aucstudio.project.data.text.dates import WHOLE, DatePart, taken
from aucstudio.project.errors import column_error, input_error


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class PreparationSettings:
    """What a preprocessing consists of besides its fitted numbers.

    Attributes
    ----------
    numbers : tuple of str
        Names of columns that are or become numbers, and of date parts.
    categories : tuple of str
        Names of the category columns.
    levels : tuple of tuples of str
        Levels of each category column, most frequent first.
    keep_gaps : bool
        Whether missing numbers stay NaN, for methods that accept them.
    absent : mapping of str to tuple of float
        Number codes of missing values, by number column.
    same : mapping of str to tuple of tuples of str
        Levels to merge, named by the first of them, by category column.
    indicated : tuple of str
        Columns of numbers with a 0/1 column that marks missing values.
    rest : tuple of str
        Category columns in which every other text is a rare level.
    shares : mapping of str to mapping of str to float
        Share of the training rows of each level, by column that is coded by frequency.
    parts : mapping of str to DatePart
        Date parts, by name of the number.
    choice : PreparationChoice
        The options it was fitted with.
    keeps_zeros : bool
        Whether nothing is subtracted, so that sparse rows stay sparse.
    """

    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    keep_gaps: bool = False
    absent: Mapping[str, tuple[float, ...]] = dataclasses.field(default_factory=dict)
    same: Mapping[str, tuple[tuple[str, ...], ...]] = dataclasses.field(default_factory=dict)
    indicated: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    shares: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)
    parts: Mapping[str, DatePart] = dataclasses.field(default_factory=dict)
    choice: PreparationChoice = USUAL
    keeps_zeros: bool = False


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Preparation(PreparationSettings):
    """Fitted preprocessing.

    Attributes
    ----------
    medians, means, scales : ndarray of shape (len(numbers),)
        Replacement of a missing value (by default the median), subtracted mean, and scale.
    lows, highs : ndarray of shape (len(numbers),)
        Limits beyond which cells are missing; see
        :func:`~aucstudio.project.data.preparing.scales.limits`.
    knots, heights : ndarray of shape (len(numbers), KNOTS), or (0, KNOTS)
        Map of numbers to ranks; see :mod:`aucstudio.project.data.preparing.scales`.
    """

    medians: Array
    means: Array
    scales: Array
    lows: Array = dataclasses.field(default_factory=lambda: np.empty(0))
    highs: Array = dataclasses.field(default_factory=lambda: np.empty(0))
    knots: Array = dataclasses.field(default_factory=lambda: np.empty((0, KNOTS)))
    heights: Array = dataclasses.field(default_factory=lambda: np.empty((0, KNOTS)))

    def __post_init__(self) -> None:
        # Without limits all cells are accepted.
        for name, limit in (("lows", -np.inf), ("highs", np.inf)):
            if not len(getattr(self, name)):
                object.__setattr__(self, name, np.full(len(self.numbers), limit))

    @property
    def feature_names(self) -> list[str]:
        """Names of the prepared columns."""
        return [*self.numbers, *(f"{name} = {level}" for name, level in self.coded)]

    @property
    def feature_columns(self) -> list[str]:
        """The column of the table that each prepared column is of."""
        return [*map(self.source, self.numbers), *(name for name, _ in self.coded)]

    @property
    def coded(self) -> list[tuple[str, str]]:
        """Column and level of the 0/1 features, which follow the numbers."""
        levels = zip(self.categories, self.levels, strict=True)
        coded = [(name, level) for name, found in levels for level in found]
        return [*coded, *((name, "missing") for name in self.indicated)]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the table's columns that are prepared."""
        return (*dict.fromkeys(map(self.source, self.numbers)), *self.categories)

    def source(self, number: str) -> str:
        """Return the column of the table that a number is taken from."""
        return self.parts[number].column if number in self.parts else number

    def first_of(self, column: str) -> int:
        """Return the index of the first number of a column."""
        return next(k for k, name in enumerate(self.numbers) if self.source(name) == column)

    @property
    def scaling(self) -> tuple[Array, Array]:
        """Mean and scale of each prepared column; levels are not scaled, nor are ranks."""
        levels = len(self.coded)
        means = np.concatenate([self.means, np.zeros(levels)])
        return means, np.concatenate([self.scales, np.ones(levels)])

    @property
    def units(self) -> Array:
        """Units of computation, powers of two: 1 unless a scale is near the limits of doubles."""
        return np.array([scaling_unit(scale) for scale in self.scales.tolist()])

    def apply(self, table: Table, rows: Index | None = None, *, for_fit: bool = False) -> Array:
        """Return rows of a table as the matrix of the method, shape (rows, features).

        Rows of a sparse table become dense: a few for a plot, or ``for_fit`` as many as fit into
        memory.

        Raises
        ------
        InputError
            If the table lacks columns, has text in number columns, or is sparse with too many
            rows.
        """
        by_name = self.matched(table)
        count = table.rows if rows is None else len(rows)
        if is_sparse(table.columns):
            from aucstudio.project.data.sparse_columns import check_written_out, written_out

            check_written_out(table.path, count, len(self.feature_names), for_fit=for_fit)
            by_name, rows = written_out(by_name, self.columns, rows), None
        X = np.empty((count, len(self.feature_names)))
        marks = {
            self.first_of(name): k - len(self.indicated) for k, name in enumerate(self.indicated)
        }
        for k, name in enumerate(self.numbers):
            if name in self.shares:
                cells = level_values(by_name[name], rows, self.shares[name])
            else:
                cells = self.cells_of(name, by_name[self.source(name)], rows)
                near = cells >= self.lows[k]
                near &= cells <= self.highs[k]
                if not near.all():
                    cells[~near] = np.nan if self.keep_gaps else self.medians[k]
                if k in marks:
                    X[:, marks[k]] = ~near
            X[:, k] = self.scaled(k, cells)
        place = len(self.numbers)
        for one in category_features(self):
            count, column = len(one.levels), by_name[one.name]
            X[:, place : place + count] = encoded(column, rows, one.places, count, one.rest)
            place += count
        return X

    def cells_of(self, number: str, column: Column, rows: Index | None = None) -> Array:
        """Return the cells of a number in rows of its column, with NaN for missing ones."""
        cells = picked(column.values, rows).astype(np.float64)  # a contiguous copy
        cells = without(cells, self.absent.get(column.name, ()))
        return self.parts[number].of(cells) if number in self.parts else cells

    def scaled(self, k: int, cells: Array) -> Array:
        """Scale cells of a number column; may overwrite them."""
        if len(self.knots):
            return to_ranks(cells, self.knots[k], self.heights[k])
        unit = scaling_unit(float(self.scales[k]))
        if unit != 1:
            cells /= unit
        cells -= self.means[k] / unit
        cells /= self.scales[k] / unit
        return cells

    def in_own_unit(self, k: int, values: Array) -> Array:
        """Return the cells of a number column from its prepared values."""
        if len(self.knots):
            return from_ranks(values, self.knots[k], self.heights[k])
        own: Array = values * self.scales[k] + self.means[k]
        return own

    def unscaled(self) -> Preparation:
        """Return the preprocessing without scales and limits, which leaves values unchanged."""
        count = len(self.numbers)
        return dataclasses.replace(
            self,
            means=np.zeros(count),
            scales=np.ones(count),
            lows=np.full(count, -np.inf),
            highs=np.full(count, np.inf),
        )

    def matched(self, table: Table) -> dict[str, Column]:
        """Return the columns of a table by their names.

        Raises
        ------
        InputError
            If a column is absent, or has text instead of numbers.
        """
        by_name = {column.name: column for column in table.columns}
        absent = [name for name in self.columns if name not in by_name]
        where = {"name": table.path.name}
        if absent:
            names = _named(absent)
            raise column_error("columns_absent", table.path, absent[0], columns=names, **where)
        sources = dict.fromkeys(
            self.source(name) for name in self.numbers if name not in self.shares
        )
        text = [name for name in sources if by_name[name].kind == "text"]
        text = [name for name in text if by_name[name].missing < table.rows]
        if text:
            names = _named(text)
            raise column_error("text_for_numbers", table.path, text[0], columns=names, **where)
        return by_name


def _named(names: Sequence[str]) -> str:
    return f"column{'s'[: len(names) > 1]} {listed([repr(name) for name in names], 5)}"


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
    marked = {p.first_of(column) for column in p.indicated}
    fitted = np.stack([p.medians, p.means, p.scales, p.units, p.lows, p.highs], axis=1)
    return [
        NumberFeature(
            *(name, p.source(name)),
            *(median, mean, scale, unit, low, high),
            absent=tuple(p.absent.get(p.source(name), ())),
            shares=p.shares.get(name),
            part=p.parts.get(name),
            curve=(p.knots[k], p.heights[k]) if len(p.knots) else None,
            is_marked=k in marked,
        )
        for k, (name, (median, mean, scale, unit, low, high)) in enumerate(
            zip(p.numbers, fitted.tolist(), strict=True)
        )
    ]


def category_features(p: Preparation) -> list[CategoryFeatures]:
    """Return the categories, in the order of their features."""
    found = []
    for name, levels in zip(p.categories, p.levels, strict=True):
        same, places = p.same.get(name, ()), {level: place for place, level in enumerate(levels)}
        rest = places[RARE] if name in p.rest else -1
        for usual, *others in same:
            places |= dict.fromkeys(others, places[usual]) if usual in places else {}
        found.append(CategoryFeatures(name, levels, same, places, rest))
    return found


def level_of(p: Preparation, feature: int) -> tuple[str, str]:
    """Return the column and the level of a feature that is no number."""
    return p.coded[feature - len(p.numbers)]


def feature_groups(p: Preparation) -> dict[str, slice]:
    """Return the features of each column, part of a date, and indicator of missing values."""
    names = [p.parts[name].together if name in p.parts else name for name in p.numbers]
    marks = len(p.coded) - len(p.indicated)
    names += [n if k < marks else f"{n} = {level}" for k, (n, level) in enumerate(p.coded)]
    groups: dict[str, slice] = {}
    for k, name in enumerate(names):
        groups[name] = slice(groups[name].start if name in groups else k, k + 1)
    return groups


def column_features(p: Preparation) -> dict[str, Index]:
    """Return all features of each column of the table, indicators of missing values included."""
    found: dict[str, list[int]] = {}
    for k, column in enumerate(p.feature_columns):
        found.setdefault(column, []).append(k)
    return {column: np.array(features, dtype=np.intp) for column, features in found.items()}


def learn_preparation(
    table: AnyTable,
    rows: Index,
    choice: PreparationChoice = USUAL,
    *,
    keep_gaps: bool | None = False,
    keep_zeros: bool = False,
) -> Preparation:
    """Fit the preprocessing of a table's feature columns on the given rows only.

    With ``keep_gaps`` missing numbers stay NaN; None keeps them if a given row has one. With
    ``keep_zeros`` nothing is subtracted, so zeros stay zero. Of an out-of-memory table only as
    many columns are in memory at a time as fit a block.

    Raises
    ------
    InputError
        If the table has no feature column.
    """
    features = table.features
    if not features:
        raise input_error("no_features", file=table.path, name=table.path.name)
    numbers = [column for column in features if column.role == "number"]
    known: dict[str, Number] = {}
    if is_sparse(features):
        from aucstudio.project.data.preparing.sparse import learn_rare

        known = learn_rare(numbers, rows, choice)
    dense = [column for column in numbers if column.name not in known]
    cells_of = table.measured([column.name for column in dense])
    for column, cells in zip(dense, cells_of, strict=True):
        for part in taken(column):
            known[part.name] = learn_number(part.of(cells[rows]), choice)
    known = {part.name: known[part.name] for column in numbers for part in taken(column)}
    if keep_zeros:
        known = {name: number.reaching_zero() for name, number in known.items()}
    codes = _learn_categories(table, rows, choice)
    if keep_gaps is None:
        keep_gaps = any(number.missing for number in known.values())
    learnt = _assembled(features, known, codes, choice, keep_gaps=keep_gaps)
    if not keep_zeros:
        return learnt
    return dataclasses.replace(learnt, means=np.zeros(len(learnt.means)), keeps_zeros=True)


def _learn_categories(
    table: AnyTable, rows: Index, choice: PreparationChoice
) -> dict[str, LevelCode]:
    columns = [column for column in table.features if column.role == "category"]
    counted = {column.name: collections.Counter[str]() for column in columns}
    chosen = np.zeros(table.rows, dtype=bool)
    chosen[rows] = True
    for start, window in table.windows(table.height(0), list(counted)) if counted else ():
        here = np.flatnonzero(chosen[start : start + window.rows])
        for name, counter in counted.items():
            counter.update(level_counts(window.column(name), here))
    return {
        column.name: learn_levels(counted[column.name], column.same, choice) for column in columns
    }


def _assembled(
    features: Sequence[ColumnInfo],
    known: Mapping[str, Number],
    codes: Mapping[str, LevelCode],
    choice: PreparationChoice,
    *,
    keep_gaps: bool,
) -> Preparation:
    """Combine the fitted columns in their order."""
    counted = {n: code.shares for n, code in codes.items() if code.shares is not None}
    levels = {name: code.levels for name, code in codes.items() if name not in counted}
    of_shares = {name: learn_number(codes[name].cells, choice).unbounded() for name in counted}
    learnt = {**known, **of_shares}
    figures = np.array([number.figures for number in learnt.values()]).reshape(-1, 5)
    medians, means, scales, lows, highs = figures.T.copy()
    knots = np.array([number.curve for number in learnt.values() if number.curve is not None])
    curves = knots.reshape(-1, 2, KNOTS).transpose(1, 0, 2).copy()
    parts = {p.name: p for c in features if c.role == "number" for p in taken(c)}
    missing = [name for name, number in known.items() if choice.indicators and number.missing]
    marked = [parts[name].column for name in missing]
    return Preparation(
        numbers=tuple(learnt),
        categories=tuple(levels),
        levels=tuple(levels.values()),
        keep_gaps=keep_gaps,
        absent={c.name: c.absent for c in features if c.role == "number" and c.absent},
        same={c.name: c.same for c in features if c.name in levels and c.same},
        indicated=tuple(dict.fromkeys(marked)),
        rest=tuple(name for name, code in codes.items() if code.has_rest),
        shares=counted,
        parts={name: part for name, part in parts.items() if part.part != WHOLE},
        choice=choice,
        medians=medians,
        means=means,
        scales=scales,
        lows=lows,
        highs=highs,
        knots=curves[0],
        heights=curves[1],
    )
