"""Excel workbooks and OpenDocument spreadsheets, through calamine."""

from __future__ import annotations

import datetime
import functools
import itertools
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.readers.compressed import check_swelling
from aucstudio.project.data.readers.format import ROWS, Advance, ReadOptions, Written
from aucstudio.project.data.readers.rows import RowWriter, same_numbers, same_times
from aucstudio.project.data.readers.sheets import (
    MOST_CODES,
    WIDE,
    about_parts,
    lists_columns,
    pick_part,
)
from aucstudio.project.errors import InputError, input_error

if TYPE_CHECKING:
    import python_calamine

    from aucstudio.project.data.readers.workbook_formatting import Looks

Row = list[Any]
Cell = tuple[int, int]

# Marks a workbook with a password.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_REPORT_EVERY = 5_000
_ERROR = re.compile("Err:5[0-9]{2}")
_LASTING = re.compile("PT([0-9]+)H([0-9]{2})M([0-9]{2}(?:[.][0-9]+)?)S")


def write(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    from aucstudio.project.data.readers.workbook_formatting import columns_never_computed, looks

    book = _open(path)
    names, hidden = _sheet_names(book)
    read: dict[str, tuple[list[Row], list[Finding]]] = {}

    def rows_of(name: str) -> list[Row]:
        if name not in read:
            read.clear()
            never = functools.partial(columns_never_computed, path, name)
            read[name] = _table(book.get_sheet_by_name(name), looks(path, name), never)
        return read[name][0]

    def holds_table(name: str) -> bool:
        rows = rows_of(name)
        return sum(map(any_value, rows)) > 1 and len(rows[0]) > 1

    @functools.cache
    def column_names(name: str) -> set[Any]:
        return set(next((row for row in rows_of(name) if len(set(row) - {""}) > 1), ()))

    def is_aside(name: str) -> bool:
        rows = rows_of(name)
        if name in hidden or len(rows[0]) < WIDE:
            return True
        return len(rows) <= MOST_CODES and any(
            lists_columns(rows, column_names(other)) for other in names if other != name
        )

    name = pick_part(path, "sheet", names, options, holds_table, is_aside)
    report(0.5)
    if not holds_table(name):
        raise input_error("sheet_without_table", file=path, name=name)
    rows = rows_of(name)
    same_times(rows)
    same_numbers(rows)
    lasting = any(isinstance(cell, datetime.timedelta) for row in rows for cell in row)
    with RowWriter(target) as out:
        for count, row in enumerate(rows):
            out.add(row)
            if count % _REPORT_EVERY == 0:
                report(0.5 + 0.5 * count / len(rows))
    return Written(
        known=dict(ROWS),
        remarks=(
            *about_parts("sheet", name, names),
            *([found("format_hours_in_sheet")] if lasting else []),
            *_about_days(rows),
            *read[name][1],
        ),
        part=name,
        parts=tuple(names),
    )


def _open(path: Path) -> python_calamine.CalamineWorkbook:
    import python_calamine

    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
        check_swelling(path, path.stat().st_size, unpacked)
    elif _ENCRYPTED in path.read_bytes():
        raise locked(path)
    try:
        # A file object is recognised by its bytes, a path by its ending.
        with path.open("rb") as file:
            return python_calamine.CalamineWorkbook.from_filelike(file)
    except python_calamine.PasswordError:
        raise locked(path) from None


def locked(path: Path) -> InputError:
    """Return the error for a workbook with a password."""
    return input_error("workbook_locked", file=path)


def _sheet_names(book: python_calamine.CalamineWorkbook) -> tuple[list[str], set[str]]:
    """Return the worksheets, hidden ones last, and the set of hidden ones."""
    import python_calamine as calamine

    sheets = [
        sheet for sheet in book.sheets_metadata if sheet.typ == calamine.SheetTypeEnum.WorkSheet
    ]
    shown = calamine.SheetVisibleEnum.Visible
    hidden = [sheet.name for sheet in sheets if sheet.visible != shown]
    return [s.name for s in sheets if s.visible == shown] + hidden, set(hidden)


def _table(
    sheet: python_calamine.CalamineSheet, shown: Looks, never_computed: Callable[[], set[int]]
) -> tuple[list[Row], list[Finding]]:
    """Return the rows of a sheet without empty columns, and findings about it."""
    rows: list[Row] = sheet.to_python(skip_empty_area=False)
    shown.fill(rows)
    filled = _fill_merged(rows, sheet.merged_cell_ranges or [])
    while rows and not any_value(rows[-1]):
        rows.pop()
    rows = [[_clocked(cell) for cell in row] for row in rows]
    width = max(map(len, rows), default=0)
    remarks = [found("format_merged", cells=filled)] if filled else []
    remarks += [*shown.about(len(rows), width), *_about_formulas(rows, never_computed)]
    used = [k for k in range(width) if any(k < len(row) and row[k] != "" for row in rows)]
    if len(used) < width:
        rows = [[row[k] for k in used] for row in rows]
    return rows, remarks


def _about_formulas(
    rows: Sequence[Row], never_computed: Callable[[], set[int]]
) -> Iterator[Finding]:
    """Report columns that are empty because the values of their formulas are not stored."""
    top = next((k for k, row in enumerate(rows) if sum(cell != "" for cell in row) > 1), 0)
    below = rows[top + 1 :]
    named = enumerate(rows[top] if below else [])
    empty = [k for k, cell in named if cell != "" and all(row[k] == "" for row in below)]
    never = never_computed() if empty else set[int]()
    for k in filter(never.__contains__, empty):
        yield found("format_formulas", str(rows[top][k]))


def _fill_merged(rows: list[Row], ranges: Iterable[tuple[Cell, Cell]]) -> int:
    """Repeat vertically merged cells in all rows, and merged names in all columns."""
    names = next((k for k, row in enumerate(rows) if sum(cell != "" for cell in row) > 1), 0)
    filled, most = 0, sum(map(len, rows))
    for (top, left), (bottom, right) in ranges:
        if top == bottom == names and top + 1 < len(rows):
            across = slice(left, right + 1)
            if all(isinstance(cell, str) and cell for cell in rows[top + 1][across]):
                rows[top][across] = [rows[top][left]] * len(rows[top][across])
        # Other merged cells are titles, or numbers for a whole block.
        if left != right or top <= names or bottom <= top:
            continue
        for row in rows[top + 1 : bottom + 1]:
            if left < len(row) and row[left] == "" and any_value(row):
                row[left] = rows[top][left]
                filled += 1
        if filled > most:
            break
    return filled


def _clocked(cell: Any) -> Any:
    """Write a duration of more than a day like shorter ones; an error becomes empty."""
    if isinstance(cell, str) and _ERROR.fullmatch(cell):
        return ""
    found = _LASTING.fullmatch(cell) if isinstance(cell, str) and cell.startswith("PT") else None
    return cell if found is None else ":".join(found.groups())


def _about_days(rows: Sequence[Row]) -> Iterator[Finding]:
    """Report dates among words: spreadsheets turn MARCH1 and 5-9 into dates."""
    width = max(map(len, rows))
    # Anything may be above the column names.
    full = (k for k, row in enumerate(rows) if 2 * sum(cell != "" for cell in row) >= width)
    top = next(full, 0)
    for name, *column in itertools.zip_longest(*rows[top:], fillvalue=""):
        days = [k for k, cell in enumerate(column, top + 2) if isinstance(cell, datetime.date)]
        words = sum(isinstance(cell, str) and cell != "" for cell in column)
        if days and 2 * words > sum(cell != "" for cell in column):
            yield found("format_days_among_words", str(name), days=len(days), row=days[0])


def any_value(row: Row) -> bool:
    """Return whether a cell of a row has a value."""
    return any(cell != "" for cell in row)
