"""Zip archives and arrays with checksums, checked before memory is taken for them.

The digests of an archive are in the entry ``SHA256SUMS``, as the program ``sha256sum`` writes and
checks them. Arrays are in numpy's format, without pickle.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from aucstudio.notices.words import bytes_words

SUMS = "SHA256SUMS"
# What the library raises on archives that are none, or damaged.
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)

# An ensemble has up to seven arrays for each fold model of each of its members.
_MOST_ENTRIES = 20_000
_MOST_NAMED = 200 * _MOST_ENTRIES  # bytes of names, with digests or places
_PIECE = 1 << 18
# Any archive may inflate to the first; to more, if it is not much more than its file.
_ALWAYS_INFLATED = 128e6
_MOST_INFLATION = 400
_STORED_ABOVE = 8_000_000
_STORED_INFLATION = 100
_SUM = re.compile(r"([0-9a-f]{64})  (.+)")
_ENCRYPTED = 1


def pack(entries: Mapping[str, bytes]) -> bytes:
    """Write entries and their digests as one archive; the same entries give the same bytes."""
    sums = "".join(f"{_digest(data)}  {name}\n" for name, data in entries.items())
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in {**entries, SUMS: sums.encode()}.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o644 << 16
            info.compress_type = zipfile.ZIP_STORED if _looks_a_bomb(data) else zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return target.getvalue()


def _looks_a_bomb(data: bytes) -> bool:
    """Return whether a reader may refuse to inflate it: millions of equal numbers."""
    large = len(data) > _STORED_ABOVE
    return large and len(zlib.compress(data, 1)) * _STORED_INFLATION < len(data)


def _digest(data: bytes | bytearray) -> str:
    return hashlib.sha256(data).hexdigest()


class Archive:
    """An archive that is read entry by entry, each checked against its digest.

    Everything raises one of :data:`BROKEN` where the archive is damaged.

    Parameters
    ----------
    file : binary file
    file_bytes : int
        Size of its file.
    most : float
        Bytes that all entries together may inflate to.
    """

    def __init__(self, file: BinaryIO, file_bytes: int, most: float) -> None:
        self._archive = zipfile.ZipFile(file)
        entries = self._archive.infolist()
        self._entries = {info.filename: info for info in entries}
        if len(entries) > _MOST_ENTRIES or len(self._entries) < len(entries):
            raise ValueError(f"it has {len(entries)} entries; at most {_MOST_ENTRIES} are possible")
        for info in entries:
            _require_plain(info)
        # The library also finds an archive at the end of another file, as in a project.
        if entries and min(info.header_offset for info in entries) > 0:
            raise ValueError("its first bytes are not those of an archive")
        self._require_size(file_bytes, most)
        if SUMS not in self._entries:
            raise ValueError(f"it has no {SUMS}")
        self._sums = self._read_sums()

    @property
    def names(self) -> list[str]:
        return [name for name in self._entries if name != SUMS]

    def size(self, name: str) -> int:
        """Return the bytes that an entry inflates to; KeyError if there is none."""
        return self._entries[name].file_size

    def read(self, name: str) -> bytearray:
        """Read an entry and check its digest."""
        data = self._inflate(name)
        if _digest(data) != self._sums[name]:
            raise ValueError(f"{name} was changed: its checksum differs")
        return data

    def _inflate(self, name: str) -> bytearray:
        data, done = bytearray(self.size(name)), 0
        with self._archive.open(self._entries[name]) as file:
            while done < len(data):
                piece = file.read(_PIECE)
                if not piece:
                    raise EOFError(f"{name} ends too early")
                data[done : done + len(piece)] = piece
                done += len(piece)
            file.read(1)  # at the end the library compares its own sum
        return data

    def _require_size(self, file_bytes: int, most: float) -> None:
        inflated = sum(info.file_size for info in self._entries.values())
        most = min(most, max(_ALWAYS_INFLATED, _MOST_INFLATION * file_bytes))
        if inflated > most:
            raise ValueError(
                f"its {bytes_words(file_bytes)} would inflate to {bytes_words(inflated)}, more "
                f"than the {bytes_words(most)} that are allowed"
            )

    def _read_sums(self) -> dict[str, str]:
        if self.size(SUMS) > _MOST_NAMED:
            raise ValueError(f"{SUMS} is too large")
        lines = self._inflate(SUMS).decode().splitlines()
        found = [_SUM.fullmatch(line) for line in lines]
        sums = {match[2]: match[1] for match in found if match is not None}
        if len(sums) < len(lines) or sums.keys() != set(self.names):
            raise ValueError(f"{SUMS} does not name its entries")
        return sums


def _require_plain(info: zipfile.ZipInfo) -> None:
    # Other ways of compressing inflate without regard to the size that is asked for.
    plain = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    if not plain or info.flag_bits & _ENCRYPTED:
        raise ValueError(f"{info.filename!r} is encrypted, or compressed by an unknown method")


# Numpy writes this and nothing else for plain arrays in C order.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)\{'descr': '(?P<type>[<>|][biufU]\d{1,6})', "
    rb"'fortran_order': False, 'shape': \((?P<shape>\d{1,18}(?:, \d{1,18}){0,2}),?\), \} *\n",
    re.DOTALL,
)
_BEFORE_LENGTH = 10
_LAST_CODE_POINT = 0x10FFFF


def array_to_bytes(array: NDArray[Any]) -> bytes:
    """Write one array in numpy's own format, never as pickle."""
    target = io.BytesIO()
    np.lib.format.write_array(target, np.ascontiguousarray(array), allow_pickle=False)
    return target.getvalue()


def array_from_bytes(data: bytes | bytearray) -> NDArray[Any]:
    """Read what :func:`array_to_bytes` wrote; the array of a bytearray shares its memory.

    Raises
    ------
    ValueError
        If it is no plain array, or does not match its header.
    """
    found = _HEADER.match(data)
    if found is None or found.end() != _BEFORE_LENGTH + int.from_bytes(found["length"], "little"):
        raise ValueError("an array has an unknown header")
    try:
        dtype = np.dtype(found["type"].decode())
    except TypeError as error:
        raise ValueError(f"an array has an unknown type: {error}") from error
    shape = tuple(map(int, found["shape"].split(b", ")))
    size = math.prod(shape) * dtype.itemsize
    if len(data) != found.end() + size:
        raise ValueError(f"an array has {len(data)} bytes, and its header states {size} of numbers")
    if not size:
        return np.empty(shape, dtype)
    array: NDArray[Any] = np.frombuffer(data, dtype, offset=found.end())
    _require_values(array)
    if isinstance(data, bytes) or not array.flags.aligned:
        array = array.copy()
    return array.reshape(shape)


def _require_values(array: NDArray[Any]) -> None:
    if array.dtype.kind == "b" and array.view(np.uint8).max() > 1:
        raise ValueError("a boolean array holds other values")
    if array.dtype.kind == "U":
        points = array.view(np.dtype("u4").newbyteorder(array.dtype.byteorder))
        if points.max() > _LAST_CODE_POINT:
            raise ValueError("a text array holds other values")
