"""Import of a delimited text file."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from aucstudio.project import scratch
from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.column_types import forced_form, guess_form
from aucstudio.project.data.text.contents import (
    MOST_BYTES,
    WIDE,
    AstrayError,
    Contents,
    Formats,
    Source,
)
from aucstudio.project.data.text.dialect import DELIMITERS, Dialect, TextSample, column_names
from aucstudio.project.data.text.encoding import (
    Decoding,
    find_decoding,
    head_of,
    plain_copy,
    refuse_endless,
    scan,
)
from aucstudio.project.data.text.footer import cut_off, find_second
from aucstudio.project.data.text.import_notices import about_columns, about_layout
from aucstudio.project.data.text.layout import Layout, detect_layout
from aucstudio.project.data.text.rows import (
    ends_in_totals,
    first_unreadable,
    is_astray_later,
    tidied,
)
from aucstudio.project.errors import InputError

# Told the fraction done and what is being done; may raise to stop.
ReadingProgress = Callable[[float, str], None]

Result = TypeVar("Result")

_MOST_ROWS = 2_000
# Lines that tell whether a file is one of delimited cells, and what else holds tables.
_LOOKED_AT = 200
_WRAPS = re.compile(
    r"""["'=|>*{}\\`\f\u2500-\u257f\u201c\u201e\u00ab]|^\W*\w[^,;\t]*:(?:\s|[^\t]*\t)|[;:~]{2}""",
    re.MULTILINE,
)


def read_delimited(
    path: Path,
    given: Mapping[str, Any],
    tell: ReadingProgress,
    schema: Schema | None = None,
    kinds: Mapping[str, str] | None = None,
) -> Table:
    """Read a delimited text file as a table without roles; its dialect is detected unless given.

    With a ``schema``, what the cells are is taken from there; without, ``kinds`` names columns of
    texts or numbers, whatever their cells look like.

    Raises
    ------
    InputError
        If the file cannot be read as a table of at least two columns and one row.
    """
    with scratch.folder() as temporary:
        opened = open_delimited(path, given, temporary, tell, schema, kinds)
        source, contents = opened.reading(
            temporary, tell, lambda one: _read(opened, one, temporary, tell)
        )
        columns = _columns(source.names, contents)
        strange = set_aside(columns)
        unreadable = first_unreadable(source, strange, contents.forms, contents.others)
    tell(1.0, "reading")
    if not len(columns[0].values):
        raise no_rows(path)
    noticed = [
        *opened.findings,
        *about_columns(columns, contents, opened.sample, opened.source.dialect, unreadable),
    ]
    return Table(
        path=path,
        format="csv",
        dialect=opened.source.dialect,
        sha256=opened.sha256,
        columns=tuple(columns),
        rejected=tuple(contents.left_out.listed),
        rejected_rows=contents.left_out.total,
        remarks=tuple(noticed),
        chosen=opened.chosen,
        unreadable=unreadable,
        row_numbers=contents.row_numbers,
    )


def _read(opened: Opened, source: Source, folder: Path, tell: ReadingProgress) -> Contents:

    def advance(part: float) -> None:
        tell(0.3 + 0.7 * part, "reading")

    if opened.short:
        from aucstudio.project.data.text.small_files import read_small

        return read_small(source, opened.forms, opened.settled, advance)
    from aucstudio.project.data.text.csv_cells import Reader

    with Reader(source, folder, advance) as reader:
        return reader.read(opened.forms, opened.settled, opened.sample)


def set_aside(columns: list[Column], among: Iterable[int] | None = None) -> dict[int, int]:
    """Make infinite cells missing in some columns; returns how many there were in each."""
    counts = {}
    for k in range(len(columns)) if among is None else among:
        if columns[k].kind == "text":
            continue
        strange = np.isinf(columns[k].values)
        if counted := int(np.count_nonzero(strange)):
            columns[k].values[strange] = np.nan
            missing = columns[k].missing + counted
            columns[k] = dataclasses.replace(columns[k], missing=missing)
            counts[k] = counted
    return counts


