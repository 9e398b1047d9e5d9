"""Figures of a run with intervals, computed from its stored scores.

One held-out part: DeLong's interval. Several splits: the mean over splits with the corrected
resampled t interval, because training sets that overlap are not independent. The partial AUC over
folds: curves drawn for each fold, because a few negatives a fold decide it. Two splits have no
interval.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math
from collections.abc import Callable, Hashable
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import inference, roc
from aucstudio.notices import Notice, notice, texts
from aucstudio.notices.words import interval_words, percent_words
from aucstudio.project.bounded_cache import BoundedCache
from aucstudio.project.data.splitting.validation import FOLDS, FORWARD
from aucstudio.project.results.common_rows import Scores
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import RunRecord, SplitResult

Array = NDArray[np.float64]

LEVEL = 0.95
WHOLE: Band = (0.0, 1.0)
_REMEMBERED = 64  # bands that a drag passes through
_MOST_BYTES = 600 << 20

Rest = ParamSpec("Rest")
Result = TypeVar("Result")


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval.

    Attributes
    ----------
    value, low, high : float
        NaN if there is nothing to estimate from.
    reason : str
        Why there is no interval; empty if there is one.
    """

    value: float
    low: float
    high: float
    reason: str = ""

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return bool(np.isfinite(self.low))

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval as a pair."""
        return self.low, self.high

    @property
    def interval(self) -> str:
        """The interval as ``95 % 0.931–0.968``, or why there is none."""
        if self.known:
            return f"{percent_words(LEVEL)} {interval_words(self.low, self.high)}"
        return f"no interval: {self.reason}" if self.reason else "no interval"

    def as_json(self) -> dict[str, Any]:
        """Return value and interval as plain data."""
        return {name: number(getattr(self, name)) for name in ("value", "low", "high")}


@dataclasses.dataclass(frozen=True)
class Summary(Estimate):
    """A measure of one run, with its values by split."""

    per_split: tuple[float, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return value, interval, the reason of an absent interval, and the values by split."""
        more = {"reason": self.reason, "per_split": list(self.per_split)}
        return super().as_json() | more


_rankings = BoundedCache(_MOST_BYTES)


def ranking(split: SplitResult) -> roc.Ranking:
    """Sort the held-out scores of a split; recent rankings are cached up to a limit of memory."""
    known: roc.Ranking | None = _rankings.get(split)
    if known is not None:
        return known
    made = Scores.of(split).ranking()
    _rankings.put(split, made, made.nbytes)
    return made


def _cached(
    compute: Callable[Concatenate[RunRecord, Rest], Result],
) -> Callable[Concatenate[RunRecord, Rest], Result]:
    """Cache the figures of a record as long as the record exists.

    Records are frozen and compared by identity: two studies may hold runs with the same id.
    """
    known: WeakKeyDictionary[RunRecord, dict[Hashable, Result]] = WeakKeyDictionary()

    @functools.wraps(compute)
    def look_up(record: RunRecord, /, *rest: Rest.args, **options: Rest.kwargs) -> Result:
        figures = known.get(record)
        if figures is None:
            figures = known.setdefault(record, {})
        key = (rest, tuple(sorted(options.items()))) if options else rest
        if key not in figures:
            if len(figures) >= _REMEMBERED:
                figures.clear()
            figures[key] = compute(record, *rest, **options)
        return figures[key]

    return look_up


@_cached
def auc_summary(record: RunRecord, level: float = LEVEL) -> Summary:
    """Summarise the held-out AUC."""
    return pauc_summary(record, WHOLE, level)


