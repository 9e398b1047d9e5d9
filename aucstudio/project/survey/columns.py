"""Columns of a table for display: AUC, figures, distributions, correlations and missing values."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array, Mask, class_counts
from aucstudio.engine.inference import Interval, delong_interval
from aucstudio.project.data.columns import Column, spell_cell
from aucstudio.project.data.findings.column_areas import VALUE, ranking
from aucstudio.project.data.table import Table

Stop = Callable[[], object]


def go_on() -> None:
    """Stop nothing."""


@dataclasses.dataclass(frozen=True, eq=False)
class Classes:
    """The two classes of a table as masks.

    Attributes
    ----------
    names : (str, str)
    positive, negative : ndarray of bool, shape (rows,)
        Rows without a label are neither.
    """

    names: tuple[str, str]
    positive: Mask
    negative: Mask

    @classmethod
    def of(cls, table: Table) -> Classes | None:
        """Return the classes; None if the table has no positive class, or no other one."""
        if table.label is None or table.positive is None or len(table.classes) < 2:
            return None
        others = [name for name in table.classes if name != table.positive]
        names = table.positive, others[0] if len(others) == 1 else "the rest"
        return cls(names, table.positives, table.labelled() & ~table.positives)


_FEW = 5


@dataclasses.dataclass(frozen=True, eq=False)
class RankedColumn:
    """The labelled rows, as a column ranks them.

    Attributes
    ----------
    positive, scores, by
        See :func:`~aucstudio.project.data.findings.column_areas.ranking`.
    """

    positive: Mask
    scores: Array
    by: str

    @classmethod
    def of(cls, column: Column, classes: Classes) -> RankedColumn | None:
        """Rank the rows; None if no row has a cell, or a class has no row."""
        rows = np.flatnonzero(classes.positive | classes.negative)
        found = ranking(column, rows, classes.positive[rows])
        return None if found is None else cls(*found)

    @property
    def is_few(self) -> bool:
        """Whether a class has so few cells that an area would mean nothing."""
        return min(class_counts(self.positive)) < _FEW

    def area(self) -> float:
        """Return the area; below one half if low values mean positive."""
        return roc.auc(self.positive, self.scores)

    def interval(self) -> Interval:
        """Return the area with DeLong's interval."""
        return delong_interval(self.positive, self.scores)


class ColumnAreas:
    """AUCs of all columns of a table, computed one by one, visible columns first.

    Attributes
    ----------
    found : ndarray of shape (columns,)
        NaN where there is none, or none yet.
    done : ndarray of bool
    wanted : range or sequence of int
        Numbers of the visible columns; another thread may change it.
    """

    def __init__(self, columns: tuple[Column, ...], classes: Callable[[], Classes | None]) -> None:
        self._columns, self._classes = columns, classes
        self.found = np.full(len(columns), np.nan)
        self.done = np.zeros(len(columns), dtype=bool)
        self.wanted: tuple[int, ...] = ()

    def find(self, report: Callable[[int], bool]) -> None:
        """Compute the missing areas; ``report`` receives each column and returns True to stop."""
        classes = self._classes()
        if classes is None:
            self.done[:] = True
        while classes is not None and not self.done.all():
            seen = (k for k in self.wanted if not self.done[k])
            k = next(seen, int(np.argmin(self.done)))
            column = self._columns[k]
            ranked = None if column.role == "label" else RankedColumn.of(column, classes)
            if ranked is not None:
                self.found[k] = ranked.area()
            self.done[k] = True
            if report(k):
                return


# ------------------------------------------------------------------ summary of one column

MOST_BARS = 12
_MOST_VALUES = 20  # different numbers that have a bar each
_MOST_BINS = 60
_TAILS = (0.005, 0.995)
_WINDOW = 50_000


@dataclasses.dataclass(frozen=True)
class Figures:
    """Figures of the known cells of some rows; those of texts are NaN."""

    rows: int
    missing: int
    mean: float = math.nan
    sd: float = math.nan
    median: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclasses.dataclass(frozen=True, eq=False)
class Distribution:
    """How cells of each class are spread.

    Attributes
    ----------
    edges : ndarray or None
        Of the bins of numbers, one more than there are bins; None where each bar is one value.
    names : tuple of str
        Of the bars where each is one value: texts by falling share of positives.
    shares : ndarray of shape (groups, bars)
        Of the known cells of a group; groups are the positives and the negatives, or all rows.
    below, above : int
        Cells that lie outside the bins.
    others : int
        Values without a bar: those whose shares of the classes differ least, or the rarest.
    """

    edges: Array | None
    names: tuple[str, ...]
    shares: Array
    below: int = 0
    above: int = 0
    others: int = 0


@dataclasses.dataclass(frozen=True, eq=False)
class ColumnSummary:
    """What a column holds.

    Attributes
    ----------
    name, kind : str
    groups : dict of str to Figures
        Of all rows, and of each class by its name.
    distinct : int
    distribution : Distribution
    class_names : tuple of str
        Names of the classes; empty where the table has no two of them.
    area : Interval or None
        The area under its ROC curve with DeLong's interval; None where a class has no cell.
    curve : RocCurve or None
    by : str
        What ranked the rows, as of :class:`RankedColumn`.
    layout : str
        How dates are written; empty where the column holds none.
    """

    name: str
    kind: str
    groups: dict[str, Figures]
    distinct: int
    distribution: Distribution
    class_names: tuple[str, ...]
    area: Interval | None
    curve: roc.RocCurve | None
    by: str
    layout: str = ""


