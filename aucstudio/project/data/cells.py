"""Fast conversion of UTF-8 cells to Python texts.

Build columns from the Arrow chunks of DuckDB.

Fetch cells from DuckDB without holding the GIL.

Rows are streamed into arrays, or stay in a table or view ``cells`` that is read in windows. Columns
are c0, c1, ...: doubles with NaN for missing cells, or texts with NULL.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.paths import CLOSED
from aucstudio.project.data.text.cell_sql import READ, number_sql
from aucstudio.project.data.text.numerals import BLANKS, MISSING_NUMBER, NumberCells, NumberFormat
from aucstudio.project.data.text.scan import Advance
from aucstudio.project.errors import InputError, input_error

Bytes = NDArray[np.uint8]
Edges = NDArray[np.int64]
Words = NDArray[np.uint64]

_SIZE, _MOST_WORDS = 8, 4
# Bits of the first and of the largest hash table, and of the slots per text. With more texts, each
# one is looked up in the dictionary.
_FEW_BITS, _MOST_BITS, _ROOM_BITS = 10, 18, 3
_MOST = 1 << (_MOST_BITS - _ROOM_BITS + 1)
# Texts that are looked up one by one before the others are searched again.
_FIRST_FEW = 500
_WORD = np.dtype("<u8")
# Masks of the bytes of a word that belong to a text, by the number of bytes left.
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(_SIZE + 1)], _WORD)
# Odd multipliers with well mixed bits, which spread words over all slots.
_SPREAD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_HALF = np.uint64(32)
# Cannot occur in UTF-8.
_VACANT = np.uint64(2**64 - 1)
_BLANK_BEGINS, _WORD_BEGINS, _BLANK_ENDS = 1, 2, 4
# Letters outside ASCII whose lower case begins with an ASCII letter: kelvin sign and dotted I.
_CAPITALS = ("\u212a", "\u0130")
# Most bytes of a letter whose lower case has one byte.
_LONGEST_LETTER = 3


class ShortTexts:
    """Looks up the values of UTF-8 texts in a hash table, many at a time.

    Parameters
    ----------
    known : mapping of str to str or None
        The value of each text; used for texts that are in neither of their two slots.
    """

    def __init__(self, known: Mapping[str, str | None]) -> None:
        self._known = known
        self._bits = _FEW_BITS
        self._words = np.full((1, 1 << _FEW_BITS), _VACANT)
        self._meant: NDArray[Any] = np.full(1 << _FEW_BITS, None, dtype=object)

    def find(self, data: Bytes, edges: Edges) -> NDArray[Any] | None:
        """Return the values of the texts between edges; None if slicing is faster.

        Parameters
        ----------
        data : array
            The concatenated bytes of all texts.
        edges : array
            Start of each text, and the end of the last.
        """
        longest = int(np.diff(edges).max(initial=1))
        # Texts are padded with zeros, so a zero byte would be ambiguous.
        if len(self._known) > _MOST or longest > _SIZE * _MOST_WORDS or not data.all():
            return None
        self._make_room((longest + _SIZE - 1) // _SIZE)
        words = _words(data, edges, len(self._words))
        found, others = self._look(words)
        few = _FIRST_FEW
        while len(others):
            # After some texts have got slots, most of the others are found.
            some, others = others[:few], others[few:]
            pairs = zip(edges[some].tolist(), edges[some + 1].tolist(), strict=True)
            found[some] = [self._known[data[i:j].tobytes().decode()] for i, j in pairs]
            self._enter(words[:, some], found[some])
            found[others], unknown = self._look(words[:, others])
            others, few = others[unknown], 2 * few
        return found

    def _look(self, words: Words) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return the values of texts, and the texts that are in neither slot."""
        first, second = self._slots(words)
        found = self._meant[first]
        others = self._differing(words, first)
        found[others] = self._meant[second[others]]
        return found, others[self._differing(words[:, others], second[others])]

    def _enter(self, words: Words, meant: NDArray[Any]) -> None:
        first, second = self._slots(words)
        taken = np.where(self._words[0][first] == _VACANT, first, second)
        # If several texts share a slot, the last one stays.
        self._words[:, taken] = words
        self._meant[taken] = meant

    def _make_room(self, count: int) -> None:
        bits = self._bits
        while bits < _MOST_BITS and len(self._known) > 1 << (bits - _ROOM_BITS):
            bits += 1
        if bits == self._bits and count <= len(self._words):
            return
        taken = self._words[0] != _VACANT
        there, meant = self._words[:, taken], self._meant[taken]
        words = np.zeros((max(count, len(there)), len(meant)), _WORD)
        words[: len(there)] = there
        self._bits = bits
        self._words = np.full((len(words), 1 << bits), _VACANT)
        self._meant = np.full(1 << bits, None, dtype=object)
        self._enter(words, meant)

    def _slots(self, words: Words) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        mixed = words[0] * _SPREAD[0]
        for word in words[1:]:
            mixed = (mixed ^ (mixed >> _HALF) ^ word) * _SPREAD[0]
        slot = np.uint64(64 - self._bits)
        again = (mixed ^ (mixed >> _HALF)) * _SPREAD[1]
        return (mixed >> slot).astype(np.intp), (again >> slot).astype(np.intp)

    def _differing(self, words: Words, slots: NDArray[np.intp]) -> NDArray[np.intp]:
        differ = self._words[0][slots] != words[0]
        for there, word in zip(self._words[1:], words[1:], strict=True):
            differ |= there[slots] != word
        return np.flatnonzero(differ)


