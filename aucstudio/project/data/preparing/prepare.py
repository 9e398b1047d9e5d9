"""Preprocessing as part of the model: fill gaps, encode categories, scale; learnt on training rows.

Numbers: a cell that is too far from the others to compute with is missing; what is missing takes
the training median (or stays so, for methods that know what to do), then the column is
standardised. Categories: one column of 0 and 1 for each level seen in training (and one for gaps,
if there were any); a level never seen is 0 everywhere. What else may be done with either is a
:class:`~aucstudio.project.data.preparing.preparation_choice.PreparationChoice`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import ColumnInfo, without
from aucstudio.project.data.date_parts import WHOLE, DatePart, taken
from aucstudio.project.data.preparing.levels import (
    RARE,
    LevelCode,
    as_shares,
    encoded,
    learn_levels,
    level_counts,
    picked,
)
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.preparing.ranks import KNOTS, from_ranks, to_ranks
from aucstudio.project.data.preparing.scales import Number, learn_number, unit_of
from aucstudio.project.data.preparing.sparse_scales import learn_numbers
from aucstudio.project.data.schema import bare
from aucstudio.project.data.sparse_columns import check_written_out, is_sparse, written_out
from aucstudio.project.data.table import Column, Table
from aucstudio.project.errors import InputError

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# What is learnt of numbers.
LEARNT, LIMITS, CURVES = ("medians", "means", "scales"), ("lows", "highs"), ("knots", "heights")


@dataclasses.dataclass(frozen=True, eq=False)
class Preparation:
    """What preprocessing learnt.

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
        Where numbers become ranks; see :mod:`aucstudio.project.data.preparing.ranks`.
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
        """Give the place of the first number of a column."""
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
        """Give what a number is in rows of its column, missing ones as NaN."""
        cells = picked(column.values, rows).astype(np.float64)  # a copy, in a piece
        cells = without(cells, self.absent.get(column.name, ()))
        return self.parts[number].of(cells) if number in self.parts else cells

    def scaled(self, k: int, cells: Array) -> Array:
        """Bring cells of a number column on its scale; they may be overwritten."""
        if len(self.knots):
            return to_ranks(cells, self.knots[k], self.heights[k])
        unit = unit_of(float(self.scales[k]))
        if unit != 1:
            cells /= unit
        cells -= self.means[k] / unit
        cells /= self.scales[k] / unit
        return cells

    def in_own_unit(self, k: int, values: Array) -> Array:
        """Give the cells of a number column that prepared values stand for."""
        if len(self.knots):
            return from_ranks(values, self.knots[k], self.heights[k])
        own: Array = values * self.scales[k] + self.means[k]
        return own

    def rest_place(self, name: str, levels: Sequence[str]) -> int:
        """Give which level a text is that is none of those of a category; -1 for none."""
        return list(levels).index(RARE) if name in self.rest else -1

    def places(self, name: str, levels: Sequence[str]) -> dict[str, int]:
        """Give which level each text of a category is."""
        places = {level: place for place, level in enumerate(levels)}
        for usual, *others in self.same.get(name, ()):
            if usual in places:
                places.update(dict.fromkeys(others, places[usual]))
        return places

    def unscaled(self) -> Preparation:
        """Give the same without scales and limits, for scores that are to stay what they are."""
        count = len(self.numbers)
        return dataclasses.replace(
            self,
            means=np.zeros(count),
            scales=np.ones(count),
            lows=np.full(count, -np.inf),
            highs=np.full(count, np.inf),
        )

    def matched(self, table: Table) -> dict[str, Column]:
        """Give the columns of a table by their names.

        Raises
        ------
        InputError
            If it lacks some that are needed, or holds text where numbers were learnt.
        """
        by_name = {column.name: column for column in table.columns}
        absent = [name for name in self.columns if name not in by_name]
        if absent:
            raise InputError(
                f"{table.path.name} lacks {_named(absent)} that the model was trained on",
                file=str(table.path),
                column=absent[0],
            )
        text = [
            name
            for name in dict.fromkeys(map(self.source, self.numbers))
            if name not in self.shares
            and by_name[name].kind == "text"
            and by_name[name].missing < table.rows
        ]
        if text:
            raise InputError(
                f"{_named(text)} of {table.path.name} holds text where the model was trained on "
                "numbers",
                file=str(table.path),
                column=text[0],
            )
        return by_name

    def arrays(self) -> dict[str, Array]:
        curves = CURVES if len(self.knots) else ()
        return {name: getattr(self, name) for name in (*LEARNT, *LIMITS, *curves)}

    def settings(self) -> dict[str, Any]:
        return {
            "numbers": list(self.numbers),
            "categories": list(self.categories),
            "levels": [list(levels) for levels in self.levels],
            "keep_gaps": self.keep_gaps,
            **({"absent": {n: list(c) for n, c in self.absent.items()}} if self.absent else {}),
            **({"same": {n: bare(groups) for n, groups in self.same.items()}} if self.same else {}),
            **({"indicated": list(self.indicated)} if self.indicated else {}),
            **({"rest": list(self.rest)} if self.rest else {}),
            **({"parts": {n: bare(part) for n, part in self.parts.items()}} if self.parts else {}),
            **({"choice": self.choice.given()} if self.choice != USUAL else {}),
            **({"shares": {n: dict(s) for n, s in self.shares.items()}} if self.shares else {}),
            **({"keeps_zeros": True} if self.keeps_zeros else {}),
        }

    @classmethod
    def restore(cls, settings: Mapping[str, Any], arrays: Mapping[str, Array]) -> Preparation:
        """Rebuild what ``arrays()`` and ``settings()`` gave."""
        count = len(settings["numbers"])
        limits = {name: arrays[name] for name in LIMITS if name in arrays}
        if any(arrays[name].shape != (count,) for name in (*LEARNT, *limits)):
            raise ValueError("the arrays of the preprocessing do not fit its columns")
        curves = {name: arrays[name] for name in CURVES if name in arrays}
        _check_choices(settings, curves, count)
        if not all(np.isfinite(arrays[name]).all() for name in (*LEARNT, *curves)):
            raise ValueError("the preprocessing holds numbers that are not finite")
        if any(np.isnan(array).any() for array in limits.values()):
            raise ValueError("the preprocessing holds limits that are no numbers")
        if (arrays["scales"] <= 0).any():
            raise ValueError("the preprocessing divides by a scale that is not above 0")
        return cls(
            tuple(settings["numbers"]),
            arrays["medians"],
            arrays["means"],
            arrays["scales"],
            tuple(settings["categories"]),
            tuple(tuple(levels) for levels in settings["levels"]),
            bool(settings.get("keep_gaps", False)),
            **limits,
            absent={name: tuple(cells) for name, cells in settings.get("absent", {}).items()},
            same={n: tuple(map(tuple, groups)) for n, groups in settings.get("same", {}).items()},
            **curves,
            indicated=tuple(settings.get("indicated", ())),
            rest=tuple(settings.get("rest", ())),
            shares={name: dict(shares) for name, shares in settings.get("shares", {}).items()},
            parts={n: DatePart(**part) for n, part in settings.get("parts", {}).items()},
            choice=PreparationChoice.of(settings.get("choice", {})),
            keeps_zeros=_keeps_zeros(settings, arrays, curves),
        )


