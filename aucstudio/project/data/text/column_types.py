"""Classify a column of cells: number, date or text.

A column holds numbers if all its cells are numbers, or if the others are so few that they are slips
or remarks.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Iterable, Mapping, Sequence

from aucstudio.project.data import text as vocabulary
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.numerals import (
    MISSING_NUMBER,
    NumberFormat,
    formats,
    is_remark,
    known_numbers,
)

CURRENCIES = re.compile(
    rf"{vocabulary.any_of('units', 'currencies')}|"
    rf"(?<![^\W\d_])(?:{vocabulary.any_of('units', 'currency_words')})(?![^\W\d_])"
)
# A unit of one capital letter needs a blank before it, as words do; otherwise the cell is a code.
_MEASURED = re.compile(
    rf"[+-]?[0-9][0-9.,' ]*(?: ?({vocabulary.any_of('units', 'measured')})|"
    r" ([AKVWtdy]|[^\W\d_]{2,12}))"
)
_DECORATED = re.compile(
    r"[()*#\[`]|[^\x00-\x7f]|[0-9] ?-$|[0-9][.,]--?|"
    "[0-9.,][dD][+-]?[0-9]|[0-9],[0-9]{2},[0-9]{3}|[0-9.,] [A-Za-z]{1,2}$"
)
_AT_LEAST = re.compile(r"[0-9]+(?:\.[0-9]+)?\+")
_CODE = re.compile(r"(?=.*[0-9])(?=.*[^\W\d_]).*|[0-9]+\+?|.*[0-9]\+")
# Codes such as postcodes, which would lose their zeros as numbers; some look like powers.
CODE = re.compile("0[0-9]+(?:[0-9]|[eE][0-9]+)")
_CODED = re.compile("[0-9]+(?:[eE][0-9]+)?")
_WHOLE = re.compile("[0-9]+")

# The share of cells that may be other than numbers, and the number of their spellings.
_SHARE, _CODE_SHARE, _SPELLINGS = 0.05, 0.001, 20
# The same for a few words that recur among measured numbers.
_WORDS, _WORD_SHARE = 3, 0.3
# The same if the numbers have decimals, which names of levels hardly have.
_BROKEN_WORD_SHARE = 0.7
# Whole numbers of so few values may be the names of levels.
_FEW_LEVELS = 30
# In few rows, numbers are measured if more than so many differ.
_LEAST_LEVELS = 7
# Partial dates: 2023-05, 2023-UN-UN, UN-MAY-2023.
_PARTIAL_DATE = re.compile(
    r"(?:1[89]|20)[0-9]{2}(?:[-/.](?:[0-9]{1,2}|un|unk|uk|xx|\?\?|--)){0,2}|"
    r"(?!(?:0?[1-9][-/. ]|[1-3][0-9][-/. ]){2})"
    r"(?:(?:un|unk|uk|xx|\?\?|--|00?|[0-9]{1,2}|[a-z]{3})[-/. ]){1,2}(?:1[89]|20)[0-9]{2}"
)
_PARTIAL_SHARE = 0.3
# The least share of numbers in a column of numbers and remarks.
_LEAST_NUMBERS = 0.2
# The number of spellings that are compared with formats, and with date formats.
MOST_OTHERS, _LOOKED_AT = 1_000, 50
_DIGIT = re.compile(r"\d")
_DAY_LIKE = re.compile(r"\D(?:0?[1-9]|[12][0-9]|3[01])$")
# The ends of a date of which neither has four digits: years differ less often than days.
_SHORT = re.compile(r"([0-9]{2})[-/.][0-9]{1,2}[-/.]([0-9]{2})(?![0-9])")
_PLAIN = NumberFormat()


def are_numbers(numbers: int, levels: int, whole: bool, others: Mapping[str, int]) -> bool:
    """Return whether a column holds numbers although some of its cells are not numbers.

    Parameters
    ----------
    numbers : int
        The number of cells that are numbers.
    levels : int
        The number of different numbers, or a few more than :data:`_FEW_LEVELS`.
    whole : bool
        Whether all of them are unsigned whole numbers.
    others : mapping of str to int
        The other cells that are not missing, stripped, and how often they occur.
    """
    is_measured = levels > min(_FEW_LEVELS, max(_LEAST_LEVELS, numbers // 3))
    # Beyond measured numbers, "90+" is a limit; beyond few numbers, "3+" is a level.
    not_remarks = {
        cell: count
        for cell, count in others.items()
        if not (is_remark(cell) or (is_measured and _AT_LEAST.fullmatch(cell)))
    }
    count = sum(not_remarks.values())
    if not numbers or numbers < _LEAST_NUMBERS * (numbers + sum(others.values())):
        return False
    if not count:
        return True
    if len(not_remarks) > _SPELLINGS:
        return False
    known = numbers + count
    if len(not_remarks) <= _WORDS and is_measured and not any(map(_DIGIT.search, not_remarks)):
        return count <= (_WORD_SHARE if whole else _BROKEN_WORD_SHARE) * known
    is_code = any(_CODE.fullmatch(cell) for cell in not_remarks)
    if not (is_measured and count == 1) and (is_code or (whole and levels <= _FEW_LEVELS)):
        return count <= _CODE_SHARE * known
    return count <= _SHARE * known or (count == 1 and known >= 8)


def candidate_formats(
    cells: Iterable[str], decimal: str, expected: NumberFormat | None = None
) -> tuple[NumberFormat, ...]:
    """Return the formats that some cells may have, likeliest first.

    That is the ``expected`` format of a sample, if there is one.
    """
    plain = formats(decimal)
    if expected is not None and expected not in plain:
        plain = (expected, *plain)
    known = [cell for cell in cells if _DIGIT.search(cell)]
    if not known:
        return plain
    # Cells of a measured quantity all end in the same unit.
    units = {unit_of(cell) for cell in known} if unit_of(known[0]) else {""}
    marks = {unit for unit in units if f"{unit}s" not in units}
    if len(marks) > 1 or "" in units:
        marks = {mark for cell in known for mark in CURRENCIES.findall(cell)}
    dressed: list[NumberFormat] = []
    if len(marks) <= 1 and (marks or any(map(_DECORATED.search, known))):
        affix = next(iter(marks), "")
        dressed = [NumberFormat(form.decimal, True, True, affix) for form in formats(decimal)[1::2]]
    return (*plain, *dressed, *date_forms(known, decimal))


def stray_of(cells: Iterable[str], decimal: str) -> str:
    """Return a cell that is not a number in any format; empty if there is none."""
    forms = candidate_formats([], decimal)
    others = (c for c in cells if not (is_remark(c) or any(form.matches(c) for form in forms)))
    return max(others, default="")


def unit_of(cell: str) -> str:
    """Return the unit after the number in a cell; empty if there is none."""
    found = _MEASURED.fullmatch(cell)
    return "" if found is None else found[1] or found[2]


def date_forms(cells: Sequence[str], decimal: str) -> list[NumberFormat]:
    """Return the formats of dates, times and durations that some cells may have."""
    some = cells[:: max(1, len(cells) // _LOOKED_AT)]
    durations = dates.DURATIONS if dates.may_be_duration(some) else ()
    if not any(set("-/.:, 年년Zz") & set(cell) or cell[-1:].isdigit() for cell in some):
        return [NumberFormat(decimal, layout=layout) for layout in durations]
    layouts = [layout for layout in dates.LAYOUTS if layout not in dates.DIGITS.values()]
    # Where numbers are written as in English, dates with slashes are, too.
    if decimal == "." and 2 * sum("/" in cell for cell in some) > len(some):
        layouts.insert(layouts.index("d.m.y"), layouts.pop(layouts.index("m/d/y")))
    short = [*filter(None, map(_SHORT.match, some))]
    if 2 * len({found[1] for found in short}) < len({found[2] for found in short}):
        layouts.insert(0, layouts.pop(layouts.index("yy-m-d")))
    return [NumberFormat(decimal, layout=layout) for layout in (*layouts, *durations)]


def guess_form(
    cells: Iterable[str], decimal: str, words: frozenset[str] = MISSING_NUMBER
) -> NumberFormat | None:
    """Return the format of a column from its stripped cells; None if it is text.

    A column without values counts as numbers.
    """
    known = known_numbers(cells, words)
    fitting = next((form for form in formats(decimal) if form.matches_all(known)), None)
    if fitting is not None:
        return _whole_number_format(fitting, known)
    return type_of(collections.Counter(known), decimal)


def type_of(
    counted: Mapping[str, int], decimal: str, expected: NumberFormat | None = None
) -> NumberFormat | None:
    """Return the format of a column from its known cells and how often each occurs."""
    if not any(map(_DIGIT.search, counted)):
        return None
    best = best_of(counted, candidate_formats([], decimal, expected))
    others = sorted(cell for cell in counted if not best.matches(cell))[:MOST_OTHERS]
    return format_of_most(counted, candidate_formats(others, decimal, expected))


def best_of(counted: Mapping[str, int], forms: Sequence[NumberFormat]) -> NumberFormat:
    """Return the format of most cells; of equally good formats the first."""
    return max(forms, key=lambda form: sum(n for cell, n in counted.items() if form.matches(cell)))


def forced_form(cells: Sequence[str], decimal: str) -> NumberFormat:
    """Return the format of most cells, for a column that a person declared to be numbers."""
    return best_of(collections.Counter(cells), candidate_formats(cells, decimal))


def format_of_most(
    counted: Mapping[str, int], forms: Sequence[NumberFormat]
) -> NumberFormat | None:
    """Return the format of most cells if it is the format of the column.

    Parameters
    ----------
    counted : mapping of str to int
        The known cells, and how often each occurs.
    forms : sequence of NumberFormat
        The formats to try, likeliest first.
    """
    best = best_of(counted, forms)
    numbers = {cell for cell in counted if best.matches(cell)}
    others = {cell: count for cell, count in counted.items() if cell not in numbers}
    if best.dated:
        others = _without_partial(others, sum(counted.values()))
    whole = not best.layout and all(_WHOLE.fullmatch(cell) for cell in numbers)
    total = sum(counted[cell] for cell in numbers)
    if best.dressed and not best.affix and 2 * total < sum(counted.values()):
        return None
    noted = [cell for cell in numbers if not cell.endswith("*") and best.is_noted(cell)]
    if 2 * sum(counted[cell] for cell in noted) > total:
        return None  # a mark after most numbers is part of them, unless it is a star
    return best if are_numbers(total, len(numbers), whole, others) else None


def _without_partial(others: Mapping[str, int], cells: int) -> dict[str, int]:
    """Leave out partial dates if these are few."""
    partial = {cell for cell in others if _PARTIAL_DATE.fullmatch(cell.lower())}
    few = sum(others[cell] for cell in partial) <= _PARTIAL_SHARE * cells
    return {cell: n for cell, n in others.items() if not (few and cell in partial)}


def _whole_number_format(form: NumberFormat, known: Sequence[str]) -> NumberFormat | None:
    """Return the format of whole numbers: codes (None), dates without separators, or numbers."""
    if not known or not all(map(_CODED.fullmatch, known)):
        return form
    zeros = {cell for cell in known if CODE.fullmatch(cell)}
    if zeros and (len(zeros) > 1 or len(set(map(len, known))) == 1):
        return None
    layout = dates.DIGITS.get(len(known[0]))
    if layout is None or len(set(known)) <= 2:
        return form
    day = NumberFormat(form.decimal, layout=layout)
    return day if day.matches_all(known) else form


def holds_codes(cells: Sequence[str], words: frozenset[str]) -> bool:
    """Return whether numbers of a column are codes, as they begin with zeros."""
    return _whole_number_format(_PLAIN, known_numbers(cells, words)) is None


def digits_of_codes(cells: Sequence[str], words: frozenset[str]) -> int | None:
    """Return the number of digits of all cells if they may be codes; else None.

    0 if all cells are missing.
    """
    known = known_numbers(cells, words)
    lengths = set(map(len, known))
    if not known:
        return 0
    is_code = len(lengths) == 1 and min(lengths) > 2 and all(map(_WHOLE.fullmatch, known))
    return min(lengths) if is_code else None


def is_ambiguous(form: NumberFormat | None, cells: Sequence[str]) -> bool:
    """Return whether days and months may be swapped, or years may be days."""
    if form is not None and form.layout == "mon y":
        return all(_DAY_LIKE.search(cell) for cell in cells if form.matches(cell))
    other = {"d.m.y": "m/d/y", "m/d/y": "d.m.y"}.get(form.layout if form else "")
    if form is None or other is None:
        return False
    swapped = NumberFormat(form.decimal, layout=other)
    known = [cell for cell in cells if form.matches(cell)]
    return bool(known) and swapped.matches_all(known)
