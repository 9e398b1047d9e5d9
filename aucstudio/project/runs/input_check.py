"""Check the input of a model: columns, levels and cells that training did not have."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence, Set
from pathlib import PurePath
from typing import Any, TypeVar

import msgspec
import numpy as np
from scipy import special

from aucstudio.engine.inference import is_significant
from aucstudio.notices import Notice, notice, text
from aucstudio.notices.words import counted, interval_words, listed
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import spell_number
from aucstudio.project.data.groups import digests
from aucstudio.project.data.preparing.acceptance import (
    RANGE,
    UNKNOWN,
    Allowed,
    check_accepted,
)
from aucstudio.project.data.preparing.preparation import category_features
from aucstudio.project.data.preparing.scales import MAX_LEVELS, MISSING, FarCells, spell_level
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.contents import Rejected, Unreadable
from aucstudio.project.errors import input_error
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.rows import cells_beyond, far_cells

LEVEL = 0.95
_LEAST_RISE = 0.01  # of a share of missing values; a smaller one is not reported
SHOWN = 10
_MOST_VALUES = 1_000_000


@dataclasses.dataclass(frozen=True)
class Unseen:
    """Levels of a column that training did not have: number of rows, and some of the levels."""

    count: int
    values: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class LaterDates:
    """Dates after the last day of the training table: number of rows, and that day."""

    count: int
    last_day: str


@dataclasses.dataclass(frozen=True)
class Area:
    """An AUC with its 95 % interval; None if too few rows decide."""

    value: float
    low: float | None
    high: float | None

    @property
    def interval(self) -> str:
        """The interval as text."""
        if self.low is None or self.high is None:
            return "–"
        return interval_words(self.low, self.high)


@dataclasses.dataclass(frozen=True)
class ScoringReport:
    """The input check of a scored table.

    Attributes
    ----------
    table : str
    rows : int
        Data rows of the file, left-out rows included.
    scored : int
    matched, ignored, missing : tuple of str
        Columns of the file that the model uses, other columns of the file, and columns that the
        file lacks.
    unseen : dict of str to Unseen
        By column.
    gaps : dict of str to int
        By column, rows without a value if the share is significantly and materially larger than
        in training, or training had none.
    unreadable : dict of str to Unreadable
        By column, non-numeric cells; they count as missing.
    far : tuple of FarCells
        By column, numbers too far from those of training; they count as missing.
    left_out : tuple of Rejected
        The first hundred rejected rows.
    auc : Area or None
        None if the table does not hold both classes of the label.
    without_auc : str
        Why there is no AUC although the label is present; otherwise empty.
    weight : str or None
        The column of weights in training; here every row counts once.
    allowed : dict of str to tuple of str
        By kind of refusal, the columns that are accepted.
    empty : dict of str to int
        By column of the model, missing cells without those of ``unreadable``.
    limited : dict of str to (int, str)
        By column, cells beyond a limit that are read as the limit or half of it, and which.
    outside : tuple of FarCells
        Cells that are farther from the training range than it is wide; they are scored as they are.
    recurring : dict of str to (int, int)
        By group column, how many values also occur in the training table, and how many there are;
        empty for a model that does not hold them.
    later : dict of str to LaterDates
        By column of dates that the model uses as one number, if any date is later than the last
        day of training.
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
    empty: dict[str, int] = dataclasses.field(default_factory=dict)
    recurring: dict[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    limited: dict[str, tuple[int, str]] = dataclasses.field(default_factory=dict)
    outside: tuple[FarCells, ...] = ()
    later: dict[str, LaterDates] = dataclasses.field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain data, for ``aucstudio score --json``."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        for name in ("empty", "limited", "outside", "recurring", "later"):
            document.pop(name)
        names = ("matched", "ignored", "missing")
        document["columns"] = {name: document.pop(name) for name in names}
        for unreadable in document["unreadable"].values():
            unreadable.pop("spellings")
        return document

    def sentences(self) -> list[str]:
        """Return the report as sentences, one per line."""
        more, area = self.rows - self.scored - SHOWN, self.auc
        lines = [
            text("score_rows", table=self.table, scored=self.scored, rows=self.rows),
            text("score_ignored", names=some_names(self.ignored)),
            text("score_missing", names=some_names(self.missing)),
            *map(str, self._unusable()),
            *(
                text(
                    "score_later",
                    column=name,
                    rows=late.count,
                    total=self.scored,
                    day=late.last_day,
                )
                for name, late in self.later.items()
            ),
            *(
                text("score_limited", column=name, cells=count, way=text("score_way", way=way))
                for name, (count, way) in self.limited.items()
            ),
            *(text("score_gaps", column=n, rows=count) for n, count in self.gaps.items()),
            *(text("score_left_out", row=row) for row in self.left_out[:SHOWN]),
            text("score_more_left_out", rows=more if more > 0 else None),
            text("score_no_auc", why=self.without_auc),
            *self.about_groups(),
        ]
        if area is not None:
            found = {"auc": area.value, "interval": area.interval, "weight": self.weight}
            lines.append(text("score_auc", **found))
        return [" ".join(sentence.split()) for sentence in lines if sentence]

    def about_groups(self) -> list[str]:
        """Return a sentence for each group column whose values were trained on."""
        return [
            text("score_groups", column=name, known=known, total=total, all=known == total)
            for name, (known, total) in self.recurring.items()
            if known
        ]

    def notices(self) -> list[Notice]:
        """Return the notices of a run that was tested on the table."""
        found = self._unusable()
        if (more := len(found) - SHOWN) > 0:
            found[SHOWN:] = [notice("further_columns", count=more)]
        if self.gaps:
            counts = [f"{name!r} {counted(count, 'row')}" for name, count in self.gaps.items()]
            found.append(notice("more_missing", counts=listed(counts, SHOWN)))
        if left_out := self.rows - self.scored:
            first = self.left_out[0]
            reason = " ".join(first.reason.split())
            values = {"rows": left_out, first.unit: first.line, "reason": reason}
            code = "rows_left_out" if first.unit == "line" else "rows_left_out_by_number"
            found.append(notice(code, **values))
        file = PurePath(self.table).name
        return [notice("test_file", file=file, what=each) for each in found]

    def _unusable(self) -> list[Notice]:
        """Return a notice for each column with cells of a kind or size that training lacked."""
        found = [
            notice("unknown_levels", column=name, rows=new.count, levels=some_names(new.values))
            for name, new in self.unseen.items()
        ]
        for name, bad in self.unreadable.items():
            values = {"column": name, "cells": bad.count, "text": bad.text}
            if bad.line is None:
                found.append(notice("not_numbers", **values))
            else:
                found.append(notice("not_numbers_in_line", line=bad.line, **values))
        for one in self.outside:
            values = {"column": one.column, "cells": one.count, "value": one.value, "row": one.row}
            found.append(notice("cells_outside", **values))
        return found + [far.notice for far in self.far]


def some_names(names: Sequence[str]) -> str:
    """Format names, at most ten of them."""
    return listed([repr(name) for name in names], SHOWN)


SomeTable = TypeVar("SomeTable", bound=AnyTable)


def check_input(model: Model, table: AnyTable, absent: Sequence[str] = ()) -> ScoringReport:
    """Check the input of a model, before any row is scored.

    Parameters
    ----------
    model : Model
    table : AnyTable
        Read by the schema of the model.
    absent : sequence of str
        Columns that were added to the table because the file lacks them.
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
        far=(far := far_cells(model.preparation, table)),
        outside=_outside(model, table, {one.column for one in far}),
        left_out=table.rejected,
        empty={name: missing[name] - _bad_cells(table, name) for name in matched},
        recurring=_recurring(model, table),
        limited={n: known for n, known in table.limited.items() if n in features and known[1]},
        later=_later(model, table),
    )


def _outside(model: Model, table: AnyTable, besides: Set[str]) -> tuple[FarCells, ...]:
    """List the cells that are farther from the training range than it is wide."""
    used = set(model.preparation.numbers) - besides
    ranges = {c.name: c.range for c in model.schema.columns if c.name in used}
    bounds = {
        name: (2 * one.low - one.high, 2 * one.high - one.low)
        for name, one in ranges.items()
        if one is not None and one.high > one.low
    }
    return cells_beyond(table, bounds)


def _later(model: Model, table: AnyTable) -> dict[str, LaterDates]:
    """Count the rows after the last training day, for each date that is used as one number."""
    schema, numbers = model.schema, model.preparation.numbers
    last = {c.name: c.latest for c in schema.columns if c.latest is not None and c.name in numbers}
    names = [column.name for column in table.columns if column.name in last]
    found = {}
    for name, cells in zip(names, table.measured(names), strict=True):
        if count := int(np.count_nonzero(np.floor(cells) > np.floor(last[name]))):
            day = dates.date_text(np.floor(last[name]), schema.layouts.get(name, dates.ISO))
            found[name] = LaterDates(count, day)
    return found


def _recurring(model: Model, table: AnyTable) -> dict[str, tuple[int, int]]:
    """Count the values of group columns that were trained on, and all of them."""
    found, names = {}, {column.name for column in table.columns}
    for name, trained in zip(model.schema.having("group"), model.groups, strict=False):
        counts = table.counts(name, _MOST_VALUES) if name in names else None
        spelled = (v if isinstance(v, str) else spell_number(v) for v in counts or () if v == v)
        if len(values := digests(spelled)):
            found[name] = int(np.isin(values, trained).sum()), len(values)
    return found


def _bad_cells(table: AnyTable, name: str) -> int:
    """Count the non-numeric cells of a column, which are missing ones too."""
    return table.unreadable[name].count if name in table.unreadable else 0


def _is_new(count: int, rows: int, schema: Schema, name: str) -> bool:
    column = schema.by_name.get(name)
    if not count or column is None or not schema.rows:
        return bool(count)
    share, before = count / rows, column.missing / schema.rows
    if not before or share - before < _LEAST_RISE:
        return not before
    # The binomial tail for the share of both tables, close to Fisher's exact test.
    pooled = (count + column.missing) / (rows + schema.rows)
    return is_significant(float(special.bdtrc(count - 1, rows, pooled)), LEVEL)


def _unseen(model: Model, table: AnyTable) -> dict[str, Unseen]:
    preparation = model.preparation
    known = {one.name: set(one.places) for one in category_features(preparation)}
    known |= {name: set(shares) for name, shares in preparation.shares.items()}
    if table.label is not None:
        known[table.label] = {model.positive, model.negative}
    found = {}
    for name, fitted in known.items():
        # Another label column is compared with the classes of the training.
        trained = model.label if name == table.label else name
        levels = _levels(model.schema, trained)
        if name == table.label and (levels is None or table.rule.threshold is not None):
            # The schema lacks the classes, or a threshold makes classes of all numbers.
            continue
        if name in preparation.rest and levels is None:
            continue  # the schema lacks the rare levels
        present = _level_counts(table, name)
        if name == table.label:
            present = table.rule.classes(present)
        new = {
            level: count
            for level, count in present.items()
            if level not in fitted and level not in (levels or ())
        }
        if new:
            found[name] = Unseen(sum(new.values()), tuple(new)[:SHOWN])
    return found


def _levels(schema: Schema, name: str) -> tuple[str, ...] | None:
    column = schema.by_name.get(name)
    return None if column is None else column.levels


def _level_counts(table: AnyTable, name: str) -> dict[str, int]:
    """Count the levels of a category; numbers are formatted as in preprocessing."""
    counted = table.counts(name, _MOST_VALUES) or {}
    if table.column(name).kind == "text":
        return dict(counted)
    spell = spell_number if name == table.label else spell_level
    levels = {spell(value): 0 for value in counted}
    for value, count in counted.items():
        levels[spell(value)] += count
    levels.pop(MISSING, None)
    return levels


def with_allowed_columns(model: Model, table: SomeTable, allowed: Allowed) -> SomeTable:
    """Add absent columns that may be unknown to a table, with missing values.

    Raises
    ------
    InputError
        If the model was not trained on an allowed column.
    """
    for kind, name in ((kind, name) for kind, names in allowed.items() for name in names):
        if name not in model.feature_columns:
            raise input_error(
                "unknown_column_allowed",
                column=name,
                setting=f"allow_{kind}",
                kind="out of range" if kind == RANGE else kind,
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
        The result of :func:`check_input`, if known.
    allowed : dict of str to collection of str, optional
        As for :func:`score_table`.

    Raises
    ------
    RefusedColumnsError
        Naming the columns.
    """
    model.check_columns(table)
    found = check_input(model, table) if report is None else report
    preparation = model.preparation
    fitted = dict(zip(preparation.categories, preparation.levels, strict=True))
    fitted |= {name: tuple(shares) for name, shares in preparation.shares.items()}
    columns = [
        dataclasses.replace(column, levels=fitted.get(column.name))
        for column in model.schema.columns
    ]
    schema = dataclasses.replace(model.schema, columns=tuple(columns))

    def unseen(column: ColumnSchema) -> tuple[int, tuple[str, ...]]:
        if _levels(model.schema, column.name) is None and len(column.levels or ()) >= MAX_LEVELS:
            return 0, ()  # of so many levels only the frequent ones may be known
        new = found.unseen.get(column.name)
        return (0, ()) if new is None else (new.count, new.values)

    check_accepted(table, schema, found.matched, unseen, allowed)
