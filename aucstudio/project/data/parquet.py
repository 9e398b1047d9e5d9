"""Describe the columns of Parquet files, which DuckDB reads."""

from __future__ import annotations

import dataclasses
import glob
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aucstudio.project import scratch
from aucstudio.project.data.cells import CellStore, unreadable_kinds
from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.input_files import CLOSED, for_duckdb, literal, quoted
from aucstudio.project.data.readers.conversion import spell
from aucstudio.project.data.readers.formats import NAMES, Plain
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.column_types import forced_form, guess_form
from aucstudio.project.data.text.contents import (
    MAX_REJECTED,
    Formats,
    LeftOut,
    Rejected,
    Source,
    Tidied,
)
from aucstudio.project.data.text.dialect import Dialect, TextSample, unique_names
from aucstudio.project.data.text.footer import LAST, TableRow, mark_footer
from aucstudio.project.data.text.import_notices import about_encoded_twice, about_entities
from aucstudio.project.data.text.numerals import BLANKS, NumberFormat
from aucstudio.project.data.text.rows import AGAIN, have_totals
from aucstudio.project.data.text.scan import Advance
from aucstudio.project.data.typed_columns import (
    LONG_INTEGER,
    TypedColumns,
    is_typed,
    layout_of,
)
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
    called, paths, reads, hours = list[str](), list[str](), list[str](), list[int]()
    names = _names(connection, file, relation.columns)
    given = _metadata(connection, file, NAMES)
    if not isinstance(given, list) or len(given) != len(names):
        given = names
    for column, name, shown, kind in zip(
        relation.columns, names, given, relation.types, strict=True
    ):
        for inside, inner in _inside((), kind):
            cell = ".".join(map(quoted, (column, *inside)))
            per_hour = _HOUR * lasting.get(name, 0) if str(inner) == "BIGINT" else 0
            read = f"epoch({cell}) / {_HOUR}" if str(inner) == "INTERVAL" else cell
            read = f"{cell} / {per_hour}" if per_hour else read
            hours += [len(reads)] if read != cell else []
            called.append(".".join((str(shown), *inside)))
            paths.append(".".join((name, *inside)))
            reads.append(read)
    names, remarks = unique_names(called)
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
    about = _metadata(connection, file, "pandas")
    try:
        columns = [] if about is None else about["columns"]
        kinds = {str(c["field_name"]): _LASTING.fullmatch(str(c["numpy_type"])) for c in columns}
    except (KeyError, TypeError):
        return {}  # not written by pandas
    return {name: _PER_SECOND[unit[1]] for name, unit in kinds.items() if unit}


def _metadata(connection: duckdb.DuckDBPyConnection, file: str, key: str) -> Any:
    """Return the JSON value of a key in the metadata of a file; None if absent or invalid."""
    query = f"SELECT value FROM parquet_kv_metadata({file}) WHERE key = {literal(key)}::BLOB"
    row = connection.execute(query).fetchone()
    try:
        return None if row is None else json.loads(bytes(row[0]))
    except ValueError:
        return None


# Rows by which texts are classified, and most cells of these.
_SAMPLE_ROWS, _SAMPLE_CELLS = 1_000, 1_000_000
_ROWS_AT_ONCE = 1_000
_LOOKED_AT, _WHOLE = 1000, NumberFormat()
_NESTED = re.compile(r"\[.*\]|\{.*\}", re.S)


