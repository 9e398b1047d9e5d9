"""What a number is and what a missing value is, for Python and for DuckDB alike.

:attr:`NumberFormat.pattern` alone decides whether a cell is a number; a sample that is looked at in
Python, a short file that is read in Python and a long one that DuckDB reads agree to the bit.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Sequence

from aucstudio.project.data.text import dates, usual

# Spaces of all kinds and apostrophes group digits beside either decimal mark.
_GROUPS = {".": ",", ",": "."}
_BESIDE_NUMBERS = re.compile("^[$\u20ac\u00a3\u00a5] ?(?=[0-9+-])|(?<=[0-9]) ?[%\u20ac\u00a3]$")
_THREE_PLACES = re.compile("[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}")
_BELOW_THOUSAND = re.compile("[-+]?[0-9]{1,3}")
# So many cells that may be grouped are no chance.
_LEAST_GROUPED = 3
_SPACES = " '\u00a0\u202f\u2019"
# Beside these, what people write into cells that are dressed: see `NumberFormat.dressed`.
_THIN_SPACES = "\u2009\u2007\u00b4`"
_SIGNS = "+\u2212\u2013-"
# Digits and marks of other scripts, and what they are.
_SCRIPTS = (0xFF10, 0x0660, 0x06F0, 0x0966, 0x09E6, 0x0E50)
FOREIGN_DIGITS = (
    "".join(chr(zero + n) for zero in _SCRIPTS for n in range(10))
    + "\uff0e\uff0c\uff0d\uff05\u066b\u066c\u00b7"
)
OWN_DIGITS = "0123456789" * len(_SCRIPTS) + ".,-%.,."
_TO_OWN = str.maketrans(FOREIGN_DIGITS, OWN_DIGITS)
# What may follow a number that is dressed: marks of footnotes, flags of laboratories and offices.
NOTE = (
    "(?:[ \u00a0]*(?:[*]{1,4}|[\u2020\u2021\u00a7\u00b6#]{1,3}|"
    "[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]{1,3}|"
    r"\[[^\[\]]{1,6}\]|\([A-Za-z]{1,2}\))| +(?:HH?|LL?|[bcefinpruz]{1,2}))"
)
_DIGIT = re.compile("[0-9]")
_FOOTNOTE = re.compile(f"{NOTE}$")

# Behind the decimal mark, that there are no cents: 45.000,-
_NO_CENTS = "(?:--?|\u2013|\u2014)"

# In a text column "-", "." and "None" may well be values (the label of a credit table is "+" or
# "-"); among numbers they cannot be.
MISSING_TEXT = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "?"})
MISSING_NUMBER = MISSING_TEXT | {"none", "-", "--", "."}

# What may stand around a cell: ASCII's blanks, which DuckDB's numbers may have too, Excel's, and
# what nobody sees.
BLANKS = " \t\n\v\f\r\u00a0\u200b\u200e\u200f\ufeff"
# More digits than a double holds are an account or a barcode, nothing to calculate with.
_MOST_DIGITS = 15
LONGEST_INTEGER = 10.0**_MOST_DIGITS
# What DuckDB allows in numbers and the pattern does not: 1_000, +-5, nan(5).
LOOKALIKES = frozenset({"_", "+-", "nan"})
PER_CENT = ("%", "\u2030")


@dataclasses.dataclass(frozen=True)
class NumberFormat:
    """A way to write numbers.

    Attributes
    ----------
    decimal : {".", ","}
    grouped : bool
        Whether thousands marks may occur.
    dressed : bool
        Whether a number may be negative by brackets or by a minus behind it, have a typographic
        minus, thin spaces, digits of another script or groups as in India, Fortran's exponent, the
        mark of a footnote behind it, or stand beside ``affix``.
    affix : str
        The currency or the unit that may stand beside a number, or the sign of per cent that does.
    layout : str
        How dates or durations are written, one of ``LAYOUTS`` or ``LASTING`` of
        :mod:`~aucstudio.project.data.text.dates`: what they are as numbers is said there. Empty
        for numbers.
    scale : float
        What numbers are multiplied by, where a later file writes fractions and the training file
        wrote per cent, or the reverse.
    """

    decimal: str = "."
    grouped: bool = False
    dressed: bool = False
    affix: str = ""
    layout: str = ""
    scale: float = 1.0

    @property
    def dated(self) -> str:
        """How dates are written; empty for numbers, and for durations, which are such."""
        return "" if self.layout in dates.LASTING else self.layout

    @functools.cached_property
    def pattern(self) -> str:
        """A regular expression that a stripped cell matches in full; infinite values included."""
        if self.layout:
            return f"(?i)(?:{dates.pattern(self.layout)})"
        return self._dressed if self.dressed else self._bare

    @property
    def _bare(self) -> str:
        d, exponent = re.escape(self.decimal), "[eE][+-]?[0-9]+"
        short = f"0*[0-9]{{1,{_MOST_DIGITS}}}"
        marked = rf"[+-][0-9]+|[+-]?[0-9]+{exponent}"
        plain = rf"{short}|{marked}|[+-]?([0-9]+{d}[0-9]*|{d}[0-9]+)({exponent})?"
        grouped = rf"[+-]?[1-9][0-9]{{0,2}}({self._marks}[0-9]{{3}})+({d}[0-9]*)?"
        infinite = r"[+-]?[iI][nN][fF]([iI][nN][iI][tT][yY])?"
        return "|".join([plain, infinite, *([grouped] if self.grouped else [])])

    @property
    def _dressed(self) -> str:
        d, sign, blank = re.escape(self.decimal), f"[{_SIGNS}]", "[ \u00a0\u202f\u2009]?"
        exponent = "([eEdD][+\u2212-]?[0-9]{1,4})?"
        short = f"0*[0-9]{{1,{_MOST_DIGITS}}}"
        grouped = rf"[1-9][0-9]{{0,2}}({self._marks}[0-9]{{3}})+({d}[0-9]*)?"
        if self.decimal == ".":
            grouped += r"|[1-9][0-9]?(,[0-9]{2})+,[0-9]{3}(\.[0-9]*)?"
        grouped += f"|(?:{short}|[1-9][0-9]{{0,2}}({self._marks}[0-9]{{3}})+){d}{_NO_CENTS}"
        number = f"(({short}|[0-9]+{d}[0-9]*|{d}[0-9]+){exponent}|{grouped})"
        if self.affix in PER_CENT:
            return (
                rf"({sign}?{number}{blank}{self.affix}|{sign}?{self.affix}{blank}{number}|"
                rf"{self.affix}{blank}{sign}{number}|\({number}{blank}{self.affix}\)|0)({NOTE})?"
            )
        unit = f"({self.unit}{blank})?" if self.affix else ""
        behind = f"({blank}{self.unit})?" if self.affix else ""
        forms = [
            f"{sign}?{unit}{number}{behind}",
            f"{number}{behind}{blank}[\u2212-]",
            rf"\({unit}{number}{behind}\)",
            rf"{unit}\({number}\)",
            *([f"{unit}{sign}{number}"] if unit else []),
        ]
        return f"({'|'.join(forms)})({NOTE})?"

    @property
    def unit(self) -> str:
        """A regular expression of the affix; of one day there are no days."""
        one = self.affix.removesuffix("s")
        is_plural = self.affix.isalpha() and 2 < len(one) < len(self.affix)
        return f"{re.escape(one)}s?" if is_plural else re.escape(self.affix)

    @property
    def marks(self) -> str:
        """Every mark that may part thousands."""
        return f"{_GROUPS[self.decimal]}{_SPACES}{_THIN_SPACES if self.dressed else ''}"

    @property
    def _marks(self) -> str:
        return f"[{self.marks}]"

    @functools.cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def matches(self, cell: str) -> bool:
        """Tell whether a stripped cell is a number in this format."""
        if self.dressed:
            cell = self._in_own_digits(cell)
        return self._compiled.fullmatch(cell) is not None

    def matches_all(self, cells: Iterable[str]) -> bool:
        """Tell whether all stripped cells are numbers in this format."""
        own = map(self._in_own_digits, cells) if self.dressed else cells
        return all(map(self._compiled.fullmatch, own))

    def _in_own_digits(self, cell: str) -> str:
        return cell if cell.isascii() else cell.translate(_TO_OWN)

    def _in_own_digits_sql(self, cell: str) -> str:
        text = trimmed(cell)
        return f"translate({text}, '{FOREIGN_DIGITS}', '{OWN_DIGITS}')" if self.dressed else text

    def read(self, cell: str) -> float:
        """Read a cell that matches."""
        return self._read(cell) * self.scale

    def _read(self, cell: str) -> float:
        if self.layout:
            return dates.read(cell, self.layout)
        if self.dressed:
            return self._undressed(cell)
        if self.grouped:
            cell = re.sub(self._marks, "", cell)
        return float(cell.replace(self.decimal, "."))

    def _undressed(self, cell: str) -> float:
        """Read a dressed number, in the same steps as :meth:`_undressed_sql`."""
        cell = re.sub(f"{NOTE}$", "", self._without_unit(self._in_own_digits(cell)))
        cell = re.sub(self._without_cents, "", cell)
        bare = re.sub(f"[^{self._kept}]", "", cell)
        bare = bare.replace(self.decimal, ".").replace("\u2212", "-").replace("\u2013", "-")
        bare = bare.replace("d", "e").replace("D", "e")
        is_negative = cell.strip(" ").endswith((")", "-", "\u2212"))
        value = float(bare.rstrip("-"))
        return -value if is_negative else value

    def _without_unit(self, cell: str) -> str:
        return re.sub(self.unit, "", cell) if self.affix else cell

    @property
    def _without_cents(self) -> str:
        return f"{re.escape(self.decimal)}{_NO_CENTS} *$"

    def is_noted(self, cell: str) -> bool:
        """Tell whether the mark of a footnote or a flag follows the number in a cell."""
        return self.dressed and re.search(f"{NOTE}$", self._without_unit(cell)) is not None

    @property
    def _kept(self) -> str:
        return f"0-9eEdD{re.escape(self.decimal)}+\u2212\u2013-"

    def _undressed_sql(self, cell: str) -> str:
        text = self._in_own_digits_sql(cell)
        if self.affix:
            text = f"regexp_replace({text}, {literal(self.unit)}, '', 'g')"
        text = f"trim(regexp_replace({text}, {literal(f'{NOTE}$')}, ''))"
        text = f"regexp_replace({text}, {literal(self._without_cents)}, '')"
        bare = f"regexp_replace({text}, {literal(f'[^{self._kept}]')}, '', 'g')"
        bare = f"replace(replace({bare}, {literal(self.decimal)}, '.'), '\u2212', '-')"
        bare = f"replace(replace(replace({bare}, '\u2013', '-'), 'd', 'e'), 'D', 'e')"
        bare = f"try_cast(rtrim({bare}, '-') AS DOUBLE)"
        return f"CASE WHEN right({text}, 1) IN (')', '-', '\u2212') THEN -{bare} ELSE {bare} END"

    def sql(self, cell: str) -> str:
        """Write the DuckDB expression that reads ``cell``; infinite where it is no such number."""
        read = self._sql(cell)
        return read if self.scale == 1 else f"({read}) * {self.scale!r}::DOUBLE"

    def _sql(self, cell: str) -> str:
        if self.layout or self.dressed:
            taken = dates.sql(f"lower({trimmed(cell)})", self.layout) if self.layout else ""
            read = taken or f"coalesce({self._undressed_sql(cell)}, 'inf'::DOUBLE)"
            return f"CASE WHEN {self.sql_matches(cell)} THEN {read} ELSE 'inf'::DOUBLE END"
        bare = trimmed(cell)
        if self.grouped:
            bare = f"regexp_replace({bare}, {literal(self._marks)}, '', 'g')"
        if self.decimal != ".":
            bare = f"replace({bare}, {literal(self.decimal)}, '.')"
        read = f"coalesce(try_cast({bare} AS DOUBLE), 'inf'::DOUBLE)"
        return f"CASE WHEN {self.sql_matches(cell)} THEN {read} ELSE 'inf'::DOUBLE END"

    def quick_sql(self, cell: str, lookalikes: frozenset[str]) -> str:
        """Write the expression of nearly all cells that match; NULL if it takes :meth:`sql`.

        Only for formats that are quick: see :func:`is_quick`.

        It costs a third of what the pattern would, but takes whole numbers of more digits than
        the pattern allows: those are at least :data:`LONGEST_INTEGER`, and have to be looked for.

        Parameters
        ----------
        cell : str
        lookalikes : frozenset of str
            Which of :data:`LOOKALIKES` may occur in the file.
        """
        bare = cell
        plain = [f"NOT contains({cell}, '{mark}')" for mark in sorted(lookalikes - {"nan"})]
        if self.decimal != ".":
            plain.append(f"NOT contains({cell}, '.')")
            bare = f"replace({cell}, {literal(self.decimal)}, '.')"
        number = f"try_cast({bare} AS DOUBLE)"
        if "nan" in lookalikes:
            # Of three letters there is no other spelling, and that one says that none is there.
            number = f"CASE WHEN NOT (isnan({number}) AND strlen({bare}) > 3) THEN {number} END"
        return f"CASE WHEN {' AND '.join(plain)} THEN {number} END" if plain else number

    def sql_matches(self, cell: str) -> str:
        """Write the DuckDB condition that the cell, stripped, matches :attr:`pattern`."""
        return f"regexp_full_match({self._in_own_digits_sql(cell)}, {literal(self.pattern)})"


def other_mark(decimal: str) -> str:
    """Return the decimal mark that is not the given one."""
    return _GROUPS[decimal]


@functools.cache
def formats(decimal: str) -> tuple[NumberFormat, ...]:
    """List the formats to try where the file's decimal mark is ``decimal``, likeliest first."""
    return tuple(
        NumberFormat(mark, grouped)
        for mark in (decimal, _GROUPS[decimal])
        for grouped in (False, True)
    )


