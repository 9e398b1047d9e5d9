"""What is worth saying of days and times in a text file, and of numbers that may be such."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.column_types import is_ambiguous
from aucstudio.project.data.text.numerals import NumberFormat

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
# Hours and minutes with a point between, in so many cells at least.
_HOUR, _FEWEST_HOURS = re.compile(r"(?:[01]?[0-9]|2[0-3])\.[0-5][0-9]"), 20
_CLOCKED = re.compile(r"zeit|time|uhr|\bhora|\bora\b|heure|\btid|klokke|clock")
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
    "y q": "year, quarter, by its first day",
    "q y": "quarter, year, by its first day",
    "y-w": "year, week, by its Monday",
}


def about_dates(
    forms: Mapping[str, NumberFormat | None], cells: Mapping[str, list[str]]
) -> Iterator[Finding]:
    """Report which columns hold days or times, how they are written, and what is in doubt."""
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


def about_hours(
    forms: Mapping[str, NumberFormat | None], cells: Mapping[str, list[str]], decimal: str
) -> Iterator[Finding]:
    """Report which decimals may be hours and minutes: in files of decimal commas, or called so."""
    for name, form in forms.items():
        known = [cell for cell in cells[name] if cell]
        if form is None or form.layout or len(known) < _FEWEST_HOURS:
            continue
        if (decimal == "," or _CLOCKED.search(name.lower())) and all(map(_HOUR.fullmatch, known)):
            sentence = (
                f"column {name}: {known[0]!r} is read as a number; if it is a time, write it with "
                "a colon"
            )
            yield Finding("kind", sentence, (name,))


def about_stamps(columns: Sequence[Column]) -> Iterator[Finding]:
    """Report which numbers look like the times of computers."""
    for column in columns:
        if unit := _stamps(column):
            sentence = f"column {column.name} looks like times: {unit}"
            yield Finding("kind", sentence, (column.name,))


def about_calendars(columns: Sequence[Column]) -> Iterator[Finding]:
    """Report years of another calendar, as in Iran (1402) and in Thailand (2566)."""
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
    """Return the unit of what may be times as computers count; empty if it cannot be that."""
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
