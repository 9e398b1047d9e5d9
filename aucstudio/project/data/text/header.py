"""Titles, column names and units above the rows.

Every way to divide the first rows into titles, names, units and data is a candidate. Each row is
scored in its role, by the kinds of its cells and by how often they recur below; the candidate with
the highest total is chosen.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aucstudio.project.data import text as vocabulary
from aucstudio.project.data.text.dialect import Row
from aucstudio.project.data.text.footer import is_header_record
from aucstudio.project.data.text.numerals import is_missing_number, is_remark
from aucstudio.project.data.text.separators import Record, is_number, is_value

# Kinds of cells.
BLANK, REMARK, VALUE, WORD = "brvw"
# What each observation adds to the score of a row, by the role of the row. A title scores the
# opposite of a data row; in a table of words alone, it scores by its blank cells.
WEIGHTS: Mapping[str, Mapping[str, float]] = {
    "cells": {"values": 1, "recurring": 1, "usual": -0.25, "completes": -1, "short": -1},
    "title": {"sparse": 1, "full": -1},
    "names": {"named": 1, "recurring": -2, "blank": -1, "values": -3, "series": 3, "unique": 1,
              "units": -1, "day": -1, "first": 0.5, "unlike": 1},
    "above": {"groups": 2.5, "completes": 2.8, "heads": 2.2, "other": -2},
    "below": {"units": 1.5, "explains": 1.2, "other": -2, "apart": -1},
}  # fmt: skip
_NEVER = -9.0
# Rows that may hold names, rows that are compared, and rows above and below the names.
_MOST_TITLES, _MOST_COMPARED, _ABOVE, _BELOW = 40, 200, 3, 6
# The least share of values in a column of values.
_VALUED = 0.8
# In fewer rows, a level may occur once without being a name.
_FEW = 7
_YEAR = re.compile(r"(?:19|20)\d\d")
_COUNT = re.compile(r"[0-9]{1,15}(?:\.[0-9]+)?")
_DAY = re.compile(r"\d{4}[-/.]\d\d?(?:[-/.]\d\d?)?|\d\d?[-/.]\d\d?[-/.]\d{2}(?:\d\d)?")
_UNITS = vocabulary.compiled("units", "row")
_TYPES = re.compile(rf"(?:{vocabulary.any_of('units', 'types')})\??")


@dataclasses.dataclass(frozen=True)
class NameRows:
    """Indices of the row of names (None without a header) and of the first data row.

    ``upper`` counts the rows of names above; ``first`` is the first line of the table.
    """

    names: int | None
    body: int
    upper: int = 0
    first: int = 1

    @property
    def top(self) -> int:
        """The first row that is no title."""
        return self.body if self.names is None else self.names - self.upper


def find_name_rows(rows: Sequence[Record], width: int, given: Mapping[str, Any]) -> NameRows:
    """Find the row of names and the first data row."""
    if not rows:
        return NameRows(None, 0)
    if "skip" in given and "header" in given:
        upper, lower = given.get("upper_rows", 0), given.get("lower_rows", 0)
        if not given["header"]:
            return NameRows(None, 0, 0, rows[0][0])
        return NameRows(upper, min(upper + 1 + lower, len(rows)), upper, rows[0][0])
    start = 0 if "skip" in given else _first_full(rows, width)
    if given.get("header") is False:
        return NameRows(None, start, 0, rows[start][0])
    seen = _Rows(rows[start:], width)
    best = max(_candidates(seen.height, given.get("header")), key=seen.score)
    names = None if best.names is None else best.names + start
    return NameRows(names, best.body + start, best.upper, rows[start + best.top][0])


def _first_full(rows: Sequence[Record], width: int) -> int:
    """Return the first row below header records."""
    place = 0
    while place < len(rows) - 1 and is_header_record([cells for _, cells in rows[place:]]):
        place += 1
    return place if any(len(row) == width for _, row in rows[place:]) else 0


def _candidates(height: int, header: bool | None) -> Iterator[NameRows]:
    """Yield ways to divide the first rows; the first of equally good ones is chosen."""
    if not header:
        yield from (NameRows(None, body) for body in range(height))
    for names in range(min(height, _MOST_TITLES)):
        for upper in range(min(_ABOVE, names) + 1):
            for body in range(names + 1, min(names + 2 + _BELOW, height + 1)):
                # Names without data below must be the first row.
                if body < height or names == 0:
                    yield NameRows(names, body, upper)


@functools.lru_cache(maxsize=1 << 16)
def _kind(cell: str) -> str:
    if not cell:
        return BLANK
    if is_value(cell):
        return VALUE
    return REMARK if is_missing_number(cell) or is_remark(cell) else WORD


class _Rows:
    """The first rows of a file, with the kind of each cell.

    Parameters
    ----------
    rows : sequence of pairs of int and list of str
    width : int
        The usual number of cells.
    """

    def __init__(self, rows: Sequence[Record], width: int) -> None:
        self._width, self._rows, self.height = width, rows, min(len(rows), _MOST_COMPARED)
        self._kinds = ["".join(map(_kind, row)) for _, row in rows[: self.height]]
        valued = self._valued()
        # The kinds of the cells in columns of values.
        self._among = ["".join(c[k] for k in valued if k < len(c)) for c in self._kinds]
        self._is_valued = bool(valued)
        full = (
            k for k, c in enumerate(self._kinds) if len(c) == width and c.count(BLANK) < width - 1
        )
        self._first = next(full, 0)
        self._repeated, words = set[int](), set[tuple[str, ...]]()
        for k, kinds in enumerate(self._kinds):
            if self._is_valued and VALUE not in kinds:
                row = tuple(rows[k][1])
                self._repeated |= {k} if row in words else set()
                words.add(row)
        # By column, the last row of each cell, except for rows of words that recur.
        lasting = [
            k for k, (_, row) in enumerate(rows) if len(row) == width and k not in self._repeated
        ]
        columns = zip(*(rows[k][1] for k in lasting), strict=True)
        self._last: list[dict[str, int]] = [
            dict(zip(cells, lasting, strict=True)) for cells in columns
        ]
        near = range(min(self.height, _MOST_TITLES + _BELOW + 1))
        self._recurring = [self._share_recurring(k) for k in near]
        sums = [
            [*itertools.accumulate(map(score, range(self.height)), initial=0.0)]
            for score in (self._as_title, self._as_cells)
        ]
        self._titles, self._cells = sums
        self._names, self._above, self._below = (
            [*map(score, near)] for score in (self._as_names, self._as_above, self._as_below)
        )

    def score(self, one: NameRows) -> float:
        """Return the total score of the rows in their roles."""
        total = self._titles[one.top] + self._cells[-1] - self._cells[one.body]
        if one.names is None:
            return total
        above, below = self._above[one.top : one.names], self._below[one.names + 1 : one.body]
        return total + self._names[one.names] + sum(above) + sum(below)

    def _valued(self) -> list[int]:
        """Return the columns that hold numbers or dates below the first rows."""
        regular = [c for c in self._kinds if len(c) == self._width and c.strip(BLANK)]
        # Rows without a value are names, units or remarks, unless most rows have none.
        valuable = [kinds for kinds in regular if VALUE in kinds]
        if 2 * len(valuable) >= len(regular) - 2:
            regular = valuable
        tail = regular[min(len(regular) // 3, 8) :] if len(regular) > 3 else regular[-2:]
        columns = [(c.count(VALUE), c.count(WORD)) for c in zip(*tail, strict=True)]
        return [k for k, (v, words) in enumerate(columns) if v and v >= _VALUED * (v + words)]

    def _share_recurring(self, k: int) -> float:
        """Return the share of cells that recur below."""
        recurring = [
            last.get(c, -1) > k for last, c in zip(self._last, self._rows[k][1], strict=False) if c
        ]
        return sum(recurring) / max(1, len(recurring))

    def _is_full(self, k: int) -> bool:
        return len(self._kinds[k]) == self._width

    def _completes(self, k: int) -> bool:
        """Return whether a row has words below blanks, and blanks below words.

        A column that is blank in both has words in the row above or below.
        """
        pair = self._kinds[k - 1 : k + 1]
        words = [kinds for kinds in self._kinds[max(0, k - 2) : k + 2] if VALUE not in kinds]
        return (
            len({*map(len, [*pair, *words])}) == 1 < len(pair)
            and all(BLANK in kinds for kinds in pair)
            and VALUE not in pair[1]
            and all({*column} != {BLANK} for column in zip(*pair, *words, strict=True))
        )

    def _as_cells(self, k: int) -> float:
        """Score a row as data: it has values in the columns of values, and cells that recur."""
        if k in self._repeated or (not self._is_valued and self._is_full(k)):
            return 0.0
        if not self._is_full(k):
            return _weighted("cells", short=VALUE not in self._kinds[k])
        recurring = self._recurring[k] if k < _MOST_TITLES else 1.0
        values, words = self._among[k].count(VALUE), self._among[k].count(WORD)
        if values or words:
            share = (values - words) / (values + words)
            return _weighted("cells", values=share, recurring=recurring, usual=1)
        completes = k > 0 and self._completes(k)
        return _weighted(
            "cells", completes=completes, recurring=recurring if completes else recurring / 2
        )

    def _as_title(self, k: int) -> float:
        """Score a row as a title: it is short, or has words in columns of values."""
        if self._is_valued:
            return -self._as_cells(k)
        # In a table of words, titles fill one or two cells, and names all but one.
        used, filled = sum(map(any, self._last)), self._width - self._kinds[k].count(BLANK)
        is_sparse = not self._is_full(k) or filled <= max(1, used - 2)
        return _weighted("title", sparse=is_sparse, full=not is_sparse)

    def _as_names(self, k: int) -> float:
        """Score a row as names: several words, hardly any of which recurs."""
        row, kinds, is_series = self._rows[k][1], self._kinds[k], self._is_series(k)
        blank, values = kinds.count(BLANK), kinds.count(VALUE)
        filled = len(row) - blank
        if len(row) < self._width - 1 or filled < 2 or row[-1] == "=":
            return _NEVER
        is_row = 2 * values > filled if self._is_valued else any(map(is_number, row))
        if is_row and not is_series:
            return _NEVER
        return _weighted(
            "names",
            named=1,
            recurring=self._recurring[k],
            blank=blank / self._width,
            values=0 if is_series else values / filled,
            series=is_series,
            unique=self._is_valued and are_names(row),
            units=self._is_valued and are_units(row),
            day=not is_series and any(map(_DAY.match, row)),
            first=k == self._first and WORD in self._among[k],
            unlike=-min(1.0, self._as_cells(k)),
        )

    def _is_series(self, k: int) -> bool:
        """Return whether numbers are names: they count up, or are dates above other values."""
        row, kinds = self._rows[k][1], self._kinds[k]
        if k != self._first or kinds.count(VALUE) < 2:
            return False
        below = [one for _, one in self._rows[k + 1 :] if len(one) == len(row)]
        places = [column for column, kind in enumerate(kinds) if kind == VALUE]
        for form in (_DAY, _YEAR):
            if below and all(form.fullmatch(row[c]) for c in places):
                return not any(form.fullmatch(one[c]) for one in below for c in places)
        numbers = [float(row[c]) if _COUNT.fullmatch(row[c]) else -1.0 for c in places]
        offsets = {number - c for number, c in zip(numbers, places, strict=True)}
        if below and len(places) > 2 and len(offsets) == 1 and offsets <= {-1, 0, 1}:
            return offsets != {1} or not all(cell.isdecimal() for one in below for cell in one)
        # Ascending numbers next to words that do not recur, above columns of few levels.
        is_rising = numbers[0] >= 0 and all(a < b for a, b in itertools.pairwise(numbers))
        levels = (len({one[c] for one in below}) for c, kind in enumerate(kinds) if kind == WORD)
        is_new = self._recurring[k] == 0 and BLANK not in kinds and len(below) > _FEW
        return is_rising and is_new and any(2 * count <= len(below) for count in levels)

    def _as_above(self, k: int) -> float:
        """Score a row above the names: it names groups of columns."""
        filled = [cell for cell in self._rows[k][1] if cell]
        kinds, below = self._kinds[k], "".join(self._kinds[k + 1 : k + 2])
        if (
            not (below and self._is_valued)
            or self._rows[k + 1][0] > self._rows[k][0] + 1 + sum("\n" in c for c in filled)
            or len(filled) < 2
            or not 0 <= self._width - len(kinds) <= 1
        ):
            return _NEVER
        completes = self._completes(k + 1)
        has_gaps = BLANK in kinds and len(below) == self._width and BLANK not in below
        repeats = len({*filled}) < len(filled)
        if VALUE in kinds:  # such as years, each above several columns
            is_rare = VALUE not in below and 2 * kinds.count(VALUE) <= self._width
            is_group = is_rare and not repeats and (has_gaps or completes)
            return _weighted("above", groups=1) if is_group else _NEVER
        is_named = not are_units(self._rows[k + 1][1])
        if completes and is_named:
            return _weighted("above", completes=1)
        heads = has_gaps or (repeats and is_named)
        return _weighted("above", heads=heads, other=not heads)

    def _as_below(self, k: int) -> float:
        """Score a row below the names: units, types, or words in several columns of values."""
        (line, row), among = self._rows[k], self._among[k]
        if not self._is_valued:
            return _NEVER
        is_apart = k > 0 and line > self._rows[k - 1][0] + 1
        if VALUE not in among and are_units(row):
            return _weighted("below", units=1, apart=is_apart)
        explains = (
            self._is_full(k) and len(among) > 1 and VALUE not in self._kinds[k] and WORD in among
        )
        return _weighted("below", explains=explains, other=not explains, apart=is_apart)


def _weighted(role: str, **seen: float) -> float:
    return sum(WEIGHTS[role][what] * amount for what, amount in seen.items())


def are_names(row: Row) -> bool:
    """Return whether a row holds only words, all different."""
    return all(row) and not any(map(is_value, row)) and len(set(row)) == len(row)


def are_units(row: Row) -> bool:
    """Return whether a row holds units or types."""
    filled = [cell for cell in row if cell and not is_missing_number(cell)]
    return 2 * sum(map(_is_unit, filled)) > len(filled)


@functools.lru_cache(maxsize=1 << 12)
def _is_unit(cell: str) -> bool:
    return bool(_UNITS.fullmatch(cell) or _TYPES.fullmatch(cell.lower()))


def joined_names(upper: Row, names: Row) -> Row:
    """Prefix names with the names of their groups of columns."""
    joined, common = [], ""
    end = _end_of_groups(upper, names)
    for k, name in enumerate(names):
        common = "" if k >= end else (upper[k] if k < len(upper) else "") or common
        joined.append(" ".join(filter(None, [common, name])) if common != name else name)
    return joined


def _end_of_groups(upper: Row, names: Row) -> int:
    """Return the column where the last group ends.

    Where all groups have the same names, further columns do not belong to the last group.
    """
    starts = [k for k, cell in enumerate(upper) if cell and k < len(names)]
    groups = [names[i:j] for i, j in itertools.pairwise([*starts, len(names)])]
    if len(groups) > 1 and all(group == groups[0] for group in groups[:-1]):
        *_, last = groups
        if last[: len(groups[0])] == groups[0]:
            return starts[-1] + len(groups[0])
    return len(names)
