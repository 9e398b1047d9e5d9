"""Fit the preprocessing on training rows."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import ColumnInfo
from aucstudio.project.data.date_parts import WHOLE, taken
from aucstudio.project.data.preparing.levels import LevelCode, learn_levels, level_counts
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.preparing.scales import KNOTS, Number, learn_number
from aucstudio.project.data.sparse_columns import is_sparse
from aucstudio.project.errors import input_error

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


def learn_preparation(
    table: AnyTable,
    rows: Rows,
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
    table: AnyTable, rows: Rows, choice: PreparationChoice
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
        {c.name: c.absent for c in features if c.role == "number" and c.absent},
        {c.name: c.same for c in features if c.name in levels and c.same},
        curves[0],
        curves[1],
        tuple(dict.fromkeys(marked)),
        tuple(name for name, code in codes.items() if code.has_rest),
        counted,
        {name: part for name, part in parts.items() if part.part != WHOLE},
        choice,
    )
