"""Reading the cells of a delimited text file through DuckDB, every row accounted for.

The file is plain UTF-8 with one kind of line end; what it looks like is known from its sample.
Columns are read in batches, so that a wide table takes no more memory than a long one.
"""

from __future__ import annotations

import dataclasses
import glob
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np

from aucstudio.project.data.cells import Cells, CellStore, Tell
from aucstudio.project.data.text.numerals import (
    MISSING_NUMBER,
    NumberFormat,
    formats,
    literal,
    missing_sql,
    number_sql,
    text_sql,
)
from aucstudio.project.data.text.rejects import Rejected, Source, infinite_value, rejected_rows
from aucstudio.project.errors import InputError

Item = TypeVar("Item")
# How the numbers of each column are written; None for text.
Formats = dict[int, NumberFormat | None]

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
    """

    cells: list[Cells]
    forms: Formats
    strays: dict[int, str]
    rejected: list[Rejected]
    rejected_rows: int


@dataclasses.dataclass(frozen=True, eq=False)
class Kept:
    """The same where the cells stay in DuckDB; ``rows`` is how many there are."""

    rows: int
    forms: Formats
    strays: dict[int, str]
    rejected: list[Rejected]
    rejected_rows: int


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
        tell: Tell,
        *,
        database: str = ":memory:",
        memory: int | None = None,
    ) -> None:
        super().__init__(source.shown, folder, tell, database=database, memory=memory)
        self._source = source

    def keep(
        self,
        forms: Mapping[int, NumberFormat | None],
        fixed: frozenset[int] = frozenset(),
    ) -> Kept:
        """Read all columns into ``cells`` and leave them there; else as :meth:`read`.

        The file is read once, and again where a column is not written as its sample promised.
        """
        settled, strays = dict(forms), dict[int, str]()
        rows = self._create(settled)
        rejected, total = rejected_rows(self._connection, self._source)
        self._check_rejected(rejected, total, rows)
        doubtful = self._infinite([k for k, form in settled.items() if form and k not in fixed])
        for batch in _batches(doubtful, _DOUBTFUL_BATCH):
            for k, (form, misfit) in self._settle(batch).items():
                settled[k] = form
                if form is None:
                    strays[k] = misfit
        if doubtful:
            self._create(settled)
        for k in self._infinite([k for k in doubtful if settled[k]]):
            form = settled[k]
            assert form is not None
            raise infinite_value(self._source, k, form)
        return Kept(rows, settled, strays, rejected, total)

    def _infinite(self, columns: list[int]) -> list[int]:
        if not columns:
            return []
        asked = ", ".join(f"coalesce(bool_or(isinf(c{k})), false)" for k in columns)
        answers = self._one(f"SELECT {asked} FROM cells")
        return [k for k, answer in zip(columns, answers, strict=True) if answer]

    def read(
        self,
        forms: Mapping[int, NumberFormat | None],
        fixed: frozenset[int] = frozenset(),
    ) -> Contents:
        """Read all columns; ``forms`` is what the sample promises of each.

        What is no number in the columns ``fixed`` comes as an infinite value.

        Raises
        ------
        InputError
            If most rows do not have as many cells as the file has columns, a quotation mark is
            never closed, or a number is infinite.
        """
        settled = dict(forms)
        cells, rejected, total = self._first_pass(settled)
        doubtful = [
            k for k, form in settled.items() if form and k not in fixed and _has_infinite(cells[k])
        ]
        strays: dict[int, str] = {}
        for batch in _batches(doubtful, _DOUBTFUL_BATCH):
            for k, (form, misfit) in self._settle(batch).items():
                settled[k] = form
                if form is None:
                    strays[k] = misfit
            cells |= self._load({k: settled[k] for k in batch})
        for k in doubtful:
            form = settled[k]
            if form is not None and _has_infinite(cells[k]):
                raise infinite_value(self._source, k, form)
        return Contents([cells[k] for k in sorted(cells)], settled, strays, rejected, total)

    def _first_pass(self, forms: Formats) -> tuple[dict[int, Cells], list[Rejected], int]:
        cells: dict[int, Cells] = {}
        rejected: list[Rejected] = []
        total = 0
        for batch in _batches(list(forms), _BATCH):
            self._progress = (batch[0] / len(forms), (batch[-1] + 1) / len(forms))
            rows = self._create({k: forms[k] for k in batch})
            if not cells:
                rejected, total = rejected_rows(self._connection, self._source)
                self._check_rejected(rejected, total, rows)
            cells |= self._fetch({k: bool(forms[k]) for k in batch}, rows)
        return cells, rejected, total

    def _check_rejected(self, rejected: list[Rejected], total: int, rows: int) -> None:
        if total > rows:
            shown, first = self._source.shown, rejected[0]
            raise InputError(
                f"{shown}, line {first.line}: {first.reason}; {total} of {rows + total} rows "
                "cannot be read: choose another delimiter or quotation mark",
                file=str(shown),
                line=first.line,
                setting="delimiter",
            )

    def _load(self, forms: Formats) -> dict[int, Cells]:
        rows = self._create(forms)
        return self._fetch({k: bool(form) for k, form in forms.items()}, rows)

    def _create(self, forms: Formats) -> int:
        """Read some columns of the file into DuckDB's table ``cells``; return its rows."""
        columns = ", ".join(
            f"{number_sql(f'c{k}', form) if form else text_sql(f'c{k}')} AS c{k}"
            for k, form in forms.items()
        )
        self._run(f"CREATE OR REPLACE TABLE cells AS SELECT {columns} FROM {self._read_csv()}")
        return int(self._one("SELECT count(*) FROM cells")[0])

    def _read_csv(self) -> str:
        dialect = self._source.dialect
        columns = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(self._source.names)))
        options = {
            "columns": f"{{{columns}}}",
            "delim": literal(dialect.delimiter),
            "quote": literal(dialect.quote),
            "escape": literal(dialect.quote),
            "header": str(dialect.header).lower(),
            "skip": str(dialect.skip),
            "auto_detect": "false",
            "store_rejects": "true",
            "compression": "'none'",
            "hive_partitioning": "false",
        }
        # DuckDB takes the name for a pattern.
        name = literal(glob.escape(str(self._source.path.absolute())))
        return f"read_csv({name}, {', '.join(f'{k} = {v}' for k, v in options.items())})"

    def _settle(self, columns: list[int]) -> dict[int, tuple[NumberFormat | None, str]]:
        """Find how columns are written that are not what their sample promised.

        A format has to fit every cell of the column; where none does, the column is text, and a
        cell that does not fit comes with it.
        """
        tries = formats(self._source.dialect.decimal)
        questions = ", ".join(
            f"max(c{k}) FILTER (WHERE NOT {missing_sql(f'c{k}', MISSING_NUMBER)} "
            f"AND NOT {form.sql_matches(f'c{k}')})"
            for k, form in itertools.product(columns, tries)
        )
        names = ", ".join(f"m{n}" for n in range(len(columns) * len(tries)))
        source = self._read_csv()
        self._run(f"CREATE OR REPLACE TABLE misfits({names}) AS SELECT {questions} FROM {source}")
        misfits = iter(self._one("SELECT * FROM misfits"))
        settled = {}
        for k in columns:
            answers = dict(zip(tries, misfits, strict=False))
            fitting = (form for form, misfit in answers.items() if misfit is None)
            settled[k] = (next(fitting, None), str(answers[tries[1]]).strip())
        return settled


def _batches(items: list[Item], size: int) -> Iterator[list[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _has_infinite(cells: Cells) -> bool:
    return bool(np.isinf(cells.values).any())
