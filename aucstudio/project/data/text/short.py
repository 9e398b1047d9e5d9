"""Tables of few rows, and wide ones, read without DuckDB: it takes milliseconds for each column.

Of a large file some columns are read at a time, and the file once for each part.
"""

from __future__ import annotations

import collections
import functools
import re
from collections.abc import Iterator, Sequence

import numpy as np

from aucstudio.project.data.gathering import Cells, number_cells
from aucstudio.project.data.text.codes import CODE
from aucstudio.project.data.text.contents import Contents, Formats
from aucstudio.project.data.text.csv_cells import SPELLINGS
from aucstudio.project.data.text.numerals import (
    BLANKS,
    NumberFormat,
    is_missing_number,
    is_quick,
)
from aucstudio.project.data.text.rejects import LeftOut, Source, check_rejected
from aucstudio.project.data.text.rows import Gathered, judged_rows
from aucstudio.project.data.text.scan import Advance
from aucstudio.project.data.text.settle import holds_codes, settle, tries
from aucstudio.project.data.text.wide import picking, read_wide

_MOST_ROWS, _MOST_BYTES = 2_000, 1 << 26
# From so many columns on DuckDB would have to read the file too often.
_WIDE = 2_500
# With so many of plain numbers among them they are read by rows.
_NEARLY_ALL = 0.9
# Numbers that are written so, one a line, are read as they stand.
_PLAIN = re.compile(r"\n(?:-?[0-9]{1,15}(?:\.[0-9]+)?\n)*+")
# Unless they may be codes.
_HAS_ZEROS = re.compile("\n0[0-9]{2}")


def is_short(text: str, whole: bool, size: int, columns: int) -> bool:
    """Tell whether a file is short or wide, judging by its first lines.

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


def read_short(
    source: Source,
    forms: Formats,
    fixed: frozenset[int] = frozenset(),
    tell: Advance = lambda _share: None,
) -> Contents:
    """Read all columns, as :meth:`~aucstudio.project.data.text.reader.Reader.read` does.

    Raises
    ------
    InputError
        As the reader does.
    """
    found: Contents | None = None
    cells: dict[int, Cells] = {}
    columns = [*range(len(forms))]
    if plain := _mostly_plain(source, forms):
        wide = read_wide(source, plain, _are_plain, tell)
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
    """Give the columns of plain numbers of a wide table, if nearly all are; else none."""
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
    others = left_out.others(rows)
    astray = left_out.astray
    return Contents([], dict(forms), {}, left_out.listed, left_out.total, others, astray=astray)


def _read_column(
    source: Source, found: Contents, k: int, column: tuple[str, ...], *, is_fixed: bool
) -> Cells:
    words, form = source.dialect.number_words, found.forms[k]
    if _is_plain(form, words) and _are_plain(column):
        return number_cells(np.array([*map(float, column)], dtype=np.float64))
    cells = [cell.strip(BLANKS) for cell in column]
    fits = False
    if form is not None:
        known = [cell for cell in cells if not is_missing_number(cell, words)]
        fits = form.matches_all(known)
        if not (fits or is_fixed):
            form = settle(collections.Counter(known), source.dialect.decimal, form)
            fits = form is not None and form.matches_all(known)
            if form is None:
                found.strays[k] = _stray(source, cells)
        elif not is_fixed and not (form.layout or form.dressed) and holds_codes(known, words):
            form, found.strays[k] = None, next(filter(CODE.fullmatch, known))
    found.forms[k] = form
    if form is None:
        return _text(source, cells)
    read = form.read if fits else functools.partial(_number, form)
    values = [np.nan if cell.lower() in words else read(cell) for cell in cells]
    numbers = np.array(values, dtype=np.float64)
    if np.isinf(numbers).any():
        found.others[k] = _others(source, form, cells)
    return number_cells(numbers)


def _is_plain(form: NumberFormat | None, words: frozenset[str]) -> bool:
    return form is not None and form.decimal == "." and is_quick(form, words)


def _are_plain(column: Sequence[str]) -> bool:
    # One text takes half the time of as many cells; a cell with a line end is not two of them.
    lines = "\n".join(("", *column, ""))
    if lines.count("\n") != len(column) + 1 or _HAS_ZEROS.search(lines):
        return False
    return _PLAIN.fullmatch(lines) is not None


def _stray(source: Source, cells: list[str]) -> str:
    """Give a cell that is no number in whatever format."""
    words, forms = source.dialect.number_words, tries([], source.dialect.decimal)
    known = (cell for cell in cells if not is_missing_number(cell, words))
    return max((c for c in known if not any(form.matches(c) for form in forms)), default="")


def _number(form: NumberFormat, cell: str) -> float:
    return form.read(cell) if form.matches(cell) else np.inf


def _others(source: Source, form: NumberFormat, cells: list[str]) -> tuple[tuple[str, int], ...]:
    words = source.dialect.number_words
    counted = collections.Counter(
        cell
        for cell in cells
        if not is_missing_number(cell, words)
        and not (form.matches(cell) and np.isfinite(form.read(cell)))
    )
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:SPELLINGS])


def _text(source: Source, cells: list[str]) -> Cells:
    words, same = source.dialect.text_words, dict[str, str]()
    texts = [None if cell.lower() in words else same.setdefault(cell, cell) for cell in cells]
    values = np.empty(len(texts), dtype=object)
    values[:] = texts
    return Cells(values, len(texts) - sum(text is not None for text in texts), len(same))