def _keeps_zeros(
    settings: Mapping[str, Any], arrays: Mapping[str, Array], curves: Mapping[str, Array]
) -> bool:
    """Tell whether zeros stay zero; ValueError where that is said and not so."""
    said = settings.get("keeps_zeros", False)
    moved = bool(curves) or arrays["means"].any()
    limits = [(name, arrays[name]) for name in LIMITS if name in arrays]
    beyond = any((a > 0).any() if name == "lows" else (a < 0).any() for name, a in limits)
    if not isinstance(said, bool) or (said and (moved or beyond)):
        raise ValueError("the preprocessing does not keep zeros, as it says")
    return said


def _check_choices(settings: Mapping[str, Any], curves: Mapping[str, Array], numbers: int) -> None:
    """Raise ValueError unless what was chosen fits the columns."""
    if curves and (
        set(curves) != set(CURVES)
        or any(array.shape != (numbers, KNOTS) for array in curves.values())
        or any((np.diff(array, axis=1) < 0).any() for array in curves.values())
    ):
        raise ValueError("the knots of the preprocessing do not fit its columns")
    indicated, rest = settings.get("indicated", ()), settings.get("rest", ())
    shares = settings.get("shares", {})
    levels = dict(zip(settings["categories"], settings["levels"], strict=True))
    parts = {name: DatePart(**part) for name, part in settings.get("parts", {}).items()}
    columns = {parts[name].column if name in parts else name for name in settings["numbers"]}
    sound = (
        {*indicated} <= columns
        and {*shares, *parts} <= set(settings["numbers"])
        and not {*shares} & {*parts}
        and all(name == part.name and part.is_known for name, part in parts.items())
        and not {*indicated} & {*shares}
        and len(set(indicated)) == len(indicated)
        and all(RARE in levels.get(name, ()) for name in rest)
        and all(0 <= share <= 1 for known in shares.values() for share in known.values())
    )
    if not sound:
        raise ValueError("the choices of the preprocessing do not fit its columns")


