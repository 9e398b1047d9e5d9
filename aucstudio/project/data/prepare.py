"""Preprocessing as part of the model: fill gaps, encode categories, scale; learnt on training rows.

Numbers: gaps take the training median (or stay, for methods that take them), then the column is
standardised. Categories: one column of 0 and 1 for each level seen in training (and one for gaps,
if there were any); a level never seen is 0 everywhere.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.table import Column, Table
from aucstudio.project.errors import InputError

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

MISSING = "(missing)"
MAX_LEVELS = 100


@dataclasses.dataclass(frozen=True, eq=False)
class Preparation:
    """What preprocessing learnt.

    Attributes
    ----------
    numbers : tuple of str
        Names of the number columns.
    medians, means, scales : ndarray of shape (len(numbers),)
    categories : tuple of str
        Names of the category columns.
    levels : tuple of tuples of str
        For each category column its levels, most frequent first.
    keep_gaps : bool
        Whether gaps in numbers stay NaN, for a method that knows what to do with them.
    """

    numbers: tuple[str, ...]
    medians: Array
    means: Array
    scales: Array
    categories: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    keep_gaps: bool = False

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
        for k, name in enumerate(self.numbers):
            cells = _picked(by_name[name].values, rows).astype(np.float64)  # a copy, in one piece
            if not self.keep_gaps:
                cells[np.isnan(cells)] = self.medians[k]
            cells -= self.means[k]
            cells /= self.scales[k]
            X[:, k] = cells
        place = len(self.numbers)
        for name, levels in zip(self.categories, self.levels, strict=True):
            cells = as_text(by_name[name], rows)
            for level in levels:
                X[:, place] = cells == level
                place += 1
        return X

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
        return {"medians": self.medians, "means": self.means, "scales": self.scales}

    def settings(self) -> dict[str, Any]:
        return {
            "numbers": list(self.numbers),
            "categories": list(self.categories),
            "levels": [list(levels) for levels in self.levels],
            "keep_gaps": self.keep_gaps,
        }

    @classmethod
    def restore(cls, settings: Mapping[str, Any], arrays: Mapping[str, Array]) -> Preparation:
        """Rebuild what ``arrays()`` and ``settings()`` gave."""
        count = len(settings["numbers"])
        if any(arrays[name].shape != (count,) for name in ("medians", "means", "scales")):
            raise ValueError("the arrays of the preprocessing do not fit its columns")
        if not all(np.isfinite(array).all() for array in arrays.values()):
            raise ValueError("the preprocessing holds numbers that are not finite")
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
    learnt = np.array([_learn_number(column.values[rows]) for column in numbers]).reshape(-1, 3)
    return Preparation(
        tuple(column.name for column in numbers),
        learnt[:, 0].copy(),
        learnt[:, 1].copy(),
        learnt[:, 2].copy(),
        tuple(column.name for column in categories),
        tuple(_learn_levels(as_text(column, rows)) for column in categories),
        keep_gaps,
    )


def no_features(table: AnyTable) -> InputError:
    """Make the sentence for a table without a feature column."""
    return InputError(
        f"{table.path.name} has no feature column left: give at least one column the role "
        "number or category",
        file=str(table.path),
    )


def _learn_number(cells: Array) -> tuple[float, float, float]:
    known = cells[~np.isnan(cells)]
    if not len(known):
        return 0.0, 0.0, 1.0
    median = float(np.median(known))
    filled = np.where(np.isnan(cells), median, cells)
    mean = float(filled.mean())
    scale = float((filled - mean).std())
    return median, mean, settled_scale(mean, scale)


def settled_scale(mean: float, scale: float) -> float:
    """Give the scale of a column, 1 for a constant one: far from 0 it has a spread of rounding."""
    return scale if scale > 1e-12 * max(abs(mean), 1e-300) else 1.0


def _learn_levels(cells: NDArray[Any]) -> tuple[str, ...]:
    levels, counts = np.unique(cells, return_counts=True)
    order = np.lexsort((levels, -counts))[:MAX_LEVELS]
    return tuple(str(level) for level in levels[order])


def as_text(column: Column, rows: Rows | None) -> NDArray[Any]:
    cells = _picked(column.values, rows)
    if column.kind == "number":
        return np.array([MISSING if np.isnan(cell) else f"{cell:.15g}" for cell in cells])
    return np.array([MISSING if cell is None else cell for cell in cells], dtype=np.str_)


def _picked(values: NDArray[Any], rows: Rows | None) -> NDArray[Any]:
    return values if rows is None else values[rows]


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"column{'s' if len(names) > 1 else ''} {shown}{more}"
