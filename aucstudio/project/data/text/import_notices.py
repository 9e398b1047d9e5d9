"""Notices about an imported text file."""

from __future__ import annotations

import dataclasses
import html
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from aucstudio.notices.words import listed
from aucstudio.project.data import text as vocabulary
from aucstudio.project.data.columns import Column, spell_number
from aucstudio.project.data.finding import FORMAT, Finding, found, phrase, remark
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.column_types import (
    CODE,
    CURRENCIES,
    date_forms,
    holds_codes,
    is_ambiguous,
    unit_of,
)
from aucstudio.project.data.text.contents import Contents, Source, Unreadable
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.encoding import Decoding, is_utf8
from aucstudio.project.data.text.footer import HEADING, NOTE, TOTALS
from aucstudio.project.data.text.layout import Layout
from aucstudio.project.data.text.numerals import (
    NumberFormat,
    formats,
    known_numbers,
    may_be_grouped,
)
from aucstudio.project.data.text.rows import AGAIN

# The format of each column, and its cells in the sample.
Columns = Mapping[str, tuple[NumberFormat | None, list[str]]]

_SHOWN = 5
# Reasons for leaving out rows that are reported with the lines.
_REPORTED = (AGAIN, TOTALS, NOTE, HEADING)
_ENTITY = re.compile("&(?:[A-Za-z][A-Za-z0-9]{1,7}|#[0-9]{2,6}|#x[0-9A-Fa-f]{2,5});")
_MARK_NAMES = {"\t": "tabs", ";": "semicolons", "|": "vertical bars", " ": "blanks"}
_LAYOUT_WORDS: dict[str, str] = vocabulary.section("date_words")
_ZEROS, _POWER, _DIGIT = re.compile("0[0-9]+"), re.compile("[0-9]+[eE][0-9]+"), re.compile(r"\d")
_DURATION = re.compile(r"[0-9]+(?::[0-9]{2}){1,2}(?:[.,][0-9]+)?")
# Hours and minutes separated by a point, and the fewest cells of that form.
_HOUR, _FEWEST_HOURS = re.compile(r"(?:[01]?[0-9]|2[0-3])\.[0-5][0-9]"), 20
_CLOCKED = re.compile(r"zeit|time|uhr|\bhora|\bora\b|heure|\btid|klokke|clock")
# The most different spellings of codes that look like numbers.
_MOST_CODES = 12
# Numbers that count time: least, greatest, names of their columns, and unit. Days are those of
# recent decades, and of birth.
_STAMPED = re.compile("time|date|stamp|epoch|_at$|^ts")
_STAMPS = (
    (9e8, 2.2e9, _STAMPED, "seconds since 1970-01-01"),
    (9e11, 2.2e12, _STAMPED, "milliseconds since 1970-01-01"),
    (
        5e3,
        7.5e4,
        re.compile("date|datum|fecha|data di"),
        "days since 1899-12-30, as spreadsheets count",
    ),
)
# 1300 to 1500 and 2400 to 2700, as days since 1970-01-01.
_OTHER_YEARS = ((-244_712.0, -171_664.0), (157_054.0, 266_627.0))
# A number and something else.
_WITH_TEXT = re.compile(
    r"[^\w\[({]{0,2}[0-9][0-9.,' ]*[^\d\s,.:;/\-)}\]]\D{0,20}|"
    r"(?![A-Za-z0-9]+$)[^\w\[({]{0,2}[0-9\u00bc-\u00be\u2150-\u215e][\s\S]*"
)
# The least shares of numbers, and of numbers beside something, in a text column that is reported.
_NEARLY, _MOSTLY = 0.5, 0.7
_PLAIN = NumberFormat()


