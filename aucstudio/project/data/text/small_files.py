"""Tables of few rows, and wide ones, read without DuckDB: it takes milliseconds for each column.

Of a large file some columns are read at a time, and the file once for each part.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator

import numpy as np

from aucstudio.project.data.gathering import Cells, number_cells
from aucstudio.project.data.text.cell_sql import is_cast
from aucstudio.project.data.text.column_types import CODE, holds_codes, stray_of, type_of
from aucstudio.project.data.text.contents import Contents, Formats
from aucstudio.project.data.text.missing import BLANKS, is_missing_number
from aucstudio.project.data.text.number_cells import NumberCells
from aucstudio.project.data.text.numerals import NumberFormat, are_plain
from aucstudio.project.data.text.rejects import LeftOut, Source, check_rejected
from aucstudio.project.data.text.rows import Gathered, judged_rows
from aucstudio.project.data.text.scan import Advance
from aucstudio.project.data.text.wide import picking, read_wide

_MOST_ROWS, _MOST_BYTES = 2_000, 1 << 26
# From so many columns on DuckDB would have to read the file too often.
_WIDE = 2_500
# With so many of plain numbers among them they are read by rows.
_NEARLY_ALL = 0.9


def is_small(text: str, whole: bool, size: int, columns: int) -> bool:
    """Return whether a file is short or wide, judging by its first lines.

    Parameters
    ----------
    text : str
        The first lines.
    whole : bool
        Whether there are no more.
    size : int
        Bytes of the file.
    columns : int
    """
    rows = size / max(1, len(text)) * text.count("\n")
    return whole or columns >= _WIDE or (size <= _MOST_BYTES and rows <= _MOST_ROWS)


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
        gathered, pick = Gathered(), picking(part)
        rows = [pick(row.cells) for row in judged_rows(source) if gathered.keeps(row)]
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
    is_wide = len(forms) >= _WIDE and len(plain) >= _NEARLY_ALL * len(forms)
    return plain if is_wide else {}


def _parts(source: Source, columns: list[int]) -> Iterator[list[int]]:
    """Cut columns into parts whose cells are no more than is held at a time."""
    share = len(columns) / len(source.names)
    count = -(-share * source.path.stat().st_size // _MOST_BYTES)
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
