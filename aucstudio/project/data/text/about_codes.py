"""What is worth saying of numbers in a text file that may be codes, and of codes that are text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from aucstudio.project.data.columns import spell_number
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.text.column_types import holds_codes
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import NumberFormat

# Of codes that look like numbers there are so many.
_MOST_CODES = 12
_POWER = re.compile("[0-9]+[eE][0-9]+")


def about_codes(
    forms: Mapping[str, NumberFormat | None], cells: Mapping[str, list[str]], dialect: Dialect
) -> Iterator[Finding]:
    """Report which columns of whole numbers are text, as some begin with zeros."""
    for name, form in forms.items():
        if form is None and holds_codes(cells[name], dialect.number_words):
            yield codes_finding(name)


def codes_finding(name: str) -> Finding:
    """Return the finding that a column holds codes."""
    sentence = f"column {name} holds codes with leading zeros and is read as text"
    return Finding("identifier", sentence, (name,))


def same_numbers(
    forms: Mapping[str, NumberFormat | None], cells: Mapping[str, list[str]]
) -> Iterator[Finding]:
    """Report where a few spellings that come again and again may be codes, such as 1.2 and 1.20."""
    for name, form in forms.items():
        known = [cell for cell in cells[name] if cell] if form and not form.layout else []
        spelled = set(known)
        if form is None or 2 * len(spelled) > len(known) or len(spelled) > _MOST_CODES:
            continue
        mark = form.decimal
        places = {len(cell.partition(mark)[2]) for cell in spelled}
        twins = [
            (cell[:-1], cell) for cell in sorted(spelled) if mark in cell and cell[:-1] in spelled
        ]
        if len(places) > 1 and (twin := next((two for two in twins if two[1][-1] == "0"), None)):
            sentence = (
                f"column {name}: {twin[0]!r} and {twin[1]!r} are read as the same number; make it "
                "one of categories if these are codes"
            )
            yield Finding("kind", sentence, (name,))


def powers_of_ten(
    forms: Mapping[str, NumberFormat | None], cells: Mapping[str, list[str]]
) -> Iterator[Finding]:
    """Report where cells that may be codes are read as powers of ten."""
    for name, form in forms.items():
        known = [cell for cell in cells[name] if cell] if form and not form.layout else []
        if form and known and all(map(_POWER.fullmatch, known)):
            read = spell_number(form.read(known[0]))
            sentence = (
                f"column {name} is read as powers of ten: {known[0]!r} is {read}; make it one of "
                "categories if these are codes"
            )
            yield Finding("kind", sentence, (name,))