def about_layout(
    layout: Layout, decoding: Decoding, about_names: Sequence[Finding], names: Sequence[str]
) -> Iterator[Finding]:
    """Report the encoding, and what was found above the rows."""
    rows, dialect = layout.sample.body, layout.dialect
    yield from decoding.findings
    if is_utf8(decoding.encoding):
        yield from about_encoded_twice([layout.header, *rows])
    yield from about_entities(rows)
    # Databases escape delimiters that are part of a cell.
    if cell := next((cell for row in rows for cell in row[:-1] if cell.endswith("\\")), ""):
        yield remark("import_backslash", cell=cell)
    yield from layout.findings
    if dialect.header and dialect.short_header == "last" and any(layout.sample.columns[-1]):
        yield remark("import_short_header", (names[-1],), column=names[-1])
    yield from about_names


def about_entities(rows: Sequence[Sequence[str]]) -> Iterator[Finding]:
    """Report the first HTML entity in some rows."""
    entities = (_ENTITY.search(cell) for row in rows if "&" in "".join(row) for cell in row)
    if (sign := next(filter(None, entities), None)) and html.unescape(sign[0]) != sign[0]:
        yield remark("import_entities", sign=sign[0], meant=html.unescape(sign[0]))


def about_encoded_twice(rows: Sequence[Sequence[str]]) -> Iterator[Finding]:
    """Report text that was encoded twice in some rows."""
    text = " ".join(cell for row in rows for cell in row if not cell.isascii())
    if text:
        from aucstudio.project.data.text.codepages import encoded_twice

        word, once = encoded_twice(text)
        if word:
            yield remark("import_encoded_twice", word=word, once=once)


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


def about_columns(
    columns: Sequence[Column],
    contents: Contents,
    source: Source,
    unreadable: Mapping[str, Unreadable],
) -> Iterator[Finding]:
    """Report how the cells of columns were read."""
    yield from _about_times(columns)
    words = dict.fromkeys(contents.words)
    for cells in contents.cells:
        words |= dict.fromkeys(cells.words)
    if total := sum(column.missing for column in columns):
        listed_words = {"words": ", ".join(map(repr, words))} if words else {}
        code = "import_missing_words" if words else "import_missing"
        yield remark(code, (), total, cells=total, **listed_words)
    yield from about_cells(contents, source, unreadable)


def about_cells(
    contents: Contents, source: Source, unreadable: Mapping[str, Unreadable]
) -> Iterator[Finding]:
    """Report how cells were read, as far as the sample shows it."""
    names, dialect = source.names, source.dialect
    columns = {
        name: (contents.forms[k], source.sample.columns[k])
        for k, name in enumerate(names)
        if source.typed is None or k in source.typed.spelled
    }
    yield from _about_forms(columns)
    if limited := {names[k]: cells for k, (cells, way) in contents.limited.items() if way}:
        total, way = sum(limited.values()), dialect.limits
        yield remark(
            "import_limits", tuple(limited), total, cells=total, way=way, columns=_first_of(limited)
        )
    yield from _about_thousands(columns, dialect)
    for name, (form, cells) in columns.items():
        if form is not None and form.layout:
            yield _about_dates(name, form, cells)
        else:
            yield from _about_numbers(name, form, cells, dialect)
    yield from _about_repeated_names(names, unreadable)
    yield from about_unreadable(unreadable)
    strays = {names[k]: stray for k, stray in contents.strays.items()}
    for name, (form, cells) in columns.items():
        if form is None:
            yield from _about_text(name, cells, strays.get(name, ""), dialect)
    yield from _about_rows(contents)


def _about_column(code: str, name: str, **facts: object) -> Finding:
    return remark(code, (name,), column=name, **facts)


