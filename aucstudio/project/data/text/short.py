"""Tables of few rows, however wide, read without DuckDB: it takes milliseconds for each column.

What a row and a quoted cell is, is decided as DuckDB does; a file with anything that could be
understood in two ways is left to it.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import re
from collections.abc import Iterator, Sequence

import numpy as np

from aucstudio.project.data.cells import Cells, number_cells
from aucstudio.project.data.text.numerals import (
    BLANKS,
    MISSING_TEXT,
    NumberFormat,
    formats,
    is_missing_number,
)
from aucstudio.project.data.text.reader import Contents, Formats, check_rejected
from aucstudio.project.data.text.rejects import (
    MAX_REJECTED,
    Rejected,
    Source,
    cells_instead,
    infinite_value,
)

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


def read_short(
    source: Source, forms: Formats, fixed: frozenset[int] = frozenset()
) -> Contents | None:
    """Read all columns, as :meth:`~aucstudio.project.data.text.reader.Reader.read` does.

    Returns
    -------
    Contents or None
        None if the file has to be left to DuckDB.

    Raises
    ------
    InputError
        As the reader does.
    """
    try:
        kept, rejected = _rows(source)
    except _UnclearError:
        return None
    check_rejected(source, rejected[:MAX_REJECTED], len(rejected), len(kept.cells))
    settled, strays, cells = dict(forms), dict[int, str](), list[Cells]()
    columns = zip(*kept.cells, strict=True) if kept.cells else ((),) * len(forms)
    for k, column in enumerate(columns):
        stripped = [cell.strip(BLANKS) for cell in column]
        form = forms[k]
        if form is not None and k not in fixed:
            form, misfit = _settled(form, stripped, source.dialect.decimal)
            if form is None:
                strays[k] = misfit
        settled[k] = form
        cells.append(_read(stripped, form, sure=k not in fixed))
        if form is not None and k not in fixed and np.isinf(cells[k].values).any():
            raise infinite_value(source, k, form)
    return Contents(cells, settled, strays, rejected[:MAX_REJECTED], len(rejected), kept.numbers())


class _UnclearError(Exception):
    """A row that DuckDB has to judge."""


@dataclasses.dataclass
class _Kept:
    """The rows that have as many cells as there are columns, and all that were counted."""

    cells: list[Sequence[str]]
    total: int
    left_out: list[int]

    def numbers(self) -> np.ndarray[tuple[int], np.dtype[np.int64]] | None:
        if not self.left_out:
            return None
        return np.delete(np.arange(1, self.total + 1), np.array(self.left_out) - 1)


def _rows(source: Source) -> tuple[_Kept, list[Rejected]]:
    width, kept, rejected = len(source.names), _Kept([], 0, []), list[Rejected]()
    lines = _lines(source)
    if source.dialect.header:
        next(lines, None)
    for line, cells in lines:
        kept.total += 1
        if len(cells) == width + 1 and not cells[-1]:
            cells = cells[:-1]
        if len(cells) == width:
            kept.cells.append(cells)
        else:
            kept.left_out.append(kept.total)
            rejected.append(Rejected(line, cells_instead(len(cells), width), kept.total))
    return kept, rejected


def _lines(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Give the lines that are not blank, cut into cells, with their numbers."""
    dialect = source.dialect
    quote, delimiter = dialect.quote, dialect.delimiter
    text = source.path.read_bytes().decode("utf-8-sig")
    regular = _regular(delimiter, quote) if quote else None
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        if number <= dialect.skip or not line:
            continue
        if regular is None or quote not in line:
            yield number, line.split(delimiter)
        else:
            cells = next(csv.reader([line], delimiter=delimiter, quotechar=quote))
            # Of cells too many DuckDB forgives quoted ones that are empty, sometimes.
            if not regular.fullmatch(line) or not any(cells[len(source.names) :] or [True]):
                raise _UnclearError
            yield number, cells


def _regular(delimiter: str, quote: str) -> re.Pattern[str]:
    """Match a line whose cells are free of quotation marks or wholly inside them."""
    d, q = re.escape(delimiter), re.escape(quote)
    cell = rf"(?:{q}(?:[^{q}]|{q}{q})*+{q}|[^{d}{q}]*+)"
    return re.compile(rf"{cell}(?:{d}{cell})*+")


def _settled(form: NumberFormat, cells: list[str], decimal: str) -> tuple[NumberFormat | None, str]:
    """Find the format of all cells if it is not ``form``; where there is none, a cell to show."""
    known = [cell for cell in cells if not is_missing_number(cell)]
    if form.matches_all(known):
        return form, ""
    tries = formats(decimal)
    fitting = next((other for other in tries if other.matches_all(known)), None)
    misfits = (cell for cell in known if not tries[1].matches(cell))
    return fitting, max(misfits, default="")


def _read(cells: list[str], form: NumberFormat | None, *, sure: bool) -> Cells:
    """Read a column; unless it is sure that its cells are numbers, others are infinite."""
    if form is not None:
        read = form.read if sure else functools.partial(_number, form)
        return number_cells(
            np.array([np.nan if is_missing_number(cell) else read(cell) for cell in cells])
        )
    same: dict[str, str] = {}
    texts = [
        None if cell.lower() in MISSING_TEXT else same.setdefault(cell, cell) for cell in cells
    ]
    values = np.empty(len(texts), dtype=object)
    values[:] = texts
    return Cells(values, len(texts) - sum(text is not None for text in texts), len(same))


def _number(form: NumberFormat, cell: str) -> float:
    return form.read(cell) if form.matches(cell) else np.inf
