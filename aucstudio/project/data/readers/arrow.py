"""Arrow and Feather files, through nanoarrow and DuckDB."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from aucstudio.project.data.paths import duckdb_on
from aucstudio.project.data.readers.arrow_levels import packs_levels, unpack_levels
from aucstudio.project.data.readers.format import PARQUET, Advance, ReadOptions, Written
from aucstudio.project.data.readers.registry import ARROW_FILE
from aucstudio.project.data.text.cell_sql import literal
from aucstudio.project.errors import input_error

_SPELLED = {"e": "float16"}
_STRANGE = re.compile(r"(\w+) not yet supported|Unsupported Internal Arrow Type (\w+)")


class _Source:
    """A file that DuckDB can read repeatedly."""

    def __init__(self, path: Path, start: int) -> None:
        self._path, self._start = path, start

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        from nanoarrow.ipc import InputStream

        file = self._path.open("rb")
        file.seek(self._start)
        return InputStream.from_readable(file).__arrow_c_stream__(requested_schema)


def write(path: Path, target: Path, _options: ReadOptions, report: Advance) -> Written:
    import duckdb

    # An Arrow file is a stream in a frame.
    with path.open("rb") as file:
        start = len(ARROW_FILE) if file.read(len(ARROW_FILE)) == ARROW_FILE else 0
    source = path
    if packs_levels(path, start):
        source = target.with_suffix(".plain.arrows")
        unpack_levels(path, start, source)
        start = 0
    report(0.1)
    with duckdb_on(target.parent) as connection:
        try:
            connection.register("arrow", _Source(source, start))
            connection.execute(f"COPY (FROM arrow) TO {literal(str(target))} (FORMAT parquet)")
        except (duckdb.Error, ValueError) as error:
            found = _STRANGE.search(str(error))
            if found is None:
                raise
            kind = found[1] or _SPELLED.get(found[2], found[2])
            raise input_error("arrow_type", file=path, kind=kind) from error
    return Written(PARQUET)
