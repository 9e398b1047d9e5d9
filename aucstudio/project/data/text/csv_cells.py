"""The cells of a delimited text file as DuckDB reads them, and what those of a column are.

The file is plain UTF-8 with one kind of line end; what it looks like is known from its sample.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from aucstudio.project.data.cells import CellStore
from aucstudio.project.data.paths import for_duckdb
from aucstudio.project.data.text.codes import asked, code_among, may_be_shorter
from aucstudio.project.data.text.contents import Formats, Others
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import (
    NumberFormat,
    literal,
    missing_sql,
    number_sql,
    text_sql,
    trimmed,
)
from aucstudio.project.data.text.records import LONGEST_ROW
from aucstudio.project.data.text.rejects import (
    AstrayError,
    Source,
)
from aucstudio.project.data.text.rows import names_come_again
from aucstudio.project.data.text.scan import Advance
from aucstudio.project.data.text.settle import MOST_OTHERS, nearly, tries

Item = TypeVar("Item")

NO_LENGTHS: Mapping[int, int] = MappingProxyType({})

# How many spellings of cells that are no numbers are listed.
SPELLINGS = 20

_DOUBTFUL_BATCH = 32
# Bytes of a file that a thread holds: as many as it reads at a time, by default four times so many.
_BUFFER = LONGEST_ROW


class CsvCells(CellStore):
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

    def _select(self, forms: Formats, exact: frozenset[int], *, bare: bool = False) -> str:
        """Write the query that reads some columns of the file.

        In the columns ``exact`` every cell is compared with the pattern of numbers. Texts may
        come ``bare``, as they stand in the file.
        """
        columns = []
        for k, form in forms.items():
            lookalikes = None if k in exact else self._source.lookalikes
            columns.append(f"{self._cell(k, form, lookalikes, bare=bare)} AS c{k}")
        return f"SELECT {', '.join(columns)} FROM {self._read_csv()}"

    def _cell(
        self, k: int, form: NumberFormat | None, lookalikes: frozenset[str] | None, *, bare: bool
    ) -> str:
        dialect = self._source.dialect
        if form is None:
            return f"c{k}" if bare else text_sql(f"c{k}", dialect.text_words)
        return number_sql(f"c{k}", form, lookalikes, dialect.number_words)

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

    def _check_names(self) -> None:
        if self._source.tidied is None and names_come_again(self._source):
            raise AstrayError

    def _resettle(
        self, settled: Formats, doubtful: list[int], fixed: frozenset[int]
    ) -> dict[int, str]:
        """Settle formats anew that did not prove true; give a stray cell where it became text."""
        strays: dict[int, str] = {}
        for batch in batches([k for k in doubtful if k not in fixed], _DOUBTFUL_BATCH):
            for k, (form, misfit) in self._settle({k: settled[k] for k in batch}).items():
                settled[k] = form
                if form is None:
                    strays[k] = misfit
        return strays

    def _settle(self, promised: Formats) -> dict[int, tuple[NumberFormat | None, str]]:
        """Find how columns are written that are not what their sample promised.

        The format that fits the most cells has to fit nearly all; where none does, the column is
        text, and a cell that does not fit comes with it.
        """
        decimal, settled = self._source.dialect.decimal, {}
        for k, form in promised.items():
            forms = tries([], decimal, form)
            counted, others = self._judged(k, forms)
            more = tries(sorted(text for text, _ in others), decimal, form)
            if others and more != forms:
                counted, others = self._judged(k, more)
            found = None
            if len(others) < MOST_OTHERS:
                found = nearly({**counted, **dict(others)}, more)
            misfit = max((text for text, _ in others), default="")
            settled[k] = (found, "" if found else misfit)
        return settled

    def _judged(
        self, k: int, forms: Sequence[NumberFormat]
    ) -> tuple[dict[str, int], list[tuple[str, int]]]:
        """Count the cells of the format that fits the most, and the others, by spelling."""
        cell = f"c{k}"
        known = f"NOT {missing_sql(cell, self._source.dialect.number_words)}"
        fits = [form.sql_matches(cell) for form in forms]
        asked = ", ".join(f"count(*) FILTER ({known} AND {fit})" for fit in fits)
        totals = self._one(f"SELECT {asked} FROM {self._read_csv()}")
        best = fits[totals.index(max(totals))]
        others = self._counted(cell, f"{known} AND NOT {best}", MOST_OTHERS)
        numbers = dict(self._counted(cell, f"{known} AND {best}", MOST_OTHERS))
        if numbers:
            # Too many to be looked at one by one: some spellings stand for all.
            numbers[next(iter(numbers))] += int(max(totals)) - sum(numbers.values())
        return numbers, others

    def _codes(
        self, settled: Formats, lengths: Mapping[int, int], least: Callable[[int], float]
    ) -> dict[int, str]:
        """Make columns text that hold codes with leading zeros; give one of each."""
        found: dict[int, str] = {}
        words = self._source.dialect.number_words
        for k, length in lengths.items():
            if settled[k] is None or not may_be_shorter(length, least(k)):
                continue
            answer = self._one(f"SELECT {asked(f'c{k}', words)} FROM {self._read_csv()}")
            if code := code_among(answer):
                settled[k], found[k] = None, code
        return found

    def _others(self, forms: Formats, columns: list[int]) -> Others:
        """List how cells of columns are spelled that are no numbers."""
        others: Others = {}
        for k in columns:
            form, cell = forms[k], f"c{k}"
            assert form is not None
            known = f"NOT {missing_sql(cell, self._source.dialect.number_words)}"
            strange = f"isinf({form.sql(cell)})"
            others[k] = tuple(self._counted(cell, f"{known} AND {strange}", SPELLINGS))
        return others

    def _counted(self, cell: str, condition: str, most: int) -> list[tuple[str, int]]:
        """Count the spellings of cells that meet a condition, the most frequent first."""
        spelled = trimmed(cell)
        found = self._all(
            f"SELECT {spelled} AS spelled, count(*) AS times FROM {self._read_csv()} "
            f"WHERE {condition} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {most}"
        )
        return [(str(text), int(count)) for text, count in found]


def batches(items: list[Item], size: int) -> Iterator[list[Item]]:
    """Cut a list into parts of one size."""
    return (items[start : start + size] for start in range(0, len(items), size))
