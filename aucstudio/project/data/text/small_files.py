"""Read small and wide tables without DuckDB.

Of a large file some columns are read at a time, and the file once for each part. Wide tables of
plain numbers are read a row at a time, while its cells are at hand.
"""

from __future__ import annotations

import collections
import dataclasses
import operator
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.column_builder import Cells, number_cells
from aucstudio.project.data.text.cell_sql import is_cast
from aucstudio.project.data.text.column_types import CODE, holds_codes, stray_of, type_of
from aucstudio.project.data.text.contents import (
    MOST_BYTES,
    WIDE,
    Contents,
    Formats,
    LeftOut,
    Source,
    check_rejected,
)
from aucstudio.project.data.text.encoding import Advance
from aucstudio.project.data.text.numerals import (
    BLANKS,
    NumberCells,
    NumberFormat,
    are_plain,
    is_missing_number,
    read_number,
)
from aucstudio.project.data.text.rows import RowCounter, walk_rows

Array = NDArray[np.float64]
Pick = Callable[[Sequence[str]], tuple[str, ...]]

_PIECE = 256  # cells that are read one by one where one of them is no plain number
_BLOCK = 64  # rows that are turned into columns at once


@dataclasses.dataclass(frozen=True, eq=False)
class WideRows:
    """What was read of a table.

    Attributes
    ----------
    left_out : LeftOut
    rows : int
    numbers : dict of int to ndarray
        By column; without those in which a cell is neither a number nor missing.
    texts : dict of int to tuple of str
        The cells of all columns that are not of plain numbers.
    """

    left_out: LeftOut
    rows: int
    numbers: dict[int, Array]
    texts: dict[int, tuple[str, ...]]


def read_wide(
    source: Source,
    forms: dict[int, NumberFormat],
    tell: Advance,
) -> WideRows:
    """Read a table by rows.

    Parameters
    ----------
    source : Source
    forms : dict of int to NumberFormat
        Of the columns of plain numbers, most of all.
    tell : callable
        Told the share done; may raise to stop.
    """
    others = [k for k in range(len(source.names)) if k not in forms]
    numbers_of, texts_of = picking([*forms]), picking(others)
    reader = _RowReader(forms, source.dialect.number_words)
    gathered, texts = RowCounter(), []
    for row in walk_rows(source):
        if gathered.keeps(row):
            reader.read(numbers_of(row.cells))
            texts.append(texts_of(row.cells))
        tell(min(1.0, gathered.total / max(source.lines, 1)))
    columns = zip(*texts, strict=True) if texts else ((),) * len(others)
    numbers = reader.columns()
    rows = len(texts)
    return WideRows(gathered.left_out(), rows, numbers, dict(zip(others, columns, strict=True)))


def picking(columns: list[int]) -> Pick:
    """Return what takes some cells out of a row."""
    if len(columns) > 1:
        return operator.itemgetter(*columns)
    return lambda cells: tuple(cells[k] for k in columns)


class _RowReader:
    """Rows of numbers in the making."""

    def __init__(self, forms: dict[int, NumberFormat], words: frozenset[str]) -> None:
        self._forms, self._words = [*forms.items()], words
        self._strange: set[int] = set()
        self._rows: list[Array] = []

    def read(self, cells: tuple[str, ...]) -> None:
        """Add a row."""
        if are_plain(cells):
            values = [*map(float, cells)]
        else:
            values = []
            for start in range(0, len(cells), _PIECE):
                values += self._piece(start, cells[start : start + _PIECE])
        self._rows.append(np.array(values, dtype=np.float64))

    def _piece(self, start: int, cells: tuple[str, ...]) -> list[float]:
        if are_plain(cells):
            return [*map(float, cells)]
        forms = self._forms[start : start + len(cells)]
        return [self._number(k, form, cell) for (k, form), cell in zip(forms, cells, strict=True)]

    def _number(self, k: int, form: NumberFormat, cell: str) -> float:
        value = read_number(form, self._words, cell)
        if np.isinf(value):
            self._strange.add(k)
        return value

    def columns(self) -> dict[int, Array]:
        """Return the columns that hold numbers alone, each in one piece; the rows are let go."""
        rows, table = self._rows, np.empty((len(self._forms), len(self._rows)))
        for start in range(0, len(rows), _BLOCK):
            table[:, start : start + _BLOCK] = np.array(rows[start : start + _BLOCK]).T
            rows[start : start + _BLOCK] = [np.empty(0)] * len(rows[start : start + _BLOCK])
        named = zip(self._forms, table, strict=True)
        return {k: column for (k, _), column in named if k not in self._strange}


