"""What a cell may hold in place of a value: nothing, a word for that, or a remark why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# What may stand around a cell: ASCII's blanks, which DuckDB's numbers may have too, Excel's, and
# what nobody sees.
BLANKS = " \t\n\v\f\r\u00a0\u200b\u200e\u200f\ufeff"
# In a text column "-", "." and "None" may well be values (the label of a credit table is "+" or
# "-"); among numbers they cannot be.
MISSING_TEXT = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "?"})
MISSING_NUMBER = MISSING_TEXT | {"none", "-", "--", "."}
# What else says, among numbers, that there is none: remarks, Excel's errors, limits of detection.
_REMARKS = re.compile(
    r"n\.? ?a\.?|n\.? ?d\.?|n\.? ?s\.?|not? ?-?(available|applicable|known|measured|detected|done|"
    r"determined|tested|recorded|data|value|answer|response)|unknown|unk\.?|missing|"
    r"undefined|undetermined|refused|pending|tbd|tba|error|err\.?|invalid|void|empty|blank|nil|"
    r"nul|\(null\)|\[null\]|\\n|nat|<(na|nat|null|none|undefined|unknown|missing|empty)>|[+-]?inf(inity)?|[+-]?1\.#\w+|"
    r"(below|above|under|over) .*|overflow|ovr?fl?w|loading\.*|"
    r"#(div/0|n/a|name|null|num|ref|value|calc|spill|getting_data|wert|nv|bezug|zahl)[!?]?|"
    r"\.[a-z_]|[*_~]+|\u2013|\u2014|-{2,}|\.{2,}|\u2026|k\.? ?a\.?|keine angabe|unbekannt|"
    r"(<=?|>=?|\u2264|\u2265|~|\u2248|ca?\.|about|approx\.?) ?[0-9.,]+ ?%?|(<|>) ?lo[dq]|"
    r"lo[dq]|bdl|nd|bql|blq|trace|[+-]?\u221e|:( [a-z]{1,2})?|suppressed|withheld|confidential|"
    r"masked|\[[a-z]{1,3}\]|\[low\]|redacted|skipped|declined|"
    r"0000-00-00( 00:00:00)?|9999-99-99|00\.00\.0000|00/00/0000"
)
# Of these, what says so in a column of words too.
_PLAIN_REMARKS = re.compile(
    r"n\.a\.?|n\. a\.|<(na|nat|null|none|undefined|missing)>|\(null\)|\[null\]|\\n|"
    r"#(div/0!|name\?|null!|num!|ref!|value!)"
)
_FIRST_OF_REMARKS = frozenset("nN<([\\#")


def is_missing_number(cell: str, words: frozenset[str] = MISSING_NUMBER) -> bool:
    """Return whether a stripped cell says, among numbers, that there is no value."""
    return cell.lower() in words


def is_remark(cell: str) -> bool:
    """Return whether a stripped cell says, among numbers, why there is none."""
    return _REMARKS.fullmatch(cell.lower()) is not None


def plain_remarks(columns: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the words that mean a missing value in any column, in lower case."""
    found: dict[str, None] = {}
    for cells in columns:
        some = [cell.lower() for cell in cells if cell[:1] in _FIRST_OF_REMARKS]
        found |= dict.fromkeys(filter(_PLAIN_REMARKS.fullmatch, some))
    return tuple(found)
