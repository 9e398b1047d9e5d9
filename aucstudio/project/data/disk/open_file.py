"""Files whose cells are fetched as they are needed: Parquet where it lies, others from a copy."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aucstudio.project.data.cells import CellStore
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.parquet import ParquetReader, fingerprint
from aucstudio.project.data.readers.format import MATRIX, PARQUET
from aucstudio.project.data.readers.reading import Plain, make_plain, naming
from aucstudio.project.data.readers.several import several
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.text.delimited import ReadingProgress, no_rows, open_delimited
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import NumberFormat
from aucstudio.project.data.text.reader import Reader
from aucstudio.project.data.text.rejects import Numbers, Rejected, Unreadable, first_unreadable
from aucstudio.project.errors import InputError

DUCK_BYTES = 256_000_000


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
    settled: frozenset[int] = frozenset()
    unreadable: dict[str, Unreadable]
    row_numbers: Numbers | None = None
    sheets: tuple[str, ...] = ()
    roles: dict[str, str] = dataclasses.field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def open_file(
    path: Path, given: Mapping[str, Any], folder: Path, tell: ReadingProgress, schema: Schema | None
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
        chosen=plain.chosen,
        sheets=plain.parts,
        roles=plain.roles,
    )


def _open_text(plain: Plain, folder: Path, tell: ReadingProgress, schema: Schema | None) -> Found:
    path = plain.path
    opened = open_delimited(path, plain.given, folder, tell, schema, plain.texts)
    reader = Reader(
        opened.source,
        folder,
        lambda part: tell(0.3 + 0.7 * part, "reading"),
        database=str(folder / "cells.duckdb"),
        memory=DUCK_BYTES,
    )
    try:
        kept = reader.keep(opened.forms, opened.settled)
        if not kept.rows:
            raise no_rows(path)
        strange = _infinite(reader, opened.settled)
        unreadable = first_unreadable(opened.source, strange, opened.forms)
    except BaseException:
        reader.close()
        raise
    notes = list(opened.notes)
    if kept.rejected_rows:
        first = kept.rejected[0]
        notes.append(
            f"{kept.rejected_rows} rows left out, the first in line {first.line}: {first.reason}"
        )
    return Found(
        store=reader,
        kind="csv",
        dialect=opened.source.dialect,
        sha256=opened.sha256,
        names=opened.source.names,
        numbers={k: form is not None for k, form in kept.forms.items()},
        forms=kept.forms,
        rows=kept.rows,
        rejected=kept.rejected,
        rejected_rows=kept.rejected_rows,
        notes=notes,
        chosen=opened.chosen,
        settled=opened.settled,
        unreadable=unreadable,
        row_numbers=kept.row_numbers,
        findings=opened.findings,
    )


def _open_parquet(
    plain: Plain, folder: Path, tell: ReadingProgress, schema: Schema | None
) -> Found:
    path = plain.path
    sha256 = fingerprint(path, lambda part: tell(part, "looking at the file"))
    store = ParquetReader(path, folder, lambda _: None, memory=DUCK_BYTES, schema=schema)
    try:
        unreadable = store.first_unreadable(_infinite(store, store.settled))
    except BaseException:
        store.close()
        raise
    return Found(
        store=store,
        kind="parquet",
        sha256=sha256,
        names=store.shape.names,
        numbers=store.shape.numbers,
        forms=dict.fromkeys(store.shape.numbers),
        rows=store.shape.rows,
        notes=store.shape.notes,
        settled=store.settled,
        unreadable=unreadable,
    )


def _infinite(store: CellStore, columns: frozenset[int]) -> dict[int, int]:
    """Count the infinite cells of columns; those without any are left out."""
    listed = sorted(columns)
    totals = store.totals([f"count(*) FILTER (isinf(c{k}))" for k in listed])
    return {k: count for k, count in zip(listed, totals, strict=True) if count}
