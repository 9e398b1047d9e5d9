"""Out-of-memory tables, read in windows.

A Parquet file is read in place. A text file is read once and copied as numbers and texts to a
temporary folder, which takes about as much disk space as the file.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index, Mask
from aucstudio.project import scratch
from aucstudio.project.data import finding
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.cells import CellStore
from aucstudio.project.data.columns import Column, ColumnInfo, fields_of
from aucstudio.project.data.input_files import FileStamp, several
from aucstudio.project.data.readers.formats import MATRIX, Plain
from aucstudio.project.data.readers.reading import (
    make_plain,
    naming,
    open_source,
    with_file_facts,
)
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
from aucstudio.project.data.text.contents import (
    Contents,
    Formats,
    Source,
    check_rejected,
)
from aucstudio.project.data.text.csv_cells import FileCells
from aucstudio.project.data.text.delimited import ReadingProgress, read_separated, text_table
from aucstudio.project.data.text.dialect import LONGEST_ROW
from aucstudio.project.data.text.import_notices import about_cells
from aucstudio.project.data.text.numerals import NumberFormat
from aucstudio.project.data.text.scan import Advance
from aucstudio.project.errors import input_error

if TYPE_CHECKING:
    from aucstudio.project.data.preparing.preparation import Preparation

__all__ = ["BLOCK_BYTES", "DUCK_BYTES", "DiskTable", "TableBlocks", "open_stream"]

DUCK_BYTES = 256_000_000
# Distinct numbers of a column that represent all.
_SOME = 1_000


def _open(
    plain: Plain, folder: Path, report: ReadingProgress, schema: Schema | None, held: ExitStack
) -> DiskTable:
    """Return a table without roles; its store is closed by ``held``."""
    source = open_source(plain, folder, report, schema)
    # Detection on a sample is sufficient for a table of few rows too.
    source = dataclasses.replace(source, is_small=False)
    source, (reader, kept) = read_separated(
        source, folder, report, lambda one: _kept(one, folder, report)
    )
    held.enter_context(reader)
    infinite = reader.infinite(kept.forms)
    unreadable = reader.first_unreadable(infinite, kept)
    reader.set_aside(infinite)
    columns = [
        Column.of_cells(name, np.empty(0, float if form else object), 0, 0, source.notation(form))
        for name, form in zip(source.names, kept.forms.values(), strict=True)
    ]
    findings = about_cells(kept, source, unreadable)
    found = with_file_facts(plain, text_table(source, kept, columns, findings, unreadable))
    reader.shown = plain.shown
    return DiskTable(
        **fields_of(found, AnyTable) | {"columns": tuple(map(described, columns))},
        store=reader,
        places={name: k for k, name in enumerate(source.names)},
        release=weakref.finalize(reader, scratch.remove, folder),
        block_bytes=BLOCK_BYTES,
        count=kept.rows,
    )


def _kept(source: Source, folder: Path, report: ReadingProgress) -> tuple[KeptCells, Contents]:
    reader = KeptCells(source, folder, lambda part: report(0.3 + 0.7 * part, "reading"))
    try:
        return reader, reader.keep()
    except BaseException:
        reader.close()
        raise


class KeptCells(FileCells):
    """A file whose cells stay in the table ``cells``, or in a view of a typed file."""

    buffer = LONGEST_ROW  # more would not fit into the memory for DuckDB on many threads

    def __init__(self, source: Source, folder: Path, report: Advance) -> None:
        typed, tidied = source.typed, source.tidied
        # Cells that Python classifies are read once only; rows of a view keep their numbers.
        is_whole = tidied is None or not tidied.left_out.total
        self._is_view = typed is not None and not typed.spelled and is_whole
        self._forms: Formats = {}
        self._set_aside = set[int]()
        database = str(folder / "cells.duckdb")
        place = "place" if self._is_view else "rowid"
        super().__init__(source, folder, report, place=place, database=database, memory=DUCK_BYTES)
        if typed is not None:
            typed.connection.close()  # it holds what it has read of the file

    def keep(self) -> Contents:
        """Read all columns into the table ``cells``.

        The file is read once, and columns again that are not written as in the sample.
        """
        self._refuse_misread()
        self._load(self.source.forms)
        rows = int(self._one("SELECT count(*) FROM cells")[0])
        left_out = self._left_out()
        check_rejected(self.source, left_out, rows)
        return self._checked(rows, left_out)

    def infinite(self, forms: Formats) -> dict[int, int]:
        """Count the infinite cells of columns that have any."""
        numbers = {k for k, form in forms.items() if form}
        if (typed := self.source.typed) is not None:
            numbers &= typed.unbounded(self._all) | typed.spelled
        listed = sorted(numbers)
        totals = self.totals([f"count(*) FILTER (isinf(c{k}))" for k in listed])
        return {k: count for k, count in zip(listed, totals, strict=True) if count}

    def set_aside(self, columns: Iterable[int]) -> None:
        """Make infinite cells missing in columns of the table ``cells``."""
        self._set_aside |= {*columns}
        if self._is_view:
            self._load({})
            return
        for k in self._set_aside:
            self._run_sql(f"UPDATE cells SET c{k} = 'nan'::DOUBLE WHERE isinf(c{k})")

    def _cell(self, k: int, form: NumberFormat | None, *, bare: bool) -> str:
        cell = super()._cell(k, form, bare=bare)
        return (
            f"CASE WHEN NOT isinf({cell}) THEN {cell} ELSE 'nan' END"
            if k in self._set_aside
            else cell
        )

    def _known(self, k: int) -> tuple[int, float, list[float]]:
        known = f"FILTER (isfinite(c{k}))"
        count, least = self._one(f"SELECT count(*) {known}, min(c{k}) {known} FROM cells")
        some = f"SELECT DISTINCT c{k} FROM cells WHERE isfinite(c{k}) ORDER BY 1 LIMIT {_SOME}"
        return int(count), float(least or 0.0), [float(value) for (value,) in self._all(some)]

    def _load(self, forms: Formats) -> None:
        self._forms |= forms
        what = "VIEW" if self._is_view else "TABLE"
        self._run_sql(f"CREATE OR REPLACE {what} cells AS {self._select(self._forms)}")

    def _run_sql(self, sql: str) -> None:
        self._run(lambda: self._connection.execute(sql))


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
    count : int
        Number of rows, including unlabelled ones.
    """

    store: CellStore
    places: dict[str, int]
    release: weakref.finalize[..., CellStore]
    block_bytes: int
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
        for file in self.files:
            file.check()
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
        seen.append(Column.of_cells(column.name, values, number=column.number))
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
    path, report = Path(path), progress_reporter(progress)
    files = (FileStamp.of(path),)
    if several(path):
        raise input_error("several_files_on_disk", file=path)
    with ExitStack() as held:  # released unless there is a table
        folder = scratch.make_folder()
        held.callback(scratch.remove, folder)
        numbers = numbers_in(choices.get("roles"))
        plain = make_plain(path, parts_of(dialect), folder, report, schema, numbers)
        if plain.kind == MATRIX:
            raise input_error("sparse_on_disk", file=path)
        with naming(plain):
            bare = _open(plain, folder, report, schema, held)
        bare = dataclasses.replace(bare, files=files, block_bytes=block_bytes)
        cells = sample_of(bare, bare.columns)
        cells = list(with_guessed_roles(cells, schema, need_label=need_label))
        remarks = bare.remarks
        if schema is None and bare.rows > _SAMPLE_ROWS:
            sampled = finding.found("format_sample", sample=_SAMPLE_ROWS, total=bare.rows)
            remarks = (*remarks, sampled)
        bare = dataclasses.replace(bare, columns=tuple(map(described, cells)), remarks=remarks)
        table = with_choices(
            bare, cells, plain.roles, need_label=need_label, schema=schema, **choices
        )
        held.pop_all()
    return table


