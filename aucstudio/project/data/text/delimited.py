"""Import of a delimited text file."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.column_types import forced_form, guess_form
from aucstudio.project.data.text.containers import unwrap
from aucstudio.project.data.text.contents import (
    MOST_BYTES,
    WIDE,
    Contents,
    Formats,
    NeedsTidyingError,
    Source,
    Unreadable,
)
from aucstudio.project.data.text.dialect import Dialect, TextSample, column_names
from aucstudio.project.data.text.encoding import (
    Decoding,
    find_decoding,
    head_of,
    plain_copy,
    refuse_endless,
)
from aucstudio.project.data.text.import_notices import about_columns, about_dialect, about_layout
from aucstudio.project.data.text.layout import Layout, cut_off, detect_layout, find_extra_table
from aucstudio.project.data.text.rows import (
    ends_in_totals,
    first_unreadable,
    needs_tidying,
    tidy,
)
from aucstudio.project.data.text.scan import Scan, scan
from aucstudio.project.data.text.small_reader import SmallReader
from aucstudio.project.errors import input_error

# Called with the fraction done and what is being done; may raise to stop.
ReadingProgress = Callable[[float, str], None]

Result = TypeVar("Result")
_Reading = tuple[Contents, list[Column], dict[str, Unreadable]]

_MOST_ROWS = 2_000


def read_source(source: Source, folder: Path, progress: ReadingProgress) -> Table:
    """Read a file whose layout is known as a table without roles.

    Raises
    ------
    InputError
        If most rows cannot be read, or there is none.
    """
    source, (contents, columns, unreadable) = read_separated(
        source, folder, progress, lambda one: _read(one, folder, progress)
    )
    progress(1.0, "reading")
    findings = about_columns(columns, contents, source, unreadable)
    return text_table(source, contents, columns, findings, unreadable)


def text_table(
    source: Source,
    contents: Contents,
    columns: Sequence[Column],
    findings: Iterable[Finding],
    unreadable: dict[str, Unreadable],
) -> Table:
    """Return the table of a file; raise InputError if it has no rows."""
    if not contents.rows:
        raise input_error("header_only", file=source.shown)
    return Table(
        path=source.shown,
        format="csv",
        dialect=source.dialect,
        sha256=source.sha256,
        columns=tuple(columns),
        rejected=tuple(contents.left_out.listed),
        rejected_rows=contents.left_out.total,
        remarks=(*source.findings, *findings),
        unreadable=unreadable,
        row_numbers=contents.row_numbers,
    )


def _read(source: Source, folder: Path, progress: ReadingProgress) -> _Reading:
    """Read the cells; return also the columns, and the cells that are not numbers."""

    def advance(part: float) -> None:
        progress(0.3 + 0.7 * part, "reading")

    if source.is_small:
        contents = SmallReader(source, advance).read()
        columns, counts = _columns(source, contents)
        return contents, columns, first_unreadable(source, counts, contents)
    from aucstudio.project.data.text.csv_cells import Reader

    with Reader(source, folder, advance) as reader:
        contents = reader.read()
        columns, counts = _columns(source, contents)
        return contents, columns, reader.first_unreadable(counts, contents)


def _columns(source: Source, contents: Contents) -> tuple[list[Column], dict[int, int]]:
    """Return the columns, and the number of infinite cells of each, which become missing."""
    columns, counts = list[Column](), dict[int, int]()
    for (k, form), cells in zip(contents.forms.items(), contents.cells, strict=True):
        values = cells.values
        if form is not None and np.isinf(cells.largest):
            infinite = np.isinf(values)
            if count := int(np.count_nonzero(infinite)):
                values[infinite], counts[k] = np.nan, count
        missing, number = cells.missing + counts.get(k, 0), source.notation(form)
        columns.append(Column.of_cells(source.names[k], values, missing, cells.distinct, number))
    return columns, counts


def read_separated(
    source: Source, folder: Path, progress: ReadingProgress, read: Callable[[Source], Result]
) -> tuple[Source, Result]:
    """Read a file; write its rows again first if DuckDB cannot separate them."""

    def tidied() -> Source:
        return tidy(source, folder, lambda part: progress(0.3, "separating rows"))

    is_text = source.typed is None and not source.is_small
    plain = tidied() if is_text and needs_tidying(source) else source
    try:
        return plain, read(plain)
    except NeedsTidyingError:
        plain = tidied()
        return plain, read(plain)


def open_delimited(
    path: Path,
    given: Mapping[str, Any],
    folder: Path,
    progress: ReadingProgress,
    schema: Schema | None = None,
    kinds: Mapping[str, str] | None = None,
) -> Source:
    """Detect the layout of a delimited text file; a copy for DuckDB goes to ``folder`` if needed.

    Raises
    ------
    InputError
        If it is not a table of at least two columns.
    """
    delimiter = str(given.get("delimiter", ""))
    scanned = scan(path, lambda part: progress(0.2 * part, "looking at the file"), delimiter)
    known = None if schema is None else schema.dialect
    plain, decoding = _decoded(path, scanned, given, known, folder, progress)
    text, whole = head_of(plain)
    quote = given.get("quote", (known or Dialect()).quote)
    refuse_endless(path, plain, text, delimiter, quote)
    findings: list[Finding] = []
    if not delimiter:
        plain, findings = unwrap(plain, text, folder)
        text, whole = head_of(plain)

    def detect() -> Layout:
        if schema is not None and known is not None:
            return _later_layout(text, schema, decoding.encoding, given)
        return detect_layout(text, whole, decoding.encoding, given)

    layout = detect()
    if whole and "skip" not in given and (extra := find_extra_table(text, layout.dialect)):
        line, finding = extra
        plain = cut_off(plain, line, folder)
        text, _ = head_of(plain)
        layout = detect()
        findings.append(finding)
    if known is None:
        if layout.sample.width < 2:
            raise input_error("one_column", file=path)
        if "totals" not in given and ends_in_totals(plain, layout.dialect, layout.sample.width):
            with_totals = dataclasses.replace(layout.dialect, totals=True)
            layout = dataclasses.replace(layout, dialect=with_totals)
    dialect, sample = layout.dialect, layout.sample
    names, about_names = column_names(sample, dialect)
    findings += [
        *about_layout(layout, decoding, about_names, names),
        *about_dialect(dialect, decoding, given),
    ]
    forms, fixed = _forms(names, sample, dialect, schema, given, kinds or {})
    return Source(
        path=plain,
        shown=path,
        dialect=dialect,
        names=names,
        sample=sample,
        forms=forms,
        fixed=fixed,
        lines=scanned.lines,
        lookalikes=scanned.lookalikes or plain is not path,
        header=tuple(layout.header) if dialect.header and not dialect.upper_rows else (),
        sha256=scanned.sha256,
        is_small=is_small(text, whole, plain.stat().st_size, len(names)),
        findings=tuple(findings),
    )


def _decoded(
    path: Path,
    scanned: Scan,
    given: Mapping[str, Any],
    known: Dialect | None,
    folder: Path,
    progress: ReadingProgress,
) -> tuple[Path, Decoding]:
    """Return the file as UTF-8 with one kind of line end."""
    encoding = None if known is None else known.encoding
    decoding = find_decoding(path, scanned, given.get("encoding"), encoding)
    if scanned.uniform and scanned.encoding == "utf-8" and decoding.is_plain:
        return path, decoding
    what = f"decoding {decoding.encoding}"
    copy = plain_copy(path, decoding, folder, lambda part: progress(0.2 + 0.1 * part, what))
    return copy, decoding


def is_small(text: str, whole: bool, size: int, columns: int) -> bool:
    """Return whether a file is read without DuckDB, from its first lines and its bytes."""
    rows = size / max(1, len(text)) * text.count("\n")
    return whole or columns >= WIDE or (size <= MOST_BYTES and rows <= _MOST_ROWS)


def _later_layout(text: str, schema: Schema, encoding: str, given: Mapping[str, Any]) -> Layout:
    from aucstudio.project.data.text.later_files import later_dialect, later_sample

    dialect = later_dialect(text, schema, encoding, given)
    sample = later_sample(text, dialect)
    return Layout(dialect, sample, (), sample.first)


def _forms(
    names: list[str],
    sample: TextSample,
    dialect: Dialect,
    schema: Schema | None,
    given: Mapping[str, Any],
    kinds: Mapping[str, str],
) -> tuple[Formats, frozenset[int]]:
    """Return the formats of the columns, and those that stay numbers whatever their cells are."""
    known = {column.name: column.kind for column in schema.columns} if schema else {}
    if schema is not None and schema.dialect is not None:
        from aucstudio.project.data.text.later_files import later_forms

        forms = later_forms(names, schema, given)
        return forms, frozenset(k for k, form in forms.items() if form and known.get(names[k]))
    forms = dict.fromkeys(range(len(names)))
    for k, name in enumerate(names):
        cells, kind = sample.column(k), kinds.get(name) or known.get(name)
        if kind != "text":
            forms[k] = guess_form(cells, dialect.decimal, dialect.number_words)
        if kind == "number" and forms[k] is None:
            forms[k] = forced_form(cells, dialect.decimal)
    forms = {k: form and form.with_limits(dialect.limits) for k, form in forms.items()}
    is_fixed = {name for name, kind in (known | {**kinds}).items() if kind == "number"}
    return forms, frozenset(k for k, name in enumerate(names) if name in is_fixed)