@dataclasses.dataclass(frozen=True, eq=False)
class Opened:
    """An inspected delimited file, ready to be read.

    Attributes
    ----------
    source : Source
    sha256 : str
    sample : TextSample
    forms : dict of int to NumberFormat or None
        What the sample promises of each column.
    chosen : tuple of str
        The parts of the dialect that a person set.
    settled : frozenset of int
        Columns of numbers that remain so whatever their cells are.
    short : bool
        Whether the file has few rows, or is wide.
    findings : tuple of Finding
        About the layout.
    """

    source: Source
    sha256: str
    sample: TextSample
    forms: Formats
    chosen: tuple[str, ...] = ()
    settled: frozenset[int] = frozenset()
    short: bool = False
    findings: tuple[Finding, ...] = ()

    def reading(
        self, folder: Path, tell: ReadingProgress, read: Callable[[Source], Result]
    ) -> tuple[Source, Result]:
        """Read the file; rewrite rows that DuckDB cannot separate."""
        source = self.source
        if not self.short and (not source.dialect.is_plain or is_astray_later(source)):
            source = tidied(source, folder, lambda part: tell(0.3, "restoring the order of rows"))
        try:
            return source, read(source)
        except AstrayError:
            source = tidied(source, folder, lambda part: tell(0.3, "restoring the order of rows"))
            return source, read(source)


def open_delimited(
    path: Path,
    given: Mapping[str, Any],
    folder: Path,
    tell: ReadingProgress,
    schema: Schema | None = None,
    kinds: Mapping[str, str] | None = None,
) -> Opened:
    """Look at a delimited text file; a copy that DuckDB can read goes to ``folder`` if it must.

    Raises
    ------
    InputError
        If it is no table of at least two columns.
    """
    told = str(given.get("delimiter", ""))
    found = scan(path, lambda part: tell(0.2 * part, "looking at the file"), told)
    known = None if schema is None or schema.dialect is None else schema.dialect.encoding
    decoding = find_decoding(path, found, given.get("encoding"), known)
    plain = path
    if not (found.uniform and found.encoding == "utf-8" and decoding.is_plain):
        plain = plain_copy(
            path,
            decoding,
            folder,
            lambda part: tell(0.2 + 0.1 * part, f"decoding {decoding.encoding}"),
        )
    text, whole = head_of(plain)
    usual = Dialect() if schema is None or schema.dialect is None else schema.dialect
    refuse_endless(path, plain, text, told, given.get("quote", usual.quote))
    if "delimiter" not in given and not _is_regular(text):
        from aucstudio.project.data.text.containers import unwrapped

        plain, *told_more = unwrapped(plain, text, folder)
        text, whole = head_of(plain)
        decoding = dataclasses.replace(decoding, told=(*decoding.told, *told_more))
    layout = _layout(text, whole, decoding.encoding, given, schema)
    if whole and "skip" not in given and (second := find_second(text, layout.dialect)):
        plain = cut_off(plain, second.line, folder)
        text, _ = head_of(plain)
        layout = _layout(text, whole, decoding.encoding, given, schema)
        layout = dataclasses.replace(layout, notes=(*layout.notes, second.told))
    if schema is None or schema.dialect is None:
        if "totals" not in given and ends_in_totals(plain, layout.dialect, layout.sample.width):
            layout = dataclasses.replace(
                layout, dialect=dataclasses.replace(layout.dialect, totals=True)
            )
        _check(path, layout)
    dialect, sample = layout.dialect, layout.sample
    names, notes = column_names(sample, dialect)
    lookalikes = found.lookalikes or plain is not path
    source = Source(
        plain,
        path,
        dialect,
        names,
        found.lines,
        lookalikes,
        header=tuple(layout.header) if dialect.header and not dialect.upper_rows else (),
    )
    forms, settled = _forms(names, sample, dialect, schema, given, kinds or {})
    short = is_small(text, whole, plain.stat().st_size, len(names))
    findings = about_layout(layout, decoding, notes, names)
    about_dialect = _about_dialect(dialect, decoding, given)
    return Opened(
        source,
        found.sha256,
        sample,
        forms,
        tuple(sorted(given)),
        settled,
        short,
        (*findings, *about_dialect),
    )


