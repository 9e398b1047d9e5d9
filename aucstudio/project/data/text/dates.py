"""Dates and times as numbers: days since 1970-01-01 in UTC; times of day and durations as hours.

One pattern with numbered parts decides for Python and for DuckDB alike what a date is, and both
compute with its parts in the same order. Days with the year in front, as other programs write
them, are read in every layout of days: no other has them.
"""

from __future__ import annotations

import datetime
import functools
import math
import re
from collections.abc import Sequence

_YEAR, _MONTH, _DAY = "([1-9][0-9]{3})", "(0?[1-9]|1[0-2])", "(0?[1-9]|[12][0-9]|3[01])"
_SHORT_YEAR = "([1-9][0-9]{3}|[0-9]{2})"
# Names of the months, as English, French, German, Dutch, Spanish, Italian, Portuguese, Swedish,
# Danish, Norwegian and Russian write and shorten them; in none of them does one mean another month.
# A quarter is its first month.
_MONTHS = (
    "jan january januar januari janvier janv janeiro enero ene gennaio gen jänner января янв q1 1q",
    "feb february februar februari février févr fév febrero febbraio fevereiro fev февраля фев",
    "mar march märz mär mrz mars maart mrt marzo março marts марта мар",
    "apr april avril avr abril abr aprile апреля апр q2 2q",
    "may mai mei mayo maggio mag maio maj мая",
    "jun june juni juin junio giugno giu junho июня июн",
    "jul july juli juillet juil julio luglio lug julho июля июл q3 3q",
    "aug august août augustus agosto ago augusti августа авг",
    "sep sept september septembre septiembre settembre set setembro сентября сен",
    "oct october oktober okt octobre octubre ottobre ott outubro out октября окт q4 4q",
    "nov november novembre noviembre novembro ноября ноя",
    "dec december dezember dez desember des décembre déc diciembre dic dicembre dezembro "
    "декабря дек",
)
_MONTH_OF = {name: k for k, names in enumerate(_MONTHS, 1) for name in names.split()}
# The longest first, as the first that fits is taken.
_NAME = rf"({'|'.join(sorted(filter(str.isalpha, _MONTH_OF), key=len, reverse=True))})\.?"
_QUARTER = "(q[1-4]|[1-4]q)"
_CLOCK = (
    r"([01]?[0-9]|2[0-4])[:h]([0-5][0-9])(?::([0-5][0-9](?:[.,][0-9]{1,9})?))?(?: ?([ap])\.?m?\.?)?"
)
# Those that are named: the hour is that of the place.
_NAMED_ZONE = "[pmce][sd]t|[cew]es?t|bst|ist|jst|msk|hst|ak[sd]t|ae[sd]t"
# Beside a day there are more ways to write the hour: 14.30, 14.30.05, 14:30 Uhr.
_HOUR_OF_DAY = _CLOCK.replace("[:h](", "[:.h](", 1).replace("(?::(", "(?:[:.](", 1)
_FROM_UTC = "(?:utc|gmt)?([+-](?:[0-9]{2}:?(?:[0-9]{2})?|[1-9]))"
_ZONE = rf"(?: ?(?:z|uhr|utc|gmt|{_NAMED_ZONE}|{_FROM_UTC}))?"
_TIME = rf"(?:(?:t|:|-| ?@ ?|,? +){_HOUR_OF_DAY}{_ZONE})?"
_DAYS = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?"

