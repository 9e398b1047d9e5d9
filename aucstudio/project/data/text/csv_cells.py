"""Cells of a large delimited file, read by DuckDB and classified in Python.

The file is plain UTF-8 with one kind of line end, and its layout is known from a sample. DuckDB
reads plain numbers; :class:`NumberCells` reads all other cells.
"""

from __future__ import annotations

import abc
import dataclasses
import glob
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.cells import (
    Cells,
    CellStore,
    NotPlainError,
    is_cast,
    number_cells,
    text_sql,
)
from aucstudio.project.data.input_files import for_duckdb, literal
from aucstudio.project.data.text.column_types import (
    CODE,
    digits_of_codes,
    format_of_most,
    holds_codes,
    stray_of,
    type_of,
)
from aucstudio.project.data.text.contents import (
    Contents,
    Formats,
    LeftOut,
    NeedsTidyingError,
    Source,
    check_rejected,
)
from aucstudio.project.data.text.dialect import LONGEST_ROW, Dialect
from aucstudio.project.data.text.numerals import (
    BLANKS,
    LONGEST_INTEGER,
    NumberCells,
    NumberFormat,
    are_plain,
    is_missing_number,
    spelled,
)
from aucstudio.project.data.text.rows import RowCounter, walk_rows
from aucstudio.project.data.text.scan import Advance

# Bytes that a thread reads at a time; by default four times as many.
_BUFFER = LONGEST_ROW


class FormatChecks(abc.ABC):
    """Checks the formats of columns, which were guessed from a sample, on all cells.

    Attributes
    ----------
    source : Source
    numbers : dict of int to NumberCells
        The cells that are not plain numbers, by column.
    """

    source: Source
    numbers: dict[int, NumberCells]

    @abc.abstractmethod
    def _load(self, forms: Formats) -> None:
        """Read columns in some formats."""

    @abc.abstractmethod
    def _known(self, k: int) -> tuple[int, float, list[float]]:
        """Return the number of numbers in a column, the least, and some of them."""

    @abc.abstractmethod
    def _code_in(self, k: int) -> str:
        """Return a code with leading zeros if a column of whole numbers holds codes."""

    def _checked(self, rows: int, left_out: LeftOut) -> Contents:
        """Read columns again that do not have the format of the sample."""
        forms, fixed = dict(self.source.forms), self.source.fixed
        doubtful = self._doubtful([k for k in forms if k not in fixed], forms)
        decimal = self.source.dialect.decimal
        strays = {k: stray_of(self.numbers[k].others, decimal) for k in doubtful}
        self._load_changed(forms, {k: self._type_of(k, form) for k, form in doubtful.items()})
        # The format of most cells must be the format of nearly all.
        doubtful = self._doubtful(doubtful, forms)
        self._load_changed(forms, {k: self._nearly(k, form) for k, form in doubtful.items()})
        codes = self._codes({k: form for k, form in forms.items() if form and k not in fixed})
        self._load_changed(forms, dict.fromkeys(codes))
        strays = {k: stray for k, stray in strays.items() if forms[k] is None} | codes
        others = {k: self.numbers[k].listed() for k, form in forms.items() if form}
        others = {k: spellings for k, spellings in others.items() if spellings}
        return Contents(rows, forms, strays, left_out, others)

    def _load_changed(self, forms: Formats, again: Formats) -> None:
        """Read columns again whose format has changed, and update ``forms``."""
        changed = {k: form for k, form in again.items() if form != forms[k]}
        if changed:
            self._load(changed)
            forms |= changed

    def _doubtful(self, columns: Iterable[int], forms: Formats) -> dict[int, NumberFormat]:
        """Return the columns of numbers with cells that do not fit their format."""
        numbers = {k: form for k in columns if (form := forms[k])}
        return {
            k: form for k, form in numbers.items() if not form.matches_all(self.numbers[k].others)
        }

    def _type_of(self, k: int, form: NumberFormat) -> NumberFormat | None:
        """Return the format of most cells; None if the other cells are too many."""
        found = type_of(self._counted(k, form), self.source.dialect.decimal, form)
        return None if self.numbers[k].is_crowded and found == form else found

    def _nearly(self, k: int, form: NumberFormat) -> NumberFormat | None:
        """Return a format if nearly all cells have it."""
        return (
            None if self.numbers[k].is_crowded else format_of_most(self._counted(k, form), [form])
        )

    def _counted(self, k: int, form: NumberFormat) -> dict[str, int]:
        """Count cells by spelling; numbers by a few representatives."""
        count, _, some = self._known(k)
        spellings = [cell for cell in self.source.sample.column(k) if form.matches(cell)]
        spellings = spellings or [spelled(form, value) for value in some]
        return self.numbers[k].counted(count, spellings)

    def _codes(self, forms: dict[int, NumberFormat]) -> dict[int, str]:
        """Return the columns that hold codes with leading zeros, with one code of each.

        Only columns with a number that is shorter than the cells of the sample are read.
        """
        found: dict[int, str] = {}
        words = self.source.dialect.number_words
        for k, form in forms.items():
            if not is_cast(form, words):
                continue
            length = digits_of_codes(self.source.sample.column(k), words)
            is_short = length is not None and 0 <= self._known(k)[1] < 10.0 ** (
                length - 1 if length else 300
            )
            if is_short and (code := self._code_in(k)):
                found[k] = code
        return found


