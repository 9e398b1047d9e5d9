"""Figures of a run with intervals, computed from its stored scores, and cautions about it.

One held-out part: DeLong's interval. Folds: that of the mean area of the folds, of the AUC, the
partial AUC and the TPR at an FPR alike. Repeated hold-outs: the corrected resampled t interval,
because their training sets overlap. Two splits have no interval.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple, Self, TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import DECLARED, inference, roc
from aucstudio.engine.params import declared_params
from aucstudio.notices import WARNING, Notice, notice, text, texts
from aucstudio.notices.words import interval_words, percent_words, range_words
from aucstudio.project.data.validation import FOLDS, FORWARD
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import STOPPED, RunRecord, SplitResult
from aucstudio.project.scratch import BoundedCache
from aucstudio.project.typed import plain

LEVEL = 0.95
WHOLE: Band = (0.0, 1.0)
DECIMALS = 12  # beyond these equal areas may differ by rounding
_AROUND = 0.002  # of an FPR, for the TPR there
_REMEMBERED = 64  # bands that a drag passes through
_MOST_BYTES = 600 << 20

Rest = TypeVarTuple("Rest")
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
    per_split : tuple of float
        Its values by split, of a figure that is a mean over splits.
    method : str
        How the interval was computed, as :class:`~aucstudio.engine.inference.Interval` names it.
    """

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    reason: str = ""
    per_split: tuple[float, ...] = ()
    method: str = ""

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return math.isfinite(self.low)

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval as a pair."""
        return self.low, self.high

    @property
    def interval(self) -> str:
        """The interval as ``95 % 0.931–0.968``, or why there is none."""
        if self.known:
            return f"{percent_words(LEVEL)} {interval_words(self.low, self.high)}"
        return text("no_interval_words", reason=self.reason)

    def as_json(self) -> dict[str, Any]:
        """Return the estimate as plain data."""
        found: dict[str, Any] = plain(self)
        del found["method"]  # the contract of the JSON output has no such key
        return found


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
    compute: Callable[[RunRecord, *Rest], Result],
) -> Callable[[RunRecord, *Rest], Result]:
    """Cache the figures of a record as long as the record exists.

    Records are frozen and compared by identity: two studies may hold runs with the same id.
    """
    known: WeakKeyDictionary[RunRecord, dict[Hashable, Result]] = WeakKeyDictionary()

    @functools.wraps(compute)
    def look_up(record: RunRecord, *rest: *Rest) -> Result:
        figures = known.setdefault(record, {})
        if rest not in figures:
            if len(figures) >= _REMEMBERED:
                figures.clear()
            figures[rest] = compute(record, *rest)
        return figures[rest]

    return look_up


@_cached
def auc_summary(record: RunRecord) -> Estimate:
    """Summarise the held-out AUC."""
    return pauc_summary(record, WHOLE)


@_cached
def pauc_summary(record: RunRecord, band: Band) -> Estimate:
    """Summarise the held-out partial AUC, normalised by the band's width."""
    rankings = [ranking(split) for split in record.splits]
    return _estimate(record, rankings, tuple(roc.area(one, *band) for one in rankings), band)


def around(fpr: float) -> Band:
    """Return the narrow range whose normalised area stands for the TPR at an FPR."""
    return max(0.0, fpr - _AROUND), min(1.0, fpr + _AROUND)


@_cached
def tpr_summary(record: RunRecord, fpr: float) -> Estimate:
    """Summarise the held-out TPR at an FPR."""
    rankings = [ranking(split) for split in record.splits]
    values = tuple(float(roc.tpr_at(one.curve, fpr)) for one in rankings)
    if len(values) != 1:
        return _estimate(record, rankings, values, around(fpr))
    found = inference.pointwise_band(rankings[0], LEVEL, grid=[fpr])
    low, high = float(found.low[0]), float(found.high[0])
    whole = inference.interval_of(rankings[0], *WHOLE, LEVEL)
    return Estimate(values[0], low, high, whole.reason if math.isnan(low) else "", values)