# By name, the pattern of the day and what its parts are.
_LAYOUTS = {
    "y-m-d": (rf"{_YEAR}([-/.]) ?{_MONTH}\2 ?{_DAY}\.?", "y_md"),
    "ymd": ("((?:19|20)[0-9]{2})(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])", "ymd"),
    "ymdhms": (
        "((?:19|20)[0-9]{2})(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])"
        "([01][0-9]|2[0-3])([0-5][0-9])([0-5][0-9])",
        "ymdHMS",
    ),
    "d.m.y": (rf"{_DAY}([-/.]) ?{_MONTH}\2 ?{_SHORT_YEAR}(?: ?г\.?)?", "d_my"),
    "m/d/y": (rf"{_MONTH}([-/.]){_DAY}\2{_SHORT_YEAR}", "m_dy"),
    "y年m月d日": (rf"{_YEAR} ?[年년] ?{_MONTH} ?[月월] ?{_DAY} ?[日일]", "ymd"),
    "d mon y": (
        rf"{_DAYS}{_DAY}(?:er)?[-/. ]? ?(?:de )?{_NAME}[-/., ]? ?(?:de )?{_SHORT_YEAR}(?: ?г\.?)?",
        "dby",
    ),
    "mon d y": (rf"{_DAYS}{_NAME} {_DAY}(?:st|nd|rd|th)?,? {_YEAR}", "bdy"),
    "y-m": (rf"{_YEAR}[-/.m]{_MONTH}", "ym"),
    "m/y": (rf"{_MONTH}[-/.]{_YEAR}", "my"),
    "mon y": (rf"{_NAME}[-/]{_SHORT_YEAR}", "by"),
    # After a blank two digits would be a day.
    "mon year": (rf"{_NAME} {_YEAR}", "by"),
    "y q": (rf"{_YEAR}[-/. ]?{_QUARTER}", "yb"),
    "q y": (rf"{_QUARTER}[-/. ]?{_YEAR}", "by"),
    "y-w": (rf"{_YEAR}-?w(0[1-9]|[1-4][0-9]|5[0-3])", "yw"),
    "h:m": (_CLOCK, ""),
}
# How long something takes: days, hours, minutes and seconds with their units, in words or by
# ISO 8601, or with colons between.
_WHOLE, _BROKEN = "[0-9]{1,6}", "[0-9]{1,6}(?:[.,][0-9]{1,9})?"
_IN_WORDS = (
    rf"({_WHOLE}) ?(?:d(?:ays?)?|tage?)",
    rf"({_WHOLE}) ?(?:h(?:rs?|ours?)?|std\.?)",
    rf"({_WHOLE}) ?(?:m(?:ins?\.?|inutes?)?)",
    rf"({_BROKEN}) ?(?:s(?:ecs?|econds?)?)",
)
_BY_ISO = (f"({_WHOLE})d", f"({_WHOLE})h", f"({_WHOLE})m", f"({_BROKEN})s")
_COLONS = f"({_WHOLE}):([0-5][0-9]):([0-5][0-9](?:[.,][0-9]{{1,9}})?)"


def _some_of(pieces: Sequence[str], between: str = "") -> str:
    """Write the pattern of some pieces in their order, at least of one."""
    first, *rest = pieces
    later = "".join(f"(?:{between}{piece})?" for piece in rest)
    return f"{first}{later}|{_some_of(rest, between)}" if rest else first


def _each_of(pieces: Sequence[str], between: str = "") -> str:
    return "".join(f"(?:{piece}{between})?" for piece in pieces)


# By name, what matches it, and what takes it apart.
_LASTING = {
    "h:m:s": (f"(?:({_WHOLE}) ?d(?:ays?)?,? ?)?{_COLONS}",) * 2,
    "d h m s": (_some_of(_IN_WORDS, ",? ?"), _each_of(_IN_WORDS, ",? ?")),
    "PnDTnHnMnS": (
        f"p(?:{_BY_ISO[0]}(?:t(?:{_some_of(_BY_ISO[1:])}))?|t(?:{_some_of(_BY_ISO[1:])}))",
        f"p{_each_of(_BY_ISO[:1])}t?{_each_of(_BY_ISO[1:])}",
    ),
}
LASTING = tuple(_LASTING)
LAYOUTS = tuple(_LAYOUTS)
# Days as every program may write them, times of day, and those that name no day of the month.
ISO, CLOCK = "y-m-d", "h:m"
MONTHLY = ("y-m", "m/y", "mon y", "mon year", "y q", "q y")
# Those that a whole number could be too, by how many digits it has.
DIGITS = {8: "ymd", 14: "ymdhms"}
# Years of two digits are of 1970 to 2069.
_PIVOT = 70


@functools.cache
def pattern(layout: str) -> str:
    """Give the regular expression that a stripped cell matches in full, in lower case."""
    if layout in _LASTING:
        return _uncaptured(_LASTING[layout][0])
    ways = [_without_back_references(way) for way in ways_of(layout)]
    return ways[0] if len(ways) == 1 else "|".join(ways)


def is_iso(cell: str) -> bool:
    """Tell whether a stripped cell is a day with the year in front."""
    return re.fullmatch(pattern(ISO), cell.lower()) is not None


def zoned(cell: str) -> bool:
    """Tell whether a stripped cell is a time that names its distance from UTC, which is not 0."""
    return _ZONED.search(cell.lower()) is not None


_ZONED = re.compile(
    r":[0-9.]+ ?(?:[ap]\.?m\.? ?)?(?:utc|gmt)?[+-](?!00:?(?:00)?$)[0-9]{1,2}:?(?:[0-9]{2})?$"
)


