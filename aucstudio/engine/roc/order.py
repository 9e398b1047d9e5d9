"""The ascending order of many scores, in time that grows with their number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.compiled import kernel
from aucstudio.engine.roc.curve import Scores
from aucstudio.engine.types import Index

_MANY = 50_000  # of fewer, comparing takes no longer

_DIGITS, _BITS = 6, 11
_RADIX = 1 << _BITS

Keys = NDArray[np.uint64]


def ascending(values: Scores) -> tuple[Index, Scores]:
    """Give the order that sorts finite values, and them in that order.

    Many values in double precision are sorted by their digits, eleven bits at a time: half the
    time of comparing them, and those that tie keep their order.
    """
    if len(values) < _MANY or values.dtype != np.float64:
        order = np.argsort(values)
        return order, values[order]
    places = [np.empty(len(values), dtype=np.int32 if _fits(values) else np.intp) for _ in "ab"]
    keys = [np.empty(len(values), dtype=np.uint64) for _ in "ab"]
    bits = np.ascontiguousarray(values).view(np.uint64)
    order, found = _by_digits(bits, places[0], keys[0], places[1], keys[1])
    return order.astype(np.intp, copy=False), found.view(np.float64)


def _fits(values: NDArray[Any]) -> bool:
    return len(values) <= np.iinfo(np.int32).max


@kernel
def _by_digits(
    bits: Keys, order: Any, keys: Keys, next_order: Any, next_keys: Keys
) -> tuple[Any, Keys]:
    """Sort by the lowest digit, then by the next: each pass keeps the order of the one before.

    A float's bits rise with it once the sign is flipped, or all bits of a negative one.
    """
    n, mask, sign = len(bits), np.uint64(_RADIX - 1), np.uint64(1) << np.uint64(63)
    counts = np.zeros((_DIGITS, _RADIX), np.int64)
    for i in range(n):
        key = ~bits[i] if bits[i] & sign else bits[i] | sign
        keys[i], order[i] = key, i
        for digit in range(_DIGITS):
            counts[digit, (key >> np.uint64(_BITS * digit)) & mask] += 1
    for digit in range(_DIGITS):
        place, shift = counts[digit], np.uint64(_BITS * digit)
        if place[(keys[0] >> shift) & mask] == n:
            continue
        total = 0
        for b in range(_RADIX):
            total, place[b] = total + place[b], total
        for i in range(n):
            b = (keys[i] >> shift) & mask
            next_keys[place[b]], next_order[place[b]] = keys[i], order[i]
            place[b] += 1
        keys, next_keys = next_keys, keys
        order, next_order = next_order, order
    for i in range(n):
        next_keys[i] = keys[i] ^ sign if keys[i] & sign else ~keys[i]
    return order, next_keys