def is_missing_number(cell: str, words: frozenset[str] = MISSING_NUMBER) -> bool:
    """Tell whether a stripped cell says, among numbers, that there is no value."""
    return cell.lower() in words


def guess_format(cells: Iterable[str], decimal: str) -> NumberFormat | None:
    """Find the format that all cells of a column are written in; None if it is text.

    A column without any value counts as one of numbers.
    """
    known = [cell for cell in cells if not is_missing_number(cell)]
    return next((f for f in formats(decimal) if f.matches_all(known)), None)


def guess_decimal(columns: Sequence[Sequence[str]], delimiter: str) -> str:
    """Find the decimal mark of a file from the cells of its columns.

    A column votes if its numbers can be read with one mark only. Without votes, "1,234" is
    taken for a decimal number unless commas separate the cells.
    """
    votes = {".": 0, ",": 0}
    undecided = False
    for cells in columns:
        known = [_undressed(cell) for cell in cells if _DIGIT.search(cell)]
        fits = marks_of(known, delimiter)
        for mark in fits if len(fits) == 1 else ():
            votes[mark] += 1
        undecided = undecided or (len(fits) == 2 and any("," in cell for cell in known))
    if votes["."] == votes[","] == 0:
        return "," if undecided and delimiter != "," else "."
    return "," if votes[","] > votes["."] else "."


