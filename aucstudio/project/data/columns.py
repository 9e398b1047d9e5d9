"""A column of a table."""

from __future__ import annotations

import collections
import dataclasses
import functools
import math
import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array
from aucstudio.project.data.finding import phrase
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.numerals import NumberFormat

ROLES = ("number", "category", "label", "group", "id", "weight", "frequency", "ignore")
# The roles of a column that weighs the rows, and the kind of its weights.
WEIGHT_ROLES = {"weight": "sampling", "frequency": "frequency"}
NUMERIC_ROLES = ("number", *WEIGHT_ROLES)
KINDS = ("number", "text")
# The levels of columns with more different texts are not listed.
MOST_LEVELS = 300

# Texts that are counted, or cells that are examined, at a time, and before all are.
_WINDOW, _HEAD = 100_000, 2_000
# Columns that are counted at once: NumPy releases the interpreter, and each takes memory.
_MOST_AT_ONCE = 4
# Random odd numbers that hash numbers, and the numbers that are hashed at a time.
_MULTIPLIERS = np.uint64(0x9E3779B97F4A7C15) ** np.arange(1, 4, dtype=np.uint64)
_HASHED = 1 << 16
# Most decimal places, and most possible decimals for each number, of a table of all of them.
_MOST_PLACES, _UNITS_EACH = 6, 16


class Count:
    """The number of distinct values in cells, excluding missing ones.

    Parameters
    ----------
    total : int, optional
        The count, if it is known.
    cells : ndarray of float64, optional
        Cells to count at the first access; 0 and -0 are one number.
    """

    def __init__(self, total: int | None = None, cells: Array | None = None) -> None:
        self._total, self._cells = total, cells

    @property
    def takes_long(self) -> bool:
        """Whether counting is still to be done, and takes long."""
        return self._cells is not None and len(self._cells) > _HEAD

    @property
    def total(self) -> int:
        """The count."""
        # Another thread may be counting.
        if (cells := self._cells) is not None:
            self._total = _different(cells)
            self._cells = None
        assert self._total is not None
        return self._total

    def exceeds(self, most: int) -> bool:
        """Return whether there are more than ``most`` values; the first cells often decide."""
        cells = self._cells if self.takes_long else None
        return (cells is not None and _different(cells[:_HEAD]) > most) or self.total > most


def count_all(
    counts: Iterable[Count], report: Callable[[float], Any] = lambda _share: None
) -> None:
    """Count what takes long and is not counted yet, several columns at once.

    Parameters
    ----------
    counts : iterable of Count
    report : callable
        Receives the share done; may raise to stop.
    """
    left = [count for count in counts if count.takes_long]
    with ThreadPoolExecutor(min(_MOST_AT_ONCE, os.cpu_count() or 1)) as pool:
        for n, _ in enumerate(pool.map(lambda count: count.total, left), 1):
            report(n / len(left))


def _different(values: Array) -> int:
    """Count different numbers."""
    if len(values) and np.isnan(values.min()):
        values = values[~np.isnan(values)]
    counted = _different_decimals(values) if len(values) > _HASHED else None
    return _different_hashes(values) if counted is None else counted


def _pieces(cells: NDArray[Any]) -> list[NDArray[Any]]:
    """Divide cells so that the processor's cache holds a piece."""
    return np.split(cells, range(_HASHED, len(cells), _HASHED))


@np.errstate(over="ignore", invalid="ignore")
def _different_decimals(values: Array) -> int | None:
    """Count decimals of few places, by a table of all that are possible; None if there are more.

    A number that is its nearest whole number of units, divided, stands for that one only.
    """
    scales, head = 10.0 ** np.arange(_MOST_PLACES + 1), values[:_HEAD]
    fitting = (scale for scale in scales if np.array_equal(np.rint(head * scale) / scale, head))
    scale = next(fitting, math.nan)
    low, high = np.rint(values.min() * scale), np.rint(values.max() * scale)
    if not high - low < _UNITS_EACH * len(values):
        return None
    table = np.zeros(int(high - low) + 1, dtype=bool)
    for part in _pieces(values):
        units = np.rint(part * scale)
        if not np.array_equal(units / scale, part):
            return None
        table[(units - low).astype(np.intp)] = True
    return int(np.count_nonzero(table))


