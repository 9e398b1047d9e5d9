"""Types of arrays, and their sorting in linear time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.compiled import kernel

if TYPE_CHECKING:
    from scipy import sparse

Array: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
RowNumbers: TypeAlias = NDArray[np.int32]
Single: TypeAlias = NDArray[np.float32]
Rows: TypeAlias = "Array | sparse.csr_array | sparse.csr_matrix"

MANY = 20_000  # of fewer, comparing takes hardly longer

_DIGITS, _BITS = 6, 11
_RADIX = 1 << _BITS

F = TypeVar("F", bound=np.floating[Any])
Keys = NDArray[np.uint64]


def class_counts(positive: Mask) -> tuple[int, int]:
    """Count positives and negatives."""
    m = int(np.count_nonzero(positive))
    return m, len(positive) - m


def portions(count: int, width: int, numbers: int) -> Iterator[slice]:
    """Cut a count into slices that hold so many numbers at most, ``width`` for each of the count.

    A slice holds at least one of the count.
    """
    step = max(1, numbers // max(1, width))
    return (slice(start, min(count, start + step)) for start in range(0, count, step))


def sums_from(x: Array) -> Array:
    """Return the sums x[k] + x[k + 1] + ... for k = 0, ..., len(x)."""
    sums = np.zeros(len(x) + 1)
    np.cumsum(x[::-1], out=sums[-2::-1])
    return sums


def sums_below(x: Array) -> Array:
    """Return the sums x[0] + ... + x[k - 1] for k = 0, ..., len(x)."""
    sums = np.zeros(len(x) + 1)
    np.cumsum(x, out=sums[1:])
    return sums


def ascending(values: NDArray[F]) -> tuple[Index, NDArray[F]]:
    """Return the order that sorts finite values, and them in that order."""
    if len(values) < MANY or values.dtype != np.float64:
        order = np.argsort(values)
        return order, values[order]
    order, found = by_digits(values.astype(np.float64, copy=False))
    return order.astype(np.intp, copy=False), found.astype(values.dtype, copy=False)


def by_digits(values: Array) -> tuple[NDArray[np.signedinteger[Any]], Array]:
    """Sort by digits, eleven bits at a time: for many values in half the time of comparing.

    Values that tie keep their order, but that -0 comes before 0; NaN comes last.
    """
    kind = np.int32 if len(values) <= np.iinfo(np.int32).max else np.intp
    order, next_order = (np.empty(len(values), dtype=kind) for _ in range(2))
    keys, next_keys = (np.empty(len(values), dtype=np.uint64) for _ in range(2))
    bits = np.ascontiguousarray(values).view(np.uint64)
    order, found = _by_digits(bits, order, keys, next_order, next_keys)
    return order, found.view(np.float64)


@kernel
def _by_digits(
    bits: Keys, order: Any, keys: Keys, next_order: Any, next_keys: Keys
) -> tuple[Any, Keys]:
    """Sort by the lowest digit, then by the next: each pass keeps the order of the one before.

    A float's bits rise with it once the sign is flipped, or all bits of a negative one.
    """
    n, mask, sign = len(bits), np.uint64(_RADIX - 1), np.uint64(1) << np.uint64(63)
    infinite, last = np.uint64(0x7FF) << np.uint64(52), ~np.uint64(0)
    counts = np.zeros((_DIGITS, _RADIX), np.int64)
    for i in range(n):
        key = ~bits[i] if bits[i] & sign else bits[i] | sign
        if bits[i] & ~sign > infinite:
            key = last
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
