"""Several spellings of one class or level, and signs of missing values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.labels import alike, usual_spellings
from aucstudio.project.data.table import Table

_WINDOW = 100_000
_MOST_LEVELS = 10_000
_SHOWN = 3
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
