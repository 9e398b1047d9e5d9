"""Notices about columns: codes, dates, numbers read as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from aucstudio.project.data.columns import Column, spell_number
from aucstudio.project.data.finding import Finding, noticed, said
from aucstudio.project.data.text import dates, vocabulary
from aucstudio.project.data.text.column_types import (
    CURRENCIES,
    date_forms,
    holds_codes,
    is_ambiguous,
    unit_of,
)
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import NumberFormat, formats, is_missing_number

Forms = Mapping[str, NumberFormat | None]
Samples = Mapping[str, list[str]]

# The most different spellings of codes that look like numbers.
_MOST_CODES = 12
_POWER = re.compile("[0-9]+[eE][0-9]+")
_STAMPED, _DATED = (
    re.compile("time|date|stamp|epoch|_at$|^ts"),
    re.compile("date|datum|fecha|data di"),
)
_STAMPS = (
    (9e8, 2.2e9, _STAMPED, "seconds since 1970-01-01"),
    (9e11, 2.2e12, _STAMPED, "milliseconds since 1970-01-01"),
    # Dates of recent decades, and of birth.
    (5e3, 7.5e4, _DATED, "days since 1899-12-30, as spreadsheets count"),
)
# 1300 to 1500 and 2400 to 2700, as days since 1970-01-01.
_OTHER_YEARS = ((-244_712.0, -171_664.0), (157_054.0, 266_627.0))
# Hours and minutes separated by a point, and the fewest cells of that form.
_HOUR, _FEWEST_HOURS = re.compile(r"(?:[01]?[0-9]|2[0-3])\.[0-5][0-9]"), 20
_CLOCKED = re.compile(r"zeit|time|uhr|\bhora|\bora\b|heure|\btid|klokke|clock")
_LAYOUT_WORDS: dict[str, str] = vocabulary.named("dates")["layouts"]
# A number and something else.
_WITH_TEXT = re.compile(r"[^\w\[({]{0,2}[0-9][0-9.,' ]*[^\d\s,.:;/\-)}\]]\D{0,20}")
_MORE = re.compile(r"(?![A-Za-z0-9]+$)[^\w\[({]{0,2}[0-9\u00bc-\u00be\u2150-\u215e].*")
# The least share of numbers with something else in a text column that is reported.
_MOSTLY = 0.7
_SHOWN = 5
_DURATION = re.compile(r"[0-9]+(?::[0-9]{2}){1,2}(?:[.,][0-9]+)?")
_DIGIT = re.compile(r"\d")
_PLAIN = NumberFormat()


def about_numbers(forms: Forms, cells: Samples, dialect: Dialect) -> Iterator[Finding]:
    """Report the columns of dates, and numbers that may be times or codes."""
    known = {name: [cell for cell in cells[name] if cell] for name in forms}
    for name, form in forms.items():
        if form is not None and form.layout:
            yield _about_dates(name, form, cells[name])
    for name, form in forms.items():
        some = known[name]
        may_be_hours = dialect.decimal == "," or _CLOCKED.search(name.lower())
        if form is None and holds_codes(cells[name], dialect.number_words):
            yield noticed("identifier", "import_codes", (name,), column=name)
        elif form is None or form.layout or not some:
            continue
        elif may_be_hours and len(some) >= _FEWEST_HOURS and all(map(_HOUR.fullmatch, some)):
            yield noticed("kind", "import_hours", (name,), column=name, cell=some[0])
        elif all(map(_POWER.fullmatch, some)):
            value = spell_number(form.read(some[0]))
            yield noticed("kind", "import_powers", (name,), column=name, cell=some[0], value=value)
        elif twins := _twins(some, form.decimal):
            yield noticed("kind", "import_same", (name,), column=name, one=twins[0], other=twins[1])


def _about_dates(name: str, form: NumberFormat, cells: Sequence[str]) -> Finding:
    """Report how dates are written, and what is doubtful."""
    if form.layout in (*dates.LASTING, dates.CLOCK):
        code = "import_clock" if form.layout == dates.CLOCK else "import_durations"
        return noticed("kind", code, (name,), column=name)
    doubts = []
    if is_ambiguous(form, cells):
        doubts += [said("import_year_or_day" if form.layout == "mon y" else "import_day_or_month")]
    if form.layout != dates.ISO and (other := next(filter(dates.is_iso, cells), "")):
        doubts += [said("import_year_first", cell=other)]
    if (zoned := next(filter(dates.zoned, cells), "")) and form.matches(zoned):
        day = dates.spell(form.read(zoned), form.layout)
        doubts += [said("import_zoned", cell=zoned, day=day)]
    if (named := next(filter(dates.named_zone, cells), "")) and form.matches(named):
        doubts += [said("import_named_zone", cell=named)]
    order, doubt = _LAYOUT_WORDS[form.layout], "".join(f"; {one}" for one in doubts)
    return noticed("kind", "import_dates", (name,), column=name, order=order, doubts=doubt)


def _twins(known: Sequence[str], mark: str) -> tuple[str, str] | None:
    """Return two spellings of one number that recur, such as the codes 1.2 and 1.20."""
    spelled = {*known}
    if 2 * len(spelled) > len(known) or len(spelled) > _MOST_CODES:
        return None
    twins = [(c[:-1], c) for c in sorted(spelled) if mark in c and c[:-1] in spelled]
    return next((two for two in twins if two[1][-1] == "0"), None)


def about_times(columns: Sequence[Column]) -> Iterator[Finding]:
    """Report numbers that look like time stamps, and years of another calendar."""
    for column in columns:
        if unit := _stamps(column):
            yield noticed("kind", "import_stamps", (column.name,), column=column.name, unit=unit)
    for column in columns:
        if not column.layout or column.layout == dates.CLOCK or column.missing == column.height:
            continue
        # Such as 1402 in Iran and 2566 in Thailand.
        ends = float(np.nanmin(column.values)), float(np.nanmax(column.values))
        if any(least <= ends[0] and ends[1] <= most for least, most in _OTHER_YEARS):
            years = " to ".join(dict.fromkeys(dates.spell(day, dates.ISO)[:4] for day in ends))
            yield noticed(
                "kind", "import_calendar", (column.name,), column=column.name, years=years
            )


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


def why_text(cells: Sequence[str], dialect: Dialect) -> str:
    """Return why a text column with numbers in nearly all cells is not numbers."""
    known = [cell for cell in cells if not is_missing_number(cell, dialect.number_words)]
    if not any(map(_DIGIT.search, known[:_SHOWN])):
        return ""
    if all(map(_DURATION.fullmatch, known)):
        return said("import_why_times", cell=known[0])
    if all(map(dates.is_short_month, known)):
        return said("import_why_months", cell=known[0])
    if len(units := _units_among(known)) > 1:
        return said("import_why_units", units=", ".join(map(repr, units[:_SHOWN])))
    if both := _two_formats(known, dialect.decimal):
        return said("import_why_ways", one=both[0], other=both[1])
    found = _with_text(known)
    return said("import_why_beside", cell=found) if found else ""


def _with_text(cells: Sequence[str]) -> str:
    """Return a cell with text after its number or before its amount, if most cells have it."""
    others = [cell for cell in cells if not _PLAIN.matches(cell)]
    some = [cell for cell in others if _WITH_TEXT.fullmatch(cell) or _MORE.match(cell)]
    if some and len(some) + len(cells) - len(others) >= _MOSTLY * len(cells):
        return some[0]
    amounts = [cell for cell in cells if CURRENCIES.search(cell) and _DIGIT.search(cell)]
    return amounts[0] if len(amounts) >= max(1, _MOSTLY * len(cells)) else ""


def _two_formats(cells: Sequence[str], decimal: str) -> tuple[str, str] | None:
    """Return two cells in different formats of a column of numbers or of dates."""
    for forms in (formats(decimal), date_forms(cells, decimal)):
        fitting = [next((form for form in forms if form.matches(cell)), None) for cell in cells]
        if None not in fitting:
            others = (c for c, form in zip(cells, fitting, strict=True) if form != fitting[0])
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
