"""Files whose cells are read on demand: Parquet, or a Parquet copy."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aucstudio.project.data.cells import CellStore
from aucstudio.project.data.columns import Column
from aucstudio.project.data.parquet import ParquetReader, typed_table
from aucstudio.project.data.paths import fingerprint, several
from aucstudio.project.data.readers.format import MATRIX, PARQUET
from aucstudio.project.data.readers.reading import Plain, finished, make_plain, naming
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.contents import (
    Contents,
    Formats,
    Source,
    check_rejected,
    rejected_rows,
)
from aucstudio.project.data.text.csv_cells import CsvCells
from aucstudio.project.data.text.delimited import (
    ReadingProgress,
    open_delimited,
    read_separated,
    text_table,
)
from aucstudio.project.data.text.import_notices import about_cells, about_unreadable
from aucstudio.project.data.text.rows import first_unreadable
from aucstudio.project.errors import input_error

DUCK_BYTES = 256_000_000
# Distinct numbers of a column that represent all.
_SOME = 1_000


class StoredFile(NamedTuple):
    """A file whose cells can be fetched; its columns hold none."""

    plain: Plain
    found: Table
    store: CellStore
    rows: int


def open_file(
    path: Path,
    given: Mapping[str, Any],
    folder: Path,
    report: ReadingProgress,
    schema: Schema | None,
    numbers: Collection[str] = (),
) -> StoredFile:
    """Open a file; DuckDB writes temporary data to ``folder``.

    Raises
    ------
    InputError
        If it cannot be read as a table.
    """
    if several(path):
        raise input_error("several_files_on_disk", file=path)
    plain = make_plain(path, given, folder, report, schema)
    plain = dataclasses.replace(plain, numbers=frozenset(numbers))
    if plain.kind == MATRIX:
        raise input_error("sparse_on_disk", file=path)
    with naming(plain):
        open_plain = _open_parquet if plain.kind == PARQUET else _open_text
        found, store, rows = open_plain(plain, folder, report, schema)
    store.shown = path
    return StoredFile(plain, finished(plain, found), store, rows)


Stored = tuple[Table, CellStore, int]


def _open_text(
    plain: Plain, folder: Path, report: ReadingProgress, schema: Schema | None
) -> Stored:
    source = open_delimited(plain.path, plain.given, folder, report, schema, plain.kinds)
    # Detection on a sample is sufficient for a table of few rows too.
    source = dataclasses.replace(source, is_small=False)
    source, (reader, kept) = read_separated(
        source, folder, report, lambda one: _kept(one, folder, report)
    )
    try:
        infinite = _infinite(reader, frozenset(k for k, form in kept.forms.items() if form))
        unreadable = first_unreadable(source, infinite, kept.forms, kept.others)
        reader.set_aside(infinite)
        columns = _columns(source.names, kept.forms, kept.forms)
        findings = about_cells(kept, source, unreadable)
        found = text_table(source, kept, columns, findings, unreadable)
    except BaseException:
        reader.close()
        raise
    return dataclasses.replace(found, chosen=()), reader, kept.rows


def _kept(source: Source, folder: Path, report: ReadingProgress) -> tuple[KeptCells, Contents]:
    reader = KeptCells(
        source,
        folder,
        lambda part: report(0.3 + 0.7 * part, "reading"),
        database=str(folder / "cells.duckdb"),
        memory=DUCK_BYTES,
    )
    try:
        return reader, reader.keep()
    except BaseException:
        reader.close()
        raise


def _open_parquet(
    plain: Plain, folder: Path, report: ReadingProgress, schema: Schema | None
) -> Stored:
    path = plain.path
    sha256 = fingerprint(path, lambda part: report(part, "looking at the file"))
    store = ParquetReader(path, folder, lambda _: None, memory=DUCK_BYTES, schema=schema)
    try:
        infinite = _infinite(store, store.doubtful())
        unreadable = store.first_unreadable(infinite)
        store.set_aside(infinite)
    except BaseException:
        store.close()
        raise
    findings = (*store.shape.remarks, *about_unreadable(unreadable))
    numbers = {k: is_number or None for k, is_number in store.shape.numbers.items()}
    columns = _columns(store.shape.names, store.shape.forms, numbers)
    found = typed_table(path, "parquet", sha256, columns, findings, unreadable)
    return found, store, store.shape.rows


def _columns(names: Sequence[str], forms: Formats, numbers: Mapping[int, object]) -> list[Column]:
    """Return columns without cells; those whose entry in ``numbers`` is None hold texts."""
    return [
        Column.of_cells(name, np.empty(0, object if numbers[k] is None else float), 0, 0, forms[k])
        for k, name in enumerate(names)
    ]


def _infinite(store: CellStore, columns: frozenset[int]) -> dict[int, int]:
    """Count the infinite cells of columns that have any."""
    listed = sorted(columns)
    totals = store.totals([f"count(*) FILTER (isinf(c{k}))" for k in listed])
    return {k: count for k, count in zip(listed, totals, strict=True) if count}


class KeptCells(CsvCells):
    """A delimited file whose cells stay in the table ``cells``."""

    def keep(self) -> Contents:
        """Read all columns into the table ``cells``.

        The file is read once, and columns again that are not written as in the sample.
        """
        self._forms: Formats = {}
        self._load(self.source.forms)
        rows = int(self._one("SELECT count(*) FROM cells")[0])
        left_out = rejected_rows(self._connection, self.source)
        self._check_names(left_out)
        check_rejected(self.source, left_out, rows)
        return self._checked(rows, left_out)

    def set_aside(self, columns: Iterable[int]) -> None:
        """Make infinite cells missing in columns of the table ``cells``."""
        for k in columns:
            self._run_sql(f"UPDATE cells SET c{k} = 'nan'::DOUBLE WHERE isinf(c{k})")

    def _known(self, k: int) -> tuple[int, float, list[float]]:
        known = f"FILTER (isfinite(c{k}))"
        count, least = self._one(f"SELECT count(*) {known}, min(c{k}) {known} FROM cells")
        some = f"SELECT DISTINCT c{k} FROM cells WHERE isfinite(c{k}) ORDER BY 1 LIMIT {_SOME}"
        return int(count), float(least or 0.0), [float(value) for (value,) in self._all(some)]

    def _load(self, forms: Formats) -> None:
        self._forms |= forms
        self._run_sql(f"CREATE OR REPLACE TABLE cells AS {self._select(self._forms)}")

    def _run_sql(self, sql: str) -> None:
        self._run(lambda: self._connection.execute(sql))
