"""Files whose cells are fetched as they are needed: Parquet where it lies, others from a copy."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from aucstudio.project.data.cells import CellStore
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.parquet import ParquetReader, fingerprint
from aucstudio.project.data.readers.format import MATRIX, PARQUET
from aucstudio.project.data.readers.reading import Plain, make_plain, naming
from aucstudio.project.data.readers.several import several
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.text.contents import Contents, Formats
from aucstudio.project.data.text.csv_cells import CsvCells
from aucstudio.project.data.text.delimited import (
    Opened,
    ReadingProgress,
    no_rows,
    open_delimited,
)
from aucstudio.project.data.text.dialect import Dialect, TextSample
from aucstudio.project.data.text.import_notices import about_cells, about_unreadable
from aucstudio.project.data.text.numerals import NumberFormat
from aucstudio.project.data.text.rejects import (
    Numbers,
    Rejected,
    Source,
    Unreadable,
    check_rejected,
    rejected_rows,
)
from aucstudio.project.data.text.rows import first_unreadable
from aucstudio.project.errors import InputError

DUCK_BYTES = 256_000_000
# Numbers of a column that stand for all.
_SOME = 1_000


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Found:
    """A file whose cells can be fetched."""

    store: CellStore
    kind: str
    dialect: Dialect = dataclasses.field(default_factory=Dialect)
    sha256: str
    names: list[str]
    numbers: dict[int, bool]
    forms: dict[int, NumberFormat | None]
    rows: int
    rejected: list[Rejected] = dataclasses.field(default_factory=list)
    rejected_rows: int = 0
    notes: list[str] = dataclasses.field(default_factory=list)
    chosen: tuple[str, ...] = ()
    unreadable: dict[str, Unreadable]
    row_numbers: Numbers | None = None
    sheets: tuple[str, ...] = ()
    roles: dict[str, str] = dataclasses.field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def open_file(
    path: Path,
    given: Mapping[str, Any],
    folder: Path,
    tell: ReadingProgress,
    schema: Schema | None,
    numbers: Collection[str] = (),
) -> Found:
    """Open a file; what DuckDB needs beside it goes to ``folder``.

    Raises
    ------
    InputError
        If it cannot be read as a table.
    """
    if several(path):
        raise InputError(
            f"{path} is several files, which are read into memory: join them into one to leave "
            "the table on disk",
            file=str(path),
            setting="stream",
        )
    plain = make_plain(path, given, folder, tell, schema)
    plain = dataclasses.replace(plain, numbers=frozenset(numbers))
    if plain.kind == MATRIX:
        raise InputError(
            f"{path} is sparse and is read into memory as a whole: leave out what keeps it on disk",
            file=str(path),
            setting="stream",
        )
    with naming(plain):
        open_plain = _open_parquet if plain.kind == PARQUET else _open_text
        found = open_plain(plain, folder, tell, schema)
    found.store.shown = path
    return dataclasses.replace(
        found,
        kind=plain.format,
        sha256=plain.sha256 or found.sha256,
        dialect=dataclasses.replace(found.dialect, sheet=plain.part),
        notes=[*plain.notes, *found.notes],
        findings=(*plain.findings, *found.findings),
        chosen=plain.chosen,
        sheets=plain.parts,
        roles=plain.roles,
    )


def _open_text(plain: Plain, folder: Path, tell: ReadingProgress, schema: Schema | None) -> Found:
    path = plain.path
    opened = open_delimited(path, plain.given, folder, tell, schema, plain.kinds)
    # What was noticed in a sample is enough for a table of few rows too.
    opened = dataclasses.replace(opened, short=False)
    source, (reader, kept) = opened.reading(
        folder, tell, lambda one: _kept(opened, one, folder, tell)
    )
    try:
        if not kept.rows:
            raise no_rows(path)
        numbers_of = frozenset(k for k, form in kept.forms.items() if form is not None)
        strange = _infinite(reader, numbers_of)
        unreadable = first_unreadable(source, strange, kept.forms, kept.others)
        reader.set_aside(strange)
    except BaseException:
        reader.close()
        raise
    noticed = [
        *opened.findings,
        *about_cells(source.names, kept, opened.sample, source.dialect, unreadable),
    ]
    notes = [*opened.notes, *(finding.sentence for finding in noticed)]
    return Found(
        store=reader,
        kind="csv",
        dialect=opened.source.dialect,
        sha256=opened.sha256,
        names=opened.source.names,
        numbers={k: form is not None for k, form in kept.forms.items()},
        forms=kept.forms,
        rows=kept.rows,
        rejected=kept.left_out.listed,
        rejected_rows=kept.left_out.total,
        notes=notes,
        chosen=opened.chosen,
        findings=tuple(noticed),
        unreadable=unreadable,
        row_numbers=kept.row_numbers,
    )


def _kept(
    opened: Opened, source: Source, folder: Path, tell: ReadingProgress
) -> tuple[KeptCells, Contents]:
    reader = KeptCells(
        source,
        folder,
        lambda part: tell(0.3 + 0.7 * part, "reading"),
        database=str(folder / "cells.duckdb"),
        memory=DUCK_BYTES,
    )
    try:
        return reader, reader.keep(opened.forms, opened.settled, opened.sample)
    except BaseException:
        reader.close()
        raise


def _open_parquet(
    plain: Plain, folder: Path, tell: ReadingProgress, schema: Schema | None
) -> Found:
    path = plain.path
    sha256 = fingerprint(path, lambda part: tell(part, "looking at the file"))
    store = ParquetReader(path, folder, lambda _: None, memory=DUCK_BYTES, schema=schema)
    try:
        strange = _infinite(store, store.doubtful())
        unreadable = store.first_unreadable(strange)
        store.set_aside(strange)
    except BaseException:
        store.close()
        raise
    findings = tuple(about_unreadable(unreadable))
    return Found(
        store=store,
        kind="parquet",
        sha256=sha256,
        names=store.shape.names,
        numbers=store.shape.numbers,
        forms=store.shape.forms,
        rows=store.shape.rows,
        notes=[*store.shape.notes, *(finding.sentence for finding in findings)],
        findings=findings,
        unreadable=unreadable,
    )


def _infinite(store: CellStore, columns: frozenset[int]) -> dict[int, int]:
    """Count the infinite cells of columns; those without any are left out."""
    listed = sorted(columns)
    totals = store.totals([f"count(*) FILTER (isinf(c{k}))" for k in listed])
    return {k: count for k, count in zip(listed, totals, strict=True) if count}


class KeptCells(CsvCells):
    """A delimited file whose cells stay in the table ``cells``."""

    def keep(
        self,
        forms: Mapping[int, NumberFormat | None],
        fixed: frozenset[int],
        sample: TextSample,
    ) -> Contents:
        """Read all columns into ``cells`` and leave them there; else as a reader into arrays.

        The file is read once, and again where a column is not written as its sample promised.
        """
        self._forms: Formats = {}
        self._load(dict(forms))
        rows = int(self._one("SELECT count(*) FROM cells")[0])
        left_out = rejected_rows(self._connection, self._source)
        self._check_names(dict(forms), left_out)
        check_rejected(self._source, left_out, rows)
        settled, strays = self._settle(dict(forms), fixed, sample)
        return Contents(rows, settled, strays, left_out, self._others(settled))

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
