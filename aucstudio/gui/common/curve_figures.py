"""Held-out ROC curves of a run, and texts about their vertices and ranges."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array
from aucstudio.engine.roc import cut_at
from aucstudio.notices.words import figure_words
from aucstudio.project.results.thresholds import curve_of
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import RunRecord

SCALES = {"normalized": "pAUC", "raw": "pAUC, raw", "mcclish": "pAUC, McClish"}
MIN_WIDTH = 0.001
"The narrowest possible range."
_DECIMALS = 4
_CACHED = 16  # bands
MOST_AT_ONCE = 20_000  # rows whose curves are computed where they are shown


@dataclasses.dataclass(frozen=True, eq=False)
class Trace:
    """One line of the picture.

    Attributes
    ----------
    x, y : ndarray
        FPR and TPR of every vertex.
    curve : RocCurve or None
        Counts and thresholds of the vertices; None for an average.
    split, splits : int
        The split and the number of splits.
    spread : ndarray or None
        Standard deviation of the TPR over the splits, for an average.
    """

    x: Array
    y: Array
    curve: roc.RocCurve | None
    split: int
    splits: int
    spread: Array | None = None

    @cached_property
    def corners(self) -> tuple[Array, Array]:
        """The corners of the line."""
        if self.curve is None:
            return self.x, self.y
        bends = self.curve.corners()
        return bends.fpr, bends.tpr


@dataclasses.dataclass(frozen=True, eq=False)
class RunCurves:
    """The curves of one run.

    Attributes
    ----------
    curves : tuple of RocCurve
        One for each finished split.
    """

    curves: tuple[roc.RocCurve, ...]
    _areas: dict[Band, list[roc.PartialAUC]] = dataclasses.field(default_factory=dict)

    @cached_property
    def every(self) -> list[Trace]:
        """The curve of each split."""
        count = len(self.curves)
        return [Trace(c.fpr, c.tpr, c, k, count) for k, c in enumerate(self.curves)]

    @cached_property
    def average(self) -> Trace:
        """The mean TPR at each FPR; the curve itself for a single split."""
        if len(self.curves) == 1:
            return self.every[0]
        fpr, tpr, spread = roc.vertical_average(self.curves)
        return Trace(fpr, tpr, None, 0, len(self.curves), spread)

    def areas(self, band: Band) -> list[roc.PartialAUC]:
        """Return the partial area of each split, cached for recent bands."""
        if band not in self._areas:
            if len(self._areas) >= _CACHED:
                self._areas.clear()
            self._areas[band] = [roc.partial_auc_of(bends, *band) for bends in self._bends]
        return self._areas[band]

    @cached_property
    def _bends(self) -> list[roc.RocCurve]:
        """The curves reduced to their corners, with the same areas."""
        return [curve.corners() for curve in self.curves]

    def area(self, band: Band, scale: str = "normalized") -> float:
        """Compute the mean partial area over the splits, on one of the ``SCALES``."""
        return float(np.mean([getattr(area, scale) for area in self.areas(band)]))

    def negatives(self, band: Band) -> int:
        """Return how many negatives decide the band, in the smallest split."""
        return min(area.negatives for area in self.areas(band))


_known: WeakKeyDictionary[RunRecord, RunCurves] = WeakKeyDictionary()


def run_curves(record: RunRecord) -> RunCurves:
    """Return the curves of a record with at least one finished split; computed once a record."""
    if record not in _known:
        _known[record] = RunCurves(tuple(curve_of(split) for split in record.splits))
    return _known[record]


def unready(records: Sequence[RunRecord]) -> list[RunRecord]:
    """Return the records whose curves are not cached if all take longer than a frame."""
    missing = [record for record in records if record not in _known]
    rows = sum(len(split.test_rows) for record in missing for split in record.splits)
    return missing if rows > MOST_AT_ONCE else []


def make_ready(records: Sequence[RunRecord]) -> None:
    """Compute and cache the curves of records; may be called on any thread."""
    for known in map(run_curves, records):
        for trace in (*known.every, known.average):
            trace.corners  # noqa: B018  (computed and cached)
        known._bends  # noqa: B018


def within_band(trace: Trace, band: Band) -> tuple[Array, Array]:
    """Cut a line at the band's edges, interpolating; the area under it is the raw pAUC."""
    x, y = trace.corners
    first, last = np.searchsorted(x, band[0], "right"), np.searchsorted(x, band[1], "left")
    inside = slice(first, last)
    ends = [_on_segment(x, y, int(k), at) for k, at in zip((first, last), band, strict=True)]
    return np.r_[band[0], x[inside], band[1]], np.r_[ends[0], y[inside], ends[1]]


