"""Findings about label, classes and left-out rows.

Several spellings of one class or level, and signs of missing values.

Findings about row weights.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from aucstudio.engine.roc import effective_rows
from aucstudio.notices.words import class_words, listed
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.labels import alike, usual_spellings
from aucstudio.project.data.roles import is_label_name
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.numerals import is_remark

_FEW = 10
_SHOWN = 3
_HARDLY_KNOWN = 0.5
_NOT_KNOWN = re.compile("-(?:9|99|999|9999)")


def labelling(table: AnyTable) -> Iterator[Finding]:
    """Report problems of the label and its classes."""
    if table.label is None:
        named = [c for c in table.columns if c.why == "ignored_constant" and is_label_name(c.name)]
        yield found("label_of_one_value", named[0].name) if named else found("no_label_column")
        return
    if len(table.classes) > 2:
        yield from _unknown(table)
    if table.positive is not None:
        yield from _few(table, table.positive)


def _unknown(table: AnyTable) -> Iterator[Finding]:
    """Report classes whose name may mean a missing value."""
    for name, count in table.classes.items():
        if _NOT_KNOWN.fullmatch(name) or is_remark(name):
            yield found(
                "class_may_be_missing", table.label or "", rows=count, name=class_words(name)
            )


def _few(table: AnyTable, positive: str) -> Iterator[Finding]:
    """Report a class with very few rows."""
    positives = table.classes[positive]
    others = sum(table.classes.values()) - positives
    if 0 < min(positives, others) < _FEW:
        which = "the positive class" if positives <= others else "the other class"
        few = min(positives, others)
        yield found("few_rows_of_class", table.label or "", rows=few, which=which)


def left_out(table: AnyTable) -> Iterator[Finding]:
    """Report rows that were left out, and columns that are mostly empty."""
    reported = sum(f.rows for f in table.findings if f.kind in ("header", "rejected"))
    if reported < table.rejected_rows and not any(f.kind == "rejected" for f in table.findings):
        first = f", the first in line {table.rejected[0].line}" if table.rejected else ""
        yield found("rejected_rows", rows=table.rejected_rows, first=first)
    missing = table.missing()
    empty = [
        c.name
        for c in table.features
        if missing[c.name] > _HARDLY_KNOWN * table.rows
        and not (c.role == "category" and c.distinct == 1)  # a checkbox that few rows have ticked
    ]
    if empty:
        most, names = max(missing[name] for name in empty), listed(empty, _SHOWN)
        yield found("columns_mostly_empty", *empty, rows=most, count=len(empty), names=names)


_WINDOW = 100_000
_MOST_LEVELS = 10_000
_SIGNS = frozenset({".", "..", "...", "-", "--", "---", "*", "**", "***", "/", "\u2013", "\u2014"})
_LEAST_WORDS = 2


def spellings(table: Table) -> Iterator[Finding]:
    """Find several spellings in the label and in categories."""
    if table.label is not None:
        label = table.column(table.label)
        yield from _findings(label, table.classes, f"classes of the label {label.name}")
        yield from _signs(label, set(table.classes))
    for column in table.features:
        if column.kind == "text" and not column.same and 1 < column.distinct <= _MOST_LEVELS:
            yield from _in_levels(column)


def _in_levels(column: Column) -> Iterator[Finding]:
    levels: set[str | None] = set()
    # Windows, because one pass over objects in C would hold the GIL throughout.
    for start in range(0, len(column.values), _WINDOW):
        levels.update(column.values[start : start + _WINDOW].tolist())
    words = {level for level in levels if level is not None}
    yield from _signs(column, words)
    if alike(words):
        yield from _findings(column, column.counts, f"levels of column {column.name}")


def _signs(column: Column, levels: set[str]) -> Iterator[Finding]:
    """Find a single sign among words; several signs, such as + and -, are levels."""
    signs = levels & _SIGNS
    words = sum(any(map(str.isalnum, level)) for level in levels)
    if len(signs) == 1 and words >= _LEAST_WORDS and words + 1 == len(levels):
        (sign,) = signs
        yield found("sign_may_be_missing", column.name, rows=column.counts[sign], sign=sign)


def _findings(column: Column, counts: Mapping[str, int], what: str) -> Iterator[Finding]:
    groups = usual_spellings(counts)
    if not groups or column.kind != "text":
        return
    groups.sort(key=lambda group: -sum(counts[name] for name in group))
    names = "; ".join(_words(group, counts) for group in groups[:_SHOWN])
    more = f"; and {len(groups) - _SHOWN:,} more" if len(groups) > _SHOWN else ""
    rows = sum(counts[name] for group in groups for name in group[1:])
    values = tuple(name for group in groups for name in group)
    names += more
    yield found("several_spellings", column.name, rows=rows, values=values, what=what, names=names)


def _words(group: list[str], counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({counts[name]:,})" for name in group)


_LITTLE = 0.5
_CALLED = re.compile(r"(?:^|[\W_]|final|fnl|per)p?(?:weights?|wgt|wt|gewicht(?:ung)?|poids|peso)$")
# Names that hardly denote a measured weight.
_SURELY = re.compile(
    r"(?:^|[\W_])(?:sample|sampling|case|survey|design|post|final|fnl|per(?:son)?)[\W_]?"
    r"(?:weight|wgt|wt)s?$"
)
# Distance from 1 of the mean of weights that are scaled to the number of rows.
_NEAR = 0.05


def weights(table: Table) -> Iterator[Finding]:
    """Report invalid, missing and zero weights, and the effective number of rows.

    Without a weight column, report columns that may be weights.
    """
    if table.weight is None:
        for column in table.columns:
            if column.kind == "number" and _CALLED.search(column.name.lower()):
                yield from _meant(column)
        return
    column = table.column(table.weight)
    cells, name = column.measured(), column.name
    bad = np.flatnonzero((cells < 0) | np.isinf(cells))
    if len(bad):
        first = int(table.file_rows[bad[0]])
        yield found("bad_weights", name, rows=len(bad), first=first)
        return
    for count, what in (
        (int(np.count_nonzero(np.isnan(cells))), "no weight"),
        (int(np.count_nonzero(cells == 0)), "the weight 0"),
    ):
        if count:
            yield found("weights_of_nothing", name, rows=count, what=what)
    used = cells[cells > 0]
    worth = effective_rows(used)
    if len(used) and worth < _LITTLE * len(used):
        yield found("uneven_weights", name, rows=len(used), worth=float(worth))


def _meant(column: Column) -> Iterator[Finding]:
    cells = column.measured()
    known = cells[~np.isnan(cells)]
    if not len(known) or known.min() <= 0 or not np.ptp(known):
        return
    is_near, is_called = abs(known.mean() - 1) < _NEAR, _SURELY.search(column.name.lower())
    if is_near or is_called:
        why = "because its mean is near 1" if is_near else "because of its name"
        yield found("may_be_weights", column.name, why=why)
