"""Columns that mean nothing to what was trained on another table, as far as a file shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.choices import listed
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.errors import InputError

# With fewer rows "every cell" says little: scoring one row at a time is normal use.
ENOUGH_ROWS = 5
# So rarely a column without a value may come about by chance to be taken for a mistake.
_RARE = 1e-3
_MOST_VALUES = 1_000_000

# Rows of a column with a level that was never met, and these levels.
Strange = Callable[[ColumnSchema], tuple[int, tuple[str, ...]]]


class UnknownColumnsError(InputError):
    """Columns that were trained on are absent from a table, or hold nothing that was met then.

    Attributes
    ----------
    reasons : mapping of str to str
        By column, what is wrong with it.
    """

    def __init__(self, message: str, reasons: Mapping[str, str], file: str) -> None:
        super().__init__(message, file=file, column=next(iter(reasons)), setting="allow_unknown")
        self.reasons = dict(reasons)


def check_known(table: AnyTable, schema: Schema, names: Iterable[str], strange: Strange) -> None:
    """Refuse a table of which a column is wholly unknown, unless it has hardly any rows.

    Parameters
    ----------
    table : AnyTable
    schema : Schema
        Of the table that was trained on.
    names : iterable of str
        The columns that matter.
    strange : callable
        Counts the rows with levels that were never met.

    Raises
    ------
    UnknownColumnsError
        If no row of a column has a number, a level that was met, or a value at all.
    """
    if table.rows < ENOUGH_ROWS:
        return
    missing, known = table.missing(), schema.by_name
    reasons = {}
    for name in names:
        column = known.get(name, ColumnSchema(name))
        what = _what_is_unknown(table, column, schema.rows, missing[name], strange)
        if what:
            reasons[name] = what
    if reasons:
        (first, what), *others = reasons.items()
        also = f"; likewise {_some(name for name, _ in others)}" if others else ""
        raise UnknownColumnsError(
            f"column {first!r} of {table.path} is wholly unknown to what was trained: {what}{also}",
            reasons,
            str(table.path),
        )


def _what_is_unknown(
    table: AnyTable, column: ColumnSchema, trained: int, missing: int, strange: Strange
) -> str:
    known = table.rows - missing
    if known:
        count, levels = strange(column)
        if count < known:
            return ""
        learnt = f"; it knows {_some(column.levels)}" if column.levels else ""
        return f"none of its levels ({_some(levels)}) was met in training{learnt}"
    if column.name in table.unreadable:
        text = table.unreadable[column.name].text
        dated = column.number is not None and column.number.layout
        what = "date as they were written" if dated else "number"
        return f"not one of its cells is a {what} (the first is {text!r})"
    usual = (column.missing / trained) ** table.rows if trained else 0.0
    return "" if usual > _RARE else "not one of its rows has a value"


def _some(names: Iterable[str]) -> str:
    return listed([repr(name) for name in names])


def unmet_levels(table: AnyTable) -> Strange:
    """Count levels of a table that a schema does not name."""

    def strange(column: ColumnSchema) -> tuple[int, tuple[str, ...]]:
        if column.kind != "text" or column.levels is None:
            return 0, ()
        counts = table.counts(column.name, _MOST_VALUES) or {}
        new = {level: n for level, n in counts.items() if level not in column.levels}
        return sum(new.values()), tuple(new)

    return strange
