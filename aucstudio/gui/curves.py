"""The held-out ROC curves of a run, computed once, and the words that the picture puts to them."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import inference, roc
from aucstudio.gui.session import ShownRun
from aucstudio.project.experiment import Band
from aucstudio.project.record import RunRecord
from aucstudio.project.summary import LEVEL, Summary, auc_summary, pauc_summary, same_rows
from aucstudio.project.words import interval_words, p_words

Array = NDArray[np.float64]

SCALES = {"normalized": "pAUC", "raw": "pAUC, raw", "mcclish": "pAUC, McClish"}
FEW_NEGATIVES = 20
_CELLS = 1_000
_MIN_WIDTH = 0.001
_DECIMALS = 4


@dataclasses.dataclass(frozen=True, eq=False)
class Trace:
    """One line of the picture.

    Attributes
    ----------
    x, y : ndarray
        FPR and TPR of every vertex that can be pointed at.
    curve : Curve or None
        Counts and thresholds of the vertices; None for an average.
    split, splits : int
        Which split of how many; an average is of all.
    spread : ndarray or None
        Standard deviation of the TPR over the splits, for an average.
    """

    x: Array
    y: Array
    curve: roc.Curve | None
    split: int
    splits: int
    spread: Array | None = None

    @cached_property
    def corners(self) -> tuple[Array, Array]:
        """The same line by its corners alone."""
        if self.curve is None:
            return self.x, self.y
        bends = self.curve.corners()
        return bends.fpr, bends.tpr


@dataclasses.dataclass(frozen=True, eq=False)
class RunCurves:
    """The curves of one run.

    Attributes
    ----------
    curves : tuple of Curve
        One for each finished split.
    auc : Summary
    """

    curves: tuple[roc.Curve, ...]
    auc: Summary

    @cached_property
    def every(self) -> list[Trace]:
        """The curve of each split."""
        count = len(self.curves)
        return [Trace(c.fpr, c.tpr, c, k, count) for k, c in enumerate(self.curves)]

    @cached_property
    def average(self) -> Trace:
        """The mean TPR at each FPR; of a single split its very curve."""
        if len(self.curves) == 1:
            return self.every[0]
        fpr, tpr, spread = roc.vertical_average(self.curves)
        return Trace(fpr, tpr, None, 0, len(self.curves), spread)

    def areas(self, band: Band) -> list[roc.PartialAUC]:
        """Compute the partial area of each split."""
        return [roc.partial_auc_of(curve, *band) for curve in self.curves]

    def area(self, band: Band, scale: str = "normalized") -> float:
        """Compute the mean partial area over the splits, on one of the ``SCALES``."""
        return float(np.mean([getattr(area, scale) for area in self.areas(band)]))

    def negatives(self, band: Band) -> int:
        """Tell how many negatives decide the band, in the smallest split."""
        return min(area.negatives for area in self.areas(band))


_known: WeakKeyDictionary[RunRecord, RunCurves] = WeakKeyDictionary()


def run_curves(record: RunRecord) -> RunCurves:
    """Give the curves of a record with at least one finished split; computed once a record."""
    if record not in _known:
        curves = tuple(roc.roc_curve(s.test_positive, s.test_scores) for s in record.splits)
        _known[record] = RunCurves(curves, auc_summary(record))
    return _known[record]


def thin(x: Array, y: Array, window: tuple[float, float, float, float]) -> tuple[Array, Array]:
    """Drop the points of a rising line that nobody can see.

    The window (left, right, bottom, top) is cut into 1,000 by 1,000 cells, finer than pixels, and
    one point of each is kept: about 2,000, since a rising line meets no more. Outside the window
    a cell also keeps its last point, where the line comes in. Lines of up to 2,000 points stay.
    """
    if len(x) <= 2 * _CELLS:
        return x, y
    left, right, bottom, top = window
    column = np.clip(np.floor((x - left) * (_CELLS / (right - left))), -1, _CELLS)
    row = np.clip(np.floor((y - bottom) * (_CELLS / (top - bottom))), -1, _CELLS)
    beyond = (column < 0) | (column == _CELLS)
    row[beyond] = -1
    enters = np.append(True, (np.diff(column) != 0) | (np.diff(row) != 0))
    leaves = np.append(enters[1:], True)
    kept = enters | (leaves & (beyond | (row < 0) | (row == _CELLS)))
    kept[-1] = True
    return x[kept], y[kept]


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

    Where it became too narrow, the edge that moved away from ``old`` gives way.
    """
    low, high = (round(min(max(edge, 0.0), 1.0), _DECIMALS) for edge in (low, high))
    if high - low >= _MIN_WIDTH - 1e-9:
        return low, high
    if low != old[0]:
        low = max(high - _MIN_WIDTH, 0.0)
        high = max(high, _MIN_WIDTH)
    else:
        high = min(low + _MIN_WIDTH, 1.0)
        low = min(low, 1.0 - _MIN_WIDTH)
    return round(low, _DECIMALS), round(high, _DECIMALS)


def nearest_vertex(
    trace: Trace, x: float, y: float, pixel: tuple[float, float]
) -> tuple[float, int]:
    """Give the squared distance in pixels of the nearest vertex, and which it is."""
    distance = ((trace.x - x) / pixel[0]) ** 2 + ((trace.y - y) / pixel[1]) ** 2
    vertex = int(distance.argmin())
    return float(distance[vertex]), vertex


