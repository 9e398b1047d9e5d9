"""The cells of one column of numbers, each distinct text of which is read once."""

from __future__ import annotations

import collections
import math
from collections.abc import Sequence

from aucstudio.project.data.text.missing import BLANKS
from aucstudio.project.data.text.numerals import NumberFormat, read_number

# So many texts are remembered, and so many spellings counted of those that are no numbers.
_REMEMBERED, MOST_OTHERS = 1 << 17, 1_000
# How many of these are listed.
_LISTED = 20


class NumberCells(dict[str, float]):
    """What the texts of a column are: NaN where missing, infinite where they are no numbers.

    Parameters
    ----------
    form : NumberFormat
    words : frozenset of str
        What says, in lower case, that there is no value.

    Attributes
    ----------
    spelled : dict of str to None
        Some of the numbers as they are written.
    others : Counter of str
        Cells that are no numbers, stripped, by their spelling; some of them if they are many.
    strange : int
        How many cells are no numbers.
    """

    def __init__(self, form: NumberFormat, words: frozenset[str]) -> None:
        self.form, self._words = form, words
        self.spelled: dict[str, None] = {}
        self.others: collections.Counter[str] = collections.Counter()
        self.strange = 0

    def __missing__(self, text: str) -> float:
        value = read_number(self.form, self._words, text)
        if len(self) >= _REMEMBERED:
            self.clear()
        if len(self.spelled) < MOST_OTHERS and math.isfinite(value):
            self.spelled[text.strip(BLANKS)] = None
        self[text] = value
        return value

    def read(self, text: str) -> float:
        """Read a cell, and count it if it is no number."""
        value = self[text]
        if math.isinf(value):
            self.strange += 1
            cell = text.strip(BLANKS)
            if cell in self.others or len(self.others) < MOST_OTHERS:
                self.others[cell] += 1
        return value

    @property
    def is_crowded(self) -> bool:
        """Whether more spellings are no numbers than are counted."""
        return len(self.others) >= MOST_OTHERS

    def listed(self) -> tuple[tuple[str, int], ...]:
        """Return the most frequent spellings that are no numbers, with how often they come."""
        ordered = sorted(self.others.items(), key=lambda item: (-item[1], item[0]))
        return tuple(ordered[:_LISTED])

    def counted(self, numbers: int, some: Sequence[str]) -> dict[str, int]:
        """Count the cells by how they are spelled; of ``numbers`` some spellings stand for all."""
        spelled = [*dict.fromkeys([*self.spelled, *some])][:MOST_OTHERS]
        each, rest = divmod(numbers, max(1, len(spelled)))
        known = {cell: each + (n < rest) for n, cell in enumerate(spelled) if numbers}
        more = self.strange / max(1, self.others.total())
        return known | {cell: round(more * n) for cell, n in self.others.items()}
