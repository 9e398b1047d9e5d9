"""Findings about label, classes, spellings, row weights and left-out rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from aucstudio.engine.roc import effective_rows
from aucstudio.notices.words import class_words, listed
from aucstudio.project.data import text as vocabulary
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.labels import usual_spellings
from aucstudio.project.data.roles import is_label_name
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.numerals import is_remark
from aucstudio.project.data.weights import invalid_weights

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
    for name, count in table.classes.items() if len(table.classes) > 2 else ():
        if _NOT_KNOWN.fullmatch(name) or is_remark(name):
            yield found("class_may_be_missing", table.label, rows=count, name=class_words(name))
    if table.positive is not None:
        positives = table.classes[table.positive]
        few = min(positives, sum(table.classes.values()) - positives)
        which = "the positive class" if few == positives else "the other class"
        if 0 < few < _FEW:
            yield found("few_rows_of_class", table.label, rows=few, which=which)


def left_out(table: AnyTable) -> Iterator[Finding]:
    """Report rows that were left out, and columns that are mostly empty."""
    reported = sum(f.rows for f in table.findings if f.kind in ("header", "rejected"))
    if reported < table.rejected_rows and not any(f.kind == "rejected" for f in table.findings):
        first = f", the first in {table.rejected[0].where}" if table.rejected else ""
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


_MOST_LEVELS = 10_000
_SIGNS = frozenset(vocabulary.words("column_names", "signs"))
_LEAST_WORDS = 2


def spellings(table: Table) -> Iterator[Finding]:
    """Find several spellings in the label and in categories, and signs of missing values."""
    if table.label is not None:
        label = table.column(table.label)
        yield from _spellings(label, table.classes, f"classes of the label {label.name}")
    for column in table.features:
        if column.kind == "text" and not column.same and 1 < column.distinct <= _MOST_LEVELS:
            yield from _spellings(column, column.counts, f"levels of column {column.name}")


def _spellings(column: Column, counts: Mapping[str, int], what: str) -> Iterator[Finding]:
    signs = [level for level in counts if level.lower() in _SIGNS]
    words = sum(any(map(str.isalnum, level)) for level in counts if level not in signs)
    # Several signs, such as + and -, are levels.
    if words >= _LEAST_WORDS and words + len(signs) == len(counts):
        for sign in signs if sum(not sign.isalpha() for sign in signs) < 2 else ():
            count, spelled = column.counts[sign], (sign.lower(),)
            yield found("sign_may_be_missing", column.name, rows=count, values=spelled, sign=sign)
    groups = usual_spellings(counts) if column.kind == "text" else []
    if groups:
        groups.sort(key=lambda group: -sum(counts[name] for name in group))
        shown = [", ".join(f"{n} ({counts[n]:,})" for n in group) for group in groups[:_SHOWN]]
        shown += [f"and {len(groups) - _SHOWN:,} more"] if len(groups) > _SHOWN else []
        rows = sum(counts[name] for group in groups for name in group[1:])
        values, names = tuple(name for group in groups for name in group), "; ".join(shown)
        yield found(
            "several_spellings", column.name, rows=rows, values=values, what=what, names=names
        )


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
    bad = np.flatnonzero(invalid_weights(cells))
    if len(bad):
        yield found("bad_weights", name, rows=len(bad), first=int(table.file_rows[bad[0]]))
        return
    for unused, what in ((np.isnan(cells), "no weight"), (cells == 0, "the weight 0")):
        if unused.any():
            yield found("weights_of_nothing", name, rows=int(unused.sum()), what=what)
    used = cells[cells > 0]
    worth = float(effective_rows(used))
    if len(used) and worth < _LITTLE * len(used):
        yield found("uneven_weights", name, rows=len(used), worth=worth)


def _meant(column: Column) -> Iterator[Finding]:
    cells = column.measured()
    known = cells[~np.isnan(cells)]
    if not len(known) or known.min() <= 0 or not np.ptp(known):
        return
    is_near, is_called = abs(known.mean() - 1) < _NEAR, _SURELY.search(column.name.lower())
    if is_near or is_called:
        why = "because its mean is near 1" if is_near else "because of its name"
        yield found("may_be_weights", column.name, why=why)