def _undressed(cell: str) -> str:
    """Leave out a sign of per cent or of a currency beside a number, and the mark of a footnote."""
    return _BESIDE_NUMBERS.sub("", _FOOTNOTE.sub("", cell))


def marks_of(known: Sequence[str], delimiter: str) -> set[str]:
    """Give the decimal marks that the known cells of a column can be read with.

    Where some have a mark before three digits and others are whole numbers of up to hundreds, that
    mark groups thousands: decimals would not all have three places.
    """
    fits = {form.decimal for form in formats(".") if known and form.matches_all(known)}
    if len(fits) < 2 or delimiter == ",":
        return fits
    bare = [cell for cell in known if not may_be_grouped(cell)]
    marks = {mark for cell in known for mark in ",." if mark in cell}
    has_hundreds = len({cell for cell in bare if len(cell) == 3}) > 1
    if not has_hundreds or len(marks) != 1 or len(known) - len(bare) < _LEAST_GROUPED:
        return fits
    return {_GROUPS[marks.pop()]} if all(map(_BELOW_THOUSAND.fullmatch, bare)) else fits


def may_be_grouped(cell: str) -> bool:
    """Tell whether the mark in a number of three places could group thousands."""
    return _THREE_PLACES.fullmatch(cell) is not None


def number_sql(
    cell: str,
    form: NumberFormat,
    lookalikes: frozenset[str] | None = None,
    words: frozenset[str] = MISSING_NUMBER,
) -> str:
    """Write the expression of a number cell: NaN where missing, infinite where it is not one.

    Infinite values are refused in any case, so they can stand for "not a number at all": one
    pass over the file both reads the column and tells whether it has to be looked at again, as
    it has where a number is :data:`LONGEST_INTEGER` or more. Without ``lookalikes`` every cell is
    compared with the pattern.
    """
    other = f"CASE WHEN {missing_sql(cell, words)} THEN 'nan'::DOUBLE ELSE {form.sql(cell)} END"
    if not _hold_digits(words) and (spelled := _usual_sql(cell, form)):
        return f"coalesce({spelled}, {other})"
    if lookalikes is None or not is_quick(form, words):
        return other
    return f"coalesce({form.quick_sql(cell, lookalikes)}, {other})"


