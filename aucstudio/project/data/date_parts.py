"""Parts of dates as number columns.

A date is a number of days since 1970-01-01 in UTC, a time of day a number of hours. Parts depend on
that number only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.notices.words import suggestion
from aucstudio.project.data.text import dates, vocabulary
from aucstudio.project.errors import column_error, input_error

if TYPE_CHECKING:
    from pathlib import Path

    from aucstudio.project.data.columns import ColumnInfo

Array = NDArray[np.float64]

# The date itself as a number.
WHOLE = "number"
# Parts in the order of their columns, and the meaning of their numbers.
PARTS: Mapping[str, str] = vocabulary.named("parts_of_dates")
OF_CLOCK = (WHOLE, "hour", "hour-circle", "minute", "daytime")
OF_MONTHS = (WHOLE, "year", "quarter", "month", "month-circle")
_CIRCLE = "-circle"


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
        return self.part in {one for part in PARTS if part != WHOLE for one in spread(part)}

    def of(self, cells: Array) -> Array:
        """Return the part of cells."""
        return part_of(cells, self.part, clock=self.clock)

    @property
    def words(self) -> str:
        """Meaning of its numbers."""
        key, _, turn = self.part.partition(" ")
        if not turn:
            return PARTS[key]
        return f"{turn} of the {key}: once around in {CIRCLES[key][1]} steps, twelve decimals"


# First number and period of each cyclic part.
CIRCLES = {"month": (1, 12), "weekday": (1, 7), "hour": (0, 24)}


def around(key: str) -> tuple[Array, Array]:
    """Return the numbers of a cyclic part, and sine and cosine of each, shape (n, 2)."""
    first, steps = CIRCLES[key]
    turns = 2 * np.pi * np.arange(steps) / steps
    # Rounded to twelve decimals, results are equal on all processors.
    heights = np.round(np.column_stack([np.sin(turns), np.cos(turns)]), 12)
    return np.arange(first, first + steps, dtype=np.float64), heights


def part_of(cells: Array, part: str, *, clock: bool) -> Array:
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
    if layout == dates.CLOCK:
        return OF_CLOCK
    return OF_MONTHS if layout in dates.MONTHLY else tuple(PARTS)


def taken(column: ColumnInfo) -> list[DatePart]:
    """Return the parts used of a column of numbers: the number itself, unless parts are chosen."""
    clock = column.layout == dates.CLOCK
    return [
        DatePart(column.name, part, clock)
        for chosen in column.parts or (WHOLE,)
        for part in spread(chosen)
    ]


def count_taken(column: ColumnInfo) -> int:
    """Count the parts used of a column of numbers."""
    return sum(len(spread(chosen)) for chosen in column.parts) if column.parts else 1


def grows(column: ColumnInfo) -> bool:
    """Return whether a date column has a feature that increases with time, unlike a weekday."""
    return not column.parts or not {WHOLE, "year"}.isdisjoint(column.parts)


def spread(chosen: str) -> tuple[str, ...]:
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
        lacking = ("clock" if layout == dates.CLOCK else "months") if unknown in PARTS else "date"
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
