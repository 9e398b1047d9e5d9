"""Short texts that come again and again, told apart as pairs of integers: most of a table's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LONGEST = 16
# Slots at first, and when there are more texts; beyond most of them each one is looked up.
_FEW_BITS, _MANY_BITS = 10, 15
_CROWDED, _MOST = 64, 2_000
_WORD = np.dtype("<u8")
# The bytes of a text in its first word, and in its second, by its length.
_FIRST = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(_LONGEST + 1)], _WORD)
_SECOND = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(_LONGEST + 1)], _WORD)
# Odd numbers with bits all over: products of them spread over all slots.
_SPREAD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
# No UTF-8 has it.
_VACANT = np.uint64(2**64 - 1)


class ShortTexts:
    """What texts of UTF-8 stand for, found many at a time.

    Parameters
    ----------
    known : mapping of str to str or None
        What each text stands for; asked where a text is not in its slot.
    """

    def __init__(self, known: Mapping[str, str | None]) -> None:
        self._known = known
        self._bits = 0
        self._grow(_FEW_BITS)

    def _grow(self, bits: int) -> None:
        self._bits = bits
        self._words = np.full((2, 1 << bits), _VACANT)
        self._meant: NDArray[Any] = np.full(1 << bits, None, dtype=object)

    def find(self, data: NDArray[np.uint8], edges: NDArray[np.int64]) -> NDArray[Any] | None:
        """Find what the texts between edges stand for; None where that takes longer than to cut.

        Parameters
        ----------
        data : array
            The bytes of all texts, one after the other.
        edges : array
            Where they begin, and the end of the last.
        """
        lengths = np.diff(edges)
        # A byte 0 would not tell a text from a shorter one.
        if len(self._known) > _MOST or lengths.max(initial=0) > _LONGEST or not data.all():
            return None
        if len(self._known) > _CROWDED and self._bits == _FEW_BITS:
            self._grow(_MANY_BITS)
        first, second = _words(data, edges, lengths)
        mixed = (first ^ second * _SPREAD[1]) * _SPREAD[0]
        slots = (mixed >> np.uint64(64 - self._bits)).astype(np.intp)
        found = self._meant[slots]
        (others,) = np.nonzero((self._words[0][slots] != first) | (self._words[1][slots] != second))
        if len(others):
            pairs = zip(edges[others].tolist(), edges[others + 1].tolist(), strict=True)
            found[others] = [self._known[data[i:j].tobytes().decode()] for i, j in pairs]
            taken = slots[others]
            # Of several texts for one slot the last stays, in all three.
            self._words[0][taken], self._words[1][taken] = first[others], second[others]
            self._meant[taken] = found[others]
        return found


def _words(
    data: NDArray[np.uint8], edges: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Give the bytes of each text as two integers."""
    padded = np.concatenate([data, np.zeros(_LONGEST, dtype=np.uint8)])
    everywhere = np.ndarray((len(data) + 9,), _WORD, padded, strides=(1,))
    first = everywhere[edges[:-1]] & _FIRST[lengths]
    if lengths.max(initial=0) <= 8:
        return first, np.zeros_like(first)
    return first, everywhere[edges[:-1] + 8] & _SECOND[lengths]
