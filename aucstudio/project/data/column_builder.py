"""Build columns from the Arrow chunks of DuckDB."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.text.numerals import BLANKS
from aucstudio.project.data.text_cells import OddTexts, ShortTexts, text_keys

# Size of the cache of stripped texts.
_REMEMBERED = 1_000
# With more distinct texts, equal texts are not shared any more; the second number applies if every
# second text is new.
_MOST_SHARED, _MANY_DIFFERENT = 1 << 17, 1 << 15


class NotPlainError(Exception):
    """A cell among plain numbers has a spelling that Python must read."""


@dataclasses.dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column: see :class:`~aucstudio.project.data.columns.Column`.

    Distinct texts are counted, distinct numbers are not.
    """

    values: NDArray[Any]
    missing: int
    distinct: int | None = None


class _Growing:
    """A growing column in one array; joining pieces would take twice the memory."""

    def __init__(self, rows: int, kind: type) -> None:
        self._values: NDArray[Any] = np.empty(rows, dtype=kind)
        self._count = 0

    def _append(self, part: NDArray[Any]) -> None:
        stop = self._count + len(part)
        if stop > len(self._values):
            self._values.resize(2 * stop, refcheck=False)
        self._values[self._count : stop] = part
        self._count = stop

    def _whole(self) -> NDArray[Any]:
        self._values.resize(self._count, refcheck=False)
        return self._values


class Numbers(_Growing):
    """A growing column of numbers; missing ones are NaN, or NULL if ``plain``."""

    def __init__(self, rows: int, *, plain: bool = False) -> None:
        super().__init__(rows, np.float64)
        self._plain = plain

    def add(self, view: Any) -> None:
        """Add a chunk; raise NotPlainError if a plain number is NaN: DuckDB reads ``-nan``."""
        values = np.frombuffer(view.buffer(1), dtype=np.float64)
        values = values[view.offset : view.offset + view.length]
        if self._plain:
            is_there = _valid(view)
            if np.isnan(values, where=is_there, out=np.zeros(len(values), dtype=bool)).any():
                raise NotPlainError
            values = values if is_there.all() else np.where(is_there, values, np.nan)
        self._append(values)

    def cells(self) -> Cells:
        return number_cells(self._whole())


class Texts(_Growing):
    """A growing column of texts; equal texts share one Python object unless most texts differ."""

    def __init__(self, rows: int, absent: frozenset[str]) -> None:
        super().__init__(rows, object)
        self._absent = absent
        self._known = _Known(absent)
        self._short = ShortTexts(self._known)
        self._missing = 0
        self._each: _EachAlone | None = None

    def add(self, view: Any) -> None:
        data, edges = _bytes_of(view)
        if self._each is None:
            part = self._shared(data, edges)
        else:
            part, missing = self._each.read(data, edges)
            self._missing += missing
        self._append(part)
        if self._each is None and self._known.distinct > self._most():
            self._each = _EachAlone(self._absent, self._known)
            self._known = _Known(self._absent)
            self._short = ShortTexts(self._known)

    def _shared(self, data: NDArray[np.uint8], edges: NDArray[np.int64]) -> NDArray[Any]:
        part = self._short.find(data, edges)
        if part is None:
            found = map(self._known.__getitem__, _cut(data, edges))
            part = np.fromiter(found, dtype=object, count=len(edges) - 1)
        if self._known.has_absent:
            self._missing += part.tolist().count(None)
        return part

    def _most(self) -> int:
        # Beyond this, looking texts up costs more than it saves.
        return _MOST_SHARED if 2 * self._known.distinct < self._count else _MANY_DIFFERENT

    def cells(self) -> Cells:
        distinct = self._known.distinct if self._each is None else self._each.distinct()
        return Cells(self._whole(), self._missing, distinct)