def _about_forms(columns: Columns) -> Iterator[Finding]:
    """Report thousands separators, units, and numbers in unusual notation."""
    known = {name: (form, cells) for name, (form, cells) in columns.items() if form is not None}
    several = {
        "import_grouped": [n for n, (f, _) in known.items() if f.grouped and not f.dressed],
        "import_per_cent": [n for n, (f, _) in known.items() if f.affix == "%"],
        "import_zeros": [
            name
            for name, (form, cells) in known.items()
            if not form.layout and any(c[:1] == "0" and _ZEROS.fullmatch(c) for c in cells)
        ],
    }
    for code, names in several.items():
        if names:
            shown = listed(names, _SHOWN)
            yield remark(code, tuple(names), columns=shown, count=len(names))
    for name, (form, cells) in known.items():
        if form.affix not in ("", "%"):
            yield _about_column("import_unit", name, unit=form.affix)
        if form.dressed:
            yield from _about_notation(name, form, cells)


def _about_notation(name: str, form: NumberFormat, cells: Sequence[str]) -> Iterator[Finding]:
    """Report marks after numbers, and numbers that are plain in no other format."""
    known = [cell for cell in cells if form.matches(cell)]
    noted = [cell for cell in known if form.is_noted(cell)]
    plain = formats(form.decimal)
    others = [
        cell
        for cell in known
        if not (form.affix or form.is_noted(cell) or any(one.matches(cell) for one in plain))
    ]
    for code, some in (("import_noted", noted), ("import_notation", others)):
        for cell in some[:1]:
            yield _about_column(code, name, cell=cell, value=spell_number(form.read(cell)))


def _about_thousands(columns: Columns, dialect: Dialect) -> Iterator[Finding]:
    """Report numbers with three decimals that may be thousands, if no other number decides."""
    mark = dialect.decimal
    if dialect.delimiter == "," and mark == ".":
        return
    marked = {
        name: [cell for cell in cells if mark in cell]
        for name, (form, cells) in columns.items()
        if form and form.decimal == mark and not (form.dressed or form.layout)
    }
    if not all(may_be_grouped(cell) for some in marked.values() for cell in some):
        return
    for name, (cell, *_) in ((name, some) for name, some in marked.items() if some):
        value, other = cell.replace(",", "."), cell.replace(mark, "")
        yield _about_column("import_thousands", name, cell=cell, value=value, other=other)


def _about_dates(name: str, form: NumberFormat, cells: Sequence[str]) -> Finding:
    """Report how dates are written, and what is doubtful."""
    if form.layout in (*dates.DURATIONS, dates.CLOCK):
        is_clock = form.layout == dates.CLOCK
        return _about_column("import_clock" if is_clock else "import_durations", name)
    doubts = []
    if is_ambiguous(form, cells):
        doubts += [
            phrase("import_year_or_day" if form.layout == "mon y" else "import_day_or_month")
        ]
    if form.layout != dates.ISO and (
        other := next((cell for cell in cells if dates.has_layout(cell, dates.ISO)), "")
    ):
        doubts += [phrase("import_year_first", cell=other)]
    if (zoned := next(filter(dates.zoned, cells), "")) and form.matches(zoned):
        day = dates.date_text(form.read(zoned), form.layout)
        doubts += [phrase("import_zoned", cell=zoned, day=day)]
    if (named := next(filter(dates.named_zone, cells), "")) and form.matches(named):
        doubts += [phrase("import_named_zone", cell=named)]
    order, doubt = _LAYOUT_WORDS[form.layout], "".join(f"; {one}" for one in doubts)
    finding = _about_column("import_dates", name, order=order, doubts=doubt)
    # Dates with the year first can be read in one way only.
    is_clear = form.layout == dates.ISO and not doubts
    return dataclasses.replace(finding, kind=FORMAT) if is_clear else finding


