"""Cells in a DuckDB table or view named ``cells``, fetched without holding the GIL for long.

Its columns are c0, c1, ...: doubles with NaN where missing, or texts with NULL.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import duckdb
import numpy as np
from numpy.typing import NDArray

from aucstudio.project.errors import InputError

Tell = Callable[[float], None]

# Cells copied at a time: a copy holds the GIL.
_NUMBERS_WINDOW = 1_000_000
_TEXTS_WINDOW = 5_000
_PICK_WINDOW = 200_000
# Columns read at a time from a table that stays on disk.
_COLUMNS_AT_ONCE = 64
# Beyond it numbering the texts takes longer than it saves.
_MAX_LEVELS = 50_000


@dataclasses.dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column: see :class:`~aucstudio.project.data.columns.Column`."""

    values: NDArray[Any]
    missing: int
    distinct: int


class CellStore:
    """A DuckDB connection with a table ``cells``; a context manager.

    Parameters
    ----------
    shown : Path
        The file to name in messages.
    folder : Path
        Where DuckDB may put what does not fit into memory.
    tell : callable
        Told the fraction done; may raise to stop.
    place : str
        The expression that numbers the rows of ``cells``.
    database : str
        File to keep the table in; in memory if not given.
    memory : int, optional
        Bytes that DuckDB may take.
    """

    def __init__(
        self,
        shown: Path,
        folder: Path,
        tell: Tell,
        *,
        place: str = "rowid",
        database: str = ":memory:",
        memory: int | None = None,
    ) -> None:
        self.shown, self.place = shown, place
        self._tell_outside = tell
        self._progress = (0.0, 1.0)
        self._told = 0.0
        self._connection = duckdb.connect(database, config={"temp_directory": str(folder)})
        if memory is not None:
            self._connection.execute(f"SET memory_limit = '{memory // 1000} kB'")
        self._connection.execute("SET enable_progress_bar = true")
        self._connection.execute("SET enable_progress_bar_print = false")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def window(self, texts: Mapping[int, bool], start: int, stop: int) -> list[NDArray[Any]]:
        """Fetch some rows of some columns.

        Parameters
        ----------
        texts : mapping of column to bool
            Whether it holds texts.
        start, stop : int
            The first row, and the row after the last.

        Raises
        ------
        InputError
            If the file cannot be read any more.
        """
        found = [
            cells
            for part in _parts(texts)
            for cells in self.expressions([f"c{k}" for k in part], start, stop)
        ]
        return _settled(found, texts)

    def rows(self, texts: Mapping[int, bool], rows: NDArray[np.intp]) -> list[NDArray[Any]]:
        """Fetch some thousand rows, in rising order, of some columns; see :meth:`window`."""
        listed = f"{self.place} IN ({', '.join(map(str, rows.tolist()))})"
        picked: list[NDArray[Any]] = []
        for part in _parts(texts):
            wanted = [self.place, *(f"c{k}" for k in part)]
            place, *found = self.expressions(wanted, int(rows[0]), int(rows[-1]) + 1, listed)
            order = np.argsort(np.asarray(place))
            picked += [cells[order] for cells in found]
        return _settled(picked, texts)

    def expressions(
        self, wanted: Sequence[str], start: int, stop: int, also: str = "true"
    ) -> list[NDArray[Any]]:
        """Fetch expressions over some rows, that also meet a condition; see :meth:`window`."""
        selected = ", ".join(f"{sql} AS x{n}" for n, sql in enumerate(wanted))
        where = f"{self.place} >= {start} AND {self.place} < {stop} AND {also}"
        try:
            found = self._connection.execute(f"SELECT {selected} FROM cells WHERE {where}")
            arrays = found.fetchnumpy()
        except duckdb.Error as error:
            raise self._unreadable(error) from error
        return [arrays[f"x{n}"] for n in range(len(wanted))]

    def counts(self, k: int, most: int) -> list[tuple[Any, int]]:
        """Count the rows of each value of a column, in the order of the values, missing ones aside.

        Parameters
        ----------
        k : int
            The column.
        most : int
            Values after which no more are looked for.
        """
        sql = (
            f"SELECT c{k}, count(*) FROM cells WHERE c{k} IS NOT NULL AND c{k}::VARCHAR <> 'nan' "
            f"GROUP BY 1 ORDER BY 1 LIMIT {most}"
        )
        try:
            return [(value, int(n)) for value, n in self._connection.execute(sql).fetchall()]
        except duckdb.Error as error:
            raise self._unreadable(error) from error

    def totals(self, wanted: Sequence[str]) -> list[int]:
        """Compute whole numbers over all rows, such as ``count(*)``."""
        try:
            return [
                int(total)
                for start in range(0, len(wanted), _COLUMNS_AT_ONCE)
                for total in self._one(
                    f"SELECT {', '.join(wanted[start : start + _COLUMNS_AT_ONCE])} FROM cells"
                )
            ]
        except duckdb.Error as error:
            raise self._unreadable(error) from error

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
            raise self._unreadable(error) from error

    def _unreadable(self, error: duckdb.Error) -> InputError:
        reason = str(error).splitlines()[0]
        return InputError(f"{self.shown} cannot be read: {reason}", file=str(self.shown))

    def _tell(self, part: float) -> None:
        low, high = self._progress
        # Columns that are read again do not turn the clock back.
        self._told = max(self._told, low + part * (high - low))
        self._tell_outside(self._told)

    def _one(self, sql: str) -> tuple[Any, ...]:
        row = self._connection.execute(sql).fetchone()
        assert row is not None
        return tuple(row)

    def _fetch(self, is_number: Mapping[int, bool], rows: int) -> dict[int, Cells]:
        """Fetch all of ``cells``, and let go of them."""
        numbers = [k for k, number in is_number.items() if number]
        cells = dict(zip(numbers, self._numbers(numbers, rows), strict=True))
        for k in is_number:
            if k not in cells:
                self._tell(1.0)
                cells[k] = self._texts(k, rows)
        self._drop()
        return cells

    def _drop(self) -> None:
        self._connection.execute("DROP TABLE cells")

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
                f"SELECT {selected} FROM cells "
                f"WHERE {self.place} >= {start} AND {self.place} < {stop}"
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


def _parts(columns: Iterable[int]) -> Iterator[list[int]]:
    """Cut a wide table: of every column that is read, DuckDB holds a whole row group."""
    listed = list(columns)
    for start in range(0, len(listed), _COLUMNS_AT_ONCE):
        yield listed[start : start + _COLUMNS_AT_ONCE]


def _settled(found: list[NDArray[Any]], texts: Mapping[int, bool]) -> list[NDArray[Any]]:
    """Turn what DuckDB masks in texts into None."""
    settled = []
    for cells, text in zip(found, texts.values(), strict=True):
        values = np.array(cells, dtype=object) if text else np.asarray(cells)
        if text:
            values[np.ma.getmaskarray(cells)] = None
        settled.append(values)
    return settled


def _levels_sql(k: int) -> str:
    return f"SELECT DISTINCT c{k} FROM cells WHERE c{k} IS NOT NULL ORDER BY c{k}"


def _pick(levels: NDArray[Any], codes: NDArray[np.int64]) -> NDArray[Any]:
    values = np.empty(len(codes), dtype=object)
    for start in range(0, len(codes), _PICK_WINDOW):
        window = slice(start, start + _PICK_WINDOW)
        values[window] = levels[codes[window]]
    return values