def named_zone(cell: str) -> bool:
    """Tell whether a stripped cell is a time that ends in the name of a time zone."""
    return _ZONE_NAMED.search(cell.lower()) is not None


_ZONE_NAMED = re.compile(rf"[0-9apm.] ?(?:{_NAMED_ZONE})$")


def is_short_month(cell: str) -> bool:
    """Tell whether a stripped cell is a month with two digits, which may be a year or a day."""
    return re.fullmatch(rf"{_NAME}[ '\u2019]?[0-9]{{2}}", cell.lower()) is not None


def may_last(cells: Sequence[str]) -> bool:
    """Tell whether some cells look like how long something takes."""
    return any(_MAY_LAST.search(cell.lower()) for cell in cells)


# Two numbers with units, two colons, or ISO's letter.
_MAY_LAST = re.compile(
    r"[0-9] ?[a-z]+\.?,? ?[0-9]+(?:[.,][0-9]+)? ?[a-z]|:[0-5][0-9]:[0-5]|^p[0-9t]"
)


def ways_of(layout: str) -> tuple[str, ...]:
    """List the layouts that cells of a layout may have, the one to try first in front."""
    return (layout,) if layout in (ISO, CLOCK, *LASTING) else (ISO, layout)


def _without_back_references(layout: str) -> str:
    """DuckDB's expressions cannot refer back: list the marks one after the other instead."""
    day, parts = _LAYOUTS[layout]
    if r"\2" in day:
        day = "|".join(
            day.replace("([-/.])", re.escape(mark)).replace(r"\2", re.escape(mark))
            for mark in "-/."
        )
    # Without capturing: parts are taken by `taken`, which need not tell good dates from bad.
    clock = _uncaptured(_TIME)
    return f"(?:{_uncaptured(day)})" + (clock if _has_time_behind(parts) else "")


def _uncaptured(pattern: str) -> str:
    return re.sub(r"\((?!\?)", "(?:", pattern)


@functools.cache
def taking(layout: str) -> tuple[str, str]:
    """Give the pattern that takes a matching cell apart, and the letters of its parts."""
    if layout in _LASTING:
        return _LASTING[layout][1], "DHMS"
    day, parts = _LAYOUTS[layout]
    day = day.replace("([-/.])", "[-/.]").replace(r"\2", "[-/.]")
    parts = parts.replace("_", "")
    if not parts:
        return day, "HMSp"
    return (day + _TIME, parts + "HMSpz") if _has_time_behind(parts) else (day, parts)


def _has_time_behind(parts: str) -> bool:
    """Tell whether a day may have a time behind it: not a month, nor what holds one already."""
    return "d" in parts and "H" not in parts


def read(cell: str, layout: str) -> float:
    """Read a cell that matches; infinite where there is no such day."""
    cell = cell.lower()
    if layout not in (CLOCK, *LASTING) and is_iso(cell):
        layout = ISO
    wanted, names = taking(layout)
    found = re.fullmatch(wanted, cell)
    if found is None:
        return float("inf")
    part = dict(zip(names, (text or "" for text in found.groups()), strict=True))
    seconds = _seconds(part)
    if layout in (CLOCK, *LASTING):
        return seconds / 3600.0
    try:
        day = _day(part)
    except ValueError:
        return float("inf")
    return ((day.toordinal() - _EPOCH) * 86400.0 + seconds) / 86400.0


def spell(value: float, layout: str) -> str:
    """Write the day, the month or the time that a number stands for, to the second."""
    if not math.isfinite(value):
        return str(value)
    seconds = round(value * (3600 if layout == CLOCK else 86400))
    days, rest = divmod(seconds, 86400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}" + (f":{rest % 60:02d}" if rest % 60 else "")
    if layout == CLOCK:
        return clock if days == 0 else f"{value:g} h"
    try:
        day = datetime.date.fromordinal(days + _EPOCH).isoformat()
    except (ValueError, OverflowError):
        return f"{value:g}"
    if rest:
        return f"{day} {clock}"
    return day[:-3] if layout in MONTHLY and day.endswith("-01") else day


_EPOCH = datetime.date(1970, 1, 1).toordinal()


def _day(part: dict[str, str]) -> datetime.date:
    year = _year(part["y"])
    if "w" in part:
        return datetime.date.fromisocalendar(year, int(part["w"]), 1)
    return datetime.date(year, _month(part), int(part.get("d", 1)))


def _year(text: str) -> int:
    year = int(text)
    return year if len(text) > 2 else year + (1900 if year >= _PIVOT else 2000)


