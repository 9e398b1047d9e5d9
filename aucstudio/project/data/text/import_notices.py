"""Notices about an imported text file."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from aucstudio.notices.words import listed
from aucstudio.project.data.columns import Column, spell_number
from aucstudio.project.data.finding import Finding, found, noticed, said
from aucstudio.project.data.text.column_notices import about_numbers, about_times, why_text
from aucstudio.project.data.text.column_types import CODE, is_per_cent
from aucstudio.project.data.text.contents import Contents, Source, Unreadable
from aucstudio.project.data.text.dialect import Dialect, TextSample
from aucstudio.project.data.text.encoding import Decoding, is_utf8
from aucstudio.project.data.text.footer import HEADING, NOTE, TOTALS
from aucstudio.project.data.text.layout import Layout
from aucstudio.project.data.text.numerals import (
    NumberFormat,
    formats,
    is_missing_number,
    may_be_grouped,
)
from aucstudio.project.data.text.rows import AGAIN

Forms = Mapping[str, NumberFormat | None]
Samples = Mapping[str, list[str]]

# A text column is reported if at least this share of its cells are numbers.
_NEARLY = 0.5
_SHOWN = 5
# Reasons for leaving out rows that are reported with the lines.
_REPORTED = (AGAIN, TOTALS, NOTE, HEADING)
_ZEROS = re.compile("0[0-9]+")
_ENTITY = re.compile("&(?:[A-Za-z][A-Za-z0-9]{1,7}|#[0-9]{2,6}|#x[0-9A-Fa-f]{2,5});")


def about_layout(
    layout: Layout, decoding: Decoding, about_names: Sequence[Finding], names: Sequence[str]
) -> Iterator[Finding]:
    """Report the encoding, and what was found above the rows."""
    rows, dialect = layout.sample.body, layout.dialect
    yield from decoding.findings
    if is_utf8(decoding.encoding):
        yield from _encoded_twice([layout.header, *rows])
    entities = (_ENTITY.search(cell) for row in rows for cell in row if "&" in cell)
    if (sign := next(filter(None, entities), None)) and html.unescape(sign[0]) != sign[0]:
        yield noticed("encoding", "import_entities", sign=sign[0], meant=html.unescape(sign[0]))
    # Databases escape delimiters that are part of a cell.
    if cell := next((cell for row in rows for cell in row[:-1] if cell.endswith("\\")), ""):
        yield noticed("kind", "import_backslash", cell=cell)
    yield from layout.findings
    if dialect.header and dialect.short_header == "last" and any(layout.sample.column(-1)):
        yield noticed("header", "import_short_header", (names[-1],), column=names[-1])
    yield from about_names


def _encoded_twice(rows: Sequence[Sequence[str]]) -> Iterator[Finding]:
    text = " ".join(cell for row in rows for cell in row if not cell.isascii())
    if text:
        from aucstudio.project.data.text.codepages import encoded_twice

        word, once = encoded_twice(text)
        if word:
            yield noticed("encoding", "import_encoded_twice", word=word, once=once)


def about_columns(
    columns: Sequence[Column],
    contents: Contents,
    source: Source,
    unreadable: Mapping[str, Unreadable],
) -> Iterator[Finding]:
    """Report how the cells of columns were read."""
    yield from about_times(columns)
    yield from about_missing(columns, _missing_words(columns, source.sample, source.dialect))
    yield from about_cells(contents, source, unreadable)


def about_cells(
    contents: Contents, source: Source, unreadable: Mapping[str, Unreadable]
) -> Iterator[Finding]:
    """Report how cells were read, as far as the sample shows it."""
    names, dialect = source.names, source.dialect
    forms = {name: contents.forms[k] for k, name in enumerate(names)}
    cells = {name: source.sample.column(k) for k, name in enumerate(names)}
    yield from _about_forms(forms, cells)
    yield from _about_thousands(forms, cells, dialect)
    yield from about_numbers(forms, cells, dialect)
    yield from _about_repeated_names(names, unreadable)
    yield from about_unreadable(unreadable)
    for k, (name, form) in enumerate(forms.items()):
        if form is not None:
            continue
        stray = contents.strays.get(k) or _stray(cells[name], dialect)
        if CODE.fullmatch(stray):
            yield noticed("identifier", "import_codes", (name,), column=name)
        elif why := said("import_stray", cell=stray) if stray else why_text(cells[name], dialect):
            yield noticed("kind", "import_text", (name,), column=name, why=why)
    yield from _about_rows(contents)


def _about_repeated_names(
    names: Sequence[str], unreadable: Mapping[str, Unreadable]
) -> Iterator[Finding]:
    """Report a row that holds the names in another order, in columns of numbers."""
    known = {*names}
    found = {name: one for name, one in unreadable.items() if {one.text} & (known - {name})}
    if len(found) > 1:
        line, shown = next(iter(found.values())).line, _first_of(found)
        yield noticed("header", "import_names_again", tuple(found), line=line, columns=shown)


def _about_forms(forms: Forms, cells: Samples) -> Iterator[Finding]:
    known = {name: form for name, form in forms.items() if form is not None}
    with_zeros = [
        name
        for name, form in known.items()
        if not form.layout and any(c[:1] == "0" and _ZEROS.fullmatch(c) for c in cells[name])
    ]
    yield from _several("import_grouped", [n for n, f in known.items() if _is_grouped(f)])
    yield from _several("import_per_cent", [n for n, f in known.items() if is_per_cent(f)])
    for name, form in known.items():
        if form.affix and not is_per_cent(form):
            yield noticed("kind", "import_unit", (name,), column=name, unit=form.affix)
    for name, form in known.items():
        if form.dressed:
            yield from _about_notation(name, form, cells[name])
    yield from _several("import_zeros", with_zeros)


def _is_grouped(form: NumberFormat) -> bool:
    return form.grouped and not form.dressed


def _several(code: str, names: list[str]) -> Iterator[Finding]:
    """Report one fact about some columns, if there are any."""
    if names:
        shown = listed(names, _SHOWN)
        yield noticed("kind", code, tuple(names), columns=shown, count=len(names))


def _about_notation(name: str, form: NumberFormat, cells: Sequence[str]) -> Iterator[Finding]:
    """Report marks after numbers, and numbers that are plain in no other format."""
    known = [cell for cell in cells if form.matches(cell)]
    noted = next(filter(form.is_noted, known), "")
    plain = formats(form.decimal)
    others = (
        cell
        for cell in known
        if not form.is_noted(cell) and not any(one.matches(cell) for one in plain)
    )
    other = "" if form.affix else next(others, "")
    for code, cell in (("import_noted", noted), ("import_notation", other)):
        if cell:
            value = spell_number(form.read(cell))
            yield noticed("kind", code, (name,), column=name, cell=cell, value=value)


def _about_thousands(forms: Forms, cells: Samples, dialect: Dialect) -> Iterator[Finding]:
    """Report numbers with three decimals that may be thousands, if no other number decides."""
    mark = dialect.decimal
    if dialect.delimiter == "," and mark == ".":
        return
    marked = {
        name: [cell for cell in cells[name] if mark in cell]
        for name, form in forms.items()
        if form and form.decimal == mark and not (form.dressed or form.layout)
    }
    if not all(may_be_grouped(cell) for some in marked.values() for cell in some):
        return
    for name, (cell, *_) in ((name, some) for name, some in marked.items() if some):
        value, other = cell.replace(",", "."), cell.replace(mark, "")
        yield noticed(
            "kind", "import_thousands", (name,), column=name, cell=cell, value=value, other=other
        )


def about_missing(columns: Sequence[Column], words: Iterable[str] = ()) -> Iterator[Finding]:
    """Report the number of missing values, and the words that were read as missing."""
    total = sum(column.missing for column in columns)
    shown = ", ".join(map(repr, words))
    if shown:
        yield noticed("missing", "import_missing_words", (), total, cells=total, words=shown)
    elif total:
        yield noticed("missing", "import_missing", (), total, cells=total)


def _missing_words(
    columns: Sequence[Column], sample: TextSample, dialect: Dialect
) -> dict[str, None]:
    """Return the words in the sample that were read as missing values."""
    words: dict[str, None] = {}
    for k, column in enumerate(columns):
        if column.missing:
            known = dialect.number_words if column.kind == "number" else dialect.text_words
            words |= dict.fromkeys(c for c in sample.column(k) if c and c.lower() in known)
    return words


def about_unreadable(unreadable: Mapping[str, Unreadable]) -> Iterator[Finding]:
    """Report the cells of columns of numbers that are not numbers."""
    for name, one in unreadable.items():
        shown = [f"{text!r} ({n})" if n > 1 else repr(text) for text, n in one.spellings]
        more = len(shown) > _SHOWN or one.count > sum(count for _, count in one.spellings)
        cells = (", ".join(shown[:_SHOWN]) or repr(one.text)) + (" and others" if more else "")
        where = "" if one.line is None else f"; the first in line {one.line}"
        facts = {"column": name, "count": one.count, "cells": cells, "where": where}
        yield noticed("kind", "import_unreadable", (name,), one.count, **facts)


def _stray(cells: list[str], dialect: Dialect) -> str:
    """Return the first cell that is not a number, if most are; else nothing."""
    known = [cell for cell in cells if not is_missing_number(cell, dialect.number_words)]
    other = [cell for cell in known if not any(form.matches(cell) for form in formats("."))]
    return other[0] if other and len(other) <= (1 - _NEARLY) * len(known) else ""


def _about_rows(contents: Contents) -> Iterator[Finding]:
    """Report rows that were repaired, rows that are not data, and rows that cannot be read."""
    left_out = contents.left_out
    for code, (rows, line) in left_out.repairs.items():
        yield noticed("rejected", code, (), rows, rows=rows, line=line)
    others = [row for row in left_out.listed if row.reason not in _REPORTED]
    for reason in _REPORTED:
        lines = [str(row.line) for row in left_out.listed if row.reason == reason]
        if lines:
            code, shown = "import_lines" if len(lines) > 1 else "import_line", _first_of(lines)
            kind = "header" if reason == AGAIN else "rejected"
            yield noticed(kind, code, (), len(lines), lines=shown, why=reason)
    count = left_out.total - (len(left_out.listed) - len(others))
    if count and others:
        line, reason = others[0].line, others[0].reason
        yield noticed("rejected", "import_rejected", (), count, rows=count, line=line, why=reason)


def _first_of(words: Iterable[str]) -> str:
    first = [*itertools.islice(words, _SHOWN + 1)]
    return ", ".join(first[:_SHOWN]) + (" ..." if len(first) > _SHOWN else "")


def about_dialect(
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
        mark = _MARK_NAMES.get(dialect.delimiter, repr(dialect.delimiter))
        yield found("format_delimiter", mark=mark)
    if dialect.comment:
        yield found("format_comments", mark=dialect.comment)
    if dialect.decimal == ",":
        yield found("format_decimal_comma")


_MARK_NAMES = {"\t": "tabs", ";": "semicolons", "|": "vertical bars", " ": "blanks"}
