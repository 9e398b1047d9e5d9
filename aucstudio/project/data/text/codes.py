"""Codes whose leading zeros stand below the first lines of a file: postcodes by state, say.

As numbers they would lose these zeros. Only where a column may hold codes is it looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from aucstudio.project.data.text.numerals import (
    is_missing_number,
    literal,
    missing_sql,
    trimmed,
)

CODE = re.compile("0[0-9]{2,}")
_WHOLE = re.compile("[0-9]+")
_SHORTEST = 3


def lengths_of_codes(columns: Mapping[int, Sequence[str]], words: frozenset[str]) -> dict[int, int]:
    """Give the columns that may hold codes, and how many digits these have.

    0 where the first lines show no cell; columns whose cells differ in length are left out.
    """
    lengths: dict[int, int] = {}
    for k, cells in columns.items():
        known = [cell for cell in cells if not is_missing_number(cell, words)]
        digits = set(map(len, known))
        if not known or (
            len(digits) == 1 and min(digits) >= _SHORTEST and all(map(_WHOLE.fullmatch, known))
        ):
            lengths[k] = min(digits, default=0)
    return lengths


def may_be_shorter(length: int, least: float) -> bool:
    """Tell whether the least number of a column has fewer digits than its first cells."""
    return least >= 0 and least < 10.0 ** (length - 1 if length else 300)


def asked(cell: str, words: frozenset[str]) -> str:
    """Write what DuckDB is asked of a column, which :func:`code_among` understands."""
    text, known = trimmed(cell), f"NOT {missing_sql(cell, words)}"
    zeros = f"FILTER (regexp_full_match({text}, {literal(CODE.pattern)}))"
    whole = f"regexp_full_match({text}, {literal(_WHOLE.pattern)})"
    return (
        f"min({text}) {zeros}, max({text}) {zeros}, bool_and({whole}) FILTER ({known}), "
        f"min(strlen({text})) FILTER ({known}), max(strlen({text})) FILTER ({known})"
    )


def code_among(answer: Sequence[Any]) -> str:
    """Give a code of a column that is one of codes; else nothing."""
    first, last, is_whole, shortest, longest = answer
    is_code = first is not None and is_whole and (first != last or shortest == longest)
    return str(first) if is_code else ""
