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

_MONTH_OF = {
    name: k
    for k, names in enumerate(vocabulary.words("dates", "months"), 1)
    for name in names.split()
}
# The longest name first, as the first that fits is taken.
_NAMES = sorted(filter(str.isalpha, _MONTH_OF), key=len, reverse=True)
_PARTS: dict[str, str] = {
    **vocabulary.named("date_parts"),
    "name": rf"(?P<b>{'|'.join(_NAMES)})\.?",
}
DURATIONS = tuple(vocabulary.named("duration_layouts"))
LAYOUTS = tuple(vocabulary.named("date_layouts"))
# ISO dates, times of day, and layouts without a day of the month.
ISO, CLOCK = "y-m-d", "h:m"
MONTHLY = ("y-m", "m/y", "mon y", "mon year", "y q", "q y")
# Layouts of whole numbers, by the number of digits.
DIGITS = {8: "ymd", 14: "ymdhms"}
# Years of two digits are 1970 to 2069.
_PIVOT = 70


def ways_of(layout: str) -> tuple[str, ...]:
    """Return the layouts that cells of a layout may have, in the order to try them."""
    return (layout,) if layout in (ISO, CLOCK, *DURATIONS) else (ISO, layout)


def pattern(layout: str) -> str:
    """Return the regular expression of a layout in lower case, with a group for each part."""
    layouts = vocabulary.named("date_layouts") | vocabulary.named("duration_layouts")
    day = layouts[layout]
    # A month has no time after it, nor has a layout with a time.
    is_day = "day%" in day.replace("weekday", "") and "(?P<H>" not in day
    return _filled(day + "%time%" if is_day else day)


def _filled(text: str) -> str:
    """Replace the names of parts by the parts."""
    return re.sub("%([a-z_]+)%", lambda part: _filled(_PARTS[part[1]]), text)


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


_ZONE_NAMED = re.compile(rf"[0-9apm.] ?(?:{_PARTS['named_zone']})$")


def is_short_month(cell: str) -> bool:
    """Return whether a stripped cell is a month and two digits, which may be a year or a day."""
    return re.fullmatch(rf"{_PARTS['name']}[ '\u2019]?[0-9]{{2}}", cell.lower()) is not None


def may_be_duration(cells: Sequence[str]) -> bool:
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
    if layout in (CLOCK, *DURATIONS):
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