def _month(part: dict[str, str]) -> int:
    return _MONTH_OF[part["b"]] if "b" in part else int(part["m"])


def _seconds(part: dict[str, str]) -> float:
    hours = int(part.get("H") or 0) + 24 * int(part.get("D") or 0)
    if part.get("p"):
        hours = hours % 12 + (12 if part["p"] == "p" else 0)
    second = float(part.get("S", "").replace(",", ".") or 0)
    zone = part.get("z", "").replace(":", "")
    offset = 0
    if zone:
        offset = int(zone[1:3]) * 3600 + int(zone[3:] or 0) * 60
        offset = -offset if zone[0] == "-" else offset
    return (hours * 3600 + int(part.get("M") or 0) * 60 - offset) + second


def sql(cell: str, layout: str) -> str:
    """Write the DuckDB expression that reads a stripped cell, in lower case, as :func:`read`."""
    own = _sql(cell, layout)
    if len(ways_of(layout)) == 1:
        return own
    iso = f"regexp_full_match({cell}, '{pattern(ISO)}')"
    return f"CASE WHEN {iso} THEN {_sql(cell, ISO)} ELSE {own} END"


def _sql(cell: str, layout: str) -> str:
    wanted, names = taking(layout)
    quoted = "'" + wanted.replace("'", "''") + "'"
    listed = ", ".join(f"'x{name}'" for name in names)
    # The names must differ in more than their case.
    for name, other in (("M", "minute"), ("H", "hour"), ("S", "sec"), ("D", "days")):
        listed = listed.replace(f"'x{name}'", f"'x{other}'")
    took = f"regexp_extract({cell}, '^(?:' || {quoted} || ')$', [{listed}])"
    seconds = _seconds_sql(names) if "H" in names else "0.0::DOUBLE"
    if layout in (CLOCK, *LASTING):
        value = f"{seconds} / 3600.0::DOUBLE"
    else:
        days = f"(({_day_sql(names)}) - DATE '1970-01-01')"
        value = f"({days}::DOUBLE * 86400.0::DOUBLE + {seconds}) / 86400.0::DOUBLE"
    # No column is likely to have this name, which would hide one called so.
    return f"list_transform([{took}], lambda apart__: coalesce({value}, 'inf'::DOUBLE))[1]"


def _day_sql(names: str) -> str:
    if "w" in names:
        # The fourth of January is in the first week; few years have a week 53.
        year, week = "try_cast(apart__.xy AS INT)", "try_cast(apart__.xw AS INT)"
        monday = f"(date_trunc('week', make_date({year}, 1, 4))::DATE + 7 * ({week} - 1))"
        return f"CASE WHEN isoyear({monday}) = {year} THEN {monday} END"
    year = (
        "CASE WHEN length(apart__.xy) > 2 THEN apart__.xy "
        "WHEN apart__.xy >= '70' THEN '19' || apart__.xy ELSE '20' || apart__.xy END"
    )
    months = ", ".join(f"'{name}': '{month}'" for name, month in _MONTH_OF.items())
    month = f"(MAP {{{months}}})[apart__.xb]" if "b" in names else "apart__.xm"
    day = "lpad(apart__.xd, 2, '0')" if "d" in names else "'01'"
    return f"try_cast(({year}) || '-' || lpad({month}, 2, '0') || '-' || {day} AS DATE)"


def _seconds_sql(names: str) -> str:
    hour = "coalesce(try_cast(apart__.xhour AS BIGINT), 0)"
    if "D" in names:
        hour += " + 24 * coalesce(try_cast(apart__.xdays AS BIGINT), 0)"
    if "p" in names:
        hour = (
            f"CASE WHEN apart__.xp = '' THEN {hour} ELSE {hour} % 12 + "
            "CASE WHEN apart__.xp = 'p' THEN 12 ELSE 0 END END"
        )
    minute = "coalesce(try_cast(apart__.xminute AS BIGINT), 0)"
    whole = f"(({hour}) * 3600 + {minute} * 60"
    if "z" in names:
        zone = "replace(apart__.xz, ':', '')"
        size = (
            f"(coalesce(try_cast({zone}[2:3] AS BIGINT), 0) * 3600 + "
            f"coalesce(try_cast({zone}[4:5] AS BIGINT), 0) * 60)"
        )
        whole += f" - CASE WHEN apart__.xz[1] = '-' THEN -{size} ELSE {size} END"
    second = "coalesce(try_cast(replace(apart__.xsec, ',', '.') AS DOUBLE), 0.0::DOUBLE)"
    return f"({whole})::DOUBLE + {second})"