def sum_up(column: Column, classes: Classes | None, stop: Stop = go_on) -> ColumnSummary:
    """Sum up a column; ``stop`` is called now and then and may raise.

    Number codes of missing values count as missing.
    """
    column = column.decoded()
    if column.role == "label":
        classes = None
    names, known = () if classes is None else classes.names, column.known()
    groups = {"All rows": _figures(column, known, np.ones(len(known), dtype=bool))}
    for name, mask in zip(names, _masks(column, classes), strict=False):
        stop()
        groups[name] = _figures(column, known, mask)
    distribution = spread(column, classes, stop)
    stop()
    ranked = None if classes is None else RankedColumn.of(column, classes)
    stop()
    return ColumnSummary(
        column.name,
        column.kind,
        groups,
        column.distinct,
        distribution,
        names,
        None if ranked is None else ranked.interval(),
        None if ranked is None else roc.roc_curve(ranked.positive, ranked.scores),
        VALUE if ranked is None else ranked.by,
        column.layout,
    )


def _masks(column: Column, classes: Classes | None) -> list[Mask]:
    if classes is None or column.role == "label":
        return [np.ones(len(column.values), dtype=bool)]
    return [classes.positive, classes.negative]


def _figures(column: Column, known: Mask, mask: Mask) -> Figures:
    rows, there = int(np.count_nonzero(mask)), known & mask
    missing = rows - int(np.count_nonzero(there))
    if column.kind == "text" or missing == rows:
        return Figures(rows, missing)
    cells = column.values[there]
    # Far numbers may have squares beyond the largest one.
    scale = float(np.abs(cells).max()) or 1.0
    return Figures(
        rows,
        missing,
        float(np.mean(cells / scale) * scale),
        float(np.std(cells / scale, ddof=1) * scale) if len(cells) > 1 else math.nan,
        float(np.median(cells)),
        float(cells.min()),
        float(cells.max()),
    )


def spread(column: Column, classes: Classes | None, stop: Stop = go_on) -> Distribution:
    """Return how the cells of each class are spread, or all where there are no classes."""
    masks = _masks(column, classes)
    if column.kind == "text":
        return _texts(column, masks, stop)
    known = ~np.isnan(column.values)
    if not known.any():
        return Distribution(None, (), np.zeros((len(masks), 0)))
    cells, parts = column.values[known], [column.values[mask & known] for mask in masks]
    if not column.different.exceeds(_MOST_VALUES):
        levels = np.unique(cells)
        counts = np.array([[np.count_nonzero(part == v) for v in levels] for part in parts])
        names = tuple(spell_cell(column, level) for level in levels.tolist())
        return Distribution(None, names, _shares(counts, parts))
    edges = _bin_edges(cells)
    counts = np.array([np.histogram(part, edges)[0] for part in parts])
    below = int(np.count_nonzero(cells < edges[0]))
    above = int(np.count_nonzero(cells > edges[-1]))
    return Distribution(edges, (), _shares(counts, parts), below, above)


def _bin_edges(known: Array) -> Array:
    """Return bins over the range of the cells, or over its middle where the tails are long."""
    low, high = np.quantile(known, _TAILS)
    ends = float(known.min()), float(known.max())
    # Ends that are not far are no reason to leave cells out.
    air = 0.5 * (high - low)
    low, high = max(ends[0], low - air), min(ends[1], high + air)
    if not low < high:
        low, high = ends
    bins = min(_MOST_BINS, max(8, math.ceil(2 * len(known) ** (1 / 3))))
    # By shares, as the difference of the ends may be beyond the largest number.
    steps = np.linspace(0.0, 1.0, bins + 1)
    return np.asarray(np.unique(low * (1 - steps) + high * steps))


def _texts(column: Column, masks: list[Mask], stop: Stop) -> Distribution:
    known = column.known()
    parts = [column.values[mask & known] for mask in masks]
    counted = [Counter[str]() for _ in masks]
    for part, found in zip(parts, counted, strict=True):
        for start in range(0, len(part), _WINDOW):
            stop()
            found.update(part[start : start + _WINDOW].tolist())
    together: Counter[str] = sum(counted, Counter())
    names = sorted(together, key=lambda value: (-together[value], value))
    counts = np.array([[found[value] for value in names] for found in counted], dtype=float)
    counts = counts.reshape(len(masks), len(names))
    shares = _shares(counts, parts)
    if len(masks) > 1:  # those that differ most, by falling share of positives
        apart = np.argsort(-np.abs(shares[0] - shares[1]), kind="stable")[:MOST_BARS]
        kept = apart[np.argsort(-(counts[0] / np.maximum(counts.sum(axis=0), 1))[apart])]
    else:
        kept = np.arange(min(MOST_BARS, len(names)))
    shown = tuple(names[k] for k in kept)
    return Distribution(None, shown, shares[:, kept], others=len(names) - len(kept))


def _shares(counts: NDArray[np.number], parts: Sequence[NDArray[np.generic]]) -> Array:
    """Return counts as shares of the cells of each part."""
    return np.asarray(counts / np.array([[max(len(part), 1)] for part in parts]))
