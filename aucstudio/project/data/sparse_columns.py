"""Sparse number columns in one block."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index
from aucstudio.engine.cost import largest_memory, machine_memory
from aucstudio.notices.words import bytes_words
from aucstudio.project.data.columns import Column, ColumnInfo, Count, fields_of
from aucstudio.project.errors import input_error

if TYPE_CHECKING:
    from scipy import sparse


MOST_TO_LOOK_AT = 5e8  # bytes
COPIES = 2  # of dense rows: the cells, and the prepared cells


class SparseBlock:
    """Sparse columns of equal height; cells that are not stored are zero.

    Parameters
    ----------
    matrix : CSC matrix of shape (rows, columns)
        Doubles; not copied, explicit zeros are removed.
    """

    def __init__(self, matrix: sparse.csc_array) -> None:
        matrix.eliminate_zeros()
        matrix.sort_indices()
        self.matrix = matrix

    @property
    def height(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    @property
    def stored(self) -> int:
        """Number of cells that are not zero, including missing ones."""
        return int(self.matrix.nnz)

    def cells(self, place: int) -> tuple[Index, Array]:
        """Return rows, in order, and numbers of the cells of a column that are not zero."""
        begin, end = self.matrix.indptr[place : place + 2]
        return self.matrix.indices[begin:end], self.matrix.data[begin:end]

    def part(self, rows: slice) -> SparseBlock:
        """Return some rows."""
        if rows.indices(self.height) == (0, self.height, 1):
            return self
        return SparseBlock(self.matrix[rows].tocsc())

    def columns(self, names: Sequence[str]) -> list[SparseColumn]:
        """Return the columns by name, with counts of missing and distinct cells."""
        data, width = self.matrix.data, self.matrix.shape[1]
        stored = np.diff(self.matrix.indptr)
        of_column = np.repeat(np.arange(width), stored)
        known = ~np.isnan(data)
        missing = np.bincount(of_column[~known], minlength=width)
        data, of_column = data[known], of_column[known]
        order = np.lexsort((data, of_column))
        data, of_column = data[order], of_column[order]
        is_new = np.ones(len(data), dtype=bool)
        is_new[1:] = (data[1:] != data[:-1]) | (of_column[1:] != of_column[:-1])
        distinct = np.bincount(of_column[is_new], minlength=width) + (stored < self.height)
        return [
            SparseColumn(
                name=name,
                role="number",
                kind="number",
                missing=lacking,
                different=Count(values),
                block=self,
                place=place,
            )
            for place, (name, lacking, values) in enumerate(
                zip(names, missing.tolist(), distinct.tolist(), strict=True)
            )
        ]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class SparseColumn(Column):
    """A column of numbers that are mostly zero.

    Attributes
    ----------
    values : ndarray of shape (rows,)
        Computed at each access and not stored: all columns together would be the dense table.
    block : SparseBlock
    place : int
        Index of the column in the block.
    """

    sparse: ClassVar[bool] = True
    values: NDArray[Any] = dataclasses.field(init=False)
    block: SparseBlock
    place: int

    def __getattr__(self, name: str) -> Any:
        if name != "values":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        values = np.zeros(self.height)
        rows, numbers = self.cells
        values[rows] = numbers
        return values

    @property
    def height(self) -> int:
        return self.block.height

    @property
    def cells(self) -> tuple[Index, Array]:
        """Rows, in order, and numbers of the cells that are not zero."""
        return self.block.cells(self.place)

    @property
    def zeros(self) -> int:
        """Number of zero cells."""
        return self.height - len(self.cells[0])

    def at(self, row: int) -> Any:
        rows, numbers = self.cells
        place = int(np.searchsorted(rows, row))
        return numbers[place] if place < len(rows) and rows[place] == row else 0.0

    def known(self) -> NDArray[np.bool_]:
        rows, numbers = self.cells
        present = np.ones(self.height, dtype=bool)
        present[rows[np.isnan(numbers)]] = False
        return present

    def is_integer(self) -> bool:
        numbers = self.cells[1]
        numbers = numbers[~np.isnan(numbers)]
        return bool(np.all(numbers == np.floor(numbers)))

    def beyond(self, low: float, high: float) -> Index:
        if not low <= 0 <= high:
            return super().beyond(low, high)
        rows, numbers = self.cells
        return rows[(numbers < low) | (numbers > high)]

    def holding(self, values: NDArray[Any]) -> Column:
        return Column(**fields_of(self, ColumnInfo), values=values)


def stored_cells(columns: Sequence[Column]) -> int:
    """Count the cells that sparse columns store."""
    blocks = {id(c.block): c.block for c in columns if isinstance(c, SparseColumn)}
    return sum(block.stored for block in blocks.values())


def in_rows(columns: Sequence[Column], rows: slice) -> tuple[Column, ...]:
    """Return columns in some rows; sparse ones stay sparse."""
    blocks = {id(c.block): c.block for c in columns if isinstance(c, SparseColumn)}
    parts = {key: block.part(rows) for key, block in blocks.items()}
    return tuple(
        dataclasses.replace(c, block=parts[id(c.block)])
        if isinstance(c, SparseColumn)
        else c.part(rows)
        for c in columns
    )


def gathered(columns: Sequence[Column]) -> sparse.csc_array:
    """Stack columns of numbers as a sparse matrix, shape (rows, columns)."""
    first = columns[0]
    blocks = {id(c.block) if isinstance(c, SparseColumn) else None for c in columns}
    if len(blocks) == 1 and isinstance(first, SparseColumn):
        places = np.array([c.place for c in columns if isinstance(c, SparseColumn)])
        matrix = first.block.matrix
        if np.array_equal(places, np.arange(matrix.shape[1])):
            return matrix
        return matrix[:, places]
    pieces = [_cells(column) for column in columns]
    ends = np.cumsum([0, *(len(rows) for rows, _ in pieces)])
    rows = np.concatenate([rows for rows, _ in pieces])
    numbers = np.concatenate([numbers for _, numbers in pieces])
    shape = (first.height, len(columns))
    return scipy.sparse.csc_array((numbers, rows, ends), shape=shape)


def _cells(column: Column) -> tuple[Index, Array]:
    if isinstance(column, SparseColumn):
        return column.cells
    values = column.values
    (rows,) = np.nonzero(values)
    return rows, values[rows]


def written_out(
    by_name: Mapping[str, Column], names: Sequence[str], rows: Index | None
) -> dict[str, Column]:
    """Return columns in some rows as dense columns."""
    columns, part = [by_name[name] for name in names], slice(None) if rows is None else rows
    few = [column for column in columns if isinstance(column, SparseColumn)]
    dense = iter(gathered(few).tocsr()[part].toarray(order="F").T if few else ())
    return {
        c.name: c.holding(next(dense) if isinstance(c, SparseColumn) else c.values[part])
        for c in columns
    }


def check_written_out(path: Path, rows: int, features: int, *, for_fit: bool) -> None:
    """Raise InputError if dense rows of a sparse table take too much memory.

    Parameters
    ----------
    path : Path
        The table.
    rows, features : int
    for_fit : bool
        Whether they are for a fit, which may use most of the memory, or for a preview.

    Raises
    ------
    InputError
    """
    needed, memory = COPIES * 8.0 * rows * features, machine_memory()
    most = largest_memory(memory) if for_fit else min(largest_memory(memory), MOST_TO_LOOK_AT)
    if needed > most:
        limit = f"this machine has {bytes_words(memory)}"
        if not for_fit:
            limit = f"a preview may take at most {bytes_words(most)}"
        raise input_error(
            "sparse_too_large",
            file=path,
            name=path.name,
            rows=rows,
            features=features,
            size=bytes_words(needed),
            limit=limit,
        )