def _usual_sql(cell: str, form: NumberFormat) -> str:
    """Write the expression of usual spellings; empty where the format has none of its own."""
    if form.layout:
        return usual.usual_date(cell, form.layout)
    if not (form.grouped or form.dressed) or form.scale != 1:
        return ""
    per_cent = form.affix in PER_CENT
    return usual.usual_number(
        cell, form.decimal, form.marks, form.affix, behind=per_cent, dressed=form.dressed
    )


def is_quick(form: NumberFormat, words: frozenset[str]) -> bool:
    """Tell whether most cells can be read without a look at the pattern."""
    if form.grouped or form.dressed or form.layout or form.scale != 1:
        return False
    # A number that was said to stand for a missing value would be read as one by the quick way.
    return not _hold_digits(words)


@functools.cache
def _hold_digits(words: frozenset[str]) -> bool:
    return any(c.isdigit() for word in words for c in word)


def read_number(form: NumberFormat, words: frozenset[str], text: str) -> float:
    """Read a cell as :func:`number_sql` does: NaN where missing, infinite where it is none."""
    cell = text.strip(BLANKS)
    if is_missing_number(cell, words):
        return float("nan")
    return form.read(cell) if form.matches(cell) else float("inf")


def text_sql(cell: str, words: frozenset[str] = MISSING_TEXT) -> str:
    """Write the expression of a text cell: stripped, NULL where missing."""
    return f"CASE WHEN NOT {missing_sql(cell, words)} THEN {trimmed(cell)} END"


def missing_sql(cell: str, words: frozenset[str]) -> str:
    """Write the condition that a cell is empty or holds one of the words."""
    # One pattern: a list of words would take a vector each in every column of a wide table.
    spelled = "|".join(map(re.escape, sorted(words)))
    pattern = f"(?i)[{BLANKS}]*({spelled})[{BLANKS}]*"
    return f"({cell} IS NULL OR regexp_full_match({cell}, {literal(pattern)}))"


def trimmed(cell: str) -> str:
    """Write the expression of a cell without the blanks around it."""
    return f"trim({cell}, {literal(BLANKS)})"


def literal(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"
