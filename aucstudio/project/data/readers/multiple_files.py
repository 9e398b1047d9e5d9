"""Read several files as one table."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from aucstudio.notices.words import listed, suggestion
from aucstudio.project.data import finding
from aucstudio.project.data.columns import Column, is_sparse
from aucstudio.project.data.readers.formats import MATRIX, Plain
from aucstudio.project.data.readers.reading import make_plain, read_columns
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.data.sparse_columns import SparseBlock, gathered
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.contents import MAX_REJECTED
from aucstudio.project.data.text.delimited import ReadingProgress
from aucstudio.project.errors import input_error

# The column that names the file of each row.
ORIGIN = "file"
# A file as it can be read, and what was read of it.
Read = tuple[Plain, Table]


def read_together(
    paths: Sequence[Path],
    path: Path,
    given: Mapping[str, Any],
    folder: Path,
    report: ReadingProgress,
    schema: Schema | None,
    numbers: frozenset[str] = frozenset(),
) -> tuple[dict[str, str], Table]:
    """Read files as one table; ``path`` is their common name.

    Returns the roles that the first file declares, and a table without roles. Columns of
    ``numbers`` are read as numbers in all files.

    Raises
    ------
    InputError
        If one cannot be read, or has other columns than the first.
    """
    read = [_one(paths, k, given, folder, report, schema, numbers) for k in range(len(paths))]
    if schema is None:
        read = _completed(read)
        _check_names(read)
        read = _with_common_kinds(read)
    tables = [table for _, table in read]
    columns = _joined_columns(tables)
    names = [column.name for column in columns]
    origin = ORIGIN if ORIGIN not in names else f"{ORIGIN}_name"
    if schema is None or origin in schema.names:
        shown = np.array([p.name for p in paths], dtype=object)
        cells = np.repeat(shown, [table.rows for table in tables])
        columns.append(Column.of_cells(origin, cells))
    return {**read[0][0].roles, origin: "ignore"}, _together(tables, paths, path, columns)


def _one(
    paths: Sequence[Path],
    k: int,
    given: Mapping[str, Any],
    folder: Path,
    report: ReadingProgress,
    schema: Schema | None,
    numbers: frozenset[str],
) -> Read:
    def advance(share: float, words: str) -> None:
        report((k + share) / len(paths), f"{paths[k].name}: {words}")

    own = folder / str(k)
    own.mkdir()
    plain = make_plain(paths[k], given, own, advance, schema, numbers)
    return plain, read_columns(plain, advance, schema)


def _again(plain: Plain, columns: Sequence[ColumnSchema], like: Table | None = None) -> Read:
    """Read a file again, with columns of known kinds."""
    schema = Schema(tuple(columns), dialect=None if like is None else like.dialect)
    return plain, read_columns(plain, lambda *_: None, schema)


def _completed(read: Sequence[Read]) -> list[Read]:
    """Read sparse files again that lack columns of others: those are zero."""
    names = list(dict.fromkeys(column.name for _, table in read for column in table.columns))
    return [
        _again(plain, list(map(ColumnSchema, names)))
        if plain.kind == MATRIX and len(table.columns) < len(names)
        else (plain, table)
        for plain, table in read
    ]


def _check_names(read: Sequence[Read]) -> None:
    """Make sure that all files have the columns of the first, in any order."""
    (first, like), *others = read
    wanted = [column.name for column in like.columns]
    for plain, table in others:
        given = [column.name for column in table.columns]
        lacks = [name for name in wanted if name not in set(given)]
        more = [name for name in given if name not in set(wanted)]
        if lacks or more:
            raise input_error(
                "files_differ_in_columns",
                file=plain.shown,
                column=(lacks or more)[0],
                what=f"no column {lacks[0]!r}" if lacks else f"an additional column {more[0]!r}",
                other=first.shown,
                names=listed(wanted),
                hint=suggestion(lacks[0], given) if lacks else "",
            )
        _check_marks(first, like, plain, table)


def _check_marks(first: Plain, like: Table, plain: Plain, table: Table) -> None:
    """Make sure that fractions have one decimal mark: the schema of a table knows one."""
    for column in table.columns:
        pair = (like.column(column.name), column)
        marks = [one.number.decimal for one in pair if one.number and _has_fractions(one)]
        if len(set(marks)) > 1:
            raise input_error(
                "files_differ_in_mark",
                file=plain.shown,
                column=column.name,
                mark=marks[1],
                other=first.shown,
                first=marks[0],
            )


def _has_fractions(column: Column) -> bool:
    return column.kind == "number" and not column.is_integer()


def _with_common_kinds(read: Sequence[Read]) -> list[Read]:
    """Read files again in which columns are numbers that are text in other files."""
    texts = {
        column.name
        for _, table in read
        for column in table.columns
        if column.kind == "text" and column.missing < column.height
    }
    made = []
    for plain, table in read:
        odd = {c.name for c in table.columns if c.kind == "number" and c.name in texts}
        if odd:
            kinds = [
                ColumnSchema(c.name, kind="text" if c.name in odd else c.kind, number=c.number)
                for c in table.columns
            ]
            plain, table = _again(plain, kinds, table)
            for column in table.columns:
                if column.name in odd and column.kind == "number" and column.distinct:
                    raise input_error("files_differ_in_kind", file=plain.shown, column=column.name)
        made.append((plain, table))
    return made


def _joined_columns(tables: Sequence[Table]) -> list[Column]:
    """Join the columns that all files have; sparse ones stay sparse."""
    by_name = [{column.name: column for column in table.columns} for table in tables]
    names = [name for name in by_name[0] if all(name in columns for columns in by_name)]
    below = {name: [columns[name] for columns in by_name] for name in names}
    sparse = [
        name
        for name, parts in below.items()
        if is_sparse(parts) and all(part.kind == "number" for part in parts)
    ]
    joined: dict[str, Column] = {}
    if sparse:
        pieces = [gathered([below[name][k] for name in sparse]) for k in range(len(tables))]
        block = SparseBlock(scipy.sparse.vstack(pieces, format="csc"))
        joined = {column.name: column for column in block.columns(sparse)}
    return [joined[name] if name in joined else _joined(below[name]) for name in names]


def _joined(columns: Sequence[Column]) -> Column:
    name = columns[0].name
    if any(column.kind == "text" for column in columns):
        # A column of numbers among texts has no values.
        parts = [c.values if c.kind == "text" else np.full(c.height, None) for c in columns]
        return Column.of_cells(name, np.concatenate(parts))
    written = [*filter(_has_fractions, columns), *columns]
    number = next((column.number for column in written if column.number), None)
    values = np.concatenate([column.values for column in columns])
    return Column.of_cells(name, values, number=number)


def _together(
    tables: Sequence[Table], paths: Sequence[Path], path: Path, columns: Sequence[Column]
) -> Table:
    heights = [table.rows + table.rejected_rows for table in tables]
    starts = np.cumsum([0, *heights[:-1]])
    rows = [start + table.file_rows for start, table in zip(starts, tables, strict=True)]
    rejected = [
        dataclasses.replace(row, reason=f"{own.name}: {row.reason}")
        for own, table in zip(paths, tables, strict=True)
        for row in table.rejected
    ]
    total = sum(table.rejected_rows for table in tables)
    limited = dict[str, tuple[int, str]]()
    for name, (count, way) in (item for table in tables for item in table.limited.items()):
        limited[name] = limited.get(name, (0, way))[0] + count, way
    remarks = dict.fromkeys(remark for table in tables for remark in table.remarks)
    return dataclasses.replace(
        tables[0],
        path=path,
        columns=tuple(columns),
        rejected=tuple(rejected[:MAX_REJECTED]),
        rejected_rows=total,
        unreadable={name: one for table in tables for name, one in table.unreadable.items()},
        limited=limited,
        row_numbers=np.concatenate(rows) if total else None,
        remarks=(finding.found("format_files", files=len(paths)), *remarks),
    )
