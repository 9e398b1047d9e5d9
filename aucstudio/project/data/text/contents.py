"""The content of a delimited file: columns, their formats, and the rows that were left out."""

from __future__ import annotations

import abc
import bisect
import csv
import dataclasses
import functools
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.cells import Cells, is_cast
from aucstudio.project.data.finding import Finding
from aucstudio.project.data.text.column_types import (
    CODE,
    digits_of_codes,
    format_of_most,
    holds_codes,
    stray_of,
    type_of,
)
from aucstudio.project.data.text.dialect import Dialect, TextSample
from aucstudio.project.data.text.numerals import NumberCells, NumberFormat, spelled
from aucstudio.project.errors import input_error

if TYPE_CHECKING:
    from aucstudio.project.data.typed_columns import TypedColumns

Numbers = NDArray[np.int64]
# The format of each column; None for text.
Formats = dict[int, NumberFormat | None]
# By column of numbers, how other cells are spelled, and how often.
Others = dict[int, tuple[tuple[str, int], ...]]

MAX_REJECTED = 100
_SOME = 100_000  # numbers among which representatives are chosen
# The most bytes of rows that are held at a time without DuckDB; from so many columns on, DuckDB
# would have to read a file too often.
MOST_BYTES, WIDE = 1 << 26, 2_500


@dataclasses.dataclass(frozen=True)
class Rejected:
    """A row that was left out.

    Attributes
    ----------
    line : int
        Line of the file in which the row begins, counted from 1; ``row`` if the file has no lines.
    reason : str
    row : int
        Its number among the data rows of the file, counted from 1.
    """

    line: int
    reason: str
    row: int

    @property
    def unit(self) -> str:
        """What ``line`` counts: "line", or "row" in a file without lines."""
        return "row" if self.line == self.row else "line"

    @property
    def where(self) -> str:
        """Name the place of the row: line 17."""
        return f"{self.unit} {self.line}"


@dataclasses.dataclass(frozen=True)
class Unreadable:
    """Cells of a column of numbers that are not numbers; they count as missing.

    Attributes
    ----------
    count : int
    text : str
        The first of them.
    line : int or None
        Line of the file in which its row begins; None if the file has no lines.
    spellings : tuple of pairs of str and int
        The twenty most frequent spellings, and how often each occurs.
    """

    count: int
    text: str
    line: int | None
    spellings: tuple[tuple[str, int], ...] = ()


class NeedsTidyingError(Exception):
    """DuckDB cannot separate the rows of a file, or number them; they must be written again."""


@dataclasses.dataclass(frozen=True, eq=False)
class LeftOut:
    """The rows that were left out, and those that were repaired.

    Attributes
    ----------
    listed : list of Rejected
        The first hundred.
    rows : ndarray of int64
        The numbers of all of them among the data rows, counted from 1, in ascending order.
    repairs : dict of str to pair of int
        By the code of a notice, how many rows had to be repaired, and the line of the first.
    """

    listed: list[Rejected] = dataclasses.field(default_factory=list)
    rows: Numbers = dataclasses.field(default_factory=lambda: np.empty(0, dtype=np.int64))
    repairs: dict[str, tuple[int, int]] = dataclasses.field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.rows)

    def others(self, kept: int) -> Numbers | None:
        """Return the numbers of the rows that were kept; None if all were."""
        if not self.total:
            return None
        is_kept = np.ones(kept + self.total, dtype=bool)
        is_kept[self.rows - 1] = False
        return np.flatnonzero(is_kept) + 1


@dataclasses.dataclass(frozen=True, eq=False)
class Source:
    """A file whose layout is known: a delimited one, or one of typed columns.

    Attributes
    ----------
    path : Path
        The file as plain UTF-8.
    shown : Path
        The file to name in messages.
    dialect : Dialect
    names : list of str
        The names of its columns.
    sample : TextSample
    forms : dict of int to NumberFormat or None
        The formats of the columns in the sample.
    fixed : frozenset of int
        Columns of numbers that stay numbers whatever their cells are: other cells become infinite.
    lines : int
        The number of its lines, or a few more.
    lookalikes : bool
        Whether it may hold :data:`~aucstudio.project.data.cells.LOOKALIKES`.
    header : tuple of str
        The row of names as it is in the file; its repetitions are left out.
    is_small : bool
        Whether the file is read without DuckDB: it has few rows, or very many columns.
    findings : tuple of Finding
    tidied : Tidied or None
        The rows in a form that DuckDB reads, if the file is typed or DuckDB cannot read it.
    typed : TypedColumns or None
        The columns of a typed file, which has no rows of text.
    is_sheet : bool
        Whether its rows are those of a sheet, each one line there.
    """

    path: Path
    shown: Path
    dialect: Dialect
    names: list[str]
    sample: TextSample
    forms: Formats
    fixed: frozenset[int]
    lines: int
    lookalikes: bool
    header: tuple[str, ...]
    is_small: bool
    findings: tuple[Finding, ...]
    tidied: Tidied | None = None
    typed: TypedColumns | None = None
    is_sheet: bool = False

    @functools.cached_property
    def _last_lines(self) -> list[int]:
        """The last line of each row of a sheet; cells may have line breaks."""
        with self.path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            return [rows.line_num for _ in rows]

    def line_of(self, line: int) -> int:
        """Return the number of a line for a message: that of the row in a sheet."""
        return bisect.bisect_left(self._last_lines, line) + 1 if self.is_sheet else line

    def notation(self, form: NumberFormat | None) -> NumberFormat | None:
        """Return how numbers are written in the file; None if they are stored as numbers."""
        is_plain = form is not None and not form.layout
        return None if self.typed and self.typed.texts_declared and is_plain else form


