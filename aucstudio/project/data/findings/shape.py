"""Findings about layout and rows: adjacent or transposed tables, lone cells, identifiers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from aucstudio.engine.arrays import Array
from aucstudio.notices.words import listed
from aucstudio.project.data.columns import Column, spell_cell
from aucstudio.project.data.finding import TIME_ORDER, Finding, found
from aucstudio.project.data.roles import is_flag, is_named_identifier, is_named_thing, is_numbered
from aucstudio.project.data.sparse_columns import SparseColumn
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.separators import is_number

# Largest share of rows of a second table, and least share of filled cells in it.
_SHORTER, _FILLED = 0.75, 0.8
_LEAST_ROWS, _MOST_ROWS = 8, 200
_SHOWN, _FEWEST_ODD = 5, 5
_FEWEST_COLUMNS, _SHOWN_CELLS = 3, 3
_MANY, _FEW_ROWS = 200, 5  # levels of a category, and rows of a level on average


def shape(table: Table) -> Iterator[Finding]:
    """Report columns that may belong to a second table, and a transposed table."""
    yield from _beside(table)
    yield from _lying(table)


def _beside(table: Table) -> Iterator[Finding]:
    """Find last columns that all end in the same row, far above the others."""
    apart: list[Column] = []
    end = 0
    for column in reversed(table.columns):
        last = _last_row(column)
        if not last or (apart and last != end) or last > _SHORTER * table.rows:
            break
        if column.height - column.missing < _FILLED * last:
            break
        end = last
        apart.insert(0, column)
    rest = table.columns[: len(table.columns) - len(apart)]
    if table.rows < _LEAST_ROWS or len(apart) < 2 or not any(c.missing == 0 for c in rest):
        return
    names = [column.name for column in apart]
    shown = listed(names, _SHOWN)
    yield found("table_to_the_right", *names, names=shown, end=end, total=table.rows)


def _last_row(column: Column) -> int:
    """Return the last row with a value, counted from 1; 0 if that is the last row of all."""
    if not column.missing or not column.height:
        return 0
    known = np.flatnonzero(column.known())
    last = int(known[-1]) + 1 if len(known) else 0
    return 0 if last == column.height else last


def _lying(table: Table) -> Iterator[Finding]:
    """Report a table whose rows, but not its columns, hold only numbers or only words."""
    cells = [column.values for column in table.columns[1:] if column.kind == "text"]
    others = sum(column.height > column.missing for column in table.columns[1:]) - len(cells)
    if others:
        # A row of words below rows of numbers: one cell of each column, all in one line.
        odd = list(table.unreadable.values())
        lines = {(cells.count, cells.line) for cells in odd}
        if len(odd) >= max(_FEWEST_ODD, _FILLED * len(table.columns[1:])) and len(lines) == 1:
            yield found("table_on_its_side")
        return
    if len(cells) < table.rows or not 1 < table.rows <= _MOST_ROWS:
        return
    kinds = set[bool]()
    for row in range(table.rows):
        of_row = {is_number(column[row]) for column in cells if column[row] is not None}
        if len(of_row) > 1:
            return
        kinds |= of_row
    if len(kinds) > 1:
        yield found("table_on_its_side")


def alone(table: Table) -> Iterator[Finding]:
    """Report rows with a value in the first column only: headings, sums, remarks."""
    first, *others = table.columns
    # Most tables have a column without missing cells.
    if len(table.columns) < _FEWEST_COLUMNS or not all(column.missing for column in others):
        return
    if any(isinstance(column, SparseColumn) for column in table.columns):
        return
    are_alone = first.known()
    for column in others:
        are_alone &= ~column.known()
        if not are_alone.any():
            return
    rows = np.flatnonzero(are_alone)
    shown = ", ".join(_spelled(first, row) for row in rows[:_SHOWN_CELLS].tolist())
    more = " and others" if len(rows) > _SHOWN_CELLS else ""
    yield found("first_column_alone", first.name, rows=len(rows), shown=shown + more)


def flags(table: Table) -> Iterator[Finding]:
    """Report categories of one value or nothing, like checkboxes, and of hundreds of texts."""
    for column in table.features:
        if column.role == "category" and is_flag(column):
            spelled = _spelled(column, int(column.known().argmax()))
            yield found("one_value_or_nothing", column.name, rows=column.missing, value=spelled)
        elif column.kind == "text" and _MANY < column.distinct > column.height / _FEW_ROWS:
            yield found("many_levels", column.name, distinct=column.distinct)


def _spelled(column: Column, row: int) -> str:
    cell = column.at(row)
    return repr(cell) if column.kind == "text" else spell_cell(column, cell)


# Fewer rows may be in order by chance.
_FEWEST, _FEWEST_NAMED = 10, 20
# Fewer different names are hardly those of persons or things.
_FEWEST_THINGS = 10
# Without such a name: least values, least rows of a value on average, and least share of that
# average that each value has. Numbers such as ages or codes of places differ more in frequency.
_FEWEST_REPEATED, _LEAST_ROWS_EACH, _LEAST_OF_MEAN = 20, 5, 0.25
# Least values that are numbers of one word and width, and least rows of one on average.
_FEWEST_NUMBERS, _ROWS_OF_NUMBER = 100, 1.5
# Probability that whole numbers of a range are all distinct by chance.
_BY_CHANCE = 1e-3
_HEAD = 1000
# Seconds since 1970 from 1990 to 2050, and the same in thousandths.
_SECONDS = (6.3e8, 2.53e9)
_DAYS = (19000101.0, 21001231.0)


def identifiers(table: Table) -> Iterator[Finding]:
    """Find number features that identify rows, follow their order, or are times."""
    for column in table.features:
        if column.role != "number" or column.height - column.missing < _FEWEST:
            continue
        if isinstance(column, SparseColumn) and column.zeros > 1:
            continue  # identifiers and times do not repeat zero
        if code := _what_it_is(column):
            yield found(code, column.name, rows=table.rows)


def groups(table: Table) -> Iterator[Finding]:
    """Find columns of which several rows name one person or thing; none beside other groups."""
    is_grouped = any(column.role == "group" for column in table.columns)
    ignored = [column for column in table.columns if column.why == "ignored_texts"]
    for column in () if is_grouped else (*ignored, *table.features):
        known = table.rows - column.missing
        names_things = column.kind == "text" or column.is_integer()
        if known < _FEWEST_NAMED or not names_things:
            continue
        is_named, things = is_named_identifier(column.name), column.distinct
        if is_named and _FEWEST_THINGS <= things < known:
            yield found("names_things", column.name, rows=known, things=things)
        elif not is_named and (_repeats(column, known) or _are_numbers_of_things(column, known)):
            each = round(known / things)
            yield found("values_repeat", column.name, rows=known, things=things, each=each)


def _repeats(column: Column, known: int) -> bool:
    """Return whether many numbered things have about equally many rows."""
    if isinstance(column, SparseColumn):
        return False
    in_blocks = _lies_in_blocks(column)
    many = known / (2 if in_blocks else _LEAST_ROWS_EACH)
    is_thing = in_blocks or is_numbered(column) or is_named_thing(column.name)
    return is_thing and _FEWEST_REPEATED <= column.distinct <= many and _are_even(column, known)


def _lies_in_blocks(column: Column) -> bool:
    """Return whether the rows of each value are adjacent, but not because rows are sorted by it.

    Things may be numbered in their order: 1, 1, 1, 2, 2, 3, 3, 3.
    """
    if column.is_date or column.missing or not column.different.exceeds(_FEWEST_REPEATED - 1):
        return False
    firsts = column.values[np.flatnonzero(column.values[1:] != column.values[:-1]) + 1]
    if len(firsts) + 1 != column.distinct:
        return False
    steps = firsts[1:] > firsts[:-1]
    if column.kind == "number" and np.all(np.diff(firsts) == 1):
        return True
    return is_numbered(column) or not (steps.all() or not steps.any())


def _are_even(column: Column, known: int) -> bool:
    """Return whether no value has far fewer rows than the average one; the last may be cut off."""
    counts = {**column.counts, column.values[-1]: known}
    least = min(rows for value, rows in counts.items() if value is not None)
    return least >= _LEAST_OF_MEAN * known / column.distinct


def _are_numbers_of_things(column: Column, known: int) -> bool:
    """Return whether a column has very many numbers of one word and width: K00001, K01382.

    A code of so many levels, of which each has a few rows, identifies things.
    """
    most = known / _ROWS_OF_NUMBER
    if not _FEWEST_NUMBERS <= column.distinct <= most or not is_numbered(column):
        return False
    is_many = column.distinct * _LEAST_ROWS_EACH >= known
    return is_many and len({len(value) for value in column.counts if value is not None}) == 1


def time_order(table: Table) -> Iterator[Finding]:
    """Report the first column of dates, used or ignored, in whose order the rows are."""
    dates = (column for column in table.columns if column.is_date and not column.missing)
    if table.rows < _FEWEST_NAMED:
        return
    for name, cells in ((column.name, column.values) for column in dates):
        if np.all(np.diff(cells) >= 0) and cells[0] < cells[-1]:
            yield found(TIME_ORDER, name, rows=table.rows)
            return


def _what_it_is(column: Column) -> str:
    cells = column.values[~np.isnan(column.values)] if column.missing else column.values
    whole = column.is_integer()
    if whole and _are_moments(cells):
        return "moments_as_numbers"
    if _rises(cells):
        return "follows_rows"
    is_different = whole and column.distinct == len(cells) and _is_no_chance(cells)
    return "different_in_each_row" if is_different else ""


def _rises(cells: Array) -> bool:
    """Return whether cells rise or fall throughout; the first cells decide in most cases."""
    for part in (cells[:_HEAD], cells):
        above, below = part[:-1], part[1:]
        if not ((above < below).all() or (above > below).all()):
            return False
    return True


def _is_no_chance(cells: Array) -> bool:
    """Return whether random draws from the range would hardly be all distinct."""
    n, reach = len(cells), float(cells.max() - cells.min()) + 1
    return n * (n - 1) / (2 * reach) > -math.log(_BY_CHANCE)


def _are_moments(cells: Array) -> bool:
    low, high = float(cells.min()), float(cells.max())
    if low == high:
        return False
    if any(_SECONDS[0] * unit <= low and high <= _SECONDS[1] * unit for unit in (1, 1000)):
        return True
    if not (_DAYS[0] <= low and high <= _DAYS[1]):
        return False
    months, days = cells // 100 % 100, cells % 100
    return bool(np.all((months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)))
