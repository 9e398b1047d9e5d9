"""Tables of few rows, however wide, read without DuckDB: it takes milliseconds for each column."""

from __future__ import annotations

import collections
import functools

import numpy as np

from aucstudio.project.data.gathering import Cells, number_cells
from aucstudio.project.data.text.numerals import BLANKS, NumberFormat, is_missing_number
from aucstudio.project.data.text.reader import SPELLINGS, Contents, Formats, check_rejected
from aucstudio.project.data.text.rejects import Source
from aucstudio.project.data.text.rows import Gathered, judged_rows
from aucstudio.project.data.text.settle import settle, tries

_MOST_ROWS, _MOST_BYTES = 2_000, 1 << 26


def is_short(text: str, whole: bool, size: int) -> bool:
    """Tell whether a file is short, judging by its first lines.

    Parameters
    ----------
    text : str
        The first lines.
    whole : bool
        Whether there are no more.
    size : int
        Bytes of the file.
    """
    rows = size / max(1, len(text)) * text.count("\n")
    return whole or (size <= _MOST_BYTES and rows <= _MOST_ROWS)


def read_short(source: Source, forms: Formats, fixed: frozenset[int] = frozenset()) -> Contents:
    """Read all columns, as :meth:`~aucstudio.project.data.text.reader.Reader.read` does.

    Raises
    ------
    InputError
        As the reader does.
    """
    gathered = Gathered()
    rows = [row.cells for row in judged_rows(source) if gathered.keeps(row)]
    left_out = gathered.left_out()
    check_rejected(source, left_out, len(rows))
    found = Contents(
        [],
        dict(forms),
        {},
        left_out.listed,
        left_out.total,
        left_out.others(len(rows)),
        astray=left_out.astray,
    )
    columns = zip(*rows, strict=True) if rows else ((),) * len(forms)
    for k, column in enumerate(columns):
        stripped = [cell.strip(BLANKS) for cell in column]
        _read_column(source, found, k, stripped, is_fixed=k in fixed)
    return found


def _read_column(
    source: Source, found: Contents, k: int, cells: list[str], *, is_fixed: bool
) -> None:
    words, form = source.dialect.number_words, found.forms[k]
    fits = False
    if form is not None:
        known = [cell for cell in cells if not is_missing_number(cell, words)]
        fits = form.matches_all(known)
        if not (fits or is_fixed):
            form = settle(collections.Counter(known), source.dialect.decimal, form)
            fits = form is not None and form.matches_all(known)
            if form is None:
                found.strays[k] = _stray(source, cells)
    found.forms[k] = form
    if form is None:
        found.cells.append(_text(source, cells))
        return
    read = form.read if fits else functools.partial(_number, form)
    values = [np.nan if cell.lower() in words else read(cell) for cell in cells]
    found.cells.append(number_cells(np.array(values, dtype=np.float64)))
    if np.isinf(found.cells[k].values).any():
        found.others[k] = _others(source, form, cells)


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
