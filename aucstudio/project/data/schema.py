"""Schema of a table, by which later files are read.

The meaning of a row of a later file depends on the schema and on that row only: kinds, number
formats and names are not detected again.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array
from aucstudio.project import typed
from aucstudio.project.data.columns import KINDS, ROLES, ColumnChoices
from aucstudio.project.data.labels import LabelRule
from aucstudio.project.data.text.dates import PARTS
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import NumberFormat
from aucstudio.project.errors import input_error

# Most rows that quantiles are taken of, evenly spaced.
SAMPLE_ROWS = 4096


@dataclasses.dataclass(frozen=True)
class ColumnRange:
    """Range of the numbers of a column.

    Attributes
    ----------
    low, high : float
        Minimum and maximum over all rows.
    lower, middle, upper : float
        Quantiles of 5, 50 and 95 %, of :data:`SAMPLE_ROWS` rows at most.
    fractional : float
        Share of these rows with a fraction.
    """

    low: float
    high: float
    lower: float
    middle: float
    upper: float
    fractional: float

    @classmethod
    def of(cls, sample: Array, low: float, high: float) -> ColumnRange | None:
        """Return the range of a column from a sample of cells; None if all are missing.

        Parameters
        ----------
        sample : ndarray of float
            NaN where missing.
        low, high : float
            Minimum and maximum of the whole column.
        """
        cells = sample[np.isfinite(sample)]
        cells.sort()
        if not len(cells):
            return None
        lower, middle, upper = cells[[round(q * (len(cells) - 1)) for q in (0.05, 0.5, 0.95)]]
        fractional = float(np.count_nonzero(cells != np.floor(cells)) / len(cells))
        return cls(low, high, float(lower), float(middle), float(upper), fractional)


def sample_rows(rows: int) -> NDArray[np.intp]:
    """Return the evenly spaced rows for quantiles."""
    return np.unique(np.linspace(0, rows - 1, min(rows, SAMPLE_ROWS)).astype(np.intp))


@dataclasses.dataclass(frozen=True)
class ColumnSchema:
    """Content and role of a column.

    Attributes
    ----------
    name : str
    role : {"number", "category", "label", "group", "id", "weight", "frequency", "ignore"}
    kind : {"number", "text"} or None
        None if it is not known and must be detected.
    number : NumberFormat or None
        How its numbers are written in a text file; None for text, or if not known.
    levels : tuple of str or None
        Its distinct texts, or the classes of a label; None if there are many.
    missing : int
        Number of missing cells.
    guessed : bool
        Whether its role was detected.
    absent : tuple of float
        Number codes of missing values.
    same : tuple of tuples of str
        Levels to merge, named by the first of them.
    rule : LabelRule or None
        For the label, how its values become classes, unless each value is a class.
    parts : tuple of str
        For a date column, the parts used in its place.
    range : ColumnRange or None
        For a number column, its range; None for dates and sparse tables.
    unreadable : int
        Number of cells of a number column that could not be read.
    latest : float or None
        For a column of dates that is a number, the latest one.
    """

    name: str
    role: str = "ignore"
    kind: str | None = None
    number: NumberFormat | None = None
    levels: tuple[str, ...] | None = None
    missing: int = 0
    guessed: bool = True
    absent: tuple[float, ...] = ()
    same: tuple[tuple[str, ...], ...] = ()
    rule: LabelRule | None = None
    parts: tuple[str, ...] = ()
    range: ColumnRange | None = None
    unreadable: int = 0
    latest: float | None = None


@dataclasses.dataclass(frozen=True)
class Schema(ColumnChoices):
    """Schema of a table, as its first import found it.

    Attributes
    ----------
    columns : tuple of ColumnSchema
    sha256 : str
        Of the bytes of the file; empty if no file is known.
    format : str
        Key of one of the formats in :mod:`~aucstudio.project.data.readers.formats`.
    dialect : Dialect or None
        Layout of the text file; None if not known.
    chosen : tuple of str
        The parts of the dialect that the user set.
    rows : int
    """

    columns: tuple[ColumnSchema, ...]
    sha256: str = ""
    format: str = "csv"
    dialect: Dialect | None = None
    chosen: tuple[str, ...] = ()
    rows: int = 0

    @functools.cached_property
    def by_name(self) -> dict[str, ColumnSchema]:
        """The columns by their names."""
        return {column.name: column for column in self.columns}

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @functools.cached_property
    def roles(self) -> tuple[tuple[str, str], ...]:
        """Name and role of every column."""
        return tuple((column.name, column.role) for column in self.columns)

    @property
    def layouts(self) -> dict[str, str]:
        """Layouts of date columns, by name."""
        return {c.name: c.number.dated for c in self.columns if c.number and c.number.dated}

    @property
    def label(self) -> str | None:
        """Name of the label column, if any."""
        return next((column.name for column in self.columns if column.role == "label"), None)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Names of the identifier columns."""
        return self.having("id")

    def having(self, role: str) -> tuple[str, ...]:
        """Name the columns of a role."""
        return tuple(column.name for column in self.columns if column.role == role)

    @property
    def rule(self) -> LabelRule:
        """How the values of the label become classes."""
        return next((c.rule for c in self.columns if c.role == "label" and c.rule), LabelRule())

    def reading(self) -> dict[str, Any]:
        """Return what determines the cells read from the bytes of the file, as plain data."""
        dialect = None if self.dialect is None else self.dialect.as_json()
        numbers = {c.name: bare(c.number) for c in self.columns if c.kind == "number"}
        return {"format": self.format, "dialect": dialect, "numbers": numbers}

    def as_json(self) -> dict[str, Any]:
        """Return the schema as plain data, without defaults."""
        columns = [bare(column) for column in self.columns]
        return {**bare(dataclasses.replace(self, columns=())), "columns": columns}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Schema:
        """Restore a schema from :meth:`as_json`.

        Raises
        ------
        InputError
            If it is not a valid schema; the message names the place.
        """
        try:
            schema = typed.convert(document, cls)
        except msgspec.ValidationError as error:
            raise input_error("schema_damaged", what=error) from error
        # The formats import this module.
        from aucstudio.project.data.readers.formats import FORMATS

        if schema.format not in {known.key for known in FORMATS}:
            raise input_error("schema_format", format=schema.format)
        if schema.dialect is not None:
            schema.dialect.check()
        for column in schema.columns:
            if column.role not in ROLES or column.kind not in (None, *KINDS):
                raise input_error(
                    "schema_role", column=column.name, role=column.role, kind=column.kind
                )
            if not set(column.parts) <= set(PARTS):
                raise input_error("schema_parts", column=column.name, parts=", ".join(column.parts))
        if len(schema.by_name) < len(schema.columns):
            raise input_error("schema_damaged", what="a name occurs twice")
        return schema


