"""Columns of a Parquet file as one level: the fields of records, and durations in hours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from aucstudio.project.data.text.cell_sql import quoted
from aucstudio.project.data.text.dialect import unique_names

if TYPE_CHECKING:
    import duckdb

# Records within records that have columns of their own.
_DEEPEST = 4
_HOUR = 3_600
_LASTING = re.compile(r"timedelta64\[(s|ms|us|ns)\]")
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class Field(NamedTuple):
    """A column: what it is called, where it lies in the file, and the expression that reads it."""

    name: str
    path: str
    read: str


def one_level(connection: duckdb.DuckDBPyConnection, file: str) -> tuple[list[Field], list[str]]:
    """Find the columns of a file; give them, and what is to be told of them.

    Parameters
    ----------
    connection : DuckDBPyConnection
    file : str
        Its name as a literal.
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
    names, notes = unique_names(paths)
    notes += [f"durations in column {names[k]} are read as hours" for k in hours]
    return [Field(*field) for field in zip(names, paths, reads, strict=True)], notes


def _names(connection: duckdb.DuckDBPyConnection, file: str, given: list[str]) -> list[str]:
    """Return the names of the columns as they are: DuckDB renames one of x and X."""
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
    """Name the whole numbers that pandas wrote for durations, with how many are a second."""
    query = f"SELECT value FROM parquet_kv_metadata({file}) WHERE key = 'pandas'::BLOB"
    said = connection.execute(query).fetchone()
    try:
        columns = [] if said is None else json.loads(bytes(said[0]))["columns"]
        kinds = {str(c["field_name"]): _LASTING.fullmatch(str(c["numpy_type"])) for c in columns}
    except (ValueError, KeyError, TypeError):
        return {}  # written by who knows what
    return {name: _PER_SECOND[found[1]] for name, found in kinds.items() if found}