class _ParquetFile(CellStore):
    """A Parquet file, opened to describe its columns."""

    def __init__(
        self, path: Path, folder: Path, report: Advance, rows: int, *, texts_declared: bool
    ) -> None:
        super().__init__(path, folder, report)
        file = literal(glob.escape(str(for_duckdb(path, folder))))
        fields, self.remarks = self._run(lambda: one_level(self._connection, file))
        listed = ", ".join(f"{field.read} AS c{k}" for k, field in enumerate(fields))
        source = f"read_parquet({file}, file_row_number = true, hive_partitioning = false)"
        limit = f"LIMIT {rows}" if rows else ""
        relation = f"(SELECT file_row_number AS place, {listed} FROM {source} {limit})"
        described = self._all(f"SELECT column_type FROM (DESCRIBE SELECT * FROM {relation})")
        types = tuple(str(kind) for (kind,) in described[1:])
        self.names = [field.name for field in fields]
        paths = tuple(field.path for field in fields)
        self.columns = TypedColumns(
            *(self._connection, file, paths, relation, types, texts_declared)
        )
        self.height = int(self._one(f"SELECT count(*) FROM {relation}")[0])

    def long_integers(self, columns: Iterable[int]) -> list[int]:
        """Return the columns of whole numbers that are not exact as doubles."""
        asked = {}
        for k in columns:
            if LONG_INTEGER.fullmatch(kind := self.columns.types[k]):
                exact = f"try_cast(c{k}::DOUBLE AS {kind})"
                asked[k] = f"coalesce(bool_or({exact} IS DISTINCT FROM c{k}), false)"
        if not asked:
            return []
        answers = self._one(f"SELECT {', '.join(asked.values())} FROM {self.columns.relation}")
        return [k for k, answer in zip(asked, answers, strict=True) if answer]

    def sample(self, columns: Sequence[int]) -> dict[int, list[str]]:
        """Return the texts of some columns in the first rows, stripped."""
        if not columns:
            return {}
        rows = min(_SAMPLE_ROWS, max(1, _SAMPLE_CELLS // len(columns)))
        # Thousands of expressions of text would take seconds: typed cells are spelled here.
        texts = ", ".join(map(self._spelled, columns))
        found = self._all(f"SELECT {texts} FROM {self.columns.relation} LIMIT {rows}")
        cells = ([spell(cell).strip(BLANKS) for cell in some] for some in zip(*found, strict=True))
        return dict(zip(columns, cells, strict=True))

    def leave_out(self, totals: bool | None) -> tuple[bool, LeftOut]:
        """Leave out rows that repeat the names, and totals and remarks at the end.

        Parameters
        ----------
        totals : bool or None
            Whether totals and remarks are left out; None if the last rows decide.

        Returns
        -------
        bool
            Whether totals and remarks are left out.
        LeftOut
        """
        if all(map(is_typed, self.columns.types)):
            return bool(totals), LeftOut()  # there are no words
        start = self.height - LAST
        where = f"WHERE place >= {start}"
        if not any(map(is_typed, self.columns.types)):
            first = f"trim({self.columns.text(0)}, {literal(BLANKS)})"
            where += f" OR {first} = {literal(self.names[0])}"
        known = [row for row in self._rows(where) if row.reason or row.line > start]
        last = [row for row in known if row.line > start]
        if totals is None:
            totals = have_totals(mark_footer(iter(last)))
        reasons = {row.line: row.reason for row in known}
        if totals:
            marked = mark_footer(self._rows())
            reasons |= {row.line: row.reason for row in marked if row.reason}
        listed = [Rejected(row, reasons[row], row) for row in sorted(reasons) if reasons[row]]
        numbers = [one.row for one in listed]
        if numbers:
            places = ", ".join(str(number - 1) for number in numbers)
            relation = f"(FROM {self.columns.relation} WHERE place NOT IN ({places}))"
            self.columns = dataclasses.replace(self.columns, relation=relation)
            self.height -= len(numbers)
        return totals, LeftOut(listed[:MAX_REJECTED], np.array(numbers, dtype=np.int64))

    def _spelled(self, k: int) -> str:
        """Return the expression of a cell of which :func:`spell` makes the text."""
        return f"c{k}" if is_typed(self.columns.types[k]) else self.columns.text(k)

    def _rows(self, where: str = "") -> Iterator[TableRow]:
        """Yield rows as texts, marked if they repeat the names; ``line`` is the number of a row."""
        cells = ", ".join(map(self._spelled, range(len(self.names))))
        sql = f"SELECT place, {cells} FROM {self.columns.relation} {where}"
        found = self._connection.execute(sql)
        while some := found.fetchmany(_ROWS_AT_ONCE):
            self._report_share((some[-1][0] + 1) / self.height)
            for place, *row in some:
                texts = [*map(spell, row)]
                is_header = [text.strip(BLANKS) for text in texts] == self.names
                yield TableRow(place + 1, texts, AGAIN if is_header else "")


def open_typed(
    plain: Plain, folder: Path, progress: Callable[[float, str], None], schema: Schema | None
) -> Source:
    """Describe the columns of a Parquet file, which are read like those of a text file.

    Columns of numbers are numbers, unless whole numbers are too long for a double. If the file does
    not declare all its texts as text, they are classified like those of a text file, whole numbers
    may be dates such as 20240131, and totals, remarks and repeated names are left out.

    Raises
    ------
    InputError
        If the file cannot be read, or has fewer than two columns or no row.
    """
    path, given, texts_declared = plain.path, plain.given, plain.texts is None
    known = {} if schema is None else {c.name: c for c in schema.columns if c.kind}
    later = Dialect() if schema is None or schema.dialect is None else schema.dialect
    missing = tuple(map(str.lower, given.get("missing", later.missing)))

    def report(share: float) -> None:
        progress(share, "looking at the file")

    file = _ParquetFile(path, folder, report, plain.rows, texts_declared=texts_declared)
    totals, left_out = False, LeftOut()
    if not texts_declared:
        known_totals = None if schema is None else later.totals
        totals, left_out = file.leave_out(given.get("totals", known_totals))
    names, columns, remarks = file.names, file.columns, file.remarks
    if (len(names) < 2 and schema is None) or not file.height:
        what = "only one column" if file.height else "no rows"
        raise input_error("table_too_small", file=path, what=what)
    strict, limits = bool(given.get("strict")), given.get("limits", later.limits)
    dialect = Dialect(missing=missing, strict=strict, totals=totals, limits=limits)
    forms, spelled, codes = _forms(file, known, plain.kinds, dialect)
    cells_of = [spelled.get(k, itertools.repeat("")) for k in forms]
    body = [[*row] for row in zip(*cells_of, strict=False)] if spelled else []
    remarks += [found("format_long_integers", names[k]) for k in codes]
    if schema is None:
        zoned = [k for k, kind in enumerate(columns.types) if kind == "TIMESTAMP WITH TIME ZONE"]
        remarks += [found("format_zones", names[k]) for k in zoned]
        remarks += [*about_encoded_twice([names, *body]), *about_entities(body)]
    return Source(
        path=path,
        shown=path,
        dialect=dialect,
        names=names,
        sample=TextSample(names, body, len(names)),
        forms=forms,
        fixed=frozenset(k for k, form in forms.items() if form and k not in spelled),
        lines=file.height,
        lookalikes=True,
        header=(),
        is_small=False,
        findings=tuple(remarks),
        tidied=Tidied(path, left_out),
        typed=dataclasses.replace(columns, spelled=frozenset(spelled)),
    )


def _forms(
    file: _ParquetFile,
    known: Mapping[str, ColumnSchema],
    kinds: Mapping[str, str],
    dialect: Dialect,
) -> tuple[Formats, dict[int, list[str]], list[int]]:
    """Return the formats of the columns.

    Returns also the first texts of columns that are classified by their texts, and the columns of
    whole numbers that are too long for a double.
    """
    names, columns = file.names, file.columns
    forms = {k: _form(known.get(names[k]), kind) for k, kind in enumerate(columns.types)}
    new = [k for k, name in enumerate(names) if name not in known]
    codes = file.long_integers(new)
    forms |= dict.fromkeys(codes)
    declared = {k: kinds.get(names[k], "") for k in new if k not in codes}
    sample = file.sample([k for k, kind in declared.items() if columns.is_free(k, kind)])
    guessed = {k: _guess(cells, forms[k], declared[k], dialect) for k, cells in sample.items()}
    spelled = {k: sample[k] for k, form in guessed.items() if form is None or form != forms[k]}
    limited = {
        k: form and form.with_limits(dialect.limits) for k, form in (forms | guessed).items()
    }
    return limited, spelled, codes


def _form(known: ColumnSchema | None, kind: str) -> NumberFormat | None:
    """Return the format of a column in a schema, or of its type; None for text."""
    if known is not None:
        return (known.number or NumberFormat()) if known.kind == "number" else None
    return NumberFormat(layout=layout_of(kind)) if is_typed(kind) else None


def _guess(
    cells: list[str], form: NumberFormat | None, declared: str, dialect: Dialect
) -> NumberFormat | None:
    """Return the format of the texts of a column; numbers can only be dates instead."""
    if form is not None and len(next(filter(None, cells), "")) not in dates.DIGITS:
        return form
    guessed = guess_form(cells, dialect.decimal, dialect.number_words)
    if form is not None:
        return guessed if guessed and guessed.layout else form
    if guessed is None and declared == "number":
        return forced_form(cells, dialect.decimal)
    return guessed


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


def count_cells(path: Path) -> int:
    """Return the number of cells of a Parquet file; 0 if it cannot be read."""
    return _total(path, "num_values", "parquet_metadata")


def count_rows(path: Path) -> int:
    """Return the number of rows of a Parquet file; 0 if it cannot be read."""
    return _total(path, "num_rows", "parquet_file_metadata")


def _total(path: Path, field: str, function: str) -> int:
    import duckdb

    try:
        with scratch.folder() as folder, duckdb.connect(config=CLOSED) as connection:
            name = literal(glob.escape(str(for_duckdb(path, folder))))
            sql = f"SELECT coalesce(sum({field}), 0) FROM {function}({name})"
            ((total,),) = connection.execute(sql).fetchall()
    except unreadable_kinds():
        return 0
    return int(total)
