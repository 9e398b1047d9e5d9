"""Number codes of missing values, such as -999 and 9999."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

import numpy as np

from aucstudio.engine.arrays import Array
from aucstudio.project.data.columns import Column, spell_cell, spell_number
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.sparse_columns import SparseColumn
from aucstudio.project.data.table import Table

# Codes of programs and questionnaires: repeated 9, 8 or 7; 96 to 98; codes of weather stations;
# ends of integer ranges; fill values of netCDF.
_FORMS = re.compile(
    r"-?(?:9{2,8}|8{2,8}|7{2,8}|9{1,4}[678]|9{2,4}\.9|9{2,3}\.99|327\.6[78]|3276[78]|214748364[78]|"
    r"1e\+[23]0|9\.969209968386869e\+36)"
)
# First and last days of the calendars of programs.
_CALENDARS = """
0001-01-01 1753-01-01 1899-12-30 1899-12-31 1900-01-01 1901-01-01 1970-01-01 2099-12-31 2999-12-31
9999-12-31
"""
_DAYS = frozenset(np.array(_CALENDARS.split(), dtype="datetime64[D]").astype(float).tolist())
_YEAR, _LIFE = 366, 36_600
# Codes among whole numbers without other negative ones.
_NEGATIVE = re.compile(r"-(?:9{1,4}|8{1,4}|7{1,4})")
_MOST_NEGATIVE, _HEAD = 12, 1_000
# Codes among answers of one digit.
_NINE, _HIGHEST_ANSWER, _MOST_NINES = 9.0, 6, 0.25
_MOST_OF_A_COLUMN = 4
_FEWEST = 2
# The other values must be measurements, not a few codes.
_FEWEST_VALUES = 10
# Zeros are apart if the smallest other number is far away compared with the span of the lower
# quarter of the others and with small steps between them, unless by chance in few rows.
_APART, _BY_CHANCE, _STEPS = 0.15, 12, 3
# Numbers of this size hardly include zero.
_LARGE = 100
# Plausible shares of zeros, and least number of other values.
_ZEROS, _FEWEST_DIFFERENT = (0.05, 0.75), 15
# Least distance of a repeated number of another form, and of a single one of such a form, in
# ranges of the others.
_FAR, _FAR_ONCE = 10, 3


@dataclasses.dataclass(frozen=True)
class Sentinel:
    """A number code of missing values, and the number of its cells."""

    value: float
    count: int


def sentinels(table: Table) -> Iterator[Finding]:
    """Find number codes of missing values in the features."""
    for column in table.features:
        codes = find_sentinels(column) if column.role == "number" else []
        if not codes:
            continue
        total = sum(code.count for code in codes)
        yield found(
            "sentinel_numbers",
            column.name,
            rows=total,
            values=tuple(spell_number(code.value) for code in codes),
            shown=" and ".join(spell_cell(column, code.value) for code in codes),
            share=100.0 * total / column.height,
            count=len(codes),
            where="far outside" if any(code.value for code in codes) else "apart from",
        )


def find_sentinels(column: Column) -> list[Sentinel]:
    """Find extreme values of a column that are not measurements, the outermost first."""
    if not column.different.exceeds(2):
        return []
    cells = column.values
    if column.is_date:
        return _days_apart(cells)
    if isinstance(column, SparseColumn):
        cells = np.append(column.cells[1], 0.0)  # zero is regular in a sparse column
    low, high = np.fmin.reduce(cells), np.fmax.reduce(cells)
    found = _negative_codes(cells) if low < 0 else []
    if high == _NINE and _is_apart_from_answers(cells):
        return [Sentinel(_NINE, int(np.count_nonzero(cells == _NINE)))]
    # Most columns have no repeated extreme, and sorting is slow.
    repeated = any(np.count_nonzero(cells == end) > _FEWEST for end in (low, high))
    if not (found or repeated or _has_form(low) or _has_form(high) or low in (0.0, -1.0)):
        return []
    rest = np.sort(cells[cells >= 0] if found else cells[~np.isnan(cells)])
    while len(found) < _MOST_OF_A_COLUMN and (end := _end(rest)) is not None:
        rest = rest[rest != end.value]
        found.append(end)
    return found


def _negative_codes(cells: Array) -> list[Sentinel]:
    """Find codes such as -9 and -99 as the only negative values among whole numbers."""
    # The first cells decide most columns of measurements.
    if not _begins_whole(cells[:_HEAD]) or not _begins_whole(below := cells[cells < 0]):
        return []
    negative, counts = np.unique(below, return_counts=True)
    total = int(counts.sum())
    codes = map(spell_number, negative[: _MOST_NEGATIVE + 1].tolist())
    if not all(map(_NEGATIVE.fullmatch, codes)) or total < _FEWEST:
        return []
    others = cells[cells >= 0]
    if total >= len(others) or not np.array_equal(others, np.floor(others)):
        return []
    return [Sentinel(float(value), int(n)) for value, n in zip(negative, counts, strict=True)]


def _begins_whole(cells: Array) -> bool:
    """Return whether the first negative values are whole numbers."""
    first = cells[cells < 0][:_HEAD]
    return np.array_equal(first, np.floor(first))


def _is_apart_from_answers(cells: Array) -> bool:
    """Return whether 9 is repeated among consecutive whole numbers up to 6."""
    values, counts = np.unique(cells[~np.isnan(cells)], return_counts=True)
    answers = values[:-1]
    return bool(
        _FEWEST < counts[-1] <= _MOST_NINES * counts.sum()
        and len(answers) > 1
        and 0 <= answers[0] <= 1
        and answers[-1] <= _HIGHEST_ANSWER
        and np.array_equal(answers, answers[0] + np.arange(len(answers)))
    )


def _days_apart(cells: Array) -> list[Sentinel]:
    """Find repeated calendar ends, years before or after all other dates."""
    found = []
    for end, sign in ((np.fmin.reduce(cells), 1.0), (np.fmax.reduce(cells), -1.0)):
        if end in _DAYS:
            count = int(np.count_nonzero(cells == end))
            gap = np.nanmin(sign * (cells[cells != end] - end))
            least = _YEAR if count >= _FEWEST else _LIFE
            found += [Sentinel(float(end), count)] if gap > least else []
    return found


def _has_form(value: float) -> bool:
    return _FORMS.fullmatch(spell_number(value)) is not None


def _end(cells: Array) -> Sentinel | None:
    """Return an extreme value of sorted cells that is not a measurement."""
    for value in cells[[0, -1]].tolist():
        count = int(np.count_nonzero(cells == value))
        if _stands_out(value, count, cells[cells != value]):
            return Sentinel(value, count)
    return None


def _stands_out(value: float, count: int, rest: Array) -> bool:
    """Return whether an extreme value does not belong to the measurements."""
    inner = _without_forms(rest)
    if len(inner) < _FEWEST:
        return False
    below, reach = value < inner[0], float(inner[-1] - inner[0])
    gap = float(inner[0] - value) if below else float(value - inner[-1])
    if _has_form(value):
        least = 0.5 if count >= _FEWEST else _FAR_ONCE
        return gap > 0 and gap >= least * reach and (reach > 0 or count < len(inner))
    if count < _FEWEST or np.count_nonzero(np.diff(inner)) + 1 < _FEWEST_VALUES:
        return False
    if value not in (0, -1):
        return gap >= _FAR * reach and count > _FEWEST
    spread = _quantile(inner, 0.75) - _quantile(inner, 0.25)
    if value == 0 or (inner[0] > 0 and gap >= spread):
        return gap >= spread or _are_apart(inner, count, gap)
    # -1 is an ordinary number, unless nothing else is negative and it is the commonest value.
    whole = bool(np.all(inner == np.floor(inner)))
    edges = np.flatnonzero(np.diff(inner, prepend=np.nan, append=np.nan))
    is_commonest = count > int(np.diff(edges).max(initial=0))
    return value == -1 and inner[0] >= 0 and whole and is_commonest


def _are_apart(inner: Array, zeros: int, gap: float) -> bool:
    """Return whether sorted numbers other than zero are too far from it to be regular."""
    steps = np.diff(inner)
    steps = steps[steps > 0]
    if not _ZEROS[0] <= zeros / (zeros + len(inner)) <= _ZEROS[1]:
        return False
    if len(steps) + 1 < _FEWEST_DIFFERENT:
        return False
    # Large whole numbers far from zero whose range is small.
    if gap >= _LARGE and inner[-1] <= gap**2 and bool(np.all(inner == np.floor(inner))):
        return True
    lower = _quantile(inner, 0.25) - inner[0]
    far = max(_APART, _BY_CHANCE / len(inner)) * lower
    return bool(gap >= max(far, _STEPS * float(np.quantile(steps, 0.1))))


def _quantile(inner: Array, share: float) -> float:
    """Return the quantile of sorted cells, rounded as by numpy.quantile, which would sort again."""
    place = share * (len(inner) - 1)
    start = int(place)
    below, above = inner[[start, min(start + 1, len(inner) - 1)]].tolist()
    t = place - start
    return float(below + (above - below) * t if t < 0.5 else above - (above - below) * (1 - t))


def _without_forms(cells: Array) -> Array:
    """Return sorted cells without possible further codes at their ends."""
    for _ in range(_MOST_OF_A_COLUMN):
        for end in (0, -1):
            if len(cells) and _has_form(cells[end]):
                cells = cells[cells != cells[end]]
    return cells
