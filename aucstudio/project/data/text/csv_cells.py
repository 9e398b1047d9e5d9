"""The cells of a large delimited text file, which DuckDB cuts and Python understands.

The file is plain UTF-8 with one kind of line end; what it looks like is known from its sample.
DuckDB reads plain numbers by itself and asks :class:`NumberCells` what all others are.
"""

from __future__ import annotations

import abc
import glob
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np

from aucstudio.project.data.cells import CellStore
from aucstudio.project.data.paths import for_duckdb
from aucstudio.project.data.text.cell_sql import is_cast, literal
from aucstudio.project.data.text.column_types import CODE, type_of
from aucstudio.project.data.text.contents import Formats, Others
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.missing import BLANKS
from aucstudio.project.data.text.numerals import NumberFormat, read_number, spelled
from aucstudio.project.data.text.records import LONGEST_ROW
from aucstudio.project.data.text.rejects import AstrayError, LeftOut, Source
from aucstudio.project.data.text.rows import names_come_again
from aucstudio.project.data.text.scan import Advance

NO_LENGTHS: Mapping[int, int] = MappingProxyType({})
# Bytes of a file that a thread holds: as many as it reads at a time, by default four times so many.
_BUFFER = LONGEST_ROW
# A column whose type is still in doubt when it was read so often is text.
_ROUNDS = 3


