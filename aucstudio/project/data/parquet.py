"""Read Parquet files through DuckDB."""

from __future__ import annotations

import dataclasses
import glob
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from aucstudio.project import scratch
from aucstudio.project.data.cells import Cells, CellStore, text_sql, unreadable_kinds
from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.input_files import CLOSED, fingerprint, for_duckdb, literal, quoted
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.table import Table
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.column_types import guess_form
from aucstudio.project.data.text.contents import Unreadable
from aucstudio.project.data.text.delimited import set_aside
from aucstudio.project.data.text.dialect import Dialect, unique_names
from aucstudio.project.data.text.import_notices import about_missing, about_unreadable
from aucstudio.project.data.text.numerals import NumberFormat
from aucstudio.project.data.text.scan import Advance
from aucstudio.project.errors import input_error

if TYPE_CHECKING:
    import duckdb

# Most levels of nested records that become columns.
_DEEPEST = 4
_HOUR = 3_600
_LASTING = re.compile(r"timedelta64\[(s|ms|us|ns)\]")
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class Field(NamedTuple):
    """A column: name, position in the file, and the expression that reads it."""

    name: str
    path: str
    read: str


def one_level(
    connection: duckdb.DuckDBPyConnection, file: str
) -> tuple[list[Field], list[Finding]]:
    """Find the columns of a file; return them with findings about them.

    Parameters
    ----------
    connection : DuckDBPyConnection
    file : str
        Its name as an SQL literal.
    """
    relation = connection.sql(f"FROM read_parquet({file})")
    lasting = _durations_of_pandas(connection, file)
    paths, reads, hours = list[str](), list[str](), list[int]()
    called = _names(connection, file, relation.columns)
    for column, name, kind in zip(relation.columns, called, relation.types, strict=True):
        for inside, inner in _inside((), kind):
            cell = ".".join(map(quoted, (column, *inside)))
            per_hour = _HOUR * lasting.get(name, 0) if str(inner) == "BIGINT" else 0
            read = f"epoch({cell}) / {_HOUR}" if str(inner) == "INTERVAL" else cell
            read = f"{cell} / {per_hour}" if per_hour else read
            hours += [len(reads)] if read != cell else []
            paths.append(".".join((name, *inside)))
            reads.append(read)
    names, remarks = unique_names(paths)
    remarks += [found("format_hours", names[k]) for k in hours]
    return [Field(*field) for field in zip(names, paths, reads, strict=True)], remarks


def _names(connection: duckdb.DuckDBPyConnection, file: str, given: list[str]) -> list[str]:
    """Return the original names of the columns: DuckDB renames one of x and X."""
    query = f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({file})"
    names, inside = list[str](), 0
    for name, children in connection.execute(query).fetchall()[1:]:
        if not inside:
            names.append(str(name))
        inside = max(0, inside - 1) + children
    return names if len(names) == len(given) else given


