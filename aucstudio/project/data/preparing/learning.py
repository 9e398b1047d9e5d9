"""Learn the preprocessing of a table from some of its rows alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import ColumnInfo, without
from aucstudio.project.data.date_parts import WHOLE, taken
from aucstudio.project.data.preparing.levels import LevelCode, learn_levels, level_counts
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.preparing.ranks import KNOTS
from aucstudio.project.data.preparing.scales import Number, learn_number
from aucstudio.project.data.preparing.sparse_scales import learn_numbers
from aucstudio.project.data.table import Table
from aucstudio.project.errors import InputError

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


def learn_preparation(
    table: Table,
    rows: Rows,
    choice: PreparationChoice = USUAL,
    *,
    keep_gaps: bool | None = False,
    keep_zeros: bool = False,
) -> Preparation:
    """Fit the preprocessing of a table's feature columns on the given rows alone.

    With ``keep_gaps`` missing numbers stay NaN; None keeps them if one of the given rows has one.
    With ``keep_zeros`` numbers are scaled about zero, which stays zero.

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
    if keep_gaps is None:
        keep_gaps = any(number.missing for number in known.values())
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


def no_features(table: AnyTable) -> InputError:
    """Return the error for a table without a feature column."""
    return InputError(
        f"{table.path.name} has no feature column left: give at least one column the role "
        "number or category",
        file=str(table.path),
    )