class CsvCells(CellStore, abc.ABC):
    """A delimited file, opened in DuckDB; a context manager.

    Parameters
    ----------
    source : Source
    folder, tell, database, memory
        See :class:`CellStore`.
    """

    def __init__(
        self,
        source: Source,
        folder: Path,
        tell: Advance,
        *,
        database: str = ":memory:",
        memory: int | None = None,
    ) -> None:
        super().__init__(source.shown, folder, tell, database=database, memory=memory)
        self._source = source
        path = source.path if source.tidied is None else source.tidied.path
        self._path = for_duckdb(path, folder)

    @abc.abstractmethod
    def _load(self, forms: Formats) -> None:
        """Read columns, or read them again in other formats."""

    @abc.abstractmethod
    def _known(self, k: int) -> tuple[int, float, list[float]]:
        """Return how many numbers a column has, the least, and some of them."""

    def _settle(
        self, promised: Formats, fixed: frozenset[int], lengths: Mapping[int, int]
    ) -> tuple[Formats, dict[int, str]]:
        """Read again what is not written as its sample promised.

        Returns
        -------
        dict of int to NumberFormat or None
            How the columns are written.
        dict of int to str
            For those that became text, a cell that is no number.
        """
        forms, strays = dict(promised), dict[int, str]()
        doubtful = [k for k, form in forms.items() if form is not None and k not in fixed]
        for last in (*[False] * (_ROUNDS - 1), True):
            again: Formats = {}
            for k in doubtful:
                others = self.numbers[k].others
                if not self._is_right(k, forms[k]):
                    again[k] = None if last else self._type_of(k, forms[k])
                    if again[k] is None:
                        strays[k] = max(others)
            again = {k: form for k, form in again.items() if form != forms[k]}
            if not again:
                break
            self._load(again)
            forms |= again
            doubtful = [k for k, form in again.items() if form is not None]
        codes = self._codes(forms, lengths)
        if codes:
            self._load(dict.fromkeys(codes))
        return {**forms, **dict.fromkeys(codes)}, strays | codes

    def _is_right(self, k: int, form: NumberFormat | None) -> bool:
        """Return whether all cells are written in a format."""
        return form is None or form.matches_all(self.numbers[k].others)

    def _type_of(self, k: int, form: NumberFormat | None) -> NumberFormat | None:
        """Return the format of the most cells; None where the others are too many."""
        assert form is not None
        read, (count, _, some) = self.numbers[k], self._known(k)
        written = dict.fromkeys(spelled(form, value) for value in some)
        is_known = is_cast(form, self._source.dialect.number_words) or form.layout
        counted = read.counted(count, written if is_known else {})
        found = type_of(counted, self._source.dialect.decimal, form)
        return None if read.is_crowded and found == form else found

    def _codes(self, forms: Formats, lengths: Mapping[int, int]) -> dict[int, str]:
        """Return the columns that hold codes with leading zeros, with one of them.

        Only where a number is shorter than the first cells are is a column asked about.
        """
        found: dict[int, str] = {}
        for k, length in lengths.items():
            least = self._known(k)[1] if forms[k] is not None else -1.0
            if not 0 <= least < 10.0 ** (length - 1 if length else 300):
                continue
            cell = f"trim(c{k}, {literal(BLANKS)})"
            words = ", ".join(map(literal, sorted(self._source.dialect.number_words)))
            is_code = f"FILTER (regexp_full_match({cell}, {literal(CODE.pattern)}))"
            known = f"FILTER (lower({cell}) NOT IN ({words}))"
            first, last, whole, shortest, longest = self._one(
                f"SELECT min({cell}) {is_code}, max({cell}) {is_code}, "
                f"bool_and(regexp_full_match({cell}, '[0-9]+')) {known}, "
                f"min(strlen({cell})) {known}, max(strlen({cell})) {known} FROM {self._read_csv()}"
            )
            if first is not None and whole and (first != last or shortest == longest):
                found[k] = str(first)
        return found

    def _others(self, forms: Formats) -> Others:
        """List how cells of columns are spelled that are no numbers."""
        return {
            k: self.numbers[k].listed()
            for k, form in forms.items()
            if form is not None and self.numbers[k].others
        }

    def _check_names(self, forms: Formats, left_out: LeftOut) -> None:
        """Raise AstrayError where the names come again: DuckDB would take them for a row."""
        names, words = self._source.header, self._source.dialect.number_words
        # Among numbers they would have been met.
        is_ruled_out = not left_out.total and any(
            np.isinf(read_number(form, words, names[k])) and names[k] not in self.numbers[k].others
            for k, form in forms.items()
            if form is not None and k < len(names)
        )
        if self._source.tidied is None and not is_ruled_out and names_come_again(self._source):
            raise AstrayError

    def _select(self, forms: Formats, *, bare: bool = False) -> str:
        """Write the query that reads some columns; texts may come ``bare``, as in the file."""
        columns = (f"{self._cell(k, form, bare=bare)} AS c{k}" for k, form in forms.items())
        return f"SELECT {', '.join(columns)} FROM {self._read_csv()}"

    def _cell(self, k: int, form: NumberFormat | None, *, bare: bool) -> str:
        dialect, lookalikes = self._source.dialect, self._source.lookalikes
        if form is None:
            return f"c{k}" if bare else self.text(f"c{k}", dialect.text_words)
        return self.number(f"c{k}", k, form, dialect.number_words, lookalikes=lookalikes)

    def _read_csv(self, numbers: frozenset[int] = frozenset()) -> str:
        """Write what gives the cells as texts; those of some columns as ``numbers``, or none."""
        tidied = self._source.tidied
        dialect = self._source.dialect if tidied is None else Dialect(header=False)
        kinds = ("DOUBLE" if k in numbers else "VARCHAR" for k in range(len(self._source.names)))
        columns = ", ".join(f"'c{k}': '{kind}'" for k, kind in enumerate(kinds))
        options = {
            "columns": f"{{{columns}}}",
            "delim": literal(dialect.delimiter),
            "quote": literal(dialect.quote),
            "escape": literal(dialect.quote),
            "header": str(dialect.header).lower(),
            "skip": str(dialect.skip),
            "auto_detect": "false",
            "store_rejects": str(not numbers).lower(),
            "compression": "'none'",
            "hive_partitioning": "false",
            "buffer_size": str(_BUFFER),
            "max_line_size": str(LONGEST_ROW),
            "decimal_separator": literal(dialect.decimal),
        }
        # DuckDB takes the name for a pattern.
        name = literal(glob.escape(str(self._path)))
        return f"read_csv({name}, {', '.join(f'{k} = {v}' for k, v in options.items())})"