def _inside(path: tuple[str, ...], kind: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if kind.id == "struct" and len(path) < _DEEPEST - 1:
        for name, inner in kind.children:
            yield from _inside((*path, str(name)), inner)
    else:
        yield path, kind


def _durations_of_pandas(connection: duckdb.DuckDBPyConnection, file: str) -> dict[str, int]:
    """Return the integer columns that are durations of pandas, with their units per second."""
    query = f"SELECT value FROM parquet_kv_metadata({file}) WHERE key = 'pandas'::BLOB"
    found = connection.execute(query).fetchone()
    try:
        columns = [] if found is None else json.loads(bytes(found[0]))["columns"]
        kinds = {str(c["field_name"]): _LASTING.fullmatch(str(c["numpy_type"])) for c in columns}
    except (ValueError, KeyError, TypeError):
        return {}  # not written by pandas
    return {name: _PER_SECOND[unit[1]] for name, unit in kinds.items() if unit}


_LOOKED_AT, _WHOLE = 1000, NumberFormat()
_NESTED = re.compile(r"\[.*\]|\{.*\}", re.S)
# Types of whole numbers that a double may not represent exactly.
_LONG_INTEGER = re.compile(r"U?(BIGINT|HUGEINT)|DECIMAL\([0-9]+,\s*0\)")
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")


@dataclasses.dataclass(frozen=True)
class ParquetColumns:
    """The columns of a Parquet file.

    Attributes
    ----------
    names : list of str
    numbers : dict of int to bool
        Whether each column holds numbers.
    rows : int
    forms : dict of int to NumberFormat or None
        How dates are written; None for other columns.
    remarks : list of Finding
        About columns that were renamed or converted.
    """

    names: list[str]
    numbers: dict[int, bool]
    rows: int
    forms: dict[int, NumberFormat | None]
    remarks: list[Finding]


class ParquetReader(CellStore):
    """A Parquet file, opened in DuckDB as the view ``cells``; a context manager.

    Numeric columns are numbers, unless they have whole numbers too long for a double. Everything
    else is stripped text, missing if it is empty or one of the words for missing values.

    Parameters
    ----------
    path : Path
    folder, report, memory
        See :class:`CellStore`.
    schema : Schema, optional
        Determines the kinds of the columns, whatever their types.

    Raises
    ------
    InputError
        If it cannot be read, or has fewer than two columns or no row.
    """

    def __init__(
        self,
        path: Path,
        folder: Path,
        report: Advance,
        *,
        memory: int | None = None,
        schema: Schema | None = None,
    ) -> None:
        super().__init__(path, folder, report, place="place", memory=memory)
        self._file = file = literal(glob.escape(str(for_duckdb(path, folder))))
        self._source = f"read_parquet({file}, file_row_number = true, hive_partitioning = false)"
        try:
            self.shape = self._look(self._lay_out(file), schema)
            numbers, rows = self.shape.numbers, self.shape.rows
            if (len(numbers) < 2 and schema is None) or not rows:
                what = "only one column" if rows else "no rows"
                raise input_error("table_too_small", file=path, what=what)
        except BaseException:
            self.close()
            raise

    def _lay_out(self, file: str) -> list[Finding]:
        """Find the columns; return findings about their names."""
        self._fields, remarks = self._run(lambda: one_level(self._connection, file))
        listed = ", ".join(f"{field.read} AS f{k}" for k, field in enumerate(self._fields))
        self._described = self._all(
            "SELECT column_name, column_type "
            f"FROM (DESCRIBE SELECT {listed} FROM read_parquet({file}))"
        )
        self._source = f"(SELECT file_row_number, {listed} FROM {self._source})"
        return remarks

    def _look(self, remarks: list[Finding], schema: Schema | None) -> ParquetColumns:
        """Create the view, and describe its columns."""
        names = [field.name for field in self._fields]
        kinds = [kind for _, kind in self._described]
        forms = _forms(names, kinds, schema)
        known = set() if schema is None else {c.name for c in schema.columns if c.kind is not None}
        for k in self._codes([k for k, name in enumerate(names) if name not in known]):
            forms[k] = None
            remarks.append(found("format_long_integers", names[k]))
        remarks += [
            found("format_zones", name)
            for name, kind in zip(names, kinds, strict=True)
            if kind == "TIMESTAMP WITH TIME ZONE" and schema is None
        ]
        self._expressions = [self._expression(k, kind, forms[k]) for k, kind in enumerate(kinds)]
        self._make_view()
        numbers = {k: form is not None for k, form in forms.items()}
        rows = int(self._one("SELECT count(*) FROM cells")[0])
        dated = {k: form if form and form.layout else None for k, form in forms.items()}
        return ParquetColumns(names, numbers, rows, dated, remarks)

    def _expression(self, k: int, kind: str, form: NumberFormat | None) -> str:
        """Return the expression of a column as numbers or as texts."""
        cell = f"c{k}"
        if form is None:
            return text_sql(_text(cell, kind))
        if _is_number(kind) and not form.layout:
            return f"coalesce({cell}::DOUBLE, 'nan'::DOUBLE)"
        if _layout(kind) and _layout(kind) == form.layout:
            cell = _ZONED.get(kind, "{}").format(cell)
            unit = 3600.0 if form.layout == dates.CLOCK else 86400.0
            as_time = cell if form.layout == dates.CLOCK else f"({cell})::TIMESTAMP"
            return f"coalesce(epoch({as_time}) / {unit}::DOUBLE, 'nan'::DOUBLE)"
        return self.number(_text(cell, kind), k, form)

    def _codes(self, columns: list[int]) -> list[int]:
        """Return the columns of whole numbers that are not exact as doubles."""
        asked = {}
        for k in columns:
            name, kind = quoted(self._described[k][0]), self._described[k][1]
            if _LONG_INTEGER.fullmatch(kind):
                exact = f"try_cast({name}::DOUBLE AS {kind})"
                asked[k] = f"coalesce(bool_or({exact} IS DISTINCT FROM {name}), false)"
        if not asked:
            return []
        answers = self._one(f"SELECT {', '.join(asked.values())} FROM {self._source}")
        return [k for k, answer in zip(asked, answers, strict=True) if answer]

    def doubtful(self) -> frozenset[int]:
        """Return the columns of numbers that may contain infinite values or texts."""
        places = {field.path: k for k, field in enumerate(self._fields)}
        unbounded = (
            f"SELECT DISTINCT path_in_schema FROM parquet_metadata({self._file}) WHERE "
            "coalesce(stats_min_value LIKE '%inf%' OR stats_max_value LIKE '%inf%', true)"
        )
        paths = [str(path) for (path,) in self._all(unbounded)]
        found = {places.get(path, places.get(path.replace(", ", "."), -1)) for path in paths}
        numbers = (k for k, is_number in self.shape.numbers.items() if is_number)
        return frozenset(k for k in numbers if k in found or not _is_number(self._described[k][1]))

    def set_aside(self, columns: Iterable[int]) -> None:
        """Make infinite cells missing in columns of the view ``cells``."""
        for k in columns:
            sql = self._expressions[k]
            self._expressions[k] = f"CASE WHEN isinf({sql}) THEN 'nan'::DOUBLE ELSE {sql} END"
        self._make_view()

    def _make_view(self) -> None:
        # Names of the file must not collide with those in expressions.
        named = ", ".join(f"{quoted(name)} AS c{k}" for k, (name, _) in enumerate(self._described))
        selected = ", ".join(f"{sql} AS c{k}" for k, sql in enumerate(self._expressions))
        source = f"(SELECT file_row_number AS place, {named} FROM {self._source})"
        view = f"SELECT place, {selected} FROM {source}"
        self._run(lambda: self._connection.execute(f"CREATE OR REPLACE VIEW cells AS {view}"))

    def read(self) -> list[Cells]:
        """Read all columns; cells of number columns that are not numbers are infinite."""
        columns = ", ".join(f"c{k}" for k in self.shape.numbers)
        cells = self._fetch(f"SELECT {columns} FROM cells", self.shape.numbers, self.shape.rows)
        return [cells[k] for k in sorted(cells)]

    def first_unreadable(self, counts: Mapping[int, int]) -> dict[str, Unreadable]:
        """Find the first cell that is not a number in each of some columns."""
        found = {}
        for k, count in counts.items():
            row = self._one(f"SELECT min({self.place}) FROM cells WHERE isinf(c{k})")[0]
            text = self._one(
                f"SELECT {_text(*self._described[k])} FROM {self._source} "
                f"WHERE file_row_number = {row}"
            )[0]
            found[self.shape.names[k]] = Unreadable(count, str(text), None)
        return found


def _forms(
    names: list[str], kinds: list[str], schema: Schema | None
) -> dict[int, NumberFormat | None]:
    """Return the number format of each column; None for text."""
    known = {} if schema is None else schema.by_name
    forms: dict[int, NumberFormat | None] = {}
    for k, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        forms[k] = NumberFormat(layout=_layout(kind)) if _is_number(kind) or _layout(kind) else None
        if name in known and known[name].kind is not None:
            is_number = known[name].kind == "number"
            forms[k] = (known[name].number or NumberFormat()) if is_number else None
    return forms


# In UTC, independent of the time zone of this machine.
_ZONED = {"TIMESTAMP WITH TIME ZONE": "{} AT TIME ZONE 'UTC'", "TIME WITH TIME ZONE": "{}::TIME"}


def _text(name: str, kind: str) -> str:
    """Return the expression of a cell as text, with whole numbers without .0."""
    column = quoted(name)
    if _LONG_INTEGER.fullmatch(kind):
        return f"{column}::VARCHAR"
    if not _is_number(kind) or kind.split("(")[0] not in ("FLOAT", "DOUBLE", "DECIMAL"):
        return f"{column}::VARCHAR"
    whole = f"({column} = floor({column}) AND abs({column}) < 1e15)"
    exact = column if kind in ("FLOAT", "DOUBLE") else f"{column}::DOUBLE"
    return f"CASE WHEN {whole} THEN {column}::BIGINT::VARCHAR ELSE {exact}::VARCHAR END"


def _is_number(kind: str) -> bool:
    bare = kind.removeprefix("U")
    return bare.split("(")[0] in _NUMBERS


def _layout(kind: str) -> str:
    """Return the layout in which dates and times of a type are written; empty for other types."""
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return dates.ISO
    return dates.CLOCK if kind.split(" ")[0] == "TIME" else ""


def read_parquet(
    path: Path, report: Callable[[float, str], None], schema: Schema | None = None
) -> Table:
    """Read a Parquet file as a table without roles; a ``schema`` determines what the cells are.

    Raises
    ------
    InputError
        If the file cannot be read as a table of at least two columns and one row.
    """
    sha256 = fingerprint(path, lambda part: report(0.2 * part, "looking at the file"))
    with (
        scratch.folder() as folder,
        ParquetReader(
            path, folder, lambda part: report(0.2 + 0.8 * part, "reading"), schema=schema
        ) as reader,
    ):
        columns, remarks = _columns(reader.shape, reader.read()), reader.shape.remarks
        unreadable = reader.first_unreadable(set_aside(columns))
    remarks += [*about_missing(columns), *about_unreadable(unreadable)]
    if schema is None:
        remarks += about_texts(columns)
    return typed_table(path, "parquet", sha256, columns, remarks, unreadable)


def typed_table(
    path: Path,
    form: str,
    sha256: str,
    columns: Sequence[Column],
    remarks: Iterable[Finding],
    unreadable: Mapping[str, Unreadable],
) -> Table:
    """Make a table without roles of the columns of a typed file, which has no dialect."""
    return Table(
        path=path,
        format=form,
        dialect=Dialect(),
        sha256=sha256,
        columns=tuple(columns),
        remarks=tuple(remarks),
        unreadable=dict(unreadable),
    )


def about_texts(columns: Iterable[Column]) -> Iterator[Finding]:
    """Report text columns whose cells would be read as numbers or dates in a text file."""
    for column in columns:
        if column.kind != "text" or not column.distinct:
            continue
        some = {str(cell) for cell in column.values[column.known()][:_LOOKED_AT].tolist()}
        form = guess_form(some, ".")
        if form is not None and not (form == _WHOLE and all(map(str.isdigit, some))):
            what = "dates" if form.dated else "numbers"
            yield found("format_stored_as_text", column.name, what=what)
        elif all(map(_NESTED.fullmatch, some)):
            yield found("format_nested", column.name)


def _columns(shape: ParquetColumns, cells: list[Cells]) -> list[Column]:
    return [
        Column.of_cells(name, cells[k].values, cells[k].missing, cells[k].distinct, shape.forms[k])
        for k, name in enumerate(shape.names)
    ]


def count_cells(path: Path) -> int:
    """Return the number of cells of a Parquet file; 0 if it cannot be read."""
    import duckdb

    try:
        with scratch.folder() as folder, duckdb.connect(config=CLOSED) as connection:
            name = literal(glob.escape(str(for_duckdb(path, folder))))
            sql = f"SELECT coalesce(sum(num_values), 0) FROM parquet_metadata({name})"
            ((cells,),) = connection.execute(sql).fetchall()
    except OSError:
        return 0
    except unreadable_kinds():
        return 0
    return int(cells)