def is_small(text: str, whole: bool, size: int, columns: int) -> bool:
    """Return whether a file of some bytes is short or wide, judging by its first lines."""
    rows = size / max(1, len(text)) * text.count("\n")
    return whole or columns >= WIDE or (size <= MOST_BYTES and rows <= _MOST_ROWS)


def _is_regular(text: str) -> bool:
    """Return whether a delimiter is equally frequent in each line and no cell is quoted."""
    lines = [line for line in text.split("\n")[:_LOOKED_AT] if line.strip()]
    counts = [{line.count(mark) for line in lines} for mark in DELIMITERS]
    return any(len(found) == 1 and 0 not in found for found in counts) and not _WRAPS.search(text)


def _layout(
    text: str, whole: bool, encoding: str, given: Mapping[str, Any], schema: Schema | None
) -> Layout:
    if schema is not None and schema.dialect is not None:
        return _later_layout(text, schema, encoding, given)
    return detect_layout(text, whole, encoding, given)


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
    if schema is None:
        return _formats(names, sample, dialect, kinds)
    from aucstudio.project.data.text.later_files import guessed_forms, later_forms

    if schema.dialect is None:
        forms = guessed_forms(names, schema, sample, dialect.decimal)
    else:
        forms = later_forms(names, schema, given)
    sure = {column.name for column in schema.columns if column.kind is not None}
    return forms, frozenset(k for k, form in forms.items() if form and names[k] in sure)


def _check(path: Path, layout: Layout) -> None:
    dialect, sample = layout.dialect, layout.sample
    if sample.width < 2:
        raise InputError(
            f"{path} has only one column; tables are delimited by commas, semicolons, tabs, "
            "vertical bars or spaces; for another delimiter, choose it in the import options",
            file=str(path),
            setting="delimiter",
        )
    if dialect.header and any(sample.first[sample.width :]):
        line = dialect.skip + 1
        raise InputError(
            f"{path}, line {line}: the header row has {len(sample.first)} names, but most rows "
            f"have {sample.width} cells; make them equal",
            file=str(path),
            line=line,
        )


def no_rows(path: Path) -> InputError:
    sentence = f"{path} has a header row and nothing below it; choose a file with data"
    return InputError(sentence, file=str(path))


def _formats(
    names: list[str], sample: TextSample, dialect: Dialect, kinds: Mapping[str, str]
) -> tuple[Formats, frozenset[int]]:
    forms: Formats = dict.fromkeys(range(len(names)))
    for k, name in enumerate(names):
        cells = sample.column(k)
        told = kinds.get(name)
        if told != "text":
            forms[k] = guess_form(cells, dialect.decimal, dialect.number_words)
        if told == "number" and forms[k] is None:
            forms[k] = forced_form(cells, dialect.decimal)
    return forms, frozenset(k for k, name in enumerate(names) if kinds.get(name) == "number")


def _columns(names: list[str], contents: Contents) -> list[Column]:
    return [
        Column.of_cells(name, cells.values, cells.missing, cells.distinct, contents.forms[k])
        for k, (name, cells) in enumerate(zip(names, contents.cells, strict=True))
    ]


def _about_dialect(
    dialect: Dialect, decoding: Decoding, given: Mapping[str, Any]
) -> Iterator[Finding]:
    """Report how the file is laid out."""
    if decoding.is_sure and decoding.encoding != "utf-8":
        yield found("format_encoding", encoding=decoding.encoding)
    # What was given is known to the user, or to the reader that wrote the file.
    if dialect.skip and "skip" not in given:
        yield found("format_skipped", lines=dialect.skip)
    if dialect.edges:
        yield found("format_fixed_width")
    elif dialect.delimiter != ",":
        mark = _NAMES.get(dialect.delimiter, repr(dialect.delimiter))
        yield found("format_delimiter", mark=mark)
    if dialect.comment:
        yield found("format_comments", mark=dialect.comment)
    if dialect.decimal == ",":
        yield found("format_decimal_comma")


_NAMES = {"\t": "tabs", ";": "semicolons", "|": "vertical bars", " ": "blanks"}
