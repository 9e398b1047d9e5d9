"""Fast conversion of UTF-8 cells to Python texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Edges = NDArray[np.int64]
Words = NDArray[np.uint64]

_SIZE, _MOST_WORDS = 8, 4
# Bits of the first and of the largest hash table, and of the slots per text. With more texts, each
# one is looked up in the dictionary.
_FEW_BITS, _MOST_BITS, _ROOM_BITS = 10, 18, 3
_MOST = 1 << (_MOST_BITS - _ROOM_BITS + 1)
# Texts that are looked up one by one before the others are searched again.
_FIRST_FEW = 500
_WORD = np.dtype("<u8")
# Masks of the bytes of a word that belong to a text, by the number of bytes left.
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(_SIZE + 1)], _WORD)
# Odd multipliers with well mixed bits, which spread words over all slots.
_SPREAD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_HALF = np.uint64(32)
# Cannot occur in UTF-8.
_VACANT = np.uint64(2**64 - 1)
_BLANK_BEGINS, _WORD_BEGINS, _BLANK_ENDS = 1, 2, 4
# Letters outside ASCII whose lower case begins with an ASCII letter: kelvin sign and dotted I.
_CAPITALS = ("\u212a", "\u0130")
# Most bytes of a letter whose lower case has one byte.
_LONGEST_LETTER = 3


class ShortTexts:
    """Looks up the values of UTF-8 texts in a hash table, many at a time.

    Parameters
    ----------
    known : mapping of str to str or None
        The value of each text; used for texts that are in neither of their two slots.
    """

    def __init__(self, known: Mapping[str, str | None]) -> None:
        self._known = known
        self._bits = _FEW_BITS
        self._words = np.full((1, 1 << _FEW_BITS), _VACANT)
        self._meant: NDArray[Any] = np.full(1 << _FEW_BITS, None, dtype=object)

    def find(self, data: Bytes, edges: Edges) -> NDArray[Any] | None:
        """Return the values of the texts between edges; None if slicing is faster.

        Parameters
        ----------
        data : array
            The concatenated bytes of all texts.
        edges : array
            Start of each text, and the end of the last.
        """
        longest = int(np.diff(edges).max(initial=1))
        # Texts are padded with zeros, so a zero byte would be ambiguous.
        if len(self._known) > _MOST or longest > _SIZE * _MOST_WORDS or not data.all():
            return None
        self._make_room((longest + _SIZE - 1) // _SIZE)
        words = _words(data, edges, len(self._words))
        found, others = self._look(words)
        few = _FIRST_FEW
        while len(others):
            # After some texts have got slots, most of the others are found.
            some, others = others[:few], others[few:]
            pairs = zip(edges[some].tolist(), edges[some + 1].tolist(), strict=True)
            found[some] = [self._known[data[i:j].tobytes().decode()] for i, j in pairs]
            self._enter(words[:, some], found[some])
            found[others], unknown = self._look(words[:, others])
            others, few = others[unknown], 2 * few
        return found

    def _look(self, words: Words) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return the values of texts, and the texts that are in neither slot."""
        first, second = self._slots(words)
        found = self._meant[first]
        others = self._differing(words, first)
        found[others] = self._meant[second[others]]
        return found, others[self._differing(words[:, others], second[others])]

    def _enter(self, words: Words, meant: NDArray[Any]) -> None:
        first, second = self._slots(words)
        taken = np.where(self._words[0][first] == _VACANT, first, second)
        # If several texts share a slot, the last one stays.
        self._words[:, taken] = words
        self._meant[taken] = meant

    def _make_room(self, count: int) -> None:
        bits = self._bits
        while bits < _MOST_BITS and len(self._known) > 1 << (bits - _ROOM_BITS):
            bits += 1
        if bits == self._bits and count <= len(self._words):
            return
        taken = self._words[0] != _VACANT
        there, meant = self._words[:, taken], self._meant[taken]
        words = np.zeros((max(count, len(there)), len(meant)), _WORD)
        words[: len(there)] = there
        self._bits = bits
        self._words = np.full((len(words), 1 << bits), _VACANT)
        self._meant = np.full(1 << bits, None, dtype=object)
        self._enter(words, meant)

    def _slots(self, words: Words) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        mixed = words[0] * _SPREAD[0]
        for word in words[1:]:
            mixed = (mixed ^ (mixed >> _HALF) ^ word) * _SPREAD[0]
        slot = np.uint64(64 - self._bits)
        again = (mixed ^ (mixed >> _HALF)) * _SPREAD[1]
        return (mixed >> slot).astype(np.intp), (again >> slot).astype(np.intp)

    def _differing(self, words: Words, slots: NDArray[np.intp]) -> NDArray[np.intp]:
        differ = self._words[0][slots] != words[0]
        for there, word in zip(self._words[1:], words[1:], strict=True):
            differ |= there[slots] != word
        return np.flatnonzero(differ)


