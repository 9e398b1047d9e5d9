"""The cells of a delimited text file, read once and left in DuckDB."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aucstudio.project.data.text.contents import Contents, Formats
from aucstudio.project.data.text.csv_cells import CsvCells
from aucstudio.project.data.text.dialect import TextSample
from aucstudio.project.data.text.numerals import NumberFormat
from aucstudio.project.data.text.rejects import check_rejected, rejected_rows

# Numbers of a column that stand for all.
_SOME = 1_000


class KeptCells(CsvCells):
    """A delimited file whose cells stay in the table ``cells``."""

    def keep(
        self,
        forms: Mapping[int, NumberFormat | None],
        fixed: frozenset[int],
        sample: TextSample,
    ) -> Contents:
        """Read all columns into ``cells`` and leave them there; else as a reader into arrays.

        The file is read once, and again where a column is not written as its sample promised.
        """
        self._forms: Formats = {}
        self._load(dict(forms))
        rows = int(self._one("SELECT count(*) FROM cells")[0])
        left_out = rejected_rows(self._connection, self._source)
        self._check_names(dict(forms), left_out)
        check_rejected(self._source, left_out, rows)
        settled, strays = self._settle(dict(forms), fixed, sample)
        return Contents(rows, settled, strays, left_out, self._others(settled))

    def set_aside(self, columns: Iterable[int]) -> None:
        """Make infinite cells missing in columns of the table ``cells``."""
        for k in columns:
            self._run_sql(f"UPDATE cells SET c{k} = 'nan'::DOUBLE WHERE isinf(c{k})")

    def _known(self, k: int) -> tuple[int, float, list[float]]:
        known = f"FILTER (isfinite(c{k}))"
        count, least = self._one(f"SELECT count(*) {known}, min(c{k}) {known} FROM cells")
        some = f"SELECT DISTINCT c{k} FROM cells WHERE isfinite(c{k}) ORDER BY 1 LIMIT {_SOME}"
        return int(count), float(least or 0.0), [float(value) for (value,) in self._all(some)]

    def _load(self, forms: Formats) -> None:
        self._forms |= forms
        self._run_sql(f"CREATE OR REPLACE TABLE cells AS {self._select(self._forms)}")

    def _run_sql(self, sql: str) -> None:
        self._run(lambda: self._connection.execute(sql))