def text_keys(data: Bytes, edges: Edges) -> Words:
    """Return a 64-bit hash of each text; ten million texts collide with probability 1e-5."""
    words, keys = _everywhere(data), np.diff(edges).astype(np.uint64) * _SPREAD[1]
    which, starts, ends = np.arange(len(keys)), edges[:-1], edges[1:]
    while len(which):
        word = words[starts] & _MASKS[np.minimum(ends - starts, _SIZE)]
        mixed = (keys[which] ^ word) * _SPREAD[0]
        keys[which] = mixed ^ (mixed >> _HALF)
        starts = starts + _SIZE
        more = starts < ends
        which, starts, ends = which[more], starts[more], ends[more]
    keys *= _SPREAD[1]
    return keys ^ (keys >> _HALF)


def _words(data: Bytes, edges: Edges, count: int) -> Words:
    """Return the bytes of each text as integers of eight bytes, shape (count, texts)."""
    everywhere, lengths = _everywhere(data), np.diff(edges)
    words = np.empty((count, len(lengths)), _WORD)
    for n in range(count):
        starts = np.minimum(edges[:-1] + n * _SIZE, len(data))
        words[n] = everywhere[starts] & _MASKS[np.clip(lengths - n * _SIZE, 0, _SIZE)]
    return words


def _everywhere(data: Bytes) -> NDArray[Any]:
    """Return the eight bytes from each position on as one integer."""
    padded = np.concatenate([data, np.zeros(_SIZE, dtype=np.uint8)])
    return np.ndarray((len(data) + 1,), _WORD, padded, strides=(1,))