class CsvCells(FormatChecks, CellStore):
    """A delimited file, opened in DuckDB; a context manager.

    Parameters
    ----------
    source : Source
    folder, progress, database, memory
        See :class:`CellStore`.
    """

    def __init__(
        self,
        source: Source,
        folder: Path,
        progress: Advance,
        *,
        database: str = ":memory:",
        memory: int | None = None,
    ) -> None:
        super().__init__(source.shown, folder, progress, database=database, memory=memory)
        self.source = source
        path = source.path if source.tidied is None else source.tidied.path
        self._path = for_duckdb(path, folder)

    def unreadable(self, error: Exception) -> Exception:
        """Return the error for rows that DuckDB cannot read: they are written again, once."""
        return NeedsTidyingError() if self.source.tidied is None else super().unreadable(error)

    def _code_in(self, k: int) -> str:
        cell = f"trim(c{k}, {literal(BLANKS)})"
        words = ", ".join(map(literal, sorted(self.source.dialect.number_words)))
        is_code = f"FILTER (regexp_full_match({cell}, {literal(CODE.pattern)}))"
        known = f"FILTER (lower({cell}) NOT IN ({words}))"
        first, last, whole, shortest, longest = self._one(
            f"SELECT min({cell}) {is_code}, max({cell}) {is_code}, "
            f"bool_and(regexp_full_match({cell}, '[0-9]+')) {known}, "
            f"min(strlen({cell})) {known}, max(strlen({cell})) {known} FROM {self._read_csv()}"
        )
        are_codes = first is not None and whole and (first != last or shortest == longest)
        return str(first) if are_codes else ""

    def _select(self, forms: Formats, *, bare: bool = False) -> str:
        """Return the query that reads some columns; texts may be ``bare``, as in the file."""
        columns = (f"{self._cell(k, form, bare=bare)} AS c{k}" for k, form in forms.items())
        return f"SELECT {', '.join(columns)} FROM {self._read_csv()}"

    def _cell(self, k: int, form: NumberFormat | None, *, bare: bool) -> str:
        dialect, lookalikes = self.source.dialect, self.source.lookalikes
        if form is None:
            return f"c{k}" if bare else text_sql(f"c{k}", dialect.text_words)
        return self.number(f"c{k}", k, form, dialect.number_words, lookalikes=lookalikes)

    def _read_csv(self, numbers: frozenset[int] = frozenset()) -> str:
        """Return the call that reads cells as texts, or as ``numbers`` in some columns."""
        tidied = self.source.tidied
        dialect = self.source.dialect if tidied is None else Dialect(header=False)
        kinds = ("DOUBLE" if k in numbers else "VARCHAR" for k in range(len(self.source.names)))
        columns = ", ".join(f"'c{k}': '{kind}'" for k, kind in enumerate(kinds))
        options = {
            "columns": f"{{{columns}}}",
            "delim": literal(dialect.delimiter),
            "quote": literal(dialect.quote),
            "escape": literal(dialect.quote),
            "header": str(dialect.header).lower(),
            "skip": str(dialect.skip),
            "auto_detect": "false",
            "compression": "'none'",
            "hive_partitioning": "false",
            "buffer_size": str(_BUFFER),
            "max_line_size": str(LONGEST_ROW),
            "decimal_separator": literal(dialect.decimal),
        }
        # DuckDB reads the name as a pattern.
        name = literal(glob.escape(str(self._path)))
        return f"read_csv({name}, {', '.join(f'{k} = {v}' for k, v in options.items())})"