def _on_segment(x: Array, y: Array, k: int, at: float) -> float:
    """Height at ``at`` of the segment that ends in vertex k."""
    share = (at - x[k - 1]) / (x[k] - x[k - 1])
    return float(y[k - 1] + share * (y[k] - y[k - 1]))


def fit_band(low: float, high: float, old: Band) -> Band:
    """Round a dragged band and keep it within [0, 1] and at least 0.001 wide.

    If it became too narrow, the edge that differs from ``old`` is moved.
    """
    low, high = (round(min(max(edge, 0.0), 1.0), _DECIMALS) for edge in (low, high))
    if high - low >= MIN_WIDTH - 1e-9:
        return low, high
    if low != old[0]:
        low = max(high - MIN_WIDTH, 0.0)
        high = max(high, MIN_WIDTH)
    else:
        high = min(low + MIN_WIDTH, 1.0)
        low = min(low, 1.0 - MIN_WIDTH)
    return round(low, _DECIMALS), round(high, _DECIMALS)


def vertex_words(trace: Trace, vertex: int, threshold: float | None = None) -> str:
    """Describe what a scorer does at a vertex of its curve.

    At a threshold of its own where given.
    """
    if trace.curve is None:
        spread = 0.0 if trace.spread is None else trace.spread[vertex]
        mean = f"mean TPR {trace.y[vertex]:.3f} (sd {spread:.3f} over {trace.splits} splits)"
        return f"FPR {trace.x[vertex]:.3f}   {mean}"
    curve = trace.curve
    tp, fp, m = curve.tp[vertex].item(), curve.fp[vertex].item(), curve.positives
    if threshold is None:
        threshold = cut_at(curve, vertex) if vertex else np.inf
    parts = [
        f"split {trace.split + 1}" if trace.splits > 1 else "",
        f"threshold {threshold:.4g}" if np.isfinite(threshold) else "threshold above all scores",
        f"FPR {curve.fpr[vertex]:.3f}",
        f"TPR {curve.tpr[vertex]:.3f}",
        f"precision {tp / (tp + fp):.3f}" if tp + fp else "precision –",
        f"F1 {2 * tp / (tp + fp + m):.3f}",
        *_row_words(curve, vertex),
    ]
    return "   ".join(part for part in parts if part).replace("-", "−")


def _row_words(curve: roc.RocCurve, vertex: int) -> list[str]:
    """Count the rows predicted positive, without weights."""
    counts, (m, n) = curve.behind or curve, curve.rows
    counted = [f"TP {counts.tp[vertex]:,} of {m:,}", f"FP {counts.fp[vertex]:,} of {n:,}"]
    return counted if curve.behind is None else [*counted, "rates weighted"]


def chance_area(band: Band) -> float:
    """Return the normalised partial area of a random ranking."""
    return sum(band) / 2


def area_words(value: float, scale: str) -> str:
    """Write a partial area: raw areas are small and get a digit more."""
    return f"{value:.4f}" if scale == "raw" else figure_words(value)


def band_words(band: Band) -> str:
    """Write a band as 0 … 0.1."""
    return " … ".join(f"{edge:.{_DECIMALS}f}".rstrip("0").rstrip(".") for edge in band)
