"""Sparse rows of ARFF files."""

from __future__ import annotations

import collections
import functools
from array import array
from collections.abc import Iterable, Mapping

import numpy as np
import scipy

from aucstudio.project.data.readers.arff_syntax import Attribute, Header
from aucstudio.project.data.readers.sparse_file import MOST_FILLED, SparseFile
from aucstudio.project.data.text.contents import Unreadable
from aucstudio.project.data.text.numerals import (
    BLANKS,
    MISSING_NUMBER,
    MISSING_TEXT,
    NumberFormat,
    read_number,
)

_MOST_SPELLINGS = 20
_REMEMBERED = 100_000
_PLAIN = NumberFormat()


@functools.lru_cache(_REMEMBERED)
def _read(cell: str) -> float:
    return read_number(_PLAIN, MISSING_NUMBER, cell)


class Gathering:
    """Sparse rows such as ``{1 3.5, 4 yes}``: omitted cells are zero or the first level.

    Parameters
    ----------
    header : Header
    weight : tuple of str
        The weight column, if any.
    """

    def __init__(self, header: Header, weight: tuple[str, ...]) -> None:
        self._attributes, self.weight = header.attributes, weight
        self._texts = {
            k: _Levels(attribute)
            for k, attribute in enumerate(header.attributes)
            if attribute.kind != "number"
        }
        numbers = [k for k in range(len(header.attributes)) if k not in self._texts]
        self._place = {k: place for place, k in enumerate(numbers)}
        self._data, self._indices, self._ends = array("d"), array("i"), array("q", [0])
        self._weights = array("d")
        self._odd: dict[int, collections.Counter[str]] = {}
        self._first: dict[int, tuple[str, int]] = {}

    @staticmethod
    def takes(header: Header, kinds: Mapping[str, str]) -> bool:
        """Return whether rows of these attributes can be gathered.

        Dates are read from text, and so are columns whose kind differs from that of the training
        table, given by ``kinds``.
        """
        numbers = [a for a in header.attributes if a.kind == "number"]
        as_before = all(
            kinds.get(a.name, kind) == kind
            for a in header.attributes
            for kind in ["number" if a.kind == "number" else "text"]
        )
        return bool(numbers) and as_before and all(a.kind != "date" for a in header.attributes)

    def add(self, line: int, pairs: Iterable[tuple[int, str]], weight: str) -> None:
        """Add a row: attributes, counted from 0, and their cells."""
        row = len(self._ends) - 1
        cells: dict[int, float] = {}
        for k, cell in pairs:
            if k in self._texts:
                self._texts[k].add(row, cell)
            else:
                cells[self._place[k]] = self._number(k, cell, line)
        self._indices.extend(cells)
        self._data.extend(cells.values())
        self._ends.append(len(self._data))
        self._weights.append(float(weight))

    def _number(self, k: int, cell: str, line: int) -> float:
        value = _read(cell)
        if abs(value) == float("inf"):
            self._odd.setdefault(k, collections.Counter())[cell] += 1
            self._first.setdefault(k, (cell, line))
            return float("nan")
        return value

    @property
    def is_sparse(self) -> bool:
        """Whether there are rows, and few cells are not zero."""
        rows = len(self._ends) - 1
        return rows > 0 and len(self._data) <= MOST_FILLED * rows * len(self._place)

    def file(self) -> SparseFile:
        """Return the table."""
        rows, names = len(self._ends) - 1, [a.name for a in self._attributes]
        parts = (np.array(self._data), np.array(self._indices), np.array(self._ends))
        return SparseFile(
            names=[*names, *self.weight],
            features=[names[k] for k in self._place],
            matrix=scipy.sparse.csr_array(parts, shape=(rows, len(self._place))),
            numbers={name: np.array(self._weights) for name in self.weight},
            texts={names[k]: levels.cells(rows) for k, levels in self._texts.items()},
            unreadable={
                names[k]: Unreadable(
                    sum(counted.values()),
                    *self._first[k],
                    tuple(counted.most_common(_MOST_SPELLINGS)),
                )
                for k, counted in self._odd.items()
            },
        )


class _Levels:
    """A column of text; only given cells are stored."""

    def __init__(self, attribute: Attribute) -> None:
        # An omitted text is "0", as in dense rows.
        self._usual = attribute.levels[0] if attribute.levels else "0"
        self._codes: dict[str, int] = {self._usual: 0}
        self._rows, self._given = array("q"), array("i")

    def add(self, row: int, cell: str) -> None:
        self._rows.append(row)
        self._given.append(self._codes.setdefault(cell, len(self._codes)))

    def cells(self, rows: int) -> tuple[tuple[str | None, ...], np.ndarray]:
        codes = np.zeros(rows, dtype=np.int32)
        codes[np.array(self._rows)] = np.array(self._given)
        levels = (cell.strip(BLANKS) for cell in self._codes)
        return tuple(None if cell.lower() in MISSING_TEXT else cell for cell in levels), codes
