"""What a model meets in a table before it scores it, and whether the table is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import spell_number
from aucstudio.project.data.preparing.acceptance import (
    RANGE,
    UNKNOWN,
    Allowed,
    check_accepted,
)
from aucstudio.project.data.preparing.levels import MAX_LEVELS, MISSING, spell_level
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.errors import InputError
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.models.scoring_report import SHOWN, ScoringReport, Unseen
from aucstudio.project.runs.rows import far_cells

_MOST_VALUES = 1_000_000

SomeTable = TypeVar("SomeTable", bound=AnyTable)


def what_was_met(model: Model, table: AnyTable, absent: Sequence[str] = ()) -> ScoringReport:
    """Say what a model meets in a table, before any row of it is scored.

    Parameters
    ----------
    model : Model
    table : AnyTable
        Read by the schema of the model.
    absent : sequence of str
        Columns that were added to the table as the file lacks them.
    """
    names = [column.name for column in table.columns]
    features, added = set(model.feature_columns), set(absent)
    missing = table.missing()
    matched = tuple(n for n in names if n in features and n not in added)
    return ScoringReport(
        table=str(table.path),
        rows=table.rows + table.rejected_rows,
        scored=table.rows,
        matched=matched,
        ignored=tuple(n for n in names if n not in features and n != table.label),
        missing=tuple(absent),
        unseen=_unseen(model, table),
        gaps={
            name: missing[name]
            for name in matched
            if _is_new(missing[name], table.rows, model.schema, name)
        },
        unreadable={n: u for n, u in table.unreadable.items() if n in features or n == table.label},
        far=far_cells(model.preparation, table),
        left_out=table.rejected,
    )


def _is_new(count: int, rows: int, schema: Schema, name: str) -> bool:
    column = schema.by_name.get(name)
    if not count or column is None or not schema.rows:
        return bool(count)
    return count / rows > column.missing / schema.rows


def _unseen(model: Model, table: AnyTable) -> dict[str, Unseen]:
    preparation = model.preparation
    known = {
        name: set(preparation.places(name, levels))
        for name, levels in zip(preparation.categories, preparation.levels, strict=True)
    }
    known |= {name: set(shares) for name, shares in preparation.shares.items()}
    if table.label is not None:
        known[table.label] = {model.positive, model.negative}
    found = {}
    for name, learnt in known.items():
        # Another column that holds the class is judged by the classes of the training.
        trained = model.label if name == table.label else name
        column, levels = table.column(name), _levels(model.schema, trained)
        if name == table.label and (levels is None or table.rule.threshold is not None):
            # An earlier program did not write down its classes; a threshold knows all numbers.
            continue
        if name in preparation.rest and levels is None:
            continue  # which rare levels there were is not written down
        met = _level_counts(table, name) if column.kind == "text" else _number_counts(table, name)
        if name == table.label:
            met = table.rule.classes(met)
        new = {
            level: count
            for level, count in met.items()
            if level not in learnt and level not in (levels or ())
        }
        if new:
            found[name] = Unseen(sum(new.values()), tuple(new)[:SHOWN])
    return found


def _levels(schema: Schema, name: str) -> tuple[str, ...] | None:
    column = schema.by_name.get(name)
    return None if column is None else column.levels


def _level_counts(table: AnyTable, name: str) -> dict[str, int]:
    return dict(table.counts(name, _MOST_VALUES) or {})


def _number_counts(table: AnyTable, name: str) -> dict[str, int]:
    """Count the levels of a category of numbers, spelled as preprocessing spells them."""
    counted = table.counts(name, _MOST_VALUES) or {}
    spell = spell_number if name == table.label else spell_level
    met = {spell(value): 0 for value in counted}
    for value, count in counted.items():
        met[spell(value)] += count
    met.pop(MISSING, None)
    return met


def with_allowed_columns(model: Model, table: SomeTable, allowed: Allowed) -> SomeTable:
    """Return a table with the columns that may be unknown and are absent, without any value.

    Raises
    ------
    InputError
        If the model was not trained on a column that is allowed.
    """
    for kind, name in ((kind, name) for kind, names in allowed.items() for name in names):
        if name not in model.feature_columns:
            raise InputError(
                f"the model was not trained on a column {name!r}, which cannot be allowed to be "
                f"{'out of range' if kind == RANGE else kind}",
                column=name,
                setting=f"allow_{kind}",
            )
    present = {column.name for column in table.columns}
    absent = [name for name in allowed.get(UNKNOWN, ()) if name not in present]
    return table.with_missing_columns([model.schema.by_name[name] for name in absent])


def check_table(
    model: Model,
    table: AnyTable,
    report: ScoringReport | None = None,
    allowed: Allowed | None = None,
) -> None:
    """Refuse a table whose columns do not hold what they held in training.

    Parameters
    ----------
    model : Model
    table : AnyTable
        Read by the schema of the model.
    report : ScoringReport, optional
        That of :func:`what_was_met`, if it was made.
    allowed : dict of str to collection of str, optional
        As for :func:`score_table`.

    Raises
    ------
    RefusedColumnsError
        Naming the columns.
    """
    model.check_columns(table)
    met_here = what_was_met(model, table) if report is None else report
    preparation = model.preparation
    learnt = dict(zip(preparation.categories, preparation.levels, strict=True))
    learnt |= {name: tuple(shares) for name, shares in preparation.shares.items()}
    columns = [
        dataclasses.replace(column, levels=learnt.get(column.name))
        for column in model.schema.columns
    ]
    schema = dataclasses.replace(model.schema, columns=tuple(columns))

    def strange(column: ColumnSchema) -> tuple[int, tuple[str, ...]]:
        if _levels(model.schema, column.name) is None and len(column.levels or ()) >= MAX_LEVELS:
            return 0, ()  # of so many levels only the frequent ones may have been learnt
        met = met_here.unseen.get(column.name)
        return (0, ()) if met is None else (met.count, met.values)

    check_accepted(table, schema, met_here.matched, strange, allowed)
