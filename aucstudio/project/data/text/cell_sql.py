"""SQL expressions that cast plain cells and pass others to Python."""

from __future__ import annotations

import functools

from aucstudio.project.data.text import dates
from aucstudio.project.data.text.numerals import (
    BLANKS,
    LONGEST_INTEGER,
    MISSING_TEXT,
    NumberFormat,
    other_mark,
)

# The Python function that DuckDB calls with a text and the index of its column.
READ = "read_number"
# Parts of numbers for DuckDB, but not for Python: 1_000, +-5.
LOOKALIKES = ("_", "+-")
_DAY = "[1-9][0-9]{3}-[01][0-9]-[0-3][0-9]([ Tt][0-2][0-9]:[0-5][0-9]:[0-5][0-9])?"


def number_sql(
    cell: str, k: int, form: NumberFormat, words: frozenset[str], *, lookalikes: bool = True
) -> str:
    """Return the expression of a number cell: NaN if missing, infinite if it is not a number.

    Parameters
    ----------
    cell : str
        The expression of its text.
    k : int
        The index of the column, by which Python finds its format.
    form : NumberFormat
    words : frozenset of str
        The spellings of missing values, in lower case.
    lookalikes : bool
        Whether :data:`LOOKALIKES` may occur.
    """
    ways = [f"{READ}({cell}, {k})", "'nan'::DOUBLE"]
    if form.layout == dates.ISO and not hold_digits(words):
        days = f"epoch(try_cast({cell} AS TIMESTAMP)) / 86400.0::DOUBLE"
        ways = [f"CASE WHEN regexp_full_match({cell}, '{_DAY}') THEN {days} END", *ways]
    elif is_cast(form, words):
        ways = [_cast(cell, form.decimal, lookalikes), *ways]
    elif not form.layout and form.scale == 1 and not hold_digits(words):
        ways = [_frequent_cast(cell, form), *ways]
    return f"coalesce({', '.join(ways)})"


def _cast(cell: str, decimal: str, lookalikes: bool) -> str:
    """Return the expression of a number that DuckDB reads as Python does; otherwise NULL.

    DuckDB would also read whole numbers that are not exact, and many spellings of NaN.
    """
    marks = [*(LOOKALIKES if lookalikes else ()), *("." if decimal == "," else "")]
    bare = f"replace({cell}, ',', '.')" if decimal == "," else cell
    number = f"try_cast({bare} AS DOUBLE)"
    is_plain = [f"abs({number}) < {LONGEST_INTEGER!r}"]
    is_plain += [f"NOT contains({cell}, '{mark}')" for mark in marks]
    return f"CASE WHEN {' AND '.join(is_plain)} THEN {number} END"


def _frequent_cast(cell: str, form: NumberFormat) -> str:
    """Return the expression of a number with a unit or thousands separators; else NULL."""
    number = f"regexp_extract({cell}, {literal(form.frequent_pattern)}, 1)"
    number = f"replace({number}, '{other_mark(form.decimal)}', '')"
    return f"try_cast(replace({number}, '{form.decimal}', '.') AS DOUBLE)"


def is_cast(form: NumberFormat, words: frozenset[str]) -> bool:
    """Return whether DuckDB reads most numbers of a format."""
    is_plain = not (form.grouped or form.decorated or form.layout) and form.scale == 1
    # DuckDB would read a number that means a missing value.
    return is_plain and not hold_digits(words)


@functools.cache
def hold_digits(words: frozenset[str]) -> bool:
    """Return whether the spelling of a missing value may look like a number."""
    return any(c.isdigit() for word in words for c in word)


def text_sql(cell: str, words: frozenset[str] = MISSING_TEXT) -> str:
    """Return the expression of a text cell: stripped, NULL if missing."""
    bare = f"trim({cell}, {literal(BLANKS)})"
    listed = ", ".join(map(literal, sorted(words)))
    return f"CASE WHEN NOT list_contains([{listed}], lower({bare})) THEN {bare} END"


def literal(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """Quote the name of a column or table for SQL."""
    return '"' + name.replace('"', '""') + '"'
