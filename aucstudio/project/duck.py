"""Reading the cells of a delimited text file through DuckDB, every row accounted for.

The file is plain UTF-8 with one kind of line end; what it looks like is known from its sample.
Columns are read in batches, so that a wide table takes no more memory than a long one.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import glob
import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from aucstudio.project.errors import InputError
from aucstudio.project.numerals import (
    MISSING_NUMBER,
    NumberFormat,
    formats,
    literal,
    missing_sql,
    number_sql,
    text_sql,
)
from aucstudio.project.rejects import Rejected, Source, infinite_value, rejected_rows

Item = TypeVar("Item")
Tell = Callable[[float], None]
# How the numbers of each column are written; None for text.
Formats = dict[int, NumberFormat | None]

_BATCH = 256
_DOUBTFUL_BATCH = 32
# Cells copied at a time: a copy holds the GIL.
_NUMBERS_WINDOW = 1_000_000
_TEXTS_WINDOW = 5_000
_PICK_WINDOW = 200_000
# Beyond it numbering the texts takes longer than it saves.
_MAX_LEVELS = 50_000


@dataclasses.dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column: see :class:`~aucstudio.project.columns.Column`."""

    values: NDArray[Any]
    missing: int
    distinct: int


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


class Reader:
    """A delimited file, opened in DuckDB; a context manager.

    Parameters
    ----------
    source : Source
    folder : Path
        Where DuckDB may put what does not fit into memory.
    tell : callable
        Told the fraction done; may raise to stop.
    """

    def __init__(self, source: Source, folder: Path, tell: Tell) -> None:
        self._source = source
        self._tell_outside = tell
        self._progress = (0.0, 1.0)
        self._told = 0.0
        self._connection = duckdb.connect(config={"temp_directory": str(folder)})
        self._connection.execute("SET enable_progress_bar = true")
        self._connection.execute("SET enable_progress_bar_print = false")

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def read(self, forms: Mapping[int, NumberFormat | None]) -> Contents:
        """Read all columns; ``forms`` is what the sample promises of each.

        Raises
        ------
        InputError
            If most rows do not have as many cells as the file has columns, a quotation mark is
            never closed, or a number is infinite.
        """
        settled = dict(forms)
        cells, rejected, total = self._first_pass(settled)
        doubtful = [k for k, form in settled.items() if form and _has_infinite(cells[k])]
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
            cells |= self._fetch({k: forms[k] for k in batch}, rows)
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
        return self._fetch(forms, self._create(forms))

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

    def _run(self, sql: str) -> None:
        """Execute on another thread, so that progress can be told and a stop be heard here."""
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            future = pool.submit(self._connection.execute, sql)
            try:
                while not concurrent.futures.wait([future], 0.05).done:
                    self._tell(max(0.0, self._connection.query_progress()) / 100)
            except BaseException:
                self._connection.interrupt()
                raise
        try:
            future.result()
        except duckdb.Error as error:
            shown = self._source.shown
            reason = str(error).splitlines()[0]
            raise InputError(f"{shown} cannot be read: {reason}", file=str(shown)) from error

    def _tell(self, part: float) -> None:
        low, high = self._progress
        # Columns that are read again do not turn the clock back.
        self._told = max(self._told, low + part * (high - low))
        self._tell_outside(self._told)

    def _one(self, sql: str) -> tuple[Any, ...]:
        row = self._connection.execute(sql).fetchone()
        assert row is not None
        return tuple(row)

    def _fetch(self, forms: Formats, rows: int) -> dict[int, Cells]:
        numbers = [k for k, form in forms.items() if form]
        cells = dict(zip(numbers, self._numbers(numbers, rows), strict=True))
        for k in forms:
            if k not in cells:
                self._tell(1.0)
                cells[k] = self._texts(k, rows)
        self._connection.execute("DROP TABLE cells")
        return cells

    def _numbers(self, columns: list[int], rows: int) -> Iterator[Cells]:
        values = [np.empty(rows) for _ in columns]
        if columns:
            self._copy({f"c{k}": v for k, v in zip(columns, values, strict=True)}, rows)
        for cells in values:
            self._tell(1.0)
            missing = int(np.isnan(cells).sum())
            # NaN sorts to the end.
            known = np.sort(cells)[: rows - missing]
            distinct = int(np.count_nonzero(known[1:] != known[:-1])) + (len(known) > 0)
            yield Cells(cells, missing, distinct)

    def _copy(self, targets: Mapping[str, NDArray[Any]], rows: int) -> None:
        """Copy expressions over ``cells`` into arrays."""
        window = max(2048, _NUMBERS_WINDOW // len(targets))
        selected = ", ".join(f"{sql} AS x{n}" for n, sql in enumerate(targets))
        for start in range(0, rows, window):
            stop = start + window
            found = self._connection.execute(
                f"SELECT {selected} FROM cells WHERE rowid >= {start} AND rowid < {stop}"
            ).fetchnumpy()
            for n, target in enumerate(targets.values()):
                target[start:stop] = found[f"x{n}"]

    def _texts(self, k: int, rows: int) -> Cells:
        """Fetch a text column; equal texts are one Python object unless nearly all differ."""
        distinct, known = self._one(f"SELECT count(DISTINCT c{k}), count(c{k}) FROM cells")
        if distinct > _MAX_LEVELS:
            values = self._objects(f"SELECT c{k} FROM cells", rows)
        else:
            # The cell after the last level stays None, which is what a missing text is.
            levels = self._objects(_levels_sql(k), distinct + 1)
            values = _pick(levels, self._codes(k, distinct, rows))
        return Cells(values, rows - known, distinct)

    def _codes(self, k: int, distinct: int, rows: int) -> NDArray[np.int64]:
        """Number the texts of a column in the order of its levels; missing ones come last."""
        codes = np.full(rows, distinct, dtype=np.int64)
        if distinct:
            self._connection.execute(f"CREATE TYPE levels{k} AS ENUM ({_levels_sql(k)})")
            self._copy({f"coalesce(enum_code(c{k}::levels{k})::BIGINT, {distinct})": codes}, rows)
            self._connection.execute(f"DROP TYPE levels{k}")
        return codes

    def _objects(self, sql: str, count: int) -> NDArray[Any]:
        """Fetch one column of texts, as many at a time as the GIL may be held for."""
        values = np.empty(count, dtype=object)
        found = self._connection.execute(sql)
        for start in range(0, count, _TEXTS_WINDOW):
            for n, (text,) in enumerate(found.fetchmany(_TEXTS_WINDOW), start):
                values[n] = text
        return values

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


def _levels_sql(k: int) -> str:
    return f"SELECT DISTINCT c{k} FROM cells WHERE c{k} IS NOT NULL ORDER BY c{k}"


def _pick(levels: NDArray[Any], codes: NDArray[np.int64]) -> NDArray[Any]:
    values = np.empty(len(codes), dtype=object)
    for start in range(0, len(codes), _PICK_WINDOW):
        window = slice(start, start + _PICK_WINDOW)
        values[window] = levels[codes[window]]
    return values


def _batches(items: list[Item], size: int) -> Iterator[list[Item]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _has_infinite(cells: Cells) -> bool:
    return bool(np.isinf(cells.values).any())
