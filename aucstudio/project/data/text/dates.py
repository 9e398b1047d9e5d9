"""Date formats; dates as days since 1970-01-01, times as hours.

One pattern with named groups recognises a date and takes it apart. Dates with the year in front
are read in every layout of dates, as no other layout has them.
"""

from __future__ import annotations

import datetime
import functools
import math
import re
from collections.abc import Sequence

from aucstudio.project.data.text import vocabulary

# Groups: y year, m month, b name of a month or quarter, d day, w week, H hours, M minutes,
# S seconds, p half of the day, z distance from UTC, D days of a duration.
_YEAR, _MONTH = "(?P<y>[1-9][0-9]{3})", "(?P<m>0?[1-9]|1[0-2])"
_DAY = "(?P<d>0?[1-9]|[12][0-9]|3[01])"
_SHORT_YEAR = "(?P<y>[1-9][0-9]{3}|[0-9]{2})"
_MARK, _SAME = "(?P<mark>[-/.])", "(?P=mark)"
_DIGITS_OF_DAY = "(?P<y>(?:19|20)[0-9]{2})(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12][0-9]|3[01])"
_MONTHS = vocabulary.words("dates", "months")
_MONTH_OF = {name: k for k, names in enumerate(_MONTHS, 1) for name in names.split()}
# The longest first, as the first that fits is taken.
_NAME = rf"(?P<b>{'|'.join(sorted(filter(str.isalpha, _MONTH_OF), key=len, reverse=True))})\.?"
_QUARTER = "(?P<b>q[1-4]|[1-4]q)"
_CLOCK = (
    r"(?P<H>[01]?[0-9]|2[0-4])[:h](?P<M>[0-5][0-9])"
    r"(?::(?P<S>[0-5][0-9](?:[.,][0-9]{1,9})?))?(?: ?(?P<p>[ap])\.?m?\.?)?"
)
# Named zones: the hour is local.
_NAMED_ZONE = "[pmce][sd]t|[cew]es?t|bst|ist|jst|msk|hst|ak[sd]t|ae[sd]t"
# After a date, hours have more forms: 14.30, 14.30.05, 14:30 Uhr.
_HOUR_OF_DAY = _CLOCK.replace("[:h]", "[:.h]").replace("(?::(", "(?:[:.](")
_FROM_UTC = "(?:utc|gmt)?(?P<z>[+-](?:[0-9]{2}:?(?:[0-9]{2})?|[1-9]))"
_ZONE = rf"(?: ?(?:z|uhr|utc|gmt|{_NAMED_ZONE}|{_FROM_UTC}))?"
_TIME = rf"(?:(?:t|:|-| ?@ ?|,? +){_HOUR_OF_DAY}{_ZONE})?"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?"

_LAYOUTS = {
    "y-m-d": rf"{_YEAR}{_MARK} ?{_MONTH}{_SAME} ?{_DAY}\.?",
    "ymd": _DIGITS_OF_DAY,
    "ymdhms": rf"{_DIGITS_OF_DAY}(?P<H>[01][0-9]|2[0-3])(?P<M>[0-5][0-9])(?P<S>[0-5][0-9])",
    "d.m.y": rf"{_DAY}{_MARK} ?{_MONTH}{_SAME} ?{_SHORT_YEAR}(?: ?г\.?)?",
    "m/d/y": rf"{_MONTH}{_MARK}{_DAY}{_SAME}{_SHORT_YEAR}",
    "y年m月d日": rf"{_YEAR} ?[年년] ?{_MONTH} ?[月월] ?{_DAY} ?[日일]",
    "d mon y": (
        rf"{_WEEKDAY}{_DAY}(?:er)?[-/. ]? ?(?:de )?{_NAME}[-/., ]? ?(?:de )?"
        rf"{_SHORT_YEAR}(?: ?г\.?)?"
    ),
    "mon d y": rf"{_WEEKDAY}{_NAME} {_DAY}(?:st|nd|rd|th)?,? {_YEAR}",
    "y-m": rf"{_YEAR}[-/.m]{_MONTH}",
    "m/y": rf"{_MONTH}[-/.]{_YEAR}",
    "mon y": rf"{_NAME}[-/]{_SHORT_YEAR}",
    # After a blank, two digits would be a day.
    "mon year": rf"{_NAME} {_YEAR}",
    "y q": rf"{_YEAR}[-/. ]?{_QUARTER}",
    "q y": rf"{_QUARTER}[-/. ]?{_YEAR}",
    "y-w": rf"{_YEAR}-?w(?P<w>0[1-9]|[1-4][0-9]|5[0-3])",
    "h:m": _CLOCK,
}
# Durations: days, hours, minutes and seconds with units, in words or by ISO 8601, or with colons.
_WHOLE, _BROKEN = "[0-9]{1,6}", "[0-9]{1,6}(?:[.,][0-9]{1,9})?"
_LASTING = {
    "h:m:s": (
        rf"(?:(?P<D>{_WHOLE}) ?d(?:ays?)?,? ?)?"
        rf"(?P<H>{_WHOLE}):(?P<M>[0-5][0-9]):(?P<S>[0-5][0-9](?:[.,][0-9]{{1,9}})?)"
    ),
    "d h m s": (
        rf"(?=[0-9])(?:(?P<D>{_WHOLE}) ?(?:d(?:ays?)?|tage?)(?:,? ?(?=[0-9])|$))?"
        rf"(?:(?P<H>{_WHOLE}) ?(?:h(?:rs?|ours?)?|std\.?)(?:,? ?(?=[0-9])|$))?"
        rf"(?:(?P<M>{_WHOLE}) ?(?:m(?:ins?\.?|inutes?)?)(?:,? ?(?=[0-9])|$))?"
        rf"(?:(?P<S>{_BROKEN}) ?(?:s(?:ecs?|econds?)?))?"
    ),
    "PnDTnHnMnS": (
        rf"p(?=.)(?:(?P<D>{_WHOLE})d)?"
        rf"(?:t(?=[0-9])(?:(?P<H>{_WHOLE})h)?(?:(?P<M>{_WHOLE})m)?(?:(?P<S>{_BROKEN})s)?)?"
    ),
}
LASTING = tuple(_LASTING)
LAYOUTS = tuple(_LAYOUTS)
# ISO dates, times of day, and layouts without a day of the month.
ISO, CLOCK = "y-m-d", "h:m"
MONTHLY = ("y-m", "m/y", "mon y", "mon year", "y q", "q y")
# Layouts of whole numbers, by the number of digits.
DIGITS = {8: "ymd", 14: "ymdhms"}
# Years of two digits are 1970 to 2069.
_PIVOT = 70