# With so many of plain numbers among them they are read by rows.
_NEARLY_ALL = 0.9


def read_small(
    source: Source,
    forms: Formats,
    fixed: frozenset[int] = frozenset(),
    tell: Advance = lambda _share: None,
) -> Contents:
    """Read all columns, as the reader of large files does.

    Raises
    ------
    InputError
        As the reader does.
    """
    found: Contents | None = None
    cells: dict[int, Cells] = {}
    columns = [*range(len(forms))]
    if plain := _mostly_plain(source, forms):
        wide = read_wide(source, plain, tell)
        found = _contents(source, forms, wide.left_out, wide.rows)
        cells = {k: number_cells(values) for k, values in wide.numbers.items()}
        for k, column in wide.texts.items():
            cells[k] = _read_column(source, found, k, column, is_fixed=k in fixed)
        columns = [k for k in columns if k not in cells]
    for part in _parts(source, columns):
        gathered, pick = RowCounter(), picking(part)
        rows = [pick(row.cells) for row in walk_rows(source) if gathered.keeps(row)]
        if found is None:
            found = _contents(source, forms, gathered.left_out(), len(rows))
        read = zip(*rows, strict=True) if rows else ((),) * len(part)
        for k, column in zip(part, read, strict=True):
            cells[k] = _read_column(source, found, k, column, is_fixed=k in fixed)
            tell(k / len(forms))
    assert found is not None
    found.cells.extend(cells[k] for k in range(len(forms)))
    return found


def _mostly_plain(source: Source, forms: Formats) -> dict[int, NumberFormat]:
    """Return the columns of plain numbers of a wide table, if nearly all are; else none."""
    words = source.dialect.number_words
    plain = {k: form for k, form in forms.items() if form is not None and _is_plain(form, words)}
    is_wide = len(forms) >= WIDE and len(plain) >= _NEARLY_ALL * len(forms)
    return plain if is_wide else {}


def _parts(source: Source, columns: list[int]) -> Iterator[list[int]]:
    """Cut columns into parts whose cells are no more than is held at a time."""
    share = len(columns) / len(source.names)
    count = -(-share * source.path.stat().st_size // MOST_BYTES)
    height = -(-len(columns) // max(1, int(count)))
    return (columns[start : start + height] for start in range(0, len(columns), max(1, height)))


def _contents(source: Source, forms: Formats, left_out: LeftOut, rows: int) -> Contents:
    check_rejected(source, left_out, rows)
    return Contents(rows, dict(forms), {}, left_out)


def _read_column(
    source: Source, found: Contents, k: int, column: tuple[str, ...], *, is_fixed: bool
) -> Cells:
    words, decimal, form = source.dialect.number_words, source.dialect.decimal, found.forms[k]
    if _is_plain(form, words) and are_plain(column):
        return number_cells(np.array([*map(float, column)], dtype=np.float64))
    if form is None:
        return _text(source, column)
    cells = NumberCells(form, words)
    values = [*map(cells.read, column)]
    if not is_fixed:
        known = [cell.strip(BLANKS) for cell in column]
        known = [cell for cell in known if not is_missing_number(cell, words)]
        if not form.matches_all(cells.others):
            found.forms[k] = type_of(collections.Counter(known), decimal, form)
            if found.forms[k] is None:
                found.strays[k] = stray_of(known, decimal)
        elif is_cast(form, words) and holds_codes(known, words):
            found.forms[k], found.strays[k] = None, next(filter(CODE.fullmatch, known))
        if found.forms[k] != form:
            return _read_column(source, found, k, column, is_fixed=True)
    if cells.others:
        found.others[k] = cells.listed()
    return number_cells(np.array(values, dtype=np.float64))


def _is_plain(form: NumberFormat | None, words: frozenset[str]) -> bool:
    return form is not None and form.decimal == "." and is_cast(form, words)


def _text(source: Source, column: tuple[str, ...]) -> Cells:
    words, same = source.dialect.text_words, dict[str, str]()
    cells = [cell.strip(BLANKS) for cell in column]
    texts = [None if cell.lower() in words else same.setdefault(cell, cell) for cell in cells]
    values = np.empty(len(texts), dtype=object)
    values[:] = texts
    return Cells(values, len(texts) - sum(text is not None for text in texts), len(same))
