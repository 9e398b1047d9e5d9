"""Score a table with a model, and check its cells."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import special

from aucstudio.engine.inference import delong_interval, is_significant
from aucstudio.engine.roc import auc
from aucstudio.notices import Notice, notice, text
from aucstudio.notices.words import counted, interval_words, listed
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import spell_number, spelled
from aucstudio.project.data.groups import find_groups
from aucstudio.project.data.labels import check_classes
from aucstudio.project.data.preparing.acceptance import (
    KINDS,
    RANGE,
    UNKNOWN,
    Allowed,
    check_accepted,
)
from aucstudio.project.data.preparing.preparation import category_features
from aucstudio.project.data.preparing.scales import MAX_LEVELS, MISSING, FarCells, spell_level
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.data.table import (
    DialectChoice,
    ReadingListener,
    Table,
    parts_of,
    progress_reporter,
    read_table,
)
from aucstudio.project.data.text.contents import Rejected, Unreadable
from aucstudio.project.data.text.later_files import form_like
from aucstudio.project.data.text.numerals import NumberFormat, other_mark
from aucstudio.project.errors import input_error
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.rows import far_cells

Array = NDArray[np.float64]

_LEVEL = 0.95
_LEAST_RISE = 0.01  # of a share of missing values; a smaller one is not reported
_READING = 0.6  # of the time, as a guess


# A block of scored rows: their numbers in the file, identifiers if asked for, scores.
Sink = Callable[[NDArray[np.int64], NDArray[Any] | None, Array], object]
# Which labelled rows are positive, and their scores.
Ranked = Callable[[NDArray[np.bool_], Array], object]
SHOWN = 10
_MOST_VALUES = 1_000_000


def score_file(
    model: Model,
    path: str | Path,
    take: Sink,
    *,
    identifier: str | None = None,
    allowed: Allowed | None = None,
    read: Callable[..., AnyTable] = read_table,
    progress: ReadingListener | None = None,
    ranked: Ranked | None = None,
    **how: Any,
) -> ScoringReport:
    """Read a table by the schema of a model and score its rows.

    Parameters
    ----------
    model : Model
    path : str or Path
    take, identifier, allowed, ranked
        As for :func:`score_table`.
    read, **how
        As for :func:`read_to_score`.
    progress : callable, optional
        Called with the fraction done and the current step; a true answer stops.

    Raises
    ------
    InputError
        As :func:`read_to_score` and :func:`score_table`.
    Cancelled
        If ``progress`` asked to stop.
    """
    notify = progress_reporter(progress)

    def reading(fraction: float, words: str) -> None:
        notify(_READING * fraction, words)

    def scoring(fraction: float, words: str) -> None:
        notify(_READING + (1 - _READING) * fraction, words)

    reader = functools.partial(read, progress=reading)
    table = read_to_score(model, path, identifier=identifier, read=reader, **how)
    asked: dict[str, Any] = {"identifier": identifier, "allowed": allowed, "ranked": ranked}
    return score_table(model, table, take, progress=scoring, **asked)


def read_to_score(
    model: Model,
    path: str | Path,
    *,
    identifier: str | None = None,
    label: str | None = None,
    dialect: DialectChoice = None,
    written: Mapping[str, str] | None = None,
    scale: Mapping[str, float] | None = None,
    read: Callable[..., AnyTable] = read_table,
) -> AnyTable:
    """Read a table to be scored, by the schema of the model.

    Parameters
    ----------
    identifier : str, optional
        A column whose cells are returned as text.
    label : str, optional
        The column of classes, if it is not that of the training.
    dialect : dict of str to object, optional
        Import options.
    written : dict of str to str, optional
        By column of numbers or dates, an example cell of this table, if its notation differs from
        that of the training table.
    scale : dict of str to float, optional
        By column of numbers in a text file, the factor of its numbers.
    read : callable
        Reads the table, or opens one that stays on disk.

    Raises
    ------
    InputError
        If the table cannot be read, or a column not in the given notation.
    """
    schema = _in_notation(model, written or {}, scale or {}, parts_of(dialect).get("decimal"))
    if identifier is not None and identifier not in model.feature_columns:
        spelled = ColumnSchema(identifier, kind="text")
        columns = [spelled if c.name == identifier else c for c in schema.columns]
        schema = dataclasses.replace(schema, columns=tuple(columns))
    table = read(
        path,
        label=label or model.label,
        positive=model.positive,
        need_label=False,
        dialect=dialect,
        schema=schema,
    )
    if label not in (None, table.label):
        # A requested label that is absent or holds no classes is an error.
        check_classes(table.path, table.column(label), None)
    return table


def _in_notation(
    model: Model, written: Mapping[str, str], scale: Mapping[str, float], decimal: str | None
) -> Schema:
    """Return the schema of a model with columns in the notation of a later table."""
    schema = model.schema
    mark = "." if schema.dialect is None else schema.dialect.decimal
    for setting, names in (("written", written), ("scale", scale)):
        for name in names:
            if name not in model.feature_columns or schema.by_name[name].kind != "number":
                raise input_error("no_number_column", column=name, setting=setting)
    columns = []
    for column in schema.columns:
        form = column.number or NumberFormat(mark)
        if column.name in written:
            marks = [decimal] if decimal else [form.decimal, other_mark(form.decimal)]
            form = form_like(written[column.name], column, marks)
        if column.name in scale:
            form = dataclasses.replace(form, scale=form.scale * scale[column.name])
        is_other = column.name in written or column.name in scale
        columns.append(dataclasses.replace(column, number=form) if is_other else column)
    return dataclasses.replace(schema, columns=tuple(columns))


def score_table(
    model: Model,
    table: AnyTable,
    take: Sink,
    *,
    identifier: str | None = None,
    allowed: Allowed | None = None,
    progress: ReadingListener | None = None,
    ranked: Ranked | None = None,
) -> ScoringReport:
    """Score every row of a table that :func:`read_to_score` has read.

    Parameters
    ----------
    model : Model
    table : AnyTable
    take : callable
        Called with each block of rows: their numbers in the file, the cells of the identifier
        column or None, and the scores.
    identifier : str, optional
        A column of row identifiers; its cells are empty if the table lacks the model's column.
    allowed : dict of str to collection of str, optional
        Columns of the model that are accepted, by kind: "unknown" ones may be absent or without
        any known value, "unreadable" ones may have non-numeric cells, those of "range" may be far
        outside the range of training.
    progress : callable, optional
        Called with the fraction done and the current step; a true answer stops.
    ranked : callable, optional
        Called at the end with the labelled rows and their scores, if both classes are present.

    Raises
    ------
    RefusedColumnsError
        If a column is absent or does not hold what it held in training, unless that is allowed;
        before any row is scored.
    Cancelled
        If ``progress`` asked to stop.
    """
    notify = progress_reporter(progress)
    granted = {kind: tuple((allowed or {}).get(kind, ())) for kind in KINDS}
    if identifier is not None and identifier == model.schema.identifier:
        table = _with_identifier(table, identifier)
    elif identifier is not None:
        table.column(identifier)
    present = {column.name for column in table.columns}
    complete = with_allowed_columns(model, table, granted)
    absent = [name for name in granted[UNKNOWN] if name not in present]
    model.check_columns(complete)
    notify(0.0, "scoring")
    report = dataclasses.replace(check_input(model, complete, absent), allowed=granted)
    check_table(model, complete, report, granted)
    labels = complete.labelled() if complete.label is not None else None
    kept = np.empty(complete.rows) if labels is not None else None
    for start, window, scores in score_blocks(model, complete, identifier):
        stop = start + len(scores)
        cells = None if identifier is None else spelled(window.column(identifier))
        take(complete.file_rows[start:stop], cells, scores)
        if kept is not None:
            kept[start:stop] = scores
        notify(stop / complete.rows, "scoring")
    if kept is None or labels is None:
        why = text("score_too_many_values", label=model.label)
        return dataclasses.replace(report, without_auc=why if model.label in present else "")
    area, why = _area(model, complete, scores=kept[labels], report=report)
    if area is not None and ranked is not None:
        ranked(complete.is_positive(), kept[labels])
    return dataclasses.replace(report, auc=area, without_auc=why, weight=model.schema.weight)


def _with_identifier(table: AnyTable, name: str) -> AnyTable:
    if name in [column.name for column in table.columns]:
        return table
    return table.with_missing_columns([ColumnSchema(name, role="id", kind="text")])


def score_blocks(
    model: Model, table: AnyTable, also: str | None = None
) -> Iterator[tuple[int, Table, Array]]:
    """Score a table block by block; yield the first row number, the rows and their scores."""
    names = (*model.feature_columns, *([] if also is None else [also]))
    height = table.height(len(model.preparation.feature_names))
    for start, window in table.windows(height, names):
        yield start, window, model.score(window)


def scores_of(model: Model, table: AnyTable) -> Array:
    """Score every row of a table, in memory or not; shape (rows,)."""
    return np.concatenate([scores for _, _, scores in score_blocks(model, table)])


def _area(
    model: Model, table: AnyTable, scores: Array, report: ScoringReport
) -> tuple[Area | None, str]:
    """Return the AUC of the labelled rows; None if it is undefined, with the reason."""
    strange = report.unseen.get(table.label or "")
    if strange is not None:
        classes = f"{model.positive!r} nor {model.negative!r}"
        what = {"rows": strange.count, "classes": classes, "label": table.label}
        return None, text("score_other_classes", **what)
    if table.classes.get(table.positive or "", 0) in (0, sum(table.classes.values())):
        return None, text("score_one_class", label=table.label)
    positive = table.is_positive()
    names = {name for name, role in model.schema.roles if role == "group"}
    known = tuple(column.name for column in table.columns if column.name in names)
    groups = find_groups(table, known).codes if known else None
    found = delong_interval(positive, scores, _LEVEL, groups=groups)
    ends = [float(end) if np.isfinite(end) else None for end in (found.low, found.high)]
    return Area(float(auc(positive, scores)), *ends), ""


@dataclasses.dataclass(frozen=True)
class Unseen:
    """Levels of a column that training did not have: number of rows, and some of the levels."""

    count: int
    values: tuple[str, ...]


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

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain data, for ``aucstudio score --json``."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        document.pop("empty")
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
            *(text("score_gaps", column=n, rows=count) for n, count in self.gaps.items()),
            *(text("score_left_out", row=row) for row in self.left_out[:SHOWN]),
            text("score_more_left_out", rows=more if more > 0 else None),
            text("score_no_auc", why=self.without_auc),
        ]
        if area is not None:
            found = {"auc": area.value, "interval": area.interval, "weight": self.weight}
            lines.append(text("score_auc", **found))
        return [" ".join(sentence.split()) for sentence in lines if sentence]

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
            found.append(notice("rows_left_out", rows=left_out, line=first.line, reason=reason))
        file = PurePath(self.table).name
        return [notice("test_file", file=file, what=each) for each in found]

    def _unusable(self) -> list[Notice]:
        """Return a notice for each column with cells that the model cannot use."""
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
        far=far_cells(model.preparation, table),
        left_out=table.rejected,
        empty={name: missing[name] - _bad_cells(table, name) for name in matched},
    )


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
    return is_significant(float(special.bdtrc(count - 1, rows, pooled)), _LEVEL)


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
