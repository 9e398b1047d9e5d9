"""Compressed dictionary levels of Arrow streams, which nanoarrow reads wrongly."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from aucstudio.project.data.readers.compressed import check_swelling

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
