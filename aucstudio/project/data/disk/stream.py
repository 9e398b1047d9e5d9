"""Out-of-memory tables, read in windows.

A Parquet file is read in place. A text file is read once and copied as numbers and texts to a
temporary folder, which takes about as much disk space as the file.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aucstudio.project import scratch
from aucstudio.project.data import finding
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.cells import CellStore
from aucstudio.project.data.columns import Column, ColumnInfo, Count, fields_of
from aucstudio.project.data.disk.open_file import DUCK_BYTES, open_file
from aucstudio.project.data.roles import guess_role
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.data.table import (
    DialectChoice,
    ReadingListener,
    Table,
    missing_column,
    numbers_in,
    parts_of,
    progress_reporter,
    with_choices,
    with_guessed_roles,
)
from aucstudio.project.errors import input_error

__all__ = ["BLOCK_BYTES", "DUCK_BYTES", "DiskTable", "open_stream"]

BLOCK_BYTES = 64_000_000

_SAMPLE_ROWS, _SAMPLE_PIECES = 50_000, 25


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class DiskTable(AnyTable):
    """An out-of-memory table; its columns hold no cells.

    Counts of missing and of distinct cells are those of the sampled rows.

    Attributes
    ----------
    store : CellStore
        Holds the cells.
    places : dict of str to int
        Index in the store of each column; absent columns are missing throughout.
    release : finalize
        Removes the temporary folder, at the latest when the table is garbage.
    block_bytes : int
        Bytes of a block of prepared rows.
    stamp : tuple of int
        Size and modification time of the file when it was opened.
    count : int
        Number of rows, including unlabelled ones.
    """

    store: CellStore
    places: dict[str, int]
    release: weakref.finalize[..., CellStore]
    block_bytes: int
    stamp: tuple[int, int]
    count: int

    @property
    def rows(self) -> int:
        """Number of rows, including unlabelled ones."""
        return self.count

    def counts(self, name: str, most: int) -> dict[Any, int] | None:
        """Count the rows of each value of a column; None if there are more than ``most`` values."""
        k = self.places.get(name)
        counted = [] if k is None else self.store.counts(k, most + 1)
        return dict(counted) if len(counted) <= most else None

    def missing(self) -> dict[str, int]:
        """Count the missing cells of every column."""
        here = [column for column in self.columns if column.name in self.places]
        known = [
            f"count(c{k})" if column.kind == "text" else f"count(*) FILTER (isfinite(c{k}))"
            for column in here
            for k in [self.places[column.name]]
        ]
        counted = dict(zip([column.name for column in here], self.store.totals(known), strict=True))
        return {column.name: self.rows - counted.get(column.name, 0) for column in self.columns}

    def _as_feature(self, column: ColumnInfo) -> ColumnInfo:
        (guessed,) = (described(guess_role(one)) for one in sample_of(self, [column]))
        return guessed

    def height(self, features: int) -> int:
        """Return the number of rows of a block, given the numbers per row."""
        return max(1, self.block_bytes // (8 * max(features, len(self.features), 1)))

    def window(self, start: int, stop: int, names: Sequence[str] | None = None) -> Table:
        """Read some rows of the feature columns, or of named columns, as a table in memory.

        Raises
        ------
        InputError
            If the file has changed since it was opened.
        """
        return self._read(names, stop - start, lambda texts: self.store.window(texts, start, stop))

    def pick(self, rows: NDArray[np.intp], names: Sequence[str] | None = None) -> Table:
        """Read some thousand rows, in rising order; see :meth:`window`."""
        return self._read(names, len(rows), lambda texts: self.store.rows(texts, rows))

    def _read(
        self,
        names: Sequence[str] | None,
        rows: int,
        fetch: Callable[[dict[int, bool]], list[NDArray[Any]]],
    ) -> Table:
        if stamp_of(self.path) != self.stamp:
            raise input_error("file_changed", file=self.path)
        wanted = set(self.feature_names if names is None else names)
        chosen = [column for column in self.columns if column.name in wanted]
        here = {self.places[c.name]: c for c in chosen if c.name in self.places}
        cells = fetch({k: column.kind == "text" for k, column in here.items()}) if here else []
        columns = [
            missing_column(column, rows) for column in chosen if column.name not in self.places
        ]
        for (k, column), values in zip(here.items(), cells, strict=True):
            columns.append(self._filled(k, column, values))
        return Table(**fields_of(self, AnyTable) | {"columns": tuple(columns)})

    def _filled(self, k: int, column: ColumnInfo, values: NDArray[Any]) -> Column:
        filled = Column(**fields_of(column, ColumnInfo), values=values)
        return dataclasses.replace(filled, missing=int(np.count_nonzero(~filled.known())))

    def windows(
        self, height: int, names: Sequence[str] | None = None
    ) -> Iterator[tuple[int, Table]]:
        """Yield all rows in windows: the number of the first row, and a table in memory."""
        for start in range(0, self.rows, height):
            yield start, self.window(start, min(start + height, self.rows), names)

    def measured(self, names: Sequence[str]) -> Iterator[NDArray[Any]]:
        """Yield the cells of columns in all rows, reading some columns at a time."""
        at_once = max(1, self.block_bytes // (8 * max(self.rows, 1)))
        for start in range(0, len(names), at_once):
            part = names[start : start + at_once]
            height = max(1, self.block_bytes // (8 * len(part)))
            windows = [window for _, window in self.windows(height, part)]
            for name in part:
                yield np.concatenate([window.column(name).measured() for window in windows])

    def with_missing_columns(self, columns: Sequence[ColumnSchema]) -> Self:
        """Add columns whose cells are all missing."""
        added = [described(missing_column(column, 0)) for column in columns]
        return dataclasses.replace(self, columns=(*self.columns, *added))

    def close(self) -> None:
        """Release the file and delete its copy."""
        self.store.close()
        self.release()


def described(column: Column) -> ColumnInfo:
    """Return the description of a column, without its cells."""
    return ColumnInfo(**fields_of(column, ColumnInfo))


def stamp_of(path: Path) -> tuple[int, int]:
    """Return size and modification time of a file; zeros if it is missing."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return 0, 0
    return found.st_size, found.st_mtime_ns


