"""Wide tables of numbers: read a row at a time, while its cells are at hand.

A column's cells lie all over the memory: to read them column by column takes several times as long.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.text.numerals import NumberFormat, are_plain, read_number
from aucstudio.project.data.text.rejects import LeftOut, Source
from aucstudio.project.data.text.rows import Gathered, judged_rows
from aucstudio.project.data.text.scan import Advance

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
    gathered, texts = Gathered(), []
    for row in judged_rows(source):
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
