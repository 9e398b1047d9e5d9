"""Files and streams of Arrow, Feather among them, which nanoarrow takes apart for DuckDB."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

from aucstudio.project.data.readers.format import PARQUET, Advance, Format, Wish, Written
from aucstudio.project.data.text.numerals import literal
from aucstudio.project.errors import InputError

_FILE, _GOES_ON = b"ARROW1\0\0", b"\xff\xff\xff\xff"
# Of a message: what it is, that itself, and how many bytes follow it.
_KIND, _HEADER, _BODY = 1, 2, 3
_DICTIONARY = 2
_DATA, _COMPRESSION = 1, 3
_SPELLED = {"e": "float16"}
_STRANGE = re.compile(r"(\w+) not yet supported|Unsupported Internal Arrow Type (\w+)")


class _Source:
    """A file that DuckDB reads as often as it wants."""

    def __init__(self, path: Path, start: int) -> None:
        self._path, self._start = path, start

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        from nanoarrow.ipc import InputStream

        file = self._path.open("rb")
        file.seek(self._start)
        return InputStream.from_readable(file).__arrow_c_stream__(requested_schema)


def _write(path: Path, target: Path, _wish: Wish, tell: Advance) -> Written:
    import duckdb

    # A file is a stream with a frame around it.
    with path.open("rb") as file:
        start = len(_FILE) if file.read(len(_FILE)) == _FILE else 0
    if _packs_levels(path, start):
        raise InputError(
            f"{path} holds categories that are compressed, which is not read; save it without "
            "compression, or as Parquet",
            file=str(path),
        )
    tell(0.1)
    with duckdb.connect() as connection:
        try:
            connection.register("arrow", _Source(path, start))
            connection.execute(f"COPY (FROM arrow) TO {literal(str(target))} (FORMAT parquet)")
        except (duckdb.Error, ValueError) as error:
            found = _STRANGE.search(str(error))
            if found is None:
                raise
            kind = found[1] or _SPELLED.get(found[2], found[2])
            raise InputError(
                f"{path} holds a column of the type {kind}, which is not read; save the table as "
                "Parquet",
                file=str(path),
            ) from error
    return Written(PARQUET)


def _packs_levels(path: Path, start: int) -> bool:
    """Tell whether levels of a category are compressed: nanoarrow reads those wrongly."""
    with path.open("rb") as file:
        file.seek(start)
        while len(begin := file.read(8)) == len(_FILE) and begin.startswith(_GOES_ON):
            (size,) = struct.unpack("<4xi", begin)
            message = file.read(size) if size > 0 else b""
            if not message:
                break
            (table,) = struct.unpack_from("<I", message)
            kind, body = _field(message, table, _KIND), _field(message, table, _BODY)
            if kind and message[kind] == _DICTIONARY:
                levels = _inner(message, _inner(message, table, _HEADER), _DATA)
                return _field(message, levels, _COMPRESSION) > 0
            length = struct.unpack_from("<q", message, body)[0] if body else 0
            file.seek(max(length, 0), 1)
    return False


def _field(message: bytes, table: int, number: int) -> int:
    """Find a field of a flat buffer's table; 0 if it is left out."""
    offsets = table - struct.unpack_from("<i", message, table)[0]
    place = 4 + 2 * number
    if place >= struct.unpack_from("<H", message, offsets)[0]:
        return 0
    (offset,) = struct.unpack_from("<H", message, offsets + place)
    return table + offset if offset else 0


def _inner(message: bytes, table: int, number: int) -> int:
    place = _field(message, table, number)
    return place + int(struct.unpack_from("<I", message, place)[0])


def _is_arrow(_path: Path, head: bytes) -> bool:
    return head.startswith((_FILE, _GOES_ON))


FORMATS = (
    Format(
        key="arrow",
        title="an Arrow or Feather file",
        plural="Arrow and Feather files",
        endings=(".feather", ".arrow", ".arrows", ".ipc"),
        recognises=_is_arrow,
        write=_write,
        apart=True,
        swelling=4.0,
    ),
)
