"""Reading the cells of a delimited text file through DuckDB, fast and with every row accounted for.

The file is plain UTF-8 with one kind of line end; what it looks like is known from its sample.
"""

from __future__ import annotations

import concurrent.futures
import csv
import dataclasses
import glob
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from aucstudio.project.dialect import Dialect
from aucstudio.project.encoding import lines_at
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

Tell = Callable[[float], None]
Formats = dict[int, NumberFormat | None]

MAX_REJECTED = 100

_WINDOW = 1_000_000
_LEVELS = 20_000


@dataclasses.dataclass(frozen=True)
class Rejected:
    """A row that was left out.

    Attributes
    ----------
    line : int
        Line of the file in which the row begins, counted from 1.
    reason : str
    """

    line: int
    reason: str


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
        For columns of numbers but for a few cells, one of those cells.
    rejected : list of Rejected
        The first hundred.
    rejected_rows : int
    """

    cells: list[Cells]
    forms: Formats
    strays: dict[int, str]
    rejected: list[Rejected]
    rejected_rows: int


class DelimitedFile:
    """One file, opened in DuckDB; a context manager.

    Parameters
    ----------
    path : Path
        The plain UTF-8 file.
    shown : Path
        The file to name in messages.
    names : list of str
    folder : Path
        Where DuckDB may put what does not fit into memory.
    tell : callable
        Told the fraction done; may raise to stop.
    """

    def __init__(
        self,
        path: Path,
        shown: Path,
        dialect: Dialect,
        names: list[str],
        folder: Path,
        tell: Tell,
    ) -> None:
        self._path, self._shown, self._dialect, self._names = path, shown, dialect, names
        self._tell = tell
        self._connection = duckdb.connect(config={"temp_directory": str(folder)})
        self._connection.execute("SET enable_progress_bar = true")
        self._connection.execute("SET enable_progress_bar_print = false")

    def __enter__(self) -> DelimitedFile:
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
        doubtful = [k for k, form in settled.items() if form and _any_infinite(cells[k].values)]
        strays: dict[int, str] = {}
        if doubtful:
            settled |= self._settle(doubtful, strays)
            cells |= self._load("again", {k: settled[k] for k in doubtful})
        for k in doubtful:
            if settled[k] is not None and _any_infinite(cells[k].values):
                raise self._infinite(k, settled[k])
        return Contents([cells[k] for k in sorted(cells)], settled, strays, rejected, total)

    def _first_pass(self, forms: Formats) -> tuple[dict[int, Cells], list[Rejected], int]:
        rows = self._create("cells", forms)
        rejected, total = self._rejects()
        if total > rows:
            raise InputError(
                f"{self._shown}, line {rejected[0].line}: {rejected[0].reason}, and so for "
                f"{total} of {rows + total} rows; choose another delimiter or quotation mark",
                file=str(self._shown),
                line=rejected[0].line,
                setting="delimiter",
            )
        return self._fetch("cells", forms, rows), rejected, total

    def _load(self, table: str, forms: Formats) -> dict[int, Cells]:
        return self._fetch(table, forms, self._create(table, forms))

    def _create(self, table: str, forms: Formats) -> int:
        columns = ", ".join(
            f"{number_sql(f'c{k}', form) if form else text_sql(f'c{k}')} AS c{k}"
            for k, form in forms.items()
        )
        self._run(f"CREATE TABLE {table} AS SELECT {columns} FROM {self._source()}")
        (rows,) = self._one(f"SELECT count(*) FROM {table}")
        return int(rows)

    def _source(self) -> str:
        dialect = self._dialect
        columns = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(self._names)))
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
        name = literal(glob.escape(str(self._path.absolute())))
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
            raise InputError(
                f"{self._shown} cannot be read: {str(error).splitlines()[0]}",
                file=str(self._shown),
            ) from error

    def _one(self, sql: str) -> tuple[Any, ...]:
        row = self._connection.execute(sql).fetchone()
        assert row is not None
        return tuple(row)

    def _fetch(self, table: str, forms: Formats, rows: int) -> dict[int, Cells]:
        found = {}
        for done, (k, form) in enumerate(forms.items()):
            self._tell(done / len(forms))
            found[k] = self._numbers(table, k, rows) if form else self._texts(table, k, rows)
        self._connection.execute(f"DROP TABLE {table}")
        return found

    def _numbers(self, table: str, k: int, rows: int) -> Cells:
        values = np.empty(rows)
        for start in range(0, rows, _WINDOW):
            self._window(table, f"c{k}", start, values)
        known = np.sort(values)
        known = known[: rows - int(np.isnan(values).sum())]
        distinct = int((known[1:] != known[:-1]).sum()) + (len(known) > 0)
        return Cells(values, rows - len(known), distinct)

    def _window(self, table: str, expression: str, start: int, target: NDArray[Any]) -> None:
        """Copy some rows; windows, because a copy holds the GIL."""
        stop = start + _WINDOW
        found = self._connection.execute(
            f"SELECT {expression} AS x FROM {table} WHERE rowid >= {start} AND rowid < {stop}"
        ).fetchnumpy()
        target[start:stop] = found["x"]

    def _texts(self, table: str, k: int, rows: int) -> Cells:
        """Let DuckDB number the different texts, so that each becomes one Python object."""
        values, codes = np.empty(rows, dtype=object), np.empty(rows, dtype=np.int64)
        levels = self._levels(table, k)
        if not levels:
            return Cells(values, rows, 0)
        kind = f"levels_{table}_{k}"
        self._connection.execute(
            f"CREATE TYPE {kind} AS ENUM (SELECT DISTINCT c{k} FROM {table} "
            f"WHERE c{k} IS NOT NULL ORDER BY c{k})"
        )
        for start in range(0, rows, _WINDOW):
            code = f"coalesce(enum_code(c{k}::{kind})::BIGINT, {len(levels)})"
            self._window(table, code, start, codes)
        named = np.array([*levels, None], dtype=object)
        for start in range(0, rows, _LEVELS):
            values[start : start + _LEVELS] = named[codes[start : start + _LEVELS]]
        return Cells(values, int((codes == len(levels)).sum()), len(levels))

    def _levels(self, table: str, k: int) -> list[str]:
        found = self._connection.execute(
            f"SELECT DISTINCT c{k} FROM {table} WHERE c{k} IS NOT NULL ORDER BY c{k}"
        )
        levels: list[str] = []
        while chunk := found.fetchmany(_LEVELS):
            levels.extend(text for (text,) in chunk)
        return levels

    def _settle(self, doubtful: list[int], strays: dict[int, str]) -> Formats:
        """Find how columns are written that are not what their sample promised.

        A format has to fit every cell of the column; where none does, the column is text.
        """
        tries = formats(self._dialect.decimal)
        questions = [
            f"max(c{k}) FILTER (WHERE NOT {missing_sql(f'c{k}', MISSING_NUMBER)} "
            f"AND NOT {form.sql_matches(f'c{k}')})"
            for k in doubtful
            for form in tries
        ]
        self._run(f"CREATE TABLE misfits AS SELECT {', '.join(questions)} FROM {self._source()}")
        misfits = self._one("SELECT * FROM misfits")
        settled: Formats = {}
        for place, k in enumerate(doubtful):
            of_column = misfits[place * len(tries) : (place + 1) * len(tries)]
            fitting = (form for form, cell in zip(tries, of_column, strict=True) if cell is None)
            settled[k] = next(fitting, None)
            if settled[k] is None:
                strays[k] = str(of_column[1])
        return settled

    def _rejects(self) -> tuple[list[Rejected], int]:
        (total,) = self._one("SELECT count(DISTINCT line_byte_position) FROM reject_errors")
        found = self._connection.execute(
            "SELECT line_byte_position - 1, min(error_type::VARCHAR), min(csv_line), "
            "max(TRY_CAST(regexp_extract(error_message, 'Found: ([0-9]+)', 1) AS BIGINT)) "
            "FROM reject_errors GROUP BY 1 ORDER BY 1 "
            f"LIMIT {MAX_REJECTED}"
        ).fetchall()
        lines = lines_at(self._path, [int(row[0]) for row in found])
        rejected = [
            Rejected(line, self._reason(line, kind, text, cells))
            for line, (_, kind, text, cells) in zip(lines, found, strict=True)
        ]
        return rejected, int(total)

    def _reason(self, line: int, kind: str, text: str | None, cells: int | None) -> str:
        if kind in ("MISSING COLUMNS", "TOO MANY COLUMNS") and cells is not None:
            plural = "" if cells == 1 else "s"
            return f"{cells} cell{plural} instead of {len(self._names)}"
        if kind == "LINE SIZE OVER MAXIMUM":
            return "the row is too long"
        if kind != "UNQUOTED VALUE":
            return kind.lower()
        if (text or "").count(self._dialect.quote) % 2:
            raise InputError(
                f"{self._shown}, line {line}: a quotation mark is opened and never closed; close "
                "or double it",
                file=str(self._shown),
                line=line,
                setting="quote",
            )
        return "text follows a closing quotation mark"

    def _infinite(self, k: int, form: NumberFormat | None) -> InputError:
        line = next(
            (line for line, row in self._rows() if form and _is_infinite(row[k].strip(), form)),
            None,
        )
        name = self._names[k]
        where = "" if line is None else f", line {line}"
        return InputError(
            f"infinite value in column {name!r}{where} of {self._shown}; leave the cell empty or "
            "take the row out",
            file=str(self._shown),
            line=line,
            column=name,
        )

    def _rows(self) -> Iterable[tuple[int, list[str]]]:
        """Walk over the complete rows with the lines they begin in; slow, for messages only."""
        dialect = self._dialect
        with self._path.open(encoding="utf-8-sig", newline="") as file:
            for _ in range(dialect.skip):
                file.readline()
            quoting: Any = csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE
            reader = csv.reader(
                file,
                delimiter=dialect.delimiter,
                quotechar=dialect.quote or None,
                quoting=quoting,
                skipinitialspace=True,
            )
            begins = dialect.skip + 1
            for number, row in enumerate(reader):
                if len(row) >= len(self._names) and not (number == 0 and dialect.header):
                    yield begins, row
                begins = dialect.skip + reader.line_num + 1


def _any_infinite(values: NDArray[Any]) -> bool:
    return bool(np.isinf(values).any())


def _is_infinite(cell: str, form: NumberFormat) -> bool:
    return form.matches(cell) and np.isinf(form.read(cell))
