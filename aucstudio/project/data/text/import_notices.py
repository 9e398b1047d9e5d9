"""Notices about an imported text file."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from aucstudio.project.data.choices import listed
from aucstudio.project.data.columns import Column, spell_number
from aucstudio.project.data.finding import Finding, noticed, said
from aucstudio.project.data.text.column_notices import about_numbers, about_times, why_text
from aucstudio.project.data.text.column_types import CODE, is_per_cent
from aucstudio.project.data.text.contents import Contents, Unreadable
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

# A column is worth a word if it would be one of numbers but for some cells.
_NEARLY = 0.5
_SHOWN = 5
# Rows that were left out for these reasons are told by their lines.
_SAID = (AGAIN, TOTALS, NOTE, HEADING)
_ZEROS = re.compile("0[0-9]+")
_ENTITY = re.compile("&(?:[A-Za-z][A-Za-z0-9]{1,7}|#[0-9]{2,6}|#x[0-9A-Fa-f]{2,5});")


def about_layout(
    layout: Layout, decoding: Decoding, names_told: Sequence[str], names: Sequence[str]
) -> Iterator[Finding]:
    """Report what was found above the rows: encoding and names."""
    rows, dialect = layout.sample.body, layout.dialect
    yield from decoding.findings
    if is_utf8(decoding.encoding):
        yield from _encoded_twice([layout.header, *rows])
    # Letters and signs as in web pages: ``&amp;`` for ``&``.
    entities = (_ENTITY.search(cell) for row in rows for cell in row if "&" in cell)
    if (sign := next(filter(None, entities), None)) and html.unescape(sign[0]) != sign[0]:
        yield noticed("encoding", "import_entities", sign=sign[0], meant=html.unescape(sign[0]))
    # A delimiter may be part of a cell, as databases write it.
    if cell := next((cell for row in rows for cell in row[:-1] if cell.endswith("\\")), ""):
        yield noticed("kind", "import_backslash", cell=cell)
    yield from layout.findings
    if dialect.header and dialect.short_header == "last" and any(layout.sample.column(-1)):
        yield noticed("header", "import_short_header", (names[-1],), column=names[-1])
    yield from (Finding("header", sentence) for sentence in names_told)


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
    sample: TextSample,
    dialect: Dialect,
    unreadable: Mapping[str, Unreadable],
) -> Iterator[Finding]:
    """Report what columns hold that is not plain numbers or plain words."""
    yield from about_times(columns)
    yield from about_missing(columns, _missing_words(columns, sample, dialect))
    names = [column.name for column in columns]
    yield from about_cells(names, contents, sample, dialect, unreadable)


def about_cells(
    names: Sequence[str],
    contents: Contents,
    sample: TextSample,
    dialect: Dialect,
    unreadable: Mapping[str, Unreadable],
) -> Iterator[Finding]:
    """Report what columns hold, as far as the cells themselves are not needed."""
    forms = {name: contents.forms[k] for k, name in enumerate(names)}
    cells = {name: sample.column(k) for k, name in enumerate(names)}
    yield from _about_forms(forms, cells)
    yield from _in_thousands(forms, cells, dialect)
    yield from about_numbers(forms, cells, dialect)
    yield from _named_again(names, unreadable)
    yield from about_unreadable(unreadable)
    for k, (name, form) in enumerate(forms.items()):
        if form is not None:
            continue
        stray = contents.strays.get(k) or _stray(cells[name], dialect)
        if CODE.fullmatch(stray):
            yield noticed("identifier", "import_codes", (name,), column=name)
        elif why := said("import_stray", cell=stray) if stray else why_text(cells[name], dialect):
            yield noticed("kind", "import_text", (name,), column=name, why=why)
    yield from _left_out(contents)


def _named_again(names: Sequence[str], unreadable: Mapping[str, Unreadable]) -> Iterator[Finding]:
    """Report where the names come again in another order, among numbers."""
    known = {*names}
    strange = {name: one for name, one in unreadable.items() if {one.text} & (known - {name})}
    if len(strange) > 1:
        line = next(iter(strange.values())).line
        yield noticed(
            "header", "import_names_again", tuple(strange), line=line, columns=_listed(strange)
        )


def _about_forms(
    forms: Mapping[str, NumberFormat | None], cells: Mapping[str, list[str]]
) -> Iterator[Finding]:
    known = {name: form for name, form in forms.items() if form is not None}
    yield from _about(
        "import_grouped",
        "import_grouped_several",
        [n for n, f in known.items() if f.grouped and not f.dressed],
    )
    yield from _about(
        "import_per_cent",
        "import_per_cent_several",
        [name for name, form in known.items() if is_per_cent(form)],
    )
    for name, form in known.items():
        if form.affix and not is_per_cent(form):
            yield noticed("kind", "import_unit", (name,), column=name, unit=form.affix)
    for name, form in known.items():
        if form.dressed:
            yield from _about_dress(name, form, cells[name])
    zeros = (
        name
        for name, form in known.items()
        if not form.layout and any(c[:1] == "0" and _ZEROS.fullmatch(c) for c in cells[name])
    )
    yield from _about("import_zeros", "import_zeros_several", [*zeros])


def _about_dress(name: str, form: NumberFormat, cells: Sequence[str]) -> Iterator[Finding]:
    noted = [cell for cell in cells if form.matches(cell) and form.is_noted(cell)]
    plain = formats(form.decimal)
    known = (cell for cell in cells if form.matches(cell) and not form.is_noted(cell))
    others = (cell for cell in known if not any(one.matches(cell) for one in plain))
    other = "" if form.affix else next(others, "")
    for code, cell in (("import_noted", noted[0] if noted else ""), ("import_notation", other)):
        if cell:
            value = spell_number(form.read(cell))
            yield noticed("kind", code, (name,), column=name, cell=cell, value=value)


def _in_thousands(
    forms: Mapping[str, NumberFormat | None], cells: Mapping[str, list[str]], dialect: Dialect
) -> Iterator[Finding]:
    """Report numbers with three decimals that could be thousands, if no other number decides."""
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
    """Count the missing values, and list the words that were read as such."""
    total = sum(column.missing for column in columns)
    shown = ", ".join(map(repr, words))
    if shown:
        yield noticed("missing", "import_missing_words", (), total, cells=total, words=shown)
    elif total:
        yield noticed("missing", "import_missing", (), total, cells=total)


def _missing_words(
    columns: Sequence[Column], sample: TextSample, dialect: Dialect
) -> dict[str, None]:
    """Return the words that were read as missing values, as far as the sample shows them."""
    words: dict[str, None] = {}
    for k, column in enumerate(columns):
        if column.missing:
            known = dialect.number_words if column.kind == "number" else dialect.text_words
            words |= dict.fromkeys(c for c in sample.column(k) if c and c.lower() in known)
    return words


def about_unreadable(unreadable: Mapping[str, Unreadable]) -> Iterator[Finding]:
    """Report which cells of columns of numbers are none."""
    for name, one in unreadable.items():
        shown = [f"{text!r} ({n})" if n > 1 else repr(text) for text, n in one.spellings]
        more = len(shown) > _SHOWN or one.count > sum(count for _, count in one.spellings)
        cells = (", ".join(shown[:_SHOWN]) or repr(one.text)) + (" and others" if more else "")
        where = "" if one.line is None else f"; the first in line {one.line}"
        code = "import_unreadable" if one.count > 1 else "import_unreadable_one"
        facts = {"column": name, "count": one.count, "cells": cells, "where": where}
        yield noticed("kind", code, (name,), one.count, **facts)


def _stray(cells: list[str], dialect: Dialect) -> str:
    """Find the cell that spoils a column of numbers; empty if it is text anyway."""
    known = [cell for cell in cells if not is_missing_number(cell, dialect.number_words)]
    other = [cell for cell in known if not any(form.matches(cell) for form in formats("."))]
    return other[0] if other and len(other) <= (1 - _NEARLY) * len(known) else ""


def _left_out(contents: Contents) -> Iterator[Finding]:
    """Report which rows were left out: those that are no rows, and those that cannot be read."""
    left_out = contents.left_out
    for code, (rows, line) in left_out.repairs.items():
        code = code if rows > 1 else f"{code}_one"
        yield noticed("rejected", code, (), rows, rows=rows, line=line)
    others = [row for row in left_out.listed if row.reason not in _SAID]
    for reason in _SAID:
        lines = [str(row.line) for row in left_out.listed if row.reason == reason]
        if lines:
            code = "import_lines" if len(lines) > 1 else "import_line"
            kind = "header" if reason == AGAIN else "rejected"
            yield noticed(kind, code, (), len(lines), lines=_listed(lines), why=reason)
    count = left_out.total - (len(left_out.listed) - len(others))
    if count and others:
        line, reason = others[0].line, others[0].reason
        yield noticed("rejected", "import_rejected", (), count, rows=count, line=line, why=reason)


def _listed(words: Iterable[str]) -> str:
    first = [*itertools.islice(words, _SHOWN + 1)]
    return ", ".join(first[:_SHOWN]) + (" ..." if len(first) > _SHOWN else "")


def _about(one: str, several: str, names: list[str]) -> Iterator[Finding]:
    """Report something about columns; nothing if there are none."""
    if names:
        code = several if len(names) > 1 else one
        yield noticed("kind", code, tuple(names), columns=listed(names, _SHOWN))
