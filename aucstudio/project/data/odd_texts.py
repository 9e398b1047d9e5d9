"""Which of many texts may not be what they look like, judged by their first and last bytes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_BLANK_BEGINS, _WORD_BEGINS, _BLANK_ENDS = 1, 2, 4
# Beside ASCII's own capitals, what in small letters begins with one of ASCII: the kelvin, and
# I with a dot.
_CAPITALS = ("\u212a", "\u0130")
# So many bytes may a letter have, of which the small one has one.
_LONGEST_LETTER = 3


class OddTexts:
    """Finds texts that may have blanks around them, or be a word that stands for nothing.

    Parameters
    ----------
    blanks : str
        What may stand around a text.
    absent : iterable of str
        Words in small letters.
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
        """Name those of the texts between edges, and the empty ones."""
        lengths = np.diff(edges)
        padded = np.concatenate([data, np.zeros(1, dtype=np.uint8)])
        begins = self._flags[padded[edges[:-1]]]
        odd = (begins & _BLANK_BEGINS) | (self._flags[padded[edges[1:] - 1]] & _BLANK_ENDS)
        odd |= (begins & _WORD_BEGINS) * (lengths <= self._longest)
        return np.flatnonzero((odd > 0) | (lengths == 0))
