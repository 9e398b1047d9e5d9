"""What the columns of a file are called, before its cells are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from aucstudio.project import scratch
from aucstudio.project.data.parquet import ParquetReader
from aucstudio.project.data.readers.format import MATRIX, PARQUET
from aucstudio.project.data.readers.reading import Plain, make_plain, naming, read_columns
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.table import ReadingListener, teller
from aucstudio.project.data.text.delimited import open_delimited


def heading(
    path: str | Path, schema: Schema, progress: ReadingListener | None = None
) -> tuple[str, ...]:
    """Return the names of the columns of a file that is to be read by a schema.

    Parameters
    ----------
    path : str or Path
    schema : Schema
    progress : callable, optional
        Told the fraction done and what is being done; returning True stops it.

    Raises
    ------
    InputError
        If it is no table.
    Cancelled
        If ``progress`` asked to stop.
    """
    path, tell = Path(path), teller(progress)
    with scratch.folder() as folder:
        plain = make_plain(path, {}, folder, tell, schema)
        with naming(plain):
            return tuple(_names(plain, folder, tell, schema))


def _names(
    plain: Plain, folder: Path, tell: Callable[[float, str], None], schema: Schema
) -> Iterable[str]:
    if plain.kind == MATRIX:
        return [column.name for column in read_columns(plain, tell, schema).columns]
    if plain.kind != PARQUET:
        return open_delimited(plain.path, plain.given, folder, tell, schema).source.names
    with ParquetReader(
        plain.path, folder, lambda part: tell(part, "looking at the file"), schema=schema
    ) as reader:
        return reader.shape.names
