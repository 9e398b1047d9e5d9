"""AUC of single columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import roc
from aucstudio.engine.inference import Interval, delong_interval
from aucstudio.project.data.columns import Column
from aucstudio.project.data.findings.separation import level_scores
from aucstudio.project.survey.classes import Classes, Mask
from aucstudio.project.survey.conditions import by_windows
from aucstudio.project.survey.order import text_codes

Array = NDArray[np.float64]

_FEW = 5


@dataclasses.dataclass(frozen=True, eq=False)
class RankedColumn:
    """The labelled rows, as a column ranks them.

    Attributes
    ----------
    positive : ndarray of bool
    scores : ndarray
        Numbers as they are, of rows that have one; of levels, a missing value among them, the
        share of positives in other rows with that level.
    by_share : bool
        Whether scores are such shares.
    """

    positive: Mask
    scores: Array
    by_share: bool

    @classmethod
    def of(
        cls, column: Column, classes: Classes, stop: Callable[[], object] = lambda: None
    ) -> RankedColumn | None:
        """Rank them; None where no row has a cell, or one of the classes no row."""
        by_share = column.kind == "text" or column.role == "category"
        cells, empty = column.values, column.part(slice(0))
        known = by_windows(cells, lambda part: empty.holding(part).known())
        labelled = classes.positive | classes.negative
        rows = np.flatnonzero(labelled if by_share else labelled & known)
        positive = classes.positive[rows]
        if not known[rows].any() or not positive.any() or positive.all():
            return None
        values = cells[rows]
        if by_share:
            codes = text_codes(values, stop) if column.kind == "text" else _codes(values)
            codes = np.where(np.isnan(codes), np.nanmax(codes) + 1, codes)
            values = level_scores(codes.astype(np.intp), positive)
        return cls(positive, values, by_share)

    @property
    def is_few(self) -> bool:
        """Whether so few rows of a class have a cell that an area would say nothing."""
        positives = int(np.count_nonzero(self.positive))
        return min(positives, len(self.positive) - positives) < _FEW

    def area(self) -> float:
        """Return the area; below one half where low values speak for the positives."""
        return roc.auc(self.positive, self.scores)

    def interval(self) -> Interval:
        """Return the area with DeLong's interval."""
        return delong_interval(self.positive, self.scores)


def _codes(values: Array) -> Array:
    levels, codes = np.unique(values, return_inverse=True)
    return np.where(np.isnan(levels)[codes], np.nan, codes)


class ColumnAreas:
    """AUCs of all columns of a table, computed one by one, visible columns first.

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
        """Compute the missing ones; ``tell`` receives each and returns True to stop."""
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
        """Return a column to look at: one that is seen, else the first one that is left."""
        seen = (k for k in self.wanted if not self.done[k])
        if (column := next(seen, None)) is not None:
            return column
        left = int(np.argmin(self.done[start:])) + start if start < len(self.done) else start
        return left if left < len(self.done) and not self.done[left] else None