@_cached
def pauc_summary(record: RunRecord, band: Band, level: float = LEVEL) -> Summary:
    """Summarise the held-out partial AUC, normalised by the band's width."""
    over_folds = record.experiment.validation.scheme in (FOLDS, FORWARD)
    if band == WHOLE or not over_folds or len(record.splits) < inference.LEAST_SPLITS:
        return _summarise(
            record,
            lambda s: roc.area(ranking(s), *band),
            lambda s: inference.interval_of(ranking(s), *band, level),
            level,
        )
    values = [roc.area(ranking(s), *band) for s in record.splits]
    # Each repeat holds out every row once. Repeats share the rows, and their bounds are averaged.
    repeats = sorted({split.repeat for split in record.splits})
    found = [
        inference.folds_interval(
            [ranking(split) for split in record.splits if split.repeat == repeat], *band, level
        )
        for repeat in repeats
    ]
    low, high = np.mean([[one.low, one.high] for one in found], axis=0).tolist()
    reason = next((one.reason for one in found if one.reason), "")
    return Summary(float(np.mean(values)), low, high, reason, tuple(values))


@_cached
def tpr_summary(record: RunRecord, fpr: float, level: float = LEVEL) -> Summary:
    """Summarise the held-out TPR at an FPR."""

    def bounds(split: SplitResult) -> inference.Interval:
        found = inference.pointwise_band(ranking(split), level, grid=[fpr])
        low, high = float(found.low[0]), float(found.high[0])
        reason = (
            inference.interval_of(ranking(split), *WHOLE, level).reason if np.isnan(low) else ""
        )
        return inference.Interval(at(split), low, high, level, found.method, np.nan, reason)

    def at(split: SplitResult) -> float:
        return float(roc.tpr_at(ranking(split).curve, fpr))

    return _summarise(record, at, bounds, level)


def _summarise(
    record: RunRecord,
    measure: Callable[[SplitResult], float],
    interval: Callable[[SplitResult], inference.Interval],
    level: float,
) -> Summary:
    values = tuple(measure(split) for split in record.splits)
    if not values:
        return Summary(np.nan, np.nan, np.nan)
    if len(values) == 1:
        found = interval(record.splits[0])
    else:
        train, test = record.sizes
        found = inference.splits_interval(
            values, level, test / (train + test), disjoint=record.experiment.validation.disjoint
        )
    return Summary(float(np.mean(values)), found.low, found.high, found.reason, values)


@_cached
def measures(record: RunRecord, band: Band) -> dict[str, float]:
    """Return the held-out measures of :func:`aucstudio.engine.roc.describe`, means over splits."""
    found = [roc.describe(ranking(s).curve, band) for s in record.splits]
    return {name: float(np.mean([one[name] for one in found])) for name in (found or [{}])[0]}


def work_out(record: RunRecord) -> None:
    """Compute in advance the figures of a run that do not depend on the FPR range."""
    auc_summary(record)
    measures(record, WHOLE)
    train_auc(record)


@_cached
def train_auc(record: RunRecord) -> float:
    """Return the mean AUC on the training parts."""
    values = [
        roc.auc(s.train_positive, s.train_scores, weights=s.train_weights) for s in record.splits
    ]
    return float(np.mean(values)) if values else float("nan")


def band_negatives(record: RunRecord, band: Band) -> int:
    """Count the held-out negatives that decide the band, in the smallest split."""
    if record.experiment.weight is not None:
        areas = (roc.partial_auc_of(ranking(s).curve, *band) for s in record.splits)
        return min((area.negatives for area in areas), default=0)
    ranks = [roc.band_ranks(int(np.count_nonzero(~s.test_positive)), *band) for s in record.splits]
    return min((last - first + 1 for first, last in ranks), default=0)


def range_notices(record: RunRecord, band: Band) -> list[Notice]:
    """Return what puts the partial AUC of a range in doubt: few negatives of a split in it."""
    known = bool(record.splits) and band != WHOLE
    return few_in_range(band_negatives(record, band)) if known else []


def few_in_range(negatives: int) -> list[Notice]:
    """Return a caution where so few negatives of a split are in a range that its area is biased."""
    least = inference.LEAST_IN_FOLD
    if negatives >= least:
        return []
    return [notice("few_negatives_in_range", least=least, here=negatives)]


