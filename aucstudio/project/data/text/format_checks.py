"""Check on all cells the formats of columns, which were guessed from a sample."""

from __future__ import annotations

import abc
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.cells import is_cast
from aucstudio.project.data.text.column_types import (
    digits_of_codes,
    format_of_most,
    stray_of,
    type_of,
)
from aucstudio.project.data.text.contents import Contents, Formats, LeftOut, Source
from aucstudio.project.data.text.numerals import NumberCells, NumberFormat, spelled

# The numbers among which representatives are chosen.
_SOME = 100_000


class FormatChecks(abc.ABC):
    """Checks the formats of columns, which were guessed from a sample, on all cells.

    Attributes
    ----------
    source : Source
    numbers : dict of int to NumberCells
        The cells that are not plain numbers, by column.
    """

    source: Source
    numbers: dict[int, NumberCells]

    @abc.abstractmethod
    def _load(self, forms: Formats) -> None:
        """Read columns in some formats."""

    @abc.abstractmethod
    def _known(self, k: int) -> tuple[int, float, list[float]]:
        """Return the number of numbers in a column, the least, and some of them."""

    @abc.abstractmethod
    def _code_in(self, k: int) -> str:
        """Return a code with leading zeros if a column of whole numbers holds codes."""

    def _checked(self, rows: int, left_out: LeftOut) -> Contents:
        """Read columns again that do not have the format of the sample."""
        forms, fixed = dict(self.source.forms), self.source.fixed
        doubtful = self._doubtful([k for k in forms if k not in fixed], forms)
        decimal = self.source.dialect.decimal
        strays = {k: stray_of(self.numbers[k].others, decimal) for k in doubtful}
        self._load_changed(forms, {k: self._type_of(k, form) for k, form in doubtful.items()})
        # The format of most cells must be the format of nearly all.
        doubtful = self._doubtful(doubtful, forms)
        self._load_changed(forms, {k: self._nearly(k, form) for k, form in doubtful.items()})
        codes = self._codes({k: form for k, form in forms.items() if form and k not in fixed})
        self._load_changed(forms, dict.fromkeys(codes))
        strays = {k: stray for k, stray in strays.items() if forms[k] is None} | codes
        others = {k: self.numbers[k].listed() for k, form in forms.items() if form}
        others = {k: spellings for k, spellings in others.items() if spellings}
        return Contents(rows, forms, strays, left_out, others)

    def _load_changed(self, forms: Formats, again: Formats) -> None:
        """Read columns again whose format has changed, and update ``forms``."""
        changed = {k: form for k, form in again.items() if form != forms[k]}
        if changed:
            self._load(changed)
            forms |= changed

    def _doubtful(self, columns: Iterable[int], forms: Formats) -> dict[int, NumberFormat]:
        """Return the columns of numbers with cells that do not fit their format."""
        numbers = {k: form for k in columns if (form := forms[k])}
        return {
            k: form for k, form in numbers.items() if not form.matches_all(self.numbers[k].others)
        }

    def _type_of(self, k: int, form: NumberFormat) -> NumberFormat | None:
        """Return the format of most cells; None if the other cells are too many."""
        found = type_of(self._counted(k, form), self.source.dialect.decimal, form)
        return None if self.numbers[k].is_crowded and found == form else found

    def _nearly(self, k: int, form: NumberFormat) -> NumberFormat | None:
        """Return a format if nearly all cells have it."""
        return (
            None if self.numbers[k].is_crowded else format_of_most(self._counted(k, form), [form])
        )

    def _counted(self, k: int, form: NumberFormat) -> dict[str, int]:
        """Count cells by spelling; numbers by a few representatives."""
        count, _, some = self._known(k)
        spellings = [cell for cell in self.source.sample.column(k) if form.matches(cell)]
        spellings = spellings or [spelled(form, value) for value in some]
        return self.numbers[k].counted(count, spellings)

    def _codes(self, forms: dict[int, NumberFormat]) -> dict[int, str]:
        """Return the columns that hold codes with leading zeros, with one code of each.

        Only columns with a number that is shorter than the cells of the sample are read.
        """
        found: dict[int, str] = {}
        words = self.source.dialect.number_words
        for k, form in forms.items():
            if not is_cast(form, words):
                continue
            length = digits_of_codes(self.source.sample.column(k), words)
            is_short = length is not None and 0 <= self._known(k)[1] < 10.0 ** (
                length - 1 if length else 300
            )
            if is_short and (code := self._code_in(k)):
                found[k] = code
        return found


def some_numbers(values: NDArray[np.float64]) -> tuple[int, float, list[float]]:
    """Return the number of finite values, the least, and some of them."""
    some = values[:_SOME][np.isfinite(values[:_SOME])]
    least = float(np.fmin.reduce(values, initial=np.inf))
    return int(np.count_nonzero(np.isfinite(values))), least, np.unique(some).tolist()
