"""Columns that decide which row of a pair scores higher.

Symbols: x⁺, x⁻ the two prepared rows, z = x⁺ − x⁻; f score; x[k ← y] a row with column k taken
from y.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.scorers import LinearScorer
from aucstudio.project.data.columns import Column, spell_cell
from aucstudio.project.data.preparing.prepared_features import feature_groups
from aucstudio.project.data.table import Table
from aucstudio.project.runs.models.model import Model

Array = NDArray[np.float64]

GAP = "gap"
_COLUMNS_PER_CHUNK = 128


@dataclasses.dataclass(frozen=True)
class ColumnShare:
    """Contribution of one column to a pair.

    Attributes
    ----------
    column : str
    cells : (str, str)
        Of the positive and the negative row, as the table has them.
    difference : float
        z in standard deviations of training; NaN for a category or a missing value.
    contribution : float
        To the difference of the scores; see :func:`explain_pair`.
    """

    column: str
    cells: tuple[str, str]
    difference: float
    contribution: float


@dataclasses.dataclass(frozen=True)
class PairDetail:
    """A pair of rows with the contributions of the columns.

    Attributes
    ----------
    rows : (int, int)
        Row numbers of the positive and the negative in the table.
    margin : float
        f(x⁺) − f(x⁻).
    parts : tuple of ColumnShare
        The largest contribution, whatever its sign, first.
    """

    rows: tuple[int, int]
    margin: float
    parts: tuple[ColumnShare, ...]

    @property
    def interplay(self) -> float:
        """The margin minus the sum of the contributions."""
        return self.margin - sum(part.contribution for part in self.parts)


def explain_pair(table: Table, model: Model, rows: tuple[int, int]) -> PairDetail:
    """Return which columns decided a pair.

    For a linear scorer column k contributes w_k z_k, summed over its levels if it is a
    category. For any other the rows swap the column, one way and the other:
    ½ (f(x⁺) − f(x⁺[k ← x⁻]) + f(x⁻[k ← x⁺]) − f(x⁻)), which for a linear one is the same.

    Raises
    ------
    InputError
        If the table lacks columns of the model.
    """
    preparation = model.preparation
    X = preparation.apply(table, np.array(rows))
    groups = feature_groups(preparation)
    scores = model.scorer(X)
    if isinstance(model.scorer, LinearScorer):
        products = model.scorer.weights * (X[0] - X[1])
        shares = np.array([products[group].sum() for group in groups.values()])
    else:
        shares = _swapped(model, X, scores, list(groups.values()))
    columns = {column.name: column for column in table.columns}
    sources = {f"{name} = missing": columns[name] for name in preparation.indicated} | columns
    sources |= {part.together: columns[part.column] for part in preparation.parts.values()}
    numbers, differences = len(preparation.numbers), X[0] - X[1]
    parts = [
        ColumnShare(
            name,
            _cells(sources[name], rows),
            float(differences[group][0]) if _is_number(group, numbers) else np.nan,
            float(share),
        )
        for (name, group), share in zip(groups.items(), shares, strict=True)
    ]
    parts.sort(key=lambda part: -abs(part.contribution))
    return PairDetail(rows, float(scores[0] - scores[1]), tuple(parts))


def _is_number(group: slice, numbers: int) -> bool:
    return bool(group.stop <= numbers and group.stop == group.start + 1)


def _swapped(model: Model, X: Array, scores: Array, groups: list[slice]) -> Array:
    return np.concatenate(
        [
            _swapped_some(model, X, scores, groups[start : start + _COLUMNS_PER_CHUNK])
            for start in range(0, len(groups), _COLUMNS_PER_CHUNK)
        ]
    )


def _swapped_some(model: Model, X: Array, scores: Array, groups: Iterable[slice]) -> Array:
    changed = []
    for group in groups:
        pair = X.copy()
        pair[:, group] = X[::-1, group]
        changed.append(pair)
    other = model.scorer(np.concatenate(changed)).reshape(-1, 2)
    shares: Array = 0.5 * (scores[0] - other[:, 0] + other[:, 1] - scores[1])
    return shares


def _cells(column: Column, rows: tuple[int, int]) -> tuple[str, str]:
    first, second = (cell_words(column, row) for row in rows)
    return first, second


def cell_words(column: Column, row: int) -> str:
    """Write a cell as the table has it."""
    value = column.values[row]
    if column.kind == "number":
        return GAP if np.isnan(value) else spell_cell(column, value)
    return GAP if value is None else str(value)