def sample_of(table: DiskTable, columns: Sequence[ColumnInfo]) -> list[Column]:
    """Read columns in evenly spaced pieces of rows, or in all rows if they are few."""
    pieces = _SAMPLE_PIECES if table.rows > _SAMPLE_ROWS else 1
    height = min(table.rows, _SAMPLE_ROWS // pieces)
    starts = np.linspace(0, table.rows - height, pieces).astype(np.intp).tolist()
    names = [column.name for column in columns]
    parts = [table.window(start, start + height, names) for start in starts]
    seen = []
    for column in columns:
        values = np.concatenate([part.column(column.name).values for part in parts])
        whole = Column.of_cells(column.name, values, 0, 0, column.number)
        known = values[whole.known()]
        missing, distinct = len(values) - len(known), len(set(known.tolist()))
        seen.append(dataclasses.replace(whole, missing=missing, different=Count(distinct)))
    return seen


def open_stream(
    path: str | Path,
    *,
    dialect: DialectChoice = None,
    schema: Schema | None = None,
    need_label: bool = True,
    block_bytes: int = BLOCK_BYTES,
    progress: ReadingListener | None = None,
    **choices: Any,
) -> DiskTable:
    """Open an out-of-memory table, and detect what was not chosen.

    Detection is that of :func:`~aucstudio.project.data.table.read_table` on up to 50,000
    rows from the whole file; a remark reports it. Classes are counted in full.

    Parameters
    ----------
    path, dialect, schema, need_label, progress
    choices
        As for :func:`~aucstudio.project.data.table.read_table`.
    block_bytes : int
        Bytes of a block of prepared rows; about three times that is in memory at a time.

    Raises
    ------
    InputError, Cancelled
        As for :func:`~aucstudio.project.data.table.read_table`.
    """
    path, stamp = Path(path), stamp_of(Path(path))
    folder = scratch.make_folder()
    numbers = numbers_in(choices.get("roles"))
    try:
        opened = open_file(
            path, parts_of(dialect), folder, progress_reporter(progress), schema, numbers
        )
    except BaseException:
        scratch.remove(folder)
        raise
    release = weakref.finalize(opened.store, scratch.remove, folder)
    found = opened.found
    try:
        bare = DiskTable(
            **fields_of(found, AnyTable) | {"columns": tuple(map(described, found.columns))},
            store=opened.store,
            places={column.name: k for k, column in enumerate(found.columns)},
            release=release,
            block_bytes=block_bytes,
            stamp=stamp,
            count=opened.rows,
        )
        cells = sample_of(bare, bare.columns)
        cells = list(with_guessed_roles(cells, schema, need_label=need_label))
        bare = dataclasses.replace(bare, columns=tuple(map(described, cells)))
        if schema is None and bare.rows > _SAMPLE_ROWS:
            remark = finding.found("format_sample", sample=_SAMPLE_ROWS, total=bare.rows)
            bare = dataclasses.replace(bare, remarks=(*bare.remarks, remark))
        return with_choices(
            bare, cells, opened.plain.roles, need_label=need_label, schema=schema, **choices
        )
    except BaseException:
        opened.store.close()
        release()
        raise
