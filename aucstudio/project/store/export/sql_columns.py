"""Columns of a table as prepared features, in SQL.

Days count from 0000-03-01 within calendar formulas, so that nothing is negative.
"""

from __future__ import annotations

import math

from aucstudio.project.data.preparing.preparation import (
    CategoryFeatures,
    NumberFeature,
    Preparation,
    category_features,
    number_features,
)
from aucstudio.project.data.preparing.scales import MISSING
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.dates import CIRCLES, FARTHEST, TICKS, WHOLE, DatePart, around
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.store.export.sql_query import (
    LARGEST,
    SqlQuery,
    cases,
    floor_ratio,
    identifier,
    number,
    on_lines,
    text,
)

_EPOCH = 719_468  # days from 0000-03-01 to 1970-01-01


class SqlColumns:
    """Columns of a table as the features that a method sees.

    Parameters
    ----------
    query : Query
    learnt : Preparation
    schema : Schema
    table : str
        What the table is called in the query.
    """

    def __init__(self, query: SqlQuery, learnt: Preparation, schema: Schema, table: str) -> None:
        self._query, self._learnt, self._table = query, learnt, table
        self._known = schema.by_name
        self._gaps = sorted((schema.dialect or Dialect()).text_words | {""})

    def features(self) -> list[str]:
        """Return the names of the prepared columns, in the order of ``feature_names``."""
        named, marks, numbers = self._query.named, {}, []
        for one in number_features(self._learnt):
            cells = self._share(one) if one.shares is not None else self._near(one)
            if one.is_marked:
                marks[one.column] = f"CASE WHEN {cells} IS NULL THEN 1e0 ELSE 0e0 END"
            if one.shares is None and not self._learnt.keep_gaps:
                cells = f"COALESCE({cells}, {number(one.median)})"
            numbers.append(named(self._scaled(one, cells)))
        coded = [
            named(f"CASE WHEN {place} = {j} THEN 1e0 ELSE 0e0 END")
            for one in category_features(self._learnt)
            for place in [self._place(one)]
            for j in range(len(one.levels))
        ]
        return [*numbers, *coded, *(named(marks[name]) for name in self._learnt.indicated)]

    # ------------------------------------------------------------------ cells

    def _column(self, name: str) -> str:
        return f"{self._table}.{identifier(name)}"

    def _cells(self, one: NumberFeature) -> str:
        """Return a number before limits and scales; missing values are NULL."""
        cells = self._query.named(self._plain(one.column))
        if one.absent:
            words = ", ".join(map(number, one.absent))
            cells = self._query.named(f"CASE WHEN {cells} IN ({words}) THEN NULL ELSE {cells} END")
        return cells if one.part is None else self._query.named(self._part(cells, one.part))

    def _plain(self, source: str) -> str:
        """Return the number in a cell, or the days or hours of a date or a time."""
        form = self._known[source].number if source in self._known else None
        parts = (part for part in self._learnt.parts.values() if part.column == source)
        layouts = (dates.CLOCK if part.clock else dates.ISO for part in parts)
        layout = next(layouts, form.dated if form is not None else "")
        column = self._column(source)
        if not layout or layout in dates.DURATIONS:
            return f"CAST({column} AS DOUBLE)"
        written = self._query.named(f"CAST({column} AS VARCHAR)")
        return self._hours(written) if layout == dates.CLOCK else self._days(written)

    def _hours(self, written: str) -> str:
        seconds = _seconds(written, 1)
        return f"CASE WHEN substr({written}, 3, 1) = ':' THEN ({seconds}) / 3600e0 END"

    def _days(self, written: str) -> str:
        named = self._query.named
        is_date = f"substr({written}, 5, 1) = '-' AND substr({written}, 8, 1) = '-'"
        year, month, day = (
            named(f"CASE WHEN {is_date} THEN CAST(substr({written}, {at}) AS DOUBLE) END")
            for at in ("1, 4", "6, 2", "9, 2")
        )
        seconds = named(f"CASE WHEN {is_date} THEN {_seconds(written, 12)} END")
        first = named(f"CASE WHEN {month} <= 2 THEN {year} - 1 ELSE {year} END")
        turned = named(f"153 * (CASE WHEN {month} > 2 THEN {month} - 3 ELSE {month} + 9 END) + 2")
        days = f"{_years(first)} + {floor_ratio(turned, 5)} + {day} - {_EPOCH + 1}"
        return f"(({days}) * 86400 + {seconds}) / 86400e0"

    def _near(self, one: NumberFeature) -> str:
        """Return a cell that is neither missing nor beyond the limits, else NULL."""
        cells = self._cells(one)
        low, high = max(one.low, -LARGEST), min(one.high, LARGEST)
        inside = f"{cells} BETWEEN {number(low)} AND {number(high)}"
        return self._query.named(f"CASE WHEN {inside} THEN {cells} END")

    def _scaled(self, one: NumberFeature, cells: str) -> str:
        if one.curve is not None:
            return on_lines(self._query.named, cells, *one.curve)
        unit = one.unit
        within = cells if unit == 1 else f"{cells} / {number(unit)}"
        return f"({within} - {number(one.mean / unit)}) / {number(one.scale / unit)}"

    # ------------------------------------------------------------------ levels

    def _place(self, one: CategoryFeatures) -> str:
        """Return the index of a category's level; -1 for any other text."""
        places = {key: str(place) for key, place in one.places.items()}
        return self._matched(one.name, places, str(one.rest))

    def _share(self, one: NumberFeature) -> str:
        shares = {key: number(share) for key, share in (one.shares or {}).items()}
        return self._matched(one.name, shares, number(0.0))

    def _matched(self, name: str, results: dict[str, str], default: str) -> str:
        column = self._column(name)
        missing = results.get(MISSING, default)
        kind = self._known[name].kind if name in self._known else None
        if kind == "number":
            value = self._query.named(f"CAST({column} AS DOUBLE)")
            keys = {number(float(key)): r for key, r in results.items() if _is_number(key)}
            gap = f"{value} IS NULL OR NOT {value} <= {number(LARGEST)}"
        else:
            value = self._query.named(f"TRIM(CAST({column} AS VARCHAR))")
            keys = {text(key): result for key, result in results.items()}
            gap = f"{value} IS NULL OR LOWER({value}) IN ({', '.join(map(text, self._gaps))})"
        same: dict[str, list[str]] = {}
        for key, result in keys.items():
            if result != default:
                same.setdefault(result, []).append(key)
        matches = [(f"{value} IN ({', '.join(known)})", result) for result, known in same.items()]
        conditions = [(gap, missing), *matches]
        return self._query.named(cases(conditions, default))

    # ------------------------------------------------------------------ dates

    def _part(self, cells: str, part: DatePart) -> str:
        """Return a part of days since 1970-01-01, or of hours of a day."""
        if part.part == WHOLE:
            return cells
        key, _, turn = part.part.partition(" ")
        found = self._query.named(self._calendar(cells, key, part.clock))
        if not turn:
            return found
        values, heights = around(key)
        assert len(values) == CIRCLES[key][1]
        column = heights[:, int(turn == "cosine")]
        matches = [
            (f"{found} = {number(value)}", number(height))
            for value, height in zip(values.tolist(), column.tolist(), strict=True)
        ]
        return cases(matches, "NULL")

    def _calendar(self, cells: str, key: str, clock: bool) -> str:
        named = self._query.named
        ticks = TICKS // 24 if clock else TICKS
        known = f"ABS({cells}) < {number(FARTHEST)}"
        tick = named(
            f"CASE WHEN {known} THEN ROUND({cells} * {number(ticks)}) + {number(_EPOCH * TICKS)} "
            "END"
        )
        of_day = named(f"{tick} % {TICKS}")
        hour = named(floor_ratio(of_day, TICKS // 24))
        if key == "hour":
            return hour
        if key == "daytime":
            return floor_ratio(hour, 6)
        if key == "minute":
            return floor_ratio(named(f"{of_day} % {TICKS // 24}"), TICKS // 1440)
        day = named(f"({tick} - {of_day}) / {number(TICKS)}")
        weekday = named(f"({day} + 2) % 7 + 1")
        if key == "weekday":
            return weekday
        if key == "weekend":
            return f"CASE WHEN {weekday} > 5 THEN 1e0 WHEN {weekday} <= 5 THEN 0e0 END"
        if key == "week":  # that of its Thursday
            yearday = self._yearday(named(f"{day} - {weekday} + 4"))
            return f"{floor_ratio(named(f'{yearday} - 1'), 7)} + 1"
        year, month, of_month = self._date(day)
        return {
            "year": year,
            "quarter": f"{floor_ratio(f'{month} - 1', 3)} + 1",
            "month": month,
            "day": of_month,
            "yearday": self._yearday(day),
        }[key]

    def _date(self, day: str) -> tuple[str, str, str]:
        """Return year, month and day of the month of days from 0000-03-01."""
        named = self._query.named
        # At most one year too many, which then begins after the day.
        guess = named(floor_ratio(f"10000 * {day} + 14780", 3_652_425))
        year = named(f"CASE WHEN {day} < {_years(guess)} THEN {guess} - 1 ELSE {guess} END")
        since = named(f"{day} - ({_years(year)})")
        turned = named(floor_ratio(f"5 * {since} + 2", 153))
        month = named(f"CASE WHEN {turned} < 10 THEN {turned} + 3 ELSE {turned} - 9 END")
        whole = named(f"{year} + CASE WHEN {month} <= 2 THEN 1 WHEN {month} > 2 THEN 0 END")
        return whole, month, named(f"{since} - {floor_ratio(f'153 * {turned} + 2', 5)} + 1")

    def _yearday(self, day: str) -> str:
        before = self._query.named(f"{self._date(day)[0]} - 1")
        return self._query.named(f"{day} - ({_years(before)} + 306) + 1")


def _years(years: str) -> str:
    """Return the days in years that begin in March, counted from 0000-03-01."""
    quarters = f"{floor_ratio(years, 4)} - {floor_ratio(years, 100)} + {floor_ratio(years, 400)}"
    return f"365 * {years} + {quarters}"


def _seconds(written: str, start: int) -> str:
    """Return the seconds of a time ``HH:MM[:SS[.fff]]`` within a text; 0 where there is none."""
    hour, minute = (f"CAST(substr({written}, {at}, 2) AS DOUBLE)" for at in (start, start + 3))
    second = f"CAST(substr({written}, {start + 6}) AS DOUBLE)"
    return (
        f"CASE WHEN length({written}) >= {start + 4} THEN 3600 * {hour} + 60 * {minute} ELSE 0e0 "
        f"END + CASE WHEN length({written}) >= {start + 7} THEN {second} ELSE 0e0 END"
    )


def _is_number(key: str) -> bool:
    try:
        return math.isfinite(float(key))
    except ValueError:
        return False