class _EachAlone:
    """Reads texts that mostly differ, without looking for equal ones.

    Parameters
    ----------
    absent : frozenset of str
    known : mapping of str to str or None
        Values of the texts read before.
    """

    def __init__(self, absent: frozenset[str], known: Mapping[str, str | None]) -> None:
        self._odd = OddTexts(BLANKS, absent)
        self._bare = functools.lru_cache(_REMEMBERED)(functools.partial(_bare, absent))
        self._keys = [_keys_of([*{text for text in known.values() if text is not None}])]

    def read(self, data: NDArray[np.uint8], edges: NDArray[np.int64]) -> tuple[NDArray[Any], int]:
        """Return the values of the texts between edges, and the number of missing ones."""
        cut = _cut(data, edges)
        texts: list[str | None] = [*cut]
        keys, missing = text_keys(data, edges), 0
        odd = self._odd.find(data, edges)
        if len(odd):
            meant = [self._bare(cut[n]) for n in odd.tolist()]
            keys[odd] = _keys_of([text or "" for text in meant])
            for n, text in zip(odd.tolist(), meant, strict=True):
                texts[n] = text
            is_nothing = np.array([text is None for text in meant])
            keys, missing = np.delete(keys, odd[is_nothing]), int(np.count_nonzero(is_nothing))
        self._keys.append(keys)
        return np.array(texts, dtype=object), missing

    def distinct(self) -> int:
        """Count the distinct texts."""
        keys = np.concatenate(self._keys)
        self._keys = []
        keys.sort()
        return len(keys) and 1 + int(np.count_nonzero(keys[1:] != keys[:-1]))


def _keys_of(texts: list[str]) -> NDArray[np.uint64]:
    cells = [text.encode() for text in texts]
    edges = np.cumsum([0, *map(len, cells)], dtype=np.int64)
    return text_keys(np.frombuffer(b"".join(cells), dtype=np.uint8), edges)


def _bare(absent: frozenset[str], text: str) -> str | None:
    bare = text.strip(BLANKS)
    return None if bare.lower() in absent else bare


class _Known(dict[str, str | None]):
    """The value of each text: stripped, None if missing. Each distinct text is classified once."""

    def __init__(self, absent: frozenset[str]) -> None:
        self._absent = absent
        self.distinct = 0
        self.has_absent = False

    def __missing__(self, text: str) -> str | None:
        found = _bare(self._absent, text)
        if found is None:
            self.has_absent = True
        elif found == text:
            self.distinct += 1
        else:
            found = self[found]
        self[text] = found
        return found


def _valid(view: Any) -> NDArray[np.bool_]:
    """Mark cells that are not NULL."""
    bits = np.frombuffer(view.buffer(0), dtype=np.uint8)
    if not len(bits):
        return np.ones(view.length, dtype=bool)
    flags = np.unpackbits(bits, count=view.offset + view.length, bitorder="little")
    return flags[view.offset :].astype(bool)


def _bytes_of(view: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the concatenated bytes of texts, and the edges between them."""
    edges = _edges(view)
    data = np.frombuffer(view.buffer(2), dtype=np.uint8)[edges[0] : edges[-1]]
    return data, edges - edges[0]


def _edges(view: Any) -> NDArray[np.int64]:
    edges = np.frombuffer(view.buffer(1), dtype=np.int64)
    return edges[view.offset : view.offset + view.length + 1]


def _cut(data: NDArray[np.uint8], edges: NDArray[np.int64]) -> list[str]:
    """Split UTF-8 bytes into the texts between edges."""
    if len(edges) == 1 or not data.all():
        return [data[i:j].tobytes().decode() for i, j in itertools.pairwise(edges.tolist())]
    # Splitting one text at NUL takes a third of the time of slicing.
    separated = np.zeros(len(data) + len(edges) - 2, dtype=np.uint8)
    is_text = np.ones(len(separated), dtype=bool)
    is_text[edges[1:-1] + np.arange(len(edges) - 2)] = False
    separated[is_text] = data
    return separated.tobytes().decode().split("\0")


def number_cells(values: NDArray[np.float64]) -> Cells:
    """Count the missing cells of a column of numbers."""
    return Cells(values, int(np.count_nonzero(np.isnan(values))))
