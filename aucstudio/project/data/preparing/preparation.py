"""Fitted preprocessing, part of the model.

Numbers: a cell that is too far from the others to compute with is missing; what is missing takes
the training median (or stays so, for methods that know what to do), then the column is
standardised. Categories: one column of 0 and 1 for each level seen in training (and one for gaps,
if there were any); a level never seen is 0 everywhere. What else may be done with either is a
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
        Names of the columns that are numbers, or become one; and what is taken of dates.
    medians, means, scales : ndarray of shape (len(numbers),)
        What a missing value becomes (the median, unless chosen otherwise), what is subtracted,
        and what it is divided by.
    lows, highs : ndarray of shape (len(numbers),)
        Cells below or above are missing; see
        :func:`~aucstudio.project.data.preparing.scales.limits`.
    categories : tuple of str
        Names of the category columns.
    levels : tuple of tuples of str
        For each category column its levels, most frequent first.
    keep_gaps : bool
        Whether gaps in numbers stay NaN, for a method that knows what to do with them.
    absent : mapping of str to tuple of float
        By column of numbers, those that stand for a missing value.
    same : mapping of str to tuple of tuples of str
        By category column, levels that are one, called as the first of them.
    knots, heights : ndarray of shape (len(numbers), KNOTS), or (0, KNOTS)
        Where numbers become ranks; see :mod:`aucstudio.project.data.preparing.scales`.
    indicated : tuple of str
        Columns of numbers with a column of 0 and 1 that tells their missing values.
    rest : tuple of str
        Category columns in which every text without a level is a rare one.
    shares : mapping of str to mapping of str to float
        By category column that becomes a number, each level's share of the training rows.
    parts : mapping of str to DatePart
        By number that is a part of a date, what it is taken of.
    choice : PreparationChoice
        What it was learnt for, to be told.
    keeps_zeros : bool
        Whether nothing is subtracted, so that zeros stay zero and sparse rows sparse.
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
        # An earlier program knew no limits.
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
        """Name the column of the table that a number is of."""
        return self.parts[number].column if number in self.parts else number

    def first_of(self, column: str) -> int:
        """Return the place of the first number of a column."""
        return next(k for k, name in enumerate(self.numbers) if self.source(name) == column)

    @property
    def scaling(self) -> tuple[Array, Array]:
        """Mean and scale of each prepared column; levels are not scaled, nor are ranks."""
        levels = sum(len(levels) for levels in self.levels) + len(self.indicated)
        means = np.concatenate([self.means, np.zeros(levels)])
        return means, np.concatenate([self.scales, np.ones(levels)])

    @property
    def units(self) -> Array:
        """Powers of two to compute in: 1 unless a column's scale is near the ends of doubles."""
        return np.array([unit_of(scale) for scale in self.scales.tolist()])

    def apply(self, table: Table, rows: Rows | None = None, *, for_fit: bool = False) -> Array:
        """Turn rows of a table into the matrix the method sees, shape (rows, features).

        Of a sparse table they are written out with their zeros: a few for a picture, and
        ``for_fit`` as many as fit into memory.

        Raises
        ------
        InputError
            If the table lacks columns, holds text where numbers were learnt, or is a sparse one
            and the rows are too many.
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
        """Return what a number is in rows of its column, missing ones as NaN."""
        cells = picked(column.values, rows).astype(np.float64)  # a copy, in a piece
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
        """Return which level a text is that is none of those of a category; -1 for none."""
        return list(levels).index(RARE) if name in self.rest else -1

    def places(self, name: str, levels: Sequence[str]) -> dict[str, int]:
        """Return which level each text of a category is."""
        places = {level: place for place, level in enumerate(levels)}
        for usual, *others in self.same.get(name, ()):
            if usual in places:
                places.update(dict.fromkeys(others, places[usual]))
        return places

    def unscaled(self) -> Preparation:
        """Return the same without scales and limits, for scores that are to stay what they are."""
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
            If it lacks some that are needed, or holds text where numbers were learnt.
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
