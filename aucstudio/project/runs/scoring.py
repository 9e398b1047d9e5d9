"""Read a table by the schema of a model, and score its rows."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.inference import delong_interval
from aucstudio.engine.roc import auc
from aucstudio.notices import text
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import cell_texts
from aucstudio.project.data.groups import find_groups
from aucstudio.project.data.labels import check_classes
from aucstudio.project.data.preparing.acceptance import (
    KINDS,
    UNKNOWN,
    Allowed,
)
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.data.table import (
    DialectChoice,
    ReadingListener,
    Table,
    parts_of,
    progress_reporter,
    read_table,
)
from aucstudio.project.data.text.later_files import form_like
from aucstudio.project.data.text.numerals import NumberFormat, other_mark
from aucstudio.project.errors import input_error
from aucstudio.project.runs.input_check import (
    LEVEL,
    Area,
    ScoringReport,
    check_input,
    check_table,
    with_allowed_columns,
)
from aucstudio.project.runs.model import Model

Array = NDArray[np.float64]
_READING = 0.6  # of the time, as a guess
# A block of scored rows: their numbers in the file, the cells of the identifiers by column, scores.
Sink = Callable[[NDArray[np.int64], dict[str, NDArray[Any]], Array], object]
# Which labelled rows are positive, and their scores.
Ranked = Callable[[NDArray[np.bool_], Array], object]


def score_file(
    model: Model,
    path: str | Path,
    take: Sink,
    *,
    identifiers: Sequence[str] = (),
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
    take, identifiers, allowed, ranked
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
    table = read_to_score(model, path, identifiers=identifiers, read=reader, **how)
    asked: dict[str, Any] = {"identifiers": identifiers, "allowed": allowed, "ranked": ranked}
    return score_table(model, table, take, progress=scoring, **asked)


def read_to_score(
    model: Model,
    path: str | Path,
    *,
    identifiers: Sequence[str] = (),
    label: str | None = None,
    dialect: DialectChoice = None,
    written: Mapping[str, str] | None = None,
    scale: Mapping[str, float] | None = None,
    read: Callable[..., AnyTable] = read_table,
) -> AnyTable:
    """Read a table to be scored, by the schema of the model.

    Parameters
    ----------
    identifiers : sequence of str
        Columns whose cells are returned as text.
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
    as_text = set(identifiers).difference(model.feature_columns)
    columns = [
        ColumnSchema(c.name, kind="text") if c.name in as_text else c for c in schema.columns
    ]
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
            form = form_like(written[column.name], column, marks).with_limits(form.limits)
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
    identifiers: Sequence[str] = (),
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
        Called with each block of rows: their numbers in the file, the cells of the identifiers by
        column, and the scores.
    identifiers : sequence of str
        Columns of row identifiers; cells are empty where the table lacks a column of the model.
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
    notify(0.0, "scoring")
    present = {column.name for column in table.columns}
    complete, report = _checked(model, table, identifiers, granted)
    labels = complete.labelled() if complete.label is not None else None
    kept = np.empty(complete.rows) if labels is not None else None
    for start, window, scores in score_blocks(model, complete, identifiers):
        stop = start + len(scores)
        named = {name: cell_texts(window.column(name)) for name in identifiers}
        take(complete.file_rows[start:stop], named, scores)
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


def _checked(
    model: Model, table: AnyTable, identifiers: Sequence[str], granted: dict[str, tuple[str, ...]]
) -> tuple[AnyTable, ScoringReport]:
    """Add absent columns that are allowed, and check the input of the model."""
    present = {column.name for column in table.columns}
    for name in set(identifiers) - present:
        if name not in model.schema.identifiers:
            table.column(name)  # raises the error
        table = table.with_missing_columns([ColumnSchema(name, role="id", kind="text")])
    complete = with_allowed_columns(model, table, granted)
    absent = [name for name in granted[UNKNOWN] if name not in present]
    model.check_columns(complete)
    report = dataclasses.replace(check_input(model, complete, absent), allowed=granted)
    check_table(model, complete, report, granted)
    return complete, report


def score_blocks(
    model: Model, table: AnyTable, also: Sequence[str] = ()
) -> Iterator[tuple[int, Table, Array]]:
    """Score a table block by block; yield the first row number, the rows and their scores."""
    names = tuple(dict.fromkeys((*model.feature_columns, *also)))
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
    names = {column.name for column in table.columns}
    known = tuple(name for name in model.schema.having("group") if name in names)
    groups = find_groups(table, known).codes if known else None
    found = delong_interval(positive, scores, LEVEL, groups=groups)
    ends = [float(end) if np.isfinite(end) else None for end in (found.low, found.high)]
    return Area(float(auc(positive, scores)), *ends), ""