def vertex_words(trace: Trace, vertex: int) -> str:
    """Say what a scorer does at a vertex of its curve."""
    if trace.curve is None:
        spread = 0.0 if trace.spread is None else trace.spread[vertex]
        mean = f"mean TPR {trace.y[vertex]:.3f} ± {spread:.3f} (sd of {trace.splits} splits)"
        return f"FPR {trace.x[vertex]:.3f}   {mean}"
    curve = trace.curve
    tp, fp, m = int(curve.tp[vertex]), int(curve.fp[vertex]), curve.positives
    threshold = float(curve.thresholds[vertex])
    parts = [
        f"split {trace.split + 1}" if trace.splits > 1 else "",
        f"threshold {threshold:.4g}" if np.isfinite(threshold) else "threshold above all",
        f"FPR {curve.fpr[vertex]:.3f}",
        f"TPR {curve.tpr[vertex]:.3f}",
        f"precision {tp / (tp + fp):.3f}" if tp + fp else "precision –",
        f"F1 {2 * tp / (tp + fp + m):.3f}",
        f"TP {tp:,} of {m:,}",
        f"FP {fp:,} of {curve.negatives:,}",
    ]
    return _minus("   ".join(part for part in parts if part))


def area_words(value: float, scale: str) -> str:
    """Write a partial area: raw areas are small and get a digit more."""
    return f"{value:.4f}" if scale == "raw" else f"{value:.3f}"


def band_words(band: Band) -> str:
    """Write a band as 0 … 0.10."""
    return " … ".join(_edge(edge) for edge in band)


def _edge(value: float) -> str:
    if value in (0.0, 1.0):
        return f"{value:.0f}"
    whole, decimals = f"{value:.{_DECIMALS}f}".split(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}"


def _minus(text: str) -> str:
    """Write minus signs as such."""
    return text.replace("-", "−")


def roc_sentence(runs: list[ShownRun], band: Band) -> str:
    """Say who ranks best in the band, how sure that is, and what decides it."""
    if not runs:
        return ""
    ranked = sorted(runs, key=lambda run: -run_curves(run.record).area(band))
    told = _one_run(ranked[0], band) if len(runs) == 1 else _best_two(ranked[0], ranked[1], band)
    return " ".join([told, _deciding(ranked[:2], band), *_wrong_way(runs)])


def _one_run(run: ShownRun, band: Band) -> str:
    area = run_curves(run.record).auc
    words = f"{run.look.name}: AUC {_with_interval(area)}"
    if band != (0.0, 1.0):
        part = pauc_summary(run.record, band)
        words += f"; normalised pAUC in FPR {band_words(band)} {_with_interval(part)}"
    if len(run.record.splits) > 1:
        words += f"; means of {len(run.record.splits)} splits"
    return f"{words}."


def _with_interval(summary: Summary) -> str:
    known = np.isfinite(summary.low)
    interval = f"95 % {interval_words(summary.low, summary.high)}" if known else "no interval"
    return f"{summary.value:.3f} ({interval})"


def _best_two(best: ShownRun, second: ShownRun, band: Band) -> str:
    where = "Over the whole curve" if band == (0.0, 1.0) else f"In FPR {band_words(band)}"
    names = best.look.name, second.look.name
    if not same_rows(best.record, second.record):
        a, b = (run_curves(run.record).area(band) for run in (best, second))
        return (
            f"{where}, {names[0]} has a normalised pAUC of {a:.3f} and {names[1]} of {b:.3f}, on "
            "different test rows: not comparable pair by pair."
        )
    difference, sure, settled = _compared(best.record, second.record, band)
    verdict = "settled" if settled else "not settled"
    if round(difference, 3) == 0:
        return f"{where}, {names[0]} and {names[1]} are level ({sure}): {verdict}."
    return f"{where}, {names[0]} leads {names[1]} by {difference:.3f} ({sure}): {verdict}."


def _compared(a: RunRecord, b: RunRecord, band: Band) -> tuple[float, str, bool]:
    """Give the difference of the normalised areas, its uncertainty in words, and the verdict."""
    if len(a.splits) == 1:
        one, other = a.splits[0], b.splits[0]
        test = inference.pauc_test(
            one.test_positive, one.test_scores, other.test_scores, *band, LEVEL
        )
        sure = f"{_bounds(test.low, test.high)}, {p_words(test.p)}"
        return test.difference, sure, test.p < 1 - LEVEL
    pairs = zip(run_curves(a).areas(band), run_curves(b).areas(band), strict=True)
    differences = [x.normalized - y.normalized for x, y in pairs]
    train, test_rows = len(a.splits[0].train_rows), len(a.splits[0].test_rows)
    found = inference.splits_interval(
        differences, LEVEL, test_fraction=test_rows / (train + test_rows), bounds=(-1.0, 1.0)
    )
    sure = f"mean of {len(differences)} splits, {_bounds(found.low, found.high)}"
    return found.value, sure, found.low > 0 or found.high < 0


def _bounds(low: float, high: float) -> str:
    if not np.isfinite(low):
        return "too few rows for an interval"
    return f"95 % {interval_words(low, high)}"


def _deciding(runs: list[ShownRun], band: Band) -> str:
    count = min(run_curves(run.record).negatives(band) for run in runs)
    several = any(len(run.record.splits) > 1 for run in runs)
    words = f"{count:,} negative{'' if count == 1 else 's'} decide{'s' if count == 1 else ''}"
    words += f" this band{' in the smallest split' if several else ''}"
    few = ": the area rests on few negatives" if count < FEW_NEGATIVES else ""
    return f"{words}{few}."


def _wrong_way(runs: list[ShownRun]) -> list[str]:
    """Warn of scores that rank worse than chance."""
    found = [
        f"{run.look.name} (AUC {area:.3f})"
        for run in runs
        if (area := run_curves(run.record).auc.value) < 0.5
    ]
    if not found:
        return []
    verb = "ranks" if len(found) == 1 else "rank"
    return [
        f"{', '.join(found)} {verb} the wrong way round: check which class is the positive one."
    ]
