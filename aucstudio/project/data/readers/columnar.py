"""Parquet, Arrow and Feather files, and columns of values, which are written as Parquet.

Parquet is read directly, after a check of its text length: repeated texts are stored once, so a
small file can contain texts that exceed any memory. Arrow is converted to Parquet through nanoarrow
and DuckDB; nanoarrow reads compressed levels of a dictionary wrongly, so these are decompressed
first.
"""

from __future__ import annotations

import datetime
import glob
import json
import re
import struct
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from aucstudio.notices.words import bytes_words
from aucstudio.project.data.input_files import (
    CLOSED,
    LONGEST_CELL,
    duckdb_on,
    for_duckdb,
    literal,
    quoted,
)
from aucstudio.project.data.readers.archive import check_swelling
from aucstudio.project.data.readers.conversion import leave_room, spell, typed_rows
from aucstudio.project.data.readers.formats import NAMES, Advance, ReadOptions, Written
from aucstudio.project.errors import input_error

if TYPE_CHECKING:
    import duckdb

_AT_ONCE = 64  # columns: DuckDB holds a row group of each that it reads


def copy_as_parquet(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    target: Path,
    options: ReadOptions,
    settings: str = "",
) -> None:
    """Write the result of a query as Parquet, and check its texts."""
    name = literal(str(target))
    connection.execute(f"COPY ({query}) TO {name} (FORMAT parquet{settings})")
    refuse_long_texts(connection, target, options.most)


def refuse_long_texts(connection: duckdb.DuckDBPyConnection, path: Path, most: int) -> None:
    """Raise InputError if the texts of a Parquet file are too long, or too many."""
    source = f"read_parquet({literal(glob.escape(str(path)))}, hive_partitioning = false)"
    relation = connection.sql(f"FROM {source}")
    columns = zip(relation.columns, relation.types, strict=True)
    lengths = filter(None, (_length(quoted(name), kind) for name, kind in columns))
    wanted = [f"coalesce(max({length}), 0), coalesce(sum({length}), 0)" for length in lengths]
    total = 0
    for start in range(0, len(wanted), _AT_ONCE):
        listed = ", ".join(wanted[start : start + _AT_ONCE])
        found = connection.execute(f"SELECT {listed} FROM {source}").fetchone() or ()
        if max(found[::2], default=0) > LONGEST_CELL:
            raise input_error("cell_too_long", file=path, size=bytes_words(LONGEST_CELL))
        total += sum(map(int, found[1::2]))
        if total > most:
            raise input_error("texts_too_long", file=path, size=bytes_words(most))


def _length(cell: str, kind: Any) -> str:
    """Return the expression for the bytes of text in a cell; empty without text."""
    if kind.id == "blob":
        return f"octet_length({cell})"
    is_text = kind.id in ("varchar", "struct", "map", "list", "array")
    return f"strlen({cell}::VARCHAR)" if is_text else ""


def write_parquet(path: Path, target: Path, options: ReadOptions, _report: Advance) -> Written:
    """Write nothing: the file is read directly."""
    import duckdb

    with duckdb.connect(config=CLOSED) as connection:
        refuse_long_texts(connection, for_duckdb(path, target.parent), options.most)
    return typed_rows(texts=None)


# ------------------------------------------------------------- Arrow

_ARROW_FILE = b"ARROW1\0\0"
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


