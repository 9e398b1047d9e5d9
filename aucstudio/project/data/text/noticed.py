"""What is worth saying of a text file that was read: sentences, with the columns they are about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from aucstudio.project.data.columns import Column, spell_number
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.codepages import encoded_twice
from aucstudio.project.data.text.codes import CODE
from aucstudio.project.data.text.contents import Contents, Kept
from aucstudio.project.data.text.dialect import Dialect, TextSample
from aucstudio.project.data.text.encoding import Decoding, is_utf8
from aucstudio.project.data.text.layout import Layout
from aucstudio.project.data.text.numerals import (
    NumberFormat,
    formats,
    is_missing_number,
    may_be_grouped,
)
from aucstudio.project.data.text.reasons import why_text
from aucstudio.project.data.text.rejects import Unreadable
from aucstudio.project.data.text.rows import AGAIN, HEADING, NOTE, TOTALS
from aucstudio.project.data.text.settle import (
    holds_codes,
    is_ambiguous,
    is_per_cent,
)

# A column is worth a word if it would be one of numbers but for some cells.
_NEARLY = 0.5
_SHOWN = 5
# Of codes that look like numbers there are so many.
_MOST_CODES = 12
# Rows that were left out for these reasons are told by their lines.
_SAID = (AGAIN, TOTALS, NOTE, HEADING)
_ZEROS = re.compile("0[0-9]+")
_POWER = re.compile("[0-9]+[eE][0-9]+")
_STAMPED = re.compile("time|date|stamp|epoch|_at$|^ts")
_DATED = re.compile("date|datum|fecha|data di")
_STAMPS = (
    (9e8, 2.2e9, _STAMPED, "seconds since 1970-01-01"),
    (9e11, 2.2e12, _STAMPED, "milliseconds since 1970-01-01"),
    # Of our time, and of people living.
    (5e3, 7.5e4, _DATED, "days since 1899-12-30, as spreadsheets count"),
)
# 1300 to 1500 and 2400 to 2700, as days since 1970-01-01.
_OTHER_YEARS = ((-244_712.0, -171_664.0), (157_054.0, 266_627.0))
_LAYOUT_WORDS = {
    "y-m-d": "year, month, day",
    "ymd": "year, month, day",
    "ymdhms": "year, month, day, time",
    "d.m.y": "day, month, year",
    "m/d/y": "month, day, year",
    "y年m月d日": "year, month, day",
    "d mon y": "day, month, year",
    "mon d y": "month, day, year",
    "y-m": "year, month",
    "m/y": "month, year",
    "mon y": "month, year",
    "mon year": "month, year",
}


def about_layout(
    layout: Layout, decoding: Decoding, names_told: Sequence[str], names: Sequence[str]
) -> Iterator[Finding]:
    """Say what was found above the rows: encoding and names."""
    yield from (Finding("encoding", sentence) for sentence in decoding.told)
    if is_utf8(decoding.encoding):
        yield from _encoded_twice([layout.header, *layout.sample.body])
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


def _protected(rows: Sequence[Sequence[str]]) -> Iterator[Finding]:
    """Say where a delimiter may be part of a cell, as databases write it."""
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
    """Say what columns hold that is not plain numbers or plain words."""
    names = [column.name for column in columns]
    yield from _stamped(columns)
    yield from _by_another_calendar(columns)
    yield from _missing(columns, sample, dialect)
    yield from about_cells(names, contents, sample, dialect, unreadable)


def about_cells(
    names: Sequence[str],
    contents: Contents | Kept,
    sample: TextSample,
    dialect: Dialect,
    unreadable: Mapping[str, Unreadable],
) -> Iterator[Finding]:
    """Say what columns hold, as far as the cells themselves are not needed."""
    forms = {name: contents.forms[k] for k, name in enumerate(names)}
    cells = {name: sample.column(k) for k, name in enumerate(names)}
    yield from _about_forms(forms, cells)
    yield from _in_thousands(forms, cells, dialect)
    yield from _about_dates(forms, cells)
    yield from _about_codes(forms, cells, dialect)
    yield from _powers(forms, cells)
    yield from _same_numbers(forms, cells)
    yield from _named_again(names, unreadable)
    yield from about_unreadable(unreadable)
    strays = {
        k: _stray(sample.column(k), dialect) for k, form in contents.forms.items() if form is None
    } | contents.strays
    for k, cell in sorted(strays.items()):
        if CODE.fullmatch(cell):
            yield _codes(names[k])
        elif cell:
            sentence = f"column {names[k]} is read as text, because {cell!r} in it is not a number"
            yield Finding("kind", sentence, (names[k],))
    for k, (name, form) in enumerate(forms.items()):
        if form is None and not strays.get(k) and (why := why_text(cells[name], dialect)):
            yield Finding("kind", f"column {name} is read as text, because {why}", (name,))
    yield from _left_out(contents)


def _named_again(names: Sequence[str], unreadable: Mapping[str, Unreadable]) -> Iterator[Finding]:
    """Say where the names come again in another order, among numbers."""
    known = set(names)
    strange = {name: one for name, one in unreadable.items() if {one.text} & (known - {name})}
    if len(strange) > 1:
        line = next(iter(strange.values())).line
        yield Finding(
            "header",
            f"line {line} holds the names in another order: cells below it may stand in the "
            f"columns of others, such as {', '.join(strange)}",
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
    """Say which numbers of three places could be thousands, if no number of the file tells."""
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


def _about_dates(
    forms: Mapping[str, NumberFormat | None], cells: Mapping[str, list[str]]
) -> Iterator[Finding]:
    for name, form in forms.items():
        if form is None or not form.layout:
            continue
        if form.layout in dates.LASTING:
            yield Finding("kind", f"column {name} holds durations, read as hours", (name,))
        elif form.layout == "h:m":
            yield Finding("kind", f"column {name} holds times of day, read as hours", (name,))
        else:
            order = _LAYOUT_WORDS[form.layout]
            doubt = ""
            if is_ambiguous(form, cells[name]):
                doubt = "; day and month could be the other way round"
                if form.layout == "mon y":
                    doubt = "; what is read as years could be days"
            other = (
                next(filter(dates.is_iso, cells[name]), None) if form.layout != dates.ISO else None
            )
            if other is not None:
                doubt += f"; some have the year in front, as {other!r}"
            elsewhere = next(filter(dates.zoned, cells[name]), None)
            if elsewhere is not None and form.matches(elsewhere):
                there = dates.spell(form.read(elsewhere), form.layout)
                doubt += f"; times count in UTC: {elsewhere!r} is {there}, and so are its parts"
            elsewhere = next(filter(dates.named_zone, cells[name]), None)
            if elsewhere is not None and form.matches(elsewhere):
                doubt += f"; names of time zones, as in {elsewhere!r}, are left out"
            sentence = f"column {name} holds dates ({order}), read as days since 1970-01-01{doubt}"
            yield Finding("kind", sentence, (name,))


def _stamped(columns: Sequence[Column]) -> Iterator[Finding]:
    """Say which numbers look like the times of computers."""
    for column in columns:
        if unit := _stamps(column):
            sentence = f"column {column.name} looks like times: {unit}"
            yield Finding("kind", sentence, (column.name,))


def _by_another_calendar(columns: Sequence[Column]) -> Iterator[Finding]:
    """Say where years are those of another calendar, as in Iran (1402) and in Thailand (2566)."""
    for column in columns:
        if not column.layout or column.layout == dates.CLOCK or column.missing == column.height:
            continue
        first, last = float(np.nanmin(column.values)), float(np.nanmax(column.values))
        if any(least <= first and last <= most for least, most in _OTHER_YEARS):
            years = " to ".join(
                dict.fromkeys(dates.spell(day, dates.ISO)[:4] for day in (first, last))
            )
            sentence = (
                f"column {column.name} has the years {years}, which may be those of another "
                "calendar: days and months are counted as if they were not"
            )
            yield Finding("kind", sentence, (column.name,))


def _stamps(column: Column) -> str:
    """Tell the unit of what may be times as computers count; empty if it cannot be that."""
    name = column.name.lower()
    called = [stamp for stamp in _STAMPS if stamp[2].search(name)]
    # The name first: of very many columns, a look at all cells would take seconds.
    is_plain = column.kind == "number" and not column.layout
    if not called or not is_plain or not column.different.exceeds(1):
        return ""
    if not column.is_integer():
        return ""
    known = column.values[column.known()]
    low, high = float(known.min()), float(known.max())
    units = (unit for least, most, _, unit in called if least <= low and high <= most)
    return next(units, "")


def _about_codes(
    forms: Mapping[str, NumberFormat | None], cells: Mapping[str, list[str]], dialect: Dialect
) -> Iterator[Finding]:
    for name, form in forms.items():
        if form is None and holds_codes(cells[name], dialect.number_words):
            yield _codes(name)


def _codes(name: str) -> Finding:
    sentence = f"column {name} holds codes with leading zeros and is read as text"
    return Finding("identifier", sentence, (name,))


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
    """Say which cells of columns of numbers are none."""
    for name, found in unreadable.items():
        yield Finding("kind", _unreadable(name, found), (name,), found.count)


def _unreadable(name: str, found: Unreadable) -> str:
    """Say which cells of a column of numbers are none."""
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


def _same_numbers(
    forms: Mapping[str, NumberFormat | None], cells: Mapping[str, list[str]]
) -> Iterator[Finding]:
    """Say where a few spellings that come again and again may be codes, such as 1.2 and 1.20."""
    for name, form in forms.items():
        known = [cell for cell in cells[name] if cell] if form and not form.layout else []
        spelled = set(known)
        if form is None or 2 * len(spelled) > len(known) or len(spelled) > _MOST_CODES:
            continue
        mark = form.decimal
        places = {len(cell.partition(mark)[2]) for cell in spelled}
        twins = [
            (cell[:-1], cell) for cell in sorted(spelled) if mark in cell and cell[:-1] in spelled
        ]
        if len(places) > 1 and (twin := next((two for two in twins if two[1][-1] == "0"), None)):
            sentence = (
                f"column {name}: {twin[0]!r} and {twin[1]!r} are read as the same number; make it "
                "one of categories if these are codes"
            )
            yield Finding("kind", sentence, (name,))


def _powers(
    forms: Mapping[str, NumberFormat | None], cells: Mapping[str, list[str]]
) -> Iterator[Finding]:
    """Say where cells that may be codes are read as powers of ten."""
    for name, form in forms.items():
        known = [cell for cell in cells[name] if cell] if form and not form.layout else []
        if form and known and all(map(_POWER.fullmatch, known)):
            read = spell_number(form.read(known[0]))
            sentence = (
                f"column {name} is read as powers of ten: {known[0]!r} is {read}; make it one of "
                "categories if these are codes"
            )
            yield Finding("kind", sentence, (name,))


def _left_out(contents: Contents | Kept) -> Iterator[Finding]:
    """Say which rows were left out: those that are no rows, and those that cannot be read."""
    astray, line = contents.astray
    if astray:
        plural = "s have" if astray > 1 else " has"
        sentence = (
            f"{astray} row{plural} quotation marks that are never closed or stand inside cells, "
            f"the first in line {line}"
        )
        yield Finding("rejected", sentence, (), astray)
    others = [row for row in contents.rejected if row.reason not in _SAID]
    for reason in _SAID:
        lines = [row.line for row in contents.rejected if row.reason == reason]
        if lines:
            shown = ", ".join(map(str, lines[:_SHOWN])) + (" ..." if len(lines) > _SHOWN else "")
            sentence = f"line{'s' if len(lines) > 1 else ''} {shown} left out: {reason}"
            yield Finding("header" if reason == AGAIN else "rejected", sentence, (), len(lines))
    count = contents.rejected_rows - (len(contents.rejected) - len(others))
    if count and others:
        sentence = (
            f"{count} row{'s' if count > 1 else ''} left out, the first in line "
            f"{others[0].line}: {others[0].reason}"
        )
        yield Finding("rejected", sentence, (), count)


def _about(names: list[str], one: str, several: str) -> Iterator[Finding]:
    """Say something about columns; nothing if there are none."""
    if names:
        more = len(names) - _SHOWN
        shown = ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
        sentence = f"column {shown} {one}" if len(names) == 1 else f"columns {shown} {several}"
        yield Finding("kind", sentence, tuple(names))
