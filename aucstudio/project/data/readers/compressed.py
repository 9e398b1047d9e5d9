"""Decompression of gzip, bzip2, xz and zstd, within limits."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from aucstudio.notices.words import bytes_words
from aucstudio.project.data.readers.format import FILE, Advance, ReadOptions, Written
from aucstudio.project.data.readers.rows import leave_room
from aucstudio.project.errors import input_error

Unpack = Callable[[BinaryIO], Iterator[bytes]]

_CHUNK = 1 << 20
_LOOK_EVERY = 64
# At most tens of megabytes result from this many bytes of zstd.
_ZSTD_CHUNK = 1 << 10
# Files that unpack to more bytes and to a larger multiple of their size are refused.
MOST_BYTES, MOST_TIMES = 1_000_000_000, 200


def check_swelling(path: Path, packed: int, unpacked: int) -> None:
    """Raise InputError if a file unpacks to an implausible size."""
    if unpacked > MOST_BYTES and unpacked > MOST_TIMES * packed:
        raise input_error(
            "swells", file=path, packed=bytes_words(packed), unpacked=bytes_words(unpacked)
        )


def write_bounded(
    path: Path,
    pieces: Iterator[bytes],
    target: Path,
    packed: int,
    report: Callable[[], object],
    enough: int = 0,
) -> None:
    """Write unpacked bytes, or only the first ``enough`` ones.

    Raises
    ------
    InputError
        If the size is implausible, or the disk is nearly full.
    """
    done = 0
    with target.open("wb") as file:
        for count, piece in enumerate(pieces):
            done += len(piece)
            check_swelling(path, packed, done)
            if count % _LOOK_EVERY == 0:
                leave_room(target.parent)
                report()
            file.write(piece)
            if 0 < enough <= done:
                return


def _stream(open_packed: Callable[..., Any]) -> Unpack:
    """Return a function that unpacks what a module of the standard library opens."""

    def unpack(file: BinaryIO) -> Iterator[bytes]:
        with open_packed(file) as unpacked:
            yield from iter(lambda: unpacked.read(_CHUNK), b"")

    return unpack


def _zstd(file: BinaryIO) -> Iterator[bytes]:
    import zstandard

    # The stream reader of this library does not report a missing end.
    frame, begun = zstandard.ZstdDecompressor().decompressobj(), False
    while packed := file.read(_ZSTD_CHUNK):
        while packed:
            begun = True
            yield frame.decompress(packed)
            packed = b""
            if frame.eof:
                packed = frame.unused_data
                frame, begun = zstandard.ZstdDecompressor().decompressobj(), False
    if begun:
        raise EOFError


def _write(unpack: Unpack) -> Callable[[Path, Path, ReadOptions, Advance], Written]:
    def write(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
        size = max(path.stat().st_size, 1)
        with path.open("rb") as file:
            pieces = unpack(cast("BinaryIO", file))
            write_bounded(
                path,
                pieces,
                target,
                size,
                lambda: report(min(file.tell() / size, 1.0)),
                options.enough,
            )
        return Written(FILE, name=path.stem)

    return write


write_gzip = _write(_stream(gzip.open))
write_bzip2 = _write(_stream(bz2.open))
write_xz = _write(_stream(lzma.open))
write_zstd = _write(_zstd)
