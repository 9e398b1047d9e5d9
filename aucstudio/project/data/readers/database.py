"""Tables of SQLite and DuckDB databases, read-only.

A database contains statements: views, generated columns, macros. They can use the memory and time
of the process that reads them, and no other file.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from aucstudio.notices.words import bytes_words
from aucstudio.project.data.finding import found
from aucstudio.project.data.input_files import LONGEST_CELL, duckdb_on, literal, quoted
from aucstudio.project.data.readers.columnar import (
    refuse_long_texts,
    type_of_cells,
    write_columns,
)
from aucstudio.project.data.readers.conversion import (
    WIDE,
    about_parts,
    brief,
    first_parts,
    pick_part,
    typed_rows,
)
from aucstudio.project.data.readers.formats import Advance, ReadOptions, Written
from aucstudio.project.errors import InputError, input_error

_ROWS_AT_ONCE = 20_000
_TYPES = {"integer": int, "real": float, "text": str, "blob": bytes}
# Tables of programs and frameworks.
_ACCOUNTS = re.compile(
    "(django|auth|alembic|flyway|knex|gpkg|rtree)_|.*schema_migrations|spatial_ref_sys|layer_styles"
)


def write_sqlite(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    if path.suffix.lower() == ".aucproj":
        raise input_error("project_as_table", file=path)
    connection = _open_sqlite(path)
    try:
        return _copy_sqlite(connection, path, target, options, report)
    except sqlite3.DataError as error:
        if "too big" not in str(error):
            raise
        raise input_error(
            "cell_too_long", file=path, setting="sheet", size=bytes_words(LONGEST_CELL)
        ) from error
    finally:
        connection.close()


def _open_sqlite(path: Path) -> sqlite3.Connection:
    name = f"file:{quote(str(path.absolute()))}?mode=ro"
    # The second address is for folders in which SQLite cannot write.
    for address in (name, f"{name}&immutable=1"):
        connection = sqlite3.connect(address, uri=True)
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_CELL)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.execute("PRAGMA trusted_schema = OFF")
        try:
            connection.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.OperationalError:
            connection.close()
            if address != name:
                raise
        else:
            return connection
    raise AssertionError


def _copy_sqlite(
    connection: sqlite3.Connection, path: Path, target: Path, options: ReadOptions, report: Advance
) -> Written:
    # Shadow tables, for example of a full-text index; unknown to old versions of SQLite.
    try:
        shadows = set(connection.execute("SELECT name FROM pragma_table_list WHERE type='shadow'"))
    except sqlite3.OperationalError:
        shadows = set()
    names = [
        str(name)
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, rowid"
        )
        if (name,) not in shadows
    ]

    def holds_table(name: str) -> bool:
        rows = connection.execute(f"SELECT * FROM {quoted(name)} LIMIT 1")
        return len(rows.description) > 1 and rows.fetchone() is not None

    def is_aside(name: str) -> bool:
        rows = connection.execute(f"SELECT * FROM {quoted(name)} LIMIT 0")
        return len(rows.description) < WIDE or _ACCOUNTS.match(name) is not None

    table = pick_part(path, "table", names, options, holds_table, is_aside)
    cursor = connection.execute(f"SELECT * FROM {quoted(table)}")
    named = [column[0] for column in cursor.description]
    total, types = _types_of(connection, table, len(named))
    blobs = [k for k, kinds in enumerate(types) if bytes in kinds]

    def parts() -> Iterator[Sequence[Sequence[object]]]:
        done = 0
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            done += len(rows)
            report(done / total)
            yield [*zip(*rows, strict=True)]

    write_columns(target, named, [*map(type_of_cells, types)], parts(), options)
    ignored = first_parts(named[k] for k in sorted(blobs))
    return typed_rows(
        *about_parts("table", table, names),
        *([found("format_bytes", columns=ignored)] if blobs else []),
        roles={named[k]: "ignore" for k in blobs if named.count(named[k]) == 1},
        part=table,
        parts=tuple(names),
    )


def _types_of(
    connection: sqlite3.Connection, table: str, width: int
) -> tuple[int, list[set[type]]]:
    """Return the number of rows, and the types of the values of each column."""
    named = ", ".join(f"c{k}" for k in range(width))
    types = ", ".join(f"group_concat(DISTINCT typeof(c{k}))" for k in range(width))
    (total, *found) = connection.execute(
        f"WITH cells ({named}) AS (SELECT * FROM {quoted(table)}) "
        f"SELECT count(*), {types} FROM cells"
    ).fetchone()
    return total, [
        {_TYPES[one] for one in str(kinds).split(",") if one in _TYPES} for kinds in found
    ]


def write_duckdb(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    import duckdb

    with duckdb_on(target.parent, database=path, read_only=True) as connection:
        listed = connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal "
            "UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal"
        ).fetchall()
        tables = {
            name if schema == "main" else f"{schema}.{name}": f"{quoted(schema)}.{quoted(name)}"
            for schema, name in listed
        }
        outside: list[InputError] = []

        def holds_table(name: str) -> bool:
            try:
                relation = connection.sql(f"SELECT * FROM {tables[name]} LIMIT 1")
                # Cells are not fetched: DuckDB needs more libraries for times with a zone.
                return len(relation.columns) > 1 and len(relation) > 0
            except (duckdb.PermissionException, duckdb.CatalogException) as error:
                outside.append(_reaches_out(path, name, error))
                return False

        def is_narrow(name: str) -> bool:
            return len(connection.sql(f"SELECT * FROM {tables[name]}").columns) < WIDE

        try:
            name = pick_part(path, "table", list(tables), options, holds_table, is_narrow)
        except InputError as error:
            raise (outside[0] if outside else error) from None
        report(0.1)
        try:
            connection.execute(
                f"COPY (SELECT * FROM {tables[name]}) TO {literal(str(target))} (FORMAT parquet)"
            )
        except (duckdb.PermissionException, duckdb.CatalogException) as error:
            raise _reaches_out(path, name, error) from error
    # Macros of the database must not count.
    with duckdb_on(target.parent) as connection:
        refuse_long_texts(connection, target, options.most)
    remarks = about_parts("table", name, list(tables))
    return typed_rows(*remarks, texts=None, part=name, parts=tuple(tables))


def _reaches_out(path: Path, name: str, error: Exception) -> InputError:
    """Return the error for a view that needs other files, addresses or extensions."""
    return input_error(
        "view_reaches_out", file=path, name=name, reason=brief(str(error).splitlines()[0])
    )
