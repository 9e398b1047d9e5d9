"""Summary of a column: figures, distribution by class and AUC."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import roc
from aucstudio.engine.inference import Interval
from aucstudio.project.data.columns import Column, spell_cell
from aucstudio.project.survey.classes import Classes, Mask
from aucstudio.project.survey.column_auc import RankedColumn

Array = NDArray[np.float64]

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
        Of the bars where each is one value; the last one may be all others.
    shares : ndarray of shape (groups, bars)
        Of the known cells of a group; groups are the positives and the negatives, or all rows.
    below, above : int
        Cells that lie outside the bins.
    others : int
        Values in the last bar.
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
    curve : Curve or None
    by_share : bool
        Whether texts were ranked by their share of positives.
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
    curve: roc.Curve | None
    by_share: bool
    layout: str = ""


def sum_up(
    column: Column, classes: Classes | None, stop: Callable[[], object] = lambda: None
) -> ColumnSummary:
    """Sum up a column; ``stop`` is called now and then and may raise."""
    names = () if classes is None or column.role == "label" else classes.names
    masks = _masks(column, classes)
    everybody = np.ones(len(column.values), dtype=bool)
    groups = {}
    for name, mask in zip(("All rows", *names), (everybody, *masks), strict=True):
        stop()
        groups[name] = _figures(column, mask)
    distribution = spread(column, classes, stop)
    stop()
    ranked = None if classes is None or not names else RankedColumn.of(column, classes, stop)
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
        ranked is not None and ranked.by_share,
        column.layout,
    )


def spread(
    column: Column, classes: Classes | None, stop: Callable[[], object] = lambda: None
) -> Distribution:
    """Return how the cells of each class are spread, or all where there are no classes."""
    everybody = np.ones(len(column.values), dtype=bool)
    found = _texts if column.kind == "text" else _numbers
    return found(column, _masks(column, classes) or [everybody], stop)


def _masks(column: Column, classes: Classes | None) -> list[Mask]:
    if classes is None or column.role == "label":
        return []
    return [classes.positive, classes.negative]


def _figures(column: Column, mask: Mask) -> Figures:
    values = column.values[mask]
    if column.kind == "text":
        missing = sum(
            values[k : k + _WINDOW].tolist().count(None) for k in range(0, len(values), _WINDOW)
        )
        return Figures(len(values), missing)
    known = values[~np.isnan(values)]
    missing = len(values) - len(known)
    if not len(known):
        return Figures(len(values), missing)
    # Far numbers may have squares beyond the largest one.
    scale = float(np.abs(known).max()) or 1.0
    return Figures(
        len(values),
        missing,
        float(np.mean(known / scale) * scale),
        float(np.std(known / scale, ddof=1) * scale) if len(known) > 1 else math.nan,
        float(np.median(known)),
        float(known.min()),
        float(known.max()),
    )


def _numbers(column: Column, masks: list[Mask], _stop: Callable[[], object]) -> Distribution:
    known = column.values[~np.isnan(column.values)]
    if not len(known):
        return Distribution(None, (), np.zeros((len(masks), 0)))
    if column.distinct <= _MOST_VALUES and len(levels := np.unique(known)) <= _MOST_VALUES:
        parts = [column.values[mask] for mask in masks]
        counts = np.array([[np.count_nonzero(part == v) for v in levels] for part in parts])
        return Distribution(
            None, tuple(spell_cell(column, v) for v in levels.tolist()), _shares(counts)
        )
    edges = _bin_edges(known)
    parts = [column.values[mask] for mask in masks]
    counts = np.array([np.histogram(part[~np.isnan(part)], edges)[0] for part in parts])
    totals = np.array([np.count_nonzero(~np.isnan(part)) for part in parts])
    below = int(np.count_nonzero(known < edges[0]))
    above = int(np.count_nonzero(known > edges[-1]))
    return Distribution(edges, (), counts / np.maximum(totals, 1)[:, None], below, above)


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
    edges: Array = np.unique(low * (1 - steps) + high * steps)
    return edges


def _texts(column: Column, masks: list[Mask], stop: Callable[[], object]) -> Distribution:
    counted = [Counter[str]() for _ in masks]
    for mask, found in zip(masks, counted, strict=True):
        values = column.values[mask]
        for start in range(0, len(values), _WINDOW):
            stop()
            found.update(v for v in values[start : start + _WINDOW].tolist() if v is not None)
    together: Counter[str] = sum(counted, Counter())
    fits = len(together) <= MOST_BARS
    most = together if fits else dict(together.most_common(MOST_BARS - 1))
    levels = sorted(most, key=lambda value: (-together[value], value))
    counts = np.array([[found[value] for value in levels] for found in counted], dtype=float)
    counts = counts.reshape(len(masks), len(levels))
    others = len(together) - len(levels)
    names = tuple(levels)
    if others:
        rest = np.array([sum(found.values()) for found in counted]) - counts.sum(axis=1)
        counts = np.column_stack([counts, rest])
        names = (*names, f"{others:,} others")
    return Distribution(None, names, _shares(counts), others=others)


def _shares(counts: NDArray[np.number]) -> Array:
    """Return counts as shares of their line."""
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shares: Array = counts / totals
    return shares