class OddTexts:
    """Finds texts with surrounding blanks or words for missing values.

    Parameters
    ----------
    blanks : str
        Characters that are stripped from both ends.
    absent : iterable of str
        Words for a missing value, in lower case.
    """

    def __init__(self, blanks: str, absent: Iterable[str]) -> None:
        self._flags = np.zeros(256, dtype=np.uint8)
        words = [word for word in absent if word]
        for blank in blanks:
            self._flags[blank.encode()[0]] |= _BLANK_BEGINS
            self._flags[blank.encode()[-1]] |= _BLANK_ENDS
        for word in (*words, *map(str.upper, words), *_CAPITALS):
            self._flags[word.encode()[0]] |= _WORD_BEGINS
        self._longest = _LONGEST_LETTER * max((len(word.encode()) for word in words), default=0)

    def find(self, data: NDArray[np.uint8], edges: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the indices of such texts between edges, and of empty ones."""
        lengths = np.diff(edges)
        padded = np.concatenate([data, np.zeros(1, dtype=np.uint8)])
        begins = self._flags[padded[edges[:-1]]]
        odd = (begins & _BLANK_BEGINS) | (self._flags[padded[edges[1:] - 1]] & _BLANK_ENDS)
        odd |= (begins & _WORD_BEGINS) * (lengths <= self._longest)
        return np.flatnonzero((odd > 0) | (lengths == 0))


# Size of the cache of stripped texts.
_REMEMBERED = 1_000
# With more distinct texts, equal texts are not shared any more; the second number applies if every
# second text is new.
_MOST_SHARED, _MANY_DIFFERENT = 1 << 17, 1 << 15


class NotPlainError(Exception):
    """A cell among plain numbers has a spelling that Python must read."""


@dataclasses.dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column: see :class:`~aucstudio.project.data.columns.Column`.

    Distinct texts are counted, distinct numbers are not.
    """

    values: NDArray[Any]
    missing: int
    distinct: int | None = None


class _Growing:
    """A growing column in one array; joining pieces would take twice the memory."""

    def __init__(self, rows: int, kind: type) -> None:
        self._values: NDArray[Any] = np.empty(rows, dtype=kind)
        self._count = 0

    def _append(self, part: NDArray[Any]) -> None:
        stop = self._count + len(part)
        if stop > len(self._values):
            self._values.resize(2 * stop, refcheck=False)
        self._values[self._count : stop] = part
        self._count = stop

    def _whole(self) -> NDArray[Any]:
        self._values.resize(self._count, refcheck=False)
        return self._values


class Numbers(_Growing):
    """A growing column of numbers; missing ones are NaN, or NULL if ``plain``."""

    def __init__(self, rows: int, *, plain: bool = False) -> None:
        super().__init__(rows, np.float64)
        self._plain = plain

    def add(self, view: Any) -> None:
        """Add a chunk; raise NotPlainError if a plain number is NaN: DuckDB reads ``-nan``."""
        values = np.frombuffer(view.buffer(1), dtype=np.float64)
        values = values[view.offset : view.offset + view.length]
        if self._plain:
            is_there = _valid(view)
            if np.isnan(values, where=is_there, out=np.zeros(len(values), dtype=bool)).any():
                raise NotPlainError
            values = values if is_there.all() else np.where(is_there, values, np.nan)
        self._append(values)

    def cells(self) -> Cells:
        return number_cells(self._whole())


class Texts(_Growing):
    """A growing column of texts; equal texts share one Python object unless most texts differ."""

    def __init__(self, rows: int, absent: frozenset[str]) -> None:
        super().__init__(rows, object)
        self._absent = absent
        self._known = _Known(absent)
        self._short = ShortTexts(self._known)
        self._missing = 0
        self._each: _EachAlone | None = None

    def add(self, view: Any) -> None:
        data, edges = _bytes_of(view)
        if self._each is None:
            part = self._shared(data, edges)
        else:
            part, missing = self._each.read(data, edges)
            self._missing += missing
        self._append(part)
        if self._each is None and self._known.distinct > self._most():
            self._each = _EachAlone(self._absent, self._known)
            self._known = _Known(self._absent)
            self._short = ShortTexts(self._known)

    def _shared(self, data: NDArray[np.uint8], edges: NDArray[np.int64]) -> NDArray[Any]:
        part = self._short.find(data, edges)
        if part is None:
            found = map(self._known.__getitem__, _cut(data, edges))
            part = np.fromiter(found, dtype=object, count=len(edges) - 1)
        if self._known.has_absent:
            self._missing += part.tolist().count(None)
        return part

    def _most(self) -> int:
        # Beyond this, looking texts up costs more than it saves.
        return _MOST_SHARED if 2 * self._known.distinct < self._count else _MANY_DIFFERENT

    def cells(self) -> Cells:
        distinct = self._known.distinct if self._each is None else self._each.distinct()
        return Cells(self._whole(), self._missing, distinct)


class _EachAlone:
    """Reads texts that mostly differ, without looking for equal ones.

    Parameters
    ----------
    absent : frozenset of str
    known : mapping of str to str or None
        Values of the texts read before.
    """

    def __init__(self, absent: frozenset[str], known: Mapping[str, str | None]) -> None:
        self._odd = OddTexts(BLANKS, absent)
        self._bare = functools.lru_cache(_REMEMBERED)(functools.partial(_bare, absent))
        self._keys = [_keys_of([*{text for text in known.values() if text is not None}])]

    def read(self, data: NDArray[np.uint8], edges: NDArray[np.int64]) -> tuple[NDArray[Any], int]:
        """Return the values of the texts between edges, and the number of missing ones."""
        cut = _cut(data, edges)
        texts: list[str | None] = [*cut]
        keys, missing = text_keys(data, edges), 0
        odd = self._odd.find(data, edges)
        if len(odd):
            meant = [self._bare(cut[n]) for n in odd.tolist()]
            keys[odd] = _keys_of([text or "" for text in meant])
            for n, text in zip(odd.tolist(), meant, strict=True):
                texts[n] = text
            is_nothing = np.array([text is None for text in meant])
            keys, missing = np.delete(keys, odd[is_nothing]), int(np.count_nonzero(is_nothing))
        self._keys.append(keys)
        return np.array(texts, dtype=object), missing

    def distinct(self) -> int:
        """Count the distinct texts."""
        keys = np.concatenate(self._keys)
        self._keys = []
        keys.sort()
        return len(keys) and 1 + int(np.count_nonzero(keys[1:] != keys[:-1]))


def _keys_of(texts: list[str]) -> NDArray[np.uint64]:
    cells = [text.encode() for text in texts]
    edges = np.cumsum([0, *map(len, cells)], dtype=np.int64)
    return text_keys(np.frombuffer(b"".join(cells), dtype=np.uint8), edges)


def _bare(absent: frozenset[str], text: str) -> str | None:
    bare = text.strip(BLANKS)
    return None if bare.lower() in absent else bare


class _Known(dict[str, str | None]):
    """The value of each text: stripped, None if missing. Each distinct text is classified once."""

    def __init__(self, absent: frozenset[str]) -> None:
        self._absent = absent
        self.distinct = 0
        self.has_absent = False

    def __missing__(self, text: str) -> str | None:
        found = _bare(self._absent, text)
        if found is None:
            self.has_absent = True
        elif found == text:
            self.distinct += 1
        else:
            found = self[found]
        self[text] = found
        return found


def _valid(view: Any) -> NDArray[np.bool_]:
    """Mark cells that are not NULL."""
    bits = np.frombuffer(view.buffer(0), dtype=np.uint8)
    if not len(bits):
        return np.ones(view.length, dtype=bool)
    flags = np.unpackbits(bits, count=view.offset + view.length, bitorder="little")
    return flags[view.offset :].astype(bool)


def _bytes_of(view: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the concatenated bytes of texts, and the edges between them."""
    edges = _edges(view)
    data = np.frombuffer(view.buffer(2), dtype=np.uint8)[edges[0] : edges[-1]]
    return data, edges - edges[0]


def _edges(view: Any) -> NDArray[np.int64]:
    edges = np.frombuffer(view.buffer(1), dtype=np.int64)
    return edges[view.offset : view.offset + view.length + 1]


def _cut(data: NDArray[np.uint8], edges: NDArray[np.int64]) -> list[str]:
    """Split UTF-8 bytes into the texts between edges."""
    if len(edges) == 1 or not data.all():
        return [data[i:j].tobytes().decode() for i, j in itertools.pairwise(edges.tolist())]
    # Splitting one text at NUL takes a third of the time of slicing.
    separated = np.zeros(len(data) + len(edges) - 2, dtype=np.uint8)
    is_text = np.ones(len(separated), dtype=bool)
    is_text[edges[1:-1] + np.arange(len(edges) - 2)] = False
    separated[is_text] = data
    return separated.tobytes().decode().split("\0")


def number_cells(values: NDArray[np.float64]) -> Cells:
    """Count the missing cells of a column of numbers."""
    return Cells(values, int(np.count_nonzero(np.isnan(values))))


Answer = TypeVar("Answer")

# Columns read at a time from an out-of-memory table.
_COLUMNS_AT_ONCE = 64


def unreadable_kinds() -> tuple[type[Exception], ...]:
    """Return the exceptions that DuckDB and its results raise for a damaged file."""
    import duckdb

    return (duckdb.Error, RuntimeError, OverflowError, UnicodeError)


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
    database : str
        File that holds the table; in memory by default.
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
        database: str = ":memory:",
        memory: int | None = None,
    ) -> None:
        import duckdb

        self.shown, self.place = shown, place
        self._report = report
        self._progress = (0.0, 1.0)
        self._reported = 0.0
        config = CLOSED | {"temp_directory": str(folder)}
        self._connection = duckdb.connect(database, config=config)
        if memory is not None:
            self._connection.execute(f"SET memory_limit = '{memory // 1000} kB'")
        # Freed memory is returned at once; otherwise it adds to that of the arrays.
        self._connection.execute("SET allocator_flush_threshold = '1MB'")
        self._connection.execute("SET allocator_bulk_deallocation_flush_threshold = '8MB'")
        # A chunk of texts may exceed 2 GB.
        self._connection.execute("SET arrow_large_buffer_size = true")
        self._connection.execute("SET enable_progress_bar = true")
        self._connection.execute("SET enable_progress_bar_print = false")
        # Cells that Python reads, by column.
        self.numbers: dict[int, NumberCells] = {}
        numbers = self.numbers
        self._connection.create_function(
            READ, lambda text, k: numbers[k].read(text), ["VARCHAR", "INTEGER"], "DOUBLE"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def expect(self, k: int, form: NumberFormat, words: frozenset[str] = MISSING_NUMBER) -> None:
        """Set how the numbers of a column are written, before its cells are read."""
        self.numbers[k] = NumberCells(form, words)

    def number(
        self,
        cell: str,
        k: int,
        form: NumberFormat,
        words: frozenset[str] = MISSING_NUMBER,
        *,
        lookalikes: bool = True,
    ) -> str:
        """Return the expression of a number: see :func:`number_sql`."""
        self.expect(k, form, words)
        return number_sql(cell, k, form, words, lookalikes=lookalikes)

    def window(self, texts: Mapping[int, bool], start: int, stop: int) -> list[NDArray[Any]]:
        """Fetch some rows of some columns.

        Parameters
        ----------
        texts : mapping of column to bool
            Whether the column holds texts.
        start, stop : int
            The first row, and the end.

        Raises
        ------
        InputError
            If the file can no longer be read.
        """
        found = [
            cells
            for part in _parts(texts)
            for cells in self._columns_where([f"c{k}" for k in part], start, stop)
        ]
        return _unmasked(found, texts)

    def rows(self, texts: Mapping[int, bool], rows: NDArray[np.intp]) -> list[NDArray[Any]]:
        """Fetch some thousand rows, in rising order, of some columns; see :meth:`window`."""
        listed = f"{self.place} IN ({', '.join(map(str, rows.tolist()))})"
        picked: list[NDArray[Any]] = []
        for part in _parts(texts):
            wanted = [self.place, *(f"c{k}" for k in part)]
            place, *found = self._columns_where(wanted, int(rows[0]), int(rows[-1]) + 1, listed)
            order = np.argsort(np.asarray(place))
            picked += [cells[order] for cells in found]
        return _unmasked(picked, texts)

    def _columns_where(
        self, wanted: Sequence[str], start: int, stop: int, where: str = "true"
    ) -> Any:
        """Fetch expressions over some rows that meet a condition."""
        selected = ", ".join(f"{sql} AS x{n}" for n, sql in enumerate(wanted))
        within = f"{self.place} >= {start} AND {self.place} < {stop} AND {where}"
        try:
            arrays = self._connection.execute(
                f"SELECT {selected} FROM cells WHERE {within}"
            ).fetchnumpy()
        except unreadable_kinds() as error:
            raise self.unreadable(error) from error
        return [arrays[f"x{n}"] for n in range(len(wanted))]

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

    def unreadable(self, error: Exception) -> InputError:
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
        gathered = {
            k: Numbers(rows, plain=k in plain) if number else Texts(rows, absent)
            for k, number in is_number.items()
        }
        for chunk in self._chunks(sql):
            try:
                for n, column in enumerate(gathered.values()):
                    column.add(chunk.child(n))
            except unreadable_kinds() as error:
                raise self.unreadable(error) from error
            self._report_share(max(0.0, self._connection.query_progress()) / 100)
        return {k: column.cells() for k, column in gathered.items()}

    def _chunks(self, sql: str) -> Iterator[Any]:
        """Yield the rows of a query in chunks, as views of Arrow arrays."""
        import nanoarrow

        connection = self._connection
        stream = iter(
            self._run(lambda: nanoarrow.c_array_stream(connection.sql(sql).__arrow_c_stream__()))
        )
        while (chunk := self._run(lambda: next(stream, None))) is not None:
            yield chunk.view()


def _parts(columns: Iterable[int]) -> Iterator[list[int]]:
    """Split a wide table: DuckDB holds a whole row group of each column that it reads."""
    listed = list(columns)
    for start in range(0, len(listed), _COLUMNS_AT_ONCE):
        yield listed[start : start + _COLUMNS_AT_ONCE]


def _unmasked(found: list[NDArray[Any]], texts: Mapping[int, bool]) -> list[NDArray[Any]]:
    """Replace masked texts by None."""
    unmasked = []
    for cells, text in zip(found, texts.values(), strict=True):
        values = np.array(cells, dtype=object) if text else np.asarray(cells)
        if text:
            values[np.ma.getmaskarray(cells)] = None
        unmasked.append(values)
    return unmasked