def _about_numbers(
    name: str, form: NumberFormat | None, cells: Sequence[str], dialect: Dialect
) -> Iterator[Finding]:
    """Report numbers that may be times or codes."""
    some = [cell for cell in cells if cell]
    may_be_hours = dialect.decimal == "," or _CLOCKED.search(name.lower())
    if form is None:
        if holds_codes(cells, dialect.number_words):
            yield _about_column("import_codes", name)
    elif may_be_hours and len(some) >= _FEWEST_HOURS and all(map(_HOUR.fullmatch, some)):
        yield _about_column("import_hours", name, cell=some[0])
    elif some and all(map(_POWER.fullmatch, some)):
        value = spell_number(form.read(some[0]))
        yield _about_column("import_powers", name, cell=some[0], value=value)
    elif twins := _twins(some, form.decimal):
        yield _about_column("import_same", name, one=twins[0], other=twins[1])


def _twins(known: Sequence[str], mark: str) -> tuple[str, str] | None:
    """Return two spellings of one number that recur, such as the codes 1.2 and 1.20."""
    spelled = {*known}
    if 2 * len(spelled) > len(known) or len(spelled) > _MOST_CODES:
        return None
    twins = [(c[:-1], c) for c in sorted(spelled) if mark in c and c[:-1] in spelled]
    return next((two for two in twins if two[1][-1] == "0"), None)


def _about_times(columns: Sequence[Column]) -> Iterator[Finding]:
    """Report numbers that look like time stamps, and years of another calendar."""
    for column in columns:
        if unit := _stamps(column):
            yield _about_column("import_stamps", column.name, unit=unit)
    for column in columns:
        if not column.layout or column.layout == dates.CLOCK or column.missing == column.height:
            continue
        # Such as 1402 in Iran and 2566 in Thailand.
        ends = float(np.nanmin(column.values)), float(np.nanmax(column.values))
        if any(least <= ends[0] and ends[1] <= most for least, most in _OTHER_YEARS):
            years = " to ".join(dict.fromkeys(dates.date_text(day, dates.ISO)[:4] for day in ends))
            yield _about_column("import_calendar", column.name, years=years)


def _stamps(column: Column) -> str:
    """Return the unit of numbers that may be time stamps; empty if they are not."""
    called = [stamp for stamp in _STAMPS if stamp[2].search(column.name.lower())]
    # The name first: reading the cells of very many columns would take seconds.
    is_plain = column.kind == "number" and not column.layout
    if not called or not is_plain or not column.different.exceeds(1) or not column.is_integer():
        return ""
    known = column.values[column.known()]
    low, high = float(known.min()), float(known.max())
    return next((unit for least, most, _, unit in called if least <= low and high <= most), "")


def about_unreadable(unreadable: Mapping[str, Unreadable]) -> Iterator[Finding]:
    """Report the cells of columns of numbers that are not numbers."""
    for name, one in unreadable.items():
        shown = [f"{text!r} ({n})" if n > 1 else repr(text) for text, n in one.spellings]
        more = len(shown) > _SHOWN or one.count > max(1, sum(count for _, count in one.spellings))
        cells = (", ".join(shown[:_SHOWN]) or repr(one.text)) + (" and others" if more else "")
        where = "" if one.line is None else f"; the first in line {one.line}"
        facts = {"column": name, "count": one.count, "cells": cells, "where": where}
        yield remark("import_unreadable", (name,), one.count, **facts)


def _about_repeated_names(
    names: Sequence[str], unreadable: Mapping[str, Unreadable]
) -> Iterator[Finding]:
    """Report a row that holds the names in another order, in columns of numbers."""
    known = {*names}
    again = {name: one for name, one in unreadable.items() if {one.text} & (known - {name})}
    if len(again) > 1:
        line, shown = next(iter(again.values())).line, _first_of(again)
        yield remark("import_names_again", tuple(again), line=line, columns=shown)


def _about_text(name: str, cells: list[str], stray: str, dialect: Dialect) -> Iterator[Finding]:
    """Report why a column that might be numbers is text."""
    known = known_numbers(cells, dialect.number_words)
    if not stray:
        # The first cell that is not a number, if most are.
        most = int((1 - _NEARLY) * len(known))
        others = (cell for cell in known if not any(form.matches(cell) for form in formats(".")))
        first = [*itertools.islice(others, most + 1)]
        stray = first[0] if 0 < len(first) <= most else ""
    if CODE.fullmatch(stray):
        yield _about_column("import_codes", name)
    elif why := phrase("import_stray", cell=stray) if stray else _why_text(known, dialect.decimal):
        yield _about_column("import_text", name, why=why)


