"""Reading the cells of a delimited text file through DuckDB, every row accounted for.

The file is plain UTF-8 with one kind of line end; what it looks like is known from its sample.
Columns are read in batches, so that a wide table takes no more memory than a long one.
"""

from __future__ import annotations

import dataclasses
import glob
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from aucstudio.project.data.cells import CellStore
from aucstudio.project.data.gathering import Cells, NotPlainError
from aucstudio.project.data.paths import for_duckdb
from aucstudio.project.data.text.codes import asked, code_among, may_be_shorter
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import (
    LONGEST_INTEGER,
    NumberFormat,
    is_quick,
    literal,
    missing_sql,
    number_sql,
    read_number,
    text_sql,
    trimmed,
)
from aucstudio.project.data.text.rejects import (
    AstrayError,
    LeftOut,
    Numbers,
    Rejected,
    Source,
    rejected_rows,
)
from aucstudio.project.data.text.rows import names_come_again
from aucstudio.project.data.text.scan import Advance
from aucstudio.project.data.text.settle import MOST_OTHERS, nearly, tries
from aucstudio.project.errors import InputError

Item = TypeVar("Item")
# How the numbers of each column are written; None for text.
Formats = dict[int, NumberFormat | None]
Others = dict[int, tuple[tuple[str, int], ...]]

NO_LENGTHS: Mapping[int, int] = MappingProxyType({})

# How many spellings of cells that are no numbers are listed.
SPELLINGS = 20

_BATCH = 256
_DOUBTFUL_BATCH = 32


@dataclasses.dataclass(frozen=True, eq=False)
class Contents:
    """What a delimited file holds.

    Attributes
    ----------
    cells : list of Cells
        In the order of the columns.
    forms : dict of int to NumberFormat or None
        How the numbers of each column are written; None for text.
    strays : dict of int to str
        For text columns that the sample showed as numbers, a cell that is none.
    rejected : list of Rejected
        The first hundred.
    rejected_rows : int
    row_numbers : ndarray of int64, shape (rows,), or None
        The place of each row among the data rows of the file, counted from 1, those that were left
        out included; None if there are none.
    others : dict of int to pairs of text and int
        How cells of columns of numbers are spelled that are none.
    astray : pair of int
        See :class:`~aucstudio.project.data.text.rejects.LeftOut`.
    """

    cells: list[Cells]
    forms: Formats
    strays: dict[int, str]
    rejected: list[Rejected]
    rejected_rows: int
    row_numbers: Numbers | None
    others: Others = dataclasses.field(default_factory=dict)
    astray: tuple[int, int] = (0, 0)


@dataclasses.dataclass(frozen=True, eq=False)
class Kept:
    """The same where the cells stay in DuckDB; ``rows`` is how many there are."""

    rows: int
    forms: Formats
    strays: dict[int, str]
    rejected: list[Rejected]
    rejected_rows: int
    row_numbers: Numbers | None
    others: Others = dataclasses.field(default_factory=dict)
    astray: tuple[int, int] = (0, 0)


class Reader(CellStore):
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
        for batch in _batches(doubtful, _DOUBTFUL_BATCH):
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
        for batch in _batches(list(forms), _BATCH):
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

    def _check_names(self) -> None:
        if self._source.tidied is None and names_come_again(self._source):
            raise AstrayError

    def _resettle(
        self, settled: Formats, doubtful: list[int], fixed: frozenset[int]
    ) -> dict[int, str]:
        """Settle formats anew that did not prove true; give a stray cell where it became text."""
        strays: dict[int, str] = {}
        for batch in _batches([k for k in doubtful if k not in fixed], _DOUBTFUL_BATCH):
            for k, (form, misfit) in self._settle({k: settled[k] for k in batch}).items():
                settled[k] = form
                if form is None:
                    strays[k] = misfit
        return strays

    def _load_strictly(self, forms: Formats, clean: frozenset[int]) -> dict[int, Cells] | None:
        """Let DuckDB read the numbers of clean columns by itself; None if anything is amiss.

        That takes three quarters of the time, but every cell has to be a number or empty, and
        every row as long as the others.
        """
        words, source = self._source.dialect.number_words, self._source
        plain = frozenset(
            k
            for k, form in forms.items()
            if form is not None and k in clean and form.decimal == "." and is_quick(form, words)
        )
        if not plain or source.tidied is not None or source.lookalikes - {"nan"}:
            return None
        columns = [
            f"c{k}"
            if k in plain
            else f"{self._cell(k, form, source.lookalikes, bare=True)} AS c{k}"
            for k, form in forms.items()
        ]
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

    def _create(self, forms: Formats, exact: frozenset[int] = frozenset()) -> int:
        """Read the file into DuckDB's table ``cells``; return its rows."""
        self._run_sql(f"CREATE OR REPLACE TABLE cells AS {self._select(forms, exact)}")
        return int(self._one("SELECT count(*) FROM cells")[0])

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

    def _run_sql(self, sql: str) -> None:
        self._run(lambda: self._connection.execute(sql))

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
        }
        # DuckDB takes the name for a pattern.
        name = literal(glob.escape(str(self._path)))
        return f"read_csv({name}, {', '.join(f'{k} = {v}' for k, v in options.items())})"

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


def check_rejected(source: Source, left_out: LeftOut, rows: int) -> None:
    """Raise InputError if most rows of a file cannot be read, or one, where that is not wanted."""
    strict = source.dialect.strict and left_out.total
    if not (strict or left_out.total > rows):
        return
    shown, first, total = source.shown, left_out.listed[0], left_out.total
    what = (
        "which is not to be left out"
        if strict
        else f"{total} of {rows + total} rows cannot be read"
    )
    raise InputError(
        f"{shown}, line {first.line}: {first.reason}; {what}: "
        + ("mend the row, or read without strict" if strict else "choose another delimiter"),
        file=str(shown),
        line=first.line,
        setting="strict" if strict else "delimiter",
    )


def _batches(items: list[Item], size: int) -> Iterator[list[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _least(cells: Cells) -> float:
    return float(np.fmin.reduce(cells.values, initial=np.inf))


def _reaches(limit: float, cells: Cells) -> bool:
    # Without an array of the results: its pages would cost more than the look at the numbers.
    high = np.fmax.reduce(cells.values, initial=0.0)
    return bool(high >= limit or np.fmin.reduce(cells.values, initial=0.0) <= -limit)
