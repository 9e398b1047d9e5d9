"""What is worth saying of a text file that was read: sentences, with the columns they are about."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence

from aucstudio.project.data.choices import listed
from aucstudio.project.data.columns import Column, spell_number
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.text.about_codes import (
    about_codes,
    codes_finding,
    powers_of_ten,
    same_numbers,
)
from aucstudio.project.data.text.about_days import (
    about_calendars,
    about_dates,
    about_hours,
    about_stamps,
)
from aucstudio.project.data.text.codepages import encoded_twice
from aucstudio.project.data.text.column_types import CODE, is_per_cent
from aucstudio.project.data.text.contents import Contents
from aucstudio.project.data.text.dialect import Dialect, TextSample
from aucstudio.project.data.text.encoding import Decoding, is_utf8
from aucstudio.project.data.text.layout import Layout
from aucstudio.project.data.text.missing import is_missing_number
from aucstudio.project.data.text.numerals import NumberFormat, formats, may_be_grouped
from aucstudio.project.data.text.reasons import why_text
from aucstudio.project.data.text.rejects import Unreadable
from aucstudio.project.data.text.rows import AGAIN, HEADING, NOTE, TOTALS

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
    yield from (Finding("encoding", sentence) for sentence in decoding.told)
    if is_utf8(decoding.encoding):
        yield from _encoded_twice([layout.header, *layout.sample.body])
    yield from _marked_up(layout.sample.body)
    yield from _protected(layout.sample.body)
    yield from (Finding("header", sentence) for sentence in layout.notes)
    if (
        layout.dialect.header
        and layout.dialect.short_header == "last"
        and any(layout.sample.column(layout.sample.width - 1))
    ):
        yield Finding(
            "header",
            f"the header has one name too few: names were given from the left, and the last "
            f"column is called {names[-1]!r}",
            (names[-1],),
        )
    yield from (Finding("header", sentence) for sentence in names_told)


def _encoded_twice(rows: Sequence[Sequence[str]]) -> Iterator[Finding]:
    text = " ".join(cell for row in rows for cell in row if not cell.isascii())
    word, once = encoded_twice(text) if text else ("", "")
    if word:
        sentence = f"words such as {word!r} were encoded twice: {once!r} is meant"
        yield Finding("encoding", sentence)


def _marked_up(rows: Sequence[Sequence[str]]) -> Iterator[Finding]:
    """Report where letters and signs are written as in web pages: ``&amp;`` for ``&``."""
    found = (_ENTITY.search(cell) for row in rows for cell in row if "&" in cell)
    if (sign := next(filter(None, found), None)) and html.unescape(sign[0]) != sign[0]:
        yield Finding(
            "encoding",
            f"HTML entities are kept as they are: {sign[0]!r} stands for "
            f"{html.unescape(sign[0])!r}",
        )


def _protected(rows: Sequence[Sequence[str]]) -> Iterator[Finding]:
    """Report where a delimiter may be part of a cell, as databases write it."""
    cell = next((cell for row in rows for cell in row[:-1] if cell.endswith("\\")), "")
    if cell:
        yield Finding(
            "kind",
            f"cells end in a backslash, as {cell!r}: if it protects the mark after it, they go on",
        )


def about_columns(
    columns: Sequence[Column],
    contents: Contents,
    sample: TextSample,
    dialect: Dialect,
    unreadable: Mapping[str, Unreadable],
) -> Iterator[Finding]:
    """Report what columns hold that is not plain numbers or plain words."""
    names = [column.name for column in columns]
    yield from about_stamps(columns)
    yield from about_calendars(columns)
    yield from _missing(columns, sample, dialect)
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
    yield from about_dates(forms, cells)
    yield from about_hours(forms, cells, dialect.decimal)
    yield from about_codes(forms, cells, dialect)
    yield from powers_of_ten(forms, cells)
    yield from same_numbers(forms, cells)
    yield from _named_again(names, unreadable)
    yield from about_unreadable(unreadable)
    strays = {
        k: _stray(sample.column(k), dialect) for k, form in contents.forms.items() if form is None
    } | contents.strays
    for k, cell in sorted(strays.items()):
        if CODE.fullmatch(cell):
            yield codes_finding(names[k])
        elif cell:
            sentence = f"column {names[k]} is read as text, because {cell!r} in it is not a number"
            yield Finding("kind", sentence, (names[k],))
    for k, (name, form) in enumerate(forms.items()):
        if form is None and not strays.get(k) and (why := why_text(cells[name], dialect)):
            yield Finding("kind", f"column {name} is read as text, because {why}", (name,))
    yield from _left_out(contents)


def _named_again(names: Sequence[str], unreadable: Mapping[str, Unreadable]) -> Iterator[Finding]:
    """Report where the names come again in another order, among numbers."""
    known = set(names)
    strange = {name: one for name, one in unreadable.items() if {one.text} & (known - {name})}
    if len(strange) > 1:
        line = next(iter(strange.values())).line
        yield Finding(
            "header",
            f"line {line} repeats the names in another order: cells below it may be in the "
            f"wrong columns, such as {', '.join(strange)}",
            tuple(strange),
        )


def _about_forms(
    forms: Mapping[str, NumberFormat | None], cells: Mapping[str, list[str]]
) -> Iterator[Finding]:
    known = {name: form for name, form in forms.items() if form is not None}
    yield from _about(
        [name for name, form in known.items() if form.grouped and not form.dressed],
        "has thousands marks in its numbers",
        "have thousands marks in their numbers",
    )
    yield from _about(
        [name for name, form in known.items() if is_per_cent(form)],
        "is in per cent: 5% is read as 5",
        "are in per cent: 5% is read as 5",
    )
    for name, form in known.items():
        if form.affix and not is_per_cent(form):
            yield Finding("kind", f"column {name} is in {form.affix}", (name,))
    for name, form in known.items():
        if form.dressed:
            yield from _about_dress(name, form, cells[name])
    yield from _about(
        [
            name
            for name, form in known.items()
            if not form.layout and any(c[:1] == "0" and _ZEROS.fullmatch(c) for c in cells[name])
        ],
        "holds codes with leading zeros, read as numbers",
        "hold codes with leading zeros, read as numbers",
    )


def _about_dress(name: str, form: NumberFormat, cells: Sequence[str]) -> Iterator[Finding]:
    noted = next((cell for cell in cells if form.matches(cell) and form.is_noted(cell)), "")
    if noted:
        read = spell_number(form.read(noted))
        sentence = (
            f"column {name} has marks behind numbers, which are left out: {noted!r} is {read}"
        )
        yield Finding("kind", sentence, (name,))
    if form.affix:
        return
    plain = formats(form.decimal)
    known = (cell for cell in cells if form.matches(cell) and not form.is_noted(cell))
    other = next((cell for cell in known if not any(p.matches(cell) for p in plain)), "")
    if other:
        read = spell_number(form.read(other))
        sentence = f"column {name} has numbers in another notation: {other!r} is {read}"
        yield Finding("kind", sentence, (name,))


def _in_thousands(
    forms: Mapping[str, NumberFormat | None], cells: Mapping[str, list[str]], dialect: Dialect
) -> Iterator[Finding]:
    """Report which numbers of three places could be thousands, if no number of the file tells."""
    if dialect.delimiter == "," and dialect.decimal == ".":
        return
    plain = [
        name
        for name, form in forms.items()
        if form and form.decimal == dialect.decimal and not (form.dressed or form.layout)
    ]
    marked = {name: [cell for cell in cells[name] if dialect.decimal in cell] for name in plain}
    if not all(may_be_grouped(cell) for some in marked.values() for cell in some):
        return
    for name, some in marked.items():
        if some:
            read, other = some[0].replace(",", "."), some[0].replace(dialect.decimal, "")
            sentence = (
                f"column {name}: {some[0]!r} is read as {read}; with a mark of thousands it would "
                f"be {other}"
            )
            yield Finding("kind", sentence, (name,))


def _missing(columns: Sequence[Column], sample: TextSample, dialect: Dialect) -> Iterator[Finding]:
    """Name the words that were taken for missing values, as far as the sample shows them."""
    words: dict[str, None] = {}
    total = 0
    for k, column in enumerate(columns):
        total += column.missing
        if column.missing:
            said = dialect.number_words if column.kind == "number" else dialect.text_words
            words |= dict.fromkeys(c for c in sample.column(k) if c and c.lower() in said)
    if total:
        also = f", spelled {', '.join(map(repr, words))} or empty" if words else ""
        plural = "s" if total > 1 else ""
        yield Finding("missing", f"{total} cell{plural} without a value{also}", (), total)


def about_unreadable(unreadable: Mapping[str, Unreadable]) -> Iterator[Finding]:
    """Report which cells of columns of numbers are none."""
    for name, found in unreadable.items():
        yield Finding("kind", _unreadable(name, found), (name,), found.count)


def _unreadable(name: str, found: Unreadable) -> str:
    """Report which cells of a column of numbers are none."""
    shown = [f"{text!r} ({count})" if count > 1 else repr(text) for text, count in found.spellings]
    more = found.count - sum(count for _, count in found.spellings)
    listed = ", ".join(shown[:_SHOWN]) or repr(found.text)
    if len(shown) > _SHOWN or more:
        listed += " and others"
    plural = "s are no numbers and count" if found.count > 1 else " is no number and counts"
    where = "" if found.line is None else f"; the first in line {found.line}"
    return f"column {name}: {found.count} cell{plural} as missing: {listed}{where}"


def _stray(cells: list[str], dialect: Dialect) -> str:
    """Find the cell that spoils a column of numbers; empty if it is text anyway."""
    known = [cell for cell in cells if not is_missing_number(cell, dialect.number_words)]
    other = [cell for cell in known if not any(form.matches(cell) for form in formats("."))]
    return other[0] if other and len(other) <= (1 - _NEARLY) * len(known) else ""


def _left_out(contents: Contents) -> Iterator[Finding]:
    """Report which rows were left out: those that are no rows, and those that cannot be read."""
    astray, line = contents.left_out.astray
    if astray:
        plural = "s have" if astray > 1 else " has"
        sentence = (
            f"{astray} row{plural} quotation marks that are never closed or lie inside cells, "
            f"the first in line {line}"
        )
        yield Finding("rejected", sentence, (), astray)
    others = [row for row in contents.left_out.listed if row.reason not in _SAID]
    for reason in _SAID:
        lines = [row.line for row in contents.left_out.listed if row.reason == reason]
        if lines:
            shown = ", ".join(map(str, lines[:_SHOWN])) + (" ..." if len(lines) > _SHOWN else "")
            sentence = f"line{'s' if len(lines) > 1 else ''} {shown} left out: {reason}"
            yield Finding("header" if reason == AGAIN else "rejected", sentence, (), len(lines))
    count = contents.left_out.total - (len(contents.left_out.listed) - len(others))
    if count and others:
        sentence = (
            f"{count} row{'s' if count > 1 else ''} left out, the first in line "
            f"{others[0].line}: {others[0].reason}"
        )
        yield Finding("rejected", sentence, (), count)


def _about(names: list[str], one: str, several: str) -> Iterator[Finding]:
    """Report something about columns; nothing if there are none."""
    if names:
        shown = listed(names, _SHOWN)
        sentence = f"column {shown} {one}" if len(names) == 1 else f"columns {shown} {several}"
        yield Finding("kind", sentence, tuple(names))