def ways_of(layout: str) -> tuple[str, ...]:
    """Return the layouts that cells of a layout may have, in the order to try them."""
    return (layout,) if layout in (ISO, CLOCK, *LASTING) else (ISO, layout)


def pattern(layout: str) -> str:
    """Return the regular expression of a layout in lower case, with a group for each part."""
    day = {**_LAYOUTS, **_LASTING}[layout]
    # A month has no time after it, nor has a layout with a time.
    return day + _TIME if "(?P<d>" in day and "(?P<H>" not in day else day


@functools.cache
def _compiled(layout: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern(way)) for way in ways_of(layout))


def _found(cell: str, layout: str) -> re.Match[str] | None:
    cell = cell.lower()
    for compiled in _compiled(layout):
        if found := compiled.fullmatch(cell):
            return found
    return None


def matches(cell: str, layout: str) -> bool:
    """Return whether a stripped cell has a layout."""
    return _found(cell, layout) is not None


def is_iso(cell: str) -> bool:
    """Return whether a stripped cell is a date with the year in front."""
    return matches(cell, ISO)


def zoned(cell: str) -> bool:
    """Return whether a stripped cell is a time with an offset from UTC other than 0."""
    return _ZONED.search(cell.lower()) is not None


_ZONED = re.compile(
    r":[0-9.]+ ?(?:[ap]\.?m\.? ?)?(?:utc|gmt)?[+-](?!00:?(?:00)?$)[0-9]{1,2}:?(?:[0-9]{2})?$"
)


def named_zone(cell: str) -> bool:
    """Return whether a stripped cell is a time with a named time zone."""
    return _ZONE_NAMED.search(cell.lower()) is not None


_ZONE_NAMED = re.compile(rf"[0-9apm.] ?(?:{_NAMED_ZONE})$")


def is_short_month(cell: str) -> bool:
    """Return whether a stripped cell is a month and two digits, which may be a year or a day."""
    return re.fullmatch(rf"{_NAME}[ '\u2019]?[0-9]{{2}}", cell.lower()) is not None


def may_last(cells: Sequence[str]) -> bool:
    """Return whether some cells look like durations."""
    return any(_MAY_LAST.search(cell.lower()) for cell in cells)


# Two numbers with units, two colons, or ISO's letter.
_MAY_LAST = re.compile(
    r"[0-9] ?[a-z]+\.?,? ?[0-9]+(?:[.,][0-9]+)? ?[a-z]|:[0-5][0-9]:[0-5]|^p[0-9t]"
)


def read(cell: str, layout: str) -> float:
    """Return the number of a stripped cell; infinite if it is not a valid date of the layout."""
    found = _found(cell, layout)
    if found is None:
        return math.inf
    part = found.groupdict("")
    seconds = _seconds(part)
    if layout in (CLOCK, *LASTING):
        return seconds / 3600.0
    try:
        day = _day(part)
    except ValueError:
        return math.inf
    return ((day.toordinal() - _EPOCH) * 86400.0 + seconds) / 86400.0


def spell(value: float, layout: str) -> str:
    """Format a number as date, month or time, to the second."""
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
