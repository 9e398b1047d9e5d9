"""How well one column by itself ranks the classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import roc
from aucstudio.engine.inference import Interval, delong_interval
from aucstudio.project.data.columns import Column
from aucstudio.project.survey.classes import Classes, Mask
from aucstudio.project.survey.conditions import by_windows
from aucstudio.project.survey.order import text_codes

Array = NDArray[np.float64]

_MOSTLY_DISTINCT, _FEW_TEXTS = 0.5, 20


@dataclasses.dataclass(frozen=True, eq=False)
class RankedColumn:
    """The labelled rows that have a cell, as a column ranks them.

    Attributes
    ----------
    positive : ndarray of bool
    scores : ndarray
        Numbers as they are; of texts the share of positives among the rows with that text.
    by_share : bool
        Whether scores are such shares: they are found on the rows that they rank, so that the
        area flatters a column of many texts.
    """

    positive: Mask
    scores: Array
    by_share: bool

    @classmethod
    def of(
        cls, column: Column, classes: Classes, stop: Callable[[], object] = lambda: None
    ) -> RankedColumn | None:
        """Rank them.

        None where a class has no row with a cell, and where most texts stand in one row alone,
        whose order by their share of positives is the order of the classes.
        """
        known_rows = column.height - column.missing
        most = max(_FEW_TEXTS, _MOSTLY_DISTINCT * known_rows)
        if column.kind == "text" and column.distinct > most:
            return None
        cells, empty = column.values, column.part(slice(0))
        known = by_windows(cells, lambda part: empty.holding(part).known())
        rows = np.flatnonzero(known & (classes.positive | classes.negative))
        positive = classes.positive[rows]
        if not positive.any() or positive.all():
            return None
        values = cells[rows]
        if column.kind != "text":
            return cls(positive, values, False)
        codes = text_codes(values, stop).astype(np.intp)
        shares = np.bincount(codes, weights=positive) / np.bincount(codes)
        return cls(positive, shares[codes], True)

    def area(self) -> float:
        """Give the area; below one half where low values speak for the positives."""
        return roc.auc(self.positive, self.scores)

    def interval(self) -> Interval:
        """Give the area with DeLong's interval."""
        return delong_interval(self.positive, self.scores)


class ColumnAreas:
    """The areas of all columns of a table, found one by one, those that are looked at first.

    Attributes
    ----------
    found : ndarray of shape (columns,)
        NaN where there is none, or none yet.
    done : ndarray of bool
    wanted : range or sequence of int
        Numbers of the columns that are looked at; another thread may change it.
    """

    def __init__(self, columns: tuple[Column, ...], classes: Callable[[], Classes | None]) -> None:
        self._columns, self._classes = columns, classes
        self.found = np.full(len(columns), np.nan)
        self.done = np.zeros(len(columns), dtype=bool)
        self.wanted: tuple[int, ...] = ()

    def find(self, tell: Callable[[int], bool]) -> None:
        """Find those that are not known; ``tell`` hears of each and answers True to stop it."""
        classes, following = self._classes(), 0
        if classes is None:
            self.done[:] = True
            return
        while (column := self._next(following)) is not None:
            following = max(following, column) if self.done[:column].all() else following
            one = self._columns[column]
            ranked = None if one.role == "label" else RankedColumn.of(one, classes)
            if ranked is not None:
                self.found[column] = ranked.area()
            self.done[column] = True
            if tell(column):
                return

    def _next(self, start: int) -> int | None:
        """Give a column to look at: one that is seen, else the first one that is left."""
        seen = (k for k in self.wanted if not self.done[k])
        if (column := next(seen, None)) is not None:
            return column
        left = int(np.argmin(self.done[start:])) + start if start < len(self.done) else start
        return left if left < len(self.done) and not self.done[left] else None