@dataclasses.dataclass(frozen=True)
class ScoreFile:
    """A file with a score for each row of a table.

    Attributes
    ----------
    path : str
    sha256 : str
        Of the bytes of the file.
    key : str
        Its column that identifies rows.
    column : str
        Its score column.
    identifier : str
        The column of the table that identifies rows.
    name : str
        Name of the score column in the table.
    """

    path: str
    sha256: str
    key: str
    column: str
    identifier: str
    name: str

    def identity(self) -> dict[str, str]:
        """Return what determines the scores, without the location of the file."""
        return {n: v for n, v in dataclasses.asdict(self).items() if n != "path"}


def bare(value: Any) -> Any:
    """Return a dataclass as plain data, without fields that have their default."""
    if isinstance(value, tuple):
        return [bare(item) for item in value]
    if isinstance(value, Mapping):
        return {name: bare(item) for name, item in value.items()}
    kind: Any = type(value)
    defaults = _defaults(kind)
    if defaults is None:
        return value
    held = ((name, getattr(value, name), default) for name, default in defaults)
    return {name: bare(found) for name, found, default in held if found != default}


@functools.cache
def _defaults(kind: Any) -> tuple[tuple[str, Any], ...] | None:
    """Return the fields of a dataclass with their defaults; None for anything else."""
    if not dataclasses.is_dataclass(kind):
        return None
    return tuple(
        (f.name, f.default if f.default_factory is dataclasses.MISSING else f.default_factory())
        for f in dataclasses.fields(kind)
    )
