"""Cells of a small or wide delimited file, read without DuckDB."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.cells import Cells, is_cast, number_cells
from aucstudio.project.data.text.contents import (
    Contents,
    FormatChecks,
    Formats,
    Source,
    check_rejected,
    some_numbers,
)
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import BLANKS, NumberCells, NumberFormat, are_plain
from aucstudio.project.data.text.rows import RowCounter, walk_rows
from aucstudio.project.data.text.scan import Advance

# The most cells that are held as text.
BLOCK_CELLS = 2_000_000


class SmallReader(FormatChecks):
    """A small or wide delimited file, read without DuckDB in blocks of rows.

    The text of a file of one block is held; a larger file is read again for each change of formats.

    Raises
    ------
    InputError
        If most rows cannot be read.
    """

    def __init__(self, source: Source, progress: Advance = lambda _share: None) -> None:
        self.source, self.numbers = source, {}
        self._progress = progress
        self._columns: dict[int, _Column] = {}
        self._held: list[list[str]] = []
        self._counter = RowCounter()

    def read(self) -> Contents:
        """Read all columns, with the results of the reader of large files."""
        self._load(self.source.forms)
        left_out = self._counter.left_out()
        rows = self._counter.total - left_out.total
        check_rejected(self.source, left_out, rows)
        contents = self._checked(rows, left_out)
        cells = [self._columns[k].cells() for k in self.source.forms]
        return dataclasses.replace(contents, cells=cells)

    def _load(self, forms: Formats) -> None:
        for k, form in forms.items():
            self._columns[k] = _Column(self.source.dialect, form)
            self.numbers[k] = self._columns[k].numbers
        for block in self._blocks():
            if len(forms) == len(self._columns):
                for k, cells in enumerate(zip(*block, strict=True)):
                    self._columns[k].add(cells)
            else:
                for k in forms:
                    self._columns[k].add([row[k] for row in block])

    def _blocks(self) -> Iterator[list[list[str]]]:
        """Yield the rows that are kept; count them the first time."""
        if self._held:
            yield self._held
            return
        rows = self._kept()
        height = max(1, BLOCK_CELLS // len(self.source.names))
        block, more = _take(rows, height), _take(rows, height)
        self._held = block if not more else []
        while block:
            yield block
            block, more = more, _take(rows, height)

    def _kept(self) -> Iterator[list[str]]:
        counter = RowCounter() if self._counter.total else self._counter
        for cells in counter.kept(walk_rows(self.source)):
            self._progress(min(1.0, counter.total / max(self.source.lines, 1)))
            yield cells

    def _known(self, k: int) -> tuple[int, float, list[float]]:
        return some_numbers(self._columns[k].cells().values)

    def _spellings(self, k: int) -> Iterable[str]:
        return (row[k].strip(BLANKS) for block in self._blocks() for row in block)


def _take(rows: Iterator[list[str]], height: int) -> list[list[str]]:
    return [*itertools.islice(rows, height)]


class _Column:
    """A column that is read in blocks, as numbers or as texts."""

    def __init__(self, dialect: Dialect, form: NumberFormat | None) -> None:
        self._form, self._words = form, dialect.text_words
        self.numbers = NumberCells(form or NumberFormat(), dialect.number_words)
        form = self.numbers.form
        self._is_plain = form.decimal == "." and is_cast(form, dialect.number_words)
        self._blocks: list[NDArray[np.float64]] = [np.empty(0)]
        self._texts: list[str | None] = []
        self._same: dict[str, str] = {}

    def add(self, cells: Sequence[str]) -> None:
        if self._form is not None:
            is_plain = self._is_plain and are_plain(cells)
            read: Callable[[str], float] = float if is_plain else self.numbers.read
            self._blocks.append(np.fromiter(map(read, cells), dtype=np.float64, count=len(cells)))
            return
        bare = (cell.strip(BLANKS) for cell in cells)
        self._texts += [
            None if cell.lower() in self._words else self._same.setdefault(cell, cell)
            for cell in bare
        ]

    def cells(self) -> Cells:
        """Return the cells."""
        if self._form is not None:
            self._blocks = [np.concatenate(self._blocks)]
            return number_cells(self._blocks[0])
        values = np.empty(len(self._texts), dtype=object)
        values[:] = self._texts
        return Cells(values, self._texts.count(None), len(self._same))