def learn_preparation(
    table: Table,
    rows: Rows,
    choice: PreparationChoice = USUAL,
    *,
    keep_gaps: bool = False,
    keep_zeros: bool = False,
) -> Preparation:
    """Learn the preprocessing of a table's feature columns on the given rows alone.

    With ``keep_gaps`` numbers that are not known stay NaN; with ``keep_zeros`` they are scaled
    about zero, which stays zero.

    Raises
    ------
    InputError
        If the table has no feature column.
    """
    features = table.features
    if not features:
        raise no_features(table)
    numbers = [column for column in features if column.role == "number"]
    categories = [column for column in features if column.role == "category"]
    whole = learn_numbers([column for column in numbers if not column.parts], rows, choice)
    known: dict[str, Number] = {}
    for column in numbers:
        if not column.parts:
            known[column.name] = whole[column.name]
            continue
        cells = without(column.values[rows], column.absent)
        for part in taken(column):
            known[part.name] = learn_number(part.of(cells), choice)
    if keep_zeros:
        known = {name: number.reaching_zero() for name, number in known.items()}
    codes = {
        column.name: learn_levels(level_counts(column, rows), column.same, choice)
        for column in categories
    }
    learnt = assembled(features, known, codes, choice, keep_gaps=keep_gaps)
    if not keep_zeros:
        return learnt
    return dataclasses.replace(learnt, means=np.zeros(len(learnt.means)), keeps_zeros=True)


def assembled(
    features: Sequence[ColumnInfo],
    known: Mapping[str, Number],
    codes: Mapping[str, LevelCode],
    choice: PreparationChoice,
    *,
    keep_gaps: bool,
) -> Preparation:
    """Put together what was learnt of each column, in the order of the columns."""
    counted = {n: code.shares for n, code in codes.items() if code.shares is not None}
    levels = {name: code.levels for name, code in codes.items() if name not in counted}
    of_shares = {name: learn_number(codes[name].cells, choice).unbounded() for name in counted}
    learnt = {**known, **of_shares}
    figures = np.array([number.figures for number in learnt.values()]).reshape(-1, 5)
    medians, means, scales, lows, highs = figures.T.copy()
    knots = np.array([number.curve for number in learnt.values() if number.curve is not None])
    curves = knots.reshape(-1, 2, KNOTS).transpose(1, 0, 2).copy()
    parts = {p.name: p for c in features if c.role == "number" for p in taken(c)}
    marked = (
        parts[n].column for n, number in known.items() if choice.indicators and number.missing
    )
    return Preparation(
        tuple(learnt),
        medians,
        means,
        scales,
        tuple(levels),
        tuple(levels.values()),
        keep_gaps,
        lows,
        highs,
        absent_of(column for column in features if column.role == "number"),
        same_of(column for column in features if column.name in levels),
        curves[0],
        curves[1],
        tuple(dict.fromkeys(marked)),
        tuple(name for name, code in codes.items() if code.has_rest),
        counted,
        {name: part for name, part in parts.items() if part.part != WHOLE},
        choice,
    )


def absent_of(columns: Iterable[ColumnInfo]) -> dict[str, tuple[float, ...]]:
    """Give by column the numbers that stand for a missing value."""
    return {column.name: column.absent for column in columns if column.absent}


def same_of(columns: Iterable[ColumnInfo]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Give by column the levels that are one."""
    return {column.name: column.same for column in columns if column.same}


def no_features(table: AnyTable) -> InputError:
    """Make the sentence for a table without a feature column."""
    return InputError(
        f"{table.path.name} has no feature column left: give at least one column the role "
        "number or category",
        file=str(table.path),
    )


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"column{'s' if len(names) > 1 else ''} {shown}{more}"
