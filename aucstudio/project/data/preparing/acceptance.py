"""Check a later table against the training table."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import numpy as np

from aucstudio.engine.arrays import Array
from aucstudio.notices.words import listed
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.finding import phrase
from aucstudio.project.data.schema import ColumnRange, ColumnSchema, Schema
from aucstudio.project.data.text.contents import Unreadable
from aucstudio.project.data.text.later_files import Remedy, remedy_for
from aucstudio.project.data.text.numerals import NumberFormat, is_remark, other_mark
from aucstudio.project.errors import InputError

UNKNOWN, UNREADABLE, RANGE = KINDS = ("unknown", "unreadable", "range")

# With fewer rows nothing is refused as unknown, because single rows are scored too.
ENOUGH_ROWS = 5
# Largest probability that a column is missing throughout by chance.
_RARE = 1e-3
_MOST_VALUES = 1_000_000
# Largest share of unreadable cells, absolute and relative to training.
_MOST_UNREADABLE, _TIMES_TRAINING = 0.1, 2.0

# Returns the number of rows of a column with unknown levels, and these levels.
UnknownLevels = Callable[[ColumnSchema], tuple[int, tuple[str, ...]]]
# Columns that are accepted, by kind of refusal.
Allowed = Mapping[str, Collection[str]]


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Why a column is refused.

    Attributes
    ----------
    kind : {"unknown", "unreadable", "range"}
        What the user must allow to score the table.
    reason : str
    remedy : Remedy or None
        What makes the column readable, if known.
    """

    kind: str
    reason: str
    remedy: Remedy | None = None


class RefusedColumnsError(InputError):
    """Columns of a later table are absent, or differ from those of training.

    Attributes
    ----------
    refusals : dict of str to Refusal
        By column.
    """

    def __init__(self, message: str, refusals: Mapping[str, Refusal], file: str) -> None:
        first, refusal = next(iter(refusals.items()))
        super().__init__(message, file=file, column=first, setting=f"allow_{refusal.kind}")
        self.refusals = dict(refusals)


def check_accepted(
    table: AnyTable,
    schema: Schema,
    names: Iterable[str],
    unknown: UnknownLevels,
    allowed: Allowed | None = None,
    *,
    advice: str = "",
) -> None:
    """Raise an error if columns of a later table differ from those of training.

    Parameters
    ----------
    table : AnyTable
    schema : Schema
        Of the training table.
    names : iterable of str
        The columns that matter.
    unknown : callable
        Counts the rows with unknown levels.
    allowed : mapping of kind to names, optional
        Columns that are accepted; a column that may be unknown may also be unreadable.
    advice : str
        Advice about columns with another format or range.

    Raises
    ------
    RefusedColumnsError
        If a column has no number, no known level, or no value; if more than a tenth of its cells
        are unreadable; or if its numbers are far outside the training range.
    """
    given = {kind: set((allowed or {}).get(kind, ())) for kind in KINDS}
    given[UNREADABLE] |= given[UNKNOWN]
    checks: dict[str, Callable[[AnyTable, Schema, Iterable[str]], Found]] = {
        UNREADABLE: _unreadable_columns,
        UNKNOWN: functools.partial(_unknown_columns, unknown=unknown),
        RANGE: _far_columns,
    }
    refusals: dict[str, Refusal] = {}
    wanted = list(names)
    for kind, check in checks.items():
        left = [name for name in wanted if name not in refusals and name not in given[kind]]
        refusals |= dict(check(table, schema, left))
    if refusals:
        (first, refusal), *others = refusals.items()
        also = f"; also {_some(name for name, _ in others)}" if others else ""
        also += f": {advice}" if advice and refusal.kind != UNKNOWN else ""
        raise RefusedColumnsError(
            f"column {first!r} of {table.path} {refusal.reason}{also}", refusals, str(table.path)
        )


Found = Iterator[tuple[str, Refusal]]


def _unreadable_columns(table: AnyTable, schema: Schema, names: Iterable[str]) -> Found:
    here = [name for name in names if name in table.unreadable]
    missing = table.missing() if here else {}
    for name in here:
        column = schema.by_name.get(name, ColumnSchema(name))
        met = table.unreadable[name]
        count, texts = _without_remarks(met)
        # Unreadable cells count as missing ones.
        cells = table.rows - missing[name] + count
        trained = column.unreadable / schema.rows if schema.rows else 0.0
        if not count or count <= max(_MOST_UNREADABLE, _TIMES_TRAINING * trained) * cells:
            continue
        some_known = count < cells
        share = f"{count:,} of {cells:,} cells cannot" if some_known else "none of its cells can"
        form = column.number or NumberFormat()
        is_known = column.number is not None and not form.layout
        reason = phrase(
            "later_unreadable",
            share=share,
            dated=bool(form.dated),
            text=texts[0],
            line=met.line if texts[0] == met.text else None,
            layout=form.layout,
            mark={".": "point", ",": "comma"}[form.decimal] if is_known else None,
            grouped=form.grouped,
            affix=form.affix if is_known else "",
        )
        remedy = None
        if met.line is not None:
            remedy = remedy_for(texts, column, schema.dialect, some_known=some_known)
        yield name, Refusal(UNREADABLE, reason, remedy)


def _without_remarks(met: Unreadable) -> tuple[int, list[str]]:
    """Return the number of cells that are not words for a missing value, and their spellings."""
    spelled = dict(met.spellings) or {met.text: met.count}
    remarks = sum(count for text, count in spelled.items() if is_remark(text))
    texts = [text for text in spelled if not is_remark(text)]
    return met.count - remarks, texts or [met.text]