def same_rows(a: RunRecord, b: RunRecord) -> bool:
    """Return whether two runs were scored on the same rows, split by split."""
    # What is planned is compared first: the stored rows need not be read then.
    return _planned_rows(a) == _planned_rows(b) and _scored_rows(a) == _scored_rows(b)


@_cached
def _planned_rows(record: RunRecord) -> tuple[object, ...]:
    """Return what decides which rows a run is scored on, and how they count."""
    made = record.experiment
    return made.rows_of(), made.weight, made.weight_kind, len(record.splits)


@_cached
def _scored_rows(record: RunRecord) -> bytes:
    """Return a digest of the held-out rows and classes of every split."""
    digest = hashlib.sha256()
    for split in record.splits:
        digest.update(len(split.test_rows).to_bytes(8))
        digest.update(split.test_rows.astype(np.int64).tobytes())
        digest.update(split.test_positive.astype(np.bool_).tobytes())
    return digest.digest()


def run_as_json(record: RunRecord, band: Band, model: str | None = None) -> dict[str, Any]:
    """Return a run as ``train --json`` prints it."""
    first = record.splits[0] if record.splits else None
    area = auc_summary(record)
    document: dict[str, Any] = {
        "id": record.id,
        "method": record.experiment.method,
        "params": {n: list(v) if isinstance(v, tuple) else v for n, v in record.params.items()},
        "status": record.status,
        "seed": record.experiment.validation.seed,
        "validation": record.experiment.validation.as_json(),
        **_sampling_json(record),
        "auc": area.as_json(),
        "pauc": _pauc_json(record, band),
        "measures": {name: number(value) for name, value in measures(record, band).items()},
        "train_auc": number(train_auc(record)),
        "objective": [split.objective for split in record.splits],
        "gap": [split.gap for split in record.splits],
        "converged": all(split.converged for split in record.splits),
        "fit_seconds": number(record.fit_seconds),
        "n_train": 0 if first is None else first.n_train,
        "n_test": 0 if first is None else first.n_test,
        "model": model,
    }
    if record.experiment.tuning is not None:
        document["tuning"] = {
            **dataclasses.asdict(record.experiment.tuning),
            "chosen": [dict(search.chosen) for search in record.searches],
            "searches": [search.as_json() for search in record.searches],
        }
    if record.experiment.members:
        document["members"] = list(record.experiment.members)
    if record.notes:
        document["notes"] = list(texts(record.notes))
        document["notices"] = [note.as_json() for note in record.notes]
    if record.warnings:
        document["warnings"] = list(texts(record.warnings))
    if record.error:
        document["error"] = record.error
    return document


def _sampling_json(record: RunRecord) -> dict[str, Any]:
    """Return what weighs the rows, and how many groups were held out."""
    experiment = record.experiment
    found: dict[str, Any] = {}
    if experiment.weight is not None:
        found = {"weight": experiment.weight, "weight_kind": experiment.weight_kind}
    groups = [split.test_groups for split in record.splits]
    if any(of_split is not None for of_split in groups):
        found["test_groups"] = [0 if of is None else len(np.unique(of)) for of in groups]
    return found


def _pauc_json(record: RunRecord, band: Band) -> dict[str, Any]:
    areas = [roc.partial_auc_of(ranking(s).curve, *band) for s in record.splits]
    summary = pauc_summary(record, band).as_json()

    def mean(values: list[float]) -> float | None:
        return number(float(np.mean(values))) if values else None

    return {
        "range": list(band),
        "raw": mean([area.raw for area in areas]),
        "normalized": summary.pop("value"),
        "mcclish": mean([area.mcclish for area in areas]),
        "negatives": band_negatives(record, band),
        **summary,
        "notices": [found.as_json() for found in range_notices(record, band)],
    }


def number(value: float) -> float | None:
    """Return a finite number, or None: JSON has no NaN."""
    return value if math.isfinite(value) else None