def _different_hashes(values: Array) -> int:
    """Count numbers by hashing, which is faster than sorting."""
    # -0 becomes 0. Without the complement, 0 would look like an empty slot.
    keys, count = ~(values + 0.0).view(np.uint64), 0
    for multiplier in _MULTIPLIERS:
        if len(keys) <= _HASHED:
            break
        bits = len(keys).bit_length()
        table = np.zeros(1 << bits, dtype=np.uint64)
        shift = np.uint64(64 - bits)
        parts = [(part, (part * multiplier >> shift).view(np.intp)) for part in _pieces(keys)]
        for part, places in parts:
            table[places] = part
        # Numbers that share a slot with another one are left.
        left = [part[table.take(places, mode="clip") != part] for part, places in parts]
        keys = np.concatenate(left)
        count += int(np.count_nonzero(table))
    keys.sort()
    return count + int(np.count_nonzero(keys[1:] != keys[:-1])) + (len(keys) > 0)


@dataclasses.dataclass(frozen=True, eq=False)
class ColumnInfo:
    """Description of a column, without its cells.

    Attributes
    ----------
    name : str
    role : {"number", "category", "label", "group", "id", "weight", "frequency", "ignore"}
    kind : {"number", "text"}
        Type of the cells, independent of their role.
    missing : int
        Number of missing cells.
    different : Count
        Number of distinct values.
    why : str
        Code of the notice that explains a detected role; empty if there is nothing to explain.
    number : NumberFormat or None
        How its numbers are written in the file; None for text, and for typed files.
    guessed : bool
        Whether its role was detected.
    absent : tuple of float
        Number codes of missing values; handled in preprocessing, the cells are unchanged.
    same : tuple of tuples of str
        Levels to merge, named by the first of them; likewise.
    parts : tuple of str
        Parts of a date column that are used in its place, see
        :mod:`~aucstudio.project.data.text.dates`; empty to use dates as numbers. Likewise.
    sparse : bool
        Whether only the cells that are not zero are stored.
    """

    sparse: ClassVar[bool] = False

    name: str
    role: str
    kind: str
    missing: int = 0
    different: Count = dataclasses.field(default_factory=lambda: Count(0))
    why: str = ""
    number: NumberFormat | None = None
    guessed: bool = True
    absent: tuple[float, ...] = ()
    same: tuple[tuple[str, ...], ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def distinct(self) -> int:
        """Number of distinct values, missing ones not counted; counted at the first access."""
        return self.different.total

    @property
    def reason(self) -> str:
        """The sentence that explains a detected role."""
        return phrase(self.why, column=self.name, distinct=self.distinct) if self.why else ""

    @property
    def identifies(self) -> bool:
        """Whether it names the rows: as chosen, or as it looks like an identifier."""
        return self.role == "id" or self.why == "ignored_identifier"

    @property
    def is_date(self) -> bool:
        """Whether the column holds dates or times of day."""
        return bool(self.layout)

    @property
    def layout(self) -> str:
        """How its dates are written; empty without dates."""
        return "" if self.number is None else self.number.dated


Info = TypeVar("Info", bound=ColumnInfo)


def is_sparse(columns: Sequence[ColumnInfo]) -> bool:
    """Return whether some columns are sparse."""
    return any(column.sparse for column in columns)


def fields_of(thing: Any, kind: type[Any]) -> dict[str, Any]:
    """Return the values of the fields that an object has as a dataclass of a kind."""
    return {field.name: getattr(thing, field.name) for field in dataclasses.fields(kind)}


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Column(ColumnInfo):
    """One column with its cells.

    Attributes
    ----------
    values : ndarray of shape (rows,)
        float64 with NaN for missing cells, or object array of str with None for missing cells.
    """

    values: NDArray[Any]

    @property
    def height(self) -> int:
        """Rows."""
        return len(self.values)

    def at(self, row: int) -> Any:
        """Return one cell."""
        return self.values[row]

    def part(self, rows: slice) -> Column:
        """Return the column in some rows."""
        return self.holding(self.values[rows])

    def beyond(self, low: float, high: float) -> NDArray[np.intp]:
        """Return the rows whose number is beyond limits, in order."""
        return np.flatnonzero((self.values < low) | (self.values > high))

    def holding(self, values: NDArray[Any]) -> Column:
        """Return the column with other cells."""
        return dataclasses.replace(self, values=values)

    @classmethod
    def of_cells(
        cls,
        name: str,
        values: NDArray[Any],
        missing: int | None = None,
        distinct: int | None = None,
        number: NumberFormat | None = None,
        counts: dict[Any, int] | None = None,
    ) -> Column:
        """Return a column of cells with the default role of its kind; count what is not given."""
        is_text = values.dtype == object
        if is_text and distinct is None:
            counted = collections.Counter(values.tolist())
            missing, distinct = counted.pop(None, 0), len(counted)
        elif missing is None:
            missing = int(np.count_nonzero(np.isnan(values)))
        made = cls(
            name=name,
            role="category" if is_text else "number",
            kind="text" if is_text else "number",
            missing=missing,
            different=Count(cells=values) if distinct is None else Count(distinct),
            number=number,
            values=values,
        )
        if counts is not None:
            vars(made)["counts"] = counts
        return made

    def known(self) -> NDArray[np.bool_]:
        """Mark the rows whose cell is not missing."""
        if self.kind == "number":
            known: NDArray[np.bool_] = ~np.isnan(self.values)
            return known
        return by_windows(self.values, lambda part: np.not_equal(part, np.array(None)))

    def measured(self) -> NDArray[Any]:
        """Return the cells, with NaN for number codes of missing values."""
        return without(self.values, self.absent)

    def decoded(self) -> Column:
        """Return the column with missing cells in place of number codes of missing values."""
        if not self.absent or self.kind == "text":
            return self
        cells = self.measured()
        missing, different = int(np.isnan(cells).sum()), Count(cells=cells)
        return dataclasses.replace(self.holding(cells), missing=missing, different=different)

    @functools.cached_property
    def counts(self) -> dict[Any, int]:
        """Count the rows of each value, in the order of the values."""
        if self.kind == "number":
            values, counts = np.unique(self.values[self.known()], return_counts=True)
            return dict(zip(values.tolist(), counts.tolist(), strict=True))
        found: collections.Counter[str | None] = collections.Counter()
        # Windows, because one pass over objects in C would hold the GIL throughout.
        for start in range(0, len(self.values), _WINDOW):
            found.update(self.values[start : start + _WINDOW].tolist())
        return {value: found[value] for value in sorted(v for v in found if v is not None)}

    def equals(self, text: str) -> NDArray[np.bool_]:
        """Mark the rows with the value spelled ``text``."""
        wanted: Any = text if self.kind == "text" else _number(text)
        return by_windows(self.values, lambda part: np.equal(part, wanted))

    def is_integer(self) -> bool:
        """Return whether all cells are whole numbers."""
        if self.kind != "number":
            return False
        # Most columns with fractions have some at the beginning.
        parts = (self.values[:_HEAD], self.values[_HEAD:])
        return not any((np.floor(part) < part).any() for part in parts)


def by_windows(values: NDArray[Any], mark: Callable[[NDArray[Any]], Any]) -> NDArray[np.bool_]:
    """Mark cells some at a time: one pass over objects in C would hold the GIL throughout."""
    marks = np.empty(len(values), dtype=bool)
    for start in range(0, len(values), _WINDOW):
        part = slice(start, start + _WINDOW)
        marks[part] = mark(values[part])
    return marks


class ColumnChoices:
    """Settings of columns, by column name."""

    columns: Sequence[Any]

    @functools.cached_property
    def weight(self) -> str | None:
        """Name of the weight column, if any."""
        return next((column.name for column in self.columns if column.role in WEIGHT_ROLES), None)

    @functools.cached_property
    def weight_kind(self) -> str | None:
        """Kind of weights, "sampling" or "frequency"; None without a weight column."""
        found = (WEIGHT_ROLES.get(column.role) for column in self.columns)
        return next((kind for kind in found if kind), None)

    @functools.cached_property
    def feature_reading(self) -> dict[str, tuple[Any, ...]]:
        """How the cells of each feature are read, by name."""
        return {
            column.name: (column.role, column.number, column.absent, column.same, column.parts)
            for column in self.columns
            if column.role in ("number", "category")
        }

    @property
    def absent(self) -> dict[str, tuple[float, ...]]:
        """Number codes of missing values by column."""
        return {column.name: column.absent for column in self.columns if column.absent}

    @property
    def same(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """Merged levels by column."""
        return {column.name: column.same for column in self.columns if column.same}

    @property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """Used date parts by column."""
        return {column.name: column.parts for column in self.columns if column.parts}


def without(cells: NDArray[Any], absent: Sequence[float]) -> NDArray[Any]:
    """Return cells with NaN in place of some numbers; the array itself if there are none."""
    if not absent or cells.dtype == object:
        return cells
    coded = np.isin(cells, absent)
    return np.where(coded, np.nan, cells) if coded.any() else cells


def recast(column: Info, **changes: Any) -> Info:
    """Return a column with a description, the same if nothing changes; counts are kept."""
    if all(getattr(column, name) == value for name, value in changes.items()):
        return column
    made = dataclasses.replace(column, **changes)
    if "counts" in vars(column):
        vars(made)["counts"] = vars(column)["counts"]
    return made


def treated(
    column: Info,
    absent: Mapping[str, tuple[float, ...]],
    same: Mapping[str, tuple[tuple[str, ...], ...]],
    parts: Mapping[str, tuple[str, ...]],
) -> Info:
    """Return a column with its missing codes, merged levels and date parts."""
    numbers = absent.get(column.name, column.absent)
    levels = same.get(column.name, column.same)
    taken = parts.get(column.name, column.parts)
    return recast(column, absent=numbers, same=levels, parts=taken)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")  # equals no number


def cell_texts(column: Column) -> NDArray[np.object_]:
    """Return the cells of a column as texts; missing ones are empty."""
    if column.kind == "text":
        return np.where(column.known(), column.values, "")
    cells = column.values.tolist()
    return np.array([spell_number(c) if c == c else "" for c in cells], dtype=object)


def spell_cell(column: ColumnInfo, value: float) -> str:
    """Format a number of a column: as a date in date columns."""
    return dates.date_text(float(value), column.layout) if column.layout else spell_number(value)


def read_spelled(column: ColumnInfo, text: str) -> float:
    """Read the output of :func:`spell_cell`, or a date in the column's layout; else NaN."""
    text = text.strip()
    for layout in (column.layout, *dates.MONTHLY) if column.layout else ():
        form = NumberFormat(layout=layout)
        if form.matches(text) and math.isfinite(value := form.read(text)):
            return value
    return _number(text)


def free_name(name: str, taken: Container[str], mark: str = "_") -> str:
    """Return a name that is not taken: the same, or with a mark as often as it needs."""
    while name in taken:
        name += mark
    return name


def spell_number(value: float) -> str:
    """Write a number in the shortest form that reads back the same: whole ones without ``.0``."""
    value = float(value)
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)
