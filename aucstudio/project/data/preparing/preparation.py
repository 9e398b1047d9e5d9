"""Fitted preprocessing, part of the model.

Numbers: a cell too far from the others to compute with is missing. Missing cells become the
training median (or stay missing for methods that accept them), then the column is standardised.
Categories: one 0/1 column for each training level, including missing values if there were any;
unknown levels are 0 in all of them. For other options see
:class:`~aucstudio.project.data.preparing.preparation_choice.PreparationChoice`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.columns import without
from aucstudio.project.data.date_parts import DatePart
from aucstudio.project.data.preparing.levels import (
    RARE,
    as_shares,
    encoded,
    picked,
)
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.preparing.scales import KNOTS, from_ranks, to_ranks, unit_of
from aucstudio.project.data.sparse_columns import check_written_out, is_sparse, written_out
from aucstudio.project.data.table import Column, Table
from aucstudio.project.errors import input_error

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclasses.dataclass(frozen=True, eq=False)
class Preparation:
    """Fitted preprocessing.

    Attributes
    ----------
    numbers : tuple of str
        Names of columns that are or become numbers, and of date parts.
    medians, means, scales : ndarray of shape (len(numbers),)
        Replacement of a missing value (by default the median), subtracted mean, and scale.
    lows, highs : ndarray of shape (len(numbers),)
        Limits beyond which cells are missing; see
        :func:`~aucstudio.project.data.preparing.scales.limits`.
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
    knots, heights : ndarray of shape (len(numbers), KNOTS), or (0, KNOTS)
        Map of numbers to ranks; see :mod:`aucstudio.project.data.preparing.scales`.
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
    medians: Array
    means: Array
    scales: Array
    categories: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    keep_gaps: bool = False
    lows: Array = dataclasses.field(default_factory=lambda: np.empty(0))
    highs: Array = dataclasses.field(default_factory=lambda: np.empty(0))
    absent: Mapping[str, tuple[float, ...]] = dataclasses.field(default_factory=dict)
    same: Mapping[str, tuple[tuple[str, ...], ...]] = dataclasses.field(default_factory=dict)
    knots: Array = dataclasses.field(default_factory=lambda: np.empty((0, KNOTS)))
    heights: Array = dataclasses.field(default_factory=lambda: np.empty((0, KNOTS)))
    indicated: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    shares: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)
    parts: Mapping[str, DatePart] = dataclasses.field(default_factory=dict)
    choice: PreparationChoice = USUAL
    keeps_zeros: bool = False

    def __post_init__(self) -> None:
        # Without limits all cells are accepted.
        for name, limit in (("lows", -np.inf), ("highs", np.inf)):
            if not len(getattr(self, name)):
                object.__setattr__(self, name, np.full(len(self.numbers), limit))

    @property
    def feature_names(self) -> list[str]:
        """Names of the prepared columns."""
        coded = [
            f"{name} = {level}"
            for name, levels in zip(self.categories, self.levels, strict=True)
            for level in levels
        ]
        return [*self.numbers, *coded, *(f"{name} = missing" for name in self.indicated)]

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
        levels = sum(len(levels) for levels in self.levels) + len(self.indicated)
        means = np.concatenate([self.means, np.zeros(levels)])
        return means, np.concatenate([self.scales, np.ones(levels)])

    @property
    def units(self) -> Array:
        """Units of computation, powers of two: 1 unless a scale is near the limits of doubles."""
        return np.array([unit_of(scale) for scale in self.scales.tolist()])

    def apply(self, table: Table, rows: Rows | None = None, *, for_fit: bool = False) -> Array:
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
            check_written_out(table.path, count, len(self.feature_names), for_fit=for_fit)
            by_name, rows = written_out(by_name, self.columns, rows), None
        X = np.empty((count, len(self.feature_names)))
        marks = {
            self.first_of(name): k - len(self.indicated) for k, name in enumerate(self.indicated)
        }
        for k, name in enumerate(self.numbers):
            if name in self.shares:
                cells = as_shares(by_name[name], rows, self.shares[name])
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
        for name, levels in zip(self.categories, self.levels, strict=True):
            X[:, place : place + len(levels)] = encoded(
                by_name[name],
                rows,
                self.places(name, levels),
                len(levels),
                self.rest_place(name, levels),
            )
            place += len(levels)
        return X

    def cells_of(self, number: str, column: Column, rows: Rows | None = None) -> Array:
        """Return the cells of a number in rows of its column, with NaN for missing ones."""
        cells = picked(column.values, rows).astype(np.float64)  # a contiguous copy
        cells = without(cells, self.absent.get(column.name, ()))
        return self.parts[number].of(cells) if number in self.parts else cells

    def scaled(self, k: int, cells: Array) -> Array:
        """Scale cells of a number column; may overwrite them."""
        if len(self.knots):
            return to_ranks(cells, self.knots[k], self.heights[k])
        unit = unit_of(float(self.scales[k]))
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

    def rest_place(self, name: str, levels: Sequence[str]) -> int:
        """Return the index of the level of all other texts; -1 without one."""
        return list(levels).index(RARE) if name in self.rest else -1

    def places(self, name: str, levels: Sequence[str]) -> dict[str, int]:
        """Return the index of the level of each text of a category."""
        places = {level: place for place, level in enumerate(levels)}
        for usual, *others in self.same.get(name, ()):
            if usual in places:
                places.update(dict.fromkeys(others, places[usual]))
        return places

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
        if absent:
            raise input_error(
                "columns_absent",
                file=table.path,
                column=absent[0],
                name=table.path.name,
                columns=_named(absent),
            )
        text = [
            name
            for name in dict.fromkeys(map(self.source, self.numbers))
            if name not in self.shares
            and by_name[name].kind == "text"
            and by_name[name].missing < table.rows
        ]
        if text:
            raise input_error(
                "text_for_numbers",
                file=table.path,
                column=text[0],
                columns=_named(text),
                name=table.path.name,
            )
        return by_name


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"column{'s' if len(names) > 1 else ''} {shown}{more}"
