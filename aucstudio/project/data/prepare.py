"""Preprocessing as part of the model: fill gaps, encode categories, scale; learnt on training rows.

Numbers: a cell that is too far from the others to compute with is missing; what is missing takes
the training median (or stays so, for methods that know what to do), then the column is
standardised. Categories: one column of 0 and 1 for each level seen in training (and one for gaps,
if there were any); a level never seen is 0 everywhere.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import ColumnInfo, without
from aucstudio.project.data.scales import learn_number, unit_of
from aucstudio.project.data.schema import bare
from aucstudio.project.data.table import Column, Table
from aucstudio.project.errors import InputError

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

MISSING = "(missing)"
MAX_LEVELS = 100
# What is learnt of numbers.
LEARNT, LIMITS = ("medians", "means", "scales"), ("lows", "highs")

_WINDOW = 20_000


@dataclasses.dataclass(frozen=True, eq=False)
class Preparation:
    """What preprocessing learnt.

    Attributes
    ----------
    numbers : tuple of str
        Names of the number columns.
    medians, means, scales : ndarray of shape (len(numbers),)
    lows, highs : ndarray of shape (len(numbers),)
        Cells below or above are missing; see :func:`~aucstudio.project.data.scales.limits`.
    categories : tuple of str
        Names of the category columns.
    levels : tuple of tuples of str
        For each category column its levels, most frequent first.
    keep_gaps : bool
        Whether gaps in numbers stay NaN, for a method that knows what to do with them.
    absent : mapping of str to tuple of float
        By number column, numbers that stand for a missing value.
    same : mapping of str to tuple of tuples of str
        By category column, levels that are one, called as the first of them.
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

    def __post_init__(self) -> None:
        # An earlier program knew no limits.
        for name, limit in (("lows", -np.inf), ("highs", np.inf)):
            if not len(getattr(self, name)):
                object.__setattr__(self, name, np.full(len(self.numbers), limit))

    @property
    def feature_names(self) -> list[str]:
        """Names of the prepared columns."""
        encoded = [
            f"{name} = {level}"
            for name, levels in zip(self.categories, self.levels, strict=True)
            for level in levels
        ]
        return [*self.numbers, *encoded]

    @property
    def scaling(self) -> tuple[Array, Array]:
        """Mean and scale of each prepared column; levels are not scaled."""
        levels = sum(len(levels) for levels in self.levels)
        means = np.concatenate([self.means, np.zeros(levels)])
        return means, np.concatenate([self.scales, np.ones(levels)])

    @property
    def units(self) -> Array:
        """Powers of two to compute in: 1 unless a column's scale is near the ends of doubles."""
        return np.array([unit_of(scale) for scale in self.scales.tolist()])

    def apply(self, table: Table, rows: Rows | None = None) -> Array:
        """Turn rows of a table into the matrix the method sees, shape (rows, features).

        Raises
        ------
        InputError
            If the table lacks columns, or holds text where numbers were learnt.
        """
        by_name = self._matched(table)
        count = table.rows if rows is None else len(rows)
        X = np.empty((count, len(self.feature_names)))
        for k, (name, unit) in enumerate(zip(self.numbers, self.units.tolist(), strict=True)):
            cells = _picked(by_name[name].values, rows).astype(np.float64)  # a copy, in one piece
            cells = without(cells, self.absent.get(name, ()))
            near = cells >= self.lows[k]
            near &= cells <= self.highs[k]
            if not near.all():
                cells[~near] = np.nan if self.keep_gaps else self.medians[k]
            if unit != 1:
                cells /= unit
            cells -= self.means[k] / unit
            cells /= self.scales[k] / unit
            X[:, k] = cells
        place = len(self.numbers)
        for name, levels in zip(self.categories, self.levels, strict=True):
            X[:, place : place + len(levels)] = _encoded(
                by_name[name], rows, self.places(name, levels), len(levels)
            )
            place += len(levels)
        return X

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

    def _matched(self, table: Table) -> dict[str, Column]:
        by_name = {column.name: column for column in table.columns}
        absent = [name for name in (*self.numbers, *self.categories) if name not in by_name]
        if absent:
            raise InputError(
                f"{table.path.name} lacks {_named(absent)} that the model was trained on",
                file=str(table.path),
                column=absent[0],
            )
        text = [
            name
            for name in self.numbers
            if by_name[name].kind == "text" and by_name[name].missing < table.rows
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
        return {name: getattr(self, name) for name in (*LEARNT, *LIMITS)}

    def settings(self) -> dict[str, Any]:
        return {
            "numbers": list(self.numbers),
            "categories": list(self.categories),
            "levels": [list(levels) for levels in self.levels],
            "keep_gaps": self.keep_gaps,
            **({"absent": {n: list(c) for n, c in self.absent.items()}} if self.absent else {}),
            **({"same": {n: bare(groups) for n, groups in self.same.items()}} if self.same else {}),
        }

    @classmethod
    def restore(cls, settings: Mapping[str, Any], arrays: Mapping[str, Array]) -> Preparation:
        """Rebuild what ``arrays()`` and ``settings()`` gave."""
        count = len(settings["numbers"])
        limits = {name: arrays[name] for name in LIMITS if name in arrays}
        if any(arrays[name].shape != (count,) for name in (*LEARNT, *limits)):
            raise ValueError("the arrays of the preprocessing do not fit its columns")
        if not all(np.isfinite(arrays[name]).all() for name in LEARNT):
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
        )


