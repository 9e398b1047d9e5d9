"""Number formats: decimal marks, units, brackets, missing values."""

from __future__ import annotations

import collections
import dataclasses
import functools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from aucstudio.project.data import text as vocabulary
from aucstudio.project.data.text import dates

# Blanks around cells: ASCII's, as around DuckDB's numbers, Excel's, and invisible characters.
BLANKS = " \t\n\v\f\r\u00a0\u200b\u200e\u200f\ufeff"
MISSING_TEXT = frozenset(vocabulary.words("missing", "text"))
MISSING_NUMBER = MISSING_TEXT.union(vocabulary.words("missing", "number"))
_REMARKS = vocabulary.compiled("missing", "remarks")
# Remarks that are missing values in a text column too.
_PLAIN_REMARKS = vocabulary.compiled("missing", "text_remarks")
_FIRST_OF_REMARKS = frozenset("nN<([\\#")


def is_missing_number(cell: str, words: frozenset[str] = MISSING_NUMBER) -> bool:
    """Return whether a stripped cell is a missing value among numbers."""
    return cell.lower() in words


def known_numbers(cells: Iterable[str], words: frozenset[str] = MISSING_NUMBER) -> list[str]:
    """Return the stripped cells that are not missing values among numbers."""
    return [cell for cell in cells if cell.lower() not in words]


def is_remark(cell: str) -> bool:
    """Return whether a stripped cell is a remark in place of a number."""
    return _REMARKS.fullmatch(cell.lower()) is not None


