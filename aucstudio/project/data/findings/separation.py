"""Columns that reveal the label, or hold codes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from aucstudio.engine.arrays import Mask, class_counts
from aucstudio.project.data.columns import Column, spell_number
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.findings.column_areas import (
    MOST_CODES,
    SMALL_FPR,
    Alone,
    ClassRows,
    SampledRows,
    codes_of,
    is_plainly_more,
    may_be_levels,
    sampled,
)
from aucstudio.project.data.roles import is_named_code, is_named_identifier
from aucstudio.project.data.sparse_columns import SparseColumn
from aucstudio.project.data.table import Table

# Area that a column known before the outcome hardly ever reaches alone.
_TELLING = 0.999
# Area in a sample from which all rows are examined.
_SUSPECT = 0.99
# Largest probability that a column of a small table separates the classes by chance.
_BY_CHANCE = 1e-3
# Largest share of rows, overall and by class, in which a copy of the label may differ.
_ASTRAY = 0.01
_FEWEST_KNOWN, _FEWEST_OF_CLASS = 30, 8


def leaks(table: Table) -> Iterator[Finding]:
    """Find features that are hardly known before the label."""
    sample, features = sampled(table), table.features
    if sample is None or not rules_out_chance(sample.classes.positive, len(features)):
        return
    classes = sample.classes
    is_in = np.zeros((2, table.rows), dtype=bool)
    is_in[classes.positive.astype(np.intp), classes.rows] = True
    others = []
    for column in features:
        if isinstance(column, SparseColumn) and _is_tied(column, is_in):
            continue
        one = _presence_separates(table, column, classes) or _separates(table, column, sample)
        if one := one or _nearly_the_label(table, column):
            yield one
        else:
            others.append(column)
    yield from _finds_alone(table, others, sample)


def _separates(table: Table, column: Column, sample: SampledRows) -> Finding | None:
    """Find a column that separates the classes in a sample, and in all rows."""
    if sample.alone(column).best < _SUSPECT:
        return None
    area = Alone(column, sample.classes).best
    if area < _TELLING:
        return None
    code = "copy_of_label" if _is_the_label(table, column) else "separates_classes"
    shown = "1" if area == 1 else f"{math.floor(area * 10_000) / 10_000:.4f}"
    return found(code, column.name, rows=table.rows, label=table.label, area=shown)


def _is_tied(column: SparseColumn, is_in: Mask) -> bool:
    """Return whether pairs tied at zero rule out that a column separates the classes."""
    rows = column.cells[0]
    shares = 1.0 - is_in[:, rows].sum(axis=1) / is_in.sum(axis=1)
    return bool(1.0 - shares[0] * shares[1] / 2 < _SUSPECT)


def rules_out_chance(positive: Mask, columns: int) -> bool:
    """Return whether the rows are too many for one of the columns to separate them by chance."""
    m, n = class_counts(positive)
    orders = math.lgamma(m + n + 1) - math.lgamma(m + 1) - math.lgamma(n + 1)
    return math.log(2 * max(columns, 1)) - orders < math.log(_BY_CHANCE)


def _is_the_label(table: Table, column: Column) -> bool:
    """Return whether values of the column and classes correspond one to one."""
    assert table.label is not None
    label = table.column(table.label)
    if column.distinct != label.distinct or column.distinct > MOST_CODES:
        return False
    known = column.known()
    if not np.array_equal(known, label.known()):
        return False
    (rows,) = np.nonzero(known)
    pairs = codes_of(column, rows) * label.distinct + codes_of(label, rows)
    return len(np.unique(pairs)) == column.distinct


def _nearly_the_label(table: Table, column: Column) -> Finding | None:
    """Find a column of two values that equals the label in all but a few rows."""
    assert table.label is not None
    label = table.column(table.label)
    if any(one.different.exceeds(2) or not one.different.exceeds(1) for one in (column, label)):
        return None
    (rows,) = np.nonzero(column.known() & label.known())
    ours, theirs = codes_of(column, rows), codes_of(label, rows)
    counts = np.bincount(2 * ours + theirs, minlength=4).reshape(2, 2)
    astray = counts[[1, 0], [0, 1]] if np.trace(counts) >= len(rows) / 2 else np.diag(counts)
    total = int(astray.sum())
    # Also by class, because in a rare class a few rows matter.
    most = np.maximum(1, _ASTRAY * counts.sum(axis=0))
    if len(rows) < _FEWEST_KNOWN or not total or total > max(1, _ASTRAY * len(rows)):
        return None
    if counts.sum(axis=0).min() < _FEWEST_OF_CLASS or (astray > most).any():
        return None
    facts: dict[str, Any] = {"label": table.label, "astray": total, "known": len(rows)}
    return found("nearly_the_label", column.name, rows=table.rows, **facts)


# Least area, by its lower limit, from which it is hardly known before whether a value is missing.
_LEAST_PRESENCE = 0.9
# Normal quantile of the lower limits.
_QUANTILE = 2.326  # 99 %


def _presence_separates(table: Table, column: Column, classes: ClassRows) -> Finding | None:
    """Find a column that is known in nearly all rows of one class and few of the other."""
    if not column.missing:
        return None
    known = column.known()
    parts = [known[rows] for rows in classes.of_classes]
    shares = [float(part.mean()) for part in parts]
    (less, few), (more, many) = sorted(zip(shares, map(len, parts), strict=True))
    area = 0.5 + (more - less) / 2
    if area >= _TELLING:
        words = "only" if shares[0] == more else "everywhere but"
        facts: dict[str, Any] = {"words": words, "positive": table.positive or "one class"}
        return found("known_in_one_class", column.name, rows=table.rows, **facts)
    if (_at_least(more, many) + _at_least(1.0 - less, few)) / 2 < _LEAST_PRESENCE:
        return None
    return found("presence_separates", column.name, rows=table.rows, area=area)


def _at_least(share: float, count: int) -> float:
    """Return Wilson's lower limit of a share."""
    spread = _QUANTILE**2 / count
    error = _QUANTILE * math.sqrt((share * (1 - share) + spread / 4) / count)
    return (share + spread / 2 - error) / (1 + spread)


