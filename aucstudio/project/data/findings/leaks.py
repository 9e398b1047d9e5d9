"""Columns that reveal the label."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.findings.separation import (
    MOST_CODES,
    ClassRows,
    area_of,
    area_of_levels,
    codes_of,
    sampled,
)
from aucstudio.project.data.sparse_columns import SparseColumn, gathered
from aucstudio.project.data.table import Table

# Area that a column known before the outcome hardly ever reaches alone.
_TELLING = 0.999
# Area in a sample from which all rows are examined.
_SUSPECT = 0.99
# Largest probability that a column of a small table separates the classes by chance.
_BY_CHANCE = 1e-3
# Largest share of rows, overall and by class, in which a copy of the label may differ.
_ASTRAY = 0.01
_FEWEST, _FEWEST_OF_CLASS = 30, 8


def leaks(table: Table) -> Iterator[Finding]:
    """Find features that separate the classes alone, or that are known in one class only."""
    sample, features = sampled(table), table.features
    if sample is None or not _is_enough(sample.classes, len(features)):
        return
    classes = sample.classes
    zeros = _zeros_in_classes(features, classes)
    for column in features:
        if _ties(zeros.get(column.name)):
            continue
        if _area(column, sample.rows, sample.area(column)) < _SUSPECT:
            if column.missing:
                yield from _known_in_one(table, column, classes)
            yield from _nearly_the_label(table, column)
            continue
        area = _area(column, classes, area_of(column, classes))
        if area >= _TELLING:
            code = "copy_of_label" if _is_the_label(table, column) else "separates_classes"
            yield found(code, column.name, rows=table.rows, label=table.label, area=_floored(area))


def _zeros_in_classes(
    columns: Sequence[Column], classes: ClassRows
) -> dict[str, tuple[float, float]]:
    """Return the shares of zero cells of sparse columns in the two classes."""
    few = [column for column in columns if isinstance(column, SparseColumn)]
    if not few:
        return {}
    matrix = gathered(few).tocsr()
    shares = [
        1.0 - np.diff(matrix[rows].tocsc().indptr) / len(rows)
        for rows in (classes.positive, classes.negative)
    ]
    both = zip(*(share.tolist() for share in shares), strict=True)
    return dict(zip((column.name for column in few), both, strict=True))


def _ties(zeros: tuple[float, float] | None) -> bool:
    """Return whether pairs tied at zero rule out that a column separates the classes."""
    return zeros is not None and 1.0 - zeros[0] * zeros[1] / 2 < _SUSPECT


def _is_enough(classes: ClassRows, columns: int) -> bool:
    """Return whether the rows are too many for one of the columns to separate them by chance."""
    m, n = len(classes.positive), len(classes.negative)
    orders = math.lgamma(m + n + 1) - math.lgamma(m + 1) - math.lgamma(n + 1)
    return math.log(2 * max(columns, 1)) - orders < math.log(_BY_CHANCE)


def _area(column: Column, rows: ClassRows, area: float | None) -> float:
    """Return the best area of a column, in either direction or as levels."""
    best = 0.5 if area is None else max(area, 1.0 - area)
    if column.role == "number" and 2 < column.distinct <= MOST_CODES:
        best = max(best, area_of_levels(column, rows) or 0.5)
    return best


def _floored(area: float) -> str:
    return "1" if area == 1 else f"{math.floor(area * 10_000) / 10_000:.4f}"


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


def _nearly_the_label(table: Table, column: Column) -> Iterator[Finding]:
    """Find a column of two values that equals the label in all but a few rows."""
    assert table.label is not None
    label = table.column(table.label)
    if any(one.different.exceeds(2) or not one.different.exceeds(1) for one in (column, label)):
        return
    (rows,) = np.nonzero(column.known() & label.known())
    ours, theirs = codes_of(column, rows), codes_of(label, rows)
    counts = np.zeros((2, 2), dtype=np.int64)
    np.add.at(counts, (ours, theirs), 1)
    astray = counts[[0, 1], [1, 0]] if np.trace(counts) >= len(rows) / 2 else np.diag(counts)
    total = int(astray.sum())
    # Also by class, because in a rare class a few rows matter.
    most = np.maximum(1, _ASTRAY * counts.sum(axis=0))
    if len(rows) < _FEWEST or not total or total > max(1, _ASTRAY * len(rows)):
        return
    if counts.sum(axis=0).min() >= _FEWEST_OF_CLASS and (astray <= most).all():
        yield found(
            "nearly_the_label",
            column.name,
            rows=table.rows,
            label=table.label,
            astray=total,
            known=len(rows),
        )


def _known_in_one(table: Table, column: Column, classes: ClassRows) -> Iterator[Finding]:
    """Find a column that is known in one class and missing in the other."""
    known = column.known()
    shares = [float(known[rows].mean()) for rows in (classes.positive, classes.negative)]
    if 0.5 + abs(shares[0] - shares[1]) / 2 >= _TELLING:
        positive = table.positive or "one class"
        words = "only" if shares[0] > shares[1] else "everywhere but"
        yield found(
            "known_in_one_class", column.name, rows=table.rows, words=words, positive=positive
        )