def learn_preparation(table: Table, rows: Rows, *, keep_gaps: bool = False) -> Preparation:
    """Learn the preprocessing of a table's feature columns on the given rows alone.

    With ``keep_gaps`` numbers that are not known stay NaN.

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
    learnt = np.array(
        [learn_number(without(column.values[rows], column.absent)) for column in numbers]
    )
    medians, means, scales, lows, highs = learnt.reshape(-1, 5).T.copy()
    return Preparation(
        tuple(column.name for column in numbers),
        medians,
        means,
        scales,
        tuple(column.name for column in categories),
        tuple(most_frequent(level_counts(column, rows)) for column in categories),
        keep_gaps,
        lows,
        highs,
        absent_of(numbers),
        same_of(categories),
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


def level_counts(column: Column, rows: Rows) -> collections.Counter[str]:
    """Count the rows of each level of a category."""
    counted: collections.Counter[str] = collections.Counter()
    for cells in _texts(column, rows):
        counted.update(cells)
    for usual, *others in column.same:
        counted[usual] += sum(counted.pop(level, 0) for level in others)
    return +counted


def most_frequent(counted: collections.Counter[str]) -> tuple[str, ...]:
    """Give the levels that are encoded, most frequent first."""
    ranked = sorted(counted, key=lambda level: (-counted[level], level))
    return tuple(ranked[:MAX_LEVELS])


def _encoded(column: Column, rows: Rows | None, places: Mapping[str, int], levels: int) -> Array:
    """Make a column of 0 and 1 for each level."""
    codes = [
        np.fromiter((places.get(cell, -1) for cell in cells), dtype=np.intp, count=len(cells))
        for cells in _texts(column, rows)
    ]
    found = np.concatenate(codes) if codes else np.empty(0, dtype=np.intp)
    encoded = np.zeros((len(found), levels))
    (known,) = np.nonzero(found >= 0)
    encoded[known, found[known]] = 1.0
    return encoded


def _texts(column: Column, rows: Rows | None) -> Iterator[list[str]]:
    """Spell the cells of a category as levels, some thousand at a time.

    Not in an array of texts: there the longest decides what each takes.
    """
    values = _picked(column.values, rows)
    for start in range(0, len(values), _WINDOW):
        cells = values[start : start + _WINDOW].tolist()
        if column.kind == "number":
            yield [spell_level(cell) for cell in cells]
        else:
            yield [MISSING if cell is None else cell for cell in cells]


def spell_level(cell: float) -> str:
    """Spell a number as the level of a category."""
    return MISSING if cell != cell else f"{cell:.15g}"


def _picked(values: NDArray[Any], rows: Rows | None) -> NDArray[Any]:
    return values if rows is None else values[rows]


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"column{'s' if len(names) > 1 else ''} {shown}{more}"
