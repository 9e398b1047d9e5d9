"""Read small and wide tables without DuckDB.

Rows are read in blocks. Of a table of several blocks only the values are kept; a column whose cells
do not fit its format is read once more as text.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.cells import Cells, number_cells
from aucstudio.project.data.text.cell_sql import is_cast
from aucstudio.project.data.text.column_types import CODE, holds_codes, stray_of, type_of
from aucstudio.project.data.text.contents import Contents, Formats, Source, check_rejected
from aucstudio.project.data.text.numerals import (
    BLANKS,
    NumberCells,
    NumberFormat,
    are_plain,
    is_missing_number,
)
from aucstudio.project.data.text.rows import RowCounter, walk_rows
from aucstudio.project.data.text.scan import Advance

Array = NDArray[np.float64]
Column = Sequence[str]

# The most cells that are held as text.
BLOCK_CELLS = 2_000_000


def read_small(
    source: Source,
    forms: Formats,
    fixed: frozenset[int] = frozenset(),
    progress: Advance = lambda _share: None,
) -> Contents:
    """Read all columns, with the results of the reader of large files.

    Raises
    ------
    InputError
        If most rows cannot be read.
    """
    counter = RowCounter()
    kept = _kept_cells(source, counter, progress)
    height = max(1, BLOCK_CELLS // len(forms))
    block = _take(kept, height)
    rows, more = len(block), _take(kept, height)
    columns: dict[int, _Numbers | _Texts] = {}
    if more:
        for k, form in forms.items():
            columns[k] = _Texts(source) if form is None else _Numbers(source, form)
        while block:
            for k, column in enumerate(zip(*block, strict=True)):
                columns[k].add(column)
            block, more = more, _take(kept, height)
            rows += len(block)
    left_out = counter.left_out()
    check_rejected(source, left_out, rows)
    found = Contents(rows, dict(forms), {}, left_out)
    cells = {k: one.finished(found, k, fixed) for k, one in columns.items()}
    again = [k for k in forms if cells.get(k) is None]
    held = _texts(source, again, rows) if columns else _columns(block, again)
    for k, texts in held:
        cells[k] = _read_column(source, found, k, texts, is_fixed=k in fixed)
    found.cells.extend(one for k in forms if (one := cells[k]) is not None)
    return found


def _kept_cells(source: Source, counter: RowCounter, progress: Advance) -> Iterator[list[str]]:
    for row in walk_rows(source):
        if counter.keeps(row):
            yield row.cells
        progress(min(1.0, counter.total / max(source.lines, 1)))


def _take(rows: Iterator[list[str]], height: int) -> list[list[str]]:
    return [*itertools.islice(rows, height)]


def _columns(block: list[list[str]], columns: Sequence[int]) -> Iterator[tuple[int, Column]]:
    return zip(columns, zip(*block, strict=True) if block else ((),) * len(columns), strict=True)


def _texts(source: Source, columns: list[int], rows: int) -> Iterator[tuple[int, Column]]:
    """Yield some columns as text; the file is read for as many columns at a time as may be held."""
    width = max(1, BLOCK_CELLS // max(1, rows))
    for start in range(0, len(columns), width):
        part = columns[start : start + width]
        kept = (row.cells for row in walk_rows(source) if not row.reason)
        yield from _columns([[cells[k] for k in part] for cells in kept], part)


class _Numbers:
    """A column of numbers that is read in blocks."""

    def __init__(self, source: Source, form: NumberFormat) -> None:
        self._words = source.dialect.number_words
        self._is_plain = _is_plain(form, self._words)
        self._cells, self._has_codes = NumberCells(form, self._words), False
        self._blocks: list[Array] = []

    def add(self, cells: Column) -> None:
        is_plain = self._is_plain and are_plain(cells)
        self._has_codes = self._has_codes or (
            not is_plain and any(CODE.match(c.strip(BLANKS)) for c in cells)
        )
        read: Callable[[str], float] = float if is_plain else self._cells.read
        self._blocks.append(np.fromiter(map(read, cells), dtype=np.float64, count=len(cells)))

    def finished(self, found: Contents, k: int, fixed: frozenset[int]) -> Cells | None:
        """Return the cells; None if the format does not fit them."""
        others = self._cells.others
        if k not in fixed and (self._has_codes or not self._cells.form.matches_all(others)):
            return None
        if others:
            found.others[k] = self._cells.listed()
        return number_cells(np.concatenate(self._blocks))


class _Texts:
    """A column of text that is read in blocks."""

    def __init__(self, source: Source) -> None:
        self._source, self._same = source, dict[str, str]()
        self._cells: list[str | None] = []

    def add(self, cells: Column) -> None:
        words, same = self._source.dialect.text_words, self._same
        bare = (cell.strip(BLANKS) for cell in cells)
        self._cells += [
            None if cell.lower() in words else same.setdefault(cell, cell) for cell in bare
        ]

    def finished(self, _found: Contents, _k: int, _fixed: frozenset[int]) -> Cells:
        """Return the cells."""
        values = np.empty(len(self._cells), dtype=object)
        values[:] = self._cells
        return Cells(values, self._cells.count(None), len(self._same))


def _read_column(
    source: Source, found: Contents, k: int, column: Column, *, is_fixed: bool
) -> Cells:
    """Read a column whose cells are held as text; its format may change."""
    words, decimal, form = source.dialect.number_words, source.dialect.decimal, found.forms[k]
    if form is not None and _is_plain(form, words) and are_plain(column):
        return number_cells(np.array([*map(float, column)], dtype=np.float64))
    if form is None:
        texts = _Texts(source)
        texts.add(column)
        return texts.finished(found, k, frozenset())
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
            found.forms[k], found.strays[k] = None, next(filter(CODE.fullmatch, known), known[0])
        if found.forms[k] != form:
            return _read_column(source, found, k, column, is_fixed=True)
    if cells.others:
        found.others[k] = cells.listed()
    return number_cells(np.array(values, dtype=np.float64))


def _is_plain(form: NumberFormat, words: frozenset[str]) -> bool:
    return form.decimal == "." and is_cast(form, words)