class TableBlocks:
    """Prepared rows of a table on disk, in blocks; see :class:`~aucstudio.engine.blocks.RowBlocks`.

    Parameters
    ----------
    table : DiskTable
    preparation : Preparation
    rows : ndarray of int
        Rows of the table in the order of their numbers.
    """

    def __init__(self, table: DiskTable, preparation: Preparation, rows: Index) -> None:
        self._table, self._preparation, self._rows = table, preparation, rows
        self.features = len(preparation.feature_names)
        self.positive: Mask = table.positives[rows]
        height = table.height(self.features)
        edges = np.arange(0, table.rows + height, height)
        self._order = np.argsort(rows, kind="stable")
        places = np.searchsorted(rows[self._order], edges)
        filled = np.flatnonzero(np.diff(places))
        self._windows = [(int(edges[k]), int(edges[k + 1])) for k in filled]
        self._parts = [slice(int(places[k]), int(places[k + 1])) for k in filled]

    def __len__(self) -> int:
        return len(self._parts)

    def block(self, k: int) -> tuple[Index, Array]:
        """Read and prepare a block."""
        start, stop = self._windows[k]
        cells = self._table.window(start, min(stop, self._table.rows))
        numbers = self._order[self._parts[k]]
        return numbers, self._preparation.apply(cells, self._rows[numbers] - start)

    def take(self, numbers: Index) -> Array:
        """Read and prepare some thousand rows."""
        if not len(numbers):
            return np.empty((0, self.features))
        order = np.argsort(self._rows[numbers])
        cells = self._table.pick(self._rows[numbers][order])
        X = np.empty((len(numbers), self.features))
        X[order] = self._preparation.apply(cells)
        return X

    # As of an array.
    __getitem__ = take
