"""AUC of a single column.

Numbers are used as scores. Levels are ranked by their share of positives in the other half of the
rows, so that many levels gain nothing by chance.
"""

from __future__ import annotations

import dataclasses
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.columns import Column
from aucstudio.project.data.table import Table

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Most cells that are examined, and the bounds of the rows of a class.
_CELLS = 1_000_000
_FEWEST, _MOST = 200, 50_000
# Numbers with at most this many values may be codes without order.
MOST_CODES = 50


@dataclasses.dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows of the two classes."""

    positive: Rows
    negative: Rows

    @classmethod
    def of(cls, table: Table) -> ClassRows | None:
        """Return all labelled rows; None unless they have two classes.

        Without a positive class, the most frequent class is compared with the others.
        """
        if table.label is None or len(table.classes) < 2:
            return None
        if table.positive is None:
            table = table.with_roles(positive=max(table.classes, key=lambda n: table.classes[n]))
        (labelled,) = np.nonzero(table.labelled())
        positive = table.is_positive()
        found = cls(labelled[positive], labelled[~positive])
        return found if len(found.positive) and len(found.negative) else None

    def thinned(self, columns: int) -> ClassRows:
        """Return a random sample of fixed seed, small enough to be fast."""
        most = int(np.clip(_CELLS // max(columns, 1), _FEWEST, _MOST))
        random = np.random.default_rng(0)
        return ClassRows(*(_drawn(rows, most, random) for rows in (self.positive, self.negative)))


def _drawn(rows: Rows, most: int, random: np.random.Generator) -> Rows:
    if len(rows) <= most:
        return rows
    return np.sort(random.choice(rows, most, replace=False))


class SampledRows:
    """Areas of single features, on a sample if there are many rows; each is computed once.

    Attributes
    ----------
    classes : ClassRows
        All labelled rows.
    rows : ClassRows
        The sample.
    """

    def __init__(self, classes: ClassRows, columns: int) -> None:
        self.classes, self.rows = classes, classes.thinned(columns)
        self._areas: dict[str, float | None] = {}

    def area(self, column: Column) -> float | None:
        """Return the AUC of a column; None if a class has no value."""
        if column.name not in self._areas:
            self._areas[column.name] = area_of(column, self.rows)
        return self._areas[column.name]


# Inspection and findings use the same sample.
_SAMPLES: weakref.WeakKeyDictionary[Table, SampledRows] = weakref.WeakKeyDictionary()


def sampled(table: Table) -> SampledRows | None:
    """Return the sample of a table; None without two classes."""
    if table not in _SAMPLES:
        if (classes := ClassRows.of(table)) is None:
            return None
        _SAMPLES[table] = SampledRows(classes, len(table.features))
    return _SAMPLES[table]


def areas(table: Table) -> dict[str, float]:
    """Return the AUC of every single feature, on a sample if there are many rows.

    Columns without a value in a class are left out. Empty without a positive class.
    """
    sample = None if table.positive is None else sampled(table)
    if sample is None:
        return {}
    found = {column.name: sample.area(column) for column in table.features}
    return {name: area for name, area in found.items() if area is not None}


def area_of(column: Column, rows: ClassRows) -> float | None:
    """Return the AUC of a single column, according to its role."""
    return (
        area_of_numbers(column, rows) if column.role == "number" else area_of_levels(column, rows)
    )


def area_of_numbers(column: Column, rows: ClassRows) -> float | None:
    """Return the share of pairs in which the positive row has the greater number; ties are half."""
    high, low = (_known(column.values[part]) for part in (rows.positive, rows.negative))
    if not len(high) or not len(low):
        return None
    return ranked_area(high, low)


def ranked_area(high: Array, low: Array) -> float:
    """Return the share of pairs in which the first number is the greater one; ties are half."""
    high, low = np.sort(high), np.sort(low)  # sorted, so that the search is local in memory
    below = np.searchsorted(low, high, "left").sum() + np.searchsorted(low, high, "right").sum()
    return float(below) / (2.0 * len(high) * len(low))


def area_of_levels(column: Column, rows: ClassRows) -> float | None:
    """Return the area of levels, ranked by their share of positives in other rows."""
    if not len(rows.positive) or not len(rows.negative):
        return None
    codes = codes_of(column, np.concatenate([rows.positive, rows.negative]))
    positive = np.arange(len(codes)) < len(rows.positive)
    scores = level_scores(codes, positive)
    return ranked_area(scores[positive], scores[~positive])


def level_scores(codes: Rows, positive: NDArray[np.bool_]) -> Array:
    """Score rows by the share of positives that their level has in the other half of the rows.

    Shares of levels with few rows are shrunk to the overall share. The halves are stratified.
    """
    random, half = np.random.default_rng(0), np.zeros(len(codes), dtype=bool)
    for one in (positive, ~positive):
        half[random.permutation(np.flatnonzero(one))[::2]] = True
    whole, levels, scores = positive.mean(), int(codes.max(initial=0)) + 1, np.empty(len(codes))
    for seen in (half, ~half):
        rows, of_them = (
            np.bincount(codes[chosen], minlength=levels) for chosen in (seen, seen & positive)
        )
        scores[~seen] = ((of_them + whole) / (rows + 1.0))[codes[~seen]]
    return scores


def codes_of(column: Column, rows: Rows) -> Rows:
    """Number the values of a column in some rows, including the missing value."""
    cells = column.values[rows]
    if column.kind == "number":
        return np.unique(cells, return_inverse=True)[1].astype(np.intp)
    # Equal texts are mostly the same object, and addresses are faster to compare.
    addresses = np.frombuffer(np.ascontiguousarray(cells), dtype=np.intp)
    _, first, which = np.unique(addresses, return_index=True, return_inverse=True)
    places: dict[Any, int] = {}
    numbers = [places.setdefault(cell, len(places)) for cell in cells[first].tolist()]
    return np.array(numbers, dtype=np.intp)[which]


def _known(cells: Array) -> Array:
    return cells[~np.isnan(cells)]
