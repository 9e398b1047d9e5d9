"""Report of the input check of a scored table."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, TypeVar

import numpy as np

from aucstudio.notices import Notice, notice
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import spell_number
from aucstudio.project.data.preparing.acceptance import (
    RANGE,
    UNKNOWN,
    Allowed,
    check_accepted,
)
from aucstudio.project.data.preparing.levels import MAX_LEVELS, MISSING, spell_level
from aucstudio.project.data.preparing.scales import FarCells
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.data.text.contents import Rejected, Unreadable
from aucstudio.project.errors import InputError
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.rows import far_cells
from aucstudio.project.words import figure_words, interval_words

SHOWN = 10


@dataclasses.dataclass(frozen=True)
class Unseen:
    """Levels of a column that the model has never met: rows that hold one, and some of them."""

    count: int
    values: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Area:
    """An AUC with its interval of 95 %."""

    value: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class ScoringReport:
    """What a model met in a table, beside its scores.

    Attributes
    ----------
    table : str
    rows : int
        Data rows of the file, left-out rows included.
    scored : int
    matched, ignored, missing : tuple of str
        Columns that the model knows, columns of the file that it does not, and columns it knows
        that the file lacks.
    unseen : dict of str to Unseen
        By column.
    gaps : dict of str to int
        By column, rows without a value where training had none, or a smaller share.
    unreadable : dict of str to Unreadable
        By column, cells that are no numbers; they count as missing.
    far : tuple of FarCells
        By column, numbers too far from those of training to compute with; they count as missing.
    left_out : tuple of Rejected
        The first hundred.
    auc : Area or None
        None where the table does not hold both classes of the label.
    without_auc : str
        Why there is none although the label is there; else empty.
    weight : str or None
        The column that weighed the rows in training; here every row counts once.
    allowed : dict of str to tuple of str
        By kind of refusal, columns that are not refused for it.
    """

    table: str
    rows: int
    scored: int
    matched: tuple[str, ...]
    ignored: tuple[str, ...]
    missing: tuple[str, ...]
    unseen: dict[str, Unseen]
    gaps: dict[str, int]
    unreadable: dict[str, Unreadable]
    far: tuple[FarCells, ...]
    left_out: tuple[Rejected, ...]
    auc: Area | None = None
    without_auc: str = ""
    weight: str | None = None
    allowed: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain data, for ``aucstudio score --json``."""
        document = dataclasses.asdict(self)
        names = ("matched", "ignored", "missing")
        document["columns"] = {name: list(document.pop(name)) for name in names}
        for met in document["unseen"].values():
            met["values"] = list(met["values"])
        for strange in document["unreadable"].values():
            strange.pop("spellings")
        document["far"] = list(document["far"])
        document["left_out"] = list(document["left_out"])
        document["allowed"] = {kind: list(names) for kind, names in self.allowed.items()}
        if self.auc is not None:
            # Few rows have no interval, and JSON no NaN.
            document["auc"] = {
                name: None if np.isnan(value) else value for name, value in document["auc"].items()
            }
        return document

    def sentences(self) -> list[str]:
        """State the same to a person, a line each."""
        said = [f"{self.table}: {self.scored} of {self.rows} rows scored"]
        if self.ignored:
            said.append(
                f"columns that the model does not know are ignored: {some_names(self.ignored)}"
            )
        if self.missing:
            said.append(f"columns added as missing, as allowed: {some_names(self.missing)}")
        said += map(str, self._strange())
        said += [
            f"column {name!r}: {rows_words(count)} without a value, more than in training"
            for name, count in self.gaps.items()
        ]
        said += [f"line {row.line} is left out: {row.reason}" for row in self.left_out[:SHOWN]]
        if (more := self.rows - self.scored - SHOWN) > 0:
            said.append(f"{rows_words(more)} more left out")
        if self.auc is not None:
            interval = interval_words(self.auc.low, self.auc.high)
            once = "" if self.weight is None else f", each row counted once, not by {self.weight}"
            said.append(f"AUC {figure_words(self.auc.value)}, 95 % interval {interval}{once}")
        if self.without_auc:
            said.append(f"no AUC, as {self.without_auc}")
        return [" ".join(sentence.split()) for sentence in said]

    def notices(self) -> list[Notice]:
        """Return what a run that was tested on the table should report of it."""
        found = self._strange()
        if (more := len(found) - SHOWN) > 0:
            found[SHOWN:] = [notice("further_columns", count=more)]
        if self.gaps:
            counts = [f"{name!r} {rows_words(count)}" for name, count in self.gaps.items()]
            found.append(notice("more_missing", counts=_some(counts)))
        if left_out := self.rows - self.scored:
            first = self.left_out[0]
            reason = " ".join(first.reason.split())
            found.append(notice("rows_left_out", rows=left_out, line=first.line, reason=reason))
        file = PurePath(self.table).name
        return [notice("test_file", file=file, what=each) for each in found]

    def _strange(self) -> list[Notice]:
        """Return which cells the model cannot use, one notice a column."""
        found = [
            notice("unknown_levels", column=name, rows=met.count, levels=some_names(met.values))
            for name, met in self.unseen.items()
        ]
        for name, bad in self.unreadable.items():
            values = {"column": name, "cells": bad.count, "text": bad.text}
            if bad.line is None:
                found.append(notice("not_numbers", **values))
            else:
                found.append(notice("not_numbers_in_line", line=bad.line, **values))
        return found + [far.notice for far in self.far]


def rows_words(count: int) -> str:
    """Write a count of rows."""
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def some_names(names: Sequence[str]) -> str:
    """Write names, the first ten of many."""
    return _some([repr(name) for name in names])


def _some(parts: Sequence[str]) -> str:
    more = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    return ", ".join(parts[:SHOWN]) + more


_MOST_VALUES = 1_000_000

SomeTable = TypeVar("SomeTable", bound=AnyTable)


def what_was_met(model: Model, table: AnyTable, absent: Sequence[str] = ()) -> ScoringReport:
    """Describe what a model meets in a table, before any row of it is scored.

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
        levels = _levels(model.schema, trained)
        if name == table.label and (levels is None or table.rule.threshold is not None):
            # An earlier program did not write down its classes; a threshold knows all numbers.
            continue
        if name in preparation.rest and levels is None:
            continue  # which rare levels there were is not written down
        met = _level_counts(table, name)
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
    """Count the levels of a category; those of numbers are spelled as preprocessing spells them."""
    counted = table.counts(name, _MOST_VALUES) or {}
    if table.column(name).kind == "text":
        return dict(counted)
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
