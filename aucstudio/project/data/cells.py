"""Fetch cells from DuckDB without holding the GIL.

Rows are streamed into arrays, or stay in a table or view ``cells`` that is read in windows. Columns
are c0, c1, ...: doubles with NaN for missing cells, or texts with NULL.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.input_files import CLOSED, literal
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.numerals import (
    BLANKS,
    LONGEST_INTEGER,
    NumberFormat,
    other_mark,
)
from aucstudio.project.data.text.scan import Advance
from aucstudio.project.errors import input_error

if TYPE_CHECKING:
    import duckdb

Answer = TypeVar("Answer")

# With more distinct texts, equal ones are shared among some rows only.
MOST_SHARED = 1 << 17
# Cells that are written, and texts whose rows are counted, at a time.
_WINDOW, _FEW = 100_000, 10_000
# Bits of a text's hash that find its number if it was read before.
_SLOT_BITS = 16
# Columns read at a time from an out-of-memory table.
_COLUMNS_AT_ONCE = 64
# The Python function that DuckDB calls with a text and the index of its column.
READ = "read_number"
# Parts of numbers for DuckDB, but not for Python: 1_000, +-5.
LOOKALIKES = ("_", "+-")
_DAY = "[1-9][0-9]{3}-[01][0-9]-[0-3][0-9]([ Tt][0-2][0-9]:[0-5][0-9]:[0-5][0-9])?"


class NotPlainError(Exception):
    """A cell among plain numbers has a spelling that Python must read."""


@dataclasses.dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column: see :class:`~aucstudio.project.data.columns.Column`.

    Distinct texts are counted, distinct numbers are not; ``counts`` are those of few texts.
    ``largest`` is the largest absolute value of plain numbers. ``words`` are the texts that were
    read as missing, as spelled in the file; not the empty one.
    """

    values: NDArray[Any]
    missing: int
    distinct: int | None = None
    largest: float = math.inf
    counts: dict[Any, int] | None = None
    words: tuple[str, ...] = ()


def number_cells(values: NDArray[np.float64]) -> Cells:
    """Count the missing cells of a column of numbers."""
    return Cells(values, int(np.count_nonzero(np.isnan(values))))


class _Growing:
    """A growing column in one array; joining pieces would take twice the memory.

    Parameters
    ----------
    values : ndarray
        Where cells are stored; what is not needed takes no memory.
    """

    def __init__(self, values: NDArray[Any]) -> None:
        self._values, self._count = values, 0

    def _append(self, part: NDArray[Any]) -> NDArray[Any]:
        """Append cells; return where they are stored."""
        stop = self._count + len(part)
        if stop > len(self._values):
            known = self._values[: self._count]
            self._values = np.empty(2 * stop, dtype=known.dtype)
            self._values[: self._count] = known
        stored = self._values[self._count : stop]
        stored[:] = part
        self._count = stop
        return stored

    def _whole(self) -> NDArray[Any]:
        return self._values[: self._count]


class Numbers(_Growing):
    """A growing column of numbers; missing ones are NaN, or NULL if ``plain``."""

    def __init__(self, values: NDArray[np.float64], *, plain: bool) -> None:
        super().__init__(values)
        self._plain = plain
        self._missing, self._largest = 0, 0.0

    def add(self, view: Any) -> None:
        """Add a chunk; raise NotPlainError if a plain number is NaN: DuckDB reads ``-nan``."""
        values = np.frombuffer(view.buffer(1), dtype=np.float64)
        stored = self._append(values[view.offset : view.offset + view.length])
        if not self._plain or not len(stored):
            return
        is_null = None
        if view.null_count:
            bits = np.frombuffer(view.buffer(0), dtype=np.uint8)
            flags = np.unpackbits(bits, count=view.offset + view.length, bitorder="little")
            is_null = flags[view.offset :] == 0
            stored[is_null] = 0.0
        largest = float(max(stored.max(), -stored.min()))
        if math.isnan(largest):
            raise NotPlainError
        self._largest = max(self._largest, largest)
        if is_null is not None:
            stored[is_null] = np.nan
            self._missing += int(np.count_nonzero(is_null))

    def cells(self) -> Cells:
        if not self._plain:
            return number_cells(self._whole())
        return Cells(self._whole(), self._missing, largest=self._largest)