def write_arrow(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    import duckdb

    # An Arrow file is a stream in a frame.
    with path.open("rb") as file:
        start = len(_ARROW_FILE) if file.read(len(_ARROW_FILE)) == _ARROW_FILE else 0
    source = path
    if packs_levels(path, start):
        source = target.with_suffix(".plain.arrows")
        unpack_levels(path, start, source)
        start = 0
    report(0.1)
    try:
        _copy_arrow(source, start, target, options)
    except (duckdb.Error, ValueError) as error:
        found = _STRANGE.search(str(error))
        if found is None:
            raise
        kind = found[1] or _SPELLED.get(found[2], found[2])
        raise input_error("arrow_type", file=path, kind=kind) from error
    return typed_rows(texts=None)


def _copy_arrow(
    path: Path,
    start: int,
    target: Path,
    options: ReadOptions,
    query: str = "FROM arrow",
    settings: str = "",
) -> None:
    """Write the result of a query of an Arrow stream as Parquet."""
    with duckdb_on(target.parent) as connection:
        connection.register("arrow", _Source(path, start))
        copy_as_parquet(connection, query, target, options, settings)


# ------------------------------------------------------------- columns of values


def type_of_cells(types: Collection[type]) -> type:
    """Return the type of a column that holds values of some types: text if they are mixed."""
    if {*types} <= {int, float}:
        return float if float in types else int if types else str
    return datetime.datetime if {*types} <= {datetime.date, datetime.datetime} else str


def write_columns(
    target: Path,
    names: Sequence[str],
    types: Sequence[type],
    parts: Iterable[Sequence[Sequence[Any]]],
    options: ReadOptions,
) -> None:
    """Write columns as Parquet.

    Parameters
    ----------
    target : Path
    names : sequence of str
    types : sequence of type
        The type of each column, see :func:`type_of_cells`.
    parts : iterable of sequences of columns
        Some rows at a time, as columns of values; None is missing.
    options : ReadOptions
    """
    import nanoarrow
    from nanoarrow.ipc import StreamWriter

    numbers = {int: nanoarrow.int64(), float: nanoarrow.float64()}
    kinds = [numbers.get(kind, nanoarrow.large_string()) for kind in types]
    schema = nanoarrow.struct({f"c{k}": kind for k, kind in enumerate(kinds)})
    rows = target.with_suffix(".arrows")
    with StreamWriter.from_path(rows) as writer:
        for columns in parts:
            leave_room(target.parent)
            arrays = [
                nanoarrow.c_array(cells if kind in numbers else [*map(_text, cells)], known)
                for cells, kind, known in zip(columns, types, kinds, strict=True)
            ]
            height = len(columns[0])
            batch = nanoarrow.c_array_from_buffers(schema, height, [None], children=arrays)
            writer.write_array(batch)
    casts: dict[type, str] = {datetime.datetime: "::TIMESTAMP"}
    cells = (f"c{k}{casts.get(kind, '')}" for k, kind in enumerate(types))
    query = f"SELECT {', '.join(cells)} FROM arrow"
    settings = f", KV_METADATA {{{quoted(NAMES)}: {literal(json.dumps(names))}}}"
    _copy_arrow(rows, 0, target, options, query, settings)


def _text(cell: Any) -> str | None:
    return None if cell is None else spell(cell)


# ------------------------------------------------------------- compressed levels of Arrow

GOES_ON = b"\xff\xff\xff\xff"
# Fields of a message: its kind, its header, and the length of its body.
_KIND, _HEADER, _BODY = 1, 2, 3
_DICTIONARY = 2
_DATA, _BUFFERS, _COMPRESSION = 1, 2, 3
_CODEC, _ZSTD = 0, 1
_STORED = -1
_CHUNK = 1 << 20


def packs_levels(path: Path, start: int) -> bool:
    """Return whether levels of a category are compressed, in a stream that begins at ``start``."""
    with path.open("rb") as file:
        file.seek(start)
        for message, length in _messages(file):
            if _is_dictionary(message):
                return _field(message, _levels(message), _COMPRESSION) > 0
            file.seek(length, 1)
    return False


def unpack_levels(path: Path, start: int, target: Path) -> None:
    """Copy a stream that begins at ``start`` with decompressed levels.

    Raises
    ------
    ValueError, LookupError, EOFError, RuntimeError, struct.error, ZstdError
        If it is damaged.
    InputError
        If levels unpack to an implausible size.
    """
    with path.open("rb") as file, target.open("wb") as copy:
        file.seek(start)
        for message, length in _messages(file):
            if _is_dictionary(message) and _field(message, _levels(message), _COMPRESSION):
                if file.tell() + length > path.stat().st_size:
                    raise EOFError
                body = file.read(length)
                message, body = _unpacked(path, message, body)
                copy.write(GOES_ON + struct.pack("<i", len(message)) + message + body)
                continue
            copy.write(GOES_ON + struct.pack("<i", len(message)) + message)
            _copy(file, copy, length)
        copy.write(GOES_ON + bytes(4))


def _copy(file: BinaryIO, copy: BinaryIO, length: int) -> None:
    end = copy.tell() + length
    while (left := end - copy.tell()) > 0:
        piece = file.read(min(left, _CHUNK))
        if not piece:
            raise EOFError
        copy.write(piece)


def _messages(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Yield each message with the length of its body, which the caller must skip."""
    while len(begin := file.read(8)) == 8 and begin.startswith(GOES_ON):
        (size,) = struct.unpack("<4xi", begin)
        message = file.read(size) if size > 0 else b""
        if not message:
            return
        (table,) = struct.unpack_from("<I", message)
        body = _field(message, table, _BODY)
        yield message, max(struct.unpack_from("<q", message, body)[0] if body else 0, 0)


def _is_dictionary(message: bytes) -> bool:
    (table,) = struct.unpack_from("<I", message)
    kind = _field(message, table, _KIND)
    return kind > 0 and message[kind] == _DICTIONARY


def _levels(message: bytes) -> int:
    (table,) = struct.unpack_from("<I", message)
    return _inner(message, _inner(message, table, _HEADER), _DATA)


def _unpacked(path: Path, message: bytes, body: bytes) -> tuple[bytes, bytes]:
    """Decompress each buffer, and update its position and encoding in the message."""
    changed, plain = bytearray(message), bytearray()
    levels = _levels(message)
    codec = _field(message, _inner(message, levels, _COMPRESSION), _CODEC)
    is_zstd = codec > 0 and message[codec] == _ZSTD
    vector = _inner(message, levels, _BUFFERS)
    for k in range(struct.unpack_from("<I", message, vector)[0]):
        place = vector + 4 + 16 * k
        offset, length = struct.unpack_from("<qq", message, place)
        buffer = _buffer(path, body[offset : offset + length], is_zstd=is_zstd)
        struct.pack_into("<qq", changed, place, len(plain), len(buffer))
        plain += buffer + bytes(-len(buffer) % 8)
    (table,) = struct.unpack_from("<I", message)
    struct.pack_into("<q", changed, _field(message, table, _BODY), len(plain))
    offsets = levels - struct.unpack_from("<i", message, levels)[0]
    struct.pack_into("<H", changed, offsets + 4 + 2 * _COMPRESSION, 0)
    return bytes(changed), bytes(plain)


def _buffer(path: Path, packed: bytes, *, is_zstd: bool) -> bytes:
    import lz4.frame
    import zstandard

    if not packed:
        return b""
    (length,) = struct.unpack_from("<q", packed)
    if length == _STORED:
        return packed[8:]
    if length < 0:  # no bound for the libraries
        raise ValueError("levels of a category are damaged")
    check_swelling(path, len(packed), length)
    if is_zstd:
        if zstandard.frame_content_size(packed[8:]) > length:
            raise ValueError("levels of a category are damaged")
        found = zstandard.ZstdDecompressor().decompress(packed[8:], max_output_size=length)
    else:
        found = lz4.frame.LZ4FrameDecompressor().decompress(packed[8:], max_length=length)
    if len(found) != length:
        raise ValueError("levels of a category are damaged")
    return found


def _field(message: bytes, table: int, number: int) -> int:
    """Return the position of a field in a FlatBuffers table; 0 if it is omitted."""
    offsets = table - struct.unpack_from("<i", message, table)[0]
    place = 4 + 2 * number
    if place >= struct.unpack_from("<H", message, offsets)[0]:
        return 0
    (offset,) = struct.unpack_from("<H", message, offsets + place)
    return table + offset if offset else 0


def _inner(message: bytes, table: int, number: int) -> int:
    place = _field(message, table, number)
    return place + int(struct.unpack_from("<I", message, place)[0])
