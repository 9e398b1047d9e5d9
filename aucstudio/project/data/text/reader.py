"""Reading the cells of a delimited text file through DuckDB into arrays, every row accounted for.

Columns are read in batches, so that a wide table takes no more memory than a long one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from aucstudio.project.data.gathering import Cells, NotPlainError
from aucstudio.project.data.text.contents import Contents, Formats
from aucstudio.project.data.text.csv_cells import NO_LENGTHS, CsvCells, batches
from aucstudio.project.data.text.numerals import (
    LONGEST_INTEGER,
    NumberFormat,
    is_quick,
    read_number,
)
from aucstudio.project.data.text.rejects import LeftOut, check_rejected, rejected_rows
from aucstudio.project.errors import InputError

_BATCH = 256
_DOUBTFUL_BATCH = 32


class Reader(CsvCells):
    """A delimited file whose cells are read into arrays."""

    def read(
        self,
        forms: Mapping[int, NumberFormat | None],
        fixed: frozenset[int] = frozenset(),
        clean: frozenset[int] = frozenset(),
        lengths: Mapping[int, int] = NO_LENGTHS,
    ) -> Contents:
        """Read all columns; ``forms`` is what the sample promises of each.

        The columns ``fixed`` are of numbers whatever they hold; what is none comes as an infinite
        value. Those that are ``clean`` hold hardly anything but plain numbers, as far as is seen.
        ``lengths`` is that of :mod:`~aucstudio.project.data.text.codes`.

        Raises
        ------
        InputError
            If most rows do not have as many cells as the file has columns.
        AstrayError
            If DuckDB cannot tell rows apart.
        """
        settled = dict(forms)
        cells, left_out = self._first_pass(settled, clean)
        doubtful = [
            k for k, form in settled.items() if form and _reaches(LONGEST_INTEGER, cells[k])
        ]
        if not (left_out.total or self._rule_out_names(settled, doubtful)):
            self._check_names()
        strays = self._resettle(settled, doubtful, fixed)
        codes = self._codes(settled, lengths, lambda k: _least(cells[k]))
        strays |= codes
        cells |= self._load(dict.fromkeys(codes)) if codes else {}
        for batch in batches(doubtful, _DOUBTFUL_BATCH):
            cells |= self._load({k: settled[k] for k in batch}, frozenset(batch))
        strange = [k for k in doubtful if settled[k] and _reaches(np.inf, cells[k])]
        others = self._others(settled, strange)
        ordered = [cells[k] for k in sorted(cells)]
        numbers = left_out.others(len(ordered[0].values))
        left = left_out.listed, left_out.total, numbers
        return Contents(ordered, settled, strays, *left, others, left_out.astray)

    def _first_pass(
        self, forms: Formats, clean: frozenset[int]
    ) -> tuple[dict[int, Cells], LeftOut]:
        cells: dict[int, Cells] = {}
        left_out = LeftOut([], np.empty(0, dtype=np.int64))
        for batch in batches(list(forms), _BATCH):
            self._progress = (batch[0] / len(forms), (batch[-1] + 1) / len(forms))
            wanted = {k: forms[k] for k in batch}
            found = self._load_strictly(wanted, clean)
            is_strict = found is not None
            found = found or self._load(wanted)
            if not cells and not is_strict:
                left_out = rejected_rows(self._connection, self._source)
                if left_out.total:
                    self._check_names()
                rows = len(found[batch[0]].values)
                check_rejected(self._source, left_out, rows)
            cells |= found
        return cells, left_out

    def _rule_out_names(self, forms: Formats, doubtful: list[int]) -> bool:
        """Tell whether the names do not come again, as they would spoil a column of numbers."""
        names, words = self._source.header, self._source.dialect.number_words
        return any(
            np.isinf(read_number(form, words, names[k]))
            for k, form in forms.items()
            if form is not None and k < len(names) and k not in doubtful
        )

    def _load_strictly(self, forms: Formats, clean: frozenset[int]) -> dict[int, Cells] | None:
        """Let DuckDB read the numbers of clean columns by itself; None if anything is amiss.

        That takes three quarters of the time, but every cell has to be a number or empty, and
        every row as long as the others.
        """
        source, dialect = self._source, self._source.dialect
        written, words = NumberFormat(dialect.decimal), dialect.number_words
        plain = frozenset(k for k, form in forms.items() if k in clean and form == written)
        plain = plain if is_quick(written, words) else frozenset()
        if not plain or source.tidied is not None or source.lookalikes - {"nan"}:
            return None
        strictly = {k: None if k in plain else form for k, form in forms.items()}
        columns = (
            f"{self._cell(k, form, source.lookalikes, bare=True)} AS c{k}"
            for k, form in strictly.items()
        )
        sql = f"SELECT {', '.join(columns)} FROM {self._read_csv(plain)}"
        try:
            return self._gather(sql, forms, plain)
        except (InputError, NotPlainError):
            return None

    def _load(self, forms: Formats, exact: frozenset[int] = frozenset()) -> dict[int, Cells]:
        return self._gather(self._select(forms, exact, bare=True), forms)

    def _gather(
        self, sql: str, forms: Formats, plain: frozenset[int] = frozenset()
    ) -> dict[int, Cells]:
        is_number = {k: form is not None for k, form in forms.items()}
        words = self._source.dialect.text_words
        return self._fetch(sql, is_number, self._source.lines, words, plain)


def _least(cells: Cells) -> float:
    return float(np.fmin.reduce(cells.values, initial=np.inf))


def _reaches(limit: float, cells: Cells) -> bool:
    # Without an array of the results: its pages would cost more than the look at the numbers.
    high = np.fmax.reduce(cells.values, initial=0.0)
    return bool(high >= limit or np.fmin.reduce(cells.values, initial=0.0) <= -limit)
