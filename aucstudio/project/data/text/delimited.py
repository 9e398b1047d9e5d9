"""Import of a delimited text file."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.cells import Cells, is_cast, number_cells
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
    FormatChecks,
    Formats,
    NeedsTidyingError,
    Source,
    Unreadable,
    check_rejected,
    some_numbers,
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
from aucstudio.project.data.text.numerals import BLANKS, NumberCells, NumberFormat, are_plain
from aucstudio.project.data.text.rows import (
    RowCounter,
    ends_in_totals,
    first_unreadable,
    needs_tidying,
    tidy,
    walk_rows,
)
from aucstudio.project.data.text.scan import SAMPLE, Advance, Scan, scan
from aucstudio.project.errors import input_error

# Called with the fraction done and what is being done; may raise to stop.
ReadingProgress = Callable[[float, str], None]

Result = TypeVar("Result")
_Reading = tuple[Contents, list[Column], dict[str, Unreadable]]

# The most lines that are read without DuckDB, if they are more bytes than a sample.
_MOST_LINES = 2_000


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
        columns=tuple(columns),
        rejected=tuple(contents.left_out.listed),
        rejected_rows=contents.left_out.total,
        remarks=(*source.findings, *findings),
        unreadable=unreadable,
        limited={source.names[k]: found for k, found in contents.limited.items()},
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
        counted = cells.distinct, number, cells.counts
        columns.append(Column.of_cells(source.names[k], values, missing, *counted))
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
    text, _ = head_of(plain)
    quote = given.get("quote", (known or Dialect()).quote)
    # Looking for an open quotation mark would read a file without any from its end.
    refuse_endless(path, plain, text, delimiter, quote if scanned.quoted or plain != path else "")
    plain, wrapped = (plain, []) if delimiter else unwrap(plain, text, folder)
    plain, layout, cut = _laid_out(plain, decoding.encoding, given, schema, folder)
    if known is None and layout.sample.width < 2:
        raise input_error("one_column", file=path)
    dialect, sample = layout.dialect, layout.sample
    names, about_names = column_names(sample, dialect)
    about = about_layout(layout, decoding, about_names, names)
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
        is_small=is_small(plain.stat().st_size, scanned.lines, len(names)),
        findings=(*wrapped, *cut, *about, *about_dialect(dialect, decoding, given)),
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


def is_small(size: int, lines: int, columns: int) -> bool:
    """Return whether a file of some bytes, lines and columns is read without DuckDB."""
    return columns >= WIDE or size <= SAMPLE or (size <= MOST_BYTES and lines <= _MOST_LINES)


def _laid_out(
    plain: Path, encoding: str, given: Mapping[str, Any], schema: Schema | None, folder: Path
) -> tuple[Path, Layout, list[Finding]]:
    """Return the layout of the first table of a file, and the file without tables below it."""
    text, whole = head_of(plain)
    layout, findings = _layout_of(text, whole, encoding, given, schema), list[Finding]()
    if whole and "skip" not in given and (extra := find_extra_table(text, layout.dialect)):
        line, finding = extra
        plain = cut_off(plain, line, folder)
        layout = _layout_of(head_of(plain)[0], whole, encoding, given, schema)
        findings.append(finding)
    is_open = (schema is None or schema.dialect is None) and "totals" not in given
    if is_open and ends_in_totals(plain, layout.dialect, layout.sample.width):
        with_totals = dataclasses.replace(layout.dialect, totals=True)
        layout = dataclasses.replace(layout, dialect=with_totals)
    return plain, layout, findings


def _layout_of(
    text: str, whole: bool, encoding: str, given: Mapping[str, Any], schema: Schema | None
) -> Layout:
    """Detect a layout, or find the one of a schema again."""
    if schema is None or schema.dialect is None:
        return detect_layout(text, whole, encoding, given)
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
        cells, kind = sample.columns[k], kinds.get(name) or known.get(name)
        if kind != "text":
            forms[k] = guess_form(cells, dialect.decimal, dialect.number_words)
        if kind == "number" and forms[k] is None:
            forms[k] = forced_form(cells, dialect.decimal)
    forms = {k: form and form.with_limits(dialect.limits) for k, form in forms.items()}
    is_fixed = {name for name, kind in (known | {**kinds}).items() if kind == "number"}
    return forms, frozenset(k for k, name in enumerate(names) if name in is_fixed)


# ----------------------------------------------------------------- small files

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
        block, more = [*itertools.islice(rows, height)], [*itertools.islice(rows, height)]
        self._held = block if not more else []
        while block:
            yield block
            block, more = more, [*itertools.islice(rows, height)]

    def _kept(self) -> Iterator[list[str]]:
        counter = RowCounter() if self._counter.total else self._counter
        for cells in counter.kept(walk_rows(self.source)):
            self._progress(min(1.0, counter.total / max(self.source.lines, 1)))
            yield cells

    def _known(self, k: int) -> tuple[int, float, list[float]]:
        return some_numbers(self._columns[k].cells().values)

    def _spellings(self, k: int) -> Iterable[str]:
        return (row[k].strip(BLANKS) for block in self._blocks() for row in block)


class _Column:
    """A column that is read in blocks, as numbers or as texts."""

    def __init__(self, dialect: Dialect, form: NumberFormat | None) -> None:
        self._form, self._texts = form, list[str | None]()
        self.numbers = NumberCells(form or NumberFormat(), dialect.number_words)
        form = self.numbers.form
        self._is_plain = form.decimal == "." and is_cast(form, dialect.number_words)
        self._blocks: list[NDArray[np.float64]] = [np.empty(0)]
        self._read = _TextCells(dialect.text_words)

    def add(self, cells: Sequence[str]) -> None:
        if self._form is not None:
            is_plain = self._is_plain and are_plain(cells)
            read: Callable[[str], float] = float if is_plain else self.numbers.read
            self._blocks.append(np.fromiter(map(read, cells), dtype=np.float64, count=len(cells)))
            return
        self._texts += map(self._read.__getitem__, cells)

    def cells(self) -> Cells:
        """Return the cells."""
        if self._form is not None:
            self._blocks = [np.concatenate(self._blocks)]
            return number_cells(self._blocks[0])
        values = np.empty(len(self._texts), dtype=object)
        values[:] = self._texts
        distinct = len({*self._read.values()} - {None})
        words = {text.strip(BLANKS): None for text, read in self._read.items() if read is None}
        words.pop("", None)
        return Cells(values, self._texts.count(None), distinct, words=(*words,))


class _TextCells(dict[str, "str | None"]):
    """The stripped texts of cells, None if missing; equal ones are one object."""

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words

    def __missing__(self, text: str) -> str | None:
        bare = text.strip(BLANKS)
        is_absent = bare.lower() in self._words
        self[text] = found = None if is_absent else text if bare == text else self[bare]
        return found