# Least TPR at each small FPR by its lower limit. The odds of the TPR of every other column are
# smaller by this factor: strong markers of a disease have peers.
_LEAST_FOUND, _TIMES = (0.5, 0.8), 4.0
# One of fewer columns may well be the only one of use.
_LEAST_FEATURES = 4


def _finds_alone(table: Table, features: list[Column], sample: SampledRows) -> Iterator[Finding]:
    """Find a feature that finds most positives at a small FPR, where no other one comes close."""
    is_sparse = any(isinstance(column, SparseColumn) for column in table.features)
    if table.positive is None or len(features) < _LEAST_FEATURES or is_sparse:
        return
    m, n = sample.rows.counts
    every = [sample.alone(column).found for column in features]
    for rate, least, *found_by in zip(SMALL_FPR, _LEAST_FOUND, *every, strict=True):
        first, second = sorted(range(len(features)), key=lambda k: -found_by[k][0])[:2]
        (hits, false), others = found_by[first], found_by[second][0] / m
        low = _at_least(hits / m, m)
        is_alone = low >= least and low * (1 - others) >= _TIMES * others * (1 - low)
        if n * rate >= 1 and is_alone:
            rates: dict[str, Any] = {"tpr": 100 * hits / m, "fpr": false / n}
            facts = {**rates, "positive": table.positive}
            yield found("finds_alone", features[first].name, rows=table.rows, **facts)
            return


# ------------------------------------------------------------------ numbers that are codes

_SHOWN = 4


def codes(table: Table) -> Iterator[Finding]:
    """Find features of few whole numbers named like codes, or better as levels."""
    sample = sampled(table)
    for column in table.features:
        if isinstance(column, SparseColumn) or column.is_date or not may_be_levels(column):
            continue
        # Identifiers have a finding of their own.
        if is_named_identifier(column.name) or not column.is_integer():
            continue
        values = np.unique(column.values[column.known()])
        first = tuple(map(spell_number, values[:_SHOWN].tolist()))
        facts: dict[str, Any] = {
            "rows": column.height - column.missing,
            "values": first,
            "distinct": len(values),
        }
        if sample is not None and (better := _areas(sample.alone(column))) is not None:
            numbers, levels = better
            yield found("better_as_category", column.name, **facts, numbers=numbers, levels=levels)
        elif is_named_code(column.name):
            shown = ", ".join(first) + (" and others" if len(values) > _SHOWN else "")
            yield found("named_like_codes", column.name, **facts, first=shown)


def _areas(column: Alone) -> tuple[float, float] | None:
    """Return the areas of numbers, in the better direction, and of levels, if these are better."""
    if column.area is None:
        return None
    numbers, levels = max(column.area, 1 - column.area), column.levels.area
    return (numbers, levels) if is_plainly_more(levels, numbers, *column.rows.counts) else None
