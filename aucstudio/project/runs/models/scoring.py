"""Scoring a table with a trained model, and what the model met in it that it had not learnt."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.inference import delong_interval
from aucstudio.engine.roc import auc
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.choices import check_classes
from aucstudio.project.data.columns import spell_number, spelled
from aucstudio.project.data.preparing.levels import MAX_LEVELS, MISSING, spell_level
from aucstudio.project.data.preparing.unknown import check_known
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.data.table import DialectChoice, ReadingListener, Table, read_table, teller
from aucstudio.project.errors import InputError
from aucstudio.project.runs.models.model import Model
from aucstudio.project.runs.models.scoring_report import (
    SHOWN,
    Area,
    ScoringReport,
    Unseen,
    rows_words,
)
from aucstudio.project.runs.rows import far_cells

Array = NDArray[np.float64]

_LEVEL = 0.95
_READING = 0.6  # of the time, as a guess
_MOST_VALUES = 1_000_000


# A block of scored rows: their numbers in the file, identifiers if asked for, scores.
Sink = Callable[[NDArray[np.int64], NDArray[Any] | None, Array], object]
# Which labelled rows are positive, and their scores.
Ranked = Callable[[NDArray[np.bool_], Array], object]


def score_file(
    model: Model,
    path: str | Path,
    take: Sink,
    *,
    identifier: str | None = None,
    label: str | None = None,
    allow_unknown: Sequence[str] = (),
    dialect: DialectChoice = None,
    read: Callable[..., AnyTable] = read_table,
    progress: ReadingListener | None = None,
    ranked: Ranked | None = None,
) -> ScoringReport:
    """Read a table by the schema of a model and score its rows: the one way to score a file.

    Parameters
    ----------
    model : Model
    path : str or Path
    take, identifier, allow_unknown, ranked
        As for :func:`score_table`.
    label, dialect, read
        As for :func:`read_to_score`.
    progress : callable, optional
        Told the fraction done and what is being done; returning True stops it.

    Raises
    ------
    InputError
        As both do.
    Cancelled
        If ``progress`` asked to stop.
    """
    tell = teller(progress)

    def reading(fraction: float, words: str) -> None:
        tell(_READING * fraction, words)

    def scoring(fraction: float, words: str) -> None:
        tell(_READING + (1 - _READING) * fraction, words)

    table = read_to_score(
        model,
        path,
        identifier=identifier,
        label=label,
        dialect=dialect,
        read=functools.partial(read, progress=reading),
    )
    return score_table(
        model,
        table,
        take,
        identifier=identifier,
        allow_unknown=allow_unknown,
        progress=scoring,
        ranked=ranked,
    )


def read_to_score(
    model: Model,
    path: str | Path,
    *,
    identifier: str | None = None,
    label: str | None = None,
    dialect: DialectChoice = None,
    read: Callable[..., AnyTable] = read_table,
) -> AnyTable:
    """Read a table to be scored, by the schema of the model.

    Parameters
    ----------
    identifier : str, optional
        A column whose cells are carried along as they are spelled.
    label : str, optional
        The column that holds the class, if it is not that of the training.
    read : callable
        What reads the table, or opens one that stays on disk.
    """
    schema = model.schema
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
        # Somebody asked for it: not to be passed over where it is absent, or no classes.
        check_classes(table.path, table.column(label), None)
    return table


def score_table(
    model: Model,
    table: AnyTable,
    take: Sink,
    *,
    identifier: str | None = None,
    allow_unknown: Sequence[str] = (),
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
        A column to be carried along; empty where it is that of the model and the table lacks it.
    allow_unknown : sequence of str
        Columns that the model knows and that may be absent or without any known value.
    progress : callable, optional
        Told the fraction done and what is being done; returning True stops it.
    ranked : callable, optional
        Called at the end with the labelled rows and their scores, where both classes are there.

    Raises
    ------
    UnknownColumnsError
        If the table lacks a column, or all of its cells are unknown to the model, unless that is
        allowed; before any row is scored.
    Cancelled
        If ``progress`` asked to stop.
    """
    tell = teller(progress)
    _check_allowed(model, allow_unknown)
    if identifier is not None and identifier == model.schema.identifier:
        table = _with_identifier(table, identifier)
    elif identifier is not None:
        table.column(identifier)
    present = {column.name for column in table.columns}
    known = model.schema.by_name
    absent = [name for name in allow_unknown if name not in present]
    whole = table.with_missing_columns([known[name] for name in absent])
    model.check_columns(whole)
    tell(0.0, "scoring")
    report = what_was_met(model, whole, absent)
    _check_known(model, whole, report, allow_unknown)
    labels = whole.labelled() if whole.label is not None else None
    kept = np.empty(whole.rows) if labels is not None else None
    for start, window, scores in score_blocks(model, whole, identifier):
        stop = start + len(scores)
        cells = None if identifier is None else spelled(window.column(identifier))
        take(whole.file_rows[start:stop], cells, scores)
        if kept is not None:
            kept[start:stop] = scores
        tell(stop / whole.rows, "scoring")
    if kept is None or labels is None:
        why = f"{model.label!r} has too many values to hold classes"
        return dataclasses.replace(report, without_auc=why if model.label in present else "")
    area, why = _area(model, whole, scores=kept[labels], report=report)
    if area is not None and ranked is not None:
        ranked(whole.is_positive(), kept[labels])
    return dataclasses.replace(report, auc=area, without_auc=why, weight=model.schema.weight)


def _with_identifier(table: AnyTable, name: str) -> AnyTable:
    if name in [column.name for column in table.columns]:
        return table
    return table.with_missing_columns([ColumnSchema(name, role="id", kind="text")])


def _check_allowed(model: Model, names: Sequence[str]) -> None:
    for name in names:
        if name not in model.feature_columns:
            raise InputError(
                f"the model was not trained on a column {name!r}; --allow-unknown names one it "
                "was trained on",
                column=name,
                setting="allow_unknown",
            )


def score_blocks(
    model: Model, table: AnyTable, also: str | None = None
) -> Iterator[tuple[int, Table, Array]]:
    """Score every row of a table: the number of a first row, rows from there, their scores."""
    names = (*model.feature_columns, *([] if also is None else [also]))
    height = table.height(len(model.preparation.feature_names))
    for start, window in table.windows(height, names):
        yield start, window, model.score(window)


def scores_of(model: Model, table: AnyTable) -> Array:
    """Score every row of a table, wherever its cells are; shape (rows,)."""
    return np.concatenate([scores for _, _, scores in score_blocks(model, table)])


def _area(
    model: Model, table: AnyTable, scores: Array, report: ScoringReport
) -> tuple[Area | None, str]:
    """Give the AUC of the labelled rows; None where there is none, and why."""
    strange = report.unseen.get(table.label or "")
    if strange is not None:
        classes = f"{model.positive!r} nor {model.negative!r}"
        return None, f"{rows_words(strange.count)} are neither {classes} in {table.label!r}"
    if table.classes.get(table.positive or "", 0) in (0, sum(table.classes.values())):
        return None, f"{table.label!r} does not hold both classes"
    positive = table.is_positive()
    found = delong_interval(positive, scores, _LEVEL)
    return Area(float(auc(positive, scores)), float(found.low), float(found.high)), ""


# ------------------------------------------------------------------ what it met


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


def _check_known(
    model: Model, table: AnyTable, report: ScoringReport, allowed: Sequence[str]
) -> None:
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
        met = report.unseen.get(column.name)
        return (0, ()) if met is None else (met.count, met.values)

    names = [name for name in report.matched if name not in allowed]
    check_known(table, schema, names, strange)