class Texts(_Growing):
    """A growing column of texts; most equal texts share one Python object."""

    def __init__(self, rows: int, absent: frozenset[str]) -> None:
        super().__init__(np.empty(rows, dtype=np.int32))
        self._absent, self._words = absent, dict[str, None]()
        # The texts by their number; the first one is that of missing values.
        self._texts: list[str | None] = [None]
        self._known: dict[str, int] = {}
        # The key that was read last of those that begin alike, and the number of its text.
        self._keys = np.zeros(1 << _SLOT_BITS, dtype=np.uint64)
        self._of_slot = np.zeros(1 << _SLOT_BITS, dtype=np.int32)
        self._is_shared = True

    def add(self, view: Any, hashes: Any) -> None:
        """Add a chunk of texts, given a chunk of their 64-bit hashes."""
        edges = np.frombuffer(view.buffer(1), dtype=np.int64)
        edges = edges[view.offset : view.offset + view.length + 1]
        data = memoryview(view.buffer(2))[edges[0] : edges[-1]].tobytes()
        keys = np.frombuffer(hashes.buffer(1), dtype=np.uint64)
        keys = keys[hashes.offset : hashes.offset + hashes.length]
        slots = (keys >> np.uint64(64 - _SLOT_BITS)).astype(np.intp)
        numbers = self._of_slot[slots]
        new = np.flatnonzero(self._keys[slots] != keys)
        rows = new[_equal_rows(keys[new])]
        read = np.unique(rows)
        found, edges = list[int](), edges - edges[0]
        for start, end in zip(edges[read].tolist(), edges[read + 1].tolist(), strict=True):
            text = data[start:end].decode().strip(BLANKS)
            is_absent = text.lower() in self._absent
            if is_absent and text:
                self._words[text] = None
            found.append(0 if is_absent else self._known.setdefault(text, len(self._texts)))
            if found[-1] == len(self._texts):
                self._texts.append(text)
        if len(self._known) > MOST_SHARED:
            self._is_shared = False
            self._known.clear()
        numbers[read] = self._of_slot[slots[read]] = found
        self._keys[slots[read]] = keys[read]
        numbers[new] = numbers[rows]
        self._append(numbers)

    def cells(self) -> Cells:
        numbers, texts = self._whole(), np.array(self._texts, dtype=object)
        values = np.empty(len(numbers), dtype=object)
        # Windows, because one pass over objects in C would hold the GIL throughout.
        for start in range(0, len(numbers), _WINDOW):
            values[start : start + _WINDOW] = texts[numbers[start : start + _WINDOW]]
        missing = int(np.count_nonzero(numbers == 0))
        if self._is_shared:
            counted = np.bincount(numbers).tolist() if len(texts) <= _FEW else []
            known = dict(sorted(zip(self._texts[1:], counted[1:], strict=False)))
            counts = known if counted else None
            return Cells(values, missing, len(texts) - 1, counts=counts, words=(*self._words,))
        # Hashes of 64 bits of ten million texts are equal with a probability of 1e-5.
        hashes = np.fromiter(map(hash, values), dtype=np.int64, count=len(values))
        hashes.sort()  # in a tenth of the time of numpy.unique
        distinct = 1 + int(np.count_nonzero(np.diff(hashes))) - (missing > 0)
        return Cells(values, missing, distinct, words=(*self._words,))