def _estimate(
    record: RunRecord, rankings: Sequence[roc.Ranking], values: tuple[float, ...], band: Band
) -> Estimate:
    """Return the mean over splits of the areas in a band, or of what they stand for.

    Folds have the interval of their mean area, and so have hold-outs where all values are 0 or
    all are 1: then nothing shows how much splits vary. Each repeat holds out every row once.
    Repeats share the rows, and their bounds are averaged.
    """
    if not values:
        return Estimate()
    value, scheme = float(np.mean(values)), record.experiment.validation.scheme
    by_rows = scheme in (FOLDS, FORWARD) or round(value, DECIMALS) in (0.0, 1.0)
    if len(values) == 1:
        found = [inference.interval_of(rankings[0], *band, LEVEL)]
    elif by_rows and len(values) >= inference.LEAST_SPLITS:
        repeats: dict[int, list[roc.Ranking]] = {}
        for split, one in zip(record.splits, rankings, strict=True):
            repeats.setdefault(split.repeat, []).append(one)
        found = [inference.folds_interval(of, *band, LEVEL) for of in repeats.values()]
    else:
        found = [inference.splits_interval(values, LEVEL, record.test_fraction)]
    low, high = np.mean([[one.low, one.high] for one in found], axis=0).tolist()
    reason = next((one.reason for one in found if one.reason), "")
    if not reason:
        low, high = min(low, value), max(high, value)
    return Estimate(value, low, high, reason, values, found[0].method)


@_cached
def measures(record: RunRecord, band: Band) -> dict[str, float]:
    """Return the held-out measures of :func:`aucstudio.engine.roc.describe`, means over splits."""
    found = [roc.describe(ranking(s).curve, band) for s in record.splits]
    return {name: float(np.mean([one[name] for one in found])) for name in (found or [{}])[0]}


def compute_figures(record: RunRecord) -> None:
    """Compute in advance the figures of a run that do not depend on the FPR range."""
    auc_summary(record)
    measures(record, WHOLE)
    train_auc(record)


@_cached
def train_auc(record: RunRecord) -> float:
    """Return the mean AUC on the training parts."""
    values = [trained_area(split, WHOLE) for split in record.splits]
    return float(np.mean(values)) if values else float("nan")


def trained_area(split: SplitResult, band: Band) -> float:
    """Return the normalised area on the training rows of a split."""
    rows, weights = (split.train_positive, split.train_scores), split.train_weights
    if band == WHOLE:
        return roc.auc(*rows, weights=weights)
    return roc.partial_auc(*rows, *band, weights=weights).normalized


def band_negatives(record: RunRecord, band: Band) -> int:
    """Count the held-out negatives that decide the band, in the smallest split."""
    if record.experiment.weight is not None:
        areas = (roc.partial_auc_of(ranking(s).curve, *band) for s in record.splits)
        return min((area.negatives for area in areas), default=0)
    ranks = [roc.band_ranks(int(np.count_nonzero(~s.test_positive)), *band) for s in record.splits]
    return min((last - first + 1 for first, last in ranks), default=0)


def part_name(record: RunRecord) -> str:
    """Return what one of several held-out parts is called; empty if there is one part."""
    if len(record.splits) < 2:
        return ""
    return "fold" if record.experiment.validation.scheme == FOLDS else "split"


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
        "params": plain(dict(record.params)),
        "status": record.status,
        "seed": record.experiment.validation.seed,
        "validation": record.experiment.validation.as_json(),
        **_sampling_json(record),
        "auc": area.as_json(),
        "pauc": _pauc_json(record, band),
        "measures": plain(measures(record, band)),
        "train_auc": plain(train_auc(record)),
        "objective": [split.objective for split in record.splits],
        "gap": [split.gap for split in record.splits],
        "converged": all(split.converged for split in record.splits),
        "fit_seconds": plain(record.fit_seconds),
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

    def mean(values: list[float]) -> Any:
        return plain(float(np.mean(values))) if values else None

    return {
        "range": list(band),
        "raw": mean([area.raw for area in areas]),
        "normalized": summary.pop("value"),
        "mcclish": mean([area.mcclish for area in areas]),
        "negatives": band_negatives(record, band),
        **summary,
        "notices": [found.as_json() for found in range_notices(record, band)],
    }


class Scores(NamedTuple):
    """Classes and scores of held-out rows, and how the rows were sampled.

    Attributes
    ----------
    positive : ndarray of bool
    scores : ndarray
    weights : ndarray or None
    weight_kind : {"sampling", "frequency"}
    groups : ndarray of int or None
    """

    positive: NDArray[np.bool_]
    scores: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None
    weight_kind: str = roc.SAMPLING
    groups: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, split: SplitResult) -> Self:
        """Take the held-out rows of a split."""
        rows = split.test_positive, split.test_scores, split.test_weights
        return cls(*rows, split.weight_kind, split.test_groups)

    def at(self, rows: NDArray[Any]) -> Scores:
        """Return those of some of the rows: numbers or a mask."""
        weights = None if self.weights is None else self.weights[rows]
        groups = None if self.groups is None else self.groups[rows]
        return Scores(self.positive[rows], self.scores[rows], weights, self.weight_kind, groups)

    def ranking(self) -> roc.Ranking:
        """Sort the scores."""
        return roc.Ranking.of(
            self.positive,
            self.scores,
            weights=self.weights,
            weight_kind=self.weight_kind,
            groups=self.groups,
        )