def plain_remarks(columns: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the remarks that are missing values in any column, in lower case."""
    found: dict[str, None] = {}
    for cells in columns:
        some = [cell.lower() for cell in cells if cell[:1] in _FIRST_OF_REMARKS]
        found |= dict.fromkeys(filter(_PLAIN_REMARKS.fullmatch, some))
    return tuple(found)


# The mark that groups thousands; spaces and apostrophes group with either decimal mark.
_GROUPS = {".": ",", ",": "."}
_UNIT_SIGNS = re.compile("^[$\u20ac\u00a3\u00a5] ?(?=[0-9+-])|(?<=[0-9]) ?[%\u20ac\u00a3]$")
_THREE_PLACES = re.compile("[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}")
_BELOW_THOUSAND = re.compile("[-+]?[0-9]{1,3}")
# The fewest cells whose mark groups thousands.
_LEAST_GROUPED = 3
_SPACES = " '\u00a0\u202f\u2019"
# Further separators of `NumberFormat.dressed`.
_THIN_SPACES = "\u2009\u2007\u00b4`"
_SIGNS = "+\u2212\u2013-"
_NEGATIVE = frozenset("(\u2212\u2013-")
# Digits and marks of other scripts, and their ASCII characters.
_SCRIPTS = (0xFF10, 0x0660, 0x06F0, 0x0966, 0x09E6, 0x0E50)
FOREIGN_DIGITS = (
    "".join(chr(zero + n) for zero in _SCRIPTS for n in range(10))
    + "\uff0e\uff0c\uff0d\uff05\u066b\u066c\u00b7"
)
OWN_DIGITS = "0123456789" * len(_SCRIPTS) + ".,-%.,."
_TO_OWN = str.maketrans(FOREIGN_DIGITS, OWN_DIGITS)
# Marks of footnotes and flags after a number.
NOTE = (
    "(?:[ \u00a0]*(?:[*]{1,4}|[\u2020\u2021\u00a7\u00b6#]{1,3}|"
    "[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]{1,3}\\)?|"
    r"\[[^\[\]]{1,6}\]|\([A-Za-z]{1,2}\))| +(?:HH?|LL?|[bcefinpruz]{1,2}))"
)
_DIGIT = re.compile("[0-9]")
_FOOTNOTE = re.compile(f"{NOTE}$")

# A value beyond a limit, such as one of detection.
BELOW = "<\u2264"
_BEYOND = re.compile(f"([>\u2265{BELOW}])=?[ \u00a0]*([^>\u2265{BELOW}=].*)")

# No cents, after the decimal mark: 45.000,-
_NO_CENTS = "(?:--?|\u2013|\u2014)"

# More digits than a double holds are those of accounts and barcodes.
_MOST_DIGITS = 15
LONGEST_INTEGER = 10.0**_MOST_DIGITS
PER_CENT = ("%", "\u2030")


@dataclasses.dataclass(frozen=True)
class NumberFormat:
    """A notation of numbers.

    Attributes
    ----------
    decimal : {".", ","}
    grouped : bool
        Whether there may be thousands separators.
    dressed : bool
        Whether brackets or a minus after the number may make it negative, and it may have a
        typographic minus, thin spaces, digits of another script, Indian groups, Fortran's exponent,
        the mark of a footnote, or ``affix``.
    affix : str
        The currency or unit that a number may have, or the per cent sign that it has.
    layout : str
        The layout of dates or durations, one of ``LAYOUTS`` or ``DURATIONS`` of
        :mod:`~aucstudio.project.data.text.dates`; empty for numbers.
    scale : float
        The factor of numbers in a later file with fractions instead of per cent, or the reverse.
    limits : {"", "limit", "half"}
        How a value beyond a limit is read, such as "<1.8": not at all, as the limit, or as half of
        it. Above a limit, half of it makes no sense, and the limit counts.
    """

    decimal: str = "."
    grouped: bool = False
    dressed: bool = False
    affix: str = ""
    layout: str = ""
    scale: float = 1.0
    limits: Literal["", "limit", "half"] = ""

    def with_limits(self, limits: Literal["", "limit", "half"]) -> NumberFormat:
        """Return a format that reads values beyond a limit differently; dates have none."""
        is_same = bool(self.layout) or limits == self.limits
        return self if is_same else dataclasses.replace(self, limits=limits)

    @property
    def dated(self) -> str:
        """The layout of dates; empty for numbers and durations."""
        return "" if self.layout in dates.DURATIONS else self.layout

    @functools.cached_property
    def pattern(self) -> str:
        """A regular expression that a stripped number matches in full; infinite values included."""
        d, exponent = re.escape(self.decimal), "[eE][+-]?[0-9]+"
        short = f"0*[0-9]{{1,{_MOST_DIGITS}}}"
        grouped = rf"[1-9][0-9]{{0,2}}(?:[{self.marks}][0-9]{{3}})+(?:{d}[0-9]*)?"
        if self.dressed:
            return self._dressed(short, grouped)
        marked = rf"[+-][0-9]+|[+-]?[0-9]+{exponent}"
        plain = rf"{short}|{marked}|[+-]?(?:[0-9]+{d}[0-9]*|{d}[0-9]+)(?:{exponent})?"
        infinite = r"[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?"
        ways = [plain, infinite, *([f"[+-]?{grouped}"] if self.grouped else [])]
        return f"(?P<number>{'|'.join(ways)})"

    def _dressed(self, short: str, grouped: str) -> str:
        """Return the pattern of numbers in brackets, with a unit and the like."""
        d, sign, blank = re.escape(self.decimal), f"[{_SIGNS}]", "[ \u00a0\u202f\u2009]?"
        if self.decimal == ".":
            grouped += r"|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]*)?"
        exponent = "(?:[eEdD][+\u2212-]?[0-9]{1,4})?"
        number = f"(?:[0-9]+{d}[0-9]*|{d}[0-9]+|{short}){exponent}"
        number = rf"(?P<number>{grouped}|{number})(?:(?<={d}){_NO_CENTS})?"
        before, after, known = "", "", ""
        if self.affix:
            before = rf"(?:{self.unit}{blank}(?P<inside>\()?(?P<behind>{sign})?)?"
            after = rf"(?(inside)\))(?:{blank}{self.unit})?"
        if self.affix in PER_CENT:
            known = f"(?=.*{self.affix}|0(?:{NOTE})?$)"
        return (
            rf"{known}(?P<around>\()?(?P<sign>{sign})?{before}{number}{after}"
            rf"(?:{blank}(?P<last>[\u2212-]))?(?(around)\))(?P<note>{NOTE})?"
        )

    @property
    def frequent_pattern(self) -> str:
        """A regular expression of the most frequent of these numbers, for DuckDB.

        It matches part of what ``pattern`` matches. Its group is the number with its separators.
        """
        mark, most = _GROUPS[self.decimal], f"{{1,{_MOST_DIGITS // 3 - 1}}}"
        whole = rf"[0-9]{{1,{_MOST_DIGITS}}}|[1-9][0-9]{{0,2}}(?:[{mark}][0-9]{{3}}){most}"
        number = rf"(-?(?:{whole})(?:{re.escape(self.decimal)}[0-9]+)?)"
        if not self.affix:
            return f"^{number}$"
        after = f"(?: ?{self.unit}){'' if self.affix in PER_CENT else '?'}"
        return f"^(?:{self.unit} ?)?{number}{after}$"

    @property
    def unit(self) -> str:
        """A regular expression of the affix, in the singular and the plural."""
        one = self.affix.removesuffix("s")
        is_plural = self.affix.isalpha() and 2 < len(one) < len(self.affix)
        return f"{re.escape(one)}s?" if is_plural else re.escape(self.affix)

    @property
    def marks(self) -> str:
        """The characters that may separate thousands."""
        return f"{_GROUPS[self.decimal]}{_SPACES}{_THIN_SPACES if self.dressed else ''}"

    @functools.cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    @functools.cached_property
    def _as_python(self) -> dict[int, str | None]:
        """The translation of the characters of a number for Python."""
        removed: dict[str, str | None] = dict.fromkeys(self.marks)
        return str.maketrans({**removed, "\u2212": "-", "d": "e", "D": "e", self.decimal: "."})

    def _found(self, cell: str) -> re.Match[str] | None:
        found = self._compiled.fullmatch(cell)
        if found is None and self.dressed and not cell.isascii():
            found = self._compiled.fullmatch(cell.translate(_TO_OWN))
        return found

    def matches(self, cell: str) -> bool:
        """Return whether a stripped cell has this format."""
        return dates.has_layout(cell, self.layout) if self.layout else self._found(cell) is not None

    def matches_all(self, cells: Iterable[str]) -> bool:
        """Return whether all stripped cells have this format."""
        is_plain = not (self.layout or self.dressed)
        return all(map(self._compiled.fullmatch if is_plain else self.matches, cells))

    def read(self, cell: str) -> float:
        """Return the number of a stripped cell; infinite if it does not have this format."""
        if self.layout:
            return dates.read(cell, self.layout) * self.scale
        found = self._found(cell)
        if found is None and self.limits and (beyond := _BEYOND.fullmatch(cell)):
            is_half = self.limits == "half" and beyond[1] in BELOW
            return self.read(beyond[2]) * (0.5 if is_half else 1.0)
        if found is None:
            return math.inf
        value = float(found["number"].translate(self._as_python)) * self.scale
        is_negative = self.dressed and not _NEGATIVE.isdisjoint(found.groups())
        return -value if is_negative else value

    def is_noted(self, cell: str) -> bool:
        """Return whether a footnote mark or a flag follows the number in a cell."""
        found = self._found(cell) if self.dressed else None
        return found is not None and found["note"] is not None


def other_mark(decimal: str) -> str:
    """Return the decimal mark that is not the given one."""
    return _GROUPS[decimal]


@functools.cache
def formats(decimal: str) -> tuple[NumberFormat, ...]:
    """Return the formats for a file with a decimal mark, likeliest first."""
    return tuple(
        NumberFormat(mark, grouped)
        for mark in (decimal, _GROUPS[decimal])
        for grouped in (False, True)
    )


def guess_decimal(columns: Sequence[Sequence[str]], delimiter: str) -> str:
    """Return the decimal mark of a file from the cells of its columns.

    A column votes if its numbers can be read with one mark only. Without votes, "1,234" is a
    decimal number unless commas separate the cells.
    """
    votes = {".": 0, ",": 0}
    undecided = False
    for cells in columns:
        bare = (_UNIT_SIGNS.sub("", _FOOTNOTE.sub("", cell)) for cell in _with_digits(cells))
        known = cells if are_plain(cells) else [*bare]
        fits = marks_of(known, delimiter)
        for mark in fits if len(fits) == 1 else ():
            votes[mark] += 1
        undecided = undecided or (len(fits) == 2 and any("," in cell for cell in known))
    if votes["."] == votes[","] == 0:
        return "," if undecided and delimiter != "," else "."
    return "," if votes[","] > votes["."] else "."


def _with_digits(cells: Iterable[str]) -> Iterator[str]:
    """Yield the cells that hold a digit and are no remarks in place of numbers."""
    return (cell for cell in cells if _DIGIT.search(cell) and not is_remark(cell))


def marks_of(known: Sequence[str], delimiter: str) -> set[str]:
    """Return the decimal marks by which the known cells of a column can be read.

    A mark before three digits groups thousands if the other cells are whole numbers below 1,000:
    decimals would not all have three places.
    """
    fits = {
        mark
        for mark in _GROUPS
        if known and any(form.matches_all(known) for form in formats(mark)[:2])
    }
    if len(fits) < 2 or delimiter == ",":
        return fits
    bare = [cell for cell in known if not may_be_grouped(cell)]
    marks = {mark for cell in known for mark in ",." if mark in cell}
    has_hundreds = len({cell for cell in bare if len(cell) == 3}) > 1
    if not has_hundreds or len(marks) != 1 or len(known) - len(bare) < _LEAST_GROUPED:
        return fits
    return {_GROUPS[marks.pop()]} if all(map(_BELOW_THOUSAND.fullmatch, bare)) else fits


def may_be_grouped(cell: str) -> bool:
    """Return whether a mark before three digits may group thousands."""
    return _THREE_PLACES.fullmatch(cell) is not None


def spelled(form: NumberFormat, value: float) -> str:
    """Return a number in a format, without thousands separators."""
    if form.layout:
        return dates.date_text(value, form.layout)
    text = str(int(value)) if value.is_integer() else repr(value)
    return text.replace(".", form.decimal) + form.affix


def read_number(form: NumberFormat, words: frozenset[str], text: str) -> float:
    """Return the number of a cell: NaN if missing, infinite if it is not a number."""
    cell = text.strip(BLANKS)
    return math.nan if is_missing_number(cell, words) else form.read(cell)


# Cells that ``float`` reads, one a line; leading zeros may be those of codes.
_PLAIN = re.compile(r"\n(?:-?(?!0[0-9]{2})[0-9]{1,15}(?:\.[0-9]+)?\n)*+")


def are_plain(cells: Sequence[str]) -> bool:
    """Return whether all cells are plain numbers; joined into one text, it takes half the time."""
    lines = "\n".join(("", *cells, ""))
    # A cell with a line end is not two cells.
    return lines.count("\n") == len(cells) + 1 and _PLAIN.fullmatch(lines) is not None


# The most texts that are remembered, and the most spellings that are counted.
_REMEMBERED, MOST_OTHERS = 1 << 17, 1_000
# The most spellings that are listed.
_LISTED = 20


class NumberCells(dict[str, float]):
    """The numbers of the texts of a column: NaN if missing, infinite if they are not numbers.

    Parameters
    ----------
    form : NumberFormat
    words : frozenset of str
        The spellings of missing values, in lower case.

    Attributes
    ----------
    spelled : dict of str to None
        Some of the numbers as spelled in the file.
    others : Counter of str
        Stripped cells that are not numbers, by their spelling; at most ``MOST_OTHERS``.
    count_others : int
        The number of cells that are not numbers.
    beyond : int
        The number of cells beyond a limit, such as <1.8, numbers or not.
    absent : dict of str to None
        The stripped cells that were read as missing, as spelled in the file; not the empty one.
    """

    def __init__(self, form: NumberFormat, words: frozenset[str]) -> None:
        self.form, self._words = form, words
        self.spelled: dict[str, None] = {}
        self.absent: dict[str, None] = {}
        self.others: collections.Counter[str] = collections.Counter()
        self.count_others = self.beyond = 0
        self._beyond = set[str]()

    def __missing__(self, text: str) -> float:
        value = read_number(self.form, self._words, text)
        if len(self) >= _REMEMBERED:
            self.clear()
            self._beyond.clear()
        bare = text.strip(BLANKS)
        if _BEYOND.fullmatch(bare):
            self._beyond.add(text)
        if math.isnan(value) and bare:
            self.absent[bare] = None
        elif len(self.spelled) < MOST_OTHERS and math.isfinite(value):
            self.spelled[bare] = None
        self[text] = value
        return value

    def read(self, text: str) -> float:
        """Return the number of a cell, and count the cell if it is not a number."""
        value = self[text]
        self.beyond += text in self._beyond
        if math.isinf(value):
            self.count_others += 1
            cell = text.strip(BLANKS)
            if cell in self.others or len(self.others) < MOST_OTHERS:
                self.others[cell] += 1
        return value

    @property
    def is_crowded(self) -> bool:
        """Whether there may be more spellings than are counted."""
        return len(self.others) >= MOST_OTHERS

    def listed(self) -> tuple[tuple[str, int], ...]:
        """Return the most frequent spellings of other cells, and how often each occurs."""
        ordered = sorted(self.others.items(), key=lambda item: (-item[1], item[0]))
        return tuple(ordered[:_LISTED])

    def counted(self, numbers: int, some: Sequence[str]) -> dict[str, int]:
        """Count cells by spelling, and ``numbers`` by representatives."""
        spelled = [*dict.fromkeys([*self.spelled, *some])][:MOST_OTHERS]
        each, rest = divmod(numbers, max(1, len(spelled)))
        known = {cell: each + (n < rest) for n, cell in enumerate(spelled) if numbers}
        more = self.count_others / max(1, self.others.total())
        return known | {cell: round(more * n) for cell, n in self.others.items()}
