"""What one column of a table is."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROLES = ("number", "category", "label", "group", "ignore")

_WINDOW = 100_000


@dataclasses.dataclass(frozen=True, eq=False)
class Column:
    """One column with its cells.

    Attributes
    ----------
    name : str
    role : {"number", "category", "label", "group", "ignore"}
    kind : {"number", "text"}
        What the cells are, whatever they are used for.
    values : ndarray of shape (rows,)
        float64 with NaN where missing, or an object array of str with None where missing.
    missing : int
        Missing cells.
    distinct : int
        Different values, missing not counted.
    why : str
        The sentence that explains a guessed role; empty where there is nothing to explain.
    """

    name: str
    role: str
    kind: str
    values: NDArray[Any]
    missing: int
    distinct: int
    why: str = ""

    def known(self) -> NDArray[np.bool_]:
        """Mark the rows whose cell is not missing."""
        if self.kind == "number":
            present: NDArray[np.bool_] = ~np.isnan(self.values)
        else:
            present = np.not_equal(self.values, np.array(None)).astype(bool)
        return present

    def counts(self) -> dict[str, int]:
        """Count the rows of each value, spelled as text, in the order of the values."""
        if self.kind == "number":
            values, counts = np.unique(self.values[self.known()], return_counts=True)
            return {spell_number(v): int(n) for v, n in zip(values, counts, strict=True)}
        found: dict[str | None, int] = {}
        # Windows, because one pass over objects in C would hold the GIL throughout.
        for start in range(0, len(self.values), _WINDOW):
            for value in self.values[start : start + _WINDOW].tolist():
                found[value] = found.get(value, 0) + 1
        return {value: found[value] for value in sorted(v for v in found if v is not None)}

    def equals(self, text: str) -> NDArray[np.bool_]:
        """Mark the rows that hold the value spelled ``text``."""
        wanted: Any = float(text) if self.kind == "number" else text
        equal: NDArray[np.bool_] = self.values == wanted
        return equal

    def is_integer(self) -> bool:
        """Tell whether all cells are whole numbers."""
        if self.kind == "text":
            return False
        cells = self.values[self.known()]
        return bool(np.all(cells == np.floor(cells)))


def spell_number(value: float) -> str:
    """Write a number as briefly as reads back the same: whole ones without ``.0``."""
    value = float(value)
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)
