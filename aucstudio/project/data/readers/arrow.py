"""Arrow files and streams (Feather), through nanoarrow."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, cast

from aucstudio.project.data.readers.format import PARQUET, Advance, Format, Wish, Written, begins
from aucstudio.project.data.text.numerals import literal

# A file is a stream between this mark and a table of contents.
_FILE, _STREAM = b"ARROW1\0\0", b"\xff\xff\xff\xff"


def _write(path: Path, target: Path, _wish: Wish, tell: Advance) -> Written:
    import duckdb
    import nanoarrow
    from nanoarrow.ipc import InputStream

    with path.open("rb") as file:
        if file.read(len(_FILE)) != _FILE:
            file.seek(0)
        with (
            InputStream.from_readable(cast("BinaryIO", file)) as source,
            duckdb.connect() as database,
        ):
            rows = nanoarrow.c_array_stream(source)
            tell(0.1)
            database.register("rows", rows)
            database.execute(f"COPY (FROM rows) TO {literal(str(target))} (FORMAT parquet)")
    return Written(PARQUET)


FORMATS = (
    Format(
        key="arrow",
        title="an Arrow file",
        plural="Arrow files",
        endings=(".arrow", ".feather", ".arrows"),
        recognises=begins(_FILE, _STREAM),
        write=_write,
        apart=True,
        swelling=2.0,
    ),
)
