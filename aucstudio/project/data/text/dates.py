"""Date formats, dates as days since 1970-01-01 in UTC, times as hours, and parts of dates.

One pattern with named groups recognises a date and takes it apart. Dates with the year in front
are read in every layout of dates, as no other layout has them.

A part of a date, such as its month, is a number column that depends on the number of days or hours
only.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array
from aucstudio.notices import text
from aucstudio.notices.words import suggestion
from aucstudio.project.data import text as vocabulary
from aucstudio.project.errors import column_error, input_error

if TYPE_CHECKING:
    from pathlib import Path

    from aucstudio.project.data.columns import Column, ColumnInfo


_MONTH_OF = {
    name: k
    for k, names in enumerate(vocabulary.words("dates", "months"), 1)
    for name in names.split()
}
# The longest name first, as the first that fits is taken.
_NAMES = sorted(filter(str.isalpha, _MONTH_OF), key=len, reverse=True)
_PARTS: dict[str, str] = {
    **vocabulary.section("date_parts"),
    "name": rf"(?P<b>{'|'.join(_NAMES)})\.?",
}
DURATIONS = tuple(vocabulary.section("duration_layouts"))
LAYOUTS = tuple(vocabulary.section("date_layouts"))
# ISO dates, times of day, and layouts without a day of the month.
ISO, CLOCK = "y-m-d", "h:m"
MONTHLY = ("y-m", "m/y", "mon y", "mon year", "y q", "q y")
# Layouts of whole numbers, by the number of digits.
DIGITS = {8: "ymd", 14: "ymdhms"}
# Years of two digits are 1970 to 2069.
_PIVOT = 70

# The date itself as a number.
WHOLE = "number"
# Parts in the order of their columns, and the meaning of their numbers.
PARTS: Mapping[str, str] = vocabulary.section("parts_of_dates")
OF_TIME = ("hour", "hour-circle", "minute", "daytime")
OF_CLOCK = (WHOLE, *OF_TIME)
OF_MONTHS = (WHOLE, "year", "quarter", "month", "month-circle")
_CIRCLE = "-circle"


def ways_of(layout: str) -> tuple[str, ...]:
    """Return the layouts that cells of a layout may have, in the order to try them."""
    return (layout,) if layout in (ISO, CLOCK, *DURATIONS) else (ISO, layout)


def pattern(layout: str) -> str:
    """Return the regular expression of a layout in lower case, with a group for each part."""
    layouts = vocabulary.section("date_layouts") | vocabulary.section("duration_layouts")
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


def has_layout(cell: str, layout: str) -> bool:
    """Return whether a stripped cell has a layout."""
    return _found(cell, layout) is not None


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


def date_text(value: float, layout: str) -> str:
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
    year = int(part["y"])
    if len(part["y"]) <= 2:
        year += 1900 if year >= _PIVOT else 2000
    if "w" in part:
        return datetime.date.fromisocalendar(year, int(part["w"]), 1)
    month = _MONTH_OF[part["b"]] if "b" in part else int(part["m"])
    return datetime.date(year, month, int(part.get("d", 1)))


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


@dataclasses.dataclass(frozen=True)
class DatePart:
    """A prepared column that is a part of a date column.

    Attributes
    ----------
    column : str
        The column of the table.
    part : str
        One of the parts, or "month sine", "month cosine" and so on.
    clock : bool
        Whether the cells are times of day, in hours.
    """

    column: str
    part: str
    clock: bool = False

    @property
    def name(self) -> str:
        """The name of the prepared column."""
        return self.column if self.part == WHOLE else f"{self.column}: {self.part}"

    @property
    def together(self) -> str:
        """Name of the part that its column belongs to: sine and cosine have a common one."""
        key, _, turn = self.part.partition(" ")
        return f"{self.column}: {key}{_CIRCLE}" if turn else self.name

    @property
    def is_known(self) -> bool:
        """Whether the part exists."""
        return self.part in {one for part in PARTS if part != WHOLE for one in part_columns(part)}

    def of(self, cells: Array) -> Array:
        """Return the part of cells."""
        return date_part(cells, self.part, clock=self.clock)

    @property
    def words(self) -> str:
        """The rule by which its numbers are computed."""
        key, _, turn = self.part.partition(" ")
        first, steps = CIRCLES.get(key, (0, 0))
        return text("date_rule", part=key, meaning=PARTS[key], turn=turn, first=first, steps=steps)


# First number and period of each cyclic part.
CIRCLES = {"month": (1, 12), "weekday": (1, 7), "hour": (0, 24)}


def around(key: str) -> tuple[Array, Array]:
    """Return the numbers of a cyclic part, and sine and cosine of each, shape (n, 2)."""
    first, steps = CIRCLES[key]
    turns = 2 * np.pi * np.arange(steps) / steps
    # Rounded to twelve decimals, results are equal on all processors.
    heights = np.round(np.column_stack([np.sin(turns), np.cos(turns)]), 12)
    return np.arange(first, first + steps, dtype=np.float64), heights


def date_part(cells: Array, part: str, *, clock: bool) -> Array:
    """Return a part of days since 1970-01-01, or of hours of a day; NaN for missing cells."""
    if part == WHOLE:
        return cells
    key, _, turn = part.partition(" ")
    known = np.abs(cells) < FARTHEST
    # A double of days is precise to milliseconds.
    ticks = np.rint(np.where(known, cells, 0.0) * (TICKS / 24 if clock else TICKS)).astype(np.int64)
    day, hour = ticks // TICKS, ticks % TICKS // (TICKS // 24)
    if key in ("hour", "minute", "daytime"):
        minute = ticks % (TICKS // 24) // (TICKS // 1440)
        found = {"hour": hour, "minute": minute, "daytime": hour // 6}[key]
    elif key in ("weekday", "weekend"):
        weekday = (day + 3) % 7 + 1
        found = weekday if key == "weekday" else (weekday > 5).astype(np.int64)
    else:
        found = of_calendar(day, key)
    if turn:
        heights = around(key)[1][:, int(turn == "cosine")]
        return np.where(known, heights[found - CIRCLES[key][0]], np.nan)
    return np.where(known, found, np.nan)


def of_calendar(day: NDArray[np.int64], key: str) -> NDArray[np.int64]:
    """Return year, quarter, month, week or day number of days since 1970-01-01."""
    if key == "week":  # the ISO week is that of its Thursday
        return (of_calendar(day - (day + 3) % 7 + 3, "yearday") - 1) // 7 + 1
    dates = day.astype("datetime64[D]")
    months = dates.astype("datetime64[M]").astype(np.int64)
    if key in ("day", "yearday"):
        start = dates.astype("datetime64[M]" if key == "day" else "datetime64[Y]")
        return day - start.astype("datetime64[D]").astype(np.int64) + 1
    of = {"year": months // 12 + 1970, "month": months % 12 + 1, "quarter": months % 12 // 3 + 1}
    return of[key]


# Milliseconds of a day, and the largest supported distance from 1970 in days.
TICKS = 86_400_000
FARTHEST = 3_000_000


def offered(layout: str) -> tuple[str, ...]:
    """Return the parts that dates of a layout have."""
    if layout == CLOCK:
        return OF_CLOCK
    return OF_MONTHS if layout in MONTHLY else tuple(PARTS)


def useful(column: Column) -> tuple[str, ...]:
    """Return the parts to choose from: those of a time only if a date has one, or if chosen."""
    parts = offered(column.layout)
    if column.layout == CLOCK or not column.is_integer():
        return parts
    return tuple(part for part in parts if part not in OF_TIME or part in column.parts)


def taken(column: ColumnInfo) -> list[DatePart]:
    """Return the parts used of a column of numbers: the number itself, unless parts are chosen."""
    clock = column.layout == CLOCK
    return [
        DatePart(column.name, part, clock)
        for chosen in column.parts or (WHOLE,)
        for part in part_columns(chosen)
    ]


def values_of_parts(column: Column) -> dict[str, Array]:
    """Return the chosen parts of a date column, besides the number itself."""
    keys = {part.removesuffix(_CIRCLE) for part in column.parts} - {WHOLE}
    clock = column.layout == CLOCK
    return {key: date_part(column.values, key, clock=clock) for key in sorted(keys)}


def count_taken(column: ColumnInfo) -> int:
    """Count the parts used of a column of numbers."""
    return sum(len(part_columns(chosen)) for chosen in column.parts) if column.parts else 1


def grows(column: ColumnInfo) -> bool:
    """Return whether a date column has a feature that increases with time, unlike a weekday."""
    return not column.parts or not {WHOLE, "year"}.isdisjoint(column.parts)


def part_columns(chosen: str) -> tuple[str, ...]:
    """Return the columns of a part: two for a cyclic one."""
    key = chosen.removesuffix(_CIRCLE)
    return (chosen,) if key == chosen else (f"{key} sine", f"{key} cosine")


def check_parts(path: Path, column: ColumnInfo, parts: Sequence[str]) -> tuple[str, ...]:
    """Return the chosen parts of a column in order; empty if only the number is used.

    Raises
    ------
    InputError
        If the column holds no dates, or there is no such part.
    """
    layout = column.layout
    if parts and not layout:
        raise column_error("dates_absent", path, column.name)
    known = offered(layout)
    unknown = next((part for part in parts if part not in known), None)
    if unknown is not None:
        lacking = ("clock" if layout == CLOCK else "months") if unknown in PARTS else "date"
        raise column_error(
            "date_part_unknown",
            path,
            column.name,
            part=unknown,
            of=lacking,
            parts=", ".join(known),
            hint=suggestion(unknown, known),
        )
    chosen = tuple(part for part in PARTS if part in parts)
    return () if chosen == (WHOLE,) else chosen


def check_names(path: Path, columns: Sequence[ColumnInfo]) -> None:
    """Raise InputError if a part would have the name of a column of the table."""
    dated = [column for column in columns if column.parts]
    names = {column.name for column in columns} if dated else set()
    for part in (part for column in dated for part in taken(column)):
        if part.part != WHOLE and part.name in names:
            what: dict[str, Any] = {"column": part.column, "name": part.name, "part": part.part}
            raise input_error("date_part_twice", file=path, **what)
