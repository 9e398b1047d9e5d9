"""Copy or save rows as CSV."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.columns import Column, spell_cell
from aucstudio.project.store.files import written_atomically
from aucstudio.project.store.sheets import write_rows

Rows = NDArray[np.intp]

ROW = "row"
_WINDOW = 2_000


def as_text(columns: Sequence[Column], rows: Rows, tell: Callable[[float], object]) -> str:
    """Write cells with column names, separated by tabs; a single cell alone."""
    sheet = io.StringIO()
    if len(columns) > 1 or len(rows) > 1:
        write_rows(sheet, [[column.name for column in columns]], "\t")
    for part in _parts(columns, rows, tell):
        write_rows(sheet, part, "\t")
    text = sheet.getvalue()
    return text if len(columns) > 1 or len(rows) > 1 else text.rstrip("\n")


def save_rows(
    path: Path,
    columns: Sequence[Column],
    rows: Rows,
    numbers: NDArray[np.int64],
    tell: Callable[[float], object],
) -> None:
    """Write rows as CSV; the first column is the number of the data row in the file.

    Parameters
    ----------
    path : Path
    columns : sequence of Column
    rows : ndarray of int
    numbers : ndarray of int
        Of all rows of the table.
    tell : callable
        Receives the fraction done; may raise, and the previous file stays.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    taken = {column.name for column in columns}
    name = next(name for k in range(len(taken) + 1) if (name := ROW + "_" * k) not in taken)
    with written_atomically(path) as file:
        sheet = codecs.getwriter("utf-8")(file)
        write_rows(sheet, [[name, *(column.name for column in columns)]])
        start = 0
        for part in _parts(columns, rows, tell):
            lines = [[int(numbers[rows[start + k]]), *line] for k, line in enumerate(part)]
            write_rows(sheet, lines)
            start += len(lines)


def _parts(
    columns: Sequence[Column], rows: Rows, tell: Callable[[float], object]
) -> Iterator[list[tuple[object, ...]]]:
    for start in range(0, len(rows), _WINDOW):
        tell(start / len(rows))
        part = rows[start : start + _WINDOW]
        yield list(zip(*(_cells(column, part) for column in columns), strict=True))


def _cells(column: Column, rows: Rows) -> list[object]:
    cells: list[object] = column.values[rows].tolist()
    if not column.is_date:
        return cells
    return [spell_cell(column, c) if isinstance(c, float) and c == c else c for c in cells]