def _why_text(known: Sequence[str], decimal: str) -> str:
    """Return why a text column with numbers in nearly all cells is not numbers."""
    if not any(map(_DIGIT.search, known[:_SHOWN])):
        return ""
    if all(map(_DURATION.fullmatch, known)):
        return phrase("import_why_times", cell=known[0])
    if all(map(dates.is_short_month, known)):
        return phrase("import_why_months", cell=known[0])
    if len(units := _units_among(known)) > 1:
        return phrase("import_why_units", units=", ".join(map(repr, units[:_SHOWN])))
    if both := _two_formats(known, decimal):
        return phrase("import_why_ways", one=both[0], other=both[1])
    beside = _with_text(known)
    return phrase("import_why_beside", cell=beside) if beside else ""


def _with_text(cells: Sequence[str]) -> str:
    """Return a cell with text after its number or before its amount, if most cells have it."""
    others = [cell for cell in cells if not _PLAIN.matches(cell)]
    some = [cell for cell in others if _WITH_TEXT.fullmatch(cell)]
    if some and len(some) + len(cells) - len(others) >= _MOSTLY * len(cells):
        return some[0]
    amounts = [cell for cell in cells if CURRENCIES.search(cell) and _DIGIT.search(cell)]
    return amounts[0] if len(amounts) >= max(1, _MOSTLY * len(cells)) else ""


def _two_formats(cells: Sequence[str], decimal: str) -> tuple[str, str] | None:
    """Return two cells in different formats of a column of numbers or of dates."""
    for forms in (formats(decimal), date_forms(cells, decimal)):
        fitting = (next((form for form in forms if form.matches(cell)), None) for cell in cells)
        known = [*itertools.takewhile(lambda form: form is not None, fitting)]
        if len(known) == len(cells):
            others = (c for c, form in zip(cells, known, strict=True) if form != known[0])
            return next(((cells[0], other) for other in others), None)
    return None


def _units_among(cells: Iterable[str]) -> list[str]:
    """Return the units or currencies of numbers, if all cells have one."""
    units: dict[str, None] = {}
    for cell in cells:
        unit = next(filter(None, [*CURRENCIES.findall(cell), unit_of(cell)]), "")
        if not unit and not _PLAIN.matches(cell):
            return []
        units |= {unit: None}
    return [unit for unit in units if unit]


def _about_rows(contents: Contents) -> Iterator[Finding]:
    """Report rows that were repaired, rows that are not data, and rows that cannot be read."""
    left_out = contents.left_out
    for code, (rows, line) in left_out.repairs.items():
        yield remark(code, (), rows, rows=rows, line=line)
    others = [row for row in left_out.listed if row.reason not in _REPORTED]
    for reason in _REPORTED:
        same = [row for row in left_out.listed if row.reason == reason]
        if same:
            code = "import_lines" if len(same) > 1 else "import_line"
            where = {"unit": same[0].unit, "lines": _first_of(str(row.line) for row in same)}
            one = remark(code, (), len(same), **where, why=reason)
            yield dataclasses.replace(one, kind="header") if reason == AGAIN else one
    count = left_out.total - (len(left_out.listed) - len(others))
    if count and others:
        first = others[0]
        facts = {"rows": count, "unit": first.unit, "line": first.line, "why": first.reason}
        yield remark("import_rejected", (), count, **facts)


def _first_of(words: Iterable[str]) -> str:
    first = [*itertools.islice(words, _SHOWN + 1)]
    return ", ".join(first[:_SHOWN]) + (" ..." if len(first) > _SHOWN else "")
