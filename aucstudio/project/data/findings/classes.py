"""Findings about label, classes and left-out rows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aucstudio.notices.words import class_words, listed
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.roles import is_label_name
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
