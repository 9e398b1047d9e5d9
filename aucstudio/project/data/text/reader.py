"""Reading the cells of a large delimited text file into arrays, every row accounted for.

Columns are read in batches, so that a wide table takes no more memory than a long one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from aucstudio.project.data.gathering import Cells, NotPlainError
from aucstudio.project.data.text.cell_sql import is_cast
from aucstudio.project.data.text.contents import Contents, Formats
from aucstudio.project.data.text.csv_cells import CsvCells
from aucstudio.project.data.text.dialect import TextSample
from aucstudio.project.data.text.numerals import LONGEST_INTEGER, NumberFormat
from aucstudio.project.data.text.rejects import LeftOut, check_rejected, rejected_rows
from aucstudio.project.errors import InputError

_BATCH = 256
# Numbers among which those are looked for that stand for all.
_SOME = 100_000


class Reader(CsvCells):
    """A delimited file whose cells are read into arrays."""

    def read(
        self,
        forms: Mapping[int, NumberFormat | None],
        fixed: frozenset[int],
        sample: TextSample,
    ) -> Contents:
        """Read all columns; ``forms`` is what the ``sample`` promises of each.

        The columns ``fixed`` are of numbers whatever they hold; what is none comes as an infinite
        value.

        Raises
        ------
        InputError
            If most rows do not have as many cells as the file has columns.
        AstrayError
            If DuckDB cannot tell rows apart.
        """
        self._clean, self._cells = _clean(forms, sample), dict[int, Cells]()
        self._left_out = LeftOut([], np.empty(0, dtype=np.int64))
        self._load(dict(forms))
        self._check_names(dict(forms), self._left_out)
        settled, strays = self._settle(dict(forms), fixed, sample)
        cells = [self._cells[k] for k in sorted(self._cells)]
        rows = len(cells[0].values)
        return Contents(rows, settled, strays, self._left_out, self._others(settled), cells)

    def _load(self, forms: Formats) -> None:
        listed = list(forms)
        for start in range(0, len(listed), _BATCH):
            batch = {k: forms[k] for k in listed[start : start + _BATCH]}
            self._progress = (start / len(listed), (start + len(batch)) / len(listed))
            found = self._load_strictly(batch)
            is_strict = found is not None
            found = found or self._gather(self._select(batch, bare=True), batch)
            if not self._cells and not is_strict:
                self._left_out = rejected_rows(self._connection, self._source)
                rows = len(next(iter(found.values())).values)
                check_rejected(self._source, self._left_out, rows)
            self._cells |= found

    def _load_strictly(self, forms: Formats) -> dict[int, Cells] | None:
        """Read the numbers of clean columns with DuckDB alone; None if anything is amiss.

        That takes three quarters of the time, but every cell has to be a number or empty, and
        every row as long as the others.
        """
        source, dialect = self._source, self._source.dialect
        written = NumberFormat(dialect.decimal)
        plain = frozenset(k for k, form in forms.items() if k in self._clean and form == written)
        if not plain or source.tidied is not None or source.lookalikes:
            return None
        if not is_cast(written, dialect.number_words):
            return None
        columns = (
            f"{self._cell(k, None if k in plain else form, bare=True)} AS c{k}"
            for k, form in forms.items()
        )
        sql = f"SELECT {', '.join(columns)} FROM {self._read_csv(plain)}"
        for k in plain:
            self.expect(k, written, dialect.number_words)
        try:
            found = self._gather(sql, forms, plain)
        except (InputError, NotPlainError):
            return None
        is_exact = all(_largest(found[k]) < LONGEST_INTEGER for k in plain)
        return found if is_exact else None

    def _gather(
        self, sql: str, forms: Formats, plain: frozenset[int] = frozenset()
    ) -> dict[int, Cells]:
        is_number = {k: form is not None for k, form in forms.items()}
        words = self._source.dialect.text_words
        return self._fetch(sql, is_number, self._source.lines, words, plain)

    def _known(self, k: int) -> tuple[int, float, list[float]]:
        values = self._cells[k].values
        some = values[:_SOME][np.isfinite(values[:_SOME])]
        least = float(np.fmin.reduce(values, initial=np.inf))
        return int(np.count_nonzero(np.isfinite(values))), least, np.unique(some).tolist()


def _clean(forms: Mapping[int, NumberFormat | None], sample: TextSample) -> frozenset[int]:
    """Name the columns whose cells are all numbers, or empty, as far as the first lines show."""
    cells = {k: [*filter(None, sample.column(k))] for k, form in forms.items() if form}
    return frozenset(k for k, some in cells.items() if (f := forms[k]) and f.matches_all(some))


def _largest(cells: Cells) -> float:
    # Without an array of the results: its pages would cost more than the look at the numbers.
    high = np.fmax.reduce(cells.values, initial=0.0)
    return float(max(high, -np.fmin.reduce(cells.values, initial=0.0)))
