"""Rows of a damaged SQLite file, found page by page without its tables of contents.

Every leaf page of a table is read by itself: what is wrong elsewhere in the file does not matter.
Rows come as they are, old ones of free pages among them; checksums tell which count.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

Value = int | str | bytes | float | None
PAGE = 4096  # of every project that this program has written
_LEAF = 0x0D
_HEADER = 100
_MOST_CELLS = PAGE // 4
_MOST_COLUMNS = 8
_WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def rows(file: bytes) -> Iterator[tuple[int, tuple[Value, ...]]]:
    """Give every row that can be read, with its number."""
    for start in range(0, len(file) - PAGE + 1, PAGE):
        page = file[start : start + PAGE]
        head = _HEADER if start == 0 else 0
        if page[head] != _LEAF:
            continue
        count = min(int.from_bytes(page[head + 3 : head + 5], "big"), _MOST_CELLS)
        for place in struct.unpack(f">{count}H", page[head + 8 : head + 8 + 2 * count]):
            try:
                yield _row(file, page, place)
            except (ValueError, IndexError):
                continue  # a cell that is no row, or not a whole one


def _row(file: bytes, page: bytes, place: int) -> tuple[int, tuple[Value, ...]]:
    size, place = _varint(page, place)
    number, place = _varint(page, place)
    return number, _record(_payload(file, page, place, size))


def _payload(file: bytes, page: bytes, place: int, size: int) -> bytes:
    """Put the bytes of a row together, which long ones have on pages of their own."""
    if size > len(file):
        raise ValueError("longer than the file")
    most, least = PAGE - 35, (PAGE - 12) * 32 // 255 - 23
    local = size
    if size > most:
        local = least + (size - least) % (PAGE - 4)
        local = local if local <= most else least
    if place + local > PAGE:
        raise ValueError("beyond its page")
    parts, rest = [page[place : place + local]], size - local
    following = int.from_bytes(page[place + local : place + local + 4], "big") if rest else 0
    while rest > 0:
        start = (following - 1) * PAGE
        if start < 0 or start + PAGE > len(file):
            raise ValueError("a page is missing")
        taken = min(rest, PAGE - 4)
        parts.append(file[start + 4 : start + 4 + taken])
        following, rest = int.from_bytes(file[start : start + 4], "big"), rest - taken
    return b"".join(parts)


def _record(payload: bytes) -> tuple[Value, ...]:
    end, place = _varint(payload, 0)
    if end > len(payload):
        raise ValueError("no row")
    values: list[Value] = []
    at = end
    while place < end:
        kind, place = _varint(payload, place)
        value, at = _value(payload, at, kind)
        values.append(value)
        if len(values) > _MOST_COLUMNS:
            raise ValueError("no row of ours")
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    width = _WIDTHS.get(kind, 8 if kind == 7 else (kind - 12) // 2)
    if kind in (10, 11) or at + width > len(payload):
        raise ValueError("no value")
    data = payload[at : at + width]
    if kind in _WIDTHS:
        return int.from_bytes(data, "big", signed=True), at + width
    if kind == 7:
        return float(struct.unpack(">d", data)[0]), at + width
    return (data.decode(errors="replace") if kind % 2 else data), at + width


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for _ in range(8):
        byte = data[place]
        place += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place
    return value << 8 | data[place], place + 1
