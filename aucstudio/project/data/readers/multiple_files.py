"""Read several files as one table."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from aucstudio.project.data.choices import listed
from aucstudio.project.data.column_builder import number_cells
from aucstudio.project.data.columns import Column
from aucstudio.project.data.finding import found as finding_of
from aucstudio.project.data.readers.format import MATRIX, TEXT
from aucstudio.project.data.readers.reading import Plain, make_plain, read_columns
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.data.sparse_columns import SparseBlock, gathered, is_sparse
from aucstudio.project.data.text.contents import MAX_REJECTED
from aucstudio.project.data.text.delimited import Delimited, ReadingProgress
from aucstudio.project.errors import input_error
from aucstudio.project.words import suggestion

# The column that says which file a row is from.
ORIGIN = "file"


def read_together(
    paths: Sequence[Path],
    path: Path,
    given: Mapping[str, Any],
    folder: Path,
    tell: ReadingProgress,
    schema: Schema | None,
    numbers: frozenset[str] = frozenset(),
) -> tuple[Plain, Delimited]:
    """Read files as one table; ``path`` is their common name.

    Columns that are said to be of ``numbers`` are so in all of them.

    Raises
    ------
    InputError
        If one cannot be read, or has other columns than the first.
    """
    read = [_one(paths, k, given, folder, tell, schema, numbers) for k in range(len(paths))]
    if schema is None:
        read = _completed(read)
        _check_names(read)
        texts = _texts([found for _, found in read])
        for k, (plain, found) in enumerate(read):
            if odd := [c.name for c in found.columns if c.kind == "number" and c.name in texts]:
                known = [
                    ColumnSchema(c.name, kind="text" if c.name in odd else c.kind, number=c.number)
                    for c in found.columns
                ]
                spelled = Schema(tuple(known), dialect=found.dialect)
                read[k] = plain, read_columns(plain, lambda *_: None, spelled)
                _check_texts(read[k], odd)
    first, founds = read[0][0], [found for _, found in read]
    columns = _joined_columns(founds)
    names = [column.name for column in columns]
    origin = ORIGIN if ORIGIN not in names else f"{ORIGIN}_name"
    heights = [len(found.columns[0].values) for found in founds]
    shown = np.repeat(np.array([p.name for p in paths], dtype=object), heights)
    if schema is None or origin in schema.names:
        columns.append(Column.of_cells(origin, shown, 0, len({p.name for p in paths})))
    plain = dataclasses.replace(
        first,
        path=path,
        shown=path,
        kind=TEXT,
        roles={**first.roles, origin: "ignore"},
        texts=(),
    )
    return plain, _together(founds, paths, columns)


def _completed(read: Sequence[tuple[Plain, Delimited]]) -> list[tuple[Plain, Delimited]]:
    """Read sparse files again that do not mention what others do, which may go without saying."""
    names = {name: None for _, found in read for name in _names(found)}
    schema = Schema(tuple(map(ColumnSchema, names)))
    return [
        (plain, read_columns(plain, lambda *_: None, schema))
        if plain.kind == MATRIX and len(found.columns) < len(names)
        else (plain, found)
        for plain, found in read
    ]


def _check_texts(read: tuple[Plain, Delimited], names: Sequence[str]) -> None:
    """Make sure that columns could be read as text, as they are in other files."""
    plain, found = read
    still = [c.name for c in found.columns if c.name in names and c.kind == "number" and c.distinct]
    if still:
        raise input_error("files_differ_in_kind", file=plain.shown, column=still[0])


def _joined_columns(founds: Sequence[Delimited]) -> list[Column]:
    """Put the columns that all files have below each other; sparse ones stay so."""
    by_name = [{column.name: column for column in found.columns} for found in founds]
    names = [name for name in by_name[0] if all(name in columns for columns in by_name)]
    below = {name: [columns[name] for columns in by_name] for name in names}
    sparse = [
        name
        for name, parts in below.items()
        if is_sparse(parts) and all(part.kind == "number" for part in parts)
    ]
    stays: dict[str, Column] = {}
    if sparse:
        pieces = [gathered([below[name][k] for name in sparse]) for k in range(len(founds))]
        block = SparseBlock(scipy.sparse.vstack(pieces, format="csc"))
        stays = {column.name: column for column in block.columns(sparse)}
    return [stays[name] if name in stays else _joined(below[name]) for name in names]


def _check_marks(first: Plain, like: Delimited, plain: Plain, found: Delimited) -> None:
    """Make sure that fractions are written with one mark: what a row means is written down once."""
    by_name = {column.name: column for column in like.columns}
    for column in found.columns:
        other = by_name[column.name]
        marks = [one.number.decimal for one in (other, column) if one.number and _broken(one)]
        if len(set(marks)) > 1:
            raise input_error(
                "files_differ_in_mark",
                file=plain.shown,
                column=column.name,
                mark=marks[1],
                other=first.shown,
                first=marks[0],
            )


def _broken(column: Column) -> bool:
    return column.kind == "number" and not column.is_integer()


def _one(
    paths: Sequence[Path],
    k: int,
    given: Mapping[str, Any],
    folder: Path,
    tell: ReadingProgress,
    schema: Schema | None,
    numbers: frozenset[str],
) -> tuple[Plain, Delimited]:
    def part(share: float, words: str) -> None:
        tell((k + share) / len(paths), f"{paths[k].name}: {words}")

    own = folder / str(k)
    own.mkdir()
    plain = make_plain(paths[k], given, own, part, schema)
    plain = dataclasses.replace(plain, numbers=numbers)
    return plain, read_columns(plain, part, schema)


def _names(found: Delimited) -> list[str]:
    return [column.name for column in found.columns]


def _check_names(read: Sequence[tuple[Plain, Delimited]]) -> None:
    """Make sure that all files have the columns of the first, in any order."""
    (first, like), *others = read
    wanted = _names(like)
    for plain, found in others:
        have = _names(found)
        known, given = set(wanted), set(have)
        lacks = [name for name in wanted if name not in given]
        more = [name for name in have if name not in known]
        if lacks or more:
            what = f"no column {lacks[0]!r}" if lacks else f"an additional column {more[0]!r}"
            near = suggestion(lacks[0], have) if lacks else ""
            raise input_error(
                "files_differ_in_columns",
                file=plain.shown,
                column=(lacks or more)[0],
                what=what,
                other=first.shown,
                names=listed(wanted),
                hint=near,
            )
        _check_marks(first, like, plain, found)


def _texts(founds: Sequence[Delimited]) -> set[str]:
    """Name the columns that hold text in some file."""
    return {
        column.name
        for found in founds
        for column in found.columns
        if column.kind == "text" and column.missing < len(column.values)
    }


def _joined(columns: Sequence[Column]) -> Column:
    first = columns[0]
    is_text = any(column.kind == "text" for column in columns)
    parts = [_as_text(column) if is_text else column.values for column in columns]
    values = np.concatenate(parts)
    if not is_text:
        cells = number_cells(values)
        written = [*filter(_broken, columns), *columns]
        number = next((column.number for column in written if column.number), None)
        return Column.of_cells(first.name, cells.values, cells.missing, cells.distinct, number)
    missing = sum(column.missing for column in columns)
    return Column.of_cells(first.name, values, missing, len(set(values.tolist()) - {None}))


def _as_text(column: Column) -> Any:
    """Return a column of texts; one of numbers is without any value here."""
    if column.kind == "text":
        return column.values
    return np.full(len(column.values), None, dtype=object)


def _together(
    founds: Sequence[Delimited], paths: Sequence[Path], columns: list[Column]
) -> Delimited:
    numbers, before = [], 0
    for found in founds:
        height = len(found.columns[0].values)
        own = np.arange(1, height + 1) if found.row_numbers is None else found.row_numbers
        numbers.append(own + before)
        before += height + found.rejected_rows
    left_out = any(found.rejected_rows for found in founds)
    rejected = [
        dataclasses.replace(row, reason=f"{path.name}: {row.reason}")
        for path, found in zip(paths, founds, strict=True)
        for row in found.rejected
    ]
    digests = "".join(found.sha256 for found in founds)
    return dataclasses.replace(
        founds[0],
        sha256=hashlib.sha256(digests.encode()).hexdigest(),
        columns=columns,
        rejected=rejected[:MAX_REJECTED],
        rejected_rows=sum(found.rejected_rows for found in founds),
        unreadable={name: one for found in founds for name, one in found.unreadable.items()},
        row_numbers=np.concatenate(numbers) if left_out else None,
        findings=(
            finding_of("format_files", files=len(paths)),
            *dict.fromkeys(one for found in founds for one in found.findings),
        ),
    )
