"""Checksums of the documents and arrays of a project.

A checksum is 16 bytes of BLAKE2b: it finds every change, however small or large (a CRC is made
for a few flipped bits in a row), at a gigabyte a second. That of a document covers its place too,
so that a row in another's place is found; arrays go by their checksum, so that runs on the same
rows share them.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from aucstudio.project.errors import InputError

SIZE = 16
MOST_BYTES = 64 << 20  # of one document


class DamagedError(InputError):
    """A part of a file is not what was written.

    Attributes
    ----------
    run : str
        Id of the run it belongs to; empty where it is of no run.
    """

    def __init__(self, message: str, *, file: str | None = None, run: str = "") -> None:
        super().__init__(message, file=file)
        self.run = run


def checksum(data: bytes, *place: object) -> bytes:
    """Compute the checksum of bytes in their place."""
    digest = hashlib.blake2b(digest_size=SIZE)
    if place:
        digest.update(json.dumps(place).encode() + b"\0")
    digest.update(data)
    return digest.digest()


def seal(value: Any, *place: object) -> tuple[bytes, bytes]:
    """Write plain data as the bytes of a document, and their checksum."""
    data = json.dumps(value).encode()
    return data, checksum(data, *place)


def unseal(data: object, found: object, *place: object) -> Any:
    """Read what :func:`seal` wrote.

    Raises
    ------
    ValueError
        If it is not what was written.
    """
    if not isinstance(data, bytes) or len(data) > MOST_BYTES or checksum(data, *place) != found:
        raise ValueError("it does not match its checksum")
    return parse(data)


def plain(value: Any) -> Any:
    """Return plain data as it comes back from a document: tuples as lists, keys as text."""
    return json.loads(json.dumps(value))


def parse(data: bytes | str) -> Any:
    """Read JSON of bounded size and depth.

    Raises
    ------
    ValueError
    """
    if len(data) > MOST_BYTES:
        raise ValueError("it is larger than any that this program writes")
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