def _unknown_columns(
    table: AnyTable, schema: Schema, names: Iterable[str], unknown: UnknownLevels
) -> Found:
    missing = table.missing()
    for name in names if table.rows >= ENOUGH_ROWS else ():
        column = schema.by_name.get(name, ColumnSchema(name))
        if known := table.rows - missing[name]:
            count, levels = unknown(column)
            if count == known:
                code = "later_levels" if column.levels else "later_levels_all"
                facts = {"levels": _some(levels), "known": _some(column.levels or ())}
                yield name, Refusal(UNKNOWN, phrase(code, **facts))
        elif name not in table.unreadable:
            usual = (column.missing / schema.rows) ** table.rows if schema.rows else 0.0
            if usual <= _RARE:
                yield name, Refusal(UNKNOWN, phrase("later_empty"))


def _far_columns(table: AnyTable, schema: Schema, names: Iterable[str]) -> Found:
    columns = (schema.by_name.get(name) for name in names)
    trained = {c.name: c.range for c in columns if c is not None and c.range is not None}
    for name, cells in table.sampled(list(trained)).items():
        form = table.column(name).number
        refusal = how_far(trained[name], cells, form)
        if refusal is not None:
            can_help = form is not None and table.format == "csv"
            yield name, refusal if can_help else dataclasses.replace(refusal, remedy=None)


def _some(names: Iterable[str]) -> str:
    return listed([repr(name) for name in names])


def unmet_levels(table: AnyTable) -> UnknownLevels:
    """Return a function that counts the rows with levels that a schema does not contain."""

    def unknown(column: ColumnSchema) -> tuple[int, tuple[str, ...]]:
        if column.kind != "text" or column.levels is None:
            return 0, ()
        counts = table.counts(column.name, _MOST_VALUES) or {}
        new = {level: n for level, n in counts.items() if level not in column.levels}
        return sum(new.values()), tuple(new)

    return unknown


# ------------------------------------------------------------------ range of a column

# A median is far outside if it is this many widths of the range away; the width is at least this
# share of the largest magnitude, so that columns of years can grow.
_WIDTHS, _LEAST_WIDTH = 5.0, 0.02
# Medians that differ by this factor are on another scale, if there are enough rows.
_FACTOR, _ENOUGH_ROWS = 30.0, 5
# Largest probability that all numbers are whole by chance.
_IMPROBABLE = 0.02
_THOUSAND, _ROUNDING = 1000.0, 1e-9
# Factors between units, and the least factor of the median beyond the range.
_UNITS, _BEYOND = (0.01, 0.001, 100.0, 1000.0), 3.0


def how_far(trained: ColumnRange, cells: Array, form: NumberFormat | None) -> Refusal | None:
    """Return why later cells are outside the training range; None if they are not.

    Medians are compared, because single outliers do not affect them.

    Parameters
    ----------
    trained : ColumnRange
    cells : ndarray of float
        Later cells, NaN where missing.
    form : NumberFormat or None
        How they are written.
    """
    cells = cells[np.isfinite(cells)]
    if not len(cells):
        return None
    form = form or NumberFormat()
    median = float(np.median(cells))
    factor = _factor(trained, median)
    lost_mark = _has_lost_mark(trained, cells, grouped=form.grouped)
    if factor == 1 / _THOUSAND and form.grouped:
        lost_mark = bool((cells == np.floor(cells)).all())
    low, high = trained.low, trained.high
    reach = _WIDTHS * max(high - low, _LEAST_WIDTH * max(abs(low), abs(high)))
    if not low - reach <= median <= high + reach:
        code = "later_far"
    elif factor is not None or _is_on_other_scale(trained, median, len(cells)):
        code = "later_scale"
    elif lost_mark:
        code = "later_kind"
    else:
        return None
    figures = {"median": median, "low": low, "high": high}
    facts: dict[str, object] = {name: _figure(value) for name, value in figures.items()}
    kind = "fractions" if trained.fractional else "whole numbers"
    remedy = Remedy("scale", f"{factor:g}") if factor is not None else None
    if lost_mark:
        remedy = Remedy("decimal", other_mark(form.decimal))
    return Refusal(RANGE, phrase(code, rows=len(cells), kind=kind, **facts), remedy)


def _is_on_other_scale(trained: ColumnRange, median: float, rows: int) -> bool:
    """Return whether enough rows have a median many times larger or smaller than in training."""
    if rows < _ENOUGH_ROWS or not trained.middle or trained.lower <= median <= trained.upper:
        return False
    ratio = median / trained.middle
    return ratio >= _FACTOR or 0 < ratio <= 1 / _FACTOR


def _factor(trained: ColumnRange, median: float) -> float | None:
    """Return the unit factor that brings a median outside the range into it."""
    if not 0 <= trained.low < trained.high or median <= 0:
        return None
    if trained.low / _BEYOND < median < trained.high * _BEYOND:
        return None
    return next((f for f in _UNITS if trained.low <= f * median <= trained.high), None)


def _has_lost_mark(trained: ColumnRange, cells: Array, *, grouped: bool) -> bool:
    """Return whether decimal marks were read as thousands marks, or vice versa."""
    whole = cells == np.floor(cells)
    if not trained.fractional:
        larger = _THOUSAND * cells
        in_place = (larger >= trained.low) & (larger <= trained.high)
        is_whole = np.abs(larger - np.rint(larger)) <= _ROUNDING * np.abs(larger)
        return bool(2 * np.count_nonzero(~whole & in_place & is_whole) > len(cells))
    if not (grouped and whole.all()) or (1 - trained.fractional) ** len(cells) > _IMPROBABLE:
        return False
    smaller = cells / _THOUSAND
    in_place = (smaller >= trained.low) & (smaller <= trained.high)
    return bool(2 * np.count_nonzero(in_place & (np.abs(cells) >= _THOUSAND)) > len(cells))


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1e4 and abs(value) < 1e15 else f"{value:.6g}"