def _equal_rows(keys: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return for each row a row with the same key, few different ones if few keys differ."""
    rows, bits = np.arange(len(keys)), len(keys).bit_length() + 1
    slots = (keys >> np.uint64(64 - bits)).astype(np.intp)
    of_slot = np.empty(1 << bits, dtype=np.intp)
    of_slot[slots] = rows
    others = of_slot[slots]
    return np.where(keys[others] == keys, others, rows)


def unreadable_kinds() -> tuple[type[Exception], ...]:
    """Return the exceptions that DuckDB and its results raise for a damaged file."""
    import duckdb

    return (duckdb.Error, OSError, RuntimeError, OverflowError, UnicodeError)


class CellStore:
    """A DuckDB connection with a table ``cells``; a context manager.

    Parameters
    ----------
    shown : Path
        The file to name in messages.
    folder : Path
        Where DuckDB may write what does not fit into memory.
    report : callable
        Receives the fraction done; may raise to stop.
    place : str
        The expression that numbers the rows of ``cells``.
    database : str or DuckDBPyConnection
        File that holds the table, or a connection whose database is shared; in memory by default.
    memory : int, optional
        Bytes that DuckDB may take.
    """

    def __init__(
        self,
        shown: Path,
        folder: Path,
        report: Advance,
        *,
        place: str = "rowid",
        database: str | duckdb.DuckDBPyConnection = ":memory:",
        memory: int | None = None,
    ) -> None:
        import duckdb

        self.shown, self.place = shown, place
        self._report = report
        self._progress = (0.0, 1.0)
        self._reported = 0.0
        if isinstance(database, str):
            config = CLOSED | {"temp_directory": str(folder)}
            self._connection = duckdb.connect(database, config=config)
        else:
            self._connection = database.cursor()
        if memory is not None:
            self._connection.execute(f"SET memory_limit = '{memory // 1000} kB'")
        # Freed memory is returned soon; otherwise it adds to that of the arrays.
        self._connection.execute("SET allocator_flush_threshold = '16MB'")
        self._connection.execute("SET allocator_bulk_deallocation_flush_threshold = '64MB'")
        # A chunk of texts may exceed 2 GB.
        self._connection.execute("SET arrow_large_buffer_size = true")
        self._connection.execute("SET enable_progress_bar = true")
        self._connection.execute("SET enable_progress_bar_print = false")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def window(
        self, texts: Mapping[int, bool], start: int, stop: int, where: str = "true"
    ) -> list[NDArray[Any]]:
        """Fetch some rows of some columns, in rising order.

        Parameters
        ----------
        texts : mapping of column to bool
            Whether the column holds texts.
        start, stop : int
            The first row, and the end.
        where : str
            A condition on the rows.

        Raises
        ------
        InputError
            If the file can no longer be read.
        """
        within = f"{self.place} >= {start} AND {self.place} < {stop} AND {where}"
        columns, found = list(texts), list[NDArray[Any]]()
        # DuckDB holds a whole row group of each column that it reads.
        for first in range(0, len(columns), _COLUMNS_AT_ONCE):
            part = columns[first : first + _COLUMNS_AT_ONCE]
            wanted = ", ".join([f"{self.place} AS row", *(f"c{k}" for k in part)])
            sql = f"SELECT {wanted} FROM cells WHERE {within}"
            try:
                arrays = self._connection.execute(sql).fetchnumpy()
            except unreadable_kinds() as error:
                raise self.unreadable(error) from error
            order = np.argsort(np.asarray(arrays["row"]))
            for k in part:
                cells = np.array(arrays[f"c{k}"], dtype=object if texts[k] else None)
                if texts[k]:
                    cells[np.ma.getmaskarray(arrays[f"c{k}"])] = None
                found.append(cells[order])
        return found

    def rows(self, texts: Mapping[int, bool], rows: NDArray[np.intp]) -> list[NDArray[Any]]:
        """Fetch some thousand rows, in rising order, of some columns; see :meth:`window`."""
        listed = f"{self.place} IN ({', '.join(map(str, rows.tolist()))})"
        return self.window(texts, int(rows[0]), int(rows[-1]) + 1, listed)

    def counts(self, k: int, most: int) -> list[tuple[Any, int]]:
        """Count the rows of each known value of a column, in the order of the values.

        Parameters
        ----------
        k : int
            The column.
        most : int
            Largest number of values to return.
        """
        sql = (
            f"SELECT c{k}, count(*) FROM cells WHERE c{k} IS NOT NULL AND c{k}::VARCHAR <> 'nan' "
            f"GROUP BY 1 ORDER BY 1 LIMIT {most}"
        )
        return [(value, int(n)) for value, n in self._all(sql)]

    def totals(self, wanted: Sequence[str]) -> list[int]:
        """Evaluate integer aggregates over all rows, such as ``count(*)``."""
        return [
            int(total)
            for start in range(0, len(wanted), _COLUMNS_AT_ONCE)
            for total in self._one(
                f"SELECT {', '.join(wanted[start : start + _COLUMNS_AT_ONCE])} FROM cells"
            )
        ]

    def _run(self, work: Callable[[], Answer]) -> Answer:
        """Work on another thread while this one handles progress and stop requests."""
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            future = pool.submit(work)
            try:
                while not concurrent.futures.wait([future], 0.05).done:
                    self._report_share(max(0.0, self._connection.query_progress()) / 100)
            except BaseException:
                self._connection.interrupt()
                raise
        try:
            return future.result()
        except unreadable_kinds() as error:
            raise self.unreadable(error) from error

    def unreadable(self, error: Exception) -> Exception:
        """Return the error for a file that DuckDB cannot read."""
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return input_error("file_unreadable", file=self.shown, reason=reason)

    def _report_share(self, part: float) -> None:
        low, high = self._progress
        # Reading columns again must not reduce the progress.
        self._reported = max(self._reported, low + part * (high - low))
        self._report(self._reported)

    def _one(self, sql: str) -> tuple[Any, ...]:
        (row,) = self._all(sql)
        return row

    def _all(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            # A result that is not fetched completely would block the next query.
            return self._connection.execute(sql).fetchall()
        except unreadable_kinds() as error:
            raise self.unreadable(error) from error

    def _fetch(
        self,
        sql: str,
        is_number: Mapping[int, bool],
        rows: int,
        absent: frozenset[str] = frozenset({""}),
        plain: frozenset[int] = frozenset(),
    ) -> dict[int, Cells]:
        """Read the columns of a query, of known kinds, into arrays.

        ``rows`` is their number or slightly more. Texts are stripped; they are missing if their
        lower case is in ``absent``, which contains the empty text for NULL. In ``plain`` columns
        of numbers NULL is missing.

        Raises
        ------
        NotPlainError
            If a plain number is NaN.
        InputError
            If DuckDB cannot read something.
        """
        listed = [k for k, number in is_number.items() if number]
        # One array for all: the system provides its memory in larger pieces.
        block = np.empty((len(listed), rows))
        numbers = {k: Numbers(block[n], plain=k in plain) for n, k in enumerate(listed)}
        texts = {k: Texts(rows, absent) for k, number in is_number.items() if not number}
        hashed = "".join(f", hash(c{k})" for k in texts)
        for chunk in self._chunks(f"SELECT *{hashed} FROM ({sql})"):
            cells = dict(zip(is_number, map(chunk.child, range(len(is_number))), strict=True))
            try:
                for k, column in numbers.items():
                    column.add(cells[k])
                for n, (k, growing) in enumerate(texts.items(), len(cells)):
                    growing.add(cells[k], chunk.child(n))
            except unreadable_kinds() as error:
                raise self.unreadable(error) from error
            self._report_share(max(0.0, self._connection.query_progress()) / 100)
        found = {k: column.cells() for k, column in numbers.items()}
        return found | {k: growing.cells() for k, growing in texts.items()}

    def _chunks(self, sql: str) -> Iterator[Any]:
        """Yield the rows of a query in chunks, as views of Arrow arrays."""
        import nanoarrow

        connection = self._connection
        stream = iter(
            self._run(lambda: nanoarrow.c_array_stream(connection.sql(sql).__arrow_c_stream__()))
        )
        while (chunk := self._run(lambda: next(stream, None))) is not None:
            yield chunk.view()


def number_sql(
    cell: str, k: int, form: NumberFormat, words: frozenset[str], *, lookalikes: bool = True
) -> str:
    """Return the expression of a number cell: NaN if missing, infinite if it is not a number.

    Parameters
    ----------
    cell : str
        The expression of its text.
    k : int
        The index of the column, by which Python finds its format.
    form : NumberFormat
    words : frozenset of str
        The spellings of missing values, in lower case.
    lookalikes : bool
        Whether :data:`LOOKALIKES` may occur.
    """
    ways = [f"{READ}({cell}, {k})", "'nan'::DOUBLE"]
    if form.layout == dates.ISO and not hold_digits(words):
        days = f"epoch(try_cast({cell} AS TIMESTAMP)) / 86400.0::DOUBLE"
        ways = [f"CASE WHEN regexp_full_match({cell}, '{_DAY}') THEN {days} END", *ways]
    elif is_cast(form, words):
        ways = [_cast(cell, form.decimal, lookalikes), *ways]
    elif not form.layout and form.scale == 1 and not hold_digits(words):
        ways = [_frequent_cast(cell, form), *ways]
    return f"coalesce({', '.join(ways)})"


def _cast(cell: str, decimal: str, lookalikes: bool) -> str:
    """Return the expression of a number that DuckDB reads as Python does; otherwise NULL.

    DuckDB would also read whole numbers that are not exact, and many spellings of NaN.
    """
    marks = [*(LOOKALIKES if lookalikes else ()), *("." if decimal == "," else "")]
    bare = f"replace({cell}, ',', '.')" if decimal == "," else cell
    number = f"try_cast({bare} AS DOUBLE)"
    is_plain = [f"abs({number}) < {LONGEST_INTEGER!r}"]
    is_plain += [f"NOT contains({cell}, '{mark}')" for mark in marks]
    return f"CASE WHEN {' AND '.join(is_plain)} THEN {number} END"


def _frequent_cast(cell: str, form: NumberFormat) -> str:
    """Return the expression of a number with a unit or thousands separators; else NULL."""
    number = f"regexp_extract({cell}, {literal(form.frequent_pattern)}, 1)"
    number = f"replace({number}, '{other_mark(form.decimal)}', '')"
    return f"try_cast(replace({number}, '{form.decimal}', '.') AS DOUBLE)"


def is_cast(form: NumberFormat, words: frozenset[str]) -> bool:
    """Return whether DuckDB reads most numbers of a format."""
    is_plain = not (form.grouped or form.dressed or form.layout) and form.scale == 1
    # DuckDB would read a number that means a missing value.
    return is_plain and not hold_digits(words)


@functools.cache
def hold_digits(words: frozenset[str]) -> bool:
    """Return whether the spelling of a missing value may look like a number."""
    return any(c.isdigit() for word in words for c in word)


def text_sql(cell: str, words: frozenset[str]) -> str:
    """Return the expression of a text cell: stripped, NULL if missing."""
    bare = f"trim({cell}, {literal(BLANKS)})"
    listed = ", ".join(map(literal, sorted(words)))
    return f"CASE WHEN NOT list_contains([{listed}], lower({bare})) THEN {bare} END"
