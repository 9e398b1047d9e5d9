"""Rows that sum up others, below a table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aucstudio.project.data.text.numerals import BLANKS

_TOTAL = re.compile(
    r"(grand |sub)?-?totals?( general| g\u00e9n\u00e9ral)?|sums?|summe|gesamt|insgesamt|somme|suma|"
    r"totale|averages?|means?|avg\.?|mittelwert|\u03a3|\u2211",
)


def is_total(cells: Sequence[str]) -> bool:
    """Tell whether a row says that it sums up others, and has gaps where these have cells."""
    filled = [stripped for cell in cells if (stripped := cell.strip(BLANKS))]
    if not filled or len(filled) == len(cells):
        return False
    return _TOTAL.fullmatch(filled[0].lower().rstrip(": ")) is not None
