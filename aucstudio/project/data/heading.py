"""What the columns of a file are called, before its cells are read."""

from __future__ import annotations

from pathlib import Path

from aucstudio.project import scratch
from aucstudio.project.data.parquet import ParquetReader, is_parquet
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.table import ReadingListener, teller
from aucstudio.project.data.text.delimited import open_delimited


def heading(
    path: str | Path, schema: Schema, progress: ReadingListener | None = None
) -> tuple[str, ...]:
    """Give the names of the columns of a file that is to be read by a schema.

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
        if not is_parquet(path):
            return tuple(open_delimited(path, {}, folder, tell, schema).source.names)
        with ParquetReader(
            path, folder, lambda part: tell(part, "looking at the file"), schema=schema
        ) as reader:
            return tuple(reader.shape.names)
