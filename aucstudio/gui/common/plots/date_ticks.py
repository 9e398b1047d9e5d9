"""Ticks of date and time axes."""

from __future__ import annotations

import datetime
import itertools

from aucstudio.project.data.text import dates

_MOST = 4
_HOURS = (1 / 60, 1 / 30, 1 / 12, 1 / 6, 1 / 4, 1 / 2, 1, 2, 3, 6, 12)
_EPOCH = datetime.date(1970, 1, 1).toordinal()


def date_ticks(low: float, high: float, layout: str) -> list[tuple[float, str]]:
    """Return at most some four round dates between two, as places and words."""
    if layout == dates.CLOCK:
        return _clocks(low, high, 1.0)
    if high - low < _MOST:
        return _clocks(low, high, 24.0)
    first, last = (datetime.date.fromordinal(int(end) + _EPOCH) for end in (low, high))
    for months in (1, 2, 3, 6, *(12 * 10**k * n for k in range(4) for n in (1, 2, 5))):
        found = _of_months(first, last, months)
        if len(found) <= _MOST:
            break
    if len(found) >= 2:
        width = 4 if months % 12 == 0 else 7
        return [(float(day.toordinal() - _EPOCH), day.isoformat()[:width]) for day in found]
    step = max(1, round((high - low) / _MOST))
    return [
        (float(day), dates.spell(day, layout)) for day in range(int(low) + 1, int(high) + 1, step)
    ]


def _of_months(first: datetime.date, last: datetime.date, months: int) -> list[datetime.date]:
    """List the first days of every n-th month, with n dividing or a multiple of a year."""
    start = -(-(first.year * 12 + first.month - (first.day == 1)) // months) * months
    found: list[datetime.date] = []
    for month in itertools.count(start, months):
        if month >= last.year * 12 + last.month:
            break
        found.append(datetime.date(month // 12, month % 12 + 1, 1))
    return found


def _clocks(low: float, high: float, per_unit: float) -> list[tuple[float, str]]:
    """List round times between two, in hours or in days."""
    start, end = low * per_unit, high * per_unit
    step = next((step for step in _HOURS if (end - start) / step <= _MOST), 24.0)
    hours = [k * step for k in range(int(-(-start // step)), int(end // step) + 1)]
    if per_unit == 1:
        return [(hour, dates.spell(hour, dates.CLOCK)) for hour in hours]
    return [(hour / per_unit, dates.spell(hour / per_unit, dates.ISO)[-5:]) for hour in hours]
