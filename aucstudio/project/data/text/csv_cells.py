"""Cells of a typed or large delimited file, read by DuckDB and classified in Python.

A delimited file is plain UTF-8 with one kind of line end, and its layout is known from a sample.
DuckDB reads plain numbers; :class:`NumberCells` reads all other cells.
"""

from __future__ import annotations

import dataclasses
import functools
import glob
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aucstudio.project.data.cells import (
    READ,
    Cells,
    CellStore,
    NotPlainError,
    is_cast,
    number_sql,
    text_sql,
)
from aucstudio.project.data.input_files import for_duckdb, literal
from aucstudio.project.data.text.contents import (
    Contents,
    FormatChecks,
    Formats,
    LeftOut,
    NeedsTidyingError,
    Source,
    Unreadable,
    check_rejected,
    some_numbers,
)
from aucstudio.project.data.text.dialect import LONGEST_ROW, Dialect
from aucstudio.project.data.text.numerals import (
    BLANKS,
    LONGEST_INTEGER,
    NumberCells,
    NumberFormat,
)
from aucstudio.project.data.text.rows import first_unreadable, may_be_misread, rejected_rows
from aucstudio.project.data.text.scan import Advance
from aucstudio.project.errors import InputError

# What DuckDB calls rows with another number of cells.
_LENGTHS = "('MISSING COLUMNS', 'TOO MANY COLUMNS')"


class FileCells(FormatChecks, CellStore):
    """A delimited or typed file, opened in DuckDB; a context manager.

    Attributes
    ----------
    buffer : int
        Bytes that a thread reads of a delimited file at a time.

    Parameters
    ----------
    source : Source
    folder, progress, place, database, memory
        See :class:`CellStore`.
    """

    buffer = 4 * LONGEST_ROW

    def __init__(self, source: Source, folder: Path, progress: Advance, **options: Any) -> None:
        if source.typed is not None:  # to open another database takes 25 ms
            options.setdefault("database", source.typed.connection)
        super().__init__(source.shown, folder, progress, **options)
        self.source, self.numbers = source, {}
        numbers = self.numbers
        self._connection.create_function(
            READ, lambda text, k: numbers[k].read(text), ["VARCHAR", "INTEGER"], "DOUBLE"
        )
        path = source.path if source.tidied is None else source.tidied.path
        self._path = for_duckdb(path, folder)

    def _refuse_misread(self) -> None:
        """Raise NeedsTidyingError if DuckDB would misread rows."""
        if self._is_misread:
            raise NeedsTidyingError

    @functools.cached_property
    def _is_misread(self) -> bool:
        return self.source.tidied is None and may_be_misread(self.source)

    def _left_out(self) -> LeftOut:
        """Return the rows that were left out; raise NeedsTidyingError if Python must find them."""
        if self.source.tidied is not None:
            return self.source.tidied.left_out
        # There is an error for each cell that a row lacks or has too many.
        rejects = self._all(
            "SELECT line, min(line_byte_position) - 1, min(csv_line), "
            f"bool_and(error_type::VARCHAR IN {_LENGTHS}) FROM reject_errors GROUP BY 1 ORDER BY 1"
        )
        if not all(differs_in_length for *_, differs_in_length in rejects):
            raise NeedsTidyingError
        return rejected_rows(self.source, [(row, place, text) for row, place, text, _ in rejects])

    def unreadable(self, error: Exception) -> Exception:
        """Return the error for rows that DuckDB cannot read: they are written again, once."""
        import duckdb

        is_lost = isinstance(error, (duckdb.IOException, duckdb.OutOfMemoryException))
        if self.source.tidied is None and not is_lost:
            return NeedsTidyingError()
        return super().unreadable(error)

    def first_unreadable(
        self, counts: Mapping[int, int], contents: Contents
    ) -> dict[str, Unreadable]:
        """Return the first cell that is not a number in each of some columns; slow."""
        source, found = self.source, dict[str, Unreadable]()
        if source.typed is None:
            return first_unreadable(source, counts, contents)
        for k, count in counts.items():
            cell = self._cell(k, contents.forms[k], bare=True)
            (text,) = self._one(
                f"SELECT {source.typed.text(k)} FROM {source.typed.relation} "
                f"WHERE isinf({cell}) ORDER BY place LIMIT 1"
            )
            found[source.names[k]] = Unreadable(count, text, None, contents.others.get(k, ()))
        return found

    def _spellings(self, k: int) -> Iterable[str]:
        sql = f"SELECT DISTINCT trim({self._text(k)}, {literal(BLANKS)}) FROM {self._relation()}"
        return sorted(text for (text,) in self._all(sql) if text is not None)

    def _select(self, forms: Formats, *, bare: bool = False) -> str:
        """Return the query that reads some columns; texts may be ``bare``, as in the file."""
        columns = [f"{self._cell(k, form, bare=bare)} AS c{k}" for k, form in forms.items()]
        if self.place == "place":
            columns = ["place", *columns]
        return f"SELECT {', '.join(columns)} FROM {self._relation()}"

    def _text(self, k: int) -> str:
        """Return the expression of a cell as text."""
        typed = self.source.typed
        return f"c{k}" if typed is None else typed.text(k)

    def _cell(self, k: int, form: NumberFormat | None, *, bare: bool) -> str:
        """Return the expression of a cell as number or text; a text may be ``bare``."""
        text, dialect, typed = self._text(k), self.source.dialect, self.source.typed
        if form is None:
            return text if bare else text_sql(text, dialect.text_words)
        self.numbers[k] = NumberCells(form, dialect.number_words)
        if typed is not None and (number := typed.number(k, form, dialect.number_words)):
            return number
        lookalikes = self.source.lookalikes
        return number_sql(text, k, form, dialect.number_words, lookalikes=lookalikes)

    def _relation(self, numbers: frozenset[int] = frozenset()) -> str:
        """Return the relation of all cells: texts, or numbers in the columns ``numbers``."""
        if self.source.typed is not None:
            return self.source.typed.relation
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
            "store_rejects": str(not numbers).lower(),
            "compression": "'none'",
            "hive_partitioning": "false",
            "buffer_size": str(self.buffer),
            "max_line_size": str(LONGEST_ROW),
            "decimal_separator": literal(dialect.decimal),
        }
        # DuckDB reads the name as a pattern.
        name = literal(glob.escape(str(self._path)))
        return f"read_csv({name}, {', '.join(f'{k} = {v}' for k, v in options.items())})"