def text_keys(data: Bytes, edges: Edges) -> Words:
    """Return a 64-bit hash of each text; ten million texts collide with probability 1e-5."""
    words, keys = _everywhere(data), np.diff(edges).astype(np.uint64) * _SPREAD[1]
    which, starts, ends = np.arange(len(keys)), edges[:-1], edges[1:]
    while len(which):
        word = words[starts] & _MASKS[np.minimum(ends - starts, _SIZE)]
        mixed = (keys[which] ^ word) * _SPREAD[0]
        keys[which] = mixed ^ (mixed >> _HALF)
        starts = starts + _SIZE
        more = starts < ends
        which, starts, ends = which[more], starts[more], ends[more]
    keys *= _SPREAD[1]
    return keys ^ (keys >> _HALF)


def _words(data: Bytes, edges: Edges, count: int) -> Words:
    """Return the bytes of each text as integers of eight bytes, shape (count, texts)."""
    everywhere, lengths = _everywhere(data), np.diff(edges)
    words = np.empty((count, len(lengths)), _WORD)
    for n in range(count):
        starts = np.minimum(edges[:-1] + n * _SIZE, len(data))
        words[n] = everywhere[starts] & _MASKS[np.clip(lengths - n * _SIZE, 0, _SIZE)]
    return words


def _everywhere(data: Bytes) -> NDArray[Any]:
    """Return the eight bytes from each position on as one integer."""
    padded = np.concatenate([data, np.zeros(_SIZE, dtype=np.uint8)])
    return np.ndarray((len(data) + 1,), _WORD, padded, strides=(1,))


class OddTexts:
    """Finds texts with surrounding blanks or words for missing values.

    Parameters
    ----------
    blanks : str
        Characters that are stripped from both ends.
    absent : iterable of str
        Words for a missing value, in lower case.
    """

    def __init__(self, blanks: str, absent: Iterable[str]) -> None:
        self._flags = np.zeros(256, dtype=np.uint8)
        words = [word for word in absent if word]
        for blank in blanks:
            self._flags[blank.encode()[0]] |= _BLANK_BEGINS
            self._flags[blank.encode()[-1]] |= _BLANK_ENDS
        for word in (*words, *map(str.upper, words), *_CAPITALS):
            self._flags[word.encode()[0]] |= _WORD_BEGINS
        self._longest = _LONGEST_LETTER * max((len(word.encode()) for word in words), default=0)

    def find(self, data: NDArray[np.uint8], edges: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the indices of such texts between edges, and of empty ones."""
        lengths = np.diff(edges)
        padded = np.concatenate([data, np.zeros(1, dtype=np.uint8)])
        begins = self._flags[padded[edges[:-1]]]
        odd = (begins & _BLANK_BEGINS) | (self._flags[padded[edges[1:] - 1]] & _BLANK_ENDS)
        odd |= (begins & _WORD_BEGINS) * (lengths <= self._longest)
        return np.flatnonzero((odd > 0) | (lengths == 0))
