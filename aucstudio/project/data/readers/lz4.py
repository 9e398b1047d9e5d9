"""Frames of LZ4, for the few bytes that no library at hand unpacks."""

from __future__ import annotations

import struct

_MAGIC = 0x184D2204
_HAS_NAME, _HAS_LENGTH, _HAS_SUMS = 1, 8, 16
_AS_IT_IS = 1 << 31
# A count of so many goes on in the bytes that follow.
_MORE, _MOST = 15, 255
_SHORTEST = 4


def unpack_lz4(packed: bytes, most: int) -> bytes:
    """Unpack a frame.

    Parameters
    ----------
    packed : bytes
    most : int
        Bytes that it unpacks to at most.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError, LookupError, struct.error
        If it is damaged.
    """
    magic, flags = struct.unpack_from("<IB", packed)
    if magic != _MAGIC:
        raise ValueError("no frame of LZ4")
    place = 7 + 8 * bool(flags & _HAS_LENGTH) + 4 * bool(flags & _HAS_NAME)
    found = bytearray()
    while size := struct.unpack_from("<I", packed, place)[0]:
        block = packed[place + 4 : place + 4 + (size & ~_AS_IT_IS)]
        if size & _AS_IT_IS:
            found += block
        else:
            _unpack_block(block, found, most)
        if len(found) > most:
            raise ValueError("more than was said")
        place += 4 + len(block) + 4 * bool(flags & _HAS_SUMS)
    return bytes(found)


def _unpack_block(block: bytes, found: bytearray, most: int) -> None:
    place = 0
    while place < len(block) and len(found) <= most:
        token = block[place]
        length, place = _count(block, place + 1, token >> 4)
        found += block[place : place + length]
        place += length
        if place >= len(block):
            return
        (back,) = struct.unpack_from("<H", block, place)
        length, place = _count(block, place + 2, token & _MORE)
        if not 0 < back <= len(found):
            raise ValueError("points before the beginning")
        _repeat(found, back, length + _SHORTEST)


def _count(block: bytes, place: int, count: int) -> tuple[int, int]:
    if count < _MORE:
        return count, place
    while block[place] == _MOST:
        count += _MOST
        place += 1
    return count + block[place], place + 1


def _repeat(found: bytearray, back: int, length: int) -> None:
    """Add what stands so far back, which may run into what is added."""
    start = len(found) - back
    piece = found[start : start + length]
    found += (piece * (length // len(piece) + 1))[:length]
