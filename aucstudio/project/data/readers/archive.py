"""Zip and tar archives, and files packed by gzip, bzip2, xz and zstd, within limits."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any

from aucstudio.notices.words import bytes_words
from aucstudio.project.data.readers.conversion import about_parts, leave_room, pick_part
from aucstudio.project.data.readers.formats import FILE, Advance, ReadOptions, Written
from aucstudio.project.errors import input_error

_CHUNK = 1 << 20
_LOOK_EVERY = 64
# At most tens of megabytes result from this many bytes of zstd.
_ZSTD_CHUNK = 1 << 10
# Files that unpack to more bytes and to a larger multiple of their size are refused.
MOST_BYTES, MOST_TIMES = 1_000_000_000, 200
_LOCKED = 1
# Members of archives that are not tables.
_CLUTTER = ("__macosx", ".")
_DOCUMENT = re.compile(
    r"(^|/)(index$|readme|licen[cs]e|changelog|copying|notice|citation)[^/]*$|"
    r"(^|/)[^/]*(code[ _-]?book|dictionary|data[ _-]?description)[^/]*$|"
    r"\.(md|pdf|html?|docx?|rtf|png|jpe?g|gif|py|r|ipynb|names)$",
    re.IGNORECASE,
)
# Endings of tables; other members may be descriptions.
_TABLE = re.compile(
    r"\.(csv|tsv|tab|psv|dat|data|parquet|pq|feather|arrow|xls[xmb]?|ods|sas7bdat|xpt|dta|z?sav|por|"
    r"arff|jsonl|ndjson|sqlite3?|duckdb|db)(\.(gz|bz2|xz|zst))?$",
    re.IGNORECASE,
)


def check_swelling(path: Path, packed: int, unpacked: int) -> None:
    """Raise InputError if a file unpacks to an implausible size."""
    if unpacked > MOST_BYTES and unpacked > MOST_TIMES * packed:
        raise input_error(
            "swells", file=path, packed=bytes_words(packed), unpacked=bytes_words(unpacked)
        )


def _write_bounded(
    path: Path, pieces: Iterator[bytes], target: Path, enough: int, report: Callable[[], None]
) -> None:
    """Write unpacked bytes, or only the first ``enough`` ones.

    Raises
    ------
    InputError
        If the size is implausible, or the disk is nearly full.
    """
    done, packed = 0, max(path.stat().st_size, 1)
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


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: file.read(_CHUNK), b"")


# ------------------------------------------------------------- packed files


def _unpacked_zstd(file: IO[bytes]) -> Iterator[bytes]:
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


def _unpacked(file: IO[bytes], packer: str) -> Iterator[bytes]:
    """Unpack a file with a module of the standard library."""
    with _MODULES[packer].open(file) as unpacked:
        yield from _pieces(unpacked)


_MODULES: Mapping[str, Any] = {"gzip": gzip, "bzip2": bz2, "xz": lzma}


def _writer(packer: str) -> Callable[[Path, Path, ReadOptions, Advance], Written]:
    def write(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
        size = path.stat().st_size
        with path.open("rb") as file:
            _write_bounded(
                path,
                _unpacked(file, packer) if packer in _MODULES else _unpacked_zstd(file),
                target,
                options.enough,
                lambda: report(min(file.tell() / size, 1.0)),
            )
        return Written(FILE, name=path.stem)

    return write


write_gzip, write_bzip2, write_xz, write_zstd = map(_writer, (*_MODULES, "zstd"))


# ------------------------------------------------------------- archives


def write_zip(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    with zipfile.ZipFile(path) as archive:
        infos = {info.filename: info for info in archive.infolist() if not info.is_dir()}

        def member(name: str) -> IO[bytes]:
            if infos[name].flag_bits & _LOCKED:
                raise input_error("archive_locked", file=path)
            return archive.open(infos[name])

        sizes = {name: info.file_size for name, info in infos.items()}
        return _write_member(path, target, options, report, sizes, member)


def write_tar(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    with tarfile.open(path, "r:") as archive:
        infos = {info.name.removeprefix("./"): info for info in archive if info.isfile()}

        def member(name: str) -> IO[bytes]:
            file = archive.extractfile(infos[name])
            assert file is not None
            return file

        sizes = {name: info.size for name, info in infos.items()}
        return _write_member(path, target, options, report, sizes, member)


def _write_member(
    path: Path,
    target: Path,
    options: ReadOptions,
    report: Advance,
    sizes: Mapping[str, int],
    open_member: Callable[[str], IO[bytes]],
) -> Written:
    shown = [name for name in sizes if not PurePosixPath(name).name.startswith(".")]
    names = [name for name in shown if not name.lower().startswith(_CLUTTER)]
    enough = options.enough
    # With a single member, the requested name may be a part of that member.
    if len(names) == 1 and options.part not in names:
        options = ReadOptions()
    tables = [name for name in names if not _DOCUMENT.search(name)] or names
    name = pick_part(
        path,
        "member",
        sorted(names, key=sizes.__getitem__, reverse=True),  # the largest table is the data
        options,
        tables.__contains__,
        lambda n: _TABLE.search(n) is None,
    )
    check_swelling(path, path.stat().st_size, sizes[name])
    with open_member(name) as member:
        size = max(sizes[name], 1)
        _write_bounded(
            path, _pieces(member), target, enough, lambda: report(min(member.tell() / size, 1.0))
        )
    is_one = len(names) == 1
    return Written(
        FILE,
        remarks=tuple(about_parts("member", name, names)),
        part="" if is_one else name,
        parts=() if is_one else tuple(names),
        name=PurePosixPath(name).name,
    )