@dataclasses.dataclass(frozen=True)
class Tidied:
    """The file of the rows that DuckDB can read, and the rows that were left out."""

    path: Path
    left_out: LeftOut


@dataclasses.dataclass(frozen=True, eq=False)
class Contents:
    """The content of a delimited file.

    Attributes
    ----------
    rows : int
        The number of rows that were kept.
    forms : dict of int to NumberFormat or None
        The format of each column; None for text.
    strays : dict of int to str
        For text columns that the sample showed as numbers, a cell that is not a number.
    left_out : LeftOut
    others : dict of int to pairs of text and int
        By column of numbers, how other cells are spelled.
    limited : dict of int to (int, str)
        As of a table, by column.
    words : list of str
        Texts in columns of numbers that were read as missing.
    cells : list of Cells
        In the order of the columns; empty if they stay in DuckDB.
    """

    rows: int
    forms: Formats
    strays: dict[int, str]
    left_out: LeftOut
    others: Others = dataclasses.field(default_factory=dict)
    limited: dict[int, tuple[int, str]] = dataclasses.field(default_factory=dict)
    words: list[str] = dataclasses.field(default_factory=list)
    cells: list[Cells] = dataclasses.field(default_factory=list)

    @functools.cached_property
    def row_numbers(self) -> Numbers | None:
        """The numbers of the rows among all data rows, counted from 1; None if all were kept."""
        return self.left_out.others(self.rows)


def cells_instead(cells: int, width: int) -> str:
    """Return the reason for leaving out a row that should have ``width`` cells."""
    return f"{cells} cell{'' if cells == 1 else 's'} instead of {width}"


def check_rejected(source: Source, left_out: LeftOut, rows: int) -> None:
    """Raise InputError if most rows cannot be read, or any row of a file that is read strictly."""
    strict = source.dialect.strict and left_out.total
    if strict or left_out.total > rows:
        first = left_out.listed[0]
        raise input_error(
            "row_refused" if strict else "rows_refused",
            file=source.shown,
            line=first.line,
            reason=first.reason,
            rejected=left_out.total,
            rows=rows + left_out.total,
        )


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
    def _spellings(self, k: int) -> Iterable[str]:
        """Return the stripped texts of a column, each at least once."""

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
        limited: dict[int, tuple[int, str]] = {
            k: (self.numbers[k].beyond, form.limits)
            for k, form in forms.items()
            if form and self.numbers[k].beyond
        }
        words = [word for k, form in forms.items() if form for word in self.numbers[k].absent]
        return Contents(rows, forms, strays, left_out, others, limited, words)

    def _load_changed(self, forms: Formats, again: Formats) -> None:
        """Read columns again whose format has changed, and update ``forms``."""
        changed = {k: form for k, form in again.items() if form != forms[k]}
        if changed:
            self._load(changed)
            forms |= changed

    def _doubtful(self, columns: Iterable[int], forms: Formats) -> dict[int, NumberFormat]:
        """Return the columns of numbers with cells that do not fit their format."""
        numbers = ((k, form) for k in columns if (form := forms[k]))
        return {k: form for k, form in numbers if not form.matches_all(self.numbers[k].others)}

    def _type_of(self, k: int, form: NumberFormat) -> NumberFormat | None:
        """Return the format of most cells; None if the other cells are too many."""
        found = type_of(self._counted(k, form), self.source.dialect.decimal, form)
        found = found and found.with_limits(form.limits)
        return None if self.numbers[k].is_crowded and found == form else found

    def _nearly(self, k: int, form: NumberFormat) -> NumberFormat | None:
        """Return a format if nearly all cells have it."""
        return (
            None if self.numbers[k].is_crowded else format_of_most(self._counted(k, form), [form])
        )

    def _counted(self, k: int, form: NumberFormat) -> dict[str, int]:
        """Count cells by spelling; numbers by a few representatives."""
        count, _, some = self._known(k)
        spellings = [cell for cell in self.source.sample.columns[k] if form.matches(cell)]
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
            length = digits_of_codes(self.source.sample.columns[k], words)
            is_short = length is not None and 0 <= self._known(k)[1] < 10.0 ** (
                length - 1 if length else 300
            )
            known = [c for c in self._spellings(k) if c.lower() not in words] if is_short else []
            if known and holds_codes(known, words):
                found[k] = next(filter(CODE.fullmatch, known), known[0])
        return found


def some_numbers(values: NDArray[np.float64]) -> tuple[int, float, list[float]]:
    """Return the number of finite values, the least, and some of them."""
    some = values[:_SOME][np.isfinite(values[:_SOME])]
    least = float(np.fmin.reduce(values, initial=np.inf))
    return int(np.count_nonzero(np.isfinite(values))), least, np.unique(some).tolist()
