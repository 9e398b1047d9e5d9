"""How numbers and missing values are spelled, and how DuckDB is to read them."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Sequence

# Spaces of all kinds and apostrophes group digits beside either decimal mark.
_GROUPS = {".": ",", ",": "."}
_SPACES = " '\u00a0\u202f\u2019"

# In a text column "-", "." and "None" may well be values (the label of a credit table is "+" or
# "-"); among numbers they cannot be.
MISSING_TEXT = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "?"})
MISSING_NUMBER = MISSING_TEXT | {"none", "-", "--", "."}

_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_BLANK = " \t\r\n\u00a0"
# More digits than a double holds: an account or a barcode, nothing to calculate with.
_CODE = re.compile(r"[0-9]{16,}")


@dataclasses.dataclass(frozen=True)
class NumberFormat:
    """A way to write numbers.

    Attributes
    ----------
    decimal : {".", ","}
    grouped : bool
        Whether thousands marks may occur.
    """

    decimal: str = "."
    grouped: bool = False

    @functools.cached_property
    def pattern(self) -> str:
        """A regular expression that a cell matches in full; infinite values included."""
        d = re.escape(self.decimal)
        plain = rf"[+-]?([0-9]+{d}?[0-9]*|{d}[0-9]+)([eE][+-]?[0-9]+)?"
        grouped = rf"[+-]?[1-9][0-9]{{0,2}}({self._marks}[0-9]{{3}})+({d}[0-9]*)?"
        infinite = r"[+-]?[iI][nN][fF]([iI][nN][iI][tT][yY])?"
        return "|".join([plain, infinite, *([grouped] if self.grouped else [])])

    @functools.cached_property
    def _marks(self) -> str:
        return f"[{_GROUPS[self.decimal]}{_SPACES}]"

    @functools.cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def matches(self, cell: str) -> bool:
        """Tell whether a stripped cell is a number in this format."""
        return self._compiled.fullmatch(cell) is not None

    def read(self, cell: str) -> float:
        """Read a cell that matches."""
        if self.grouped:
            cell = re.sub(self._marks, "", cell)
        return float(cell.replace(self.decimal, "."))

    def sql(self, cell: str) -> str:
        """Write the DuckDB expression that reads ``cell``; NULL where it is no such number."""
        if self.grouped:
            bare = f"regexp_replace({trimmed(cell)}, {literal(self._marks)}, '', 'g')"
            number = f"try_cast(replace({bare}, {literal(self.decimal)}, '.') AS DOUBLE)"
            return f"CASE WHEN {self.sql_matches(cell)} THEN {number} END"
        if self.decimal == ".":
            return f"try_cast({cell} AS DOUBLE)"
        number = f"try_cast(replace({cell}, ',', '.') AS DOUBLE)"
        return f"CASE WHEN NOT contains({cell}, '.') THEN {number} END"

    def sql_matches(self, cell: str) -> str:
        """Write the DuckDB condition that the cell matches :attr:`pattern`."""
        return f"regexp_full_match({trimmed(cell)}, {literal(self.pattern)})"


def formats(decimal: str) -> tuple[NumberFormat, ...]:
    """List the formats to try where the file's decimal mark is ``decimal``, likeliest first."""
    return tuple(
        NumberFormat(mark, grouped)
        for mark in (decimal, _GROUPS[decimal])
        for grouped in (False, True)
    )


def is_missing_number(cell: str) -> bool:
    """Tell whether a stripped cell says, among numbers, that there is no value."""
    return cell.lower() in MISSING_NUMBER


def guess_format(cells: Iterable[str], decimal: str) -> NumberFormat | None:
    """Find the format that all cells of a column are written in; None if it is text.

    A column without any value counts as one of numbers.
    """
    known = [cell for cell in cells if not is_missing_number(cell)]
    if any(_CODE.fullmatch(cell) for cell in known):
        return None
    return next((f for f in formats(decimal) if all(map(f.matches, known))), None)


def guess_decimal(columns: Sequence[Sequence[str]], delimiter: str) -> str:
    """Find the decimal mark of a file from the cells of its columns.

    A column votes if its numbers can be read with one mark only. Without votes, "1,234" is
    taken for a decimal number unless commas separate the cells.
    """
    votes = {".": 0, ",": 0}
    undecided = False
    for cells in columns:
        known = [cell for cell in cells if not is_missing_number(cell)]
        fits = {f.decimal for f in formats(".") if known and all(map(f.matches, known))}
        for mark in fits if len(fits) == 1 else ():
            votes[mark] += 1
        undecided = undecided or (len(fits) == 2 and any("," in cell for cell in known))
    if votes["."] == votes[","] == 0:
        return "," if undecided and delimiter != "," else "."
    return "," if votes[","] > votes["."] else "."


def number_sql(cell: str, form: NumberFormat) -> str:
    """Write the expression of a number cell: NaN where missing, infinite where it is not one.

    Infinite values are refused in any case, so they can stand for "not a number at all": one
    pass over the file both reads the column and tells whether it has to be looked at again.
    """
    other = f"CASE WHEN {missing_sql(cell, MISSING_NUMBER)} THEN 'nan'::DOUBLE ELSE 'inf'::DOUBLE"
    return f"coalesce({form.sql(cell)}, {other} END)"


def text_sql(cell: str) -> str:
    """Write the expression of a text cell: stripped, NULL where missing."""
    return f"CASE WHEN NOT {missing_sql(cell, MISSING_TEXT)} THEN {trimmed(cell)} END"


def missing_sql(cell: str, words: frozenset[str]) -> str:
    """Write the condition that a cell is empty or holds one of the words."""
    # One pattern: a list of words would take a vector each in every column of a wide table.
    spelled = "|".join(map(re.escape, sorted(words)))
    pattern = f"(?i)[{_BLANK}]*({spelled})[{_BLANK}]*"
    return f"({cell} IS NULL OR regexp_full_match({cell}, {literal(pattern)}))"


def trimmed(cell: str) -> str:
    """Write the expression of a cell without the blanks around it."""
    return f"trim({cell}, {literal(_BLANK)})"


def literal(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"