def common_scores(a: RunRecord, b: RunRecord) -> Iterator[tuple[Scores, Scores]]:
    """Return, split by split, the held-out rows that both runs scored."""
    for x, y in zip(a.splits, b.splits, strict=True):
        _, of_x, of_y = np.intersect1d(x.test_rows, y.test_rows, return_indices=True)
        yield Scores.of(x).at(of_x), Scores.of(y).at(of_y)


def comparable(a: RunRecord, b: RunRecord) -> bool:
    """Return whether every split has common rows of both classes, labelled equally in both runs."""
    return all(
        np.array_equal(one.positive, other.positive)
        and 0 < np.count_nonzero(one.positive) < len(one.positive)
        for one, other in common_scores(a, b)
    )


_CHANCE = 0.5
_WIDENED = ("range_widened", "range_widened_for_learners")
_UNFINISHED = ("not_converged", "gap_too_large")


def cautions(record: RunRecord) -> list[Notice]:
    """Return the notices that put a run's result in doubt: a fallback, no convergence, few rows."""
    found = [*record.warnings, *(note for note in _notes(record) if note.severity == WARNING)]
    unfinished = sum(not split.converged for split in record.splits)
    if unfinished and record.status != STOPPED and not any(n.code in _UNFINISHED for n in found):
        total = len(record.splits)
        found.append(
            notice("splits_not_converged", count=unfinished, total=total)
            if total > 1
            else notice("fit_not_converged")
        )
    return found


def standing(record: RunRecord, value: float) -> tuple[bool, bool, float]:
    """Return the sort key of a run by a figure: the greatest first, unfinished runs last."""
    return record.planned_splits is not None, math.isnan(value), -value


def stopped(record: RunRecord) -> list[Notice]:
    """Return what the figures of a run are based on that the user stopped; nothing for others."""
    if record.status != STOPPED:
        return []
    finished, planned = len(record.splits), record.planned_splits
    if not finished:
        return [notice("stopped_before_first_fit")]
    if finished == 1 and not record.splits[0].converged:
        return [notice("stopped_within_fit", planned=record.experiment.validation.splits)]
    if planned:
        return [notice("stopped_after_splits", finished=finished, planned=planned)]
    return [notice("stopped_by_user")]


def fit_remarks(record: RunRecord) -> list[Notice]:
    """Return what else the fits reported."""
    return [note for note in _notes(record) if note.severity != WARNING]


def _notes(record: RunRecord) -> list[Notice]:
    """Return the fits' notices without those that the record's warnings repeat."""
    known = bool(record.widened)
    return [note for note in record.notes if not (known and note.code in _WIDENED)]


def caution_words(record: RunRecord) -> str:
    """State in a few words what the cautions are about; empty where there are none."""
    if record.widened:
        return f"FPR range widened to {range_words(max(record.widened))}"
    return next(map(str, cautions(record)), "")


def ranks_backwards(area: Estimate) -> bool:
    """Return whether an AUC is significantly below 0.5: its whole interval is."""
    return area.high < _CHANCE


def is_elsewhere(trained: Band | None, band: Band) -> bool:
    """Return whether the range that a run was trained for, if any, is another one."""
    return trained is not None and max(map(abs, np.subtract(trained, band))) > 1e-9


def trained_elsewhere(record: RunRecord, band: Band) -> list[Notice]:
    """Return whether a run was trained for another FPR range than the one shown."""
    trained = trained_for(record)
    if not is_elsewhere(trained, band):
        return []
    code = "asked_for_other_range" if record.widened else "trained_for_other_range"
    return [notice(code, trained=trained, shown=band)]


def trained_for(record: RunRecord) -> Band | None:
    """Return the FPR range that a run's method was set to, or None where it takes none."""
    declared = declared_params(DECLARED[record.experiment.method]).get("fpr_range")
    if declared is None:
        return None
    asked = record.params.get("fpr_range", declared.default)
    return None if asked is None else (float(asked[0]), float(asked[1]))
