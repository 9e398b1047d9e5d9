"""Why a column of nearly numbers is one of text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aucstudio.project.data.text import dates
from aucstudio.project.data.text.column_types import CURRENCIES, date_forms, unit_of
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.missing import is_missing_number
from aucstudio.project.data.text.numerals import NumberFormat, formats

# A number and something that is neither part of it nor all there is.
_BESIDE = re.compile(r"[^\w\[({]{0,2}[0-9][0-9.,' ]*[^\d\s,.:;/\-)}\]]\D{0,20}")
# Of a text column, the share of numbers with something behind that is worth a word.
_MOSTLY = 0.7
_SHOWN = 5
_MORE = re.compile(r"(?![A-Za-z0-9]+$)[^\w\[({]{0,2}[0-9\u00bc-\u00be\u2150-\u215e].*")
_LASTING = re.compile(r"[0-9]+(?::[0-9]{2}){1,2}(?:[.,][0-9]+)?")
_DIGIT = re.compile(r"\d")
_PLAIN = NumberFormat()


def why_text(cells: Sequence[str], dialect: Dialect) -> str:
    """Return why a column of text that has numbers in nearly all cells is none of numbers."""
    known = [cell for cell in cells if not is_missing_number(cell, dialect.number_words)]
    if not any(map(_DIGIT.search, known[:_SHOWN])):
        return ""
    if all(map(_LASTING.fullmatch, known)):
        return f"its cells may be times of day or how long something takes, as in {known[0]!r}"
    if all(map(dates.is_short_month, known)):
        return f"the number next to the months may be a year or a day, e.g. {known[0]!r}"
    if len(units := _units_among(known)) > 1:
        return f"its numbers have several units: {', '.join(map(repr, units[:_SHOWN]))}"
    one, other = _written_variously(known, dialect.decimal)
    if one:
        return f"its cells are written in several ways, as {one!r} and {other!r}"
    beside = _beside_numbers(known) or _beside_currencies(known)
    return f"some values are not plain numbers, e.g. {beside!r}" if beside else ""


def _beside_numbers(cells: Iterable[str]) -> str:
    """Return a cell of a text column that has something behind its number, if most are numbers."""
    known = list(cells)
    others = (cell for cell in known if not _PLAIN.matches(cell))
    found = [cell for cell in others if _BESIDE.fullmatch(cell) or _MORE.match(cell)]
    numbers = len(found) + sum(map(_PLAIN.matches, known))
    return found[0] if found and numbers >= _MOSTLY * len(known) else ""


def _beside_currencies(cells: Sequence[str]) -> str:
    """Return a cell of a text column that has words before its amount, if most are amounts."""
    found = [cell for cell in cells if CURRENCIES.search(cell) and _DIGIT.search(cell)]
    return found[0] if found and len(found) >= _MOSTLY * len(cells) else ""


def _written_variously(cells: Sequence[str], decimal: str) -> tuple[str, str]:
    """Return two cells in different formats, of a column of numbers alone or dates alone."""
    forms = [*formats(decimal), *date_forms(cells, decimal)]
    if not any(form.matches(cell) for form in forms for cell in cells[:1]):
        return "", ""
    for some in (forms[: len(formats(decimal))], forms[len(formats(decimal)) :]):
        fitting = [next((form for form in some if form.matches(cell)), None) for cell in cells]
        if fitting and None not in fitting:
            other = next(
                (c for c, form in zip(cells, fitting, strict=True) if form != fitting[0]), ""
            )
            return (cells[0], other) if other else ("", "")
    return "", ""


def _units_among(cells: Iterable[str]) -> list[str]:
    """List the units or currencies that numbers stand beside, if all cells are such numbers."""
    found: dict[str, None] = {}
    for cell in cells:
        marks = [*CURRENCIES.findall(cell), unit_of(cell)]
        unit = next(filter(None, marks), "")
        if not unit and not _PLAIN.matches(cell):
            return []
        found |= {unit: None}
    return [unit for unit in found if unit]