_BATCH = 256
# The numbers among which representatives are chosen.
_SOME = 100_000


class Reader(CsvCells):
    """A delimited file whose cells are read into arrays."""

    def read(self) -> Contents:
        """Read all columns.

        Raises
        ------
        InputError
            If most rows do not have as many cells as the file has columns.
        NeedsTidyingError
            If DuckDB cannot read all rows.
        """
        source = self.source
        self._clean, self._cells = _clean(source), dict[int, Cells]()
        self._load(source.forms)
        rows = len(self._cells[0].values)
        check_rejected(source, source.left_out, rows)
        contents = self._checked(rows, source.left_out)
        return dataclasses.replace(contents, cells=[self._cells[k] for k in source.forms])

    def _load(self, forms: Formats) -> None:
        listed = list(forms)
        for start in range(0, len(listed), _BATCH):
            batch = {k: forms[k] for k in listed[start : start + _BATCH]}
            self._progress = (start / len(listed), (start + len(batch)) / len(listed))
            found = self._load_strictly(batch)
            self._cells |= found or self._gather(self._select(batch, bare=True), batch)

    def _load_strictly(self, forms: Formats) -> dict[int, Cells] | None:
        """Read the numbers of clean columns with DuckDB only; None if that fails.

        It takes three quarters of the time, but each cell must be a number or empty, and all rows
        must have equally many cells.
        """
        source, dialect = self.source, self.source.dialect
        written = NumberFormat(dialect.decimal)
        plain = frozenset(k for k, form in forms.items() if k in self._clean and form == written)
        if not plain or source.tidied is not None or source.lookalikes:
            return None
        if not is_cast(written, dialect.number_words):
            return None
        columns = (
            f"{self._cell(k, None if k in plain else form, bare=True)} AS c{k}"
            for k, form in forms.items()
        )
        sql = f"SELECT {', '.join(columns)} FROM {self._read_csv(plain)}"
        for k in plain:
            self.expect(k, written, dialect.number_words)
        try:
            found = self._gather(sql, forms, plain)
        except (NeedsTidyingError, NotPlainError):
            return None
        is_exact = all(_largest(found[k]) < LONGEST_INTEGER for k in plain)
        return found if is_exact else None

    def _gather(
        self, sql: str, forms: Formats, plain: frozenset[int] = frozenset()
    ) -> dict[int, Cells]:
        is_number = {k: form is not None for k, form in forms.items()}
        words = self.source.dialect.text_words
        return self._fetch(sql, is_number, self.source.lines, words, plain)

    def _known(self, k: int) -> tuple[int, float, list[float]]:
        return _some_numbers(self._cells[k].values)


def _some_numbers(values: NDArray[np.float64]) -> tuple[int, float, list[float]]:
    """Return the number of finite values, the least, and some of them."""
    some = values[:_SOME][np.isfinite(values[:_SOME])]
    least = float(np.fmin.reduce(values, initial=np.inf))
    return int(np.count_nonzero(np.isfinite(values))), least, np.unique(some).tolist()


def _clean(source: Source) -> frozenset[int]:
    """Return the columns whose cells in the sample are all numbers or empty."""
    numbers = {k: form for k, form in source.forms.items() if form}
    return frozenset(
        k for k, form in numbers.items() if form.matches_all(filter(None, source.sample.column(k)))
    )


def _largest(cells: Cells) -> float:
    # Without an array of absolute values, whose pages would cost more than the comparison.
    high = np.fmax.reduce(cells.values, initial=0.0)
    return float(max(high, -np.fmin.reduce(cells.values, initial=0.0)))


