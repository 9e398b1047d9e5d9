"""How single columns separate the classes: their AUC, and what they find at small FPR.

Numbers are used as scores, or whether there is one if that separates better. Levels are ranked by
their share of positives in the other half of the rows, so that many levels gain nothing by chance.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import weakref
from typing import Any, NamedTuple

import numpy as np

from aucstudio.engine.arrays import Array, Index, Mask, class_counts
from aucstudio.project.data.columns import Column
from aucstudio.project.data.table import Table
from aucstudio.project.data.text import dates

# Most cells that are examined, and the bounds of the rows of a class.
_CELLS = 1_000_000
_FEWEST, _MOST = 200, 50_000
# What ranks rows: numbers, shares of positives by level, or whether there is a number.
VALUE, SHARE, PRESENCE = "value", "share", "presence"
# Numbers with at most this many values, each of so many rows, may be codes without order.
MOST_CODES, _ROWS_EACH = 50, 3
SMALL_FPR = (0.01, 0.05)
# Least difference of areas, absolute and in standard errors.
_GAIN, _ERRORS = 0.05, 3.0


@dataclasses.dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows of the two classes, and which of them are positive."""

    rows: Index
    positive: Mask

    @classmethod
    def of(cls, table: Table) -> ClassRows | None:
        """Return all labelled rows; None unless they have two classes.

        Without a positive class, the most frequent class is compared with the others.
        """
        if table.label is None or len(table.classes) < 2:
            return None
        if table.positive is None:
            table = table.with_roles(positive=max(table.classes, key=lambda n: table.classes[n]))
        found = cls(np.flatnonzero(table.labelled()), table.is_positive())
        return found if all(found.counts) else None

    @functools.cached_property
    def counts(self) -> tuple[int, int]:
        """Numbers of positives and negatives."""
        return class_counts(self.positive)

    @functools.cached_property
    def of_classes(self) -> tuple[Index, Index]:
        """The rows of the positives, and those of the negatives."""
        return self.rows[self.positive], self.rows[~self.positive]

    def thinned(self, columns: int) -> ClassRows:
        """Return a random sample of fixed seed, small enough to be fast."""
        most = int(np.clip(_CELLS // max(columns, 1), _FEWEST, _MOST))
        random, drawn = np.random.default_rng(0), []
        for places in map(np.flatnonzero, (self.positive, ~self.positive)):
            is_large = len(places) > most
            drawn.append(random.choice(places, most, replace=False) if is_large else places)
        kept = np.sort(np.concatenate(drawn))
        return ClassRows(self.rows[kept], self.positive[kept])


class Separation(NamedTuple):
    """How scores separate the classes.

    Attributes
    ----------
    area : float
        AUC of the rows with a score; 0.5 if a class has none.
    known : tuple of int
        Positives and negatives with a score.
    found : list of tuples of int
        The most positives found at each small FPR, and the negatives found with them.
    """

    area: float
    known: tuple[int, int]
    found: list[tuple[int, int]]


class Alone:
    """How a column alone separates the classes of some rows; each figure is computed once.

    Parameters
    ----------
    column : Column
    rows : ClassRows

    Attributes
    ----------
    part : str
        Of dates that are used by their parts, the one that separates best; else empty.
    """

    def __init__(self, column: Column, rows: ClassRows) -> None:
        self.column, self.rows, self.part = column.decoded(), rows, ""
        if column.parts:  # their numbers have no order that holds, as hours
            as_levels = functools.partial(
                dataclasses.replace, self.column, role="category", parts=()
            )
            parts = dates.values_of_parts(self.column).items()
            used = {name: Alone(as_levels(values=cells), rows) for name, cells in parts}
            self.part = max(used, key=lambda name: used[name].levels.area)
            self.column = used[self.part].column

    @functools.cached_property
    def numbers(self) -> Separation:
        """How numbers separate the classes; found in the better direction of both."""
        values, (_, negatives) = self.column.values, self.rows.counts
        high, low = (_sorted(values[rows]) for rows in self.rows.of_classes)
        if self.column.missing:
            high, low = (cells[: cells.searchsorted(np.nan)] for cells in (high, low))
        area = ranked_area(high, low) if len(high) and len(low) else 0.5
        rising = _at_few_false(high, low, negatives)
        falling = _at_few_false(-high[::-1], -low[::-1], negatives)
        return Separation(area, (len(high), len(low)), _most_found(rising, falling))

    @functools.cached_property
    def levels(self) -> Separation:
        """How levels separate the classes, ranked by their share of positives in other rows."""
        positive = self.rows.positive
        scores = level_scores(codes_of(self.column, self.rows.rows), positive)
        high, low = _sorted(scores[positive]), _sorted(scores[~positive])
        found = _at_few_false(high, low, len(low))
        return Separation(ranked_area(high, low), self.rows.counts, found)

    @functools.cached_property
    def by(self) -> str | None:
        """What ranks the rows; None if no row has a value, or a class has no row."""
        m, n = self.rows.counts
        if not m or not n:
            return None
        if self.column.kind == "text" or self.column.role == "category":
            return SHARE if self.column.known()[self.rows.rows].any() else None
        area, (high, low), _ = self.numbers
        if (high, low) == (m, n):
            return VALUE
        present = 0.5 + abs(high / m - low / n) / 2
        if (high or low) and is_plainly_more(present, max(area, 1 - area), m, n):
            return PRESENCE
        return VALUE if high and low else None

    @property
    def area(self) -> float | None:
        """The AUC of what ranks the rows; None if nothing does."""
        if self.by == PRESENCE:
            (m, n), (high, low) = self.rows.counts, self.numbers.known
            return (high * n + m * (n - low)) / (2.0 * m * n)
        return None if self.by is None else (self.levels if self.by == SHARE else self.numbers).area

    @property
    def best(self) -> float:
        """The best area, in either direction or as levels."""
        best = 0.5 if self.area is None else max(self.area, 1.0 - self.area)
        return max(best, self.levels.area) if may_be_levels(self.column) else best

    @property
    def found(self) -> list[tuple[int, int]]:
        """The most positives found at each small FPR, in any way, and the negatives with them."""
        if self.column.role != "number":
            return self.levels.found
        numbers = self.numbers.found
        return _most_found(numbers, self.levels.found) if may_be_levels(self.column) else numbers


class SampledRows:
    """Single features on a sample, if there are many rows.

    Attributes
    ----------
    classes : ClassRows
        All labelled rows.
    rows : ClassRows
        The sample.
    alone : callable
        Returns how a column separates the classes of the sample, computed once.
    """

    def __init__(self, classes: ClassRows, columns: int) -> None:
        self.classes, self.rows = classes, classes.thinned(columns)
        self.alone = functools.cache(functools.partial(Alone, rows=self.rows))


# Inspection and findings use the same sample.
_SAMPLES: weakref.WeakKeyDictionary[Table, SampledRows] = weakref.WeakKeyDictionary()


def sampled(table: Table) -> SampledRows | None:
    """Return the sample of a table; None without two classes."""
    if table not in _SAMPLES:
        if (classes := ClassRows.of(table)) is None:
            return None
        _SAMPLES[table] = SampledRows(classes, len(table.features))
    return _SAMPLES[table]


def alone(table: Table) -> dict[str, Alone]:
    """Return how every feature alone separates the classes, on a sample of many rows.

    Empty without a positive class.
    """
    sample = None if table.positive is None else sampled(table)
    return {} if sample is None else {c.name: sample.alone(c) for c in table.features}


def ranking(column: Column, rows: Index, positive: Mask) -> tuple[Mask, Array, str] | None:
    """Return how a column alone ranks rows; None if no row has a value, or a class has no row.

    Returns
    -------
    positive : ndarray of bool
        The classes of the ranked rows.
    scores : ndarray
        Of numbers, the numbers themselves, in the rows that have one; or, if it separates the
        classes better, 1 where there is a number and else 0. Of levels, missing values included,
        the rank by the share of positives in other rows with the level.
    by : {VALUE, SHARE, PRESENCE} or a part of dates
        What the scores are.
    """
    found = Alone(column, ClassRows(rows, positive))
    column, by = found.column, found.by
    if by is None:
        return None
    if by == SHARE:
        return positive, level_scores(codes_of(column, rows), positive), found.part or by
    known = column.known()[rows]
    if by == PRESENCE:
        return positive, known.astype(float), by
    return positive[known], column.values[rows][known], by


def ranked_area(high: Array, low: Array) -> float:
    """Return the share of pairs of sorted numbers in which the first is greater; ties are half."""
    below = low.searchsorted(high, "left") + low.searchsorted(high, "right")
    return float(below.sum()) / (2.0 * len(high) * len(low))


def _sorted(cells: Array) -> Array:
    cells.sort()  # in place, in a third of the time of numpy.sort for few cells
    return cells


def _at_few_false(high: Array, low: Array, negatives: int) -> list[tuple[int, int]]:
    """Return the positives found at each small FPR, and the negatives found with them.

    Parameters
    ----------
    high, low : ndarray
        Sorted scores of positives and negatives.
    negatives : int
        Number of all negatives, those without a score included, which are never found.
    """
    places = [int(rate * negatives) for rate in SMALL_FPR]
    ends = [low[-1 - place] if place < len(low) else -np.inf for place in places]
    hits, false = (len(scores) - scores.searchsorted(ends, "right") for scores in (high, low))
    return list(zip(hits.tolist(), false.tolist(), strict=True))


def _most_found(*ways: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [max(at, key=lambda one: (one[0], -one[1])) for at in zip(*ways, strict=True)]


def level_scores(codes: Index, positive: Mask) -> Array:
    """Score rows by the rank of their level among the shares of positives in the other half.

    Shares of levels with few rows are shrunk to the overall share. The halves are stratified. A
    level has a share in each half, but ranks are the same wherever both halves order levels alike.
    """
    random, half = np.random.default_rng(0), np.zeros(len(codes), dtype=bool)
    for one in (positive, ~positive):
        half[random.permutation(np.flatnonzero(one))[::2]] = True
    whole, levels, scores = positive.mean(), int(codes.max(initial=0)) + 1, np.empty(len(codes))
    for seen in (half, ~half):
        rows, of_them = (np.bincount(codes[s], minlength=levels) for s in (seen, seen & positive))
        shares = (of_them + whole) / (rows + 1.0)
        ordered = np.sort(shares)
        ranks = np.searchsorted(ordered, shares) + np.searchsorted(ordered, shares, "right")
        scores[~seen] = ranks[codes[~seen]]
    return scores


def codes_of(column: Column, rows: Index) -> Index:
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


def may_be_levels(column: Column) -> bool:
    """Return whether numbers are so few that they may be codes of levels."""
    most = min(MOST_CODES, (column.height - column.missing) // _ROWS_EACH)
    has_few = column.different.exceeds(2) and not column.different.exceeds(most)
    return column.role == "number" and has_few


def is_plainly_more(better: float, area: float, m: int, n: int) -> bool:
    """Return whether an area of so many rows is greater than another one beyond chance."""
    error = math.sqrt((m + n + 1) / (12 * m * n))
    return better - area > max(_GAIN, _ERRORS * error)
