"""Findings about the label and its classes, and about what was left out of the table."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.choices import listed
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.table_info import label_findings
from aucstudio.project.data.text.missing import is_remark
from aucstudio.project.words import class_words, counted

_FEW = 10
_SHOWN = 3
_HARDLY_KNOWN = 0.5
_NOT_KNOWN = re.compile("-(?:9|99|999|9999)")


def labelling(table: AnyTable) -> Iterator[Finding]:
    """Report what is wrong with the label, and what about it was guessed."""
    if table.label is None:
        yield Finding(
            "label", "no column looks like a label: choose the one that holds the classes"
        )
        return
    yield from label_findings(table)
    if len(table.classes) > 2:
        yield from _unknown(table)
    if table.positive is not None:
        yield from _few(table, table.positive)


def _unknown(table: AnyTable) -> Iterator[Finding]:
    """Report classes whose name may mean a missing label."""
    for name, count in table.classes.items():
        if _NOT_KNOWN.fullmatch(name) or is_remark(name):
            yield Finding(
                "label",
                f"class {class_words(name)} of the label {table.label} may mean a missing "
                f"value: {counted(count, 'row')}",
                (table.label or "",),
                count,
            )


def _few(table: AnyTable, positive: str) -> Iterator[Finding]:
    """Report a class of very few rows."""
    positives = table.classes[positive]
    others = sum(table.classes.values()) - positives
    if 0 < min(positives, others) < _FEW:
        which = "the positive class" if positives <= others else "the other class"
        few = min(positives, others)
        yield Finding(
            "label",
            f"{which} has {few} row{'' if few == 1 else 's'} only: every figure rests on them",
            (table.label or "",),
            few,
        )


def left_out(table: AnyTable) -> Iterator[Finding]:
    """Report rows that were left out, ignored columns and mostly empty ones."""
    told = sum(f.rows for f in table.findings if f.kind in ("header", "rejected"))
    if told < table.rejected_rows and not any(f.kind == "rejected" for f in table.findings):
        count = table.rejected_rows
        first = f", the first in line {table.rejected[0].line}" if table.rejected else ""
        one = "row was" if count == 1 else "rows were"
        yield Finding("rejected", f"{count:,} {one} left out{first}", (), count)
    ignored = [column.name for column in table.columns if column.role == "ignore" and column.why]
    if ignored:
        one = "column is" if len(ignored) == 1 else "columns are"
        yield Finding(
            "ignored", f"{len(ignored):,} {one} ignored: {listed(ignored, _SHOWN)}", tuple(ignored)
        )
    missing = table.missing()
    empty = [
        c.name
        for c in table.features
        if missing[c.name] > _HARDLY_KNOWN * table.rows
        and not (c.role == "category" and c.distinct == 1)  # a box that few ticked
    ]
    if empty:
        one, its = ("column lacks", "its") if len(empty) == 1 else ("columns lack", "their")
        yield Finding(
            "missing",
            f"{len(empty):,} {one} most of {its} values: {listed(empty, _SHOWN)}",
            tuple(empty),
            max(missing[name] for name in empty),
        )
