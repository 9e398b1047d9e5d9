"""Parquet files, with a check of their text length.

Repeated texts are stored once, so a small file can contain texts that exceed any memory.
"""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any

from aucstudio.notices.words import bytes_words
from aucstudio.project.data.paths import CLOSED, for_duckdb
from aucstudio.project.data.readers.format import PARQUET, Advance, ReadOptions, Written
from aucstudio.project.data.text.cell_sql import literal, quoted
from aucstudio.project.errors import input_error
from aucstudio.project.inputs import LONGEST_CELL

_AT_ONCE = 64  # columns: DuckDB holds a row group of each that it reads


def refuse_long_texts(path: Path, folder: Path, most: int) -> None:
    """Raise InputError if the texts of a Parquet file are too long, or too many.

    Parameters
    ----------
    path, folder : Path
        The file, and where DuckDB may write.
    most : int
        Largest number of bytes of all texts together.
    """
    import duckdb

    name = literal(glob.escape(str(for_duckdb(path, folder))))
    with duckdb.connect(config=CLOSED) as connection:
        source = f"read_parquet({name}, hive_partitioning = false)"
        relation = connection.sql(f"FROM {source}")
        columns = zip(relation.columns, relation.types, strict=True)
        lengths = [_length(quoted(name), kind) for name, kind in columns]
        wanted = [
            f"coalesce(max({length}), 0), coalesce(sum({length}), 0)"
            for length in lengths
            if length != "0"
        ]
        total = 0
        for start in range(0, len(wanted), _AT_ONCE):
            listed = ", ".join(wanted[start : start + _AT_ONCE])
            found = connection.execute(f"SELECT {listed} FROM {source}").fetchone() or ()
            if max(found[::2], default=0) > LONGEST_CELL:
                raise input_error("cell_too_long", file=path, size=bytes_words(LONGEST_CELL))
            total += sum(map(int, found[1::2]))
            if total > most:
                raise input_error("texts_too_long", file=path, size=bytes_words(most))


def _length(cell: str, kind: Any, depth: int = 0) -> str:
    """Return the expression for the bytes of text in a cell; "0" without text."""
    if kind.id == "varchar":
        return f"strlen({cell})"
    if kind.id == "blob":
        return f"octet_length({cell})"
    if kind.id == "struct":
        inside = (_length(f"{cell}.{quoted(name)}", k, depth) for name, k in kind.children)
        present = [f"coalesce({length}, 0)" for length in inside if length != "0"]
        return f"({' + '.join(present)})" if present else "0"
    if kind.id == "map":
        keys, values = (f"map_{part}({cell})" for part in ("keys", "values"))
        (_, key), (_, value) = kind.children
        return f"({_items(keys, key, depth)} + {_items(values, value, depth)})"
    if kind.id in ("list", "array"):
        return _items(cell, kind.children[0][1], depth)
    return "0"


def _items(cell: str, kind: Any, depth: int) -> str:
    # Every item has at least a separator.
    length, item = _length(f"x{depth}", kind, depth + 1), f"x{depth}"
    count = f"coalesce(len({cell}), 0)"
    if length == "0":
        return count
    return f"({count} + coalesce(list_sum(list_transform({cell}, lambda {item}: {length})), 0))"


def write(_path: Path, _target: Path, _options: ReadOptions, _tell: Advance) -> Written:
    """Write nothing: the file is read directly."""
    return Written(PARQUET)