_BATCH = 256


class Reader(FileCells):
    """A file whose cells are read into arrays."""

    def read(self) -> Contents:
        """Read all columns.

        Raises
        ------
        InputError
            If most rows do not have as many cells as the file has columns.
        NeedsTidyingError
            If DuckDB cannot separate the rows.
        """
        source = self.source
        self._clean, self._cells = _clean(source), dict[int, Cells]()
        self._is_regular = False  # whether DuckDB read all rows strictly
        self._load(source.forms)
        left_out = LeftOut() if self._is_regular else self._left_out()
        rows = len(self._cells[0].values)
        check_rejected(source, left_out, rows)
        contents = self._checked(rows, left_out)
        return dataclasses.replace(contents, cells=[self._cells[k] for k in source.forms])

    def _load(self, forms: Formats) -> None:
        listed = list(forms)
        # Of a typed file each query describes all columns, so that one is fastest.
        size = _BATCH if self.source.typed is None else len(listed)
        for start in range(0, len(listed), size):
            batch = {k: forms[k] for k in listed[start : start + size]}
            self._progress = (start / len(listed), (start + len(batch)) / len(listed))
            found = self._load_strictly(batch)
            self._is_regular |= found is not None
            if not self._is_regular:
                self._refuse_misread()
            self._cells |= found or self._gather(self._select(batch, bare=True), batch)

    def _load_strictly(self, forms: Formats) -> dict[int, Cells] | None:
        """Read the numbers of clean columns with DuckDB only; None if that fails.

        It takes three quarters of the time, but each cell must be a number or empty, and all rows
        must have equally many cells. A row that repeats the names is not one of them, unless these
        look like numbers.
        """
        source, dialect = self.source, self.source.dialect
        written = NumberFormat(dialect.decimal)
        plain = frozenset(k for k, form in forms.items() if k in self._clean and form == written)
        if not plain or source.tidied is not None or source.lookalikes:
            return None
        if not is_cast(written, dialect.number_words):
            return None
        if not (self._is_regular or _names_differ(source, written, plain)):
            self._refuse_misread()
        columns = (
            f"{self._cell(k, None if k in plain else form, bare=True)} AS c{k}"
            for k, form in forms.items()
        )
        sql = f"SELECT {', '.join(columns)} FROM {self._relation(plain)}"
        for k in plain:
            self.numbers[k] = NumberCells(written, dialect.number_words)
        try:
            found = self._gather(sql, forms, plain)
        except (InputError, NeedsTidyingError, NotPlainError):
            return None
        is_exact = all(found[k].largest < LONGEST_INTEGER for k in plain)
        return found if is_exact else None

    def _gather(
        self, sql: str, forms: Formats, plain: frozenset[int] = frozenset()
    ) -> dict[int, Cells]:
        is_number = {k: form is not None for k, form in forms.items()}
        words = self.source.dialect.text_words
        return self._fetch(sql, is_number, self.source.lines, words, plain)

    def _known(self, k: int) -> tuple[int, float, list[float]]:
        return some_numbers(self._cells[k].values)


def _clean(source: Source) -> frozenset[int]:
    """Return the columns whose cells in the sample are all numbers or empty."""
    numbers = {k: form for k, form in source.forms.items() if form}
    return frozenset(
        k for k, form in numbers.items() if form.matches_all(filter(None, source.sample.columns[k]))
    )


def _names_differ(source: Source, form: NumberFormat, numbers: Iterable[int]) -> bool:
    """Return whether a repeated row of names would not be a row of numbers in some columns."""
    names = source.header
    if not names or len(names) != len(source.names):
        return True
    bare = (names[k].strip(BLANKS) for k in numbers)
    return any(name and not form.matches(name) for name in bare)