# The most cells that are held as text.
BLOCK_CELLS = 2_000_000


class SmallReader(FormatChecks):
    """A small or wide delimited file, read without DuckDB in blocks of rows.

    The text of a file of one block is held; a larger file is read again for each change of formats.

    Raises
    ------
    InputError
        If most rows cannot be read.
    """

    def __init__(self, source: Source, progress: Advance = lambda _share: None) -> None:
        self.source, self.numbers = source, {}
        self._progress = progress
        self._columns: dict[int, _Column] = {}
        self._held: list[list[str]] = []
        self._counter = RowCounter()

    def read(self) -> Contents:
        """Read all columns, with the results of the reader of large files."""
        self._load(self.source.forms)
        left_out = self._counter.left_out()
        rows = self._counter.total - left_out.total
        check_rejected(self.source, left_out, rows)
        contents = self._checked(rows, left_out)
        cells = [self._columns[k].cells() for k in self.source.forms]
        return dataclasses.replace(contents, cells=cells)

    def _load(self, forms: Formats) -> None:
        for k, form in forms.items():
            self._columns[k] = _Column(self.source.dialect, form)
            self.numbers[k] = self._columns[k].numbers
        for block in [self._held] if self._held else self._blocks():
            if len(forms) == len(self._columns):
                for k, cells in enumerate(zip(*block, strict=True)):
                    self._columns[k].add(cells)
            else:
                for k in forms:
                    self._columns[k].add([row[k] for row in block])

    def _blocks(self) -> Iterator[list[list[str]]]:
        """Yield the rows that are kept; count them the first time."""
        rows = self._kept(None if self._counter.total else self._counter)
        height = max(1, BLOCK_CELLS // len(self.source.names))
        block, more = _take(rows, height), _take(rows, height)
        self._held = block if not more else []
        while block:
            yield block
            block, more = more, _take(rows, height)

    def _kept(self, counter: RowCounter | None) -> Iterator[list[str]]:
        for row in walk_rows(self.source):
            if counter is not None:
                counter.count(row)
                self._progress(min(1.0, counter.total / max(self.source.lines, 1)))
            if not row.reason:
                yield row.cells

    def _known(self, k: int) -> tuple[int, float, list[float]]:
        return _some_numbers(self._columns[k].cells().values)

    def _code_in(self, k: int) -> str:
        words = self.source.dialect.number_words
        blocks = [self._held] if self._held else self._blocks()
        cells = [row[k].strip(BLANKS) for block in blocks for row in block]
        known = [cell for cell in cells if not is_missing_number(cell, words)]
        return next(filter(CODE.fullmatch, known), known[0]) if holds_codes(known, words) else ""


def _take(rows: Iterator[list[str]], height: int) -> list[list[str]]:
    return [*itertools.islice(rows, height)]


class _Column:
    """A column that is read in blocks, as numbers or as texts."""

    def __init__(self, dialect: Dialect, form: NumberFormat | None) -> None:
        self._form, self._words = form, dialect.text_words
        self.numbers = NumberCells(form or NumberFormat(), dialect.number_words)
        form = self.numbers.form
        self._is_plain = form.decimal == "." and is_cast(form, dialect.number_words)
        self._blocks: list[NDArray[np.float64]] = [np.empty(0)]
        self._texts: list[str | None] = []
        self._same: dict[str, str] = {}

    def add(self, cells: Sequence[str]) -> None:
        if self._form is not None:
            is_plain = self._is_plain and are_plain(cells)
            read: Callable[[str], float] = float if is_plain else self.numbers.read
            self._blocks.append(np.fromiter(map(read, cells), dtype=np.float64, count=len(cells)))
            return
        bare = (cell.strip(BLANKS) for cell in cells)
        self._texts += [
            None if cell.lower() in self._words else self._same.setdefault(cell, cell)
            for cell in bare
        ]

    def cells(self) -> Cells:
        """Return the cells."""
        if self._form is not None:
            self._blocks = [np.concatenate(self._blocks)]
            return number_cells(self._blocks[0])
        values = np.empty(len(self._texts), dtype=object)
        values[:] = self._texts
        return Cells(values, self._texts.count(None), len(self._same))
