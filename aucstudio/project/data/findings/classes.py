"""What is guessed about the label, what is few in it, and what of a table is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.text.missing import is_remark
from aucstudio.project.words import class_words, counted

_FEW = 10
_SHOWN = 3
_HARDLY_KNOWN = 0.5
_NOT_KNOWN = re.compile("-(?:9|99|999|9999)")


def labelling(table: AnyTable) -> Iterator[Finding]:
    """Say what stands in the way of the label, and what about it was guessed."""
    if table.label is None:
        yield Finding(
            "label", "no column looks like a label: choose the one that holds the classes"
        )
        return
    label = (table.label,)
    if "label" in table.guessed:
        yield Finding("positive", f"column {table.label} is guessed to be the label", label)
    if table.positive is None and len(table.classes) > 2:
        yield Finding(
            "label",
            f"the label {table.label} has {len(table.classes)} classes: choose the positive one, "
            "or several of them",
            label,
        )
    if len(table.classes) > 2:
        yield from _unknown(table)
    if table.positive is not None:
        yield from _positive(table, table.positive)
    if table.unlabelled:
        one = table.unlabelled == 1
        words = "row has no label and takes" if one else "rows have no label and take"
        sentence = f"{table.unlabelled:,} {words} no part in training"
        yield Finding("missing", sentence, label, table.unlabelled)


def _unknown(table: AnyTable) -> Iterator[Finding]:
    """Say which of several classes may stand for a label that is not known."""
    for name, count in table.classes.items():
        if _NOT_KNOWN.fullmatch(name) or is_remark(name):
            yield Finding(
                "label",
                f"class {class_words(name)} of the label {table.label} may mean a missing "
                f"value: {counted(count, 'row')}",
                (table.label or "",),
                count,
            )


def _positive(table: AnyTable, positive: str) -> Iterator[Finding]:
    positives = table.classes[positive]
    others = sum(table.classes.values()) - positives
    if "positive" in table.guessed:
        reason = ", being the rarer one" if positives < others else ""
        yield Finding(
            "positive",
            f"class {class_words(positive)} is guessed to be the positive one{reason}",
            (table.label or "",),
        )
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
    """Say what was left out: rows that could not be read, columns, cells."""
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
            "ignored", f"{len(ignored):,} {one} ignored: {_some(ignored)}", tuple(ignored)
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
            f"{len(empty):,} {one} most of {its} values: {_some(empty)}",
            tuple(empty),
            max(missing[name] for name in empty),
        )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
