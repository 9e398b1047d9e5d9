"""The cells of a delimited text file, read once and left in DuckDB."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from aucstudio.project.data.text.contents import Formats, Kept
from aucstudio.project.data.text.csv_cells import NO_LENGTHS, CsvCells
from aucstudio.project.data.text.numerals import LONGEST_INTEGER, NumberFormat
from aucstudio.project.data.text.rejects import check_rejected, rejected_rows


class KeptCells(CsvCells):
    """A delimited file whose cells stay in the table ``cells``."""

    def keep(
        self,
        forms: Mapping[int, NumberFormat | None],
        fixed: frozenset[int] = frozenset(),
        lengths: Mapping[int, int] = NO_LENGTHS,
    ) -> Kept:
        """Read all columns into ``cells`` and leave them there; else as :meth:`read`.

        The file is read once, and again where a column is not written as its sample promised.
        """
        self._check_names()
        settled = dict(forms)
        rows = self._create(settled)
        left_out = rejected_rows(self._connection, self._source)
        check_rejected(self._source, left_out, rows)
        doubtful = self._beyond(LONGEST_INTEGER, [k for k, form in settled.items() if form])
        strays = self._resettle(settled, doubtful, fixed)
        codes = self._codes(settled, lengths, self._least)
        strays |= codes
        if doubtful or codes:
            self._create(settled, frozenset(doubtful))
        others = self._others(settled, self._beyond(np.inf, [k for k in doubtful if settled[k]]))
        numbers = left_out.others(rows)
        left = left_out.listed, left_out.total, numbers
        return Kept(rows, settled, strays, *left, others, left_out.astray)

    def set_aside(self, columns: Iterable[int]) -> None:
        """Make infinite cells missing in columns of the table ``cells``."""
        for k in columns:
            self._run_sql(f"UPDATE cells SET c{k} = 'nan'::DOUBLE WHERE isinf(c{k})")

    def _least(self, k: int) -> float:
        return float(self._one(f"SELECT min(c{k}) FILTER (NOT isnan(c{k})) FROM cells")[0] or 0.0)

    def _beyond(self, limit: float, columns: list[int]) -> list[int]:
        """List the columns with a number of that size or more."""
        if not columns:
            return []
        asked = ", ".join(
            f"coalesce(bool_or(abs(c{k}) >= '{limit}'::DOUBLE AND NOT isnan(c{k})), false)"
            for k in columns
        )
        answers = self._one(f"SELECT {asked} FROM cells")
        return [k for k, answer in zip(columns, answers, strict=True) if answer]

    def _create(self, forms: Formats, exact: frozenset[int] = frozenset()) -> int:
        """Read the file into DuckDB's table ``cells``; return its rows."""
        self._run_sql(f"CREATE OR REPLACE TABLE cells AS {self._select(forms, exact)}")
        return int(self._one("SELECT count(*) FROM cells")[0])

    def _run_sql(self, sql: str) -> None:
        self._run(lambda: self._connection.execute(sql))
